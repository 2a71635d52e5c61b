// A pointwise nest ready to run: strips at once, machine code when it is ready. The same nest, the
// same bits.
#pragma once

#include <atomic>
#include <memory>

#include "jit/codegen.h"
#include "jit/lower.h"
#include "kernels/own/program.h"

namespace lathe::jit {

/// Which engine ran, for counters, tests and explain().
enum class Engine : uint8_t { strips, generated };

class PointwiseKernel {
 public:
  explicit PointwiseKernel(const Lowered& lowered);
  ~PointwiseKernel();

  const Nest& nest() const { return nest_; }
  const std::vector<int>& tensors() const { return tensors_; }
  const std::vector<Number>& numbers() const { return numbers_; }

  /// A nest's Ints as numbers, for one set of sizes.
  struct Bound {
    int64_t elements = 0;
    absl::InlinedVector<int64_t, 6> extents;
    std::vector<int64_t>
        strides;  // rows of rank numbers: operands in bytes, then `linear` in elements
    std::vector<int64_t> offsets;  // bytes into each buffer operand
  };
  Bound bind(const std::function<int64_t(Int)>& value) const;

  struct Run {
    absl::Span<std::byte* const> buffers;  // inputs then outputs, as in the nest
    absl::Span<const uint64_t> uniforms;   // bits
    uint64_t seed = 0, call = 0;
    std::string_view op;  // for a failed check
    Site site;
  };
  /// Throws ValueError for a failed check. Any number of threads at once.
  Engine run(const Bound& bound, const Run& run) const;

  /// Machine code now, or why there is none. By flag `engine`, run() asks for it by itself.
  std::string compile() const;
  bool compiled() const { return code_.load(std::memory_order_acquire) != nullptr; }

 private:
  struct Code;
  void run_strips(const Bound& bound, const Run& run, absl::Span<std::byte* const> data) const;
  void run_code(const Code& code, const Bound& bound, const Run& run,
                absl::Span<std::byte* const> data) const;
  ElementwiseSpec spec() const;
  absl::InlinedVector<const Load*, 6> loads() const;  // operands then stores; null: a uniform

  Nest nest_;
  std::vector<int> tensors_;
  std::vector<Number> numbers_;
  own::Program strips_;
  mutable std::atomic<const Code*> code_{nullptr};
  mutable std::atomic<bool> asked_{false};
  mutable std::unique_ptr<Code> owned_;
};

}  // namespace lathe::jit
