// Products of a few sums of a few terms: rotations of points, small systems, lists of small
// matrices. A tile would take longer to begin than they have to sum.
#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {

bool small_fits(const Product& p) {
  constexpr int64_t kMost = 100;  // multiplications; of more of them tiles are faster
  const bool sums = p.depth > 0 && p.rows > 0 && p.cols > 0;
  const bool single = p.rows == 1 && p.cols == 1;  // which are summed side by side
  return sums && !single && p.left.plain() && p.right.plain() && !p.turned && p.rows <= kMost &&
         p.cols <= kMost && p.depth <= kMost && p.rows * p.cols * p.depth <= kMost;
}

/// Those of the last repeated axis together, as far as they are wanted.
template <class T>
void run_small(const ProductRun<T>& run) {
  const Product& p = run.p;
  const Product::Repeat alone{.extent = 1, .left = 0, .right = 0, .out = 0};
  const Product::Repeat& last = p.repeats.empty() ? alone : p.repeats.back();
  const SmallCall<T> steps{.a_row = p.left.x_step(),
                           .a_k = p.left.k_step(),
                           .b_col = p.right.x_step(),
                           .b_k = p.right.k_step(),
                           .a_product = last.left,
                           .b_product = last.right,
                           .rows = static_cast<int>(p.rows),
                           .cols = static_cast<int>(p.cols),
                           .depth = static_cast<int>(p.depth)};
  const int64_t sums = p.rows * p.cols;
  parallel_for(p.products, tasks_together(sums * p.depth * 2), [&](int64_t begin, int64_t end) {
    Pace pace;
    for (int64_t i = begin; i < end;) {
      const ProductPlace at = place_of(p, i);
      SmallCall<T> call = steps;
      call.products = std::min(end - i, last.extent - i % last.extent);
      call.a = run.left + at.left.offset;
      call.b = run.right + at.right.offset;
      call.c = run.out + i * sums;
      run.tiles.small(call);
      pace.after(call.products * sums * p.depth);
      i += call.products;
    }
    if (run.epilogue) run.epilogue(begin * sums, (end - begin) * sums);
  });
}

#define LATHE_SMALL_OF(T) template void run_small(const ProductRun<T>&);
LATHE_SMALL_OF(float)
LATHE_SMALL_OF(double)
LATHE_SMALL_OF(uint32_t)
LATHE_SMALL_OF(uint64_t)
#undef LATHE_SMALL_OF

}  // namespace lathe::own
