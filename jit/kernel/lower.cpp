#include "jit/kernel/lower.h"

#include <absl/container/flat_hash_set.h>

#include "core/base/error.h"
#include "graph/passes/moved.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

/// From a group to a kernel of one statement over all axes of the results. What nodes of the group
/// only move is an operand of several pieces, and so is what it is moved into.
class Lowering {
 public:
  /// `parameters`: what the nodes read.
  Lowering(absl::Span<Value* const> parameters, absl::Span<Value* const> results,
           absl::Span<const Geometry> geometries)
      : parameters_(parameters),
        results_(results),
        geometries_(geometries),
        domain_(results[0]->tensor().shape),
        composer_(
            out_.kernel, out_.numbers, [this](const Value* v) { return input_of(v); },
            [](const Value* v) { return v; }) {}

  Lowered run(absl::Span<const Node* const> nodes) {
    Kernel& kernel = out_.kernel;
    for (Int extent : domain_) kernel.axes.push_back({extent});
    kernel.parallel = static_cast<int>(domain_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const TensorType* type = parameters_[i]->type().tensor();
      if (type == nullptr) continue;
      kernel.buffers.push_back({type->dtype, Space::argument, 0, parameters_[i]->name()});
      out_.tensors.push_back(static_cast<int>(i));
    }
    find_read(nodes);
    for (size_t k = 0; k < out_.tensors.size(); ++k)
      if (const Value* p = parameters_[static_cast<size_t>(out_.tensors[k])]; read_.contains(p))
        composer_.read(p, whole(p));
    for (const Node* n : nodes) add(*n);
    kernel.inputs = static_cast<int>(out_.tensors.size());
    kernel.outputs = static_cast<int>(results_.size());
    Compute compute{composer_.function(results_), composer_.operands(), {}};
    for (const Value* r : results_) {
      const TensorType& t = r->tensor();
      LATHE_CHECK(identical(t.shape, domain_));
      compute.stores.push_back(
          {static_cast<int>(kernel.buffers.size()), {Int(0), row_major(domain_)}});
      kernel.buffers.push_back({t.dtype, Space::argument, 0, r->name()});
    }
    kernel.body.push_back({std::move(compute)});
    kernel = join_axes(std::move(kernel));
    count_facts(kernel);
    return std::move(out_);
  }

 private:
  int input_of(const Value* v) const {
    const auto at = std::find(parameters_.begin(), parameters_.end(), v);
    if (at == parameters_.end()) LATHE_INTERNAL("a group uses a number made inside it");
    return static_cast<int>(at - parameters_.begin());
  }
  /// The buffer of a tensor that is given; -1 of others.
  int buffer_of(const Value* v) const {
    for (size_t k = 0; k < out_.tensors.size(); ++k)
      if (parameters_[static_cast<size_t>(out_.tensors[k])] == v) return static_cast<int>(k);
    return -1;
  }
  const Geometry& geometry(const Value* v) const {
    return geometries_[static_cast<size_t>(input_of(v))];
  }
  Access whole(const Value* v) const {
    return {buffer_of(v), map_of(v->tensor(), geometry(v), domain_)};
  }

  /// What pointwise nodes read, and what is given back.
  void find_read(absl::Span<const Node* const> nodes) {
    read_.insert(results_.begin(), results_.end());
    for (const Node* n : nodes)
      if (ir::pointwise(*n)) read_.insert(n->in().begin(), n->in().end());
  }

  void add(const Node& n) {
    if (ir::pointwise(n)) return composer_.add(n);
    const std::optional<ir::Moved> moved = ir::moved_by(n, *SymScope::current());
    if (!moved) LATHE_INTERNAL("a group has a node that is neither pointwise nor moves elements");
    const Value* made = n.out(0);
    const DType dtype = made->tensor().dtype;
    const Shape& shape = made->tensor().shape;
    if (std::optional<Pieces> pieces = base_of(*moved, dtype)) {
      add_parts(*moved, shape, pieces->all);
      if (read_.contains(made)) composer_.read(made, operand_of(*pieces));
      pieces_[made] = std::move(*pieces);
      return;
    }
    Pieces mask{DType::bool_, {Piece{}}}, value{dtype, {Piece{}}};
    add_parts(*moved, shape, value.all);
    for (size_t k = 1; k < value.all.size(); ++k) mask.all.push_back({{}, 1, value.all[k].within});
    composer_.choose(made, std::move(mask), std::move(value), moved->base);
  }

  /// What the result is where no part is; nothing where the group computes that.
  std::optional<Pieces> base_of(const ir::Moved& moved, DType dtype) const {
    if (moved.base != nullptr) return pieces_of(moved.base);
    if (moved.shows_part()) return Pieces{dtype, {}};
    return Pieces{dtype, {Piece{}}};
  }

  void add_parts(const ir::Moved& moved, const Shape& shape, std::vector<Piece>& to) const {
    for (const ir::MovedPart& part : moved.parts) {
      std::optional<Pieces> pieces = pieces_of(part.from);
      if (!pieces) LATHE_INTERNAL("a group moves what it computes");
      for (Piece& p : pieces->all) {
        for (const ir::Along& along : part.along) move(p, along, shape);
        if (!moved.axes.empty()) renumber_axes(p, moved.axes);
        to.push_back(std::move(p));
      }
    }
  }

