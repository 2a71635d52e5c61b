// How a Product is cut into tasks and strips of rows, and which sides are copied into panels for
// whom. All of it follows from the shape, the tiles and the number of threads; no bit depends on
// it, since every output is summed by one thread in the defined order.
#pragma once

#include "kernels/own/product.h"
#include "kernels/own/rounding.h"

namespace lathe::own {

/// Which of the repeated products read the same of one side: so many copies of it differ.
class Copies {
 public:
  Copies(const Product& p, bool right);
  int64_t count() const { return count_; }
  /// Which copy a product reads, and the first product that reads it.
  int64_t of(int64_t product) const;
  int64_t first(int64_t copy) const;

 private:
  absl::Span<const Product::Repeat> repeats_;
  absl::InlinedVector<bool, 6> varies_;  // by repeat
  int64_t count_ = 1;
};

struct TileShape {
  int rows, cols, direct_rows;
  int64_t bytes;  // of an element
};
/// Which sides were packed before.
struct SidesPacked {
  bool left, right;
};

struct Blocks {
  Copies left, right;
  int64_t rows, cols;  // of a block
  int64_t row_blocks = 1, col_blocks = 1;
  int strip;  // rows of a strip of tiles
  // A side is read where it lies (the left one by its columns, or by its rows), packed by all tasks
  // together, or block by block.
  bool left_direct = false, left_rows = false, right_direct = false;
  bool left_shared = false, right_shared = false;
  bool streams = false;  // the panels of a right side that was packed before are read in order
};
Blocks choose_blocks(const Product& p, const TileShape& tiles, const SidesPacked& packed);

}  // namespace lathe::own
