#include <algorithm>

#include "core/dispatch/fn.h"
#include "core/dispatch/slice_at.h"
#include "include/lathe/ops/shape.h"
#include "jit/plan/plan.h"

namespace lathe::jit {
using ir::Value;

const ir::Node* written_by(const Value* v) {
  if (v->uses().size() != 1 || v->uses()[0].index != 0) return nullptr;
  const ir::Node* n = v->uses()[0].node;
  const bool put = n->is(ir::Structure::op) && n->op() == shape_ops<Tensor>::slice.op()->put;
  return put && n->value(0) == v && n->parent() == v->node()->parent() ? n : nullptr;
}

namespace {

/// Along one axis: the parts that were written so far.
class Covered {
 public:
  explicit Covered(const Shape& shape) : shape_(shape) {}

  /// False: nobody knows which part it is.
  bool add(const ir::Node& put, const SymScope& scope) {
    const auto proven = [&](Int a, Int b) {
      return scope.prove(Relation::le, a, b) == SymScope::Truth::yes;
    };
    if (put.places().size() != 2) return false;  // a number that only running tells
    const std::optional<SliceAt> at = slice_at(put.attrs().view(), 1, shape_, proven);
    if (!at || (!parts_.empty() && at->axis != axis_)) return false;
    axis_ = at->axis;
    parts_.push_back(*at);
    return true;
  }

  bool all() const {
    Int end = 0;
    for (size_t joined = 0; joined < parts_.size(); ++joined) {
      const auto next = std::find_if(parts_.begin(), parts_.end(),
                                     [&](const SliceAt& p) { return identical(p.start, end); });
      if (next == parts_.end()) return false;
      end = next->end;
      if (identical(end, shape_[static_cast<size_t>(axis_)])) return true;
    }
    return false;
  }

 private:
  const Shape& shape_;
  int axis_ = 0;
  std::vector<SliceAt> parts_;
};

}  // namespace

bool is_overwritten(const Value* made, const SymScope& scope) {
  Covered covered(made->tensor().shape);
  for (const Value* v = made;;) {
    const ir::Node* put = written_by(v);
    if (put == nullptr || !covered.add(*put, scope)) return false;
    if (covered.all()) return true;
    v = put->out(0);
  }
}

}  // namespace lathe::jit
