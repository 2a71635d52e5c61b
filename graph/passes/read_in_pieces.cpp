// What a few groups, or pointwise nodes, alone read, as it is or slices of it, and what only moves
// elements along an axis (a slice that is written, a shift: moved.h) becomes part of each of them:
// its elements are read where they come from, by a kernel that is run box by box. So what `cat`,
// `pad`, `roll` and gradients of slices make is not made. Nor is a part that is written and that a
// few ops of elements make: the group that reads it computes them everywhere (widen.h).
#include <absl/container/node_hash_map.h>

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
constexpr size_t kMostReaders = 4;    // of what is not made then

// What is won and lost, in nanoseconds, measured on processors with AVX-512: by a step that is not
// there, by each byte that it wrote and its reader read; by each box, and by each stretch of
// elements side by side in one, since code goes along these.
constexpr double kOfStep = 150, kOfByte = 0.0125, kOfBox = 30, kOfRow = 3;

/// Places along each axis where what is read changes from one piece to the next, at the sizes of
/// the first call; ascending. In how many pieces the operand is that has most.
struct Cuts {
  std::vector<std::vector<int64_t>> places;
  std::vector<bool> ends;   // by axis: does a piece say where it begins or ends?
  bool drops_ends = false;  // did one say so along an axis that is gone?
  int64_t pieces = 0;

  explicit Cuts(size_t axes = 0) : places(axes), ends(axes) {}
  void add(size_t axis, int64_t place) {
    auto& of_axis = places[axis];
    const auto at = std::lower_bound(of_axis.begin(), of_axis.end(), place);
    if (at == of_axis.end() || *at != place) of_axis.insert(at, place);
  }
  int64_t boxes() const {
    int64_t count = 1;
    for (const auto& of_axis : places) count *= static_cast<int64_t>(of_axis.size()) + 1;
    return count;
  }
};

/// What it costs to go through a domain of this shape box by box, beyond going through it once.
/// Behind the last axis that is cut, elements lie side by side.
double cost_of(const Cuts& cuts, const Shape& shape, const SymScope& scope) {
  double rows = 1;
  for (size_t axis = cuts.places.size(); axis-- > 0;) {
    if (cuts.places[axis].empty()) continue;
    for (size_t before = 0; before < axis; ++before)
      rows *= static_cast<double>(scope.hint(shape[before]));
    rows *= static_cast<double>(cuts.places[axis].size() + 1);
    break;
  }
  return kOfBox * static_cast<double>(cuts.boxes() - 1) + kOfRow * (rows - 1);
}

bool computes_elements(const Node& n) { return n.is(Structure::group) || pointwise(n); }

std::vector<Node*> nodes_of(Node& n) {
  if (n.is(Structure::group)) return n.block(0).nodes();
  return {&n};
}

/// A node that reads what another one made element by element, or slices of it, in order.
struct Reader {
  Node* node;
  std::vector<Node*> slices;
};

/// In what pieces a reader would have its operands if these nodes were part of it.
class Pieces {
 public:
  Pieces(Node& reader, std::vector<const Node*> moves, const SymScope& scope)
      : reader_(reader), moves_(std::move(moves)), scope_(scope) {}

  Cuts all() {
    Cuts all(reader_.out(0)->tensor().shape.size());
    for (const Node* n : nodes_of(reader_)) {
      if (!pointwise(*n)) continue;
      for (const Value* v : n->in())
        if (v->type().tensor() != nullptr) merge(of(v), all);
    }
    return all;
  }

  /// Do sizes of what the reader would read and make say where all pieces are?
  bool are_known() {
    std::vector<const Value*> tensors(reader_.out().begin(), reader_.out().end());
    std::vector<const Node*> moving = moves_;
    for (const Value* v : reader_.in())
      if (!is_moved_inside(v)) tensors.push_back(v);
    for (const Node* n : moves_)
      for (const Value* v : n->in())
        if (!is_moved_inside(v) && (v->node() == nullptr || !is_filled(*v->node())))
          tensors.push_back(v);
    for (const Node* n : nodes_of(reader_))
      if (!pointwise(*n)) moving.push_back(n);
    return std::all_of(moving.begin(), moving.end(), [&](const Node* n) {
      const std::optional<Moved> moved = moved_by(*n, scope_);
      return moved && std::all_of(moved->parts.begin(), moved->parts.end(),
                                  [&](const MovedPart& p) { return say_where(tensors, p); });
    });
  }

