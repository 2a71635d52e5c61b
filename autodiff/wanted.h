// What a grad() asks for, and the part of history that leads there.
//
// As in PyTorch that part alone is gone through: no hook elsewhere is called, and nothing elsewhere
// is released, so that another gradient may go there.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <atomic>
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
    if (answer(node) & kHere) gradients_.find(&node)->second = dys;
  }

  /// Is something wanted there, or further on?
  bool at_or_behind(const Edge& e) const { return e.node && (answer(*e.node) & (kHere | kBehind)); }
  /// Does what the node read lead to what is wanted?
  bool behind(const TapeNode& node) const { return answer(node) & kBehind; }

 private:
  static constexpr uint64_t kBehind = 1, kHere = 2;
  static constexpr int kBits = 2;

  /// A number that no other has had, above the answer.
  static uint64_t next() {
    static constinit std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// Each node is asked once, and keeps the answer until somebody else asks it.
  uint64_t answer(const TapeNode& node) const {
    const uint64_t known = node.led.load(std::memory_order_relaxed);
    return known >> kBits == mine_ ? known : ask(node);
  }

  /// The walk keeps a stack of its own: histories are long.
  uint64_t ask(const TapeNode& node) const {
    absl::InlinedVector<std::pair<const TapeNode*, size_t>, 16> path{{&node, 0}};  // with the slot
    bool found = false;  // at the node that was left last, or behind it
    while (true) {
      auto& [at, slot] = path.back();
      const TapeNode* unknown = nullptr;
      while (!found && unknown == nullptr && slot < at->next.size()) {
        const TapeNode* next = at->next[slot++].node.get();
        if (next == nullptr) continue;
        const uint64_t known = next->led.load(std::memory_order_relaxed);
        if (known >> kBits != mine_)
          unknown = next;
        else
          found = known & (kHere | kBehind);
      }
      if (unknown != nullptr) {
        path.emplace_back(unknown, 0);
        continue;
      }
      const uint64_t said =
          mine_ << kBits | (gradients_.contains(at) ? kHere : 0) | (found ? kBehind : 0);
      at->led.store(said, std::memory_order_relaxed);
      path.pop_back();
      if (path.empty()) return said;
      found = said & (kHere | kBehind);
    }
  }

  const uint64_t mine_ = next();
  absl::flat_hash_map<const TapeNode*, Tensors> gradients_;
};

}  // namespace lathe
