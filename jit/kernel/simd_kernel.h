// A kernel of several statements by the SIMD interpreter, where there is no machine code: position
// by position of the parallel axes, each statement as a call on a whole line. What is reduced is
// computed a piece at a time and reduced by the loops that every reduction runs by; states that do
// not depend on each other are reduced apart. The same bits.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "jit/kernel/row_sums.h"
#include "kernels/simd/reduce.h"

namespace lathe::jit {

/// One call on positions [begin, end) of the parallel axes, by operand as each_operand() counts
/// them, with one stride an axis.
struct KernelLines {
  absl::Span<std::byte* const> data;
  absl::Span<const int64_t> extents, strides;  // strides in bytes
  int64_t begin = 0, end = 0;
  absl::Span<std::byte* const> lanes = {};  // of reductions over rows: see RowSums
};

class SimdKernel {
 public:
  /// `kernel` stays where it is. Its functions may read no position, random word or check.
  explicit SimdKernel(const Kernel& kernel);
  /// From any thread.
  void run(const KernelLines& call) const;

 private:
  friend class SimdKernelRun;

  /// States of a reduction that are combined with each other alone.
  struct Part {
    std::vector<size_t> states;
    std::unique_ptr<ReduceProgram> program;  // of an element as it is
    ReduceBodies bodies;                     // the same; taken by the reference without a program
    int operand = -1;                        // the element is this one as it is; -1: lifted
    std::vector<int> lifted;                 // by state: which output of `lift`; -1: the index
  };
  struct Stage {
    size_t first = 0;                   // operand
    std::unique_ptr<SimdProgram> body;  // of a computation; of a reduction: its lift, if it has one
    std::vector<DType> types;           // of the body's results
    bool indexed = false;               // the lift reads the index
    std::vector<Part> parts;
    std::unique_ptr<SimdProgram> finish;
    size_t lanes = 0;  // of a reduction over rows: its first
  };

  void add(const Compute& c, size_t first);
  void add(const Reduce& r, size_t first);
  void add(const ReduceRows& r, size_t first);
  static Part part_of(const Reduce& r, std::vector<size_t> states);

  const Kernel& kernel_;
  std::vector<int64_t> items_;  // bytes an element, by operand
  absl::flat_hash_map<const void*, Stage> stages_;
  size_t lanes_ = 0;
};

}  // namespace lathe::jit
