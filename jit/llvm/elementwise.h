// From an ElementwiseSpec to a module with one function, kKernelSymbol.
//
//   for each row that [begin, end) touches:            a row: a run along the innermost axis
//     the address of every operand, the uniform ones loaded
//     for i in steps of `lanes`:                       all lanes, but for a row's last step
//       load; the body; store
//
// Rank, dtypes and how operands move along the innermost axis are compiled in; extents, strides and
// the range are read from the arguments. Whether a step is a whole one is asked once before its
// loads and once before its stores, so that the body is there only once.
#pragma once

#include "jit/llvm/frame.h"

namespace lathe::jit {

class ElementwiseEmitter {
 public:
  ElementwiseEmitter(const ElementwiseSpec& spec, const Target& target);
  /// The spec passed check_elementwise.
  OwnedModule emit();

 private:
  struct Row;

  Row enter_row(const Values& at, llvm::Value* position);
  void emit_step(const Row& row, llvm::Value* i);
  Values load_inputs(const Row& row, llvm::Value* i, Limit limit);
  Place at_step(size_t operand, const Row& row, llvm::Value* i);

  const ElementwiseSpec& spec_;
  Frame frame_;
  llvm::IRBuilder<>& b_;
  VectorOps ops_;
  Memory memory_;
  size_t inputs_;
};

/// Empty, or what is wrong with the spec.
std::string check_elementwise(const ElementwiseSpec& spec);

}  // namespace lathe::jit
