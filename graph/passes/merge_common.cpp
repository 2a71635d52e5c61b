#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "graph/ir/literal.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

/// A literal as a key has it: sizes by identity, as equal ones are one expression.
void add_literal(std::string& key, const Arg& a) {
  if (a.tag == Tag::integer) {
    absl::StrAppend(&key, " i", a.integer().word());
  } else if (a.tag == Tag::list) {
    absl::StrAppend(&key, " [");
    for (size_t i = 0; i < a.list_->size; ++i) add_literal(key, a.list_->data[i]);
    absl::StrAppend(&key, "]");
  } else if (a.tag == Tag::function) {
    absl::StrAppend(&key, " f", reinterpret_cast<uintptr_t>(a.function_));
  } else {
    absl::StrAppend(&key, " ", static_cast<int>(a.tag), ":", literal_text(a));
  }
}

/// Equal text, equal node. Values by identity; tensors among the literals too.
std::string key_of(const Node& n) {
  std::string key = absl::StrCat(n.is(Structure::constant) ? "constant" : n.op()->name());
  if (n.detached()) key += " detached";
  for (const Arg& a : n.attrs().view()) {
    if (a.tag == Tag::tensor && writes_inline(a.tensor()))
      absl::StrAppend(&key, " ", lathe::to_string(type_of(a.tensor())), elements_text(a.tensor()));
    else if (a.tag == Tag::tensor)
      absl::StrAppend(&key, " t", reinterpret_cast<uintptr_t>(a.tensor_));
    else
      add_literal(key, a);
  }
  for (size_t i = 0; i < n.in().size(); ++i)
    absl::StrAppend(&key, " v", reinterpret_cast<uintptr_t>(n.in(i)), "@", n.places()[i].param, ".",
                    n.places()[i].element);
  return key;
}

using Nodes = absl::flat_hash_set<const Node*>;
using Seen = absl::flat_hash_map<std::string, Node*>;

/// `seen` holds what this block and those around it have computed by now.
int merge(Graph& graph, Block& block, const Nodes& saying, Seen seen, Rewrites& rewrites) {
  int merged = 0;
  for (Node* n : block.nodes()) {
    for (Block* inner : n->blocks())
      merged += merge(graph, *inner, saying, n->is(Structure::group) ? Seen() : seen, rewrites);
    bool candidate = n->is(Structure::op) || n->is(Structure::constant);
    if (!candidate || saying.contains(n) || effects(*n, graph) == Effects::ordered) continue;
    auto [it, fresh] = seen.try_emplace(key_of(*n), n);
    if (fresh || !rewrites.allow("merge_common")) continue;
    graph.replace(n, it->second->out());
    ++merged;
  }
  return merged;
}

}  // namespace

int merge_common(Graph& graph, Rewrites& rewrites) {
  int merged = merge(graph, graph.body(), symbol_nodes(graph), {}, rewrites);
  for (const auto& f : graph.functions())
    merged += merge(*f, f->body(), symbol_nodes(*f), {}, rewrites);
  return merged;
}

}  // namespace lathe::ir
