// One operand of a contraction as one side of a matrix product: its elements by (x, k), x being the
// row of the left side or the column of the right one, and the copying of them into the panels that
// tiles read.
#pragma once

#include <vector>

#include "kernels/contraction.h"
#include "kernels/own/tiles.h"

namespace lathe::own {

/// An index made of several variables, flattened in row-major order.
class Group {
 public:
  Group() = default;
  Group(const Contraction& c, absl::Span<const int> vars);
  int64_t extent() const { return extent_; }
  const std::vector<int>& vars() const { return vars_; }  // of extent > 1
  /// Sum of step[var] * index of var, for each flattened index.
  void contributions(const Contraction& c, absl::Span<const int64_t> step,
                     std::vector<int64_t>& out) const;
  /// The one stride that gives the same, if there is one.
  bool linear(const Contraction& c, absl::Span<const int64_t> step, int64_t& stride) const;

 private:
  std::vector<int> vars_;
  int64_t extent_ = 1;
};

/// Where the batch indices put one product.
struct Shift {
  int64_t offset = 0;
  absl::InlinedVector<int64_t, 2> windows;  // coordinate added, by window
};

class Side {
 public:
  Side() = default;
  Side(const Contraction& c, const Addressing& access, const Group& x, const Group& k);

  int64_t extent() const { return extent_; }
  /// Plainly strided along both: element (x, k) is at x*x_step() + k*k_step().
  bool plain() const { return plain_; }
  int64_t x_step() const { return x_step_; }
  int64_t k_step() const { return k_step_; }
  size_t windows() const { return coordinates_.size(); }

  /// to[k*width + x] for x in [x0, x0 + valid), k in [k0, k0 + depth); lanes from valid to width
  /// are 0.
  template <class T>
  void pack(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
            int width, int64_t k0, int64_t depth, T* to) const;

 private:
  struct Coordinate {
    Window window;
    std::vector<int64_t> x, k;  // parts of the numerator
  };

  template <class T>
  void pack_plain(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                  int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void pack_lanes(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                  int width, int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void pack_rows(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                 int width, int64_t k0, int64_t depth, T* to) const;
  template <class T>
  void fill_row(const T* base, const Shift& shift, int64_t x, int64_t k0, int64_t depth,
                T* row) const;

  int64_t extent_ = 1;
  bool plain_ = false;
  int64_t x_step_ = 0, k_step_ = 0;
  std::vector<int64_t> x_at_, k_at_;  // offsets, when not plain
  std::vector<Coordinate> coordinates_;
  // The innermost k: `run_` of them in a row, apart by run_step_, with the same coordinates.
  int64_t run_ = 1, run_step_ = 0;
  // Where run_ is 1: the innermost variable's extent, and what a step of it adds to each
  // coordinate.
  int64_t inner_ = 1;
};

}  // namespace lathe::own
