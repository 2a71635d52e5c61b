// What a kernel over pieces of a line (Kernel::line) leaves of each reduction of the line, and how
// that becomes its results. Pieces are subtrees of the order of every reduction
// (kernels/simd/reduce.h): blocks of 512 elements, as many as a power of two. So states are
// combined in pairs, and pairs of pairs, a line of them at a time.
#pragma once

#include <memory>

#include "kernels/problem/bodies.h"
#include "kernels/simd/program.h"

namespace lathe::jit {

/// Elements of a piece, the last one left out: what goes from one statement to the next stays in
/// the nearest cache.
inline constexpr int64_t kPieceElements = 16 * static_cast<int64_t>(kReduceBlock);

class PieceStates {
 public:
  /// The reductions of a kernel's statements, in order. The kernel's last results are their states.
  explicit PieceStates(const std::vector<ReduceBodies>& reductions);

  /// How many states there are, of all reductions.
  size_t states() const { return items_.size(); }
  /// Bytes for the states of so many pieces.
  size_t bytes(int64_t pieces) const;
  /// Where in `room` each state of the pieces lies, side by side.
  std::vector<std::byte*> places(std::byte* room, int64_t pieces) const;
  /// From the states, which are overwritten, to the results of a line of so many elements.
  void finish(std::byte* room, int64_t pieces, int64_t elements,
              absl::Span<std::byte* const> results) const;

 private:
  struct Reduction {
    std::vector<uint64_t> unit;
    std::unique_ptr<SimdProgram> combine, finish;
    size_t first;    // state
    size_t results;  // how many
  };
  using Places = absl::InlinedVector<std::byte*, 8>;

  int64_t line_bytes(size_t state, int64_t pieces) const;
  /// combine() of each two of n states: half as many. What is left over goes on as it is.
  void halve(const Reduction& r, const Places& from, const Places& to, int64_t n) const;

  std::vector<Reduction> reductions_;
  std::vector<int64_t> items_;  // bytes, by state
};

}  // namespace lathe::jit
