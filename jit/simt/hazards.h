// Who has touched which memory since the last barrier: where the next one has to stand.
#pragma once

#include <algorithm>
#include <vector>

#include "jit/kernel_ir/same_place.h"

namespace lathe::jit::simt {

/// Which thread touches which element.
enum class Who : uint8_t {
  threads,  // thread j mod `threads` position j of the inner axis
  halves,   // a half-warp 512 positions of it
  leaders,  // the first lane of each half-warp an element of its own
  first,    // thread 0 all
  every,    // every thread all
};

struct Touch {
  int memory;
  Who who;
  bool writes;
  IndexMap map = {};  // of `threads`: which element of the memory a position is
};

/// Might two threads touch the same element, and one of them write it?
inline bool clash(const Touch& a, const Touch& b) {
  if (a.memory != b.memory || !(a.writes || b.writes)) return false;
  const bool alone = a.who == Who::first || a.who == Who::leaders ||
                     (a.who == Who::threads && same_place(a.map, b.map));
  return a.who != b.who || !alone;
}

class Hazards {
 public:
  /// Whether a barrier has to stand before touches like these, which are not apart by one
  /// themselves.
  bool clash_with(const std::vector<Touch>& next) const { return any_clash(since_, next); }
  void add(const std::vector<Touch>& next) {
    since_.insert(since_.end(), next.begin(), next.end());
    if (!met_) first_.insert(first_.end(), next.begin(), next.end());
  }
  void barrier() {
    since_.clear();
    met_ = true;
  }
  /// Of what is done again and again: would the next round's first touches clash with the last
  /// ones of this round?
  bool clash_around(const std::vector<int>& memories) const {
    std::vector<Touch> kept;
    for (const Touch& t : since_)
      if (std::find(memories.begin(), memories.end(), t.memory) != memories.end())
        kept.push_back(t);
    return any_clash(kept, first_);
  }
  void restart() { *this = {}; }

 private:
  static bool any_clash(const std::vector<Touch>& a, const std::vector<Touch>& b) {
    for (const Touch& x : a)
      for (const Touch& y : b)
        if (clash(x, y)) return true;
    return false;
  }

  std::vector<Touch> since_;  // the last barrier
  std::vector<Touch> first_;  // before the first one
  bool met_ = false;
};

}  // namespace lathe::jit::simt
