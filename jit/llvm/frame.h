// What every kernel has, whatever it computes: its one function, the arguments read once at entry,
// loops that carry values, and the walk over the positions [begin, end) of its outer axes.
#pragma once

#include <functional>

#include "jit/llvm/body.h"
#include "jit/llvm/memory.h"
#include "jit/llvm/target.h"

namespace lathe::jit {

using Values = std::vector<llvm::Value*>;

class Frame {
 public:
  Frame(std::string_view symbol, size_t operands, size_t axes);
  OwnedModule finish();

  llvm::Value* i64(uint64_t value) { return b.getInt64(value); }
  llvm::Value* smaller(llvm::Value* x, llvm::Value* y);
  /// Sum of at[k] * strides of axis first + k, in row `row`.
  llvm::Value* dot(size_t row, size_t first, const Values& at);

  /// for (i = first; i < last; i += step) carried = body(i, carried)
  Values loop(llvm::Value* first, llvm::Value* last, llvm::Value* step, const Values& carried,
              const std::function<Values(llvm::Value*, const Values&)>& body);
  /// whole() or part(), whichever the i1 `is_whole` says (a constant: true); both give as many
  /// values of the same types.
  Values either(llvm::Value* is_whole, const std::function<Values()>& whole,
                const std::function<Values()>& part);
  /// Steps through positions [begin, end) of axes [0, axes): body(at, position) says how many
  /// positions along the innermost axis it did.
  void walk(size_t axes, const std::function<llvm::Value*(const Values&, llvm::Value*)>& body);
  /// `at` on axes first .. after `by` more along the innermost, which stays within its extent or
  /// just reaches it.
  Values advance(size_t first, Values at, llvm::Value* by);
  /// A failed check: the least logical index among `lanes`, with the code, if that is less than
  /// what is there.
  void report(VectorOps& ops, llvm::Value* lanes, llvm::Value* linear, uint32_t code);
  /// Room on the stack for `count` values of a type.
  llvm::Value* room(llvm::Type* type, uint64_t count);

 private:
  OwnedModule owned_;

 public:
  llvm::IRBuilder<> b;
  llvm::Function* function;
  Values data, extents;
  std::vector<Values> strides;  // by operand
  llvm::Value *begin, *end, *seed, *call, *error;

 private:
  llvm::Value* field(size_t offset, llvm::Type* type);
  llvm::Value* number(llvm::Value* array, size_t at);
  llvm::BasicBlock* block(const char* name);
};

/// The leaves of a body at one step of a kernel.
class StepContext final : public BodyContext {
 public:
  StepContext(Frame& frame, VectorOps& ops) : frame_(frame), ops_(ops) {}

  std::vector<Parts> inputs;
  llvm::Value* position = nullptr;  // a vector; null: the body does not ask
  llvm::Value* active = nullptr;    // null: all lanes

  llvm::Value* input(uint32_t which, int part) override {
    return inputs[which][static_cast<size_t>(part)];
  }
  llvm::Value* linear() override { return position; }
  llvm::Value* seed() override { return frame_.seed; }
  llvm::Value* call() override { return frame_.call; }
  void failed(llvm::Value* lanes, uint32_t code) override {
    if (active != nullptr) lanes = ops_.b.CreateAnd(lanes, active);
    frame_.report(ops_, lanes, position, code);
  }

 private:
  Frame& frame_;
  VectorOps& ops_;
};

bool has_checks(const ScalarFunction& f);
/// How many elements a step of a loop around f takes: as many as fill 64 bytes with the widest
/// dtype computed in. Machines with narrower registers split vectors, and gain from having several
/// under way. They take twice as many in short bodies that read no element alone (`strided`): by
/// AVX2 a GELU or a softmax takes a twelfth less, a logarithm a fifth (but an arc tangent a tenth
/// more), where a sine would take a quarter more.
unsigned vector_lanes(const ScalarFunction& f, bool strided, const Target& target);
/// As many as fill one register, where the machine cannot write the first elements of several by
/// one instruction each; otherwise there is no need to take fewer than that, and it is UINT_MAX.
unsigned register_lanes(const ScalarFunction& f, const Target& target);

}  // namespace lathe::jit
