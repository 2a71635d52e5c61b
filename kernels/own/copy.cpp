// Strided copies without conversion: the memory-bound half of clone, contiguous, cat and
// assignment.
#include <algorithm>
#include <cstring>

#include "kernels/own/kinds.h"
#include "kernels/own/tiles.h"
#include "kernels/pool.h"

namespace lathe::own {
namespace {

constexpr int64_t kTile = 64;  // of a transposing copy: both sides stay in L1

/// The lines of a walk of two, one after the other: no division for each, as lines may be of two
/// elements.
class Lines {
 public:
  Lines(const Walk& walk, int64_t first)
      : walk_(walk), axes_(walk.shape.size() - 1), index_(axes_, 0), at_{} {
    walk_offsets(walk, static_cast<int>(axes_), first, absl::MakeSpan(at_));
    for (size_t axis = axes_; axis-- > 0; first /= walk.shape[axis])
      index_[axis] = first % walk.shape[axis];
  }
  int64_t target() const { return at_[0]; }
  int64_t source() const { return at_[1]; }
  void next() {
    for (size_t axis = axes_; axis-- > 0;) {
      const bool wraps = ++index_[axis] == walk_.shape[axis];
      const int64_t steps = wraps ? 1 - walk_.shape[axis] : 1;
      for (size_t k = 0; k < 2; ++k) at_[k] += steps * walk_.strides[k][axis];
      if (!wraps) return;
      index_[axis] = 0;
    }
  }

 private:
  const Walk& walk_;
  size_t axes_;
  Sizes index_;
  int64_t at_[2];
};

template <class T>
void line(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t n) {
  constexpr int64_t kFew = 8;
  if (to_step == 1 && from_step == 1 && n > kFew) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (to_step == 1 && from_step == 0 && n > kFew) {
    std::fill(to, to + n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
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
      tiles.pack_transposed(from + c0 * from_col + r0, from_col, depth, width, kWide, block);
      for (int64_t r = 0; r < depth; ++r)
        std::memcpy(to + (r0 + r) * to_row + c0, block + r * kWide,
                    static_cast<size_t>(width) * sizeof(F));
    }
  }
}

template <class T>
void turn(T* to, int64_t to_row, const T* from, int64_t from_col, int64_t rows, int64_t cols,
          int64_t from_row, int64_t to_col) {
  if constexpr (sizeof(T) >= 4) {
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
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < rank; ++i) rows *= w.shape[i];
  // One long line is cut too.
  constexpr int64_t kPiece = 1 << 16;
  int64_t pieces = (cols + kPiece - 1) / kPiece;
  int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, std::min(cols, kPiece)));
  parallel_for(rows * pieces, grain, [&](int64_t begin, int64_t end) {
    int64_t piece = begin % pieces;
    for (Lines lines(w, begin / pieces); begin < end; ++begin) {
      int64_t col = piece * kPiece;
      line(target + lines.target() + col * to_col, to_col, source + lines.source() + col * from_col,
           from_col, std::min(kPiece, cols - col));
      if (++piece < pieces) continue;
      piece = 0;
      lines.next();
    }
  });
}

bool row_major(const Operand& o) {
  int64_t step = 1;
  for (size_t i = o.shape.size(); i-- > 0;) {
    if (o.strides[i] != step && o.shape[i] != 1) return false;
    step *= o.shape[i];
  }
  return true;
}

}  // namespace

void copy_elements(const Operand& from, const Operand& to) {
  constexpr int64_t kFew = 4096;  // more are worth several threads
  int64_t n = to.numel();
  if (n == 0) return;
  if (n <= kFew && row_major(from) && row_major(to)) {
    std::memmove(to.data, from.data, static_cast<size_t>(n) * size_of(to.dtype));
    return;
  }
  switch (size_of(to.dtype)) {
    case 1:
      return copy_as<uint8_t>(from, to);
    case 2:
      return copy_as<uint16_t>(from, to);
    case 4:
      return copy_as<uint32_t>(from, to);
    default:
      return copy_as<uint64_t>(from, to);
  }
}

}  // namespace lathe::own
