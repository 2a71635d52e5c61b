// Contractions: the examples become a leading axis where the formula has some, part of a variable
// that only the batched operand and the output have, or groups.
#include <algorithm>
#include <optional>

#include "core/batch/rule.h"

namespace lathe {
namespace {

using S = shape_ops<Tensor>;

/// Places of a variable among the axes of the three roles of the call: output, operand 0,
/// operand 1.
struct Places {
  std::array<int, 3> axis{-1, -1, -1};
};

const FormulaOperand& operand(const Formula& f, int which) {
  return which == 0 ? f.out : which == 1 ? f.a : f.b;
}

/// Leading axes broadcast: the examples are one more, in front of as many others as any operand
/// has.
bool run_leading_axes(Rule& r, Outputs& outputs) {
  const Formula& f = r.op.formula;
  if (!f.out.batch || !f.a.batch || !f.b.batch) return false;
  const int own[] = {static_cast<int>(f.a.axes.size()), static_cast<int>(f.b.axes.size())};
  const int lead = std::max(r.rank(0) - own[0], r.rank(1) - own[1]);
  for (size_t i = 0; i < 2; ++i)
    if (r.batched(i)) r.give(i, Rule::padded(r.all(i), lead + own[i]));
  outputs = r.finish();
  return true;
}

/// Examples merged into an axis: [B, ..., n, ...] becomes [..., B n, ...].
Tensor merged(const Tensor& all, int axis) {
  Shape shape(all.shape().begin() + 1, all.shape().end());
  shape[static_cast<size_t>(axis)] *= all.size(0);
  return S::reshape(S::movedim(all, {Int(0)}, {Int(axis)}), shape);
}

/// And back.
Tensor parted(const Tensor& y, int axis, Int examples, const Shape& example) {
  Shape shape = example;
  shape.insert(shape.begin() + axis, examples);
  return S::movedim(S::reshape(y, shape), {Int(axis)}, {Int(0)});
}

/// Where the examples go: `var` is in front of each of these axes.
Places places_of(const Formula& f, int var) {
  Places p;
  for (int which = 0; which < 3; ++which) {
    const FormulaOperand& o = operand(f, which);
    for (size_t i = 0; i < o.axes.size(); ++i)
      if (!o.axes[i].packed.empty() && o.axes[i].packed[0] == var)
        p.axis[static_cast<size_t>(which)] = static_cast<int>(i);
  }
  return p;
}

bool mentions(const FormulaOperand& o, int var) {
  for (const FormulaAxis& axis : o.axes) {
    for (int v : axis.packed)
      if (v == var) return true;
    for (const FormulaTerm& t : axis.terms)
      if (t.var == var) return true;
  }
  return false;
}

/// A plain axis of the output that comes from the batched operand alone.
std::optional<Places> own_variable(const Formula& f, int which) {
  for (int v = 0; v < static_cast<int>(f.vars.size()); ++v) {
    const Places p = places_of(f, v);
    const int at = p.axis[static_cast<size_t>(which)];
    if (at < 0 || p.axis[0] < 0 || mentions(operand(f, 3 - which), v)) continue;
    const bool stated = std::any_of(f.where.begin(), f.where.end(),
                                    [&](const FormulaExtent& w) { return w.var == v; });
    if (!stated && operand(f, which).axes[static_cast<size_t>(at)].plain() &&
        f.out.axes[static_cast<size_t>(p.axis[0])].plain())
      return p;
  }
  return std::nullopt;
}

/// The variable whose extent an argument gives, at the head of an axis of all three.
std::optional<std::pair<Places, int>> groups(const Formula& f) {
  for (const FormulaExtent& w : f.where) {
    const Places p = places_of(f, w.var);
    const FormulaAttr& attr = f.attrs[static_cast<size_t>(w.attr)];
    if (std::all_of(p.axis.begin(), p.axis.end(), [](int a) { return a >= 0; }))
      return std::pair(p, attr.param);
  }
  return std::nullopt;
}

void lengthen_output(Rule& r, int axis) {
  if (r.op.formula.shape < 0 || r.given.none(r.op.formula.shape)) return;
  Shape shape = r.given.ints(r.op.formula.shape);
  shape[static_cast<size_t>(axis)] *= r.size();
  r.give_ints(static_cast<size_t>(r.op.formula.shape), shape);
}

}  // namespace

bool run_contract(Rule& r, Outputs& outputs) {
  if (run_leading_axes(r, outputs)) return true;
  const Formula& f = r.op.formula;
  if (f.out.batch || f.a.batch || f.b.batch) return false;
  std::optional<Places> at;
  if (r.batched(0) != r.batched(1)) at = own_variable(f, r.batched(0) ? 1 : 2);
  if (at) {
    const size_t i = r.batched(0) ? 0 : 1;
    r.give(i, merged(r.all(i), at->axis[i + 1]));
  } else {
    const auto grouped = groups(f);
    if (!grouped) return false;
    at = grouped->first;
    for (size_t i = 0; i < 2; ++i) r.give(i, merged(r.all(i), at->axis[i + 1]));
    const auto param = static_cast<size_t>(grouped->second);
    r.set(param, Arg(r.given.integer(grouped->second) * r.size()));
  }
  lengthen_output(r, at->axis[0]);
  outputs = {parted(r.finish()[0], at->axis[0], r.size(), r.types[0].shape)};
  return true;
}

}  // namespace lathe
