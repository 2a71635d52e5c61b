// The derivative of contractions: their adjoints, which follow from the index formula.
#include <absl/algorithm/container.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/infer/rules.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

/// The last axes in this order.
Tensor permuted(const Tensor& x, const std::vector<int>& order) {
  const int n = static_cast<int>(order.size()), lead = x.rank() - n;
  int first = 0, last = n - 1;
  while (first < n && order[static_cast<size_t>(first)] == first) ++first;
  if (first == n) return x;
  while (order[static_cast<size_t>(last)] == last) --last;
  std::vector<int> turned(order);
  std::swap(turned[static_cast<size_t>(first)], turned[static_cast<size_t>(last)]);
  if (std::is_sorted(turned.begin(), turned.end()))
    return shape_ops<Tensor>::transpose(x, last - n, first - n);
  Shape axes;
  for (int i = 0; i < lead; ++i) axes.push_back(Int(i));
  for (int i : order) axes.push_back(Int(lead + i));
  return shape_ops<Tensor>::permute(x, axes);
}

/// The shape that an adjoint's result has: an operand's own axes behind the batch axes of others.
Shape adjoint_shape(const Op& adjoint, const Shape& own, const Tensor& a, const Tensor& b) {
  const Formula& f = adjoint.formula;
  if (!f.out.batch) return own;
  auto lead = [](const Tensor& t, const FormulaOperand& o) {
    return IntSpan(t.shape()).first(t.shape().size() - o.axes.size());
  };
  Shape shape = broadcast_shapes(adjoint.name(), lead(a, f.a), lead(b, f.b));
  shape.insert(shape.end(), own.end() - static_cast<ptrdiff_t>(f.out.axes.size()), own.end());
  return shape;
}

/// Is this variable the first axis behind the leading ones, alone?
bool comes_first(const FormulaOperand& o, int var) {
  return !o.axes.empty() && o.axes[0].plain() && o.axes[0].packed[0] == var;
}

bool has_axis(const FormulaOperand& o, int var) {
  return absl::c_any_of(o.axes, [&](const FormulaAxis& axis) {
    return absl::c_linear_search(axis.packed, var) ||
           absl::c_any_of(axis.terms, [&](const FormulaTerm& t) { return t.var == var; });
  });
}

/// An operand without leading axes, as the weight of a linear layer: is what others' leading axes
/// have in common with it nothing but a sum, and the axis behind them a part of that sum? Then all
/// of them are one axis: one sum, where there was a product for each, and their sum.
bool sums_leading_axes(Grad g, int operand, const Tensor& other) {
  const Formula& f = g.op().formula;
  const auto own = operand_roles(g.op().role);
  const FormulaOperand& wanted = f.role(own[static_cast<size_t>(operand)]);
  const FormulaOperand& beside = f.role(own[static_cast<size_t>(1 - operand)]);
  const FormulaOperand& result = f.role(g.op().role);
  if (!wanted.batch || !beside.batch || !result.batch || beside.axes.empty()) return false;
  if (g.shape(operand).size() != wanted.axes.size() || !beside.axes[0].plain()) return false;
  const int var = beside.axes[0].packed[0];
  return other.shape().size() > beside.axes.size() && comes_first(result, var) &&
         !has_axis(wanted, var);
}

/// The leading axes and the one behind them, of which `own` are the operand's own, as one axis.
Tensor with_one_leading_axis(const Tensor& x, size_t own) {
  const size_t lead = x.shape().size() - own;
  Shape shape{Int(1)};
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (i <= lead)
      shape[0] *= x.shape()[i];
    else
      shape.push_back(x.shape()[i]);
  return shape_ops<Tensor>::reshape(x, shape);
}

/// Of operands of bf16 whose sums were stated to be wider: the cotangent in bf16. What rounds the
/// sums behind the op (the bias of a layer) hands on what it got as it is, and a product of
/// operands of one dtype need convert none. Not of f16, in which a cotangent may be too large or
/// too small.
Tensor in_operands_dtype(Grad g, const Tensor& dy) {
  const int stated = g.op().formula.out_dtype;
  if (stated < 0 || g.arg(stated).tag == Tag::none) return dy;
  const DType common = promote(g.dtype(0), g.dtype(1));
  if (common != DType::bf16 || dy.dtype() != compute_type(common)) return dy;
  return math_ops<Tensor>::cast(dy, common);
}

/// A trilinear form in the tensors of three roles: the cotangent of one is the form in the other
/// two, of which that of the op's own result is `dy`.
Tensor contraction_gradient(Grad g, int operand) {
  const Op& op = g.op();
  const auto own = operand_roles(op.role);
  const int wanted = own[static_cast<size_t>(operand)];
  std::array<Tensor, 3> by_role;
  Tensor dy = in_operands_dtype(g, g.dy()), other = g.x(1 - operand);
  if (sums_leading_axes(g, operand, other)) {
    dy = with_one_leading_axis(dy, op.formula.role(op.role).axes.size());
    const auto role = static_cast<size_t>(own[static_cast<size_t>(1 - operand)]);
    other = with_one_leading_axis(other, op.formula.role(static_cast<int>(role)).axes.size());
  }
  by_role[static_cast<size_t>(op.role)] = dy;
  by_role[static_cast<size_t>(own[static_cast<size_t>(1 - operand)])] =
      is_complex(other.dtype()) ? math_ops<Tensor>::conj(other) : other;
  const auto roles = operand_roles(wanted);
  Tensor a = by_role[static_cast<size_t>(roles[0])], b = by_role[static_cast<size_t>(roles[1])];
  const Op* to = op.roles[static_cast<size_t>(wanted)];
  if (to == nullptr) {
    to = op.roles[0];
    const PermutedRoles& as_itself = *to->formula.itself[static_cast<size_t>(wanted - 1)];
    if (as_itself.swapped) std::swap(a, b);
    a = permuted(a, as_itself.axes[0]);
    b = permuted(b, as_itself.axes[1]);
  }
  absl::InlinedVector<Arg, 8> args{Arg(a), Arg(b)}, sizes;
  ArgList shape;
  for (size_t i = 2; i < to->schema.params.size(); ++i) {
    const Param& p = to->schema.params[i];
    if (static_cast<int>(i) == to->formula.shape) {
      for (Int size : adjoint_shape(*to, g.shape(operand), a, b)) sizes.push_back(Arg(size));
      shape = {sizes.data(), sizes.size()};
      args.push_back(Arg(shape));
      continue;
    }
    const bool passed_on = static_cast<int>(i) != to->formula.out_dtype;
    const int from = passed_on ? op.schema.find(p.name) : -1;
    args.push_back(from >= 0 ? g.arg(from) : p.default_value[0]);
  }
  return call(*to, absl::MakeConstSpan(args))[0];
}

}  // namespace

Grads contract_gradient(Grad g) {
  Grads out(2);
  for (int operand : {0, 1})
    if (g.wants(operand)) out[static_cast<size_t>(operand)] = contraction_gradient(g, operand);
  return out;
}

}  // namespace lathe