 private:
  bool is_moved_inside(const Value* v) const {
    return std::find(moves_.begin(), moves_.end(), v->node()) != moves_.end();
  }

  /// What the reader is given for a parameter of its own.
  const Value* outer(const Value* v) const {
    if (!reader_.is(Structure::group)) return v;
    const auto& given = reader_.block(0).parameters();
    const auto at = std::find(given.begin(), given.end(), v);
    return at == given.end() ? v : reader_.in(at - given.begin());
  }

  const Cuts& of(const Value* given) {
    const Value* v = outer(given);
    if (const auto at = known_.find(v); at != known_.end()) return at->second;
    Cuts cuts(v->tensor().shape.size());
    cuts.pieces = 1;
    const Node* n = v->node();
    const bool inside = n != nullptr && (n->parent() != reader_.parent() || is_moved_inside(v));
    if (const std::optional<Moved> moved = inside ? moved_by(*n, scope_) : std::nullopt) {
      cuts.pieces = moved->shows_part() ? 0 : 1;
      if (moved->base != nullptr) cuts = of(moved->base);
      for (const MovedPart& part : moved->parts) add(*moved, part, v->tensor().shape, cuts);
    }
    return known_[v] = std::move(cuts);
  }

  /// What a part shows of what it is of, in positions of the result.
  void add(const Moved& moved, const MovedPart& part, const Shape& shape, Cuts& cuts) {
    Cuts from = of(part.from);
    for (const Along& a : part.along) {
      const auto axis = static_cast<size_t>(a.axis);
      const int64_t size = scope_.hint(shape[axis]), by = scope_.hint(a.by),
                    first = std::clamp<int64_t>(scope_.hint(a.first), 0, size),
                    last = std::clamp<int64_t>(scope_.hint(a.last), 0, size);
      for (int64_t& place : from.places[axis]) place += by;
      std::erase_if(from.places[axis],
                    [&](int64_t place) { return place <= first || last <= place; });
      for (int64_t end : {first, last})
        if (0 < end && end < size) from.add(axis, end);
      if (!identical(a.first, Int(0)) || !identical(a.last, shape[axis])) from.ends[axis] = true;
    }
    if (!moved.axes.empty()) from = renumbered(from, moved.axes);
    for (size_t k = 0; k < cuts.places.size(); ++k) {
      for (int64_t place : from.places[k]) cuts.add(k, place);
      cuts.ends[k] = cuts.ends[k] || from.ends[k];
    }
    cuts.pieces += from.pieces;
    cuts.drops_ends = cuts.drops_ends || from.drops_ends;
  }

  static Cuts renumbered(const Cuts& from, absl::Span<const int> axes) {
    Cuts to(axes.size());
    to.pieces = from.pieces;
    to.drops_ends = from.drops_ends;
    for (size_t axis = 0; axis < from.places.size(); ++axis) {
      const auto now = std::find(axes.begin(), axes.end(), static_cast<int>(axis)) - axes.begin();
      if (now == std::ssize(axes)) {
        to.drops_ends = to.drops_ends || from.ends[axis];
        continue;
      }
      to.places[static_cast<size_t>(now)] = from.places[axis];
      to.ends[static_cast<size_t>(now)] = from.ends[axis];
    }
    return to;
  }

  static void merge(const Cuts& from, Cuts& to) {
    if (from.pieces == 1) return;
    for (size_t k = 0; k < from.places.size(); ++k)
      for (int64_t place : from.places[k]) to.add(k, place);
    to.pieces = std::max(to.pieces, from.pieces);
    to.drops_ends = to.drops_ends || from.drops_ends;
  }

