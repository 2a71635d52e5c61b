// The last step of differentiate: two graphs from one that holds a program and, behind it, its
// derivative.
//
// What the derivative reads of the program is kept or computed again, by a fixed rule:
// - inputs that the program does not write to, and its results, cost nothing and are kept;
// - views, constants and sizes are computed again;
// - so is an elementwise or shifted value whose operands, by such steps and views, come from what
//   is kept anyway: it costs no trip through memory, as it becomes part of the kernel that reads
//   it;
// - all else is kept: products, reductions, random numbers, what such a node reads (it lies in
//   memory already), and elementwise values that would need more to be kept than they are.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <optional>
#include <string_view>

#include "autodiff/vjp.h"

namespace lathe {

/// Is it an op of this kind? Null: no node, so none.
inline bool is_kind(const ir::Node* n, Kind kind) {
  return n != nullptr && n->is(ir::Structure::op) && n->op()->kind == kind;
}

/// Is it part of the kernel that reads its result: elementwise, or a shift?
bool is_step(const ir::Node* n);

struct Joint {
  ir::Graph graph;
  absl::flat_hash_set<const ir::Node*> forward;  // nodes of the body that belong to the program
  size_t inputs;                                 // of the program; the rest are cotangents and sums
  size_t hidden = 0;  // its last results, which the forward pass does not give
  absl::flat_hash_set<const ir::Value*> active;  // values that depend on a wanted input
  ir::Values gradients;                          // null: none
};

class Cut {
 public:
  /// `reads`: VjpOptions::reads.
  Cut(Joint& joint, const std::vector<Vjp::Read>* reads);
  /// Sets all but the cotangents and gradients. AutogradError if the derivative needs what
  /// may not be read.
  void run(Vjp& out);

 private:
  using Value = ir::Value;
  using Node = ir::Node;

  void ask_in_forward();
  bool may_read(const Vjp::Read& read) const;
  bool is_forward(const Value* v) const;
  void find_needed();
  void need(Value* v);
  void need_operands(const Node& n);
  /// Where the value stands without anything more being kept.
  std::optional<Vjp::Read> at_hand(const Value* v) const;
  bool lies_in_memory(const Value* v) const;
  [[noreturn]] void refuse_unkept(const Value& v) const;
  void choose_kept();
  void keep(Value* v);
  void compute_again(Value* v);
  void find_sizes();
  void place_size(uint32_t k, const ir::SymbolSource& source);
  ir::Values added_values() const;  // the inputs behind the program's
  size_t shown() const { return j_.graph.outputs().size() - j_.hidden; }
  ir::Values results_with(bool hidden, const ir::Values& derived) const;
  void share(ir::Graph& g) const;
  void build_forward(ir::Graph& f, std::string_view name, const ir::Values& results) const;
  ir::Graph::ValueMap begin_backward(ir::Graph& b, std::string_view name) const;
  void copy_again(ir::Graph& b, ir::Graph::ValueMap& known) const;
  void build_again(ir::Graph& a) const;
  void build_backward(ir::Graph& b) const;

  Joint& j_;
  const std::vector<Vjp::Read>* fixed_;
  std::vector<Node*> added_;  // the derivative
  absl::flat_hash_set<const Value*> written_, seen_;
  ir::Values needed_, constants_;                        // of the program, read by the derivative
  absl::flat_hash_map<const Value*, Vjp::Read> stands_;  // inputs and results that may be read
  ir::Values kept_;                                      // in the order of `reads`
  absl::flat_hash_set<const Value*> is_kept_;
  ir::Values extra_;                        // those that become results of their own
  absl::flat_hash_set<const Node*> again_;  // nodes that the backward repeats
  ir::Values direct_, derived_;             // read by the derivative; not kept
  std::vector<std::pair<uint32_t, Vjp::Read>> sizes_;
  std::vector<uint32_t> extra_sizes_;
};

}  // namespace lathe
