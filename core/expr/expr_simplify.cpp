// `make`: the only way a node comes to be. It checks dtypes, rewrites what has a simpler form with
// the same bits for every input, folds constants, and interns, so that equal expressions are one
// node.
//
// Every rule here is exact (NaN counts as one value). What is *not* here is as deliberate: x + 0.0
// changes -0, x * 0.0 hides NaN and the sign, (a + b) - b rounds. Rules are tested against
// evaluate() on every pair of special values.
#include <absl/strings/str_cat.h>

#include <array>
#include <bit>

#include "core/base/error.h"
#include "core/base/float_mode.h"
#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe {

using namespace expr_detail;

namespace {

/// A node that is not there yet.
struct Draft {
  Prim prim;
  DType dtype;
  absl::InlinedVector<Expr, 3> args;
  uint64_t payload;

  const Expr& a() const { return args[0]; }
  const Expr& b() const { return args[1]; }
  const Expr& c() const { return args[2]; }
};

bool same(Expr x, Expr y) { return x.id() == y.id(); }
bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }
bool is_bits(Expr e, uint64_t bits) { return is_constant(e) && e->payload == bits; }
bool is_number(Expr e, double value) {
  return is_constant(e) && e->payload == number_bits(e.dtype(), value);
}
Expr zero(DType dtype) { return constant(dtype, 0.0); }
Expr truth(bool value) { return constant_bits(DType::bool_, value ? 1 : 0); }

// ── dtypes ──────────────────────────────────────────────────────────────────────────────────────
bool is_comparison(Prim prim) { return prim >= Prim::lt && prim <= Prim::ne; }

/// Position of the first value operand: what stands before it is a condition.
size_t first_value(Prim prim) {
  return prim == Prim::select || prim == Prim::rare || prim == Prim::check ? 1 : 0;
}

bool result_fits(Prim prim, DType dtype, DType operand) {
  if (is_comparison(prim)) return dtype == DType::bool_;
  switch (prim) {
    case Prim::cast:
      return info(Prim::cast).domain.has(dtype);
    case Prim::bits:
      return dtype == (operand == DType::f64 ? DType::u64 : DType::u32);
    case Prim::frombits:
      return dtype == (operand == DType::u64 ? DType::f64 : DType::f32);
    case Prim::real:
    case Prim::imag:
      return dtype == real_type(operand);
    default:
      return dtype == operand;
  }
}

// ── rules, by family; an invalid Expr means that none applies ───────────────────────────────────
Expr power_of_two_reciprocal(Expr c) {
  if (!is_constant(c)) return {};
  const bool wide = c.dtype() == DType::f64;
  const int mantissa = wide ? 52 : 23;
  const uint64_t sign = wide ? uint64_t{1} << 63 : uint64_t{1} << 31;
  const uint64_t bias = wide ? 1023 : 127;
  const uint64_t bits = c->payload;
  const uint64_t exponent = (bits & ~sign) >> mantissa;
  if ((bits & ((uint64_t{1} << mantissa) - 1)) != 0) return {};
  if (exponent < 1 || exponent > 2 * bias - 1) return {};  // the reciprocal must be normal too
  return constant_bits(c.dtype(), (bits & sign) | ((2 * bias - exponent) << mantissa));
}

Expr simplify_sum(const Draft& d) {
  const bool floats = is_floating(d.dtype);
  if (d.prim == Prim::add) {
    if (is_number(d.b(), floats ? -0.0 : 0.0)) return d.a();
    if (is_number(d.a(), floats ? -0.0 : 0.0)) return d.b();
    if (d.b().prim() == Prim::neg) return d.a() - d.b().arg(0);
    if (d.a().prim() == Prim::neg) return d.b() - d.a().arg(0);
    return {};
  }
  if (is_number(d.b(), 0.0)) return d.a();
  if (!floats && same(d.a(), d.b())) return zero(d.dtype);
  if (d.b().prim() == Prim::neg) return d.a() + d.b().arg(0);
  return {};
}

Expr simplify_product(const Draft& d) {
  for (int side = 0; side < 2; ++side) {
    const Expr x = d.args[static_cast<size_t>(side)], y = d.args[static_cast<size_t>(1 - side)];
    if (is_number(y, 1.0)) return x;
    if (is_floating(d.dtype)) {
      if (is_number(y, -1.0)) return -x;
    } else if (is_number(y, 0.0)) {
      return y;
    }
  }
  if (d.a().prim() == Prim::neg && d.b().prim() == Prim::neg) return d.a().arg(0) * d.b().arg(0);
  return {};
}

