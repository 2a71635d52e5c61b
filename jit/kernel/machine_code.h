// The machine code of one kernel: asked for at the first run that may use it, or by name.
#pragma once

#include <absl/types/span.h>

#include <atomic>
#include <functional>
#include <memory>
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
/// none: there were no elements; moved: as they are, see PointwiseKernel::moves.
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
  using Make = std::function<Result<LoadedKernel>()>;
  explicit MachineCode(Make make) : make_(std::move(make)) {}
  MachineCode(const MachineCode&) = delete;

  /// Machine code, or null where another engine runs. UnsupportedError, in the name of `op`, if
  /// there is none where the flag engine asks for it, or where a fallback is an error.
  KernelFn for_run(Wanted wanted, std::string_view op, const Site& site) const;
  /// Makes it now; why there is none, or nothing.
  std::string compile() const;
  /// Why the last compile() made none; empty if it was not tried or succeeded.
  std::string failure() const;
  bool compiled() const { return fn_.load(std::memory_order_acquire) != nullptr; }

 private:
  Make make_;
  mutable std::atomic<KernelFn> fn_{nullptr};
  mutable std::atomic<bool> asked_{false}, failed_{false};
  mutable LoadedCodeRef held_;   // under the lock of compile(), as is
  mutable std::string failure_;  // this
};

}  // namespace lathe::jit
