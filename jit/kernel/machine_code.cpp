#include "jit/kernel/machine_code.h"

#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/profile.h"

namespace lathe::jit {
namespace {

/// The flag `engine`, read when flags have changed.
struct AskedFor {
  uint64_t revision = ~uint64_t{0};
  Wanted wanted = Wanted::either;
  bool nodes = false;
};
const AskedFor& asked_for() {
  thread_local AskedFor known;
  uint64_t now = flags_revision();
  if (known.revision == now) return known;
  std::string engine = flag_text(Flag::engine);
  known = {now,
           engine == "llvm"   ? Wanted::generated
           : engine == "simd" ? Wanted::simd
                              : Wanted::either,
           engine == "nodes"};
  return known;
}

constinit std::mutex g_compiling;  // of every kernel; guards failures and what is held

}  // namespace

Wanted wanted_engine() { return asked_for().wanted; }
bool node_by_node_wanted() { return asked_for().nodes; }

std::string_view name_of(Engine engine) {
  constexpr std::string_view kNames[] = {"", "own.simd", "generated", "own.copy"};
  return kNames[static_cast<size_t>(engine)];
}

KernelFn MachineCode::for_run(Wanted wanted, std::string_view op, const Site& site) const {
  if (wanted == Wanted::simd) return nullptr;
  const bool required = wanted == Wanted::generated;
  if (!compiled() && (required || !asked_.exchange(true))) compile();
  const KernelFn fn = fn_.load(std::memory_order_acquire);
  if (fn == nullptr && failed_.load(std::memory_order_acquire) &&
      (required || flag_on(Flag::fallback_is_error)))
    throw UnsupportedError(
        {.op = std::string(op),
         .problem = "no machine code",
         .got = failure(),
         .next = required ? "set the flag engine to auto"
                          : "set the flag engine to strips, or turn fallback_is_error off",
         .site = site});
  return fn;
}

std::string MachineCode::failure() const {
  const std::lock_guard lock(g_compiling);
  return failure_;
}

std::string MachineCode::compile() const {
  const std::lock_guard lock(g_compiling);
  if (compiled()) return "";
  asked_ = true;
  std::optional<Span> span;
  if (profiling()) span.emplace(SpanKind::compile, "machine code", here());
  Result<LoadedKernel> kernel = make_();
  failure_ = kernel.error;
  failed_.store(!failure_.empty(), std::memory_order_release);
  if (!kernel) return failure_;
  held_ = std::move(kernel.value.code);
  fn_.store(kernel.value.fn, std::memory_order_release);
  return "";
}

}  // namespace lathe::jit
