#include "jit/kernel/machine_code.h"

#include <optional>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/profile.h"
#include "jit/kernel/background.h"

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

}  // namespace

Wanted wanted_engine() { return asked_for().wanted; }
bool node_by_node_wanted() { return asked_for().nodes; }

std::string_view name_of(Engine engine) {
  constexpr std::string_view kNames[] = {"", "own.simd", "generated", "own.copy"};
  return kNames[static_cast<size_t>(engine)];
}

bool MachineCode::Made::take(Effort effort) {
  if (fn.load(std::memory_order_acquire) != nullptr) return true;
  Result<LoadedKernel> kernel = get(effort);
  if (kernel) {
    held = std::move(kernel.value.code);
    fn.store(kernel.value.fn, std::memory_order_release);
  }
  if (!kernel && effort == Effort::at_hand) return false;
  failure = kernel.error;
  failed.store(!kernel, std::memory_order_release);
  return true;
}

KernelFn MachineCode::ask(Wanted wanted, std::string_view op, const Site& site) const {
  const bool required = wanted == Wanted::generated;
  if (required || flag_on(Flag::fallback_is_error)) {
    if (required || !made_->failed.load()) compile();  // or waits for who is at it
    if (made_->failed.load(std::memory_order_acquire))
      throw UnsupportedError(
          {.op = std::string(op),
           .problem = "no machine code",
           .got = failure(),
           .next = required ? "set the flag engine to auto"
                            : "set the flag engine to strips, or turn fallback_is_error off",
           .site = site});
    return made_->fn.load(std::memory_order_acquire);
  }
  return ask_in_background();
}

KernelFn MachineCode::ask_in_background() const {
  if (!made_->asked.exchange(true)) {
    const std::lock_guard lock(made_->mutex);
    if (!made_->get) made_->get = make_();
    if (!made_->take(Effort::at_hand) && !kernels_are_collected()) {
      const auto job = [made = made_] {
        const std::lock_guard hold(made->mutex);
        made->take(Effort::compile);
      };
      if (!do_later(job)) made_->take(Effort::compile);
    }
  }
  return made_->fn.load(std::memory_order_acquire);
}

std::string MachineCode::failure() const {
  const std::lock_guard lock(made_->mutex);
  return made_->failure;
}

std::string MachineCode::compile() const {
  const std::lock_guard lock(made_->mutex);
  if (compiled()) return "";
  made_->asked = true;
  std::optional<Span> span;
  if (profiling()) span.emplace(SpanKind::compile, "machine code", here());
  if (!made_->get) made_->get = make_();
  made_->take(Effort::compile);
  return made_->failure;
}

}  // namespace lathe::jit
