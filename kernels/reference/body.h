// Bodies and reductions by the portable scalar engine, one element at a time: slow, and what the
// SIMD interpreter must equal.
#pragma once

#include "kernels/problem/bodies.h"
#include "kernels/problem/line.h"

namespace lathe::reference {

/// Output k of `f` for each of `count` elements. Operands have f.inputs' and f.output_types'
/// dtypes.
void run_line(const ScalarFunction& f, absl::Span<const LineOperand> in,
              absl::Span<const LineOperand> out, int64_t count, const LineContext& context);

/// A reduction's state: one value an entry of ReduceBodies::state.
using State = absl::InlinedVector<uint64_t, 3>;
State unit(const ReduceBodies& fold);
State lift(const ReduceBodies& fold, uint64_t element, int64_t index);
State combine(const ReduceBodies& fold, const State& a, const State& b);
absl::InlinedVector<uint64_t, 2> finish(const ReduceBodies& fold, const State& s, int64_t count);

/// One element as bits, and back.
uint64_t read_bits(const std::byte* at, size_t bytes);
void write_bits(std::byte* at, size_t bytes, uint64_t bits);

}  // namespace lathe::reference
