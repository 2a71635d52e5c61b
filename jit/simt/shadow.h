// What the simulator keeps of every few bytes of memory: who wrote them last and who has read them,
// as far as that may clash with what is still to come.
#pragma once

#include <absl/types/span.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace lathe::jit::simt {

/// One access: which thread of which block, after so many barriers, by which statement.
struct Toucher {
  int32_t block = -1, thread = 0, epoch = 0, statement = 0;

  bool valid() const { return block >= 0; }
  bool same_thread(const Toucher& o) const { return block == o.block && thread == o.thread; }
  /// Is there neither one thread nor a barrier that puts one before the other?
  bool races(const Toucher& o) const {
    if (!valid()) return false;
    return block != o.block || (thread != o.thread && epoch == o.epoch);
  }
};

/// Of memory that lies in one piece, in grains of some bytes.
class Shadow {
 public:
  Shadow() = default;
  Shadow(const std::byte* begin, size_t bytes, size_t grain)
      : begin_(begin), grain_(grain), cells_((bytes + grain - 1) / grain) {}

  bool holds(const std::byte* at) const {
    return at >= begin_ && at < begin_ + cells_.size() * grain_;
  }
  /// Whom this access races with, if with anyone; then it is kept.
  std::optional<Toucher> read(const std::byte* at, size_t bytes, const Toucher& me) {
    std::optional<Toucher> other;
    each(at, bytes, [&](Cell& c) {
      if (c.write.races(me)) other = c.write;
      // Of two other readers of this block one is enough; one of another block stays.
      const bool keep =
          c.reads[1].valid() && c.reads[1].block != me.block && c.reads[0].block == me.block;
      if (!keep && !c.reads[0].same_thread(me)) c.reads[1] = c.reads[0];
      c.reads[0] = me;
    });
    return other;
  }
  std::optional<Toucher> write(const std::byte* at, size_t bytes, const Toucher& me) {
    std::optional<Toucher> other;
    each(at, bytes, [&](Cell& c) {
      for (const Toucher& t : {c.write, c.reads[0], c.reads[1]})
        if (t.races(me)) other = t;
      c.write = me;
      c.written = true;
    });
    return other;
  }
  bool written(const std::byte* at, size_t bytes) {
    bool all = true;
    each(at, bytes, [&](Cell& c) { all = all && c.written; });
    return all;
  }
  /// Another phase: all that was done is before what comes.
  void settle() {
    for (Cell& c : cells_) c = {{}, {}, c.written};
  }
  /// Another block's.
  void clear() { cells_.assign(cells_.size(), {}); }

 private:
  struct Cell {
    Toucher write;
    Toucher reads[2];
    bool written = false;
  };
  template <class F>
  void each(const std::byte* at, size_t bytes, const F& f) {
    const auto from = static_cast<size_t>(at - begin_);
    for (size_t k = from / grain_; k <= (from + bytes - 1) / grain_; ++k) f(cells_[k]);
  }

  const std::byte* begin_ = nullptr;
  size_t grain_ = 1;
  std::vector<Cell> cells_;
};

}  // namespace lathe::jit::simt
