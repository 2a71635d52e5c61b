// The function of one statement of a kernel, made of nodes of the graph: each node's body, inlined
// into those that read it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "graph/ir/element_types.h"
#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// A number that a kernel takes at run time: a number-typed input of the step, or an expression
/// over symbols.
struct Number {
  int input = -1;  // of the step; -1: `expr`
  Int expr = 0;
  DType dtype;
};

/// Its body on stored elements: tensors as they lie, numbers as uniforms.
ScalarFunction body_of(const ir::Node& node);
/// The bits of each of its elements; nothing if they are not one literal.
std::optional<uint64_t> filled_with(const ir::Node& node);

class Composer {
 public:
  /// `input_of`: which input of the step a number is. `outer`: of a value inside of a group, the
  /// one outside of it that it stands for; of others, the same value.
  using InputOf = std::function<int(const ir::Value*)>;
  using Outer = std::function<const ir::Value*(const ir::Value*)>;
  Composer(Kernel& kernel, std::vector<Number>& numbers, InputOf input_of, Outer outer)
      : kernel_(kernel),
        numbers_(numbers),
        input_of_(std::move(input_of)),
        outer_(std::move(outer)) {}

  /// The elements of v come from there.
  void read(const ir::Value* v, Operand from);
  /// The elements of v are those of `then` where `mask` holds, else those of `otherwise`, which is
  /// known before.
  void choose(const ir::Value* v, Operand mask, Operand then, const ir::Value* otherwise);
  /// A pointwise node, after those that it reads. Its numbers become uniforms.
  void add(const ir::Node& node);

  const std::vector<Operand>& operands() const { return operands_; }
  /// then(the results, what comes after the operands) as a function of the operands, then of more.
  ScalarFunction function(
      absl::Span<const ir::Value* const> results, absl::Span<const DType> more = {},
      const std::function<Exprs(const Exprs&, absl::Span<const Expr>)>& then = nullptr) const;

 private:
  void add_uniform(const ir::Node& use, int param, Number number);
  Exprs compose(absl::Span<const ir::Value* const> results, absl::Span<const Expr> in) const;

  Kernel& kernel_;
  std::vector<Number>& numbers_;
  InputOf input_of_;
  Outer outer_;
  size_t add_operand(Operand from);

  /// A node; or what choose() was given.
  struct Made {
    const ir::Node* node = nullptr;
    const ir::Value *chosen = nullptr, *otherwise = nullptr;
    size_t mask = 0, then = 0;  // operands
  };
  std::vector<Made> made_;
  std::vector<Operand> operands_;
  std::vector<DType> types_;
  absl::flat_hash_map<const ir::Value*, size_t> operand_of_;
  absl::flat_hash_map<std::pair<const ir::Node*, int>, size_t> uniform_of_;
};

/// Where the elements of a tensor of this type and geometry lie, seen from axes of these extents:
/// as broadcasting has it, from the last axis on. Needs the graph's SymScope.
IndexMap map_of(const TensorType& type, const Geometry& g, const Shape& domain);

}  // namespace lathe::jit
