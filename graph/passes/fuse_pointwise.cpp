// Groups grow down the block: a group stands where its last member stood, so a member may join as
// long as nothing between uses what the group computes. Once something does the group stays where
// it is, and whoever else reads nothing that is made later may still move up into it. That is all
// there is to legality; profit is simple too, as every fused edge saves a round trip through
// memory. One thing saves more: what reads a product runs while the product's elements are in
// registers, so each product of a long sum has a group of its own.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "graph/ir/arguments.h"
#include "graph/passes/make_group.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

constexpr size_t kMostOperands = 24;  // inputs and outputs of a kernel
constexpr size_t kMostNodes = 64;

struct Group {
  Shape domain;
  std::vector<Node*> members;
  absl::flat_hash_set<const Node*> set;
  Node* last = nullptr;         // where it stands
  const Node* ended = nullptr;  // what outside reads what it computes: it stands there for good

  bool has(const Value* v) const { return v->node() != nullptr && set.contains(v->node()); }
};

std::vector<Value*> inputs_of(const Group& g) {
  std::vector<Value*> out;
  absl::flat_hash_set<const Value*> seen;
  for (const Node* n : g.members)
    for (Value* v : n->in())
      if (!g.has(v) && seen.insert(v).second) out.push_back(v);
  return out;
}

std::vector<Value*> outputs_of(const Group& g) {
  std::vector<Value*> out;
  for (const Node* n : g.members)
    for (Value* v : n->out()) {
      bool outside = false;
      for (const Use& u : v->uses()) outside |= !g.set.contains(u.node);
      if (outside) out.push_back(v);
    }
  return out;
}

void add(Group& g, Node* n) {
  g.members.push_back(n);
  g.set.insert(n);
}

/// Of two that the next node joins, too: it is where both stand.
Group joined(Group a, const Group& b) {
  for (Node* n : b.members) add(a, n);
  return a;
}

bool fits(Group g, Node* n) {
  if (g.members.size() >= kMostNodes) return false;
  add(g, n);
  return inputs_of(g).size() + outputs_of(g).size() <= kMostOperands;
}

/// Does the node read a product that nothing else reads?
bool takes_product(const Node* n) {
  return std::any_of(n->in().begin(), n->in().end(), [](const Value* v) {
    return v->node() != nullptr && v->node()->is(Structure::op) &&
           v->node()->op()->kind == Kind::contract && v->uses().size() == 1;
  });
}

/// "exp (model.py:7)"
std::string named(const Node& n) {
  const std::string what(n.is(Structure::op) ? n.op()->name() : name(n.structure()));
  return n.site().known() ? absl::StrCat(what, " (", to_string(n.site()), ")") : what;
}

/// Does it name a size or a number that something in the block may say?
bool names_symbols(const Node& n) {
  bool found = false;
  for_each_int(n.attrs(), [&](Int e) { found = found || !symbols_of(e).empty(); });
  return found;
}

/// The groups of a block, and for each node that is in one, which.
class Groups {
 public:
  explicit Groups(const Block& block) : block_(block) {
    for (const Node* n : block.nodes()) places_.emplace(n, places_.size());
  }

