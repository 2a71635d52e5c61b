#include "jit/kernel/object_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/flags.h"
#include "core/base/log.h"
#include "jit/kernel/kernels.h"
#include "jit/kernel/object_image.h"

namespace lathe::jit {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lathe_cache_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  size_t files() const {
    size_t n = 0;
    for (const auto& entry : fs::directory_iterator(path_)) n += entry.is_regular_file();
    return n;
  }

 private:
  fs::path path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<long>(bytes.size()));
}

/// Counts warnings and keeps them off the screen.
std::atomic<int> warnings{0};
class QuietLog {
 public:
  QuietLog()
      : before_(set_log_hook(
            [](LogLevel level, std::string_view) { warnings += level == LogLevel::warning; })) {
    warnings = 0;
  }
  ~QuietLog() { set_log_hook(before_); }

 private:
  LogHook before_;
};

TEST(ObjectCache, KeepsWhatItIsGiven) {
  const Folder folder;
  ObjectCache cache(folder.path() + "/deep/er", 1 << 20);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  cache.put("key", std::string("obj\0ect", 7));
  EXPECT_EQ(cache.find("key"), std::string("obj\0ect", 7));
  EXPECT_EQ(cache.find("kez"), std::nullopt);
  cache.put("key", "newer");
  ObjectCache again(folder.path() + "/deep/er", 1 << 20);
  EXPECT_EQ(again.find("key"), "newer");
  EXPECT_EQ(again.counts().hits, 1u);
  EXPECT_EQ(cache.counts().stored, 2u);
}

TEST(ObjectCache, NoFolderIsNoCache) {
  ObjectCache cache("", 1 << 20);
  cache.put("key", "object");
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST(ObjectCache, DamageOfAnyKindIsAMiss) {
  const Folder folder;
  ObjectCache cache(folder.path(), 1 << 20);
  cache.put("some key", "some object of some length");
  const std::string file = cache.path("some key"), sound = read_file(file);
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string bad = sound;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_file(file, bad);
    EXPECT_EQ(cache.find("some key"), std::nullopt) << "byte " << i;
    write_file(file, std::string_view(sound).substr(0, i));
    EXPECT_EQ(cache.find("some key"), std::nullopt) << "cut at " << i;
  }
  write_file(file, sound + "x");
  EXPECT_EQ(cache.find("some key"), std::nullopt);
  EXPECT_EQ(cache.counts().damaged, 2 * sound.size() + 1);
  write_file(file, sound);
  EXPECT_TRUE(cache.find("some key").has_value());
}

