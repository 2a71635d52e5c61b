// What the ways of running a Product share, and those of them that need no blocks: few rows
// (product_rows.cpp) and windows (product_windows.cpp). product_run.cpp chooses.
#pragma once

#include "kernels/own/product.h"

namespace lathe::own {

/// A product and what it is run on. T: float, double, uint32_t or uint64_t.
template <class T>
struct ProductRun {
  const Product& p;
  const Tiles<T>& tiles;
  const T *left, *right;
  T* out;
  const Epilogue& epilogue;
  StoredSide stored = {};  // in place of `right`, for few rows
};

/// Where one of the repeated products begins.
struct ProductPlace {
  Shift left, right;
  int64_t out = 0;
};
ProductPlace place_of(const Product& p, int64_t product);

/// Multiplications that take some 30 microseconds.
constexpr int64_t kTask = int64_t{1} << 21;
/// How much work this many sums of so many terms are, in multiplications: of a few rows reading the
/// right side is most of it.
inline int64_t work_of(int64_t rows, int64_t cols, int64_t depth) {
  constexpr int64_t kAsReading = 8;
  return std::max(rows, kAsReading) * cols * depth;
}
/// How many tasks of this much work make one of kTask.
int64_t tasks_together(int64_t multiplications);

/// A right side that lies as this sums it, read once: one row times a matrix by rows, or up to four
/// times one by columns, if it was not packed before.
bool few_rows_fit(const Product& p, bool packed);
template <class T>
void run_few_rows(const ProductRun<T>& run);

/// So few sums of so few terms that they are summed one by one, product after product.
bool small_fits(const Product& p);
template <class T>
void run_small(const ProductRun<T>& run);

/// Few rows against windows where they lie (windows.h), and sums over the places of windows
/// (taps.h). For products that have them.
template <class T>
void run_window_lines(const ProductRun<T>& run);
template <class T>
void run_window_taps(const ProductRun<T>& run);
/// Elements that each thread takes for them.
int64_t window_elements(const Product& p);

}  // namespace lathe::own
