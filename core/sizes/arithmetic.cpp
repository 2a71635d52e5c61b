// The parts of Int that are not on the fast path of numbers: the answers on symbols are in
// symalgebra.cpp.
#include "core/sizes/int.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

int64_t floor_div_numbers(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

[[noreturn]] void division_by_zero(const char* op, Int a) {
  throw ValueError({.op = op,
                    .problem = "division by zero",
                    .got = absl::StrCat(to_string(a), " by 0"),
                    .expected = "a divisor other than 0",
                    .next = "guard the case of size 0"});
}

bool compare(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::eq:
      return a == b;
    case Relation::ne:
      return a != b;
    case Relation::lt:
      return a < b;
    case Relation::le:
      return a <= b;
  }
  return false;
}

SymScope& scope_for(const char* problem, Int a) {
  if (SymScope* scope = SymScope::current()) return *scope;
  throw TraceError({.problem = problem,
                    .got = to_string(a),
                    .expected = "a number, or a trace under way that says what its symbols are",
                    .next = "use sizes of symbolic tensors only inside the function being traced"});
}

}  // namespace

void Int::overflow(const char* what, Int a, Int b) {
  throw OverflowError({.op = "size",
                       .problem = "a size is too large",
                       .got = absl::StrCat(to_string(a), " ", what, " ", to_string(b)),
                       .expected = "a result of at least -2^62 and below 2^62",
                       .next = "check the sizes that were multiplied or added"});
}

void Int::out_of_range(int64_t value) {
  throw OverflowError({.op = "size",
                       .problem = "a size is too large",
                       .got = absl::StrCat(value),
                       .expected = "at least -2^62 and below 2^62",
                       .next = "check how the size was computed"});
}

int64_t Int::specialise() const {
  SymScope& scope =
      scope_for("the value of a symbolic size was asked for outside its trace", *this);
  if (scope.inside(*this)) {
    if (auto [low, high] = scope.bounds(*this); low == high) return low;
    throw TraceError({.problem = "the number itself is wanted of a size that only running the "
                                 "program tells",
                      .got = to_string(*this),
                      .expected = "arithmetic, and use as a size",
                      .next = "keep it as a size, or take this part out of the captured function"});
  }
  int64_t value = scope.hint(*this);
  scope.decide(Relation::eq, *this, value);
  return value;
}

int64_t Int::hint() const {
  if (known()) return value();
  return scope_for("the value of a symbolic size was asked for outside its trace", *this)
      .hint(*this);
}

Int floor_div(Int a, Int b) {
  if (a.known() && b.known()) [[likely]] {
    if (b.value() == 0) division_by_zero("floor_div", a);
    return floor_div_numbers(a.value(), b.value());
  }
  if (identical(b, 0)) division_by_zero("floor_div", a);
  return sym_floor_div(a, b);
}

Int mod(Int a, Int b) {
  if (a.known() && b.known()) [[likely]] {
    if (b.value() == 0) division_by_zero("mod", a);
    int64_t r = b.value() == -1 ? 0 : a.value() % b.value();
    return r != 0 && (r < 0) != (b.value() < 0) ? r + b.value() : r;
  }
  if (identical(b, 0)) division_by_zero("mod", a);
  return sym_mod(a, b);
}

Int min(Int a, Int b) {
  if (a.known() && b.known()) [[likely]]
    return a.value() < b.value() ? a : b;
  return sym_min(a, b);
}

Int max(Int a, Int b) {
  if (a.known() && b.known()) [[likely]]
    return a.value() < b.value() ? b : a;
  return sym_max(a, b);
}

bool decide(Relation relation, Int a, Int b) {
  if (a.known() && b.known()) [[likely]]
    return compare(relation, a.value(), b.value());
  return scope_for("a symbolic size was compared outside its trace", a.known() ? b : a)
      .decide(relation, a, b);
}

bool require(Relation relation, Int a, Int b) {
  if (a.known() && b.known()) [[likely]]
    return compare(relation, a.value(), b.value());
  return scope_for("a symbolic size was checked outside its trace", a.known() ? b : a)
      .require(relation, a, b);
}

std::string to_string(IntSpan shape) {
  return absl::StrCat(
      "[", absl::StrJoin(shape, ", ", [](std::string* out, Int i) { out->append(to_string(i)); }),
      "]");
}

bool identical(IntSpan a, IntSpan b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if (!identical(a[i], b[i])) return false;
  return true;
}

// A zero anywhere comes first: the other sizes of an empty tensor may multiply to more than an Int.
Int numel(IntSpan shape) {
  for (Int size : shape)
    if (identical(size, 0)) return 0;
  Int product = 1;
  for (Int size : shape) product *= size;
  return product;
}

Strides row_major(IntSpan shape) {
  Strides strides(shape.size());
  Int stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0) stride *= shape[i];
  }
  return strides;
}

}  // namespace lathe