Expr simplify_arithmetic(const Draft& d) {
  const bool floats = is_floating(d.dtype);
  switch (d.prim) {
    case Prim::add:
    case Prim::sub:
      return simplify_sum(d);
    case Prim::mul:
      return simplify_product(d);
    case Prim::div:
      if (is_number(d.b(), 1.0)) return d.a();
      if (Expr r = power_of_two_reciprocal(d.b()); r.valid()) return d.a() * r;
      return {};
    case Prim::fma:
      if (!floats) return d.a() * d.b() + d.c();
      if (is_number(d.b(), 1.0)) return d.a() + d.c();
      if (is_number(d.a(), 1.0)) return d.b() + d.c();
      return {};
    case Prim::neg:
      return d.a().prim() == Prim::neg ? d.a().arg(0) : Expr();
    case Prim::abs:
      if (!floats && !is_signed(d.dtype)) return d.a();
      if (d.a().prim() == Prim::abs) return d.a();
      if (d.a().prim() == Prim::neg) return abs(d.a().arg(0));
      return {};
    case Prim::pmin:
    case Prim::pmax:
      return same(d.a(), d.b()) ? d.a() : Expr();
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint: {
      const Prim inner = d.a().prim();
      const bool whole = inner == Prim::floor || inner == Prim::ceil || inner == Prim::trunc ||
                         inner == Prim::rint;
      return !floats || whole ? d.a() : Expr();
    }
    default:
      return {};
  }
}

Expr simplify_comparison(const Draft& d) {
  if (!same(d.a(), d.b())) return {};
  if (d.prim == Prim::lt) return truth(false);
  if (is_floating(d.a().dtype())) return {};
  return truth(d.prim != Prim::ne);
}

/// Not of a comparison; for floats lt and le have no negation among the four.
Expr negated_comparison(Expr x) {
  const Expr a = x.arg(0), b = x.arg(1);
  if (x.prim() == Prim::eq) return ne(a, b);
  if (x.prim() == Prim::ne) return eq(a, b);
  if (is_floating(a.dtype())) return {};
  if (x.prim() == Prim::lt) return le(b, a);
  return lt(b, a);
}

Expr simplify_logic(const Draft& d) {
  const uint64_t ones = d.dtype == DType::bool_ ? 1 : mask_of(d.dtype);
  if (d.prim == Prim::bit_not) {
    if (d.a().prim() == Prim::bit_not) return d.a().arg(0);
    return is_comparison(d.a().prim()) ? negated_comparison(d.a()) : Expr();
  }
  if (same(d.a(), d.b())) return d.prim == Prim::bit_xor ? zero(d.dtype) : d.a();
  for (int side = 0; side < 2; ++side) {
    const Expr x = d.args[static_cast<size_t>(side)], y = d.args[static_cast<size_t>(1 - side)];
    if (is_bits(y, 0)) return d.prim == Prim::bit_and ? y : x;
    if (is_bits(y, ones)) {
      if (d.prim == Prim::bit_and) return x;
      return d.prim == Prim::bit_or ? y : ~x;
    }
  }
  return {};
}

Expr simplify_shift(const Draft& d) {
  if (!is_constant(d.b())) return {};
  const uint64_t width = 8 * size_of(d.dtype);
  const uint64_t count = d.b()->payload % width;
  if (count == 0) return d.a();
  if (count == d.b()->payload) return {};
  return make(d.prim, d.dtype, {d.a(), constant_bits(d.dtype, count)});
}

Expr simplify_choice(const Draft& d) {
  const bool lazy = d.prim == Prim::rare;  // rare(mask, fast, slow) = select(mask, slow, fast)
  const Expr yes = lazy ? d.c() : d.b(), no = lazy ? d.b() : d.c();
  if (is_constant(d.a())) return d.a()->payload != 0 ? yes : no;
  if (same(yes, no)) return yes;
  if (lazy) return {};
  if (d.a().prim() == Prim::bit_not) return select(d.a().arg(0), no, yes);
  if (d.dtype == DType::bool_) {
    if (is_bits(yes, 1)) return d.a() | no;
    if (is_bits(no, 0)) return d.a() & yes;
    if (is_bits(yes, 0)) return ~d.a() & no;
    if (is_bits(no, 1)) return ~d.a() | yes;
  }
  return {};
}

/// Whether every value of `from` survives a round trip through `to`.
bool lossless(DType from, DType to) {
  if (is_half(from)) return to == DType::f32 || to == DType::f64;
  if (from == DType::f32) return to == DType::f64;
  if (!is_integer(from) || from == to) return false;
  const size_t bytes = size_of(from);
  if (is_floating(to)) return to == DType::f64 ? bytes <= 4 : to == DType::f32 && bytes <= 2;
  return is_integer(to) && size_of(to) >= bytes;  // wrapping there and back changes nothing
}