TEST(ObjectCache, AnotherKeyInItsPlaceIsAMiss) {
  const Folder folder;
  ObjectCache cache(folder.path(), 1 << 20);
  cache.put("a", "object of a");
  cache.put("b", "object of b");
  fs::copy_file(cache.path("a"), cache.path("b"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.find("b"), std::nullopt);
  EXPECT_EQ(cache.counts().damaged, 0u);
}

TEST(ObjectCache, StaysWithinItsBound) {
  const Folder folder;
  ObjectCache cache(folder.path(), 10000);
  const std::string object(900, 'x');
  for (int i = 0; i < 30; ++i) {
    cache.put("key" + std::to_string(i), object);
    // Times apart, without waiting for the clock; the first one is used again and again.
    const struct timespec times[2] = {{1000000 + i, 0}, {1000000 + i, 0}};
    (void)utimensat(AT_FDCWD, cache.path("key" + std::to_string(i)).c_str(), times, 0);
    EXPECT_TRUE(cache.find("key0").has_value()) << i;
  }
  EXPECT_LE(folder.files(), 10u);
  EXPECT_TRUE(cache.find("key29").has_value());
  EXPECT_FALSE(cache.find("key1").has_value());
  EXPECT_GT(cache.counts().dropped, 15u);
  cache.put("large", std::string(20000, 'x'));
  EXPECT_FALSE(cache.find("large").has_value());
}

TEST(ObjectCache, FoldersThatCannotBeUsedAreLoggedMisses) {
  const QuietLog quiet;
  const Folder folder;
  fs::create_directories(folder.path());
  write_file(folder.path() + "/file", "");
  for (const std::string& path :
       {folder.path() + "/file", folder.path() + "/file/under", std::string("/proc/lathe")}) {
    ObjectCache cache(path, 1 << 20);
    cache.put("key", "object");
    cache.put("other", "object");
    EXPECT_EQ(cache.find("key"), std::nullopt) << path;
    EXPECT_EQ(cache.counts().failed, 2u) << path;
  }
  EXPECT_GE(warnings, 3);
  EXPECT_LE(warnings, 4);  // once each, not once a try
}

TEST(ObjectCache, FoldersThatOthersMayWriteAreNotTrusted) {
  const QuietLog quiet;
  const Folder folder;
  ObjectCache cache(folder.path(), 1 << 20);
  cache.put("key", "object");
  fs::permissions(folder.path(), fs::perms::all);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_TRUE(cache.find("key").has_value());
  fs::permissions(cache.path("key"), fs::perms::all);
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST(ObjectCache, AFullDiskIsAMiss) {
  const Folder folder;
  // In a child: a process that may write no more than 100 bytes to a file behaves as on a full
  // disk.
  const pid_t child = fork();
  if (child == 0) {
    set_log_hook([](LogLevel, std::string_view) {});
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    ObjectCache cache(folder.path(), 1 << 20);
    cache.put("key", std::string(5000, 'x'));
    const bool as_it_should = !cache.find("key").has_value() && cache.counts().failed == 1;
    _exit(as_it_should ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.files(), 0u);  // nothing half-written stays
}

TEST(ObjectCache, ManyWritersAndReaders) {
  const Folder folder;
  ObjectCache shared(folder.path(), 6000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      ObjectCache own(folder.path(), 6000);
      for (int i = 0; i < 200; ++i) {
        ObjectCache& cache = t % 2 == 0 ? shared : own;
        const std::string key = "key" + std::to_string((i * 7 + t) % 20);
        if (const auto object = cache.find(key))
          wrong += *object != key + std::string(500, 'x');
        else
          cache.put(key, key + std::string(500, 'x'));
      }
      wrong += static_cast<int>(own.counts().damaged);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared.counts().damaged, 0u);
}

// ── with real kernels ───────────────────────────────────────────────────────────────────────────
Kernel scale_by(double factor) {
  const auto f =
      build([&](absl::Span<const Expr> in) { return Exprs{in[0] * factor}; }, {DType::f32});
  return kernel_of_elements(lower(f), 1000, {Int(1)});
}

float run_once(KernelFn fn, float x) {
  float out = 0;
  std::byte* data[] = {reinterpret_cast<std::byte*>(&x), reinterpret_cast<std::byte*>(&out)};
  const int64_t extent = 1, strides[] = {4, 4};
  const KernelArgs args{data, &extent, strides, 0, 1};
  fn(&args);
  return out;
}

TEST(Kernels, ComeFromTheCompilerThenMemoryThenDisk) {
  if (open_codegen().codegen == nullptr) GTEST_SKIP() << open_codegen().reason;
  const Folder folder;
  const FlagScope cache_dir(Flag::cache_dir, folder.path());
  ASSERT_TRUE(get_kernel(scale_by(3.0625)));  // from here on it is known what this machine is
  const size_t before = folder.files();
  const Kernel kernel = scale_by(1.2345);
  const auto first = get_kernel(kernel), second = get_kernel(kernel);
  ASSERT_TRUE(first) << first.error;
  EXPECT_EQ(first.value.from, KernelFrom::compiler);
  EXPECT_EQ(second.value.from, KernelFrom::memory);
  EXPECT_EQ(first.value.fn, second.value.fn);
  EXPECT_EQ(run_once(first.value.fn, 2), 2 * 1.2345f);
  EXPECT_EQ(folder.files(), before + 1);
  // Another process finds it on disk; a damaged file sends it back to the compiler.
  const auto in_child = [&](KernelFrom expected, double factor) {
    const pid_t child = fork();
    if (child == 0) {
      const auto kernel = get_kernel(scale_by(factor));
      _exit(kernel && kernel.value.from == expected &&
                    run_once(kernel.value.fn, 2) == static_cast<float>(2 * factor)
                ? 0
                : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(in_child(KernelFrom::compiler, 0.75), 0);
  EXPECT_EQ(in_child(KernelFrom::disk, 0.75), 0);
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    std::string bytes = read_file(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file(entry.path(), bytes);
  }
  EXPECT_EQ(in_child(KernelFrom::compiler, 0.75), 0);
  EXPECT_EQ(in_child(KernelFrom::disk, 0.75), 0);
}

TEST(ObjectImage, LoadsWhatLlvmMakes) {
  if (open_codegen().codegen == nullptr) GTEST_SKIP() << open_codegen().reason;
  Codegen& codegen = *open_codegen().codegen;
  auto object = codegen.compile(scale_by(2.5), codegen.host());
  ASSERT_TRUE(object) << object.error;
  auto image = load_image(object.value);
  ASSERT_TRUE(image) << image.error;
  auto* fn = reinterpret_cast<KernelFn>(image.value->symbol(kKernelSymbol));
  ASSERT_NE(fn, nullptr);
  EXPECT_EQ(run_once(fn, 3), 7.5f);
  EXPECT_EQ(image.value->symbol("nothing"), nullptr);
}

TEST(ObjectImage, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(load_image("").error, "not an object for x86-64");
  EXPECT_EQ(load_image("garbage").error, "not an object for x86-64");
  if (open_codegen().codegen == nullptr) GTEST_SKIP() << open_codegen().reason;
  Codegen& codegen = *open_codegen().codegen;
  const auto f = build([](absl::Span<const Expr> in) { return Exprs{fmod(in[0], in[0])}; },
                       {DType::f32});  // a remainder is a call
  auto calls = codegen.compile(kernel_of_elements(lower(f), 1000, {Int(1)}), codegen.host());
  ASSERT_TRUE(calls) << calls.error;
  EXPECT_EQ(load_image(calls.value).error, "the code calls what is not in the object");
  EXPECT_TRUE(codegen.load(calls.value));  // LLVM's linker knows what it is
  // Cut or changed, it is refused or loaded; what is loaded is not run.
  auto object = codegen.compile(scale_by(2.5), codegen.host());
  size_t refused = 0;
  for (size_t n = 0; n < object.value.size(); ++n) {
    refused += !load_image(std::string_view(object.value).substr(0, n));
    std::string flipped = object.value;
    flipped[n] = static_cast<char>(flipped[n] ^ 0x55);
    (void)load_image(flipped);
  }
  EXPECT_EQ(refused, object.value.size());
}

TEST(Kernels, KeysTellApartWhatCodeDependsOn) {
  const Target a{"x", "+avx"}, b{"x", "-avx"};
  Kernel kernel = scale_by(2.5);
  const std::string key = kernel_key(kernel_text(kernel), a);
  EXPECT_EQ(kernel_key(kernel_text(scale_by(2.5)), a), key);
  EXPECT_NE(kernel_key(kernel_text(kernel), b), key);
  EXPECT_NE(kernel_key(kernel_text(scale_by(2.25)), a), key);
  each_access(kernel.body, [](Access& access, bool) { access.map.strides[0] = 3; });
  EXPECT_NE(kernel_key(kernel_text(kernel), a), key);
}

}  // namespace
}  // namespace lathe::jit
