// Reductions by the SIMD interpreter, in the one order that defines their bits.
//
// The order. The elements of the reduced index space, in row-major order, are cut into blocks of
// 512. In a block, element i goes to lane i mod 16; each lane starts from the monoid's unit and
// combines its elements ascending; the sixteen lanes are combined by halving: l with l + 8, then l
// + 4, l + 2, l + 1. The results of n blocks are combined by tree(n): the tree of the first p,
// combined with the tree of the rest, p the largest power of two below n. Strides, tiles and
// threads do not appear in it: pieces of 512 * 2^k elements are subtrees, so they may be computed
// apart.
//
// Three ways to it, chosen by layout alone:
//   rows      sum, prod, lowest, highest, any, all, sums of squares and picks have kernels for
//             blocks of contiguous elements; what is not contiguous, or must be lifted first, goes
//             through a buffer
//   columns   the same reductions, where there are many results, and their elements are neighbours
//   or too few in a row for a vector: as many reductions abreast as a vector has lanes
//   monoid    any other: the four functions as SimdPrograms on many blocks at once, one lane
//   beside the other
#pragma once

#include <absl/types/span.h>

#include <memory>
#include <optional>
#include <vector>

#include "kernels/problem/bodies.h"
#include "kernels/simd/program.h"

namespace lathe {

struct ReduceAxis {
  int64_t size = 1;
  int64_t stride = 0;  // in elements
};

/// Reductions side by side: `results` of them in each of `lines` lines. The first element of the
/// next is x_stride elements on, that of the next line line_stride.
struct ReduceLines {
  int64_t x_stride = 0, results = 1;
  int64_t line_stride = 0, lines = 1;
  int64_t all() const { return results * lines; }
};

class ReduceProgram {
 public:
  static constexpr size_t kMostStates = 8;

  explicit ReduceProgram(const ReduceBodies& bodies);

  /// Each reduction is over the elements at its first + (the axes in row-major order). out[k] gets
  /// output k of bodies.finish, line by line.
  void run(const std::byte* x, const ReduceLines& kept, absl::Span<const ReduceAxis> reduced,
           absl::Span<const LineOperand> out, const SimdLoops& set) const;

  /// One reduction in pieces, for several threads. All pieces but the last have 512 * 2^k elements,
  /// the same k; piece p is [begin, end) of the reduced elements. `state`: states() words.
  size_t states() const { return state_.size(); }
  void piece(const std::byte* x, absl::Span<const ReduceAxis> reduced, int64_t begin, int64_t end,
             absl::Span<uint64_t> state, const SimdLoops& set) const;
  /// states: piece by piece, overwritten. count: elements in all.
  void finish(absl::Span<uint64_t> states, int64_t count, absl::Span<const LineOperand> out,
              const SimdLoops& set) const;

  /// What it combines by, if that has kernels of its own; or the pick: 0 the lowest, 1 the highest.
  std::optional<Reduction> known() const {
    return reduction_ == Reduction::squares ? Reduction::sum : reduction_;
  }
  std::optional<int> known_pick() const { return pick_; }

 private:
  friend class ReduceRun;

  bool run_rows(const std::byte* x, const ReduceLines& kept, absl::Span<const ReduceAxis> reduced,
                absl::Span<const LineOperand> out, const SimdLoops& set) const;

  DType stored_;
  std::vector<DType> state_;
  std::vector<uint64_t> unit_;  // bits, an entry of state_ each
  std::optional<Reduction> reduction_;
  std::optional<int> pick_;
  bool plain_ = false;  // the kernels take elements as they are (and their index, for a pick)
  std::vector<uint8_t> finished_;  // finish gives these states as they are; none: it computes
  bool indexed_ = false;           // lift asks for the index
  SimdProgram lift_, combine_, finish_;
};

}  // namespace lathe
