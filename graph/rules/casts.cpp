// Casts that change nothing, and casts through a type that holds every value of the first.
#include "graph/rewrite/rule.h"

namespace lathe::ir {
namespace {

/// Bits of precision, sign included for integers.
int integer_bits(DType d) {
  if (d == DType::bool_) return 1;
  return static_cast<int>(size_of(d)) * 8;
}
int float_bits(DType d) {
  switch (d) {
    case DType::f16:
      return 11;
    case DType::bf16:
      return 8;
    case DType::f32:
      return 24;
    case DType::f64:
      return 53;
    default:
      return 0;
  }
}

/// Is every value of `from` one of `to`?
bool holds(DType from, DType to) {
  if (from == to || from == DType::bool_) return true;
  if (is_complex(from) || is_complex(to) || to == DType::bool_) return false;
  if (is_floating(from)) {
    if (!is_floating(to)) return false;
    return to == DType::f64 || (to == DType::f32 && from != DType::f64);
  }
  if (is_floating(to)) {
    if (to == DType::f16 || to == DType::bf16)
      return integer_bits(from) <= float_bits(to) && from != DType::i64;
    return integer_bits(from) <= float_bits(to);
  }
  if (is_signed(from) == is_signed(to)) return integer_bits(from) <= integer_bits(to);
  return !is_signed(from) && integer_bits(from) < integer_bits(to);
}

bool middle_is_wide(Match& m) {
  if (!m.is_tensor("x") || m.is_value("a") || m.is_value("b")) return false;
  DType x = m.dtype("x"), a = m.literal("a").dtype_, b = m.literal("b").dtype_;
  if (!holds(x, a)) return false;
  // Integers wrap into integers, but saturate coming from floats.
  bool through_float = !is_floating(x) && is_floating(a) && is_integer(b);
  return !through_float || holds(x, b);
}

constexpr Rule kRules[] = {
    {"cast_to_same", Exactness::exact, "cast(x, d)", "x"},
    {"cast_of_cast", Exactness::exact, "cast(cast(x, a), b)", "cast(x, b)", middle_is_wide},
};

}  // namespace

absl::Span<const Rule> cast_rules() { return kRules; }

}  // namespace lathe::ir
