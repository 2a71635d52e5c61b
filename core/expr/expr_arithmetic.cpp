// The functions that bodies call: they give bare numbers a dtype, send complex operands to
// expr_complex.cpp and bool arithmetic to logic, and hand the rest to `make`.
#include "core/expr/expr.h"

#include <absl/strings/str_cat.h>

#include <bit>
#include <cmath>

#include "core/base/error.h"
#include "core/expr/expr_internal.h"

namespace lathe {
namespace {

constinit thread_local ExprGraph* innermost = nullptr;

}  // namespace

// ── graphs and scopes ───────────────────────────────────────────────────────────────────────────
uint32_t ExprGraph::intern(const ExprNode& node) {
  auto [it, fresh] = known_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back(node);
  return it->second;
}

std::optional<uint32_t> ExprGraph::find(const ExprNode& node) const {
  const auto it = known_.find(node);
  return it == known_.end() ? std::nullopt : std::optional(it->second);
}

ExprScope::ExprScope(ExprGraph& graph) : outer_(innermost) { innermost = &graph; }
ExprScope::~ExprScope() { innermost = outer_; }

ExprGraph& current_exprs() {
  if (innermost == nullptr) LATHE_INTERNAL("an Expr function was called outside an ExprScope");
  return *innermost;
}

const ExprNode& Expr::operator*() const {
  if (kind_ != Kind::node) [[unlikely]] {
    if (literal())
      throw TypeError({.problem = absl::StrCat("the number ", literal_, " has no dtype here"),
                       .expected = "an expression",
                       .next = "write constant(dtype, value) where a number meets no expression"});
    LATHE_INTERNAL("an invalid Expr was used");
  }
  return current_exprs()[id_];
}

// ── bare numbers ────────────────────────────────────────────────────────────────────────────────
namespace expr_detail {

uint64_t mask_of(DType dtype) {
  const size_t bytes = size_of(dtype);
  return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
}

namespace {

uint64_t integer_bits(DType dtype, double value) {
  const int width = 8 * static_cast<int>(size_of(dtype));
  const bool fits = value >= -std::ldexp(1.0, width - 1) && value < std::ldexp(1.0, width);
  if (value != std::floor(value) || !fits)
    throw DTypeError({.problem = absl::StrCat("the number ", value, " is no ", name(dtype)),
                      .next = "cast the operand it meets, or write a number of that type"});
  const uint64_t word =
      value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
  return word & mask_of(dtype);
}

}  // namespace

uint64_t number_bits(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::bool_:
      return value != 0 ? 1 : 0;
    case DType::f16:
      return f32_to_f16(single);
    case DType::bf16:
      return f32_to_bf16(single);
    case DType::f32:
      return std::bit_cast<uint32_t>(single);
    case DType::f64:
      return std::bit_cast<uint64_t>(value);
    default:
      if (is_integer(dtype)) return integer_bits(dtype, value);
      throw DTypeError({.problem = absl::StrCat("no constant can be ", name(dtype))});
  }
}

void refuse(Prim prim, absl::Span<const Expr> args, std::string_view next) {
  std::string got;
  for (Expr e : args)
    absl::StrAppend(&got, got.empty() ? "" : ", ",
                    e.literal() ? std::string_view("a bare number") : name(e.dtype()));
  throw DTypeError({.op = std::string(info(prim).name),
                    .problem = "the scalar language does not define it for these operands",
                    .got = got,
                    .next = std::string(next)});
}

void settle(Prim prim, absl::Span<Expr> args) {
  for (Expr e : args) {
    if (!e.valid()) LATHE_INTERNAL("an invalid Expr was used");
    if (e.literal()) continue;
    for (Expr& other : args)
      if (other.literal()) other = constant(e.dtype(), other.literal_value());
    return;
  }
  refuse(prim, args, "write constant(dtype, value) for one of the numbers");
}

}  // namespace expr_detail

using namespace expr_detail;

namespace {

/// One value type in and out; `args` may hold bare numbers.
Expr arithmetic(Prim prim, Exprs args) {
  settle(prim, absl::MakeSpan(args));
  for (Expr e : args)
    if (is_complex(e.dtype())) return complex_arithmetic(prim, args);
  return make(prim, args[0].dtype(), args);
}

/// bool has no arithmetic of its own: or and and are what + and * (pmax and pmin) mean.
Expr arithmetic_or_logic(Prim prim, Prim logic, Expr a, Expr b) {
  Exprs args{a, b};
  settle(prim, absl::MakeSpan(args));
  if (args[0].dtype() == DType::bool_) prim = logic;
  return arithmetic(prim, args);
}

bool both_numbers(Expr a, Expr b) { return a.literal() && b.literal(); }

Expr compare_bools(Prim prim, Expr a, Expr b) {
  switch (prim) {
    case Prim::lt:
      return ~a & b;
    case Prim::le:
      return ~a | b;
    case Prim::eq:
      return ~(a ^ b);
    default:
      return a ^ b;
  }
}

Expr compare(Prim prim, Expr a, Expr b) {
  Exprs args{a, b};
  settle(prim, absl::MakeSpan(args));
  if (args[0].dtype() == DType::bool_ && args[1].dtype() == DType::bool_)
    return compare_bools(prim, args[0], args[1]);
  for (Expr e : args)
    if (is_complex(e.dtype())) return complex_arithmetic(prim, args);
  return make(prim, DType::bool_, args);
}

Expr bitwise(Prim prim, Expr a, Expr b) {
  Exprs args{a, b};
  settle(prim, absl::MakeSpan(args));
  return make(prim, args[0].dtype(), args);
}

Expr choose(Prim prim, Expr condition, Expr yes, Expr no) {
  Exprs sides{yes, no};
  settle(prim, absl::MakeSpan(sides));
  if (condition.literal()) condition = constant(DType::bool_, condition.literal_value());
  if (is_complex(sides[0].dtype()) || is_complex(sides[1].dtype()))
    return complex_select(prim, condition, sides[0], sides[1]);
  return make(prim, sides[0].dtype(), {condition, sides[0], sides[1]});
}

}  // namespace

