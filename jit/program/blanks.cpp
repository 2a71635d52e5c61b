// Tensors whose elements are all overwritten before any of them is read, as `cat` and the gradients
// of slices that make up all of a tensor have them in captured code: a fill, then a write of each
// part. The fill is not run. Where the first part is all of a value that ends there, as in a loop
// that makes a tensor longer, it may stay where it is.
#include <algorithm>

#include "autodiff/slice_sums.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/shape.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

using ir::Value;

/// The write of a slice that alone reads `v`, and reads it as what it writes to; null: none does.
const ir::Node* written_by(const Value* v) {
  if (v->uses().size() != 1 || v->uses()[0].index != 0) return nullptr;
  const ir::Node* n = v->uses()[0].node;
  const bool put = n->is(ir::Structure::op) && n->op() == shape_ops<Tensor>::slice.op()->put;
  return put && n->value(0) == v && n->parent() == v->node()->parent() ? n : nullptr;
}

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

bool is_overwritten(const Value* made, const SymScope& scope) {
  Covered covered(made->tensor().shape);
  for (const Value* v = made;;) {
    const ir::Node* put = written_by(v);
    if (put == nullptr || !covered.add(*put, scope)) return false;
    if (covered.all()) return true;
    v = put->out(0);
  }
}

/// Does `put` write all of a value that ends there to the beginning of what `fill` makes?
bool extends(const Step& put, const ir::Node& fill, const SymScope& scope) {
  const Value *made = fill.out(0), *first = put.node->value(1);
  const Shape& shape = made->tensor().shape;
  const auto proven = [&](Int a, Int b) {
    return scope.prove(Relation::le, a, b) == SymScope::Truth::yes;
  };
  if (put.node->places().size() != 2 || first == nullptr || put.in.size() != 2) return false;
  const std::optional<SliceAt> at = slice_at(put.node->attrs().view(), 1, shape, proven);
  return at && at->axis == 0 && identical(at->start, Int(0)) &&
         identical(at->end, first->tensor().shape[0]) &&
         first->tensor().dtype == made->tensor().dtype &&
         made->tensor().device.kind == DeviceKind::cpu &&
         std::binary_search(put.frees.begin(), put.frees.end(), put.in[1]);
}

}  // namespace

void find_extensions(std::vector<Step>& steps, const SymScope& scope) {
  for (Step& s : steps)
    for (Step::Inner& inner : s.blocks) {
      find_extensions(inner.steps, scope);
      absl::flat_hash_set<const ir::Node*> left_out;
      for (const Step& fill : inner.steps) {
        const bool makes = fill.kind == Step::Kind::op && fill.dynamic && fill.symbols.empty() &&
                           fill.node->is(ir::Structure::op) &&
                           fill.node->op()->kind == Kind::create;
        const ir::Node* put = makes ? written_by(fill.node->out(0)) : nullptr;
        const auto it = std::find_if(inner.steps.begin(), inner.steps.end(),
                                     [&](const Step& step) { return step.node == put; });
        if (put == nullptr || it == inner.steps.end() || !extends(*it, *fill.node, scope) ||
            !is_overwritten(fill.node->out(0), scope))
          continue;
        it->extends = true;
        left_out.insert(fill.node);
      }
      std::erase_if(inner.steps, [&](const Step& step) { return left_out.contains(step.node); });
    }
}

void find_blanks(std::vector<Step>& steps, const SymScope& scope) {
  for (Step& s : steps) {
    s.blank = s.kind == Step::Kind::kernel && s.node->is(ir::Structure::op) &&
              s.node->op()->kind == Kind::create && !s.dynamic && s.symbols.empty() &&
              is_overwritten(s.node->out(0), scope);
    for (Step::Inner& inner : s.blocks) find_blanks(inner.steps, scope);
  }
}

}  // namespace lathe::jit
