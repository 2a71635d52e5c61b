// Running a Product: blocks, packing, tiles.
//
// choose_blocks cuts every product into tasks (row block, column block) by its shape alone; a task
// runs all of k, one block of the defined sum at a time, so that each output is added up by one
// thread in the defined order. Within a task a block of columns is packed (or was packed for all
// tasks before, or is read where it lies), and strips of rows stream past it, a tile at a time.
//
// What needs no blocks goes other ways (product_ways.h). To read: run(), choose_blocks(),
// sum_block().
#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

template <class T>
class Runner {
 public:
  Runner(const Product& p, const T* left, const T* right, T* out, const Epilogue& epilogue)
      : p_(p), tiles_(tiles<T>()), left_(left), right_(right), out_(out), epilogue_(epilogue) {}

  /// Sides that were packed before.
  void use(const PackedSide* left, const PackedSide* right) {
    packed_left_ = left;
    packed_right_ = right;
  }
  /// The columns of a right side that is b, and the terms, that are all there need be.
  void limit(const Needed& needed) {
    if (!p_.right_is_a) cols_ = std::min(p_.cols, needed.columns);
    depth_ = std::min(p_.depth, needed.terms);
  }

  /// One side packed for other runs; see pack_side().
  PackedSideRef pack(bool right, const PackedSideRef& known) {
    if (!packs(right)) return nullptr;
    const Side& side = right ? p_.right : p_.left;
    int width = width_of(right);
    bool same =
        known && known->width == width && known->lines == side.extent() && known->depth == p_.depth;
    if (same) return known;
    find_copies();
    auto packed =
        std::make_shared<PackedSide>(width, side.extent(), p_.depth, packed_bytes(side, width, 1));
    fill_panels(side, right ? right_ : left_, width, 1, packed->panels.template as<T>());
    return packed;
  }

  /// As run() and pack() allocate.
  Room room(std::array<bool, 2> packed) {
    Room all;
    if (nothing_to_sum()) return all;
    const auto threads = static_cast<size_t>(pool_threads());
    const PackedSide left(0, 0, 0, 0), right(0, 0, 0, 0);
    const std::array<const PackedSide*, 2> sides = {&left, &right};
    for (size_t k = 0; k < sides.size(); ++k) {
      const bool is_right = p_.right_is_a == (k == 0);
      if (!packed[k] || !packs(is_right)) continue;
      (is_right ? packed_right_ : packed_left_) = sides[k];
      all.kept += side_bytes(is_right, 1);
    }
    if (windowed() || vector_fits()) {
      const int64_t each = windowed() ? window_elements(p_) : p_.rows * p_.depth;
      all.during = threads * size_class_bytes(static_cast<size_t>(each) * sizeof(T));
      return all;
    }
    choose_blocks();
    if (share_left_ && packed_left_ == nullptr) all.during += side_bytes(false, left_copies_);
    if (share_right_ && packed_right_ == nullptr) all.during += side_bytes(true, right_copies_);
    const auto tasks = static_cast<size_t>(p_.products * row_blocks_ * col_blocks_);
    all.during += std::min(threads, tasks) * size_class_bytes(panel_bytes());
    return all;
  }

  void run() {
    if (p_.products == 0 || p_.rows == 0 || p_.cols == 0) return;
    if (p_.depth == 0) return zeros();
    const ProductRun<T> whole{p_, tiles_, left_, right_, out_, epilogue_};
    if (p_.taps) return run_window_taps(whole);
    if (vector_fits()) return run_few_rows(whole);
    if (p_.lines) return run_window_lines(whole);
    choose_blocks();
    if (packed_left_ != nullptr)
      left_panels_ = packed_left_->panels.as<T>();
    else if (share_left_)
      left_panels_ = pack_all(p_.left, left_, tiles_.rows, left_copies_, shared_left_);
    if (packed_right_ != nullptr)
      right_panels_ = packed_right_->panels.as<T>();
    else if (share_right_)
      right_panels_ = pack_all(p_.right, right_, tiles_.cols, right_copies_, shared_right_);
    int64_t tasks = p_.products * row_blocks_ * col_blocks_;
    parallel_for(tasks, tasks_together(rows_block_ * cols_block_ * p_.depth),
                 [&](int64_t begin, int64_t end) {
                   Scratch panels(panel_bytes());
                   for (int64_t t = begin; t < end; ++t) task(t, panels.as<T>());
                 });
  }

