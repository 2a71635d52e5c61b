// One operand of a contraction as one side of a matrix product: its elements by (x, k), x being the
// row of the left side or the column of the right one, and the copying of them into the panels that
// tiles read.
//
// Where an operand is plainly strided along both, packing is a copy or a transposition. Otherwise
// the innermost variables decide. If the innermost k moves no window (channels of a convolution),
// lanes keep their places for a whole run of k: the stretches of lanes that lie evenly are found
// once a run (Stretch), then copied k by k. If it does (the sum over pixels of a gradient by
// weight), each x is copied into a row along k, and the rows turned.
#pragma once

#include <vector>

#include "kernels/own/tiles.h"
#include "kernels/problem/contraction.h"

namespace lathe::own {

/// An index made of several variables, flattened in row-major order.
class Group {
 public:
  Group() = default;
  Group(const Contraction& c, absl::Span<const int> vars);
  int64_t extent() const { return extent_; }
  absl::Span<const int> vars() const { return vars_; }  // of extent > 1
  /// Sum of step[var] * index of var, for each flattened index.
  void contributions(const Contraction& c, absl::Span<const int64_t> step,
                     std::vector<int64_t>& out) const;
  /// The one stride that gives the same, if there is one.
  bool linear(const Contraction& c, absl::Span<const int64_t> step, int64_t& stride) const;

 private:
  absl::InlinedVector<int, 6> vars_;
  int64_t extent_ = 1;
};

/// Where the batch indices put one product.
struct Shift {
  int64_t offset = 0;
  absl::InlinedVector<int64_t, 2> windows;  // coordinate added, by window
};

/// Neighbouring x whose elements lie evenly, for one k: x in [first, first + count) is at from + i
/// * step; elsewhere in the asked range it is outside.
struct Stretch {
  int64_t from, step;
  int first, count;
};

class Side {
 public:
  Side() = default;
  Side(const Contraction& c, const Addressing& access, const Group& x, const Group& k);

  int64_t extent() const { return extent_; }
  size_t windows() const { return coordinates_.size(); }
  /// Plainly strided along both: element (x, k) is at x*x_step() + k*k_step().
  bool plain() const { return plain_; }
  int64_t x_step() const { return x_step_; }
  int64_t k_step() const { return k_step_; }
  /// Packing is far cheaper for all k at once than for some.
  bool best_whole() const { return !places_.empty(); }
  /// Finds now, once for all calls, what packing panels `width` wide would look for in each: where
  /// neighbours lie evenly. For a side whose windows no batch index moves.
  void remember_runs(int width);
  /// Extent of the innermost variable of x: within a multiple of it, addresses move evenly.
  int64_t inner_x() const { return inner_x_; }

  /// to[k*width + x] for x in [x0, x0 + valid), k in [k0, k0 + depth); lanes from valid to width
  /// are 0.
  template <class T>
  void pack(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
            int width, int64_t k0, int64_t depth, T* to) const;

  /// What of [x, x + n), all in one multiple of inner_x(), is inside at this k. False if it does
  /// not lie evenly (a divided coordinate).
  bool stretch(const Shift& shift, int64_t x, int n, int64_t k, Stretch& s) const;

 private:
  struct Coordinate {
    Window window;
    std::vector<int64_t> x, k;  // parts of the numerator
    int64_t inner_x = 0;        // what a step of the innermost x adds, and of the innermost k
    int64_t inner_k = 0;
  };

  template <class T>
  void pack_plain(const Tiles<T>& tiles, const T* from, int valid, int width, int64_t k_step,
                  int64_t depth, T* to) const;
  template <class T>
  void pack_straight(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                     int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void pack_lanes(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                  int width, int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void pack_rows(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                 int width, int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void pack_table(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                  int64_t k0, int64_t depth, T* to) const;
  void find_places(const Contraction& c, const Addressing& access, const Group& k);
  /// Which way elements are packed, where they are not plainly strided.
  enum class Way { straight, table, rows, lanes };
  Way way() const;
  int find_runs(const Shift& shift, int64_t x0, int valid, int64_t k, LaneRun* runs) const;
  int find_single(const Shift& shift, int64_t x, int n, int lane, int64_t k, LaneRun* runs) const;

  int64_t extent_ = 1;
  bool plain_ = false, straight_x_ = false;
  int64_t x_step_ = 0, k_step_ = 0;
  std::vector<int64_t> x_at_, k_at_;  // offsets, when not plain
  /// Where all k lie side by side, but in another order: which k each element is.
  std::vector<int64_t> places_;
  std::vector<Coordinate> coordinates_;
  // The innermost k: `run_` of them in a row, apart by run_step_, with the same coordinates.
  int64_t run_ = 1, run_step_ = 0;
  // The innermost variable of x and of k: extent, and what a step of it adds to the offset.
  int64_t inner_x_ = 1, inner_x_step_ = 0, inner_k_ = 1, inner_k_step_ = 0;
  bool no_rows_ = false;  // coordinates are divided, or go down along k: pack_rows() cannot copy
  /// By panel and run of k: its lane runs are those from first[i] to first[i + 1].
  struct Remembered {
    int width = 0;
    int64_t per_panel = 0;
    std::vector<int32_t> first;
    std::vector<LaneRun> runs;
  };
  Remembered remembered_;
};

}  // namespace lathe::own
