// Pointwise nodes and groups over one small index space that stand side by side, none of which
// reads another, run as one kernel: the updates of many small parameters, the gates of a cell, the
// scalars that a loop carries. Calling a kernel costs more than the elements do there. Over large
// index spaces each of them would only read more arrays at once.
//
// A set of siblings grows down the block and stands where its last member stood, as a group does,
// until something reads what a member makes. Left alone is what belongs to a product, whose
// registers it runs in, and what is around a reduction, whose rows it may run in.
#include <algorithm>

#include "graph/ir/arguments.h"
#include "graph/passes/make_group.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

constexpr int64_t kFewElements = 1024;
constexpr size_t kMostOperands = 96;  // inputs and outputs of a kernel
constexpr size_t kMostNodes = 256;

bool is_kind(const Node* n, Kind kind) {
  return n != nullptr && n->is(Structure::op) && n->op()->kind == kind;
}

struct Siblings {
  std::vector<Node*> members;
  Values inputs;
  size_t outputs = 0, nodes = 0;

  bool makes(const Value* v) const {
    return std::find(members.begin(), members.end(), v->node()) != members.end();
  }
};

class Joining {
 public:
  Joining(Graph& graph, Rewrites& rewrites) : graph_(graph), rewrites_(rewrites) {}

  void block(Block& b) {
    std::vector<Siblings> open;
    for (Node* n : b.nodes()) {
      if (!n->is(Structure::group))
        for (Block* inner : n->blocks()) block(*inner);
      // Whoever reads what members make ends their set.
      std::erase_if(open, [&](const Siblings& s) {
        if (!reads(*n, s)) return false;
        join(s);
        return true;
      });
      if (!is_candidate(*n)) continue;
      auto into =
          std::find_if(open.begin(), open.end(), [&](const Siblings& s) { return fits(s, *n); });
      add(into == open.end() ? open.emplace_back() : *into, n);
    }
    for (const Siblings& s : open) join(s);
  }
  int made() const { return made_; }

 private:
  static bool reads(const Node& n, const Siblings& s) {
    const auto makes = [&](const Value* v) { return s.makes(v); };
    if (std::any_of(n.in().begin(), n.in().end(), makes)) return true;
    if (n.is(Structure::group)) return false;  // reads what it is given
    return std::any_of(n.blocks().begin(), n.blocks().end(), [&](const Block* inner) {
      const Values read = free_values(*inner);
      return std::any_of(read.begin(), read.end(), makes);
    });
  }

  bool is_small(const Shape& shape) const {
    Int n = numel(shape);
    if (!n.known()) n = substitute(n, [&](uint32_t k) { return Int(graph_.symbols()[k].hint); });
    return n.known() && n.value() <= kFewElements;
  }

  /// It runs box by box, and with others there would be more of them.
  static bool moves_elements(const Node& group) {
    const auto& nodes = group.block(0).nodes();
    return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return !pointwise(*n); });
  }

  bool is_candidate(const Node& n) const {
    if (!n.is(Structure::group) && !(pointwise(n) && n.op()->kind == Kind::elementwise))
      return false;
    if (n.out().empty()) return false;  // dead already
    if (n.is(Structure::group) && moves_elements(n)) return false;
    if (effects(n, graph_) != Effects::pure || !is_small(n.out(0)->tensor().shape)) return false;
    bool names_symbols = false;  // a size or a number that something in the block may say
    for_each_int(n.attrs(), [&](Int e) { names_symbols |= !symbols_of(e).empty(); });
    const bool alone = std::none_of(n.in().begin(), n.in().end(), [](const Value* v) {
      return is_kind(v->node(), Kind::contract) || is_kind(v->node(), Kind::reduce);
    });
    const bool reduced = std::any_of(n.out().begin(), n.out().end(), [](const Value* v) {
      return std::any_of(v->uses().begin(), v->uses().end(), [](const Use& u) {
        return is_kind(u.node, Kind::reduce) || is_kind(u.node, Kind::contract);
      });
    });
    return alone && !reduced && !names_symbols;
  }

  /// Are its results those of the block alone? Updates, which may then be written where what they
  /// replace lies, keep among themselves.
  static bool leaves(const Node& n) {
    return std::all_of(n.out().begin(), n.out().end(), [&](const Value* v) {
      return std::all_of(v->uses().begin(), v->uses().end(),
                         [&](const Use& u) { return u.node == n.parent()->end(); });
    });
  }

  static bool fits(const Siblings& s, const Node& n) {
    const TensorType &a = s.members[0]->out(0)->tensor(), &b = n.out(0)->tensor();
    if (!identical(a.shape, b.shape) || a.device != b.device || leaves(*s.members[0]) != leaves(n))
      return false;
    Siblings more = s;
    add(more, const_cast<Node*>(&n));
    return more.inputs.size() + more.outputs <= kMostOperands && more.nodes <= kMostNodes;
  }

  static void add(Siblings& s, Node* n) {
    s.members.push_back(n);
    for (Value* v : n->in())
      if (std::find(s.inputs.begin(), s.inputs.end(), v) == s.inputs.end()) s.inputs.push_back(v);
    s.outputs += n->out().size();
    s.nodes += n->is(Structure::group) ? n->block(0).nodes().size() : 1;
  }

  void join(const Siblings& s) {
    if (s.members.size() < 2 || !rewrites_.allow("join_siblings")) return;
    Values outputs;
    for (const Node* n : s.members) outputs.insert(outputs.end(), n->out().begin(), n->out().end());
    make_group(graph_, s.members, s.members.back(), s.inputs, outputs);
    ++made_;
  }

  Graph& graph_;
  Rewrites& rewrites_;
  int made_ = 0;
};

}  // namespace

int join_siblings(Graph& graph, Rewrites& rewrites) {
  Joining joining(graph, rewrites);
  joining.block(graph.body());
  int made = joining.made();
  for (const auto& f : graph.functions()) {
    Joining inside(*f, rewrites);
    inside.block(f->body());
    made += inside.made();
  }
  return made;
}

}  // namespace lathe::ir