 private:
  bool nothing_to_sum() const {
    return p_.products == 0 || p_.rows == 0 || p_.cols == 0 || p_.depth == 0;
  }
  /// Is a side that stays as it is better kept packed?
  bool packs(bool right) const {
    if (nothing_to_sum() || windowed()) return false;
    if (vector_fits() && !(right && p_.right.x_step() != 1)) return false;
    if ((right ? p_.right : p_.left).windows() > 0) return false;
    return std::all_of(p_.repeats.begin(), p_.repeats.end(),
                       [&](const Product::Repeat& r) { return (right ? r.right : r.left) == 0; });
  }
  bool windowed() const { return p_.lines || p_.taps; }
  bool vector_fits() const { return few_rows_fit(p_, packed_right_ != nullptr); }
  int width_of(bool right) const { return right ? tiles_.cols : tiles_.rows; }
  size_t side_bytes(bool right, int64_t copies) const {
    return size_class_bytes(packed_bytes(right ? p_.right : p_.left, width_of(right), copies));
  }

  void zeros() {
    int64_t n = p_.products * p_.rows * p_.cols;
    std::fill(out_, out_ + n, T{});
    if (epilogue_) epilogue_(0, n);
  }

  /// Blocks are chosen from the shape alone. A block of columns (one block of k deep) stays in L2
  /// while the rows stream past it; rows are split only as far as there are too few tasks
  /// otherwise, and then both sides are packed once for all.
  void choose_blocks() {
    constexpr int64_t kLeastCols = 4, kBlockBytes = 384 << 10;
    const int64_t deep = std::min(p_.depth, p_.block) * static_cast<int64_t>(sizeof(T));
    const int64_t wide = std::clamp<int64_t>(kBlockBytes / deep / 32 * 32, 128, 384);
    auto blocks_of = [&](int64_t cols) { return (p_.cols + cols - 1) / cols; };
    int64_t parts = (p_.cols + wide + wide / 2 - 1) / (wide + wide / 2);
    int64_t work = p_.rows * p_.cols * p_.depth * p_.products >> 22;
    int64_t wanted = std::clamp<int64_t>(work, 1, 16);
    // Few rows: columns are cut smaller, rather than packing them twice.
    if (p_.rows < 256 && parts * p_.products < wanted)
      parts = std::min(wanted / p_.products + 1, p_.cols / (kLeastCols * tiles_.cols));
    cols_block_ = parts <= 1 ? p_.cols : round_up((p_.cols + parts - 1) / parts, tiles_.cols);
    col_blocks_ = blocks_of(cols_block_);
    int64_t split = std::min<int64_t>(wanted / std::max<int64_t>(1, col_blocks_ * p_.products),
                                      p_.rows / (tiles_.rows * 2));
    rows_block_ = split <= 1 ? p_.rows : round_up((p_.rows + split - 1) / split, tiles_.rows);
    row_blocks_ = (p_.rows + rows_block_ - 1) / rows_block_;
    bool narrow = p_.cols <= 3 * tiles_.cols;
    left_direct_ =
        packed_left_ == nullptr && p_.left.plain() &&
        (p_.rows == 1 || (p_.left.x_step() == 1 && (p_.rows <= 2 * tiles_.rows || narrow)));
    // Copying a row is as much work as some ten panels, and of up to 32 it is read where it lies.
    left_rows_ = packed_left_ == nullptr && !left_direct_ && p_.left.plain() &&
                 p_.left.k_step() == 1 && p_.cols <= 32 * tiles_.cols;
    // Copying a panel is as much work as some three strips, and of up to 16 it shows.
    right_direct_ =
        packed_right_ == nullptr && p_.right.plain() && p_.right.x_step() == 1 &&
        (p_.depth * p_.cols <= 1 << 14 || (p_.rows <= 16 * tiles_.rows && rows_stay_near()));
    find_copies();
    share_left_ = !left_direct_ && !left_rows_ &&
                  (p_.left.best_whole() || col_blocks_ * (p_.products / left_copies_) > 1) &&
                  small_enough(left_copies_ * round_up(p_.rows, tiles_.rows));
    share_left_ =
        share_left_ || packed_left_ != nullptr || (streams() && !left_direct_ && !left_rows_);
    if (row_blocks_ > 1 && !right_direct_ && packed_right_ == nullptr &&
        !small_enough(right_copies_ * round_up(p_.cols, tiles_.cols))) {
      rows_block_ = p_.rows;
      row_blocks_ = 1;
    }
    share_right_ = packed_right_ != nullptr ||
                   (!right_direct_ && row_blocks_ * (p_.products / right_copies_) > 1 &&
                    small_enough(right_copies_ * round_up(p_.cols, tiles_.cols)));
  }

