// What a group, or a pointwise node, alone reads, and what only moves elements along an axis (a
// slice that is written, a shift: moved.h) becomes part of the group: its elements are read where
// they come from, by a kernel that is run box by box. So what `cat`, `pad`, `roll` and gradients of
// slices make is not made. Nor is a part that is written and that a few ops of elements make: the
// group computes them everywhere (widen.h).
#include <algorithm>

#include "graph/ir/arguments.h"
#include "graph/passes/make_group.h"
#include "graph/passes/moved.h"
#include "graph/passes/passes.h"
#include "graph/passes/widen.h"

namespace lathe::ir {
namespace {

constexpr size_t kMostOperands = 24;  // inputs and outputs of a kernel
constexpr int64_t kMostBoxes = 64;    // that the places where parts begin and end cut it into

// What is won and lost, in nanoseconds, measured on processors with AVX-512: by a step that is not
// there, by each byte that it wrote and its reader read; by each box, and by each stretch of
// elements side by side in one, since code goes along these.
constexpr double kOfStep = 150, kOfByte = 0.0125, kOfBox = 30, kOfRow = 3;

/// Places where parts begin and end, by axis.
using Cuts = std::vector<std::vector<Int>>;

void add_cuts(const Moved& moved, const Shape& shape, Cuts& cuts) {
  cuts.resize(shape.size());
  const auto axis = static_cast<size_t>(moved.axis);
  for (const MovedPart& p : moved.parts)
    for (const Int& end : {p.first, p.last}) {
      const auto same = [&](Int known) { return identical(known, end); };
      if (!identical(end, Int(0)) && !identical(end, shape[axis]) &&
          std::none_of(cuts[axis].begin(), cuts[axis].end(), same))
        cuts[axis].push_back(end);
    }
}

int64_t boxes_of(const Cuts& cuts) {
  int64_t boxes = 1;
  for (const auto& of_axis : cuts) boxes *= static_cast<int64_t>(of_axis.size()) + 1;
  return boxes;
}

/// What it costs to go through a domain of this shape box by box, beyond going through it once.
/// Behind the last axis that is cut, elements lie side by side.
double cost_of(const Cuts& cuts, const Shape& shape, const SymScope& scope) {
  double rows = 1;
  for (size_t axis = cuts.size(); axis-- > 0;) {
    if (cuts[axis].empty()) continue;
    for (size_t before = 0; before < axis; ++before)
      rows *= static_cast<double>(scope.hint(shape[before]));
    rows *= static_cast<double>(cuts[axis].size() + 1);
    break;
  }
  return kOfBox * static_cast<double>(boxes_of(cuts) - 1) + kOfRow * (rows - 1);
}

bool computes_elements(const Node& n) { return n.is(Structure::group) || pointwise(n); }

std::vector<Node*> nodes_of(Node& n) {
  if (n.is(Structure::group)) return n.block(0).nodes();
  return {&n};
}

class Reading {
 public:
  Reading(Graph& graph, Rewrites& rewrites) : graph_(graph), scope_(graph), rewrites_(rewrites) {}

  /// From the last node on: a write that is part of a group by then is what another one is read by.
  void block(Block& b) {
    std::vector<Node*> nodes = b.nodes();
    while (!nodes.empty()) {
      Node* n = nodes.back();
      nodes.pop_back();
      if (n->is(Structure::group)) continue;
      for (Block* inner : n->blocks()) block(*inner);
      const std::optional<Moved> moved = moved_by(*n, *scope_);
      Node* reader = moved ? only_reader(*n) : nullptr;
      if (reader == nullptr || !fits(*n, *moved, *reader) || !rewrites_.allow("read_in_pieces"))
        continue;
      ++made_;
      const std::optional<Widened> wide = widen(graph_, *n, *moved, *scope_);
      for (const Node* gone : wide ? join(*n, *wide, *reader) : join(*n, *moved, *reader))
        std::erase(nodes, gone);
      if (wide) nodes.insert(nodes.end(), wide->moves.begin(), wide->moves.end());
    }
  }
  int made() const { return made_; }

 private:
  /// The node that alone reads the result, element by element.
  Node* only_reader(const Node& n) {
    const Value* made = n.out(0);
    const Shape& shape = made->tensor().shape;
    // Elements that lie side by side are what a box is worth its call for.
    if (made->uses().empty() || shape.empty() || identical(shape.back(), Int(1))) return nullptr;
    Node* reader = made->uses()[0].node;
    if (reader->parent() != n.parent() || !computes_elements(*reader) || reader->out().empty() ||
        may_fail(*reader) || !identical(reader->out(0)->tensor().shape, shape))
      return nullptr;
    for (const Use& u : made->uses())
      if (u.node != reader) return nullptr;
    return reads_elements(*reader, made) ? reader : nullptr;
  }

