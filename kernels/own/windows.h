// A few rows against windows of their right side, as a depthwise convolution is, or one of few
// channels: the windows are read where they lie, since panels would cost as much as the sums.
//
// The two innermost column variables are the places of the outputs. A stripe of lines is computed
// at once, from what its windows read of each slab, staged first: every term of the sum is then a
// constant distance in the staged elements from an output's place.
#pragma once

#include <optional>

#include "kernels/own/staged.h"

namespace lathe::own {

class WindowLines {
 public:
  static constexpr int kMostRows = 64;

  /// Is this less work than panels?
  static bool pay(const Sides& sides);

  /// How the output's columns read the right side; nothing where they read it in another way, or
  /// would stage too much. bytes: of an element.
  static std::optional<WindowLines> of(const Sides& sides, size_t bytes);

  /// Outputs that are computed at once: neighbours of some lines.
  struct Part {
    int64_t line, lines, column, columns;
    int64_t first, apart;  // where the first is, and how far lines are from each other
  };
  int64_t parts() const { return stripes_ * pieces_; }
  Part part(int64_t i) const;

  /// Products lie beside each other in so many groups, of `together` at most. Several are computed
  /// at once where planes are small: each would cost more to begin with than to sum.
  int64_t beside() const { return beside_; }
  int64_t together() const { return together_; }
  int64_t groups() const { return (beside_ + together_ - 1) / together_; }

  /// What a thread stages in, with room for staged_elements().
  template <class T>
  struct Room {
    T* staged;
    int64_t count = 0;                        // of products
    std::vector<StagedWindows::Edges> known;  // of each slab, as it was staged last
  };
  size_t staged_elements() const;

  /// A group of products.
  template <class T>
  struct Sums {
    const Tiles<T>& tiles;
    const T *left, *right;
    Shift at;  // of the right side's first
    T* out;
    int64_t x_step, k_step, left_step;  // from row to row, term to term, product to product
    int64_t row_step, out_step;
    int64_t rows, block, count;
  };
  /// Stages what the part reads, and adds it up.
  template <class T>
  void run(const Sums<T>& sums, const Part& part, Room<T>& room) const;

 private:
  bool choose_stripe(size_t bytes);
  void choose_group(const Sides& sides, size_t bytes);
  int64_t slabs() const { return static_cast<int64_t>(windows_.slabs().size()); }
  int64_t slab_step() const { return windows_.rows_of(stripe_) * windows_.row_step(); }

  StagedWindows windows_;
  int64_t stripe_ = 1, stripes_ = 1, piece_ = 0, pieces_ = 0;  // lines and neighbours of a part
  int64_t beside_ = 1, together_ = 1, right_step_ = 0;         // products
  std::vector<int64_t> terms_;  // where each term lies in the staged elements
};

}  // namespace lathe::own
