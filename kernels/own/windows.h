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

  /// Is this less work than panels? lanes: of a vector.
  static bool pay(const Contraction& c, const Addressing& right, absl::Span<const int> columns,
                  const Group& k, int64_t rows, int lanes);

  /// How `columns` (the variables of the output's columns) read `right`; nothing where they read it
  /// in another way, or would stage too much. bytes: of an element.
  static std::optional<WindowLines> of(const Contraction& c, const Addressing& right,
                                       absl::Span<const int> columns, const Group& k, size_t bytes);

  /// Outputs that are computed at once: neighbours of some lines.
  struct Part {
    int64_t line, lines, column, columns;
    int64_t first, apart;  // where the first is, and how far lines are from each other
  };
  int64_t parts() const { return stripes_ * pieces_; }
  Part part(int64_t i) const;
  size_t staged_elements() const;

  /// One product's sums, but for the right side.
  template <class T>
  struct Sums {
    const Tiles<T>& tiles;
    const T* left;  // rows by x_step, terms by k_step
    int64_t x_step, k_step, rows, block;
    T* out;
    int64_t row_step;
  };
  /// Stages in `staged` what the part reads, and adds it up.
  template <class T>
  void run(const Sums<T>& sums, const T* right, const Shift& shift, const Part& part,
           T* staged) const;

 private:
  bool choose_stripe(size_t bytes);
  int64_t slab_step() const { return windows_.rows_of(stripe_) * windows_.row_step(); }

  StagedWindows windows_;
  int64_t stripe_ = 1, stripes_ = 1, piece_ = 0, pieces_ = 0;  // lines and neighbours of a part
  std::vector<int64_t> terms_;  // where each term lies in the staged elements
};

}  // namespace lathe::own
