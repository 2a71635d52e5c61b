#include "jit/kernel/kernels.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/base/flags.h"
#include "core/base/fork.h"
#include "core/expr/expansions.h"
#include "jit/kernel/machine_key.h"
#include "jit/kernel/object_cache.h"
#include "jit/kernel/object_image.h"
#include "jit/kernel/shipped.h"

namespace lathe::jit {
namespace {

constexpr size_t kMostHeld = 256;
constexpr const char* kNotAtHand = "not compiled yet";

/// Kernels of this process: those that a program has, and the last that were asked for.
class Loaded {
 public:
  std::optional<LoadedKernel> find(const std::string& key) {
    const std::lock_guard<ForkSafeMutex> lock(mutex_);
    const auto found = kernels_.find(key);
    if (found == kernels_.end()) return std::nullopt;
    LoadedCodeRef code = found->second.code.lock();
    if (code == nullptr) return std::nullopt;
    keep(found->second, code);
    return LoadedKernel{std::move(code), found->second.fn, KernelFrom::memory};
  }
  void add(const std::string& key, const LoadedKernel& kernel) {
    std::vector<LoadedCodeRef> dropped;  // unloaded after the lock is gone
    const std::lock_guard<ForkSafeMutex> lock(mutex_);
    Entry& entry = kernels_[key];
    entry.code = kernel.code;
    entry.fn = kernel.fn;
    keep(entry, kernel.code);
    if (held_ > kMostHeld) drop_oldest(dropped);
  }

 private:
  struct Entry {
    std::weak_ptr<LoadedCodeRef::element_type> code;
    KernelFn fn = nullptr;
    LoadedCodeRef held = nullptr;  // so that it lives without a program
    uint64_t used = 0;
  };
  void keep(Entry& entry, const LoadedCodeRef& code) {
    held_ += entry.held == nullptr;
    entry.held = code;
    entry.used = ++clock_;
  }
  void drop_oldest(std::vector<LoadedCodeRef>& dropped) {
    std::vector<uint64_t> times;
    for (const auto& [key, entry] : kernels_)
      if (entry.held != nullptr) times.push_back(entry.used);
    const auto quarter = times.begin() + static_cast<ptrdiff_t>(times.size() / 4);
    std::nth_element(times.begin(), quarter, times.end());
    for (auto it = kernels_.begin(); it != kernels_.end();) {
      auto next = std::next(it);
      Entry& entry = it->second;
      if (entry.held != nullptr && entry.used <= *quarter) {
        dropped.push_back(std::move(entry.held));
        entry.held = nullptr;
        --held_;
      }
      if (entry.code.expired()) kernels_.erase(it);  // dropped by an earlier call
      it = next;
    }
  }

  ForkSafeMutex mutex_;
  absl::flat_hash_map<std::string, Entry> kernels_;
  size_t held_ = 0;
  uint64_t clock_ = 0;
};

Loaded& loaded() {
  static auto& all = *new Loaded;
  return all;
}

class KnownTargets {
 public:
  std::optional<Target> find(const std::string& key) {
    const std::lock_guard<ForkSafeMutex> lock(mutex_);
    const auto found = targets_.find(key);
    return found == targets_.end() ? std::nullopt : std::optional<Target>(found->second);
  }
  Target add(const std::string& key, const Target& target) {
    const std::lock_guard<ForkSafeMutex> lock(mutex_);
    return targets_[key] = target;
  }

