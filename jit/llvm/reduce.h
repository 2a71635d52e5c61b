// From a ReduceSpec to a module with one function, kKernelSymbol.
//
// The order is the contract (kernels/reference/reduce.h): blocks of 512 elements, sixteen lanes in
// a block, halving, a binary counter of blocks. Two ways to walk it, the same bits:
//
//   rows      one result at a time; the sixteen lanes are the lanes of a vector. A step takes the
//   elements up to the
//             end of the run or of the sixteen, and several blocks go side by side where the
//             reduction is so short that it would wait for itself
//   columns   many results at a time, one a lane; the sixteen accumulators are vectors in memory
//
// A scan is a plain loop, one result at a time or many.
#pragma once

#include "jit/llvm/frame.h"

namespace lathe::jit {

class ReduceEmitter {
 public:
  ReduceEmitter(const ReduceSpec& spec, const Target& target);
  /// The spec passed check_reduction.
  OwnedModule emit();

 private:
  struct Line;
  struct Step;

  Line enter(const Values& at);
  void emit_row(const Values& at);
  llvm::Value* emit_columns(const Values& at, llvm::Value* position);
  void emit_scan(const Line& line, Limit limit, llvm::Value* whole);

  // Blocks.
  void row_blocks(const Line& line);
  Values row_block(const Line& line, llvm::Value* first, llvm::Value* length, Values& at);
  void row_blocks_abreast(const Line& line, llvm::Value* last, unsigned abreast);
  Values column_block(const Line& line, llvm::Value* first, llvm::Value* length, Values& at,
                      Limit limit, llvm::Value* whole);
  Values halve(Values lanes);

  // The binary counter.
  void push(Values carried, llvm::Value* blocks);
  Values total(llvm::Value* blocks);

  Values lift(const Line& line, const Step& step);
  Values combine(VectorOps& ops, const Values& a, const Values& b);
  Values call(VectorOps& ops, const ScalarFunction& f, std::vector<Parts> inputs);
  Values units(VectorOps& ops);
  void store_results(const Line& line, const Values& state, llvm::Value* count,
                     const Values& reduced_at, Limit limit, llvm::Value* whole);
  Values load_operands(const Line& line, const Step& step, Limit limit);
  Place place(size_t operand, const Line& line, const Values& at, llvm::Value* back);
  Values reduced_start() { return Values(static_cast<size_t>(spec_.reduced), frame_.i64(0)); }
  Values next_element(const Values& at, llvm::Value* by) {
    return frame_.advance(static_cast<size_t>(spec_.kept), at, by);
  }
  bool hoists(size_t operand) const;
  unsigned blocks_abreast() const;

  const ReduceSpec& spec_;
  Frame frame_;
  llvm::IRBuilder<>& b_;
  VectorOps ops_;     // of steps
  VectorOps narrow_;  // of what becomes of a block: one lane in rows
  Memory memory_, narrow_memory_;
  size_t operands_;
  llvm::Value* count_ = nullptr;  // of reduced elements
  Values stack_, slots_;          // one an entry of state
};

/// Empty, or what is wrong with the spec.
std::string check_reduction(const ReduceSpec& spec);

}  // namespace lathe::jit
