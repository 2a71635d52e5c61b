// The chain rule on a finished body. `Rules` holds what each primitive hands back to its arguments;
// the walk below visits nodes from last to first, so contributions to a node are added in
// descending order of the nodes they come from: that order is part of the definition of a
// gradient's bits. Complex numbers are differentiated whole, by the same rules.
//
// Choices that are not forced: a tie of pmin or pmax goes where select(a < b, a, b) goes, to b; abs
// has derivative 0 at 0; floor, rint, comparison, bits and round_magic have none; pow is 0 where
// the exponent is 0.
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe {

using namespace expr_detail;

namespace {

/// What one node hands back, an Expr an argument; invalid: nothing.
using Contributions = std::array<Expr, 3>;

/// The trigamma function, for digamma's derivative: reflection below 1/2, recurrence up to 6, then
/// the asymptotic series (Abramowitz & Stegun 6.4.12).
Expr trigamma(Expr x) {
  const Expr reflected = lt(x, 0.5);
  Expr y = select(reflected, 1.0 - x, x);
  Expr sum = constant(x.dtype(), 0.0);
  for (int i = 0; i < 6; ++i) {
    const Expr low = lt(y, 6.0);
    sum = select(low, sum + 1.0 / square(y), sum);
    y = select(low, y + 1.0, y);
  }
  const Expr r = 1.0 / square(y);
  // B_2k: 1/6, -1/30, 1/42, -1/30, 5/66, -691/2730, 7/6
  const double series[] = {7.0 / 6,  -691.0 / 2730, 5.0 / 66, -1.0 / 30,
                           1.0 / 42, -1.0 / 30,     1.0 / 6};
  Expr tail = constant(x.dtype(), series[0]);
  for (int i = 1; i < 7; ++i) tail = fma(tail, r, constant(x.dtype(), series[i]));
  const Expr value = sum + (1.0 / y) * (1.0 + 0.5 / y + tail * r);
  const Expr sine = sin(std::numbers::pi * x);
  return select(reflected, square(std::numbers::pi / sine) - value, value);
}

/// 2^n for integer-valued n, also where it is not normal itself but g * 2^n is: in two steps.
Expr scale_by_power(Expr g, Expr n) {
  const Expr half = floor(n * 0.5);
  const Expr one = constant(g.dtype(), 1.0);
  return g * addexp(one, half) * addexp(one, n - half);
}

Contributions of_arithmetic(Prim prim, Expr g, Expr y, Expr a, Expr b, Expr c) {
  switch (prim) {
    case Prim::add:
      return {g, g};
    case Prim::sub:
      return {g, -g};
    case Prim::mul:
      return {g * b, g * a};
    case Prim::div: {
      const Expr da = g / b;
      return {da, -(da * y)};
    }
    case Prim::fma:
      return {g * b, g * a, g};
    case Prim::neg:
      return {-g};
    case Prim::abs:
      return {select(lt(a, 0.0), -g, select(eq(a, 0.0), 0.0, g))};
    case Prim::sqrt:
      return {g * 0.5 / y};
    case Prim::pmin:
      return {select(lt(a, b), g, 0.0), select(lt(a, b), 0.0, g)};
    case Prim::pmax:
      return {select(lt(b, a), g, 0.0), select(lt(b, a), 0.0, g)};
    case Prim::fmod:
      return {g, -(g * trunc(a / b))};
    case Prim::select:
      return {Expr(), select(a, g, 0.0), select(a, 0.0, g)};
    case Prim::rare:
      return {Expr(), select(a, 0.0, g), select(a, g, 0.0)};
    case Prim::check:
      return {Expr(), g};
    case Prim::addexp:
      return {scale_by_power(g, b)};
    case Prim::cast:
      return {is_floating(a.dtype()) ? cast(g, a.dtype()) : Expr()};
    default:
      LATHE_INTERNAL(absl::StrCat("no derivative rule for ", info(prim).name));
  }
  (void)c;
}

Contributions of_pow(Expr g, Expr y, Expr a, Expr b) {
  // The value not taken is kept finite too: the derivative of this rule multiplies it by 0.
  const Expr flat = eq(b, 0.0);
  const Expr base = select(flat, 0.0, g * b * pow(a, select(flat, 1.0, b) - 1.0));
  const Expr settled = eq(a, 0.0) & le(0.0, real(b));  // 0^b stays what it is as b moves
  return {base, select(settled, 0.0, g * y * log(select(settled, 1.0, a)))};
}

/// sqrt(a^2 + 1) or, if `sign` is -1, sqrt(a^2 - 1): |a| where that is the same number and a^2 may
/// be beyond the largest. Of complex numbers the root with the cuts of asinh and acosh.
Expr leg(Expr a, double sign) {
  if (is_complex(a.dtype())) return sign > 0 ? sqrt(a * a + 1.0) : sqrt(a - 1.0) * sqrt(a + 1.0);
  const Expr magnitude = abs(a), far = lt(0x1p30, magnitude);
  const Expr near = select(far, 2.0, a);
  const Expr square = sign > 0 ? near * near + 1.0 : (near - 1.0) * (near + 1.0);
  return select(far, magnitude, sqrt(square));
}

/// b / (a^2 + b^2) and a / (a^2 + b^2), without the squares: they leave the range of floats where
/// the quotients do not. 0 where both are 0.
std::array<Expr, 2> over_square_of_norm(Expr a, Expr b) {
  const Expr b_larger = le(abs(a), abs(b));
  const Expr longer = select(b_larger, b, a), small = select(b_larger, a, b);
  const Expr large = select(eq(longer, 0.0), std::numeric_limits<double>::infinity(), longer);
  const Expr ratio = small / large;
  const Expr of_large = 1.0 / (large + small * ratio), of_small = ratio * of_large;
  return {select(b_larger, of_large, of_small), select(b_larger, of_small, of_large)};
}

Contributions of_function(Prim prim, Expr g, Expr y, Expr a, Expr b) {
  constexpr double kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
  constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;
  const double half_root_pi = 1 / kTwoOverRootPi;
  switch (prim) {
    case Prim::exp:
      return {g * y};
    case Prim::exp2:
      return {g * y * kLn2};
    case Prim::expm1:
      return {g * (y + 1.0)};
    case Prim::log:
      return {g / a};
    case Prim::log2:
      return {g / (a * kLn2)};
    case Prim::log10:
      return {g / (a * kLn10)};
    case Prim::log1p:
      return {g / (a + 1.0)};
    case Prim::tanh:
      return {g * (1.0 - y * y)};
    case Prim::sigmoid:
      return {g * (y * (1.0 - y))};
    case Prim::erf:
      return {g * (kTwoOverRootPi * exp(-(a * a)))};
    case Prim::erfc:
      return {g * (-kTwoOverRootPi * exp(-(a * a)))};
    case Prim::sin:
      return {g * cos(a)};
    case Prim::cos:
      return {-(g * sin(a))};
    case Prim::tan:
      return {g * (1.0 + y * y)};
    case Prim::asin:
      return {g / sqrt((1.0 - a) * (1.0 + a))};
    case Prim::acos:
      return {-(g / sqrt((1.0 - a) * (1.0 + a)))};
    case Prim::atan:
      return {g / (1.0 + a * a)};
    case Prim::sinh:
      return {g * unary(Prim::cosh, a)};
    case Prim::cosh:
      return {g * unary(Prim::sinh, a)};
    case Prim::asinh:
      return {g / leg(a, 1)};
    case Prim::acosh:
      return {g / leg(a, -1)};
    case Prim::atanh:
      return {g / ((1.0 - a) * (1.0 + a))};
    case Prim::pow:
      return of_pow(g, y, a, b);
    case Prim::atan2: {
      const auto [by_a, by_b] = over_square_of_norm(a, b);
      return {g * by_a, -(g * by_b)};
    }
    case Prim::lgamma:
      return {g * unary(Prim::digamma, a)};
    case Prim::digamma:
      return {g * trigamma(a)};
    case Prim::erfinv:
      return {g * (half_root_pi * exp(y * y))};
    default:
      LATHE_INTERNAL(absl::StrCat("no derivative rule for ", info(prim).name));
  }
}

/// What a node hands back where something is complex. With f holomorphic, y = f(a) takes dL/dy to
/// dL/dy * conj(f'(a)), the conjugate of what the rule makes of conj(dL/dy).
Contributions of_complex(Prim prim, Expr g, Expr y, Expr a, Expr b, Expr c) {
  switch (prim) {
    case Prim::complex:
      return {real(g), imag(g)};
    case Prim::real:
      return {cast(g, a.dtype())};
    case Prim::imag:
      return {complex(constant(g.dtype(), 0.0), g)};
    case Prim::conj:
      return {conj(g)};
    case Prim::abs:
      return {a * cast(g / select(eq(y, 0.0), 1.0, y), a.dtype())};
    case Prim::cast:
      return {is_floating(a.dtype()) || is_complex(a.dtype()) ? cast(g, a.dtype()) : Expr()};
    case Prim::select:
    case Prim::rare:
    case Prim::check:
      return of_arithmetic(prim, g, y, a, b, c);
    default:
      break;
  }
  if (info(prim).transcendental) {
    Contributions back = of_function(prim, conj(g), y, a, b);
    for (Expr& e : back)
      if (e.valid()) e = conj(e);
    return back;
  }
  // The same, with fewer steps: these have no branch cut, where the conjugate of a real operand
  // would lie on the other side.
  if (b.valid()) b = conj(b);
  if (c.valid()) c = conj(c);
  return of_arithmetic(prim, g, conj(y), conj(a), b, c);
}

/// The cotangents of a body's nodes while the walk is under way.
class Walk {
 public:
  Walk(const ScalarFunction& f, absl::Span<const Expr> inputs)
      : f_(f),
        nodes_(replay(f, inputs)),
        cotangents_(nodes_.size()),
        needed_(nodes_.size(), false) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      needed_[i] = needs(f.graph[static_cast<uint32_t>(i)]);
  }

  void seed(absl::Span<const Expr> dy) {
    LATHE_CHECK(dy.size() == f_.output_types.size() && dy.size() == f_.outputs.size());
    for (size_t k = 0; k < dy.size(); ++k) {
      if (!dy[k].valid()) continue;
      const bool number = dy[k].literal();
      add(f_.outputs[k], number ? constant(f_.output_types[k], dy[k].literal_value()) : dy[k]);
    }
  }

  void run() {
    for (size_t i = nodes_.size(); i-- > 0;) {
      const ExprNode& node = f_.graph[static_cast<uint32_t>(i)];
      const Expr g = cotangents_[i];
      if (!g.valid() || !needed_[i]) continue;
      if (node.prim == Prim::input)
        collected_.emplace(node.payload, g);
      else
        spread(node, nodes_[i], g);
    }
  }

  Exprs results() const {
    Exprs out;
    for (size_t i = 0; i < f_.inputs.size(); ++i) {
      const auto found = collected_.find(i);
      const DType type = f_.inputs[i];
      const bool has_slope = is_floating(type) || is_complex(type);
      const Expr zero = has_slope ? constant(type, 0.0) : Expr();
      out.push_back(found != collected_.end() ? found->second : zero);
    }
    return out;
  }

 private:
  /// Whether a float input stands behind it, by way of steps that have a derivative.
  bool needs(const ExprNode& node) const {
    if (node.prim == Prim::input) return is_floating(node.dtype) || is_complex(node.dtype);
    const bool has_slope = is_floating(node.dtype) || is_complex(node.dtype);
    if (!info(node.prim).smooth || (node.arity > 0 && !has_slope)) return false;
    for (uint8_t i = 0; i < node.arity; ++i)
      if (needed_[node.args[i]]) return true;
    return false;
  }

  void add(uint32_t id, Expr g) {
    if (!needed_[id] || !g.valid()) return;
    Expr& sum = cotangents_[id];
    if (!sum.valid()) {
      sum = g;
    } else if (compute_type(g.dtype()) !=
               g.dtype()) {  // halves are summed as everything on them is computed
      sum = cast(cast(sum, DType::f32) + cast(g, DType::f32), g.dtype());
    } else {
      sum = sum + g;
    }
  }

  void spread(const ExprNode& node, Expr y, Expr g) {
    Expr args[3];
    bool whole = is_complex(node.dtype);
    for (uint8_t i = 0; i < node.arity; ++i) {
      args[i] = nodes_[node.args[i]];
      whole |= is_complex(args[i].dtype());
    }
    const Contributions back = whole ? of_complex(node.prim, g, y, args[0], args[1], args[2])
                               : info(node.prim).transcendental
                                   ? of_function(node.prim, g, y, args[0], args[1])
                                   : of_arithmetic(node.prim, g, y, args[0], args[1], args[2]);
    for (uint8_t i = 0; i < node.arity; ++i) add(node.args[i], back[i]);
  }

  const ScalarFunction& f_;
  const std::vector<Expr> nodes_;
  std::vector<Expr> cotangents_;
  std::vector<bool> needed_;
  absl::flat_hash_map<size_t, Expr> collected_;
};

}  // namespace

Exprs derivative(const ScalarFunction& f, absl::Span<const Expr> inputs,
                 absl::Span<const Expr> dy) {
  Walk walk(f, inputs);
  walk.seed(dy);
  walk.run();
  return walk.results();
}

}  // namespace lathe
