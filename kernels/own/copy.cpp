// Strided copies without conversion: the memory-bound half of clone, contiguous, cat and
// assignment.
#include "kernels/own/copy.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/own/few.h"
#include "kernels/own/odometer.h"
#include "kernels/own/tiles.h"
#include "kernels/runtime/pool.h"
#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

constexpr int64_t kTile = 64;  // of a transposing copy: both sides stay in L1

constexpr int64_t kPiece = 1 << 16;  // elements that are worth a thread

/// to[i] = from[-i].
template <class T>
void copy_reversed(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  if constexpr (sizeof(T) == 1) {  // what moves bytes of vectors is not in every processor
    for (; i + 8 <= n; i += 8) {
      uint64_t some;
      std::memcpy(&some, from - i - 7, 8);
      some = __builtin_bswap64(some);
      std::memcpy(to + i, &some, 8);
    }
  } else if constexpr (sizeof(T) <= 8) {
    constexpr int64_t kCount = Few<T>::kCount;
    for (; i + kCount <= n; i += kCount) {
      typename Few<T>::Vector some;
      std::memcpy(&some, from - i - (kCount - 1), 16);
      some = Few<T>::reversed(some, std::make_index_sequence<kCount>{});
      std::memcpy(to + i, &some, 16);
    }
  }
  for (; i < n; ++i) to[i] = from[-i];
}

/// The last axes of a walk of two, outermost first: as many as are worth a loop nest of their own.
struct LoopNest {
  static constexpr size_t kAxes = 3;
  int64_t extent[kAxes] = {1, 1, 1}, to[kAxes] = {}, from[kAxes] = {};
  size_t axes = 1;

  /// A long line with steps is a loop nest by itself; short ones, and those without, are taken
  /// together with the axes around them, as long as a step of the outermost is at most a piece.
  explicit LoopNest(const Walk& w) {
    constexpr int64_t kFew = 8;
    const size_t rank = w.shape.size();
    const bool steps =
        w.strides[0].back() != 1 || w.strides[1].back() < 0 || w.strides[1].back() > 1;
    const int64_t most = steps ? kFew : kPiece;
    int64_t inside = 1;
    for (axes = 0; axes < std::min(rank, kAxes) && inside <= (axes == 1 ? most : kPiece); ++axes) {
      const size_t k = kAxes - 1 - axes, axis = rank - 1 - axes;
      extent[k] = w.shape[axis];
      to[k] = w.strides[0][axis];
      from[k] = w.strides[1][axis];
      inside *= extent[k];
    }
  }
  /// The outermost axis of the loop nest, along which it may be cut, and elements for each of its
  /// steps.
  size_t cut() const { return kAxes - axes; }
  int64_t each() const {
    int64_t n = 1;
    for (size_t i = cut() + 1; i < kAxes; ++i) n *= extent[i];
    return n;
  }
};

template <class T>
void fill_line(T* to, const T* value, int64_t n) {
  constexpr int64_t kShort = 64;
  if (n <= kShort)
    std::fill_n(to, n, *value);
  else
    simd_loops().fill[size_class(sizeof(T))](to, value, static_cast<size_t>(n));
}

/// Lines of n elements; N = n where it is known; whole: elements side by side in both.
template <int64_t N, bool whole, class T>
void copy_lines(const LoopNest& nest, T* to, const T* from, int64_t known) {
  const int64_t n = N > 0 ? N : known, to_step = nest.to[2], from_step = nest.from[2];
  for (int64_t i = 0; i < nest.extent[0]; ++i, to += nest.to[0], from += nest.from[0])
    for (int64_t j = 0; j < nest.extent[1]; ++j) {
      T* target = to + j * nest.to[1];
      const T* source = from + j * nest.from[1];
      if constexpr (whole)
        std::memcpy(target, source, static_cast<size_t>(n) * sizeof(T));
      else if (N == 0 && to_step == 1 && from_step == -1)
        copy_reversed(target, source, n);
      else if (to_step == 1 && from_step == 0)
        fill_line(target, source, n);
      else
        for (int64_t k = 0; k < n; ++k) target[k * to_step] = source[k * from_step];
    }
}

