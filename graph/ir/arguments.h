// From an op's operands in a graph to the Args that Op::infer and call() take, and back.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

/// A complete argument list that owns the lists it made.
class Filled {
 public:
  Args args() const { return {args_.data(), args_.size()}; }
  /// Where an argument stands, to be filled again. Not after a move.
  Arg& at(const Place& place);

 private:
  friend Filled fill(const ArgVec&, absl::Span<const Place>, absl::Span<const Arg>,
                     const std::function<Int(Int)>*);
  absl::InlinedVector<Arg, 8> args_;
  std::deque<std::vector<Arg>> items_;
  std::deque<ArgList> lists_;
};

/// `attrs` with `values` put in their places and, if given, every symbolic Int replaced. What
/// `values` and `attrs` own must outlive the result.
Filled fill(const ArgVec& attrs, absl::Span<const Place> places, absl::Span<const Arg> values,
            const std::function<Int(Int)>* change = nullptr);

/// Calls `visit` with every integer among a node's literals, those in lists as well.
void for_each_int(const ArgVec& attrs, const std::function<void(Int)>& visit);

/// A symbolic tensor of this type that belongs to no trace: for inference only.
Tensor stand_in(const TensorType& type);

/// Result types of an op on these operands. A SymScope must be entered if sizes are symbolic. An
/// elementwise op on numbers alone gives a number.
TypeList infer(const Op& op, const Operands& operands);
/// Whether a backend takes this composite whole; else a program cannot hold it.
bool claimed(const Op& op, const Operands& operands);
/// What the results of this op promise where it runs, whatever sizes are.
Bits promised(const Node& node);
TypeList infer(const Node& node);

/// One argument as a front end has it: a value, a literal, or a list of either.
struct Given {
  Value* value = nullptr;
  Arg literal;
  std::vector<Given> list;
  bool is_list = false;
  std::string name;  // "" : positional
};
/// Fits the arguments to the op's signature as a call does: defaults, lists, conversions.
/// TypeError.
Operands complete(const Op& op, absl::Span<const Given> given);

/// Adds the node with inferred result types.
Node* add_inferred(Graph& graph, const Op& op, Operands operands, Site site);

// ── ops on numbers ──────────────────────────────────────────────────────────────────────────────
/// Is this an elementwise op whose every operand is a number? Then the kind of its result.
std::optional<ScalarKind> scalar_result(const Op& op, Args args);
/// The same body that tensors run, on numbers. Ints may be symbolic: comparisons then decide.
Arg evaluate_scalar(const Op& op, Args args);

}  // namespace lathe::ir
