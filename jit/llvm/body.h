// A ScalarFunction as instructions: one pass over its nodes, in order, but for two things.
//
// The slow side of `rare` goes into a block of its own, entered only if a lane of the vector asks
// for it, with all nodes that nothing outside of it needs. What several slow sides need is computed
// in each: the reduction of large angles, which the sine and the cosine of one share, would else be
// computed of all. And a `check` stays outside of every slow side, because whether it fails must
// not depend on which lanes share a vector.
#pragma once

#include <vector>

#include "jit/llvm/vector_ops.h"

namespace lathe::jit {

/// Where a body's leaves come from, and where its failures go. Vectors unless said otherwise.
class BodyContext {
 public:
  virtual ~BodyContext() = default;
  /// Input `which`; of a complex one, part 0 or 1.
  virtual llvm::Value* input(uint32_t which, int part) = 0;
  virtual llvm::Value* linear() = 0;
  virtual llvm::Value* seed() = 0;  // scalar i64
  virtual llvm::Value* call() = 0;  // scalar i64
  /// Lanes where a check with this code does not hold; lanes that are not in use are the context's
  /// to ignore.
  virtual void failed(llvm::Value* lanes, uint32_t code) = 0;
};

class BodyEmitter {
 public:
  BodyEmitter(VectorOps& ops, const ScalarFunction& f, BodyContext& context)
      : ops_(ops), f_(f), context_(context), values_(f.graph.size()) {}
  /// One value an output. Code may end in another block than it began in.
  std::vector<llvm::Value*> emit();

 private:
  std::vector<uint32_t> emit_needed(absl::Span<const uint32_t> roots);
  llvm::Value* emit_node(uint32_t id);
  llvm::Value* emit_leaf(const ExprNode& node);
  llvm::Value* emit_rare(uint32_t id);
  llvm::Value* random_word(uint32_t k);

  VectorOps& ops_;
  const ScalarFunction& f_;
  BodyContext& context_;
  std::vector<llvm::Value*> values_;  // null: none yet, or not here
  absl::flat_hash_map<uint32_t, std::array<llvm::Value*, 4>> random_blocks_;
};

/// Empty, or why no code can be made of this body: it is not lowered, or asks for a position along
/// an axis.
std::string check_body(const ScalarFunction& f);

}  // namespace lathe::jit
