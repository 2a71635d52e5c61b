#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

/// Equal text, equal node. Values by identity; tensors among the literals too.
std::string key_of(const Node& n) {
  std::string key = absl::StrCat(n.is(Structure::constant) ? "constant" : n.op()->name());
  for (const Arg& a : n.attrs().view()) {
    if (a.tag == Tag::tensor)
      absl::StrAppend(&key, " t", reinterpret_cast<uintptr_t>(a.tensor_));
    else
      absl::StrAppend(&key, " ", static_cast<int>(a.tag), ":", to_string(a));
  }
  for (size_t i = 0; i < n.in().size(); ++i)
    absl::StrAppend(&key, " v", reinterpret_cast<uintptr_t>(n.in(i)), "@", n.places()[i].param, ".",
                    n.places()[i].element);
  return key;
}

int merge(Graph& graph, Block& block) {
  int merged = 0;
  absl::flat_hash_map<std::string, Node*> seen;
  for (Node* n : block.nodes()) {
    for (Block* inner : n->blocks()) merged += merge(graph, *inner);
    bool candidate = n->is(Structure::op) || n->is(Structure::constant);
    if (!candidate || effects(*n, graph) == Effects::ordered) continue;
    auto [it, fresh] = seen.try_emplace(key_of(*n), n);
    if (fresh) continue;
    graph.replace(n, it->second->out());
    ++merged;
  }
  return merged;
}

}  // namespace

int merge_common(Graph& graph) { return merge(graph, graph.body()); }

}  // namespace lathe::ir