  /// Of a tensor that is given, of one value, or of what was moved before; nothing of others.
  std::optional<Pieces> pieces_of(const Value* v) const {
    if (const auto it = pieces_.find(v); it != pieces_.end()) return it->second;
    const TensorType& type = v->tensor();
    if (buffer_of(v) >= 0)
      return Pieces{type.dtype,
                    {beside({buffer_of(v), map_of(type, geometry(v), type.shape)}, type)}};
    const std::optional<uint64_t> bits = filled_with(*v->node());
    return bits ? std::optional(Pieces{type.dtype, {{{}, *bits, {}}}}) : std::nullopt;
  }

  /// The piece as a part shows it along an axis: further on, and no further than the part goes.
  static void move(Piece& piece, const ir::Along& along, const Shape& shape) {
    const auto axis = static_cast<size_t>(along.axis);
    if (piece.from) {
      IndexMap& map = piece.from->map;
      map.offset = map.offset - along.by * map.along(axis);
    }
    const auto is_along = [&](const Range& r) { return r.axis == along.axis; };
    const auto range = std::find_if(piece.within.begin(), piece.within.end(), is_along);
    if (range == piece.within.end()) {
      if (!identical(along.first, Int(0)) || !identical(along.last, shape[axis]))
        piece.within.push_back({along.axis, along.first, along.last});
      return;
    }
    range->first = max(range->first + along.by, along.first);
    range->last = min(range->last + along.by, along.last);
  }

  /// `axes`: of the piece, by axis of the result. No piece ends along an axis that goes.
  static void renumber_axes(Piece& piece, absl::Span<const int> axes) {
    if (piece.from) {
      IndexMap& map = piece.from->map;
      IndexMap renumbered{map.offset, {}};
      for (int axis : axes)
        renumbered.strides.push_back(axis < 0 ? Int(0) : map.along(static_cast<size_t>(axis)));
      map = std::move(renumbered);
    }
    for (Range& r : piece.within) {
      const auto now = std::find(axes.begin(), axes.end(), r.axis);
      if (now == axes.end()) LATHE_INTERNAL("a group drops an axis along which it moves elements");
      r.axis = static_cast<int>(now - axes.begin());
    }
  }

  /// What is in one place is no piece.
  static Operand operand_of(const Pieces& pieces) {
    const Piece& first = pieces.all.front();
    if (pieces.all.size() == 1 && first.from) return *first.from;
    return pieces;
  }

  /// One element along the last axis may be said to lie beside the next one.
  static Piece beside(Access a, const TensorType& type) {
    if (identical(type.shape.back(), Int(1))) a.map.strides.back() = 1;
    return {std::move(a), 0, {}};
  }

  absl::Span<Value*const> parameters_, results_;
  absl::Span<const Geometry> geometries_;
  const Shape domain_;
  Lowered out_;
  Composer composer_;
  absl::flat_hash_set<const Value*> read_;
  absl::flat_hash_map<const Value*, Pieces> pieces_;
};

/// Calls f on every map of a block.
template <class F>
void each_map(Block& block, const F& f) {
  each_access(block, [&](Access& a, bool) { f(a.map); });
}

/// Calls f on every range of an operand's pieces.
template <class F>
void each_range(Block& block, const F& f) {
  each_statement(block, [&](auto& statement) {
    for (Operand& o : statement.operands)
      if (auto* pieces = std::get_if<Pieces>(&o))
        for (Piece& p : pieces->all)
          for (Range& r : p.within) f(r);
  });
}

/// Does any piece begin or end somewhere along the axis?
bool is_cut(Block& block, size_t axis) {
  bool cut = false;
  each_range(block, [&](Range& r) { cut = cut || static_cast<size_t>(r.axis) == axis; });
  return cut;
}

void renumber_loops(Block& block, int from, int by) {
  for (Statement& s : block) {
    std::visit(
        [&](auto& node) {
          if constexpr (requires { node.axis; }) node.axis += node.axis >= from ? by : 0;
          if constexpr (requires { node.body; }) renumber_loops(node.body, from, by);
        },
        s.node);
  }
}
/// Axes from this one on are counted so many further.
void renumber(Block& block, int from, int by) {
  each_range(block, [&](Range& r) { r.axis += r.axis >= from ? by : 0; });
  renumber_loops(block, from, by);
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
  return Lowering(body.parameters(), body.yields(), geometries).run(nodes);
}

Lowered lower_node(const Node& node, absl::Span<const Geometry> geometries) {
  const Node* only = &node;
  return Lowering(node.in(), node.out(), geometries).run(absl::MakeConstSpan(&only, 1));
}

Kernel join_axes(Kernel kernel) {
  const auto parallel = [&] { return static_cast<size_t>(kernel.parallel); };
  each_map(kernel.body, [&](IndexMap& m) { m.strides.resize(kernel.axes.size(), Int(0)); });
  for (size_t k = parallel(); k-- > 0;)
    if (identical(kernel.axes[k].extent, Int(1)) && !is_cut(kernel.body, k)) drop_axis(kernel, k);
  for (size_t k = parallel(); k-- > 1;) {
    bool one = !is_cut(kernel.body, k);
    each_map(kernel.body, [&](IndexMap& m) {
      one = one && identical(m.strides[k - 1], m.strides[k] * kernel.axes[k].extent);
    });
    if (!one) continue;
    each_map(kernel.body, [&](IndexMap& m) { m.strides[k - 1] = m.strides[k]; });
    each_range(kernel.body, [&](Range& r) {
      if (static_cast<size_t>(r.axis) != k - 1) return;
      r.first = r.first * kernel.axes[k].extent;
      r.last = r.last * kernel.axes[k].extent;
    });
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
