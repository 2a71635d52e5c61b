// Running a Product: blocks, packing, tiles.
//
// choose_blocks() (product_blocks.h) cuts every product into tasks (row block, column block); a
// task runs all of k, one block of the defined sum at a time, so that each output is added up by
// one thread in the defined order. Within a task a block of columns is packed (or was packed for
// all tasks before, or is read where it lies), and strips of rows stream past it, a tile at a time.
//
// What needs no blocks goes other ways (product_ways.h). To read: run(), task(), sum_block().
#include <algorithm>
#include <optional>

#include "kernels/own/product_blocks.h"
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
    if (!p_.right_is_a && !p_.turned) cols_ = std::min(p_.cols, needed.columns);
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
    if ((right ? right_ : left_) == nullptr) return nullptr;
    auto packed =
        std::make_shared<PackedSide>(width, side.extent(), p_.depth, packed_bytes(side, width, 1));
    fill_panels(side, right ? right_ : left_, width, Copies(p_, right),
                packed->panels.template as<T>());
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
      all.kept +=
          size_class_bytes(packed_bytes(is_right ? p_.right : p_.left, width_of(is_right), 1));
    }
    if (is_small()) return all;
    if (windowed() || vector_fits()) {
      const int64_t each = windowed() ? window_elements(p_) : p_.rows * p_.depth;
      all.during = threads * size_class_bytes(static_cast<size_t>(each) * sizeof(T));
      return all;
    }
    choose();
    if (blocks_->left_shared && packed_left_ == nullptr)
      all.during += size_class_bytes(packed_bytes(p_.left, blocks_->strip, blocks_->left.count()));
    if (blocks_->right_shared && packed_right_ == nullptr)
      all.during += size_class_bytes(packed_bytes(p_.right, tiles_.cols, blocks_->right.count()));
    const auto tasks = static_cast<size_t>(p_.products * blocks_->row_blocks * blocks_->col_blocks);
    all.during += std::min(threads, tasks) * size_class_bytes(panel_bytes());
    return all;
  }

  void run() {
    if (p_.products == 0 || p_.rows == 0 || p_.cols == 0) return;
    if (p_.depth == 0) return zeros();
    const ProductRun<T> whole{p_, tiles_, left_, right_, out_, epilogue_};
    if (p_.taps) return run_window_taps(whole);
    if (is_small()) return run_small(whole);
    if (vector_fits()) return run_few_rows(whole);
    if (p_.lines) return run_window_lines(whole);
    choose();
    if (packed_left_ != nullptr)
      left_panels_ = packed_left_->panels.as<T>();
    else if (blocks_->left_shared)
      left_panels_ = pack_all(p_.left, left_, blocks_->strip, blocks_->left, shared_left_);
    if (packed_right_ != nullptr)
      right_panels_ = packed_right_->panels.as<T>();
    else if (blocks_->right_shared)
      right_panels_ = pack_all(p_.right, right_, tiles_.cols, blocks_->right, shared_right_);
    int64_t tasks = p_.products * blocks_->row_blocks * blocks_->col_blocks;
    parallel_for(tasks, tasks_together(work_of(blocks_->rows, blocks_->cols, p_.depth)),
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
    if (nothing_to_sum() || windowed() || is_small()) return false;
    if (vector_fits() && !right) return false;
    if ((right ? p_.right : p_.left).windows() > 0) return false;
    return std::all_of(p_.repeats.begin(), p_.repeats.end(),
                       [&](const Product::Repeat& r) { return (right ? r.right : r.left) == 0; });
  }
  bool is_small() const {
    return !windowed() && small_fits(p_) && cols_ == p_.cols && depth_ == p_.depth;
  }
  bool windowed() const { return p_.lines || p_.taps; }
  bool vector_fits() const { return few_rows_fit(p_, packed_right_ != nullptr); }
  int width_of(bool right) const { return right ? tiles_.cols : tiles_.rows; }
  void choose() {
    blocks_.emplace(choose_blocks(
        p_, {tiles_.rows, tiles_.cols, tiles_.direct_rows, static_cast<int64_t>(sizeof(T))},
        {packed_left_ != nullptr, packed_right_ != nullptr}));
  }

  void zeros() {
    int64_t n = p_.products * p_.rows * p_.cols;
    std::fill(out_, out_ + n, T{});
    if (epilogue_) epilogue_(0, n);
  }

  size_t panel_bytes() const {
    return static_cast<size_t>(right_room() + left_room() + 64) * sizeof(T);
  }
  int64_t right_room() const {
    if (blocks_->right_direct || blocks_->right_shared) return 0;
    return round_up(blocks_->cols, tiles_.cols) * std::min(p_.depth, p_.block);
  }
  int64_t left_room() const {
    if (blocks_->left_shared || blocks_->left_direct || blocks_->left_rows) return 0;
    return blocks_->strip * std::min(p_.depth, p_.block);
  }

  /// Of panels whose width is no number of whole vectors a vector more is read (few_columns). Sizes
  /// that are powers of two fill a block of memory exactly, of which the next one has a quarter
  /// more.
  size_t packed_bytes(const Side& side, int width, int64_t copies) const {
    const int64_t past = width % tiles_.lanes == 0 ? 0 : 64;
    const int64_t all = copies * round_up(side.extent(), width) * p_.depth + past;
    return static_cast<size_t>(all) * sizeof(T);
  }
  const T* pack_all(const Side& side, const T* base, int width, const Copies& copies,
                    std::optional<Scratch>& to) {
    to.emplace(packed_bytes(side, width, copies.count()));
    fill_panels(side, base, width, copies, to->template as<T>());
    return to->template as<T>();
  }
  /// A whole side in panels `width` wide, all k of a panel together.
  void fill_panels(const Side& side, const T* base, int width, const Copies& copies, T* data) {
    int64_t panels = (side.extent() + width - 1) / width, panel = width * p_.depth;
    bool left = &side == &p_.left;
    parallel_for(copies.count() * panels, tasks_together(panel * 16),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end; ++t) {
                     const ProductPlace at = place_of(p_, copies.first(t / panels));
                     int64_t x = t % panels * width;
                     int valid = static_cast<int>(std::min<int64_t>(width, side.extent() - x));
                     side.pack(tiles_, base, left ? at.left : at.right, x, valid, width, 0,
                               p_.depth, data + t * panel);
                   }
                 });
  }

  void task(int64_t t, T* scratch) {
    const Blocks& b = *blocks_;
    int64_t col_block = t % b.col_blocks;
    int64_t row_block = t / b.col_blocks % b.row_blocks;
    int64_t product = t / (b.col_blocks * b.row_blocks);
    const ProductPlace at = place_of(p_, product);
    Block block;
    block.row = row_block * b.rows;
    block.rows = std::min(b.rows, p_.rows - block.row);
    block.col = col_block * b.cols;
    block.cols = std::min(b.cols, cols_ - block.col);
    if (b.left_shared)
      block.packed_left = left_panels_ + b.left.of(product) * round_up(p_.rows, b.strip) * p_.depth;
    if (b.right_shared)
      block.packed_right =
          right_panels_ + b.right.of(product) * round_up(p_.cols, tiles_.cols) * p_.depth;
    block.right_panel = scratch;
    block.left_panel = scratch + right_room();
    Pace pace;
    // Where memory takes longer than the sums, panels are read in the order in which they lie: all
    // k of one, then the next; a single row takes two at a time.
    const int64_t end = block.col + block.cols, panels = p_.rows == 1 ? 2 : 1;
    const int64_t wide = b.streams ? panels * tiles_.cols : block.cols;
    int64_t ready = block.col;  // up to here the epilogue was called
    for (; block.col < end; block.col += wide) {
      block.cols = std::min(wide, end - block.col);
      for (int64_t k = 0; k < depth_; k += p_.block) {
        pace.after(p_.block * (block.rows + block.cols));
        sum_block(at, block, k, std::min(p_.block, depth_ - k));
      }
      if (!b.streams || p_.turned) continue;
      const int64_t now = block.col + block.cols;
      if (now < end && (now - ready) * block.rows < kReady) continue;
      finish(out_ + at.out + place(block.row, ready), block.rows, now - ready, p_.cols);
      ready = now;
    }
  }
  /// Outputs of panels that are read in order before the epilogue is called: of the few that one
  /// panel has it would mostly be calls.
  static constexpr int64_t kReady = 1 << 14;

  struct Block {
    int64_t row, rows, col, cols;
    const T* packed_left = nullptr;
    const T* packed_right = nullptr;
    T* right_panel;
    T* left_panel;
  };

  void sum_block(const ProductPlace& at, const Block& block, int64_t k, int64_t depth) {
    if (!blocks_->right_direct && !blocks_->right_shared) pack_right(at, block, k, depth);
    const int64_t few = few_columns(at, block, k, depth);
    Block rest = block;
    rest.cols -= few;
    const int most = blocks_->strip;
    const bool last = k + depth == depth_;
    for (int64_t i = 0; i < block.rows; i += most) {
      int rows = static_cast<int>(std::min<int64_t>(most, block.rows - i));
      T* c = out_ + at.out + place(block.row + i, block.col);
      blocks_->left_rows ? direct_strip(at, rest, i, rows, k, depth, c)
                         : packed_strip(at, rest, i, rows, k, depth, c);
      if (last && !p_.turned && !blocks_->streams) finish(c, rows, block.cols, p_.cols);
    }
    if (last && p_.turned)
      finish(out_ + at.out + place(block.row, block.col), block.cols, block.rows, p_.rows);
  }

  /// Where an output lies, and how far apart the lines of the output are.
  int64_t place(int64_t row, int64_t col) const {
    return p_.turned ? col * p_.rows + row : row * p_.cols + col;
  }
  /// Calls the epilogue on some lines that have their final value.
  void finish(T* c, int64_t lines, int64_t length, int64_t apart) {
    if (!epilogue_) return;
    if (length == apart) return epilogue_(c - out_, lines * length);  // they follow each other
    epilogue_({c - out_, length, lines, apart});
  }

  /// The last columns of a block, of all its rows, where so few are left that rows are better lanes
  /// than they. How many these are.
  int64_t few_columns(const ProductPlace& at, const Block& block, int64_t k, int64_t depth) {
    const int64_t few = block.cols % tiles_.cols;
    const bool fit = tiles_.few_columns != nullptr && blocks_->left_shared && !p_.turned &&
                     blocks_->strip == tiles_.rows;
    if (!fit || few == 0 || few > kFewColumns) return 0;
    TileCall<T> call{};
    call.rows = static_cast<int>(block.rows);
    call.cols = static_cast<int>(few);
    call.depth = depth;
    call.add = k > 0;
    call.ldc = p_.cols;
    left_panel(at, block, block.row, k, call);
    right_panel(at, block, block.cols - few, k, depth, call.b, call.b_k);
    call.c = out_ + at.out + place(block.row, block.col + block.cols - few);
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
    const int width =
        rows == 1 && blocks_->right_shared && !p_.turned ? 2 * tiles_.cols : tiles_.cols;
    for (int64_t j = 0; j < block.cols; j += width) {
      call.cols = static_cast<int>(std::min<int64_t>(width, block.cols - j));
      right_panel(at, block, j, k, depth, call.b, call.b_k);
      if (call.cols <= tiles_.cols) {
        fetch(ahead, j, call);
        sum_tile(tiles_.tile, call, c, j);
        continue;
      }
      call.c = c + j;
      tiles_.row_tile(call, tiles_.cols * p_.depth);
    }
  }

  /// What a strip of tiles fetches ahead: a share for each panel of the block.
  struct Ahead {
    const T* from = nullptr;  // for the first panel
    int64_t apart = 0;        // elements from one share to the next
    int64_t step = 0;         // elements a k
    int64_t cols = 0;         // of the block, that have a share
  };
  Ahead after(const Block& block, int64_t i, int64_t k, int64_t depth) const {
    if (block.cols == 0) return {};
    if (blocks_->streams) return stream_after(block, i, k, depth);
    if (blocks_->right_shared) return panels_after(block, i, k, depth);
    return blocks_->left_shared ? strip_after(block, i, k, depth) : Ahead{};
  }
  /// Of panels that are read one after the other: what comes soon, where one strip takes its time
  /// to read it; of several, which share the work, as many terms further as a block has.
  Ahead stream_after(const Block& block, int64_t i, int64_t k, int64_t depth) const {
    constexpr int64_t kSoon = 96;
    const int64_t further = block.rows <= blocks_->strip ? kSoon : p_.block;
    const T* from = block.packed_right + block.col * p_.depth + (k + further) * tiles_.cols;
    return share_of(from, depth, block, i, depth, block.cols);
  }
  /// Of a packed right side: the panels that come after those of the block, further along k or in
  /// the next one.
  Ahead panels_after(const Block& block, int64_t i, int64_t k, int64_t depth) const {
    const bool deeper = k + depth < p_.depth;
    const int64_t col = block.col + (deeper ? 0 : block.cols), next = deeper ? k + depth : 0;
    if (col >= p_.cols) return {};
    const T* from = block.packed_right + col * p_.depth + next * tiles_.cols;
    return share_of(from, std::min(p_.block, p_.depth - next), block, i, depth, p_.cols - col);
  }
  /// The share in so many terms of each panel that the strip at row i has.
  Ahead share_of(const T* from, int64_t terms, const Block& block, int64_t i, int64_t depth,
                 int64_t cols) const {
    const int64_t share = blocks(terms * tiles_.cols, blocks(block.rows, blocks_->strip));
    return {from + i / blocks_->strip * share, tiles_.cols * p_.depth, blocks(share, depth), cols};
  }
  /// Of a packed left side: the next strip, or the first one further along k.
  Ahead strip_after(const Block& block, int64_t i, int64_t k, int64_t depth) const {
    const int64_t strip = blocks_->strip;
    const bool below = i + strip < block.rows;
    const int64_t next = below ? k : k + depth, row = below ? block.row + i + strip : block.row;
    if (next >= p_.depth) return {};
    const int64_t terms = std::min(p_.block, p_.depth - next);
    const int64_t share = blocks(terms * strip, blocks(block.cols, tiles_.cols));
    return {block.packed_left + row / strip * strip * p_.depth + next * strip, share,
            blocks(share, depth), block.cols};
  }

  /// What the tile from column j of the block on fetches.
  template <class Call>
  void fetch(const Ahead& ahead, int64_t j, Call& call) const {
    const bool more = j < ahead.cols;  // else what it reads itself, which is near
    const int64_t apart = j / tiles_.cols * ahead.apart;
    call.ahead = reinterpret_cast<uintptr_t>(more ? ahead.from + apart : call.b);
    call.ahead_k = more ? static_cast<uintptr_t>(ahead.step) * sizeof(T) : 0;
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
    const Ahead ahead = after(block, i, k, depth);
    for (int64_t j = 0; j < block.cols; j += tiles_.cols) {
      call.cols = static_cast<int>(std::min<int64_t>(tiles_.cols, block.cols - j));
      right_panel(at, block, j, k, depth, call.b, call.b_k);
      fetch(ahead, j, call);
      sum_tile(tiles_.tile_rows, call, c, j);
    }
  }

  /// A tile of the strip at c, from column j of the block on.
  template <class Call>
  void sum_tile(void (*tile)(const Call&), Call& call, T* c, int64_t j) const {
    if (!p_.turned) {
      call.c = c + j;
      return tile(call);
    }
    alignas(64) T sums[kMostSums];
    Call alone = call;
    alone.c = sums;
    alone.ldc = tiles_.cols;
    alone.add = false;
    tile(alone);
    tiles_.put_turned(sums, call.rows, call.cols, c + j * p_.rows, p_.rows, call.add);
  }

  void left_panel(const ProductPlace& at, const Block& block, int64_t row, int64_t k,
                  TileCall<T>& call) {
    const int strip = blocks_->strip;
    call.a_k = strip;
    if (blocks_->left_direct) {
      call.a = left_ + at.left.offset + row + k * p_.left.k_step();
      call.a_k = p_.left.k_step();
    } else if (blocks_->left_shared) {
      call.a = block.packed_left + row / strip * strip * p_.depth + k * strip;
    } else {
      p_.left.pack(tiles_, left_, at.left, row, call.rows, strip, k, call.depth, block.left_panel);
      call.a = block.left_panel;
    }
  }

  void right_panel(const ProductPlace& at, const Block& block, int64_t j, int64_t k, int64_t depth,
                   const T*& b, int64_t& b_k) {
    b_k = tiles_.cols;
    if (blocks_->right_direct) {
      b = right_ + at.right.offset + block.col + j + k * p_.right.k_step();
      b_k = p_.right.k_step();
    } else if (blocks_->right_shared) {
      b = block.packed_right + (block.col + j) * p_.depth + k * tiles_.cols;
    } else {
      b = block.right_panel + j * depth;
    }
  }

  const Product& p_;
  const Tiles<T>& tiles_;
  const T* left_;
  const T* right_;
  T* out_;
  const Epilogue& epilogue_;
  int64_t cols_ = p_.cols, depth_ = p_.depth;  // that are needed
  std::optional<Blocks> blocks_;
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
  const T* first = data == nullptr ? nullptr : data + (right ? p.right_offset : p.left_offset);
  const T *left_data = right ? nullptr : first, *right_data = right ? first : nullptr;
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
