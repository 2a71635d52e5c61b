#include "jit/kernel/compose.h"

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "graph/ir/arguments.h"
#include "graph/passes/moved.h"
#include "kernels/problem/bodies.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

uint64_t number_bits(const Arg& a, DType dtype) {
  alignas(16) std::byte room[16] = {};
  store_number(a, dtype, room);
  return element_bits(dtype, room);
}

bool symbolic_number(const Arg& a) { return a.tag == Tag::integer && !a.integer().known(); }

bool is(Int a, Int b) {
  if (identical(a, b)) return true;
  return SymScope::current()->prove(Relation::eq, a, b) == SymScope::Truth::yes;
}

}  // namespace

ScalarFunction body_of(const Node& node) {
  const ElementTypes types = ir::types_of(node);
  std::vector<BodyInput> inputs;
  for (int p : body_params(*node.op())) {
    const Value* v = node.value(p);
    const bool tensor = v != nullptr && v->type().tensor() != nullptr;
    inputs.push_back(tensor ? BodyInput{v->tensor().dtype, false}
                            : BodyInput{number_dtype(*node.op(), p, types.compute), true});
  }
  return stored_body(*node.op(), types, inputs);
}

std::optional<uint64_t> filled_with(const Node& node) {
  if (!ir::is_filled(node)) return std::nullopt;
  const ScalarFunction body = body_of(node);
  ExprGraph graph;
  const ExprScope scope(graph);
  Exprs args;
  for (int p : body_params(*node.op())) {
    const DType dtype = body.inputs[args.size()];
    args.push_back(constant_bits(dtype, number_bits(node.literal(p), dtype)));
  }
  const Expr value = inline_call(body, args)[0];
  if (value.prim() != Prim::constant) return std::nullopt;
  return value->payload;
}

size_t Composer::add_operand(Operand from) {
  const auto* access = std::get_if<Access>(&from);
  types_.push_back(access != nullptr ? kernel_.buffers[static_cast<size_t>(access->buf)].dtype
                                     : std::get<Pieces>(from).dtype);
  operands_.push_back(std::move(from));
  return operands_.size() - 1;
}

void Composer::read(const Value* v, Operand from) {
  const size_t at = add_operand(std::move(from));
  operand_of_[v] = at;
}

void Composer::choose(const Value* v, Operand mask, Operand then, const Value* otherwise) {
  const size_t where = add_operand(std::move(mask));
  made_.push_back({nullptr, v, otherwise, where, add_operand(std::move(then))});
}

/// Numbers are uniforms of the dtype each use wants.
void Composer::add(const Node& node) {
  made_.push_back({.node = &node});
  const DType compute = ir::types_of(node).compute;
  for (int p : body_params(*node.op())) {
    const Value* v = node.value(p);
    const DType dtype = number_dtype(*node.op(), p, compute);
    if (v != nullptr && v->type().tensor() == nullptr)
      add_uniform(node, p, {input_of_(outer_(v)), 0, dtype});
    else if (v == nullptr && symbolic_number(node.literal(p)))
      add_uniform(node, p, {-1, node.literal(p).integer(), dtype});
  }
}

void Composer::add_uniform(const Node& use, int param, Number number) {
  uniform_of_[{&use, param}] = operands_.size();
  operands_.emplace_back(Uniform{static_cast<int>(numbers_.size()), number.dtype});
  types_.push_back(number.dtype);
  kernel_.uniforms.push_back(number.dtype);
  numbers_.push_back(number);
}

Exprs Composer::compose(absl::Span<const Value* const> results, absl::Span<const Expr> in) const {
  absl::flat_hash_map<const Value*, Expr> values;
  for (const auto& [value, at] : operand_of_) values[value] = in[at];
  for (const Made& made : made_) {
    const Node* node = made.node;
    if (node == nullptr) {
      values[made.chosen] = select(in[made.mask], in[made.then], values.at(outer_(made.otherwise)));
      continue;
    }
    const ScalarFunction body = body_of(*node);
    std::vector<Expr> args;
    for (int p : body_params(*node->op())) {
      const Value* v = node->value(p);
      if (v != nullptr && v->type().tensor() != nullptr) {
        args.push_back(values.at(outer_(v)));
      } else if (const auto use = uniform_of_.find({node, p}); use != uniform_of_.end()) {
        args.push_back(in[use->second]);
      } else {
        const DType dtype = body.inputs[args.size()];
        args.push_back(constant_bits(dtype, number_bits(node->literal(p), dtype)));
      }
    }
    const Exprs ys = inline_call(body, args);
    for (size_t k = 0; k < ys.size(); ++k) values[node->out(k)] = ys[k];
  }
  Exprs out;
  for (const Value* r : results) out.push_back(values.at(outer_(r)));
  return out;
}

ScalarFunction Composer::function(
    absl::Span<const Value* const> results, absl::Span<const DType> more,
    const std::function<Exprs(const Exprs&, absl::Span<const Expr>)>& then) const {
  std::vector<DType> types = types_;
  types.insert(types.end(), more.begin(), more.end());
  return build(
      [&](absl::Span<const Expr> in) {
        const Exprs found = compose(results, in);
        return then ? then(found, in.subspan(operands_.size())) : found;
      },
      types);
}

IndexMap map_of(const TensorType& type, const Geometry& g, const Shape& domain) {
  IndexMap map{g.offset, {}};
  const size_t lead = domain.size() - type.shape.size();
  for (size_t k = 0; k < domain.size(); ++k) {
    Int stride = 0;
    if (k >= lead) {
      Int size = type.shape[k - lead];
      const bool repeats = !identical(size, domain[k]) && is(size, 1);
      if (!repeats && !identical(size, Int(1))) stride = g.strides[k - lead];
      // Where only a run tells whether it repeats: one element does.
      if (!repeats && !is(size, domain[k])) stride = stride * min(max(size - 1, 0), 1);
    }
    map.strides.push_back(stride);
  }
  return map;
}

}  // namespace lathe::jit
