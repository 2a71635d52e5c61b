// A contraction in plain numbers: what a formula means for these operands.
//
//   for every batch index and every output index:
//     sum over the reduced variables, first outermost, of a[...] * b[...]
//
// Each operand is addressed by a stride a variable. An affine axis ("y*stride0 + i*dilation0 -
// pad0") is a Window besides: its coordinate has to be computed, because a read outside is 0 (and
// takes part in the sum like any other term). Where the *output* has an affine axis (the adjoints
// of convolutions) the variable of that axis that comes last in the order of summation is fixed by
// the others: it is replaced by (h - rest) / scale, h being the output index, so that the operand
// that reads it gets a Window with a divisor; a remainder counts as outside. So outputs are always
// plain, and the number and order of the terms of a sum is the same for every output element.
//
// The defined value of a sum: terms are numbered in order from 0; each block of 512 is one chain
// acc = fma(a, b, acc) from +0; the first block's value is the result, later ones are added to it
// one by one. Integers wrap. f16 and bf16 are computed in f32 and rounded once at the end. c64: two
// real chains, re = fma(-a.im, b.im, fma(a.re, b.re, re)), im = fma(a.im, b.re, fma(a.re, b.im,
// im)).
#pragma once

#include "core/formula.h"
#include "core/op.h"
#include "kernels/operand.h"

namespace lathe {

inline constexpr int64_t kSumBlock = 512;

struct Window {
  int64_t base = 0;  // coordinate = (base + sum of coefficient * variable) / divisor
  int64_t divisor = 1;
  int64_t size = 0;    // inside: 0 <= coordinate < size, without remainder
  int64_t stride = 0;  // of the operand along this axis
  Sizes coefficient;   // by variable
};

struct Addressing {
  Sizes batch;   // stride by batch axis
  Sizes stride;  // by variable, windows left out
  absl::InlinedVector<Window, 2> windows;
};

struct Contraction {
  DType dtype = DType::f32;             // of both operands and the output
  Sizes batch;                          // extents
  Sizes extent;                         // by variable
  absl::InlinedVector<int, 6> outer;    // variables of the output, in its order
  absl::InlinedVector<int, 6> reduced;  // variables summed over, first outermost
  Addressing a, b, out;

  int64_t terms() const;
  int64_t outputs() const;  // per batch index
};

/// `out` is contiguous. The operands' dtypes may differ; `dtype` is out's.
Contraction make_contraction(const Op& op, Args args, const Operand& a, const Operand& b,
                             const Operand& out);

/// The extents a contraction sums over, in order: all that a family may know of its shape. Symbolic
/// operands give symbolic extents.
Shape reduced_extents(const Op& op, Args args, IntSpan out);

}  // namespace lathe
