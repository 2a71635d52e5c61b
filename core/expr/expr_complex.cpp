// What the functions that bodies call do with complex operands: formulas on pairs of floats
// (complex_functions.cpp), so that nothing complex is left when a body is finished; or, in a graph
// that keeps complex numbers whole, nodes like those of floats.
#include <bit>

#include "core/base/error.h"
#include "core/expr/complex_pair.h"
#include "core/expr/expr_internal.h"

namespace lathe::expr_detail {
namespace {

Pair parts(Expr z) { return {real(z), imag(z)}; }
Expr join(Pair z) { return complex(z.re, z.im); }
/// A number of a body, or a real expression in a complex dtype: its products and quotients are
/// those of the parts.
bool is_real(Pair z) { return is_constant(z.im) && z.im->payload == 0; }

DType result_of(Prim prim, DType operand) {
  if (prim == Prim::abs || prim == Prim::real || prim == Prim::imag) return real_type(operand);
  return prim == Prim::eq || prim == Prim::ne ? DType::bool_ : operand;
}

bool is_defined(Prim prim) {
  switch (prim) {
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::fma:
    case Prim::neg:
    case Prim::abs:
    case Prim::sqrt:
    case Prim::pow:
    case Prim::eq:
    case Prim::ne:
      return true;
    default:
      return has_complex_form(prim);
  }
}

}  // namespace

Expr whole_node(Prim prim, DType dtype, absl::Span<const Expr> args, uint64_t payload) {
  ExprNode node{prim, dtype, static_cast<uint8_t>(args.size()), {}, payload};
  for (size_t i = 0; i < args.size(); ++i) node.args[i] = args[i].id();
  return Expr::node(current_exprs().intern(node));
}

Expr whole_constant(DType dtype, double value) {
  return whole_node(Prim::constant, dtype, {}, std::bit_cast<uint64_t>(value));
}

Expr complex_arithmetic(Prim prim, absl::Span<const Expr> args) {
  for (Expr e : args)
    if (!is_complex(e.dtype()))
      refuse(prim, args, "cast the real operand to the complex dtype first");
  if (!is_defined(prim)) refuse(prim, args, "take real, imag or abs of the complex operand first");
  if (prim == Prim::fma) return args[0] * args[1] + args[2];
  if (current_exprs().keeps_complex())
    return whole_node(prim, result_of(prim, args[0].dtype()), args);
  const Pair a = parts(args[0]), b = args.size() > 1 ? parts(args[1]) : a;
  switch (prim) {
    case Prim::add:
      return join({a.re + b.re, a.im + b.im});
    case Prim::sub:
      return join({a.re - b.re, a.im - b.im});
    case Prim::mul:
      if (is_real(a)) return join({a.re * b.re, a.re * b.im});
      if (is_real(b)) return join({a.re * b.re, a.im * b.re});
      return join(multiply(a, b));
    case Prim::div:
      return join(is_real(b) ? Pair{a.re / b.re, a.im / b.re} : divide(a, b));
    case Prim::neg:
      return join({-a.re, -a.im});
    case Prim::abs:
      return modulus(a);
    case Prim::sqrt:
      return join(root(a));
    case Prim::pow:
      return join(power(a, b));
    case Prim::eq:
      return eq(a.re, b.re) & eq(a.im, b.im);
    case Prim::ne:
      return ne(a.re, b.re) | ne(a.im, b.im);
    default:
      return join(complex_function(prim, a));
  }
}

Expr complex_select(Prim prim, Expr condition, Expr yes, Expr no) {
  if (!is_complex(yes.dtype()) || !is_complex(no.dtype()))
    refuse(prim, {condition, yes, no}, "cast the real operand to the complex dtype first");
  if (current_exprs().keeps_complex()) return whole_node(prim, yes.dtype(), {condition, yes, no});
  const auto choose = prim == Prim::rare ? rare : select;
  return complex(choose(condition, real(yes), real(no)), choose(condition, imag(yes), imag(no)));
}

Expr complex_check(Expr condition, Expr x, int code) {
  if (current_exprs().keeps_complex())
    return whole_node(Prim::check, x.dtype(), {condition, x}, static_cast<uint64_t>(code));
  return complex(check(condition, real(x), code), check(condition, imag(x), code));
}

Expr complex_cast(Expr x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const DType part = real_type(dtype);
  if (current_exprs().keeps_complex() && is_complex(dtype))
    return whole_node(Prim::cast, dtype, {x});
  if (!is_complex(x.dtype())) return complex(cast(x, part), constant(part, 0.0));
  if (is_complex(dtype)) return complex(cast(real(x), part), cast(imag(x), part));
  if (dtype == DType::bool_) return ne(real(x), 0.0) | ne(imag(x), 0.0);
  return cast(real(x), dtype);  // the imaginary part is dropped, as by every array library
}

Expr replay_complex(const ExprNode& node, absl::Span<const Expr> args) {
  switch (node.prim) {
    case Prim::constant:
      return constant(node.dtype, std::bit_cast<double>(node.payload));
    case Prim::complex:
      return complex(args[0], args[1]);
    case Prim::real:
      return real(args[0]);
    case Prim::imag:
      return imag(args[0]);
    case Prim::conj:
      return conj(args[0]);
    case Prim::select:
    case Prim::rare:
      return complex_select(node.prim, args[0], args[1], args[2]);
    case Prim::check:
      return complex_check(args[0], args[1], static_cast<int>(node.payload));
    case Prim::cast:
      return complex_cast(args[0], node.dtype);
    default:
      return complex_arithmetic(node.prim, args);
  }
}

}  // namespace lathe::expr_detail
