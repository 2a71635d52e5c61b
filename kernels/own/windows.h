// A few rows against windows of their right side, as a depthwise convolution is: the windows are
// read where they lie, since panels would cost as much as the sums.
//
// The two innermost column variables are the places of the outputs: lines (down) of neighbours
// (across), each moved along one window. A stripe of lines is computed at once. What it reads is
// staged first, with zeros where windows leave the operand: for each of the operand's slabs (what
// the summed variables move besides those two windows, such as channels) some rows, each split
// by the remainder of its coordinate by the step across. After that every term of the sum is a
// constant distance in the staged elements from an output's place, and no edge is left to ask for.
#pragma once

#include <optional>

#include "kernels/own/side.h"
#include "kernels/problem/epilogue.h"

namespace lathe::own {

class WindowLines {
 public:
  static constexpr int kMostRows = 4;

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
  /// A window that one column variable moves.
  struct Axis {
    int64_t extent = 1, step = 1;  // of the variable
    int64_t base = 0;              // the least coordinate that any term adds, the window's included
    int64_t span = 1;              // from there to the greatest
    int64_t size = 1, stride = 0;  // of the operand
    int window = -1;               // its number; -1: there is none
  };
  struct Slab {
    int64_t offset;
    absl::InlinedVector<int64_t, 2> coordinates;  // of the windows that columns do not move
    friend bool operator==(const Slab&, const Slab&) = default;
  };
  bool add_axes(const Contraction& c, const Addressing& right, absl::Span<const int> columns);
  bool add_terms(const Contraction& c, const Addressing& right, const Group& k, size_t bytes);
  bool choose_stripe(size_t bytes);
  int64_t rows_of(int64_t lines) const { return (lines - 1) * down_.step + down_.span; }
  int64_t slab_step() const { return rows_of(stripe_) * row_step_; }
  template <class T>
  void stage_slab(const Tiles<T>& tiles, const T* right, const Shift& shift, const Slab& slab,
                  const Part& part, T* to) const;

  Axis down_, across_;
  int64_t stripe_ = 1, stripes_ = 1, piece_ = 0, pieces_ = 0;  // lines and neighbours of a part
  int64_t phase_step_ = 0, row_step_ = 0;                      // in staged elements
  std::vector<Window> far_;                                    // moved by no column
  std::vector<int> far_numbers_;
  std::vector<Slab> slabs_;
  std::vector<int64_t> terms_;  // where each term lies in the staged elements
};

}  // namespace lathe::own