  /// What fails names the place of the first element that did: a box knows places in itself alone.
  bool may_fail(Node& reader) const {
    const std::vector<Node*> nodes = nodes_of(reader);
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) {
      return pointwise(*n) && effects(*n, graph_) != Effects::pure;
    });
  }

  /// Does the node read this element by element, as such or to write more into it?
  bool reads_elements(const Node& n, const Value* read) {
    if (!n.is(Structure::group)) return true;
    const auto at = std::find(n.in().begin(), n.in().end(), read) - n.in().begin();
    const Value* given = n.block(0).parameters()[static_cast<size_t>(at)];
    return std::all_of(given->uses().begin(), given->uses().end(), [&](const Use& u) {
      if (pointwise(*u.node)) return true;
      const std::optional<Moved> moved = moved_by(*u.node, *scope_);
      const auto is_from = [&](const MovedPart& p) { return p.from == given; };
      return moved && moved->base == given &&
             std::none_of(moved->parts.begin(), moved->parts.end(), is_from);
    });
  }

  /// Is there room for it, and is it worth its boxes?
  bool fits(const Node& n, const Moved& moved, Node& reader) {
    const TensorType& made = n.out(0)->tensor();
    if (n.in().size() + reader.in().size() + reader.out().size() > kMostOperands) return false;
    Cuts cuts(made.shape.size());
    for (const Node* inside : nodes_of(reader))
      if (const std::optional<Moved> m = moved_by(*inside, *scope_))
        add_cuts(*m, inside->out(0)->tensor().shape, cuts);
    const double before = cost_of(cuts, made.shape, *scope_);
    add_cuts(moved, made.shape, cuts);
    const double more = cost_of(cuts, made.shape, *scope_) - before;
    const auto bytes = static_cast<double>(scope_->hint(numel(made.shape)) *
                                           static_cast<int64_t>(size_of(made.dtype)));
    return boxes_of(cuts) <= kMostBoxes && more <= kOfStep + 2 * bytes * kOfByte;
  }

  /// What moves elements, and what it moves or writes to, if that is one value. The nodes that are
  /// part of the group now, and no longer there.
  std::vector<Node*> join(Node& n, const Moved& moved, Node& reader) {
    std::vector<Node*> members;
    add_fill(n, moved.base, members);
    for (const MovedPart& part : moved.parts) add_fill(n, part.from, members);
    members.push_back(&n);
    members.push_back(&reader);
    make(members);
    return members;
  }
  /// What computes at all positions what the write had of some. The write is no longer there.
  std::vector<Node*> join(Node& write, const Widened& wide, Node& reader) {
    Node* chosen = wide.elements.back();
    Value* base = chosen->in(2);
    std::vector<Node*> members;
    add_fill(*chosen, base, members);
    members.insert(members.end(), wide.elements.begin(), wide.elements.end());
    members.push_back(&reader);
    make(members);
    graph_.erase(&write);
    members.push_back(&write);
    return members;
  }

  void add_fill(Node& user, const Value* v, std::vector<Node*>& members) {
    Node* fill = v == nullptr ? nullptr : v->node();
    if (fill != nullptr && is_filled(*fill) && fill->parent() == user.parent())
      members.push_back(own_copy(user, *fill));
  }

  /// A group of these, which takes the place of the last one.
  void make(const std::vector<Node*>& members) {
    Values inputs;
    const auto made_inside = [&](const Value* v) {
      return std::find(members.begin(), members.end(), v->node()) != members.end();
    };
    for (const Node* m : members)
      for (Value* v : m->in())
        if (!made_inside(v) && std::find(inputs.begin(), inputs.end(), v) == inputs.end())
          inputs.push_back(v);
    Node* reader = members.back();
    make_group(graph_, members, reader, inputs, reader->out());
  }

  /// The fill that `n` alone writes to.
  Node* own_copy(Node& n, Node& fill) {
    if (fill.out(0)->uses().size() == 1) return &fill;
    const InsertAt before(graph_, &n);
    Graph::ValueMap known;
    Node* copy = graph_.copy_node(fill, known);
    for (size_t i = 0; i < n.in().size(); ++i)
      if (n.in(i) == fill.out(0)) graph_.set_input(&n, i, copy->out(0));
    return copy;
  }

  Graph& graph_;
  GraphScope scope_;
  Rewrites& rewrites_;
  int made_ = 0;
};

}  // namespace

int read_in_pieces(Graph& graph, Rewrites& rewrites) {
  int made = 0;
  const auto read = [&](Graph& g) {
    Reading reading(g, rewrites);
    reading.block(g.body());
    made += reading.made();
  };
  read(graph);
  for (const auto& f : graph.functions()) read(*f);
  return made;
}

}  // namespace lathe::ir