  /// Those that make any of the values, in ascending order, each once.
  std::vector<size_t> making(absl::Span<Value* const> values) const {
    std::vector<size_t> out;
    for (const Value* v : values) {
      auto it = v->node() == nullptr ? at_.end() : at_.find(v->node());
      if (it != at_.end()) out.push_back(it->second);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  void add_to(size_t group, Node* n) {
    add(all_[group], n);
    if (all_[group].ended == nullptr) all_[group].last = n;
    at_[n] = group;
  }
  /// Is all that n reads there where an ended group stands, or made by the group?
  bool may_move_up(const Node& n, const Group& g) const {
    return !names_symbols(n) && std::all_of(n.in().begin(), n.in().end(), [&](const Value* v) {
      return g.has(v) || v->node() == nullptr || v->node()->parent() != &block_ ||
             stands_before(v->node(), g);
    });
  }
  void join(size_t into, size_t from) {
    all_[into] = joined(std::move(all_[into]), all_[from]);
    for (const Node* n : all_[from].members) at_[n] = into;
    all_[from] = {};
  }
  size_t make(Shape domain) {
    all_.push_back({.domain = std::move(domain)});
    return all_.size() - 1;
  }
  Group& operator[](size_t i) { return all_[i]; }
  std::vector<Group> take() { return std::move(all_); }

 private:
  bool stands_before(const Node* n, const Group& g) const {
    if (const auto in = at_.find(n); in != at_.end()) {
      if (all_[in->second].ended == nullptr) return false;  // it may end up anywhere below
      n = all_[in->second].last;
    }
    return places_.at(n) < places_.at(g.last);
  }

  const Block& block_;
  std::vector<Group> all_;
  absl::flat_hash_map<const Node*, size_t> at_, places_;
};

/// Why the node, which reads what the group makes, is no member of it; empty if it may be, for all
/// but the number of its nodes and operands. `into`: the group that it joins already.
std::string obstacle(const Groups& groups, const Group& g, const Node& n, const Group* into) {
  for (const Group* one : {&g, into})
    if (one != nullptr && one->ended != nullptr && (into != nullptr || !groups.may_move_up(n, g)))
      return absl::StrCat(named(*one->ended), " needs what is made there before");
  if (!identical(g.domain, n.out(0)->tensor().shape)) return "it has another shape";
  if (takes_product(&n) && std::any_of(g.members.begin(), g.members.end(), takes_product))
    return "what reads a product runs in that product's registers";
  return {};
}

/// The note of a node that is not in the group that it reads from.
void tell(const Node& n, const Group& g, std::string_view why, Rewrites& rewrites) {
  for (const Value* v : n.in()) {
    if (!g.has(v)) continue;
    rewrites.left(
        absl::StrCat(named(n), " is in another group than ", named(*v->node()), ": ", why));
    return;
  }
}

std::vector<Group> find_groups(Block& block, const Graph& graph, Rewrites& rewrites) {
  Groups groups(block);
  for (Node* n : block.nodes()) {
    bool may_join = pointwise(*n) && effects(*n, graph) == Effects::pure;
    std::optional<size_t> into;
    if (may_join) {
      for (size_t g : groups.making(n->in())) {
        std::string why = obstacle(groups, groups[g], *n, into ? &groups[*into] : nullptr);
        if (why.empty() && !fits(into ? joined(groups[*into], groups[g]) : groups[g], n))
          why = absl::StrCat("a group has at most ", kMostNodes, " ops and ", kMostOperands,
                             " operands");
        if (!why.empty())
          tell(*n, groups[g], why, rewrites);
        else if (into)  // n reads both. Neither reads the other, or that one would have ended.
          groups.join(*into, g);
        else
          into = g;
      }
    }
    // Whoever else n reads from must be computed before n.
    Values read = n->in();
    for (const Block* inner : n->blocks())
      for (Value* v : free_values(*inner)) read.push_back(v);
    for (size_t g : groups.making(read))
      if (into != g && groups[g].ended == nullptr) groups[g].ended = n;
    if (may_join) groups.add_to(into ? *into : groups.make(n->out(0)->tensor().shape), n);
  }
  return groups.take();
}

int fuse(Graph& graph, Block& block, Rewrites& rewrites) {
  int made = 0;
  for (Node* n : block.nodes())
    if (!n->is(Structure::group))
      for (Block* inner : n->blocks()) made += fuse(graph, *inner, rewrites);
  for (const Group& g : find_groups(block, graph, rewrites)) {
    if (g.members.size() < 2 || !rewrites.allow("fuse_pointwise")) continue;
    make_group(graph, g.members, g.last, inputs_of(g), outputs_of(g));
    ++made;
  }
  return made;
}

bool reads_position(const Op& op) {
  for (const ExprNode& n : op.scalar(DType::f32).graph.nodes())
    if (n.prim == Prim::index || n.prim == Prim::linear || n.prim == Prim::random) return true;
  return false;
}

}  // namespace

bool pointwise(const Node& node) {
  if (!node.is(Structure::op)) return false;
  const Op& op = *node.op();
  for (const Value* v : node.out())
    if (v->type().tensor() == nullptr || is_complex(v->tensor().dtype)) return false;
  for (const Value* v : node.in())
    if (v->type().tensor() != nullptr && is_complex(v->tensor().dtype)) return false;
  if (op.kind == Kind::elementwise) return true;
  return op.kind == Kind::create && !reads_position(op);
}

int fuse_pointwise(Graph& graph, Rewrites& rewrites) {
  int made = fuse(graph, graph.body(), rewrites);
  for (const auto& f : graph.functions()) made += fuse(*f, f->body(), rewrites);
  return made;
}

}  // namespace lathe::ir
