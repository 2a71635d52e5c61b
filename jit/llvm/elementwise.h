// From an ElementwiseSpec to a module with one function, kElementwiseSymbol.
//
//   for each row that [begin, end) touches:            a row: a run along the innermost axis
//     the address of every operand, the uniform ones loaded
//     for i in steps of `lanes`:                       all lanes, but for a row's last step
//       load; the body; store
//
// Rank, dtypes and how operands move along the innermost axis are compiled in; extents, strides and
// the range are read from the arguments.
#pragma once

#include "jit/llvm/body.h"
#include "jit/llvm/memory.h"
#include "jit/llvm/target.h"

namespace lathe::jit {

class ElementwiseEmitter {
 public:
  ElementwiseEmitter(const ElementwiseSpec& spec, const Target& target);
  Result<OwnedModule> emit();

 private:
  class Context;
  struct Row;
  using Values = std::vector<llvm::Value*>;

  std::string check_spec() const;
  void emit_arguments();
  void emit_rows();
  Values first_position();
  Row enter_row(const Values& at, llvm::Value* position);
  void emit_row(const Row& row);
  void emit_step(const Row& row, llvm::Value* i, llvm::Value* count);
  void prepare_leaves(Context& context, const Row& row, llvm::Value* i, llvm::Value* count);
  void report(llvm::Value* lanes, llvm::Value* linear, uint32_t code);

  llvm::Value* field(size_t offset, llvm::Type* type);
  llvm::Value* number(llvm::Value* array, size_t at);
  llvm::Value* stride(size_t row, int axis);
  llvm::Value* dot(size_t row, const Values& at);
  Place at_step(size_t operand, const Row& row, llvm::Value* i);
  Values either(llvm::Value* count, const std::function<Values(llvm::Value*)>& emit);

  const ElementwiseSpec& spec_;
  OwnedModule owned_;
  llvm::IRBuilder<> b_;
  VectorOps ops_;
  Memory memory_;
  size_t inputs_;
  bool needs_linear_ = false, has_checks_ = false;
  llvm::Function* function_ = nullptr;
  // Loaded once, at entry.
  Values data_, extents_, origins_;
  std::vector<Values> strides_;  // rows as in KernelArgs
  llvm::Value *begin_ = nullptr, *end_ = nullptr, *seed_ = nullptr, *call_ = nullptr,
              *error_ = nullptr;
};

}  // namespace lathe::jit
