// What the windows of an operand read, staged: copied with zeros where windows leave the operand,
// so that no edge is left to ask for.
//
// A windowed axis adds two variables, "y*stride + i*dilation - padding": a place (y) and a tap (i).
// At most two places move along windows, lines (down) of neighbours (across). What lies apart
// otherwise (channels, the third axis of a window) is a slab. A slab is staged as rows, each split
// by the remainder of its coordinate by the step across, its phases: then every tap is a constant
// distance in the staged elements from any place.
#pragma once

#include "kernels/own/side.h"

namespace lathe::own {

/// A product's sides, and the variables in each role.
struct Sides {
  const Contraction& c;
  const Addressing &left, &right;
  const Group &rows, &columns, &terms;
  int repeat = -1;  // the innermost variable over which products are repeated; -1: none
  int lanes, tile_lanes, tile_rows;  // of a vector, of a tile
  /// How many products lie beside each other, each a step from the last: 1 if windows move as well.
  int64_t beside() const;
};

class StagedWindows {
 public:
  /// A window that one place moves.
  struct Axis {
    int64_t extent = 1, step = 1;  // of the place
    int64_t base = 0;              // the least coordinate that any tap adds, the window's included
    int64_t span = 1;              // from there to the greatest
    int64_t size = 1, stride = 0;  // of the operand
    int window = -1;               // its number; -1: there is none
  };
  struct Slab {
    int64_t offset;
    absl::InlinedVector<int64_t, 2> coordinates;  // of the windows that no place moves alone
    friend bool operator==(const Slab&, const Slab&) = default;
  };
  /// Where a tap reads: which slab, and how far in it from a place.
  struct Tap {
    size_t slab;
    int64_t at;
  };
  /// Neighbouring places that are staged together.
  struct Part {
    int64_t line, lines, column, columns;
  };

  /// The axes that `places` move, at most two, the innermost last; false if they move anything
  /// else.
  bool find_axes(const Contraction& c, const Addressing& access, absl::Span<const int> places);
  /// Slabs and taps, of elements of so many bytes; a row is made for `columns` neighbours at most.
  /// False if there would be more slabs than `most`.
  bool find_taps(const Contraction& c, const Addressing& access, const Group& taps, int64_t columns,
                 size_t bytes, size_t most);

  const Axis& down() const { return down_; }
  const Axis& across() const { return across_; }
  absl::Span<const Slab> slabs() const { return slabs_; }
  absl::Span<const Tap> taps() const { return taps_; }
  /// Elements from row to row, and rows that so many lines read.
  int64_t row_step() const { return row_step_; }
  int64_t rows_of(int64_t lines) const { return (lines - 1) * down_.step + down_.span; }
  /// Elements that may be read past the end of what is staged.
  static constexpr size_t kPast = 16;

  /// Products beside each other whose slabs are staged together: from one to the next, in the
  /// operand and in what is staged.
  struct Beside {
    int64_t count = 1, from_step = 0, to_step = 0;
  };
  /// Which of so many staged rows are zeros; of the others, elements in [low, high) are not.
  struct Edges {
    int64_t rows, above, last, low, high;
    friend bool operator==(const Edges&, const Edges&) = default;
  };
  /// A slab's rows for a part. `known`: rows of zeros that are staged there already, by such a
  /// call.
  template <class T>
  Edges stage(const Tiles<T>& tiles, const T* base, const Shift& shift, const Slab& slab,
              const Part& part, T* to, const Beside& beside = {},
              const Edges* known = nullptr) const;

 private:
  Axis down_, across_;
  int64_t phase_step_ = 0, row_step_ = 0;  // in staged elements
  std::vector<Window> far_;                // moved by no place
  std::vector<int> far_numbers_;
  std::vector<Slab> slabs_;
  std::vector<Tap> taps_;
};

}  // namespace lathe::own