Expr simplify_cast(const Draft& d) {
  const Expr x = d.a();
  const DType from = x.dtype();
  if (from == d.dtype) return x;
  if (d.dtype == DType::bool_ && x.prim() == Prim::cast && x.arg(0).dtype() == DType::bool_)
    return x.arg(0);
  if (is_half(from) && d.dtype != DType::f32) return cast(cast(x, DType::f32), d.dtype);
  if (d.dtype == DType::bool_) return ne(x, zero(from));
  if (is_half(d.dtype) && from != DType::f32) return cast(cast(x, DType::f32), d.dtype);
  if (x.prim() == Prim::cast) {
    const DType origin = x.arg(0).dtype();
    if (origin == d.dtype && lossless(origin, from)) return x.arg(0);
  }
  return {};
}

Expr simplify(const Draft& d) {
  switch (d.prim) {
    case Prim::bit_and:
    case Prim::bit_or:
    case Prim::bit_xor:
    case Prim::bit_not:
      return simplify_logic(d);
    case Prim::shl:
    case Prim::shr:
      return simplify_shift(d);
    case Prim::lt:
    case Prim::le:
    case Prim::eq:
    case Prim::ne:
      return simplify_comparison(d);
    case Prim::select:
    case Prim::rare:
      return simplify_choice(d);
    case Prim::check:
      return is_bits(d.a(), 1) ? d.b() : Expr();
    case Prim::cast:
      return simplify_cast(d);
    case Prim::frombits:
      return d.a().prim() == Prim::bits ? d.a().arg(0) : Expr();
    default:
      return simplify_arithmetic(d);
  }
}

Expr fold(const Draft& d) {
  if (d.args.empty() || d.prim == Prim::check) return {};
  std::array<DType, 3> types;
  std::array<uint64_t, 3> values;
  for (size_t i = 0; i < d.args.size(); ++i) {
    if (!is_constant(d.args[i])) return {};
    types[i] = d.args[i].dtype();
    values[i] = d.args[i]->payload;
  }
  const ExprNode node{d.prim, d.dtype, static_cast<uint8_t>(d.args.size()), {}, d.payload};
  const DefaultFloatMode mode;
  return constant_bits(d.dtype, evaluate_prim(node, absl::MakeSpan(types.data(), d.args.size()),
                                              absl::MakeSpan(values.data(), d.args.size())));
}

bool commutes(Prim prim) {
  switch (prim) {
    case Prim::add:
    case Prim::mul:
    case Prim::fma:  // its first two
    case Prim::eq:
    case Prim::ne:
    case Prim::bit_and:
    case Prim::bit_or:
    case Prim::bit_xor:
    case Prim::mulhi:
      return true;
    default:
      return false;
  }
}

}  // namespace

namespace expr_detail {

void check_node(Prim prim, DType dtype, absl::Span<const Expr> args) {
  const PrimInfo& about = info(prim);
  LATHE_CHECK(args.size() == about.arity);
  if (about.arity == 0) {
    if (!about.domain.has(dtype)) refuse(prim, args, "this dtype is reserved");
    return;
  }
  const size_t first = first_value(prim);
  if (first == 1 && args[0].dtype() != DType::bool_)
    refuse(prim, args, "the condition is a bool: compare first");
  const DType operand = args[first].dtype();
  if (!about.domain.has(operand))
    refuse(prim, args,
           is_half(operand) ? "f16 and bf16 are storage types: cast to f32 and back"
                            : "cast the operands to a dtype it is defined for");
  for (size_t i = first; i < args.size(); ++i)
    if (args[i].dtype() != operand) refuse(prim, args, "cast the operands to one dtype");
  if (!result_fits(prim, dtype, operand))
    refuse(prim, args, absl::StrCat("it cannot give ", name(dtype)));
}

std::optional<DType> implied_type(Prim prim, DType node, int i, std::optional<DType> other) {
  if (is_comparison(prim)) return other;
  if (static_cast<size_t>(i) < first_value(prim)) return DType::bool_;
  const bool converts = prim == Prim::cast || prim == Prim::bits || prim == Prim::frombits ||
                        prim == Prim::real || prim == Prim::imag;
  return converts ? std::nullopt : std::optional(node);
}

}  // namespace expr_detail

Expr make(Prim prim, DType dtype, absl::Span<const Expr> args, uint64_t payload) {
  Draft draft{prim, dtype, {args.begin(), args.end()}, payload};
  check_node(prim, dtype, args);
  if (!args.empty()) {
    if (Expr e = fold(draft); e.valid()) return e;
    if (Expr e = simplify(draft); e.valid()) return e;
  }
  ExprNode node{prim, dtype, static_cast<uint8_t>(args.size()), {}, payload};
  for (size_t i = 0; i < args.size(); ++i) node.args[i] = draft.args[i].id();
  if (commutes(prim)) {  // a + b is the node of b + a, if that is there; else it stays as written
    ExprNode turned = node;
    std::swap(turned.args[0], turned.args[1]);
    if (const auto known = current_exprs().find(turned)) return Expr::node(*known);
  }
  return Expr::node(current_exprs().intern(node));
}

}  // namespace lathe