template <int64_t N, class T>
void lines_of(const LoopNest& nest, T* to, const T* from, int64_t n) {
  nest.to[2] == 1 && nest.from[2] == 1 ? copy_lines<N, true>(nest, to, from, n)
                                       : copy_lines<N, false>(nest, to, from, n);
}

template <class T>
void copy_nest(const LoopNest& nest, T* to, const T* from) {
  const int64_t n = nest.extent[2], to_step = nest.to[2], from_step = nest.from[2];
  if (nest.axes > 1) {
    if (n == 2) return lines_of<2>(nest, to, from, n);
    if (n == 3) return lines_of<3>(nest, to, from, n);
    if (n == 4) return lines_of<4>(nest, to, from, n);
    return lines_of<0>(nest, to, from, n);
  }
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (to_step == 1 && from_step == -1) {
    copy_reversed(to, from, n);
  } else if (to_step == 1 && from_step == 0) {
    fill_line(to, from, n);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

/// Everything in nests, cut into pieces of bounded size.
template <class T>
void copy_nests(const Walk& w, T* target, const T* source) {
  const LoopNest whole(w);
  const size_t cut = whole.cut();
  const int64_t steps = std::max<int64_t>(1, kPiece / whole.each());
  const int64_t pieces = (whole.extent[cut] + steps - 1) / steps;
  const Odometer<2> nests(w.shape, {&w.strides[0], &w.strides[1]}, whole.axes);
  int64_t piece_size = whole.each() * std::min(steps, whole.extent[cut]);
  parallel_for(nests.count() * pieces, std::max<int64_t>(1, kPiece / piece_size),
               [&](int64_t begin, int64_t end) {
                 Odometer<2> at = nests;
                 at.seek(begin / pieces);
                 int64_t piece = begin % pieces;
                 LoopNest part = whole;
                 for (; begin < end; ++begin) {
                   const int64_t first = piece * steps;
                   part.extent[cut] = std::min(steps, whole.extent[cut] - first);
                   copy_nest(part, target + at.offset[0] + first * whole.to[cut],
                             source + at.offset[1] + first * whole.from[cut]);
                   if (++piece < pieces) continue;
                   piece = 0;
                   at.next();
                 }
               });
}

/// Asks for the lines of the cache that hold n lines of elements, each a step from the last: what a
/// block that is turned touches lies in as many pages as it has lines, and no processor foresees
/// it.
template <bool kWrites, class T>
void fetch_ahead(const T* lines, int64_t step, int64_t n, int64_t elements) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < elements; k += kLine)
      __builtin_prefetch(lines + i * step + k, kWrites ? 1 : 0);
}

/// Rows of `width` elements, from rows of kWide: by two pieces of one size, which may overlap.
template <int kWide, class F>
void put_rows(F* to, int64_t to_row, const F* from, int64_t rows, int width) {
  const auto by = [&](auto size) {
    constexpr size_t kBytes = decltype(size)::value * sizeof(F);
    const int64_t second = width - decltype(size)::value;
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * to_row, from + r * kWide, kBytes);
      std::memcpy(to + r * to_row + second, from + r * kWide + second, kBytes);
    }
  };
  if (width >= 8)
    by(std::integral_constant<int, 8>());
  else if (width >= 4)
    by(std::integral_constant<int, 4>());
  else if (width >= 2)
    by(std::integral_constant<int, 2>());
  else
    by(std::integral_constant<int, 1>());
}

