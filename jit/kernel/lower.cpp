#include "jit/kernel/lower.h"

#include "core/base/error.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

/// A kernel of one statement over all axes of the results. `parameters`: what the nodes read; they
/// are pointwise, and the results have one shape.
Lowered lower_pointwise(absl::Span<Value* const> parameters, absl::Span<const Node* const> nodes,
                        absl::Span<Value* const> results, absl::Span<const Geometry> geometries) {
  Lowered out;
  Kernel& kernel = out.kernel;
  const Shape domain = results[0]->tensor().shape;
  for (Int extent : domain) kernel.axes.push_back({extent});
  kernel.parallel = static_cast<int>(domain.size());
  const auto input_of = [&](const Value* v) {
    const auto at = std::find(parameters.begin(), parameters.end(), v);
    if (at == parameters.end()) LATHE_INTERNAL("a group uses a number made inside it");
    return static_cast<int>(at - parameters.begin());
  };
  Composer composer(kernel, out.numbers, input_of, [](const Value* v) { return v; });
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Value* p = parameters[i];
    const TensorType* type = p->type().tensor();
    if (type == nullptr) continue;
    kernel.buffers.push_back({type->dtype, Space::argument, 0, p->name()});
    out.tensors.push_back(static_cast<int>(i));
    const int buffer = static_cast<int>(kernel.buffers.size()) - 1;
    composer.read(p, {buffer, map_of(*type, geometries[i], domain)});
  }
  for (const Node* n : nodes) composer.add(*n);
  kernel.inputs = static_cast<int>(out.tensors.size());
  kernel.outputs = static_cast<int>(results.size());
  Compute compute{composer.function(results), composer.operands(), {}};
  for (const Value* r : results) {
    const TensorType& t = r->tensor();
    LATHE_CHECK(identical(t.shape, domain));
    compute.stores.push_back(
        {static_cast<int>(kernel.buffers.size()), {Int(0), row_major(domain)}});
    kernel.buffers.push_back({t.dtype, Space::argument, 0, r->name()});
  }
  kernel.body.push_back({std::move(compute)});
  kernel = join_axes(std::move(kernel));
  count_facts(kernel);
  return out;
}

/// Calls f on every map of a block.
template <class F>
void each_map(Block& block, const F& f) {
  each_access(block, [&](Access& a, bool) { f(a.map); });
}

/// Axes from this one on are counted so many further.
void renumber(Block& block, int from, int by) {
  for (Statement& s : block) {
    std::visit(
        [&](auto& node) {
          if constexpr (requires { node.axis; }) node.axis += node.axis >= from ? by : 0;
          if constexpr (requires { node.body; }) renumber(node.body, from, by);
        },
        s.node);
  }
}

/// Takes away a parallel axis.
void drop_axis(Kernel& kernel, size_t axis) {
  kernel.axes.erase(kernel.axes.begin() + static_cast<ptrdiff_t>(axis));
  --kernel.parallel;
  each_map(kernel.body,
           [&](IndexMap& m) { m.strides.erase(m.strides.begin() + static_cast<ptrdiff_t>(axis)); });
  renumber(kernel.body, static_cast<int>(axis), -1);
}

}  // namespace

Lowered lower(const Node& group, absl::Span<const Geometry> geometries) {
  const ir::Block& body = group.block(0);
  std::vector<const Node*> nodes;
  for (const Node* n : body.nodes()) nodes.push_back(n);
  return lower_pointwise(body.parameters(), nodes, body.yields(), geometries);
}

Lowered lower_node(const Node& node, absl::Span<const Geometry> geometries) {
  const Node* only = &node;
  return lower_pointwise(node.in(), absl::MakeConstSpan(&only, 1), node.out(), geometries);
}

Kernel join_axes(Kernel kernel) {
  const auto parallel = [&] { return static_cast<size_t>(kernel.parallel); };
  each_map(kernel.body, [&](IndexMap& m) { m.strides.resize(kernel.axes.size(), Int(0)); });
  for (size_t k = parallel(); k-- > 0;)
    if (identical(kernel.axes[k].extent, Int(1))) drop_axis(kernel, k);
  for (size_t k = parallel(); k-- > 1;) {
    bool one = true;
    each_map(kernel.body, [&](IndexMap& m) {
      one = one && identical(m.strides[k - 1], m.strides[k] * kernel.axes[k].extent);
    });
    if (!one) continue;
    each_map(kernel.body, [&](IndexMap& m) { m.strides[k - 1] = m.strides[k]; });
    kernel.axes[k - 1].extent = kernel.axes[k - 1].extent * kernel.axes[k].extent;
    drop_axis(kernel, k);
  }
  if (parallel() > 0) return kernel;
  // Every kernel has an axis to walk along.
  kernel.axes.insert(kernel.axes.begin(), {Int(1)});
  kernel.parallel = 1;
  each_access(kernel.body, [&](Access& a, bool store) {
    const bool local = kernel.buffers[static_cast<size_t>(a.buf)].space == Space::local;
    a.map.strides.insert(a.map.strides.begin(), Int(store && !local ? 1 : 0));
  });
  for (Statement& s : kernel.body)
    if (auto* sums = std::get_if<ReduceRows>(&s.node))  // one result for all rows
      for (Access& a : sums->stores) a.map.strides[0] = 0;
  renumber(kernel.body, 0, 1);
  return kernel;
}

}  // namespace lathe::jit
