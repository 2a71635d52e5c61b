#include "graph/passes/widen.h"

#include <algorithm>

#include "core/dispatch/fn.h"
#include "graph/ir/arguments.h"
#include "graph/ir/element_types.h"
#include "graph/passes/passes.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {
namespace {

constexpr int64_t kMostOperations = 16;  // of the whole, for each element of the part

constexpr int64_t kDivision = 8;  // in operations; so a root

/// How many operations an element takes; nothing where one of them is a long one, or may fail.
std::optional<int64_t> operations(const Node& n, const Graph& graph) {
  const bool elements = n.is(Structure::op) && n.op()->kind == Kind::elementwise && pointwise(n);
  if (!elements || n.out().size() != 1 || n.out(0)->type().tensor() == nullptr ||
      effects(n, graph) != Effects::pure)
    return std::nullopt;
  int64_t count = 0;
  for (const ExprNode& e : n.op()->scalar(types_of(n).compute).graph.nodes()) {
    if (info(e.prim).transcendental) return std::nullopt;
    const bool divides = e.prim == Prim::div || e.prim == Prim::sqrt || e.prim == Prim::floor_div ||
                         e.prim == Prim::mod;
    count += divides ? kDivision : e.arity > 0;
  }
  return count;
}

bool is_made_by(const Value* v, Kind kind) {
  return v->node() != nullptr && v->node()->is(Structure::op) && v->node()->op()->kind == kind;
}

class Widening {
 public:
  Widening(Graph& graph, Node& put, const Moved& moved, const SymScope& scope)
      : graph_(graph),
        put_(put),
        part_(moved.parts[0].from),
        base_(moved.base),
        along_(moved.parts[0].along),
        whole_(put.out(0)->tensor()),
        says_where_(say_where(absl::MakeConstSpan(put.out()), moved.parts[0])),
        scope_(scope) {}

  std::optional<Widened> run() {
    if (base_ == nullptr || base_ == part_ || !says_where_ || !find_ops() || !is_cheap())
      return std::nullopt;
    const InsertAt before(graph_, &put_);
    for (const Node* n : ops_)
      for (Value* v : n->in()) give(v);
    for (const Node* n : ops_) {
      Node* made = graph_.copy_node(*n, known_);
      graph_.set_type(made->out(0), of_whole(n->out(0)->tensor().dtype));
      out_.elements.push_back(made);
    }
    Value* mask = moved_into_whole(filled(part_->tensor().shape, true), false);
    const Given chosen[] = {
        {.value = mask}, {.value = out_.elements.back()->out(0)}, {.value = base_}};
    const Op& where = *math_ops<Tensor>::where.op();
    out_.elements.push_back(add_inferred(graph_, where, complete(where, chosen), put_.site()));
    graph_.replace(put_.out(0), out_.elements.back()->out(0));
    return std::move(out_);
  }

 private:
  TensorType of_whole(DType dtype) const { return {dtype, whole_.shape, whole_.device}; }

  /// The ops that make the part, in order: a node, or those of a group that lead to its result.
  bool find_ops() {
    Node* made = part_->node();
    if (made == nullptr || part_->uses().size() != 1 || made->parent() != put_.parent())
      return false;
    if (!made->is(Structure::group)) {
      ops_ = {made};
      result_ = part_;
      return true;
    }
    const Block& body = made->block(0);
    for (size_t i = 0; i < made->in().size(); ++i) outside_[body.parameters()[i]] = made->in(i);
    result_ = body.yields()[part_->index()];
    std::vector<const Value*> needed{result_};
    const std::vector<Node*> nodes = body.nodes();
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      const auto makes = [&](const Value* v) { return v->node() == *n; };
      if (std::none_of(needed.begin(), needed.end(), makes)) continue;
      ops_.insert(ops_.begin(), *n);
      needed.insert(needed.end(), (*n)->in().begin(), (*n)->in().end());
    }
    return !ops_.empty() && result_->node() == ops_.back();
  }

  bool is_cheap() const {
    int64_t all = 0;
    for (const Node* n : ops_) {
      const std::optional<int64_t> count = operations(*n, graph_);
      if (!count || !identical(n->out(0)->tensor().shape, part_->tensor().shape)) return false;
      all += *count;
      bool is_whole = false;  // or its result would be no larger than what is the same all along
      for (const Value* v : n->in()) {
        if (!may_be_given(v)) return false;
        is_whole = is_whole || is_inside(v) || has_part(outer(v));
      }
      if (!is_whole || !keeps_types(*n)) return false;
    }
    const int64_t part = std::max<int64_t>(1, scope_.hint(numel(part_->tensor().shape)));
    return all * scope_.hint(numel(whole_.shape)) <= kMostOperations * part;
  }