/// rows x cols, where the source runs along rows and the target along columns, by the tiles' way of
/// turning blocks in registers. Elements are only moved: their bits are taken for those of a float.
template <class F>
void turn_floats(F* to, int64_t to_row, const F* from, int64_t from_col, int64_t rows,
                 int64_t cols) {
  constexpr int kWide = 16;
  constexpr int64_t kDeep = 64;
  alignas(64) F block[kDeep * kWide];
  const Tiles<F>& tiles = own::tiles<F>();
  for (int64_t c0 = 0; c0 < cols; c0 += kWide) {
    int width = static_cast<int>(std::min<int64_t>(kWide, cols - c0));
    for (int64_t r0 = 0; r0 < rows; r0 += kDeep) {
      int64_t depth = std::min(kDeep, rows - r0);
      tiles.pack_transposed(from + c0 * from_col + r0, from_col, depth, width, kWide, kWide,
                            nullptr, block);
      F* target = to + r0 * to_row + c0;
      const int64_t next = std::min<int64_t>(kWide, cols - c0 - width);
      fetch_ahead<false>(from + (c0 + kWide) * from_col + r0, from_col, next, depth);
      if (next > 0) fetch_ahead<true>(target + kWide, to_row, depth, next);
      put_rows<kWide>(target, to_row, block, depth, width);
    }
  }
}

/// A block of small elements, of so many along both sides as a vector of sixteen bytes holds.
template <class T>
[[gnu::always_inline]] inline void turn_vectors(T* to, int64_t to_row, const T* from,
                                                int64_t from_col) {
  constexpr int64_t n = Few<T>::kCount;
  typename Few<T>::Vector block[n];
#pragma GCC unroll 16
  for (int64_t i = 0; i < n; ++i) std::memcpy(&block[i], from + i * from_col, 16);
  Few<T>::transpose(block);
#pragma GCC unroll 16
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_row, &block[i], 16);
}

/// One of as many as a line of the cache holds: lines are read and written whole, where lines that
/// lie a power of two apart would push each other out.
template <class T>
void turn_lines(T* to, int64_t to_row, const T* from, int64_t from_col) {
  constexpr int64_t n = Few<T>::kCount, kSide = 64 / sizeof(T);
  alignas(64) T block[kSide * kSide];
  for (int64_t c = 0; c < kSide; c += n)
    for (int64_t r = 0; r < kSide; r += n)
      turn_vectors(block + r * kSide + c, kSide, from + c * from_col + r, from_col);
  for (int64_t r = 0; r < kSide; ++r) std::memcpy(to + r * to_row, block + r * kSide, 64);
}

/// The same of small elements: by lines, around these by vectors, around these one by one.
template <class T>
void turn_few(T* to, int64_t to_row, const T* from, int64_t from_col, int64_t rows, int64_t cols) {
  constexpr int64_t n = Few<T>::kCount, kSide = 64 / sizeof(T);
  const int64_t line_rows = rows / kSide * kSide, line_cols = cols / kSide * kSide;
  for (int64_t c = 0; c < line_cols; c += kSide) {
    const int64_t next = std::min<int64_t>(kSide, line_cols - c - kSide);
    fetch_ahead<false>(from + (c + kSide) * from_col, from_col, next, rows);
    if (next > 0) fetch_ahead<true>(to + c + kSide, to_row, rows, next);
    for (int64_t r = 0; r < line_rows; r += kSide)
      turn_lines(to + r * to_row + c, to_row, from + c * from_col + r, from_col);
  }
  const int64_t whole_rows = rows / n * n, whole_cols = cols / n * n;
  for (int64_t c = 0; c < whole_cols; c += n)
    for (int64_t r = c < line_cols ? line_rows : 0; r < whole_rows; r += n)
      turn_vectors(to + r * to_row + c, to_row, from + c * from_col + r, from_col);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
      to[r * to_row + c] = from[r + c * from_col];
}

template <class T>
void turn(T* to, int64_t to_row, const T* from, int64_t from_col, int64_t rows, int64_t cols,
          int64_t from_row, int64_t to_col) {
  if constexpr (sizeof(T) <= 2)
    if (from_row == 1 && to_col == 1) return turn_few(to, to_row, from, from_col, rows, cols);
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    using F = std::conditional_t<sizeof(T) == 4, float, double>;
    if (from_row == 1 && to_col == 1)
      return turn_floats(reinterpret_cast<F*>(to), to_row, reinterpret_cast<const F*>(from),
                         from_col, rows, cols);
  }
  for (int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (int64_t c0 = 0; c0 < cols; c0 += kTile)
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
        for (int64_t c = c0; c < std::min(cols, c0 + kTile); ++c)
          to[r * to_row + c * to_col] = from[r * from_row + c * from_col];
}

