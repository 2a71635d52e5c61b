// The inner routines of our matrix products, one set an instruction set. Every set gives the same
// bits: each output is one chain of fused multiply-adds in ascending k, whatever the tile. Of whole
// numbers the products and sums wrap around, so that their low bits are right for any integer dtype
// that is no wider.
#pragma once

#include <cstdint>

namespace lathe::own {

/// c[r, j] = (add ? c[r, j] : nothing) + chain over k in [0, depth) of a[r + k*a_k] * b[j + k*b_k],
/// r in [0, rows), j in [0, cols).
template <class T>
struct TileCall {
  const T* a;
  const T* b;
  T* c;
  int64_t a_k, b_k, ldc;  // ldc: from row to row of c
  int64_t depth;
  int rows, cols;  // at most those of the set
  bool add;
  /// Fetched on the way, two lines of the cache, `ahead_k` bytes further at each k: what a later
  /// tile reads, so that memory works while this one computes. Any address: it is never read.
  uintptr_t ahead, ahead_k;
};

/// The same with a[r*a_row + k]: rows read where they lie. For few columns, where copying them
/// would not pay.
template <class T>
struct RowsCall {
  const T* a;
  const T* b;
  T* c;
  int64_t a_row, b_k, ldc;
  int64_t depth;
  int rows, cols;  // rows at most `direct_rows`
  bool add;
  uintptr_t ahead, ahead_k;  // as above
};

/// Lanes whose elements lie evenly: lane + i comes from element from + i * step, i in [0, count).
/// Several are in ascending order of lanes.
struct LaneRun {
  int lane, count;
  int64_t from, step;
};

/// Rows of elements, with their edges: to[(row*phases + p)*n + i] = element i*phases + p of the
/// row, for p < phases and i < n; 0 where that is not in [lo, hi). Element e is from[row*row_step +
/// e*step]. The same for `count` such groups of rows, from_step and to_step apart.
template <class T>
struct RowsToSplit {
  const T* from;
  int64_t row_step, step, rows;
  int64_t lo, hi, phases, n;
  T* to;
  int64_t count = 1, from_step = 0, to_step = 0;
};

/// Some lines of outputs for each row: y[r*y_row + l*y_line + j] = (add ? y : nothing) +
/// chain over t in [0, depth) of w[r*w_row + t*w_step] * x[taps[t] + l*line_step + j], for j in [0,
/// cols). x may be read for up to a vector more; what of y lies between two lines is not touched.
template <class T>
struct WindowCall {
  const T* x;
  const int64_t* taps;
  const T* w;
  T* y;
  int64_t line_step, w_row, w_step, y_row, y_line;
  int64_t rows, lines, cols, depth;
  bool add;
};

/// c[r*ldc + j] = (add ? c : nothing) + chain over k in [0, depth) of x[taps[r] + places[k]] * b[j
/// + k*b_k], r in [0, rows), j in [0, cols).
template <class T>
struct TapsCall {
  const T* x;
  const int64_t *taps, *places;
  const T* b;
  T* c;
  int64_t b_k, ldc, depth;
  int rows, cols;  // rows at most `direct_rows`
  bool add;
};
/// Products one after the other, of all of which c[r*cols + j] = chain over k in [0, depth) of
/// a[r*a_row + k*a_k] * b[j*b_col + k*b_k]; from one to the next a and b move by a step each, and c
/// by rows * cols.
template <class T>
struct SmallCall {
  const T* a = nullptr;
  const T* b = nullptr;
  T* c = nullptr;
  int64_t a_row, a_k, b_col, b_k, a_product, b_product;
  int rows, cols, depth;
  int64_t products = 0;
};
constexpr int kLaneTaps = 9;
constexpr int kFewColumns = 4;

constexpr int kMostLanes = 64;   // rows, or columns, of any set
constexpr int kMostSums = 1024;  // of a tile of any set

template <class T>
struct Tiles {
  const char* name;
  int rows, cols, direct_rows, lanes;  // lanes: of one vector
  void (*tile)(const TileCall<T>&);
  /// Of one row and two panels of b, the second `panel` elements further, both of full width: more
  /// than `cols` columns, up to twice as many. One panel has too few chains for one row. Nothing is
  /// fetched ahead: two streams are what the processor sees by itself, and it is done with each
  /// line so soon that asking for it takes longer.
  void (*row_tile)(const TileCall<T>&, int64_t panel);
  /// Of at most kFewColumns columns, and any rows: those of each panel of a are `panel` elements
  /// from the last one's. Rows are the lanes: a tile would leave most of its own empty. Null: tiles
  /// are as good. Nothing is fetched ahead.
  void (*few_columns)(const TileCall<T>&, int64_t panel);
  void (*tile_rows)(const RowsCall<T>&);
  /// c[j*ldc + r] = (add ? c[j*ldc + r] : nothing) + sums[r*cols + j] (cols: the set's), for the
  /// rows and columns of a tile.
  void (*put_turned)(const T* sums, int rows, int cols, T* c, int64_t ldc, bool add);
  void (*taps)(const TapsCall<T>&);
  /// The same with x[taps[r] + places[k] + j], of one vector: rows at most kLaneTaps, cols a
  /// vector.
  void (*lane_taps)(const TapsCall<T>&);
  /// to[k*width + r] = from[k*ld + r] for r < valid; 0 up to width.
  void (*pack_straight)(const T* from, int64_t ld, int64_t depth, int valid, int width, T* to);
  /// to[places[k]*pitch + r] = from[r*ld + k] for r < valid; 0 up to width. No places: each its
  /// own.
  void (*pack_transposed)(const T* from, int64_t ld, int64_t depth, int valid, int width,
                          int64_t pitch, const int64_t* places, T* to);
  /// to[k*width + lane] = from[run.from + (lane - run.lane)*run.step + k*step] in every run; 0
  /// elsewhere.
  void (*pack_runs)(const T* from, int64_t step, int64_t depth, const LaneRun* runs, int count,
                    int width, T* to);
  void (*split_rows)(const RowsToSplit<T>&);
  /// to[i*phases + p] = from[p][i], for i*phases + p < n.
  void (*join_row)(const T* const* from, int64_t phases, int64_t n, T* to);
  void (*window_lines)(const WindowCall<T>&);
  /// y[j] = (add ? y[j] : nothing) + chain over k of x[k*x_k] * m[k*ld + j]
  void (*row_times_matrix)(const T* x, int64_t x_k, const T* m, int64_t ld, int64_t depth,
                           int64_t cols, T* y, bool add);
  /// y[i*ldy + r] = the sum, in order, of (add ? y : nothing) and the chains over `block` k each of
  /// m[r*ld + k] * x[i*ldx + k], for i < columns <= 4
  void (*matrix_times_columns)(const T* m, int64_t ld, const T* x, int64_t ldx, int columns,
                               int64_t depth, int64_t block, int64_t rows, T* y, int64_t ldy,
                               bool add);
  void (*small)(const SmallCall<T>&);
  /// y[r] = the sum, in order, of the chains over `block` k each of m[r*ld + k] * x[r*ldx + k]
  void (*paired_rows)(const T* m, int64_t ld, const T* x, int64_t ldx, int64_t depth, int64_t block,
                      int64_t rows, T* y);
};

/// The sets of one instruction set.
struct TileSets {
  Tiles<float> f32;
  Tiles<double> f64;
  Tiles<uint32_t> u32;
  Tiles<uint64_t> u64;
};
const TileSets& tiles_portable();
const TileSets& tiles_avx2();
const TileSets& tiles_avx512();

/// The best set this machine runs (flag "isa" may ask for less).
template <class T>
const Tiles<T>& tiles();
template <>
const Tiles<float>& tiles<float>();
template <>
const Tiles<double>& tiles<double>();
template <>
const Tiles<uint32_t>& tiles<uint32_t>();
template <>
const Tiles<uint64_t>& tiles<uint64_t>();

}  // namespace lathe::own
