// The machine code of one kernel: asked for at the first run that may use it, or by name.
#pragma once

#include <absl/types/span.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/site.h"
#include "jit/kernel/kernels.h"

namespace lathe::jit {

/// What the flag `engine` asks for.
enum class Wanted : uint8_t { either, simd, generated };
Wanted wanted_engine();
/// Does it ask for no program at all, but for the graph node by node?
bool node_by_node_wanted();

/// Which engine ran, for counters, tests and explain().
/// none: there were no elements; moved: as they are, see ElementKernel::moves.
enum class Engine : uint8_t { none, simd, generated, moved };
/// As explain() and profiles have it; of none: empty.
[[gnu::cold]] std::string_view name_of(Engine engine);

/// What a kernel is run on.
struct KernelRun {
  absl::Span<std::byte* const> buffers;  // inputs then outputs, as in the kernel
  absl::Span<const uint64_t> uniforms;   // bits
  Wanted wanted = Wanted::either;
  std::string_view op;  // for a failed check
  Site site;
};

class MachineCode {
 public:
  /// Gives it. Owns what it needs: it is called on another thread, and may outlive its kernel.
  using Get = std::function<Result<LoadedKernel>(Effort)>;
  /// `make`: called once, at the first run or compile().
  explicit MachineCode(std::function<Get()> make)
      : make_(std::move(make)), made_(std::make_shared<Made>()) {}
  MachineCode(const MachineCode&) = delete;

  /// Machine code, or null where another engine runs: what is not at hand is compiled in the
  /// background. Where the flag engine asks for generated code, or a fallback is an error, it is
  /// made now, or there is an UnsupportedError in the name of `op`.
  KernelFn for_run(Wanted wanted, std::string_view op, const Site& site) const {
    const KernelFn fn = made_->fn.load(std::memory_order_acquire);
    return wanted == Wanted::simd ? nullptr : fn != nullptr ? fn : ask(wanted, op, site);
  }
  /// Machine code, or null while there is none: never an error, whatever the flags say.
  KernelFn when_ready() const {
    const KernelFn fn = made_->fn.load(std::memory_order_acquire);
    return fn != nullptr ? fn : ask_in_background();
  }
  /// Makes it now, or waits for who is at it; why there is none, or nothing.
  std::string compile() const;
  /// Why the last attempt made none; empty if there was none or it succeeded.
  std::string failure() const;
  /// Whether a run has wanted it.
  bool asked() const { return made_->asked.load(); }
  bool compiled() const { return made_->fn.load(std::memory_order_acquire) != nullptr; }

 private:
  /// What the background may still hold when the kernel is gone.
  struct Made {
    std::mutex mutex;  // of making, and of what is not atomic
    Get get;
    std::atomic<KernelFn> fn{nullptr};
    std::atomic<bool> asked{false}, failed{false};
    LoadedCodeRef held;
    std::string failure;

    bool take(Effort effort);  // under the lock
  };
  KernelFn ask(Wanted wanted, std::string_view op, const Site& site) const;
  /// What is at hand is there at once.
  KernelFn ask_in_background() const;

  std::function<Get()> make_;
  std::shared_ptr<Made> made_;
};

}  // namespace lathe::jit