  /// Does the second-level cache keep the lines of a right side's rows until the next strip reads
  /// them again? Rows lie at a distance that may put all of them in a few of its sets.
  bool rows_stay_near() const {
    constexpr int64_t kLine = 64, kSets = 1024, kWays = 8;  // of a cache that is small today
    const int64_t row = std::max<int64_t>(p_.right.k_step() * static_cast<int64_t>(sizeof(T)), 1);
    const int64_t sets = kSets * kLine / std::max(kLine, std::gcd(row, kSets * kLine));
    return std::min(p_.depth, p_.block) <= sets * kWays;
  }

  static bool any(absl::Span<const int64_t> xs) {
    return std::any_of(xs.begin(), xs.end(), [](int64_t x) { return x != 0; });
  }
  /// A packed copy of so many lines is worth keeping.
  bool small_enough(int64_t lines) const {
    return lines * p_.depth * static_cast<int64_t>(sizeof(T)) <= int64_t{24} << 20;
  }

  size_t panel_bytes() const {
    return static_cast<size_t>(right_room() + left_room() + 64) * sizeof(T);
  }
  int64_t right_room() const {
    if (right_direct_ || share_right_) return 0;
    return round_up(cols_block_, tiles_.cols) * std::min(p_.depth, p_.block);
  }
  int64_t left_room() const {
    return share_left_ || left_direct_ || left_rows_ ? 0
                                                     : tiles_.rows * std::min(p_.depth, p_.block);
  }

  using Varies = absl::InlinedVector<bool, 6>;
  void find_copies() {
    for (const Product::Repeat& r : p_.repeats) {
      left_varies_.push_back(r.left != 0 || any(r.left_windows));
      right_varies_.push_back(r.right != 0 || any(r.right_windows));
      if (left_varies_.back()) left_copies_ *= r.extent;
      if (right_varies_.back()) right_copies_ *= r.extent;
    }
  }
  /// Which packed copy of a side product i uses.
  int64_t copy_of(int64_t i, const Varies& varies) const {
    int64_t copy = 0, step = 1;
    for (size_t r = p_.repeats.size(); r-- > 0;) {
      int64_t x = i % p_.repeats[r].extent;
      i /= p_.repeats[r].extent;
      if (!varies[r]) continue;
      copy += x * step;
      step *= p_.repeats[r].extent;
    }
    return copy;
  }
  /// And the first product that uses a copy.
  int64_t product_of(int64_t copy, const Varies& varies) const {
    int64_t i = 0, step = 1;
    for (size_t r = p_.repeats.size(); r-- > 0;) {
      if (varies[r]) {
        i += copy % p_.repeats[r].extent * step;
        copy /= p_.repeats[r].extent;
      }
      step *= p_.repeats[r].extent;
    }
    return i;
  }

