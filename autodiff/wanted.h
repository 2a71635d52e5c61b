// What a grad() asks for, and the part of history that leads there.
//
// As in PyTorch that part alone is gone through: no hook elsewhere is called, and nothing elsewhere
// is released, so that another gradient may go there.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <utility>

#include "autodiff/tape.h"

namespace lathe {

class Wanted {
 public:
  void add(const Edge& e) {
    if (e.node) gradients_[e.node.get()].resize(e.node->y_types.size());
  }
  /// What nothing leads to has an undefined one.
  Tensor gradient(const Edge& e) const {
    const auto it = gradients_.find(e.node.get());
    return it == gradients_.end() ? Tensor() : it->second[e.output];
  }
  void arrived(const TapeNode& node, const Tensors& dys) {
    if (auto it = gradients_.find(&node); it != gradients_.end()) it->second = dys;
  }

  /// Is something wanted there, or further on?
  bool at_or_behind(const Edge& e) {
    return e.node && (gradients_.contains(e.node.get()) || behind(*e.node));
  }

  /// Does what the node read lead to what is wanted? Asked once for each node. The walk keeps a
  /// stack of its own: histories are long.
  bool behind(const TapeNode& node) {
    absl::InlinedVector<std::pair<const TapeNode*, size_t>, 16> path{{&node, 0}};  // with the slot
    bool found = false;  // behind the node that was left last
    while (!path.empty()) {
      auto& [at, slot] = path.back();
      const TapeNode* below = nullptr;
      const auto it = slot == 0 ? known_.find(at) : known_.end();
      if (it != known_.end() && it->second.first == at->sequence) {
        found = it->second.second;
      } else {
        while (!found && below == nullptr && slot < at->next.size()) {
          const TapeNode* next = at->next[slot++].node.get();
          found = next != nullptr && gradients_.contains(next);
          if (next != nullptr && !next->is_leaf()) below = next;
        }
        if (found || below == nullptr) known_[at] = {at->sequence, found};
      }
      if (!found && below != nullptr)
        path.emplace_back(below, 0);
      else
        path.pop_back();
    }
    return found;
  }

 private:
  absl::flat_hash_map<const TapeNode*, Tensors> gradients_;
  /// By node: the answer, and when the node was made: the part of a composite may lie where one lay
  /// that is gone.
  absl::flat_hash_map<const TapeNode*, std::pair<uint64_t, bool>> known_;
};

}  // namespace lathe
