#include "kernels/own/product_blocks.h"

#include <algorithm>
#include <numeric>

#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

constexpr int kStreamed = 4;  // strips that take no longer than their panels come from memory

bool moves(absl::Span<const int64_t> windows) {
  return std::any_of(windows.begin(), windows.end(), [](int64_t step) { return step != 0; });
}

/// Does the second-level cache keep the lines of a right side's rows until the next strip reads
/// them again? Rows lie at a distance that may put all of them in a few of its sets.
bool rows_stay_near(const Product& p, int64_t bytes) {
  constexpr int64_t kLine = 64, kSets = 1024, kWays = 8;  // of a cache that is small today
  const int64_t row = std::max<int64_t>(p.right.k_step() * bytes, 1);
  const int64_t sets = kSets * kLine / std::max(kLine, std::gcd(row, kSets * kLine));
  return std::min(p.depth, p.block) <= sets * kWays;
}

/// A packed copy of so many lines is worth keeping.
bool small_enough(const Product& p, int64_t lines, int64_t bytes) {
  return lines * p.depth * bytes <= int64_t{24} << 20;
}

/// A block of columns (one block of k deep) stays in the second-level cache while the rows stream
/// past it. Panels that were packed before may be in no cache: the next block is fetched during
/// this one, so that blocks are small, and the first one, which nobody fetches, is too.
int64_t columns_of_a_block(const Product& p, const TileShape& tiles, bool packed) {
  constexpr int64_t kBlockBytes = 384 << 10, kLeast = 128, kMost = 384;
  const int64_t deep = std::min(p.depth, p.block) * tiles.bytes;
  return packed ? kLeast : std::clamp<int64_t>(kBlockBytes / deep / 32 * 32, kLeast, kMost);
}

/// Rows are split only as far as there are too few tasks otherwise, and then both sides are packed
/// once for all.
void cut(Blocks& b, const Product& p, const TileShape& tiles, bool right_packed) {
  constexpr int64_t kLeastCols = 4;
  const int64_t wide = columns_of_a_block(p, tiles, right_packed);
  int64_t parts = blocks(p.cols, wide + wide / 2);
  const int64_t tasks = work_of(p.rows, p.cols, p.depth) * p.products / kTask;
  const int64_t wanted = pool_threads() > 1 ? std::clamp<int64_t>(tasks, 1, 16) : 1;
  // Few rows: columns are cut smaller, rather than packing them twice.
  if (p.rows < 256 && parts * p.products < wanted)
    parts = std::min(wanted / p.products + 1, p.cols / (kLeastCols * tiles.cols));
  b.cols = parts <= 1 ? p.cols : round_up(blocks(p.cols, parts), tiles.cols);
  b.col_blocks = blocks(p.cols, b.cols);
  const int64_t split = std::min<int64_t>(wanted / std::max<int64_t>(1, b.col_blocks * p.products),
                                          p.rows / (tiles.rows * 2));
  b.rows = split <= 1 ? p.rows : round_up(blocks(p.rows, split), tiles.rows);
  b.row_blocks = blocks(p.rows, b.rows);
}

/// Strips as even as they can be: of a few rows more than a tile has, the last ones would be a tile
/// that waits for its own sums, and that fetches ahead as much as the others in far less time.
int strip_of(const Blocks& b, const Product& p, const TileShape& tiles, bool left_packed) {
  const int most = b.left_rows ? tiles.direct_rows : tiles.rows;
  const int64_t last = p.cols % tiles.cols;
  const bool by_columns = b.left_shared && last > 0 && last <= kFewColumns && !p.turned;
  const bool fixed = left_packed || by_columns || b.row_blocks > 1 || p.left.windows() > 0;
  if (fixed && !b.left_rows) return most;
  const int64_t strips = std::max<int64_t>(blocks(b.rows, most), 1);
  return static_cast<int>(std::max<int64_t>(blocks(b.rows, strips), 1));
}

}  // namespace

Copies::Copies(const Product& p, bool right) : repeats_(p.repeats) {
  for (const Product::Repeat& r : p.repeats) {
    varies_.push_back((right ? r.right : r.left) != 0 ||
                      moves(right ? r.right_windows : r.left_windows));
    if (varies_.back()) count_ *= r.extent;
  }
}

int64_t Copies::of(int64_t product) const {
  int64_t copy = 0, step = 1;
  for (size_t r = repeats_.size(); r-- > 0;) {
    const int64_t x = product % repeats_[r].extent;
    product /= repeats_[r].extent;
    if (!varies_[r]) continue;
    copy += x * step;
    step *= repeats_[r].extent;
  }
  return copy;
}

int64_t Copies::first(int64_t copy) const {
  int64_t product = 0, step = 1;
  for (size_t r = repeats_.size(); r-- > 0;) {
    if (varies_[r]) {
      product += copy % repeats_[r].extent * step;
      copy /= repeats_[r].extent;
    }
    step *= repeats_[r].extent;
  }
  return product;
}

Blocks choose_blocks(const Product& p, const TileShape& tiles, const SidesPacked& packed) {
  Blocks b{.left = Copies(p, false),
           .right = Copies(p, true),
           .rows = p.rows,
           .cols = p.cols,
           .strip = tiles.rows};
  cut(b, p, tiles, packed.right);
  const bool narrow = p.cols <= 3 * tiles.cols;
  b.streams = packed.right && p.rows <= kStreamed * tiles.rows;
  b.left_direct = !packed.left && p.left.plain() &&
                  (p.rows == 1 || (p.left.x_step() == 1 && (p.rows <= 2 * tiles.rows || narrow)));
  // Copying a row is as much work as some ten panels, and of up to 32 it is read where it lies.
  b.left_rows = !packed.left && !b.left_direct && p.left.plain() && p.left.k_step() == 1 &&
                p.cols <= 32 * tiles.cols;
  // Copying a panel is as much work as some three strips, and of up to 16 it shows. Tiles read past
  // the last columns, where the next row has to lie.
  b.right_direct = !packed.right && p.right.plain() && p.right.x_step() == 1 &&
                   (p.right.k_step() > 0 || p.depth == 1) &&
                   (p.depth * p.cols <= 1 << 14 ||
                    (p.rows <= 16 * tiles.rows && rows_stay_near(p, tiles.bytes)));
  auto keep = [&](const Copies& copies, int64_t lines, int width) {
    return small_enough(p, copies.count() * round_up(lines, width), tiles.bytes);
  };
  const bool left_copied = !b.left_direct && !b.left_rows;
  b.left_shared = left_copied &&
                  (p.left.best_whole() || b.col_blocks * (p.products / b.left.count()) > 1) &&
                  keep(b.left, p.rows, tiles.rows);
  b.left_shared = b.left_shared || packed.left || (b.streams && left_copied);
  const bool right_kept = keep(b.right, p.cols, tiles.cols);
  if (b.row_blocks > 1 && !b.right_direct && !packed.right && !right_kept) {
    b.rows = p.rows;
    b.row_blocks = 1;
  }
  b.right_shared = packed.right || (!b.right_direct && right_kept &&
                                    b.row_blocks * (p.products / b.right.count()) > 1);
  b.strip = strip_of(b, p, tiles, packed.left);
  return b;
}

}  // namespace lathe::own