  /// What has no axes says less of the dtype that an op computes in than what was repeated of it.
  bool keeps_types(const Node& n) const {
    bool one_dtype = true, loses_axes = false;
    const DType dtype = part_of(n)->tensor().dtype;
    for (const Value* v : n.in()) {
      const TensorType* type = v->type().tensor();
      if (type == nullptr) continue;
      one_dtype = one_dtype && type->dtype == dtype;
      loses_axes =
          loses_axes || (!type->shape.empty() && !is_inside(v) && outer(v)->tensor().shape.empty());
    }
    return one_dtype || !loses_axes;
  }
  /// An operand that has axes of the part.
  const Value* part_of(const Node& n) const {
    return *std::find_if(n.in().begin(), n.in().end(), [&](const Value* v) {
      return v->type().tensor() != nullptr && (is_inside(v) || has_part(outer(v)));
    });
  }

  bool is_inside(const Value* v) const {
    return std::find(ops_.begin(), ops_.end(), v->node()) != ops_.end();
  }
  /// What it is outside of the group; of what is repeated to be as large as the part, that itself.
  const Value* outer(const Value* v) const {
    if (const auto at = outside_.find(v); at != outside_.end()) v = at->second;
    while (v->node() != nullptr && v->node()->op() == shape_ops<Tensor>::expand.op() &&
           is_same_along(v->node()->in(0)))
      v = v->node()->in(0);
    return v;
  }
  /// Does it have all of the part's elements, so that it is to be moved?
  bool has_part(const Value* v) const {
    const TensorType* type = v->type().tensor();
    return type != nullptr && identical(type->shape, part_->tensor().shape);
  }
  bool is_same_along(const Value* v) const {
    const Shape& shape = v->tensor().shape;
    const size_t lead = whole_.shape.size() - shape.size();
    return std::all_of(along_.begin(), along_.end(), [&](const Along& a) {
      const auto axis = static_cast<size_t>(a.axis);
      return axis < lead || identical(shape[axis - lead], Int(1));
    });
  }
  /// A number, what is made here, what is to be moved, or what is the same all along the axes.
  bool may_be_given(const Value* v) const {
    const TensorType* type = v->type().tensor();
    if (type == nullptr || is_inside(v)) return true;
    const Value* from = outer(v);
    if (is_made_by(from, Kind::contract) || is_made_by(from, Kind::reduce)) return false;
    return has_part(from) || is_same_along(from);
  }

  void give(Value* v) {
    if (is_inside(v) || known_.contains(v)) return;
    Value* from = const_cast<Value*>(outer(v));
    known_[v] = has_part(from) ? moved_into_whole(from, Arg(0)) : from;
  }

  Value* filled(const Shape& shape, Arg value, DType dtype = DType::bool_) {
    std::vector<Arg> sizes(shape.begin(), shape.end());
    const ArgList size{sizes.data(), sizes.size()};
    const Given given[] = {
        {.literal = Arg(size)},
        {.literal = value},
        {.literal = Arg(dtype), .name = "dtype"},
        {.literal = Arg(whole_.device), .name = "device"},
    };
    const Op& full = *create_ops<Tensor>::full.op();
    out_.fills.push_back(add_inferred(graph_, full, complete(full, given), put_.site()));
    return out_.fills.back()->out(0);
  }

  /// What the write would be if it wrote this, into a whole of one value.
  Value* moved_into_whole(Value* v, Arg value) {
    const DType dtype = v->tensor().dtype;
    Graph::ValueMap known{{base_, filled(whole_.shape, value, dtype)}, {part_, v}};
    Node* made = graph_.copy_node(put_, known);
    graph_.set_type(made->out(0), of_whole(dtype));
    out_.moves.push_back(made);
    return made->out(0);
  }

  Graph& graph_;
  Node& put_;
  Value* part_;
  Value* base_;
  const absl::InlinedVector<Along, 2> along_;
  const TensorType whole_;
  const bool says_where_;  // to the mask, which reads nothing
  const SymScope& scope_;
  std::vector<Node*> ops_;
  const Value* result_ = nullptr;
  absl::flat_hash_map<const Value*, const Value*> outside_;  // of a group's parameters
  Graph::ValueMap known_;
  Widened out_;
};

}  // namespace

std::optional<Widened> widen(Graph& graph, Node& put, const Moved& moved, const SymScope& scope) {
  return Widening(graph, put, moved, scope).run();
}

}  // namespace lathe::ir