// ── leaves ──────────────────────────────────────────────────────────────────────────────────────
Expr constant(DType dtype, double value) {
  if (is_complex(dtype)) {
    if (current_exprs().keeps_complex()) return whole_constant(dtype, value);
    return complex(constant(real_type(dtype), value), constant(real_type(dtype), 0.0));
  }
  return constant_bits(dtype, number_bits(dtype, value));
}

Expr constant_bits(DType dtype, uint64_t bits) {
  bits &= mask_of(dtype);
  const auto canonical = [&](uint64_t infinity, uint64_t quiet) {
    return (bits & (mask_of(dtype) >> 1)) > infinity ? infinity | quiet : bits;
  };
  switch (dtype) {
    case DType::bool_:
      bits = bits != 0 ? 1 : 0;
      break;
    case DType::f16:
      bits = canonical(0x7c00, 0x0200);
      break;
    case DType::bf16:
      bits = canonical(0x7f80, 0x0040);
      break;
    case DType::f32:
      bits = canonical(0x7f800000, 0x00400000);
      break;
    case DType::f64:
      bits = canonical(0x7ff0000000000000, 0x0008000000000000);
      break;
    default:
      break;
  }
  return make(Prim::constant, dtype, {}, bits);
}

Expr input(int which, DType dtype) {
  return make(Prim::input, dtype, {}, static_cast<uint64_t>(which));
}
Expr index(int axis) { return make(Prim::index, DType::i64, {}, static_cast<uint64_t>(axis)); }
Expr linear_index() { return make(Prim::linear, DType::i64, {}); }
Expr random_word(int k) {
  LATHE_CHECK(k >= 0 && k < 1024);
  return make(Prim::random, DType::u32, {}, static_cast<uint64_t>(k));
}

// ── arithmetic ──────────────────────────────────────────────────────────────────────────────────
Expr operator+(Expr a, Expr b) {
  if (both_numbers(a, b)) return Expr(a.literal_value() + b.literal_value());
  return arithmetic_or_logic(Prim::add, Prim::bit_or, a, b);
}
Expr operator-(Expr a, Expr b) {
  if (both_numbers(a, b)) return Expr(a.literal_value() - b.literal_value());
  return arithmetic(Prim::sub, {a, b});
}
Expr operator*(Expr a, Expr b) {
  if (both_numbers(a, b)) return Expr(a.literal_value() * b.literal_value());
  return arithmetic_or_logic(Prim::mul, Prim::bit_and, a, b);
}
Expr operator/(Expr a, Expr b) {
  if (both_numbers(a, b)) return Expr(a.literal_value() / b.literal_value());
  return arithmetic(Prim::div, {a, b});
}
Expr operator-(Expr a) {
  if (a.literal()) return Expr(-a.literal_value());
  return arithmetic(Prim::neg, {a});
}
Expr fma(Expr a, Expr b, Expr c) { return arithmetic(Prim::fma, {a, b, c}); }
Expr abs(Expr x) {
  return !x.literal() && x.dtype() == DType::bool_ ? x : arithmetic(Prim::abs, {x});
}
Expr sqrt(Expr x) { return arithmetic(Prim::sqrt, {x}); }
Expr pmin(Expr a, Expr b) { return arithmetic_or_logic(Prim::pmin, Prim::bit_and, a, b); }
Expr pmax(Expr a, Expr b) { return arithmetic_or_logic(Prim::pmax, Prim::bit_or, a, b); }
Expr floor(Expr x) { return arithmetic(Prim::floor, {x}); }
Expr ceil(Expr x) { return arithmetic(Prim::ceil, {x}); }
Expr trunc(Expr x) { return arithmetic(Prim::trunc, {x}); }
Expr rint(Expr x) { return arithmetic(Prim::rint, {x}); }
Expr floor_div(Expr a, Expr b) { return arithmetic(Prim::floor_div, {a, b}); }
Expr mod(Expr a, Expr b) { return arithmetic(Prim::mod, {a, b}); }
Expr fmod(Expr a, Expr b) { return arithmetic(Prim::fmod, {a, b}); }
Expr mulhi(Expr a, Expr b) { return arithmetic(Prim::mulhi, {a, b}); }
Expr square(Expr x) { return x * x; }

