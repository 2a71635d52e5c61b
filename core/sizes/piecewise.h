// Piecewise linear functions of one form over the integers: what sizes of slices with constant
// bounds are, whatever was sliced, padded and joined before.
//
// slope*f + constant + sum of kinks k_i * max(f - t_i, 0), with t_i ascending. These are linearly
// independent as functions of f, so the numbers are the normal form; max(g, 0) of such a function g
// is again one, because the point where g changes its sign between two integers may be written as
// two kinks at those integers.
#pragma once

#include <optional>

#include "core/sizes/sympoly.h"

namespace lathe::poly {

struct Kink {
  int64_t at, slope;  // slope * max(f - at, 0)
};

struct Piecewise {
  Int form;
  int64_t slope = 0, constant = 0;
  std::vector<Kink> kinks = {};  // ascending, none twice
};

/// An interval; saturated bounds (lowest and highest int64_t) mean "no bound".
struct Interval {
  int64_t low, high;
};

/// More kinks than this are no normal form: the function becomes an atom.
inline constexpr size_t kMostKinks = 32;

/// Is the term coefficient * max(d, 0) by itself? Then d, else null.
const SymExpr* positive_part_in(const SymTerm& term);

/// The polynomial as a function of one form, that of its positive parts, or without any its own.
/// nullopt: there are several forms, or too many kinks. `p` is not a number.
std::optional<Piecewise> piecewise_of(const Poly& p);

/// max(g, 0) for the form in `of`. nullopt: numbers or kinks beyond what is kept.
std::optional<Piecewise> positive(const Piecewise& g, Interval of);

/// The least and greatest value for the form in `of`; exact.
Interval bounds(const Piecewise& g, Interval of);

Int to_int(const Piecewise& g);

}  // namespace lathe::poly