  size_t packed_bytes(const Side& side, int width, int64_t copies) const {
    return static_cast<size_t>(copies * round_up(side.extent(), width) * p_.depth + 64) * sizeof(T);
  }
  const T* pack_all(const Side& side, const T* base, int width, int64_t copies,
                    std::optional<Scratch>& to) {
    to.emplace(packed_bytes(side, width, copies));
    fill_panels(side, base, width, copies, to->template as<T>());
    return to->template as<T>();
  }
  /// A whole side in panels `width` wide, all k of a panel together.
  void fill_panels(const Side& side, const T* base, int width, int64_t copies, T* data) {
    int64_t panels = (side.extent() + width - 1) / width, panel = width * p_.depth;
    bool left = &side == &p_.left;
    const Varies& varies = left ? left_varies_ : right_varies_;
    parallel_for(copies * panels, tasks_together(panel * 16), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const ProductPlace at = place_of(p_, product_of(t / panels, varies));
        int64_t x = t % panels * width;
        int valid = static_cast<int>(std::min<int64_t>(width, side.extent() - x));
        side.pack(tiles_, base, left ? at.left : at.right, x, valid, width, 0, p_.depth,
                  data + t * panel);
      }
    });
  }

  void task(int64_t t, T* scratch) {
    int64_t col_block = t % col_blocks_;
    int64_t row_block = t / col_blocks_ % row_blocks_;
    int64_t product = t / (col_blocks_ * row_blocks_);
    const ProductPlace at = place_of(p_, product);
    Block block;
    block.row = row_block * rows_block_;
    block.rows = std::min(rows_block_, p_.rows - block.row);
    block.col = col_block * cols_block_;
    block.cols = std::min(cols_block_, cols_ - block.col);
    if (share_left_)
      block.packed_left =
          left_panels_ + copy_of(product, left_varies_) * round_up(p_.rows, tiles_.rows) * p_.depth;
    if (share_right_)
      block.packed_right = right_panels_ + copy_of(product, right_varies_) *
                                               round_up(p_.cols, tiles_.cols) * p_.depth;
    block.right_panel = scratch;
    block.left_panel = scratch + right_room();
    Pace pace;
    // A single strip reads each panel once: all k of a few, which lie together, then the next.
    const int64_t end = block.col + block.cols, wide = streams() ? 2 * tiles_.cols : block.cols;
    for (; block.col < end; block.col += wide) {
      block.cols = std::min(wide, end - block.col);
      for (int64_t k = 0; k < depth_; k += p_.block) {
        pace.after(p_.block * (block.rows + block.cols));
        sum_block(at, block, k, std::min(p_.block, depth_ - k));
      }
    }
  }
  /// Are the panels of a packed right side read by one strip of rows alone?
  bool streams() const { return packed_right_ != nullptr && p_.rows <= tiles_.rows; }

  struct Block {
    int64_t row, rows, col, cols;
    const T* packed_left = nullptr;
    const T* packed_right = nullptr;
    T* right_panel;
    T* left_panel;
  };

  void sum_block(const ProductPlace& at, const Block& block, int64_t k, int64_t depth) {
    if (!right_direct_ && !share_right_) pack_right(at, block, k, depth);
    const int64_t few = few_columns(at, block, k, depth);
    Block rest = block;
    rest.cols -= few;
    bool last = k + depth == depth_;
    int most = left_rows_ ? tiles_.direct_rows : tiles_.rows;
    for (int64_t i = 0; i < block.rows; i += most) {
      int rows = static_cast<int>(std::min<int64_t>(most, block.rows - i));
      T* c = out_ + at.out + (block.row + i) * p_.cols + block.col;
      left_rows_ ? direct_strip(at, rest, i, rows, k, depth, c)
                 : packed_strip(at, rest, i, rows, k, depth, c);
      if (!last || !epilogue_) continue;
      if (block.cols == p_.cols)  // rows follow each other at once
        epilogue_(c - out_, rows * p_.cols);
      else
        for (int r = 0; r < rows; ++r) epilogue_(c - out_ + r * p_.cols, block.cols);
    }
  }

  /// The last columns of a block, of all its rows, where so few are left that rows are better lanes
  /// than they. How many these are.
  int64_t few_columns(const ProductPlace& at, const Block& block, int64_t k, int64_t depth) {
    const int64_t few = block.cols % tiles_.cols;
    if (tiles_.few_columns == nullptr || !share_left_ || few == 0 || few > kFewColumns) return 0;
    TileCall<T> call{};
    call.rows = static_cast<int>(block.rows);
    call.cols = static_cast<int>(few);
    call.depth = depth;
    call.add = k > 0;
    call.ldc = p_.cols;
    left_panel(at, block, block.row, k, call);
    right_panel(at, block, block.cols - few, k, depth, call.b, call.b_k);
    call.c = out_ + at.out + block.row * p_.cols + block.col + block.cols - few;
    tiles_.few_columns(call, tiles_.rows * p_.depth);
    return few;
  }

  /// All panels of the block. Rows of a wide matrix lie a page or more apart: a few of them at a
  /// time are gone through for every panel, so that their pages are looked up once.
  void pack_right(const ProductPlace& at, const Block& block, int64_t k, int64_t depth) {
    constexpr int64_t kPages = 48;
    const int64_t some = p_.right.plain() ? kPages : depth;
    for (int64_t d = 0; d < depth; d += some)
      for (int64_t j = 0; j < block.cols; j += tiles_.cols) {
        int valid = static_cast<int>(std::min<int64_t>(tiles_.cols, block.cols - j));
        p_.right.pack(tiles_, right_, at.right, block.col + j, valid, tiles_.cols, k + d,
                      std::min(some, depth - d), block.right_panel + j * depth + d * tiles_.cols);
      }
  }

  /// One strip of tiles: `rows` rows from row i of the block, all its columns.
  void packed_strip(const ProductPlace& at, const Block& block, int64_t i, int rows, int64_t k,
                    int64_t depth, T* c) {
    TileCall<T> call{};
    call.rows = rows;
    call.depth = depth;
    call.add = k > 0;
    call.ldc = p_.cols;
    left_panel(at, block, block.row + i, k, call);
    const Ahead ahead = after(block, i, k, depth);
    const int width = rows == 1 && share_right_ ? 2 * tiles_.cols : tiles_.cols;
    for (int64_t j = 0; j < block.cols; j += width) {
      call.cols = static_cast<int>(std::min<int64_t>(width, block.cols - j));
      right_panel(at, block, j, k, depth, call.b, call.b_k);
      const bool more = j < ahead.cols;  // else what it reads itself, which is near
      call.ahead = reinterpret_cast<uintptr_t>(more ? ahead.from + j * p_.depth : call.b);
      call.ahead_k = more ? static_cast<uintptr_t>(ahead.step) * sizeof(T) : 0;
      call.c = c + j;
      if (call.cols > tiles_.cols)
        tiles_.row_tile(call, tiles_.cols * p_.depth);
      else
        tiles_.tile(call);
    }
  }

  /// What a strip of tiles fetches ahead.
  struct Ahead {
    const T* from = nullptr;  // for the first panel of the block
    int64_t step = 0;         // elements a k
    int64_t cols = 0;         // of the block, that have a panel to follow
  };
  /// Of a packed right side: a strip's share of the panels that come after those of the block,
  /// further along k or in the next one.
  Ahead after(const Block& block, int64_t i, int64_t k, int64_t depth) const {
    if (!share_right_ || streams()) return {};
    const bool deeper = k + depth < p_.depth;
    const int64_t col = block.col + (deeper ? 0 : block.cols), next = deeper ? k + depth : 0;
    if (col >= p_.cols) return {};
    const int64_t strips = (block.rows + tiles_.rows - 1) / tiles_.rows;
    const int64_t panel = std::min(p_.block, p_.depth - next) * tiles_.cols;
    const int64_t share = (panel + strips - 1) / strips;
    return {block.packed_right + col * p_.depth + next * tiles_.cols + i / tiles_.rows * share,
            (share + depth - 1) / depth, p_.cols - col};
  }

  void direct_strip(const ProductPlace& at, const Block& block, int64_t i, int rows, int64_t k,
                    int64_t depth, T* c) {
    RowsCall<T> call{};
    call.rows = rows;
    call.depth = depth;
    call.add = k > 0;
    call.ldc = p_.cols;
    call.a = left_ + at.left.offset + (block.row + i) * p_.left.x_step() + k;
    call.a_row = p_.left.x_step();
    for (int64_t j = 0; j < block.cols; j += tiles_.cols) {
      call.cols = static_cast<int>(std::min<int64_t>(tiles_.cols, block.cols - j));
      right_panel(at, block, j, k, depth, call.b, call.b_k);
      call.c = c + j;
      tiles_.tile_rows(call);
    }
  }

  void left_panel(const ProductPlace& at, const Block& block, int64_t row, int64_t k,
                  TileCall<T>& call) {
    call.a_k = tiles_.rows;
    if (left_direct_) {
      call.a = left_ + at.left.offset + row + k * p_.left.k_step();
      call.a_k = p_.left.k_step();
    } else if (share_left_) {
      call.a = block.packed_left + row / tiles_.rows * tiles_.rows * p_.depth + k * tiles_.rows;
    } else {
      p_.left.pack(tiles_, left_, at.left, row, call.rows, tiles_.rows, k, call.depth,
                   block.left_panel);
      call.a = block.left_panel;
    }
  }

  void right_panel(const ProductPlace& at, const Block& block, int64_t j, int64_t k, int64_t depth,
                   const T*& b, int64_t& b_k) {
    b_k = tiles_.cols;
    if (right_direct_) {
      b = right_ + at.right.offset + block.col + j + k * p_.right.k_step();
      b_k = p_.right.k_step();
    } else if (share_right_) {
      b = block.packed_right + (block.col + j) * p_.depth + k * tiles_.cols;
    } else {
      b = block.right_panel + j * depth;
    }
  }

  static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

  const Product& p_;
  const Tiles<T>& tiles_;
  const T* left_;
  const T* right_;
  T* out_;
  const Epilogue& epilogue_;
  int64_t cols_ = p_.cols, depth_ = p_.depth;  // that are needed
  int64_t rows_block_ = 0, cols_block_ = 0, row_blocks_ = 1, col_blocks_ = 1;
  int64_t left_copies_ = 1, right_copies_ = 1;
  bool left_direct_ = false, left_rows_ = false, right_direct_ = false, share_left_ = false,
       share_right_ = false;
  Varies left_varies_, right_varies_;
  std::optional<Scratch> shared_left_, shared_right_;
  const T *left_panels_ = nullptr, *right_panels_ = nullptr;
  const PackedSide *packed_left_ = nullptr, *packed_right_ = nullptr;
};

}  // namespace

