#include "graph/passes/dead_results.h"

#include <algorithm>

#include "graph/passes/carried.h"

namespace lathe::ir {
namespace {

/// What is needed inside of a loop, from its used results and its effects backwards.
class Needed {
 public:
  Needed(const Node& loop, const Graph& graph, const absl::flat_hash_set<const Node*>& saying)
      : loop_(loop), live_(loop.out().size()) {
    for (const SymbolSource& s : graph.sources()) {
      if (s.value == nullptr) continue;
      for (size_t k = 0; k < live_.size(); ++k)
        if (s.value == carried_parameter(loop, k) || s.value == loop.out(k)) result(k);
    }
    for (size_t k = 0; k < live_.size(); ++k)
      if (loop.out(k)->used()) result(k);
    if (loop.is(Structure::while_)) value(loop.block(0).yields()[0]);
    for (const Block* b : loop.blocks())
      for (const Node* n : b->nodes())
        if (saying.contains(n) || effects(*n, graph) != Effects::pure) operands(*n);
  }

  std::vector<bool> take() {
    while (!open_.empty()) {
      const Value* v = open_.back();
      open_.pop_back();
      for (size_t k = 0; k < live_.size(); ++k)
        if (v == carried_parameter(loop_, k)) result(k);
      if (v->node() != nullptr && v->node()->parent()->owner() == &loop_) operands(*v->node());
    }
    return std::move(live_);
  }

 private:
  void result(size_t k) {
    if (live_[k]) return;
    live_[k] = true;
    value(carried_next(loop_, k));
  }
  void operands(const Node& n) {
    for (const Value* v : n.in()) value(v);
    for (const Block* b : n.blocks())
      for (const Value* v : free_values(*b)) value(v);
  }
  void value(const Value* v) {
    if (seen_.insert(v).second) open_.push_back(v);
  }

  const Node& loop_;
  std::vector<bool> live_;
  absl::flat_hash_set<const Value*> seen_;
  std::vector<const Value*> open_;
};

}  // namespace

std::vector<bool> dead_results(const Node& structure, const Graph& graph,
                               const absl::flat_hash_set<const Node*>& saying) {
  std::vector<bool> out(structure.out().size());
  const bool all_used = std::all_of(structure.out().begin(), structure.out().end(),
                                    [](const Value* v) { return v->used(); });
  if (all_used) return out;
  if (is_loop(structure)) {
    const std::vector<bool> live = Needed(structure, graph, saying).take();
    for (size_t k = 0; k < out.size(); ++k) out[k] = !live[k];
  } else if (structure.is(Structure::if_) && !saying.contains(&structure)) {
    for (size_t k = 0; k < out.size(); ++k) out[k] = !structure.out(k)->used();
  }
  return out;
}

}  // namespace lathe::ir
