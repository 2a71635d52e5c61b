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
// that reads it gets a Window with a divisor. Terms that leave a remainder do not exist: they are
// neither added nor counted. So outputs are always plain.
//
// The defined value of a sum: existing terms are numbered in order from 0; each block of 512 is one
// chain acc = fma(a, b, acc) from +0; the first block's value is the result, later ones are added
// to it one by one. Elements are converted to the accumulator's dtype before (f32 for f16 and
// bf16), and the sum is rounded to the result's once at the end (sum_types in core/op/op.h).
// Integers wrap. c64: two real chains, re = fma(-a.im, b.im, fma(a.re, b.re, re)), im = fma(a.im,
// b.re, fma(a.re, b.im, im)).
#pragma once

#include "core/op/formula.h"
#include "core/op/op.h"
#include "kernels/problem/operand.h"

namespace lathe {

inline constexpr int64_t kSumBlock = 512;

struct Window {
  int64_t base = 0;  // coordinate = (base + sum of coefficient * variable) / divisor
  int64_t divisor = 1;
  int64_t size = 0;    // inside: 0 <= coordinate < size
  int64_t stride = 0;  // of the operand along this axis
  Sizes coefficient;   // by variable
};

struct Addressing {
  DType dtype = DType::f32;  // of the elements as they are stored
  int64_t offset = 0;
  Sizes batch;   // stride by batch axis
  Sizes stride;  // by variable, windows left out
  absl::InlinedVector<Window, 2> windows;
};

struct Contraction {
  Sizes batch;                          // extents
  Sizes extent;                         // by variable
  absl::InlinedVector<int, 6> outer;    // variables of the output, in its order
  absl::InlinedVector<int, 6> reduced;  // variables summed over, first outermost
  Addressing a, b, out;

  int64_t terms() const;
  int64_t outputs() const;  // per batch index
};

/// `out` is contiguous. Dtypes may differ.
Contraction make_contraction(const Op& op, Args args, const Operand& a, const Operand& b,
                             const Operand& out);

/// A part of a contraction's outputs whose windows all have divisor 1.
struct Residue {
  Contraction contraction;  // its own outputs are contiguous
  Sizes shape, strides;     // of where they belong in the whole output
  int64_t offset = 0;
};
/// The parts of `c`: one for each remainder of the output index by the divisor (of each divided
/// window); `c` itself if there is none. Each affine output axis has at most two terms
/// (divisible_axes).
std::vector<Residue> residues(const Contraction& c);
bool divisible_axes(const Formula& formula);

/// The extents a contraction sums over, in order: all that a choice of entry may know of its shape.
/// Symbolic operands give symbolic extents.
Shape reduced_extents(const Op& op, Args args, IntSpan out);

}  // namespace lathe
