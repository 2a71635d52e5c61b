#include "jit/kernel/lower.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "graph/ir/arguments.h"
#include "kernels/problem/bodies.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

/// Numbers given where a tensor may stand, as an argument of the right kind for promotion.
Arg number_stand_in(const ir::Scalar& s) {
  if (s.kind == ir::ScalarKind::flag) return Arg(false);
  if (s.kind == ir::ScalarKind::real) return Arg(0.0);
  return Arg(s.value.value_or(Int(0)));
}

/// The node's arguments with stand-ins for its values, for type questions.
struct TypedArgs {
  std::vector<Tensor> held;
  std::vector<Arg> values;
  ir::Filled filled;
};
TypedArgs typed_args(const Node& node) {
  TypedArgs t;
  t.held.reserve(node.in().size());
  for (const Value* v : node.in()) {
    if (const TensorType* type = v->type().tensor()) {
      t.held.push_back(ir::stand_in(*type));
      t.values.push_back(Arg(t.held.back()));
    } else {
      t.values.push_back(number_stand_in(*v->type().scalar()));
    }
  }
  t.filled = ir::fill(node.attrs(), node.places(), t.values);
  return t;
}

uint64_t number_bits(const Arg& a, DType dtype) {
  alignas(16) std::byte room[16] = {};
  store_number(a, dtype, room);
  return element_bits(dtype, room);
}

bool symbolic_number(const Arg& a) { return a.tag == Tag::integer && !a.integer().known(); }

class Lowering {
 public:
  Lowering(absl::Span<Value* const> parameters, std::vector<const Node*> nodes,
           absl::Span<Value* const> results, absl::Span<const Geometry> geometries)
      : parameters_(parameters),
        nodes_(std::move(nodes)),
        results_(results),
        geometries_(geometries) {}

  Lowered run() {
    domain_ = results_[0]->tensor().shape;
    LoopNest& nest = out_.nest;
    for (Int extent : domain_) nest.axes.push_back({extent, Role::parallel});
    collect_operands();
    Compute compute;
    compute.f = build([&](absl::Span<const Expr> in) { return compose(in); }, operand_types_);
    compute.operands = operands_;
    for (const Value* r : results_) {
      const TensorType& t = r->tensor();
      LATHE_CHECK(identical(t.shape, domain_));
      compute.stores.push_back(
          {static_cast<int>(nest.buffers.size()), {Int(0), row_major(domain_)}});
      nest.buffers.push_back({t.dtype, Space::argument, 0, r->name()});
    }
    nest.inputs = static_cast<int>(out_.tensors.size());
    nest.outputs = static_cast<int>(results_.size());
    for (const ExprNode& n : compute.f.graph.nodes()) {
      nest.facts.has_checks |= n.prim == Prim::check;
      nest.facts.has_random |= n.prim == Prim::random;
      nest.facts.flops_per_element += info(n.prim).transcendental ? 15 : 1;
    }
    for (const Operand& x : compute.operands) nest.facts.loads += std::holds_alternative<Load>(x);
    nest.facts.stores = nest.outputs;
    nest.body.push_back({std::move(compute)});
    return std::move(out_);
  }

 private:
  /// Where the elements of a tensor input lie, seen from the loop nest's axes.
  IndexMap map_of(const TensorType& type, const Geometry& g) const {
    IndexMap map{g.offset, {}};
    size_t lead = domain_.size() - type.shape.size();
    for (size_t k = 0; k < domain_.size(); ++k) {
      Int stride = 0;
      if (k >= lead) {
        Int size = type.shape[k - lead];
        bool repeats = !identical(size, domain_[k]) && is(size, 1);
        if (!repeats && !identical(size, Int(1))) stride = g.strides[k - lead];
        // Where only a run tells whether it repeats: one element does.
        if (!repeats && !is(size, domain_[k])) stride = stride * min(max(size - 1, 0), 1);
      }
      map.strides.push_back(stride);
    }
    return map;
  }

  static bool is(Int a, Int b) {
    if (identical(a, b)) return true;
    return SymScope::current()->prove(Relation::eq, a, b) == SymScope::Truth::yes;
  }

