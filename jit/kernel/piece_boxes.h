// How a kernel with operands of several pieces (jit/kernel_ir/kernel.h) is run: the ranges of all
// pieces cut its positions into boxes, and in each of them every such operand lies in one place. So
// code knows nothing of pieces, and asks nothing for each element.
#pragma once

#include "jit/kernel_ir/kernel.h"
#include "kernels/problem/operand.h"

namespace lathe::jit {

class PieceBoxes {
 public:
  explicit PieceBoxes(const Kernel& kernel);

  bool any() const { return !operands_.empty(); }

  /// Where an operand's element at the first position of a box is.
  struct Source {
    size_t operand;
    int buffer;      // -1: a line of one value
    int64_t offset;  // bytes, from the beginning of the buffer or of `lines`
  };
  struct Box {
    Sizes first, count;
    int64_t begin = 0;             // positions of the boxes before it
    std::vector<int64_t> strides;  // bytes; by operand, one an axis
    absl::InlinedVector<Source, 4> sources;
  };
  struct Bound {
    std::vector<Box> boxes;        // none of which is empty
    std::vector<std::byte> lines;  // of one value each, as long as a box wants them
  };
  /// `strides`: of all operands, those of one piece as they lie.
  Bound bind(const std::function<int64_t(Int)>& value, absl::Span<const int64_t> extents,
             const std::vector<int64_t>& strides) const;

 private:
  struct Operand {
    size_t number;
    Pieces pieces;
  };
  /// A line of one value, while it is not known how long it has to be.
  struct Line {
    DType dtype;
    uint64_t bits;
    int64_t length = 0;  // elements
  };
  using Lines = std::vector<Line>;
  static void place(const Operand& o, const std::function<int64_t(Int)>& value, Box& box,
                    Lines& lines);
  static int64_t number_of(DType dtype, uint64_t bits, int64_t length, Lines& lines);
  static void make(const Lines& lines, Bound& bound);

  std::vector<Operand> operands_;
};

}  // namespace lathe::jit
