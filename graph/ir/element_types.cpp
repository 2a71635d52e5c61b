#include "graph/ir/element_types.h"

#include "graph/ir/arguments.h"

namespace lathe::ir {
namespace {

/// Numbers given where a tensor may stand, as an argument of the right kind for promotion.
Arg number_stand_in(const Scalar& s) {
  if (s.kind == ScalarKind::flag) return Arg(false);
  if (s.kind == ScalarKind::real) return Arg(0.0);
  return Arg(s.value.value_or(Int(0)));
}

}  // namespace

ElementTypes types_of(const Node& node) {
  const Op& op = *node.op();
  if (op.kind != Kind::elementwise && op.kind != Kind::reduce) {
    const DType d = node.out(0)->tensor().dtype;  // create definitions
    return {compute_type(d), d, {d}};
  }
  std::vector<Tensor> held;
  std::vector<Arg> values;
  held.reserve(node.in().size());
  for (const Value* v : node.in()) {
    if (const TensorType* type = v->type().tensor()) {
      held.push_back(stand_in(*type));
      values.push_back(Arg(held.back()));
    } else {
      values.push_back(number_stand_in(*v->type().scalar()));
    }
  }
  const Filled filled = fill(node.attrs(), node.places(), values);
  return element_types(op, filled.args());
}

}  // namespace lathe::ir