// ── comparison, logic, choice ───────────────────────────────────────────────────────────────────
Expr lt(Expr a, Expr b) { return compare(Prim::lt, a, b); }
Expr le(Expr a, Expr b) { return compare(Prim::le, a, b); }
Expr eq(Expr a, Expr b) { return compare(Prim::eq, a, b); }
Expr ne(Expr a, Expr b) { return compare(Prim::ne, a, b); }
Expr operator&(Expr a, Expr b) { return bitwise(Prim::bit_and, a, b); }
Expr operator|(Expr a, Expr b) { return bitwise(Prim::bit_or, a, b); }
Expr operator^(Expr a, Expr b) { return bitwise(Prim::bit_xor, a, b); }
Expr operator~(Expr a) { return make(Prim::bit_not, a.dtype(), {a}); }
Expr shl(Expr a, Expr b) { return bitwise(Prim::shl, a, b); }
Expr shr(Expr a, Expr b) { return bitwise(Prim::shr, a, b); }
Expr select(Expr condition, Expr yes, Expr no) { return choose(Prim::select, condition, yes, no); }
Expr rare(Expr mask, Expr fast, Expr slow) { return choose(Prim::rare, mask, fast, slow); }
Expr check(Expr condition, Expr x, int code) {
  LATHE_CHECK(code > 0 && code < 65536);
  if (is_complex(x.dtype())) return complex_check(condition, x, code);
  return make(Prim::check, x.dtype(), {condition, x}, static_cast<uint64_t>(code));
}

// ── conversion ──────────────────────────────────────────────────────────────────────────────────
Expr cast(Expr x, DType dtype) {
  if (x.literal()) return constant(dtype, x.literal_value());
  if (is_complex(x.dtype()) || is_complex(dtype)) return complex_cast(x, dtype);
  return make(Prim::cast, dtype, {x});
}

Expr bits(Expr x) {
  return make(Prim::bits, x.dtype() == DType::f64 ? DType::u64 : DType::u32, {x});
}
Expr frombits(Expr x, DType dtype) { return make(Prim::frombits, dtype, {x}); }
Expr round_magic(Expr x, Expr c) { return arithmetic(Prim::round_magic, {x, c}); }
Expr addexp(Expr x, Expr n) { return arithmetic(Prim::addexp, {x, n}); }

Expr isnan(Expr x) {
  if (is_complex(x.dtype())) return isnan(real(x)) | isnan(imag(x));
  return is_floating(x.dtype()) ? ne(x, x) : constant(DType::bool_, 0);
}

Expr is_negative(Expr x) {
  if (!is_floating(x.dtype())) return is_signed(x.dtype()) ? lt(x, 0) : constant(DType::bool_, 0);
  const DType wide = x.dtype() == DType::f64 ? DType::i64 : DType::i32;
  return lt(cast(bits(x), wide), 0);
}

// ── functions ───────────────────────────────────────────────────────────────────────────────────
Expr unary(Prim prim, Expr x) {
  LATHE_CHECK(info(prim).arity == 1);
  return arithmetic(prim, {x});
}
Expr binary(Prim prim, Expr x, Expr y) {
  LATHE_CHECK(info(prim).arity == 2);
  return arithmetic(prim, {x, y});
}

// ── complex ─────────────────────────────────────────────────────────────────────────────────────
Expr complex(Expr re, Expr im) {
  Exprs args{re, im};
  if (both_numbers(re, im)) args[0] = constant(DType::f32, re.literal_value());
  settle(Prim::complex, absl::MakeSpan(args));
  const DType part = args[0].dtype();
  if (!info(Prim::complex).domain.has(part) || args[1].dtype() != part)
    refuse(Prim::complex, args, "the parts are two of float32, or two of float64");
  ExprNode node{Prim::complex, complex_type(part), 2, {args[0].id(), args[1].id(), 0}, 0};
  return Expr::node(current_exprs().intern(node));
}

Expr real(Expr z) {
  if (!is_complex(z.dtype())) return z;
  if (z.prim() == Prim::complex) return z.arg(0);
  if (z.prim() == Prim::constant)
    return constant(real_type(z.dtype()), std::bit_cast<double>(z->payload));
  return make(Prim::real, real_type(z.dtype()), {z});
}

Expr imag(Expr z) {
  if (!is_complex(z.dtype())) return constant(z.dtype(), 0);
  if (z.prim() == Prim::complex) return z.arg(1);
  if (z.prim() == Prim::constant) return constant(real_type(z.dtype()), 0.0);
  return make(Prim::imag, real_type(z.dtype()), {z});
}

Expr conj(Expr z) {
  if (!is_complex(z.dtype()) || z.prim() == Prim::constant) return z;
  if (z.prim() == Prim::conj) return z.arg(0);
  if (current_exprs().keeps_complex()) return whole_node(Prim::conj, z.dtype(), {z});
  return complex(real(z), -imag(z));
}

}  // namespace lathe
