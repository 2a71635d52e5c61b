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

/// Bits of numbers; a complex one is two, its parts. A reduction's state has one value an entry of
/// ReduceBodies::state.
using State = absl::InlinedVector<uint64_t, 3>;
State unit(const ReduceBodies& fold);
State lift(const ReduceBodies& fold, State element, int64_t index);
State combine(const ReduceBodies& fold, const State& a, const State& b);
State finish(const ReduceBodies& fold, const State& s, int64_t count);

/// Appends the parts of one element.
void read_element(DType dtype, const std::byte* at, State& out);
/// The way back, of the parts that begin with `parts`; what begins behind them.
const uint64_t* write_element(DType dtype, std::byte* at, const uint64_t* parts);
void write_bits(std::byte* at, size_t bytes, uint64_t bits);

}  // namespace lathe::reference
