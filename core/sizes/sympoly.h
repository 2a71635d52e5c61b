// Polynomials over atoms: what a symbolic Int is while it is computed. A Poly is a sorted list of
// monomials with distinct factors; the constant is the monomial without factors, and sorts last.
//
// The order of monomials is graded lexicographic: higher degree first, then by factors. It is a
// monomial order, which is what makes long division right. Atoms are compared by what they are,
// never by when they were made: two processes print the same text.
#pragma once

#include <vector>

#include "core/sizes/symexpr.h"

namespace lathe::poly {

using Poly = std::vector<SymTerm>;
using Factors = absl::InlinedVector<const SymExpr*, 2>;

/// Between an Int and its polynomial; `make` interns.
Poly expand(Int e);
Int make(Poly p);
/// floor_div, mod or positive part, as it is.
Int make_atom(SymKind kind, Int a, Int b);

/// The order of atoms and monomials, extended to all Ints: negative, zero or positive.
int compare(Int a, Int b);

/// e = scale * form + constant; the form has no constant, gcd 1 and a positive first coefficient.
struct Scaled {
  Int form;
  int64_t scale = 1, constant = 0;
};
Scaled scaled_form(Int e);  // e is symbolic

/// p + scale * q.
Poly plus(const Poly& p, const Poly& q, int64_t scale = 1);
/// Sorts, and adds up monomials with the same factors.
void collect(Poly& p);
SymTerm times(const SymTerm& a, const SymTerm& b);

/// `rest` = a without b's factors; false if one of them is not in a.
bool remove_factors(const Factors& a, const Factors& b, Factors& rest);
/// a / b, if there is no remainder. b is not zero.
bool divide_exactly(Poly a, const Poly& b, Poly& quotient);
/// a = quotient * b + rest, the rest as small as is easily seen. b's first coefficient is positive.
void split(const Poly& a, const Poly& b, Poly& quotient, Poly& rest);

}  // namespace lathe::poly
