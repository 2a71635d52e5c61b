// A right side that lies as few rows sum it, read once.
#include <algorithm>
#include <optional>

#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

bool by_row(const Product& p) { return p.rows == 1 && p.right.x_step() == 1; }

/// Columns [col, col + cols) of one product. `copy`: for a left side whose terms lie apart.
template <class T>
void sum_columns(const ProductRun<T>& run, const ProductPlace& at, int64_t col, int64_t cols,
                 T* copy) {
  const Product& p = run.p;
  const T* x = run.left + at.left.offset;
  int64_t ldx = p.left.x_step(), x_k = p.left.k_step();
  if (x_k != 1) {
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t k = 0; k < p.depth; ++k) copy[i * p.depth + k] = x[i * ldx + k * x_k];
    x = copy;
    ldx = p.depth;
  }
  const T* m = run.right + at.right.offset + col * p.right.x_step();
  T* y = run.out + at.out + col;
  // Turned rows stay in registers from block to block.
  const int64_t step = by_row(p) ? p.block : 64 * p.block;
  Pace pace;
  for (int64_t k = 0; k < p.depth; k += step) {
    const int64_t depth = std::min(step, p.depth - k);
    pace.after(depth * cols);
    if (by_row(p))
      run.tiles.row_times_matrix(x + k, 1, m + k * p.right.k_step(), p.right.k_step(), depth, cols,
                                 y, k > 0);
    else
      run.tiles.matrix_times_columns(m + k, p.right.x_step(), x + k, ldx, static_cast<int>(p.rows),
                                     depth, p.block, cols, y, p.cols, k > 0);
  }
  if (run.epilogue) run.epilogue({y - run.out, cols, p.rows, p.cols});
}

/// Do the products, each one row times one column, lie evenly? Steps from one to the next.
struct Pairs {
  int64_t left, right;
};
std::optional<Pairs> pairs_of(const Product& p) {
  const bool single = p.rows == 1 && p.cols == 1 && p.products > 1 && !p.repeats.empty();
  if (!single || p.left.k_step() != 1 || p.right.k_step() != 1) return std::nullopt;
  const Product::Repeat& last = p.repeats.back();
  int64_t each = 1;
  for (size_t k = p.repeats.size(); k-- > 0; each *= p.repeats[k].extent) {
    const Product::Repeat& r = p.repeats[k];
    if (r.left != last.left * each || r.right != last.right * each || r.out != each)
      return std::nullopt;
  }
  return Pairs{last.left, last.right};
}

/// Products side by side, one a lane.
template <class T>
void run_pairs(const ProductRun<T>& run, const Pairs& pairs) {
  const Product& p = run.p;
  const ProductPlace first = place_of(p, 0);
  parallel_for(p.products, tasks_together(p.depth * 2) * run.tiles.lanes,
               [&](int64_t begin, int64_t end) {
                 constexpr int64_t kSome = 1024;
                 Pace pace;
                 for (int64_t i = begin; i < end; i += kSome) {
                   const int64_t count = std::min(kSome, end - i);
                   T* y = run.out + first.out + i;
                   run.tiles.paired_rows(run.right + first.right.offset + i * pairs.right,
                                         pairs.right, run.left + first.left.offset + i * pairs.left,
                                         pairs.left, p.depth, p.block, count, y);
                   if (run.epilogue) run.epilogue(y - run.out, count);
                   pace.after(count * p.depth);
                 }
               });
}

}  // namespace

/// Turning what lies by columns, or reading rows of a matrix in turns, takes longer than panels.
bool few_rows_fit(const Product& p, bool packed) {
  if (packed || !p.left.plain() || !p.right.plain()) return false;
  return by_row(p) || (p.rows <= 4 && p.right.k_step() == 1);
}

template <class T>
void run_few_rows(const ProductRun<T>& run) {
  const Product& p = run.p;
  if (const auto pairs = pairs_of(p)) return run_pairs(run, *pairs);
  // Columns side by side are read a stretch of each row at a time: of short ones the processor
  // fetches little ahead.
  int64_t stretch = by_row(p) ? std::clamp<int64_t>(p.cols / pool_threads(), 512, 2048)
                              : std::clamp<int64_t>((int64_t{1} << 17) / p.depth, 64, 1024);
  stretch = stretch / 64 * 64;
  const int64_t stretches = (p.cols + stretch - 1) / stretch;
  parallel_for(p.products * stretches, tasks_together(stretch * p.depth * 8),
               [&](int64_t begin, int64_t end) {
                 Scratch copy(static_cast<size_t>(p.rows * p.depth) * sizeof(T));
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t col = t % stretches * stretch;
                   sum_columns(run, place_of(p, t / stretches), col,
                               std::min(stretch, p.cols - col), copy.as<T>());
                 }
               });
}

#define LATHE_FEW_ROWS_OF(T) template void run_few_rows(const ProductRun<T>&);
LATHE_FEW_ROWS_OF(float)
LATHE_FEW_ROWS_OF(double)
LATHE_FEW_ROWS_OF(uint32_t)
LATHE_FEW_ROWS_OF(uint64_t)
#undef LATHE_FEW_ROWS_OF

}  // namespace lathe::own