/// Goes along axes that the source runs backwards from their other end: it turns blocks of elements
/// only where they lie in order.
template <class T>
void straighten_source(Walk& w, T*& target, const T*& source) {
  for (size_t i = 0; i + 1 < w.shape.size(); ++i) {
    if (w.strides[1][i] != -1) continue;
    const int64_t last = w.shape[i] - 1;
    target += w.strides[0][i] * last;
    source -= last;
    for (Sizes& s : w.strides) s[i] = -s[i];
  }
}

template <class T>
void copy_as(const Operand& from, const Operand& to) {
  const Operand* both[] = {&to, &from};
  Walk w = make_walk(both, to.shape, true);
  auto* target = reinterpret_cast<T*>(to.data);
  const auto* source = reinterpret_cast<const T*>(from.data);
  size_t rank = w.shape.size();
  if (rank == 0) {
    *target = *source;
    return;
  }
  straighten_source(w, target, source);
  const Sizes &ts = w.strides[0], &fs = w.strides[1];
  // The source's own fast axis goes next to last, where it is another than the target's.
  size_t fast = rank - 1;
  for (size_t i = 0; i + 1 < rank; ++i)
    if (fs[i] == 1 && fs[rank - 1] != 1 && fs[rank - 1] != 0) fast = i;
  bool turned = fast != rank - 1 && w.shape[fast] >= 4 && w.shape[rank - 1] >= 4;
  int64_t cols = w.shape[rank - 1], to_col = ts[rank - 1], from_col = fs[rank - 1];
  if (turned) {
    int64_t rows = w.shape[fast], to_row = ts[fast], from_row = fs[fast];
    Walk outer = w;
    for (size_t axis : {rank - 1, fast}) {
      outer.shape.erase(outer.shape.begin() + static_cast<ptrdiff_t>(axis));
      for (Sizes& s : outer.strides) s.erase(s.begin() + static_cast<ptrdiff_t>(axis));
    }
    int64_t count = 1;
    for (int64_t e : outer.shape) count *= e;
    int64_t bands = (rows + kTile - 1) / kTile;
    int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, kTile * cols));
    parallel_for(count * bands, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at[2];
        walk_offsets(outer, static_cast<int>(outer.shape.size()), i / bands, absl::MakeSpan(at));
        int64_t row = i % bands * kTile;
        turn(target + at[0] + row * to_row, to_row, source + at[1] + row * from_row, from_col,
             std::min(kTile, rows - row), cols, from_row, to_col);
      }
    });
    return;
  }
  copy_nests(w, target, source);
}

}  // namespace

bool row_major(const Operand& o) {
  int64_t step = 1;
  for (size_t i = o.shape.size(); i-- > 0;) {
    if (o.strides[i] != step && o.shape[i] != 1) return false;
    step *= o.shape[i];
  }
  return true;
}

void copy_elements(const Operand& from, const Operand& to) {
  constexpr int64_t kFew = 4096;  // more are worth several threads
  int64_t n = to.numel();
  if (n == 0) return;
  if (n <= kFew && row_major(to)) {
    const size_t bytes = size_of(to.dtype);
    if (row_major(from)) {
      std::memmove(to.data, from.data, static_cast<size_t>(n) * bytes);
      return;
    }
    if (absl::c_all_of(from.strides, [](int64_t step) { return step == 0; }))
      return simd_loops().fill[size_class(bytes)](to.data, from.data, static_cast<size_t>(n));
  }
  switch (size_of(to.dtype)) {
    case 1:
      return copy_as<uint8_t>(from, to);
    case 2:
      return copy_as<uint16_t>(from, to);
    case 4:
      return copy_as<uint32_t>(from, to);
    case 8:
      return copy_as<uint64_t>(from, to);
    default:
      return copy_as<TwoWords>(from, to);
  }
}

}  // namespace lathe::own