  Node& reader_;
  std::vector<const Node*> moves_;
  const SymScope& scope_;
  absl::node_hash_map<const Value*, Cuts> known_;
};

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
      if (!moved || n->op()->kind == Kind::view) continue;
      std::vector<Reader> readers = readers_of(*n);
      if (readers.empty() || !pays(*n, readers) || !rewrites_.allow("read_in_pieces")) continue;
      ++made_;
      for (Reader& r : readers) {
        const bool last = &r == &readers.back();
        Node* own = last ? n : own_copy(r, *n);
        const bool computes = readers.size() == 1 && may_be_computed(*n, r);
        const std::optional<Widened> wide =
            computes ? widen(graph_, *own, *moved, *scope_) : std::nullopt;
        for (const Node* gone : wide ? join(*own, *wide, r) : join(*own, r))
          std::erase(nodes, gone);
        if (wide) nodes.insert(nodes.end(), wide->moves.begin(), wide->moves.end());
      }
    }
  }
  int made() const { return made_; }

 private:
  /// The nodes that read the result, or slices of it, element by element; none where there are
  /// others, or more than a few.
  std::vector<Reader> readers_of(const Node& n) {
    std::vector<Reader> readers;
    std::vector<std::pair<const Value*, std::vector<Node*>>> values{{n.out(0), {}}};
    while (!values.empty()) {
      const auto [v, slices] = values.back();
      values.pop_back();
      for (const Use& u : v->uses()) {
        if (u.node->parent() != n.parent()) return {};
        if (shows_part(*u.node)) {
          values.emplace_back(u.node->out(0), slices);
          values.back().second.push_back(u.node);
          continue;
        }
        if (!reads_elements(*u.node, v)) return {};
        auto r = std::find_if(readers.begin(), readers.end(),
                              [&](const Reader& known) { return known.node == u.node; });
        if (r == readers.end()) r = readers.insert(r, {u.node, {}});
        for (Node* s : slices)
          if (std::find(r->slices.begin(), r->slices.end(), s) == r->slices.end())
            r->slices.push_back(s);
      }
    }
    if (readers.size() > kMostReaders) return {};
    const auto may = [](const Reader& r) { return may_run_with_another(*r.node); };
    if (readers.size() > 1 && std::any_of(readers.begin(), readers.end(), may)) return {};
    return readers;
  }

  /// Does it read what a product or a reduction gives, or does a reduction read its results? These
  /// may become one step, which reads once what several groups would each read in pieces.
  static bool may_run_with_another(const Node& reader) {
    const auto is_view = [](const Node& n) {
      return n.is(Structure::op) && n.op()->kind == Kind::view;
    };
    const auto reduces = [](const Node& n) {
      return n.is(Structure::op) && n.op()->kind == Kind::reduce;
    };
    for (const Value* v : reader.in()) {
      const Node* by = v->node();
      while (by != nullptr && is_view(*by)) by = by->in(0)->node();
      if (by == nullptr || !by->is(Structure::op)) continue;
      if (reduces(*by) || by->op()->kind == Kind::contract) return true;
    }
    std::vector<const Value*> made(reader.out().begin(), reader.out().end());
    while (!made.empty()) {
      const Value* v = made.back();
      made.pop_back();
      for (const Use& u : v->uses()) {
        if (reduces(*u.node)) return true;
        if (is_view(*u.node)) made.push_back(u.node->out(0));
      }
    }
    return false;
  }

  bool shows_part(const Node& n) {
    return n.is(Structure::op) && n.op()->kind == Kind::view && moved_by(n, *scope_);
  }

  /// Does the node read this element by element, as such or to move it further?
  bool reads_elements(Node& reader, const Value* read) const {
    if (!computes_elements(reader) || reader.out().empty() || may_fail(reader)) return false;
    const Shape& domain = reader.out(0)->tensor().shape;
    // Elements that lie side by side are what a box is worth its call for.
    if (domain.empty() || identical(domain.back(), Int(1))) return false;
    const bool same = identical(read->tensor().shape, domain);
    if (!reader.is(Structure::group)) return same;
    const Value* given = parameter_for(reader, read);
    return std::all_of(given->uses().begin(), given->uses().end(), [&](const Use& u) {
      return u.node != reader.block(0).end() && (same || !pointwise(*u.node));
    });
  }

  static const Value* parameter_for(const Node& group, const Value* read) {
    const auto at = std::find(group.in().begin(), group.in().end(), read) - group.in().begin();
    return group.block(0).parameters()[static_cast<size_t>(at)];
  }

  /// May the reader compute it? What it moves further it has to find somewhere.
  bool may_be_computed(const Node& n, const Reader& r) {
    if (!r.slices.empty()) return false;
    if (!r.node->is(Structure::group)) return true;
    std::vector<const Value*> values{parameter_for(*r.node, n.out(0))};
    while (!values.empty()) {
      const Value* v = values.back();
      values.pop_back();
      for (const Use& u : v->uses()) {
        if (pointwise(*u.node)) continue;
        const std::optional<Moved> moved = moved_by(*u.node, *scope_);
        const auto is_moved = [&](const MovedPart& p) { return p.from == v; };
        if (!moved || std::any_of(moved->parts.begin(), moved->parts.end(), is_moved)) return false;
        values.push_back(u.node->out(0));
      }
    }
    return true;
  }

  /// What fails names the place of the first element that did: a box knows places in itself alone.
  bool may_fail(Node& reader) const {
    const std::vector<Node*> nodes = nodes_of(reader);
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) {
      return pointwise(*n) && effects(*n, graph_) != Effects::pure;
    });
  }

  /// Is there room for it, and is it worth its boxes?
  bool pays(const Node& n, const std::vector<Reader>& readers) {
    const TensorType& made = n.out(0)->tensor();
    const auto bytes = static_cast<double>(scope_->hint(numel(made.shape)) *
                                           static_cast<int64_t>(size_of(made.dtype)));
    double more = 0;
    for (const Reader& r : readers) {
      const Node& reader = *r.node;
      if (n.in().size() + reader.in().size() + reader.out().size() > kMostOperands) return false;
      std::vector<const Node*> moves{&n};
      moves.insert(moves.end(), r.slices.begin(), r.slices.end());
      Pieces then(*r.node, std::move(moves), *scope_);
      const Cuts cuts = then.all();
      if (cuts.boxes() > kMostBoxes || cuts.pieces > kMostBoxes || cuts.drops_ends) return false;
      if (!then.are_known()) return false;
      const Shape& domain = reader.out(0)->tensor().shape;
      more += cost_of(cuts, domain, *scope_) -
              cost_of(Pieces(*r.node, {}, *scope_).all(), domain, *scope_);
    }
    return more <= kOfStep + 2 * bytes * kOfByte;
  }

  /// What moves elements, and what it moves or writes to, if that is one value. The nodes that are
  /// part of the group now, and no longer there.
  std::vector<Node*> join(Node& n, const Reader& reader) {
    std::vector<Node*> members;
    const Values in(n.in().begin(), n.in().end());
    for (const Value* v : in)
      if (std::find(n.in().begin(), n.in().end(), v) != n.in().end()) add_fill(n, v, members);
    members.push_back(&n);
    members.insert(members.end(), reader.slices.begin(), reader.slices.end());
    members.push_back(reader.node);
    make(members);
    return members;
  }
  /// What computes at all positions what the write had of some. The write is no longer there.
  std::vector<Node*> join(Node& write, const Widened& wide, const Reader& reader) {
    Node* chosen = wide.elements.back();
    Value* base = chosen->in(2);
    std::vector<Node*> members;
    add_fill(*chosen, base, members);
    members.insert(members.end(), wide.elements.begin(), wide.elements.end());
    members.push_back(reader.node);
    make(members);
    graph_.erase(&write);
    members.push_back(&write);
    return members;
  }

  void add_fill(Node& user, const Value* v, std::vector<Node*>& members) {
    Node* fill = v->node();
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

  /// What the reader reads, and the slices of it, for the reader alone.
  Node* own_copy(Reader& reader, Node& n) {
    const InsertAt before(graph_, reader.node);
    Graph::ValueMap known;
    Node* copy = graph_.copy_node(n, known);
    const std::vector<Node*> shared = reader.slices;
    for (Node*& slice : reader.slices) slice = graph_.copy_node(*slice, known);
    for (size_t i = 0; i < reader.node->in().size(); ++i)
      if (const auto at = known.find(reader.node->in(i)); at != known.end())
        graph_.set_input(reader.node, i, at->second);
    for (auto slice = shared.rbegin(); slice != shared.rend(); ++slice)
      if (!(*slice)->out(0)->used()) graph_.erase(*slice);
    return copy;
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
