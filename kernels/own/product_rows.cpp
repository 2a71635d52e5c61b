// A right side that lies as few rows sum it, read once.
#include <algorithm>
#include <optional>

#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

bool by_row(const Product& p) { return p.rows == 1 && p.right.x_step() == 1; }

/// Elements of a right side that are widened together: in a cache from then on, by columns the
/// first one.
int64_t widened_elements(const Product& p) { return by_row(p) ? 1 << 15 : 1 << 13; }

/// How many terms go together. Turned rows stay in registers from block to block; of those that are
/// widened first, many have to fit.
int64_t terms_together(const Product& p, bool stored) {
  return std::min(p.depth, (by_row(p) || stored ? 1 : 64) * p.block);
}

/// What of a right side is in the dtype of the sums: column x, term k at data[x * x_step + k *
/// k_step], the one of both steps that is not 1 being `apart`.
template <class T>
struct Part {
  const T* data;
  int64_t apart;
};

void widen_lines(const StoredSide& side, int64_t first, int64_t apart, int64_t lines,
                 int64_t length, std::byte* to, int64_t bytes) {
  for (int64_t i = 0; i < lines; ++i) {
    const void* from = side.data + (first + i * apart) * side.size;
    side.widen(to + i * bytes, &from, static_cast<size_t>(length));
  }
}

/// Terms [k, k + depth) of columns [col, col + cols).
template <class T>
Part<T> part_of(const ProductRun<T>& run, int64_t offset, int64_t col, int64_t cols, int64_t k,
                int64_t depth, T* widened) {
  const bool row = by_row(run.p);
  const int64_t apart = row ? run.p.right.k_step() : run.p.right.x_step();
  const int64_t first = offset + (row ? col + k * apart : col * apart + k);
  if (!run.stored) return {run.right + first, apart};
  const int64_t lines = row ? depth : cols, length = row ? cols : depth;
  widen_lines(run.stored, first, apart, lines, length, reinterpret_cast<std::byte*>(widened),
              length * static_cast<int64_t>(sizeof(T)));
  return {widened, length};
}

/// Columns [col, col + cols) of one product. `copy`: for a left side whose terms lie apart.
template <class T>
void sum_columns(const ProductRun<T>& run, const ProductPlace& at, int64_t col, int64_t cols,
                 T* copy, T* widened) {
  const Product& p = run.p;
  const T* x = run.left + at.left.offset;
  int64_t ldx = p.left.x_step(), x_k = p.left.k_step();
  if (x_k != 1) {
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t k = 0; k < p.depth; ++k) copy[i * p.depth + k] = x[i * ldx + k * x_k];
    x = copy;
    ldx = p.depth;
  }
  T* y = run.out + at.out + col;
  const int64_t step = terms_together(p, static_cast<bool>(run.stored));
  const int64_t wide = run.stored ? std::max<int64_t>(1, widened_elements(p) / step) : cols;
  Pace pace;
  for (int64_t k = 0; k < p.depth; k += step) {
    const int64_t depth = std::min(step, p.depth - k);
    for (int64_t j = 0; j < cols; j += wide) {
      const int64_t some = std::min(wide, cols - j);
      pace.after(depth * some);
      const Part<T> m = part_of(run, at.right.offset, col + j, some, k, depth, widened);
      if (by_row(p))
        run.tiles.row_times_matrix(x + k, 1, m.data, m.apart, depth, some, y + j, k > 0);
      else
        run.tiles.matrix_times_columns(m.data, m.apart, x + k, ldx, static_cast<int>(p.rows), depth,
                                       p.block, some, y + j, p.cols, k > 0);
    }
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
                 std::optional<Scratch> widened;
                 if (run.stored)
                   widened.emplace(static_cast<size_t>(widened_elements(p)) * sizeof(T));
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t col = t % stretches * stretch;
                   sum_columns(run, place_of(p, t / stretches), col,
                               std::min(stretch, p.cols - col), copy.as<T>(),
                               widened ? widened->as<T>() : nullptr);
                 }
               });
}

bool takes_stored(const Product& p) {
  const bool sums = p.products > 0 && p.rows > 0 && p.cols > 0 && p.depth > 0;
  return sums && !p.taps && few_rows_fit(p, false) && !pairs_of(p);
}

template <class T>
void run_stored(const Product& p, const T* left, const StoredSide& right, T* out) {
  const Epilogue none;
  StoredSide from = right;
  from.data += p.right_offset * from.size;
  run_few_rows(ProductRun<T>{p, tiles<T>(), left + p.left_offset, nullptr, out, none, from});
}

size_t stored_room(const Product& p, size_t bytes) {
  const auto each = size_class_bytes(static_cast<size_t>(p.rows * p.depth) * bytes) +
                    size_class_bytes(static_cast<size_t>(widened_elements(p)) * bytes);
  return static_cast<size_t>(pool_threads()) * each;
}

#define LATHE_FEW_ROWS_OF(T) template void run_few_rows(const ProductRun<T>&);
LATHE_FEW_ROWS_OF(float)
LATHE_FEW_ROWS_OF(double)
LATHE_FEW_ROWS_OF(uint32_t)
LATHE_FEW_ROWS_OF(uint64_t)
#undef LATHE_FEW_ROWS_OF
#define LATHE_STORED_OF(T) \
  template void run_stored(const Product&, const T*, const StoredSide&, T*);
LATHE_STORED_OF(float)
LATHE_STORED_OF(uint32_t)
LATHE_STORED_OF(uint64_t)
#undef LATHE_STORED_OF

}  // namespace lathe::own