template <class T>
void run_product(const Product& p, const T* a, const T* b, T* out, const Epilogue& epilogue,
                 absl::Span<const PackedSide* const> packed, const Needed& needed) {
  const T* left = (p.right_is_a ? b : a) + p.left_offset;
  const T* right = (p.right_is_a ? a : b) + p.right_offset;
  Runner<T> runner(p, left, right, out, epilogue);
  if (!packed.empty()) runner.use(packed[p.right_is_a ? 1 : 0], packed[p.right_is_a ? 0 : 1]);
  runner.limit(needed);
  runner.run();
}

template <class T>
Room product_room(const Product& p, std::array<bool, 2> packed) {
  const Epilogue none;
  return Runner<T>(p, nullptr, nullptr, nullptr, none).room(packed);
}

template <class T>
PackedSideRef pack_side(const Product& p, int operand, const T* data, const PackedSideRef& known) {
  bool right = p.right_is_a == (operand == 0);
  const T* left_data = right ? nullptr : data + p.left_offset;
  const T* right_data = right ? data + p.right_offset : nullptr;
  const Epilogue none;
  return Runner<T>(p, left_data, right_data, nullptr, none).pack(right, known);
}

#define LATHE_PRODUCT_OF(T)                                                          \
  template void run_product(const Product&, const T*, const T*, T*, const Epilogue&, \
                            absl::Span<const PackedSide* const>, const Needed&);     \
  template Room product_room<T>(const Product&, std::array<bool, 2>);                \
  template PackedSideRef pack_side(const Product&, int, const T*, const PackedSideRef&);
LATHE_PRODUCT_OF(float)
LATHE_PRODUCT_OF(double)
LATHE_PRODUCT_OF(uint32_t)
LATHE_PRODUCT_OF(uint64_t)
#undef LATHE_PRODUCT_OF

}  // namespace lathe::own
