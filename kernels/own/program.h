// A body ready to run on lines: by the SIMD interpreter, or by the reference.
#pragma once

#include <memory>

#include "kernels/own/line_code.h"
#include "kernels/problem/bodies.h"
#include "kernels/problem/line.h"
#include "kernels/simd/program.h"

namespace lathe::own {

enum class Engine : uint8_t { simd, reference };

class Program {
 public:
  explicit Program(ScalarFunction f);

  const ScalarFunction& function() const { return function_; }
  /// The result is the only input as it stands.
  bool copies() const { return copies_; }
  bool uses_index() const { return uses_index_; }
  /// The logical position of an element matters (random, linear, check).
  bool uses_position() const { return uses_position_; }
  /// About how many nanoseconds an element takes, in tenths.
  int cost() const { return cost_; }

  /// One kernel, which needs no setting up.
  bool is_direct() const { return simd_.is_direct(); }
  SimdProgram::Direct direct(absl::Span<const LineOperand> in, const LineOperand& out,
                             int64_t count) const {
    return simd_.direct(in, out, count, simd_loops());
  }
  /// The one kernel that is the whole body on its inputs in their order, those of `splat` single
  /// elements; or null.
  StripFn whole(unsigned splat) const { return simd_.whole(splat, simd_loops()); }

  /// By the SIMD interpreter and past the caches, if that takes no buffer.
  bool run_streamed(absl::Span<const LineOperand> in, const LineOperand& out, int64_t count) const {
    return simd_.run_streamed(in, out, count, simd_loops());
  }

  void run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out, int64_t count,
           const LineContext& context, Engine engine) const {
    if (engine != Engine::simd) [[unlikely]]
      return run_reference(in, out, count, context);
    if (codes_ == nullptr || !codes_->run(in, out, count)) simd_.run(in, out, count, context);
  }
  /// Lets machine code take its lines over, where one call of a kernel is not all there is to do.
  /// To be called before anyone runs it: by who keeps it for many runs.
  void allow_code();

 private:
  void run_reference(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
                     int64_t count, const LineContext& context) const;

  ScalarFunction function_;
  SimdProgram simd_;
  std::unique_ptr<LineCodes> codes_;
  bool copies_ = false, uses_index_ = false, uses_position_ = false;
  int cost_ = 1;
};

/// The program of a definition for these types and inputs, made once.
const Program& program_of(const Op& op, const ElementTypes& types,
                          absl::Span<const BodyInput> inputs);
/// Conversion from one dtype to another.
const Program& conversion(DType from, DType to);

}  // namespace lathe::own
