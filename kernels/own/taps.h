// Sums over the places of windows, as a convolution's gradient by weight is: each output is a tap,
// and the terms of its sum are places.
//
// Panels of the windowed side would hold every element once a tap. Here a block of terms is staged
// (staged.h): an element then lies at the sum of its tap's place and its term's, so that a tile
// takes taps as its rows straight from there, and the other side's rows as its lanes. Where that
// side has too few of them (a depthwise convolution has one) the lanes are neighbouring products:
// both sides are interleaved, and each tap is a load.
#pragma once

#include <optional>

#include "kernels/own/staged.h"
#include "kernels/problem/epilogue.h"

namespace lathe::own {

class WindowTaps {
 public:
  /// Nothing where the right side's windows are not what is summed over.
  static std::optional<WindowTaps> of(const Sides& sides, size_t bytes);

  /// All that run() needs of the product.
  template <class T>
  struct Sums {
    const Tiles<T>& tiles;
    const Side& left_side;
    const T *left, *right;
    T* out;
    int64_t rows, columns, depth, block;  // of one product; terms to a chain
    const Epilogue& epilogue;
  };
  /// One product, or the first of those that are lanes, and how far apart these are.
  struct At {
    Shift left, right;
    int64_t out;
    int64_t right_step = 0, out_step = 0;
  };
  /// How many products lie beside each other as lanes: 1 if none do.
  int64_t products() const { return across_products_ ? repeats_ : 1; }
  /// Tasks of so many products, each with a place of its own in the outputs.
  int64_t tasks() const {
    return across_products_ ? (repeats_ + lanes_ - 1) / lanes_ : row_blocks_ * slab_blocks_;
  }
  size_t elements(int64_t block) const;
  template <class T>
  void run(const Sums<T>& sums, const At& at, int64_t task, T* room) const;

 private:
  /// A stretch of terms that is staged together, from a row on.
  struct Band {
    int64_t other;  // the index of the variables that are no places
    StagedWindows::Part part;
    int64_t row;
  };
  using Bands = absl::InlinedVector<Band, 16>;
  struct Task;

  bool find_others(const Sides& sides, absl::Span<const int> vars);
  bool find_slabs(size_t bytes);
  void choose_blocks(const Sides& sides, size_t bytes);
  Bands bands(int64_t k, int64_t depth, int64_t* places) const;
  int64_t taps() const { return static_cast<int64_t>(windows_.taps().size()); }
  int64_t slab_taps() const { return taps() / static_cast<int64_t>(windows_.slabs().size()); }
  int64_t slab_elements() const { return rows_ * windows_.row_step(); }

  template <class T>
  void stage(const Sums<T>& sums, const Shift& at, const Bands& bands, size_t slab, T* to) const;
  template <class T>
  void stage_lanes(const Sums<T>& sums, const At& at, const Bands& bands, size_t slab,
                   int64_t first, int count, T* apart, T* to) const;
  template <class T>
  void sum_rows(const Sums<T>& sums, const At& at, const Task& task, T* room) const;
  template <class T>
  void sum_lanes(const Sums<T>& sums, const At& at, const Task& task, T* room) const;
  void place_taps(int64_t slab, int64_t slabs, int64_t scale, int64_t* places) const;

  StagedWindows windows_;
  std::vector<int64_t> other_offsets_;               // of the right side, by index
  std::vector<std::vector<int64_t>> other_windows_;  // and what they add to each window
  int64_t rows_ = 0;                                 // of a slab, staged, at most
  int64_t row_block_ = 0, row_blocks_ = 1, slab_block_ = 0, slab_blocks_ = 1, chunk_ = 1;
  int width_ = 0, lanes_ = 0;
  bool across_products_ = false;
  int64_t repeats_ = 1;
  Side repeated_left_;                // across products: their elements of the left side
  std::vector<int64_t> row_offsets_;  // and where each of its rows is
};

}  // namespace lathe::own
