// lathe_ahead FOLDER: makes the calls of calls.cpp, compiles the kernels they ask for, for every
// level of shipped.h, and writes what is to be linked into liblathe_shipped.so: objects, their list
// (objects.rsp, for the linker) and the index (index.cpp). The kernels themselves are
// there as text, for who wants other code of them. What has been compiled before is taken from
// FOLDER/cache. Exit status 1, with the reason, if a kernel cannot be compiled.
#include <absl/container/btree_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/fn.h"
#include "core/ops/names.h"
#include "jit/ahead/calls.h"
#include "jit/initialise.h"
#include "jit/kernel/kernels.h"
#include "jit/kernel/object_cache.h"
#include "jit/kernel/shipped.h"
#include "kernels/runtime/pool.h"

namespace lathe::jit {
namespace {

class Collector final : public KernelCollector {
 public:
  void add(const Kernel& kernel) override { wanted.try_emplace(kernel_text(kernel), kernel); }

  /// By kernel_text(); sorted: the same files whatever comes first.
  absl::btree_map<std::string, Kernel> wanted;
};

/// Which operands require grad.
enum class Tracked : uint8_t { none, first, all };

/// One call, and once more each with its derivative by the first operand and by all.
void make_call(const AheadCall& call, DType dtype) {
  for (const Tracked tracked : {Tracked::none, Tracked::first, Tracked::all}) {
    Tensors inputs;
    for (const Shape& shape : call.inputs) {
      const bool by = tracked == Tracked::all || (tracked == Tracked::first && inputs.empty());
      inputs.push_back(names::C::full(shape, 0.5, dtype));
      if (by) set_requires_grad(inputs.back(), true);
    }
    const Tensor y = call.run(inputs);
    if (tracked == Tracked::none) continue;
    GradMode no_grad(false);
    const Tensors ys{y}, dys{names::C::full(y.shape(), 1.0, y.dtype())};
    backward(ys, dys);
  }
}

struct Compiled {
  std::string key, object;
};

[[noreturn]] void fail(std::string_view problem) { throw std::runtime_error(std::string(problem)); }

/// Does its code call functions of ours (jit/llvm/engine.cpp), which are found in process only?
/// What it calls of the C library the linker finds.
bool calls_us(std::string_view object) {
  const std::string_view kernel = kKernelSymbol, ours = kernel.substr(0, kernel.find('_') + 1);
  for (size_t at = object.find(ours); at != std::string_view::npos; at = object.find(ours, at + 1))
    if (object.substr(at, kernel.size()) != kernel) return true;
  return false;
}

std::vector<Compiled> compile_all(const Collector& collector, ObjectCache& cache) {
  Codegen* codegen = open_codegen().codegen;
  if (codegen == nullptr) fail(open_codegen().reason);
  std::vector<std::pair<const std::pair<const std::string, Kernel>*, std::string_view>> all;
  for (const auto& wanted : collector.wanted)
    for (std::string_view level : kShippedLevels) all.emplace_back(&wanted, level);
  std::vector<Compiled> done(all.size());
  std::vector<std::string> problems(all.size());
  parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const auto& [wanted, level] = all[i];
      const Result<Target> target = codegen->target(level, false);
      if (!target) fail(target.error);
      const auto& [text, kernel] = *wanted;
      const std::string full = kernel_key(text, target.value);
      auto object = cache.find(full);
      if (!object) {
        const Result<std::string> made =
            codegen->compile(with_lowered_functions(kernel), target.value);
        if (!made) {
          problems[i] = made.error;
          continue;
        }
        cache.put(full, made.value);
        object = made.value;
      }
      if (calls_us(*object)) continue;
      done[i] = {kernel_key(text, {std::string(level), ""}), std::move(*object)};
    }
  });
  for (const std::string& problem : problems)
    if (!problem.empty()) fail(problem);
  std::erase_if(done, [](const Compiled& c) { return c.object.empty(); });
  return done;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) fail(absl::StrCat("cannot write ", path.string()));
}

/// The object with its function under another name, as long as the one it has.
std::string renamed(std::string object, std::string_view name) {
  const std::string old = std::string(1, '\0') + std::string(kKernelSymbol) + std::string(1, '\0');
  const size_t at = object.find(old);
  if (at == std::string::npos || object.find(old, at + 1) != std::string::npos ||
      name.size() != kKernelSymbol.size())
    fail("an object does not name its kernel once");
  return object.replace(at + 1, name.size(), name);
}

void write_all(std::vector<Compiled> kernels, const std::filesystem::path& folder) {
  std::sort(kernels.begin(), kernels.end(), [](const Compiled& a, const Compiled& b) {
    return std::make_pair(shipped_hash(a.key), a.key) < std::make_pair(shipped_hash(b.key), b.key);
  });
  std::string list, names, rows;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string name = absl::StrFormat("ahead_k%05d", i);
    const std::filesystem::path path = folder / (name + ".o");
    write_file(path, renamed(kernels[i].object, name));
    absl::StrAppend(&list, "\"", path.string(), "\"\n");
    absl::StrAppend(&names, "void ", name, "(const KernelArgs*);\n");
    absl::StrAppendFormat(&rows, "    {%dull, R\"key(%s)key\", %s},\n",
                          shipped_hash(kernels[i].key), kernels[i].key, name);
  }
  write_file(folder / "objects.rsp", list);
  write_file(folder / "index.cpp",
             absl::StrCat("// Written by lathe_ahead: the kernels that were compiled with the "
                          "library.\n#include \"jit/kernel/shipped.h\"\n\n",
                          "namespace lathe::jit {\nextern \"C\" {\n", names, "}\n\nnamespace {\n",
                          "const ShippedKernel kKernels[] = {\n", rows, "};\n}  // namespace\n\n",
                          "extern \"C\" [[gnu::visibility(\"default\")]] const ShippedKernels ",
                          kShippedEntry, ";\nextern \"C\" const ShippedKernels ", kShippedEntry,
                          " = {kCodegenVersion, kKernels, ", kernels.size(),
                          "};\n}  // namespace lathe::jit\n"));
}

void make(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  initialise();
  set_flag(Flag::fuse_after, "0");
  Collector collector;
  set_kernel_collector(&collector);
  for (const AheadCall& call : ahead_calls())
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
      make_call(call, dtype);
  set_kernel_collector(nullptr);
  std::string texts;
  for (const auto& [text, kernel] : collector.wanted) texts += kernel.print();
  write_file(folder / "kernels.txt", texts);
  ObjectCache cache((folder / "cache").string(), uint64_t{1} << 28);
  std::vector<Compiled> kernels = compile_all(collector, cache);
  size_t bytes = 0;
  for (const Compiled& k : kernels) bytes += k.object.size() + k.key.size();
  absl::PrintF("lathe_ahead: %d kernels, %d KiB\n", kernels.size(), bytes >> 10);
  write_all(std::move(kernels), folder);
}

}  // namespace
}  // namespace lathe::jit

int main(int argc, char** argv) {
  try {
    if (argc != 2) lathe::jit::fail("usage: lathe_ahead FOLDER");
    lathe::jit::make(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    absl::FPrintF(stderr, "lathe_ahead: %s\n", e.what());
    return 1;
  }
}