 private:
  ForkSafeMutex mutex_;
  absl::flat_hash_map<std::string, Target> targets_;
};

/// The disk cache as the flags have it now.
std::shared_ptr<ObjectCache> disk_cache() {
  static auto& mutex = *new ForkSafeMutex;
  static auto& cache = *new std::shared_ptr<ObjectCache>;
  static uint64_t revision = 0;
  const uint64_t now = flags_revision();
  std::string folder = flag_text(Flag::cache_dir);
  const auto bytes = static_cast<uint64_t>(flag_count(Flag::cache_bytes));
  const std::lock_guard<ForkSafeMutex> lock(mutex);
  if (cache == nullptr ||
      (revision != now && (cache->folder() != folder || cache->max_bytes() != bytes)))
    cache = std::make_shared<ObjectCache>(std::move(folder), bytes);
  revision = now;
  return cache;
}

/// LLVM is opened only for what the cache does not have.
Result<Codegen*> codegen() {
  const CodegenOrReason& opened = open_codegen();
  return {opened.codegen, opened.codegen == nullptr ? opened.reason : ""};
}

Result<Target> ask_target(std::string_view isa) {
  const Result<Codegen*> opened = codegen();
  if (!opened) return {{}, opened.error};
  return opened.value->target(isa);
}

/// What LLVM says this machine is, by flag `isa`; kept beside the objects, for the same machine.
Result<Target> wanted_target(ObjectCache& disk, Effort effort) {
  std::string isa = flag_text(Flag::isa);
  isa = isa == "auto" ? "host" : isa == "portable" ? "x86-64-v2" : isa;
  static const std::string& machine = *new std::string(machine_key());
  const auto ask = [&]() -> Result<Target> {
    return effort == Effort::compile ? ask_target(isa) : Result<Target>{{}, kNotAtHand};
  };
  if (machine.empty()) return ask();
  const std::string key = absl::StrCat("target ", kCodegenVersion, "\n", isa, "\n", machine);
  static KnownTargets& known = *new KnownTargets;
  if (auto target = known.find(key)) return {std::move(*target), {}};
  if (auto text = disk.find(key)) {
    const std::vector<std::string> parts = absl::StrSplit(*text, '\n');
    if (parts.size() == 2) return {known.add(key, {parts[0], parts[1]}), {}};
  }
  Result<Target> target = ask();
  if (!target) return target;
  disk.put(key, absl::StrCat(target.value.cpu, "\n", target.value.features));
  return {known.add(key, target.value), {}};
}

Result<LoadedKernel> load(std::string_view object, KernelFrom from, Effort effort) {
  Result<LoadedCodeRef> code = load_image(object);
  if (!code && effort == Effort::at_hand) return {{}, kNotAtHand};
  if (!code) {
    const Result<Codegen*> opened = codegen();
    if (!opened) return {{}, opened.error};
    code = opened.value->load(object);
  }
  if (!code) return {{}, code.error};
  auto* fn = reinterpret_cast<KernelFn>(code.value->symbol(kKernelSymbol));
  if (fn == nullptr) return {{}, "the object has no kernel"};
  return {{std::move(code.value), fn, from}, {}};
}

/// What the plug-in makes of it. A plug-in must not throw; one that does has failed.
Result<std::string> compiled_object(Codegen& codegen, const Kernel& kernel, const Target& target) {
  try {
    return codegen.compile(kernel, target);
  } catch (const std::exception& e) {
    return {{}, absl::StrCat("the code generator threw: ", e.what())};
  } catch (...) {
    return {{}, "the code generator threw something that is no exception"};
  }
}

std::atomic<KernelCollector*> g_collector = nullptr;

KernelFn shipped(std::string_view text) {
  if (flag_text(Flag::engine) == "llvm") return nullptr;
  const std::string level = shipped_level();
  return level.empty() ? nullptr : find_shipped(kernel_key(text, {level, ""}));
}

}  // namespace

Kernel with_lowered_functions(Kernel kernel) {
  each_statement(kernel.body, [](auto& statement) {
    for (ScalarFunction* f : functions(statement)) *f = lower(*f);
  });
  return kernel;
}

std::string kernel_text(const Kernel& kernel) {
  std::vector<const ScalarFunction*> all;
  each_statement(kernel.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement)) all.push_back(f);
  });
  return absl::StrCat(kernel.form(), expansions(all));
}

std::string kernel_key(std::string_view text, const Target& target) {
  return absl::StrCat(kCodegenVersion, "\n", target.key(), "\n", text);
}

void set_kernel_collector(KernelCollector* collector) { g_collector = collector; }

bool kernels_are_collected() {
  const KernelCollector* collector = g_collector;
  return collector != nullptr && !collector->looks_on();
}

Result<LoadedKernel> get_kernel(const Kernel& kernel, Effort effort) {
  if (KernelCollector* collector = g_collector) {
    collector->add(kernel);
    if (!collector->looks_on()) return {{}, "code is being collected"};
  }
  const std::string text = kernel_text(kernel);
  if (const KernelFn fn = shipped(text)) return {{nullptr, fn, KernelFrom::shipped}, {}};
  const std::shared_ptr<ObjectCache> disk = disk_cache();
  const Result<Target> target = wanted_target(*disk, effort);
  if (!target) return {{}, target.error};
  const std::string key = kernel_key(text, target.value);
  if (auto known = loaded().find(key)) {
    known->from = KernelFrom::memory;
    return {std::move(*known), {}};
  }
  const auto keep = [&](const Result<LoadedKernel>& made) {
    if (made) loaded().add(key, made.value);
    return made;
  };
  if (const auto object = disk->find(key))
    if (auto found = load(*object, KernelFrom::disk, effort)) return keep(found);
  if (effort == Effort::at_hand) return {{}, kNotAtHand};
  const Result<Codegen*> opened = codegen();
  if (!opened) return {{}, opened.error};
  const Result<std::string> object =
      compiled_object(*opened.value, with_lowered_functions(kernel), target.value);
  if (!object) return {{}, object.error};
  disk->put(key, object.value);
  return keep(load(object.value, KernelFrom::compiler, effort));
}

}  // namespace lathe::jit
