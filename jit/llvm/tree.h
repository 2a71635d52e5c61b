// The defined order of a reduction (kernels/simd/reduce.h) as instructions: blocks of 512 elements,
// sixteen lanes in a block, which are the lanes of a vector, halving, a binary counter of blocks.
#pragma once

#include "jit/llvm/frame.h"

namespace lathe::jit {

inline constexpr unsigned kTreeLanes = 16;

class TreeEmitter {
 public:
  /// Which elements one step takes: sixteen from `index` on, or the first `limit` of them.
  struct Step {
    llvm::Value* index;
    Limit limit;
  };
  /// The states of a step's elements in one of the rows, vectors of sixteen. Code may end in
  /// another block than it began in.
  using Lift = std::function<Values(unsigned row, const Step&)>;

  /// `wide`: vectors of sixteen; `narrow`: a lane for each row that is reduced at once, a power of
  /// two and at most sixteen.
  TreeEmitter(Frame& frame, VectorOps& wide, VectorOps& narrow, const ReduceBodies& bodies);
  /// The states of `count` elements of each row: a lane a row.
  Values reduce(llvm::Value* count, const Lift& lift);

 private:
  unsigned rows() const { return narrow_.lanes(); }
  unsigned blocks_abreast() const;
  void blocks_together(llvm::Value* first, llvm::Value* last, unsigned abreast, const Lift& lift);
  Values block(llvm::Value* first, llvm::Value* length, const Lift& lift);
  Values halve(const Values& lanes);
  void push(Values carried, llvm::Value* blocks);
  Values total(llvm::Value* blocks);
  Values combine(VectorOps& ops, const Values& a, const Values& b);
  Values units(VectorOps& ops);
  Values read(llvm::Value* level);
  llvm::Value* lowest_bit(llvm::Value* word);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  VectorOps &wide_, &narrow_;
  const ReduceBodies& bodies_;
  Values stack_;  // a level of the counter an element; one an entry of state
};

}  // namespace lathe::jit
