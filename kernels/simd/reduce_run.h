// A reduction under way: what ReduceProgram::run and piece share. Private to reduce*.cpp.
//
// States travel in rows: a row of `width` reductions holds state k of reduction r at offset_[k] *
// width + r * (size of state k).
#pragma once

#include <memory>

#include "kernels/runtime/scratch.h"
#include "kernels/simd/reduce.h"

namespace lathe {

inline int64_t count_of(absl::Span<const ReduceAxis> axes) {
  int64_t n = 1;
  for (const ReduceAxis& a : axes) n *= a.size;
  return n;
}

/// Walks the reduced elements in row-major order, a stretch of the last axis at a time.
class ElementWalk {
 public:
  ElementWalk(absl::Span<const ReduceAxis> axes, int64_t begin);
  int64_t offset() const { return offset_; }
  /// Elements left on the last axis, and the distance between them.
  int64_t run() const { return axes_.empty() ? 1 : axes_.back().size - at_.back(); }
  int64_t stride() const { return axes_.empty() ? 0 : axes_.back().stride; }
  void advance(int64_t n);

 private:
  absl::Span<const ReduceAxis> axes_;
  absl::InlinedVector<int64_t, 4> at_;
  int64_t offset_ = 0;
};

/// The tree of rows that come one by one: level k holds the tree of 2^k of them, or nothing.
class RowTree {
 public:
  using Row = std::vector<std::byte>;

  /// `join(into, from)`: into = combine(into, from).
  template <class Join>
  void push(Row row, Join join) {
    for (uint64_t n = ++count_; (n & 1) == 0; n >>= 1) {
      join(rows_.back().data(), row.data());
      row = std::move(rows_.back());
      rows_.pop_back();
    }
    rows_.push_back(std::move(row));
  }
  /// Of all, from the smallest up.
  template <class Join>
  const Row& total(Join join) {
    while (rows_.size() > 1) {
      join(rows_[rows_.size() - 2].data(), rows_.back().data());
      rows_.pop_back();
    }
    return rows_.back();
  }

 private:
  std::vector<Row> rows_;
  uint64_t count_ = 0;
};

class ReduceRun {
 public:
  using Row = RowTree::Row;

  ReduceRun(const ReduceProgram& program, absl::Span<const ReduceAxis> reduced,
            const SimdLoops& set);

  /// The states of all reductions.
  Row states(const std::byte* x, const ReduceLines& kept);
  /// The state of one reduction over [begin, end) of the reduced elements.
  void one(const std::byte* x, int64_t begin, int64_t end, uint64_t* state);
  /// tree(n) of n states of states() words each, into the first.
  void join_states(absl::Span<uint64_t> states);
  void finish(Row& row, int64_t results, int64_t count, absl::Span<const LineOperand> out);
  /// One reduction's state into a row.
  void put(Row& row, int64_t results, int64_t r, const uint64_t* state) const;
  Row units(int64_t results) const;

 private:
  static constexpr int64_t kBlock = static_cast<int64_t>(kReduceBlock);
  static constexpr int64_t kLanes = static_cast<int64_t>(kReduceLanes);
  static constexpr int64_t kPiece = 8 * kBlock;  // elements buffered at a time
  static constexpr int64_t kPieceBlocks = 64;    // blocks whose results are joined at a time
  static constexpr int64_t kTogether = 64;  // blocks, or reductions, side by side in the monoid way
  static constexpr int64_t kColumns = 1024;       // reductions side by side in the columns way
  static constexpr int64_t kGathered = 64 << 10;  // bytes of columns that are gathered at a time

  int fold() const { return static_cast<int>(*p_.reduction_); }
  int type() const { return static_cast<int>(p_.state_[0]); }
  /// Of what the kernels of a known reduction read.
  int element_type() const { return p_.plain_ ? static_cast<int>(p_.stored_) : type(); }
  int64_t element_bytes() const { return static_cast<int64_t>(size_of(p_.stored_)); }
  void fill_units(std::byte* row, int64_t results) const;
  /// Elements [begin, begin + n) of the reduced space, contiguous.
  void collect(const std::byte* x, int64_t begin, int64_t n, std::byte* to);
  /// a = combine(a, b) on the first n states of rows laid out for `width`.
  void combine(std::byte* a, std::byte* b, int64_t n, int64_t width);
  /// The same by the kernel of a known reduction.
  void join(std::byte* a, std::byte* b, int64_t n);

  /// Of one line.
  Row line_states(const std::byte* x, int64_t x_stride, int64_t results);

  // rows: reduce_rows.cpp
  bool lie_in_place() const {
    return p_.plain_ && (axes_.empty() || (axes_.size() == 1 && axes_[0].stride == 1));
  }
  bool picks_rows() const {
    return p_.pick_ && lie_in_place() && count_ <= static_cast<int64_t>(kPickRow);
  }
  void rows(const std::byte* x, int64_t begin, int64_t end, uint64_t* state);
  /// The results of the blocks of n contiguous elements of the state's dtype; index: of the first.
  void block_results(const std::byte* in, int64_t n, int64_t index, std::byte* values, int64_t* at);
  void buffered_blocks(const std::byte* x, int64_t begin, int64_t n, std::byte* values,
                       int64_t* at);
  void tree_of(std::byte* values, int64_t* at, int64_t n);

  // columns: reduce_columns.cpp
  bool in_columns(const ReduceLines& kept) const;
  bool narrow(const ReduceLines& kept) const;
  void narrow_block(const std::byte* x, int64_t width, int64_t n, std::byte* values);
  Row by_columns(const std::byte* x, const ReduceLines& kept);
  /// Of some columns that are read where they are, or gathered first; into `all` from `first` on.
  void columns(const std::byte* x, const ReduceLines& some, bool in_place, Row& all, int64_t total,
               int64_t first);
  /// Of n elements of each, from `begin`.
  void column_block(const std::byte* x, const ReduceLines& some, bool in_place, int64_t begin,
                    int64_t n, std::byte* values, int64_t* at);
  void gather_columns(const std::byte* x, const ReduceLines& some, int64_t begin, int64_t n,
                      const void** rows);

  // monoid: reduce_monoid.cpp
  struct Source {  // where element i of column c lies
    const std::byte* x;
    int64_t column_stride;              // bytes
    absl::Span<const int64_t> offsets;  // bytes, by element of the block
    int64_t index;                      // of element 0 of column 0
    int64_t index_step;                 // from one column to the next
  };
  void reduce_lanes(const Source& source, int64_t n, int64_t width, std::byte* row);
  void lift_lanes(const Source& source, int64_t first, int64_t lanes, int64_t width,
                  std::byte* room);
  void halve_lanes(std::byte* sums, int64_t width);
  Row by_monoid(const std::byte* x, int64_t x_stride, int64_t results);
  void blocks(const std::byte* x, int64_t begin, int64_t end, uint64_t* state);
  /// Reduction r of a row as a row of its own; and a row as part of a larger one.
  Row take(const Row& row, int64_t width, int64_t r) const;
  void place(const Row& row, int64_t width, Row& into, int64_t results, int64_t first) const;

  static std::byte* room(std::unique_ptr<Scratch>& scratch, int64_t bytes);

  const ReduceProgram& p_;
  const SimdLoops& set_;
  absl::InlinedVector<ReduceAxis, 4> axes_;  // none of size 1, none that could be merged
  int64_t count_;
  absl::InlinedVector<size_t, 2> offset_;  // of state k, in a row of one
  size_t state_bytes_ = 0;
  std::unique_ptr<Scratch> buffers_, lanes_;
};

}  // namespace lathe
