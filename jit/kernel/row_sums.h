// What reductions over the rows of a kernel keep from row to row, and how that becomes their
// results. The order is that of every reduction (kernels/simd/reduce.h): rows are the elements, cut
// into blocks of 512, whose row r goes to lane r mod 16; a lane is a line of states, one for each
// position of the inner axis. Who runs the kernel fills the lanes of a block; here lanes are
// halved, and blocks joined, a line at a time.
#pragma once

#include <memory>

#include "jit/kernel_ir/kernel.h"
#include "kernels/simd/program.h"

namespace lathe::jit {

class RowSums {
 public:
  static constexpr auto kBlock = static_cast<int64_t>(kReduceBlock);
  static constexpr auto kLanes = static_cast<int64_t>(kReduceLanes);

  explicit RowSums(const Kernel& kernel);

  bool any() const { return !sums_.empty(); }
  /// How many lines a block has in one lane: one for each state of each reduction.
  size_t lines() const { return items_.size(); }
  /// Bytes of the lanes of a block of so many rows, of which rows `length` long are reduced.
  int64_t block_bytes(int64_t rows, int64_t length) const;
  /// Bytes of what is left of a block.
  int64_t state_bytes(int64_t length) const;

  /// The lanes in `room`, all units; gives where each line's first lane lies.
  std::vector<std::byte*> begin(std::byte* room, int64_t rows, int64_t length) const;
  /// From the lanes of a block to its states.
  void end(absl::Span<std::byte* const> lanes, int64_t rows, int64_t length,
           std::byte* states) const;
  /// From the states of all blocks, `bytes` from one to the next and overwritten, to the results.
  /// `places`: by operand, where each begins; `rows` of all blocks.
  void finish(std::byte* states, int64_t bytes, int64_t rows, int64_t length,
              absl::Span<std::byte* const> places) const;

 private:
  struct Sum {
    const ReduceRows* statement;
    std::unique_ptr<SimdProgram> combine, finish;
    size_t first;   // line
    size_t result;  // operand
  };
  /// a = combine(a, b) on n elements of each state; `many`: whether b has as many, or one.
  static void combine(const Sum& sum, absl::Span<std::byte* const> a,
                      absl::Span<std::byte* const> b, int64_t n, bool many);
  int64_t line_bytes(size_t line, int64_t elements) const;
  std::vector<std::byte*> lines_at(const Sum& sum, std::byte* states, int64_t length) const;

  std::vector<Sum> sums_;
  std::vector<int64_t> items_;  // bytes of a state, by line
};

}  // namespace lathe::jit