  void collect_operands() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Value* p = parameters_[i];
      if (const TensorType* type = p->type().tensor()) {
        operand_of_[p] = operands_.size();
        operands_.push_back(
            Load{static_cast<int>(out_.nest.buffers.size()), map_of(*type, geometries_[i])});
        operand_types_.push_back(type->dtype);
        out_.nest.buffers.push_back({type->dtype, Space::argument, 0, p->name()});
        out_.tensors.push_back(static_cast<int>(i));
      }
    }
    // Numbers are uniforms of the dtype each use wants.
    for (const Node* node : nodes_) each_number_use(*node);
  }

  void each_number_use(const Node& node) {
    TypedArgs t = typed_args(node);
    ElementTypes types = types_of(node, t);
    for (int p : body_params(*node.op())) {
      const Value* v = node.value(p);
      DType dtype = number_dtype(*node.op(), p, types.compute);
      if (v != nullptr && v->type().tensor() == nullptr) {
        int input = index_of(v);
        add_uniform({&node, p}, {input, 0, dtype});
      } else if (v == nullptr && symbolic_number(node.literal(p))) {
        add_uniform({&node, p}, {-1, node.literal(p).integer(), dtype});
      }
    }
  }

  void add_uniform(std::pair<const Node*, int> use, Number number) {
    uniform_of_[use] = operands_.size();
    operands_.push_back(Uniform{static_cast<int>(out_.numbers.size()), number.dtype});
    operand_types_.push_back(number.dtype);
    out_.nest.uniforms.push_back(number.dtype);
    out_.numbers.push_back(number);
  }

  int index_of(const Value* v) const {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i] == v) return static_cast<int>(i);
    LATHE_INTERNAL("a group uses a number made inside it");
  }

  static ElementTypes types_of(const Node& node, const TypedArgs& t) {
    const Op& op = *node.op();
    if (op.kind == Kind::elementwise) return element_types(op, t.filled.args());
    DType d = node.out(0)->tensor().dtype;  // create definitions
    return {compute_type(d), d, {d}};
  }

  Exprs compose(absl::Span<const Expr> in) {
    absl::flat_hash_map<const Value*, Expr> values;
    for (const auto& [value, at] : operand_of_) values[value] = in[at];
    for (const Node* node : nodes_) {
      TypedArgs t = typed_args(*node);
      const Op& op = *node->op();
      ElementTypes types = types_of(*node, t);
      std::vector<BodyInput> inputs;
      std::vector<Expr> args;
      for (int p : body_params(op)) {
        const Value* v = node->value(p);
        if (v != nullptr && v->type().tensor() != nullptr) {
          inputs.push_back({v->tensor().dtype, false});
          args.push_back(values.at(v));
          continue;
        }
        DType dtype = number_dtype(op, p, types.compute);
        inputs.push_back({dtype, true});
        auto use = uniform_of_.find({node, p});
        args.push_back(use != uniform_of_.end()
                           ? in[use->second]
                           : constant_bits(dtype, number_bits(node->literal(p), dtype)));
      }
      Exprs ys = inline_call(stored_body(op, types, inputs), args);
      for (size_t k = 0; k < ys.size(); ++k) values[node->out(k)] = ys[k];
    }
    Exprs out;
    for (const Value* r : results_) out.push_back(values.at(r));
    return out;
  }

  absl::Span<Value* const> parameters_;
  std::vector<const Node*> nodes_;
  absl::Span<Value* const> results_;
  absl::Span<const Geometry> geometries_;
  Shape domain_;
  Lowered out_;
  std::vector<Operand> operands_;
  std::vector<DType> operand_types_;
  absl::flat_hash_map<const Value*, size_t> operand_of_;
  absl::flat_hash_map<std::pair<const Node*, int>, size_t> uniform_of_;
};

/// Calls f on every Int of the maps and extents that the loop nest's code walks by.
template <class F>
void each_map(LoopNest& nest, F f) {
  for (Statement& s : nest.body) {
    auto* c = std::get_if<Compute>(&s.node);
    if (c == nullptr) continue;
    for (Operand& o : c->operands)
      if (auto* load = std::get_if<Load>(&o)) f(load->map);
    for (Load& store : c->stores) f(store.map);
  }
}

void drop_axis(LoopNest& nest, size_t axis) {
  nest.axes.erase(nest.axes.begin() + static_cast<ptrdiff_t>(axis));
  each_map(nest,
           [&](IndexMap& m) { m.strides.erase(m.strides.begin() + static_cast<ptrdiff_t>(axis)); });
}

}  // namespace

Lowered lower(const Node& group, absl::Span<const Geometry> geometries) {
  const ir::Block& body = group.block(0);
  std::vector<const Node*> nodes;
  for (const Node* n : body.nodes()) nodes.push_back(n);
  return Lowering(body.parameters(), std::move(nodes), body.yields(), geometries).run();
}

Lowered lower_node(const Node& node, absl::Span<const Geometry> geometries) {
  return Lowering(node.in(), {&node}, node.out(), geometries).run();
}

LoopNest schedule(LoopNest nest) {
  for (size_t k = nest.axes.size(); k-- > 0;)
    if (identical(nest.axes[k].extent, Int(1))) drop_axis(nest, k);
  for (size_t k = nest.axes.size(); k-- > 1;) {
    bool one = true;
    each_map(nest, [&](IndexMap& m) {
      one = one && identical(m.strides[k - 1], m.strides[k] * nest.axes[k].extent);
    });
    if (!one) continue;
    each_map(nest, [&](IndexMap& m) { m.strides[k - 1] = m.strides[k]; });
    nest.axes[k - 1].extent = nest.axes[k - 1].extent * nest.axes[k].extent;
    drop_axis(nest, k);
  }
  nest.facts.vector_axis = static_cast<int>(nest.axes.size()) - 1;
  return nest;
}

}  // namespace lathe::jit
