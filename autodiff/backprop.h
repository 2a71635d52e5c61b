// The backward walk over a graph, used by differentiate. See differentiate.cpp for how it works.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/functional/function_ref.h>

#include "graph/ir/inline.h"
#include "graph/trace/tracer.h"

namespace lathe {

class Backprop {
 public:
  explicit Backprop(ir::Tracer& tracer) : tracer_(tracer), g_(tracer.graph()) {}

  // Which values matter: they depend on what gradients are wanted by.
  void activate(ir::Value* v);
  bool active(const ir::Value* v) const { return active_.contains(v); }
  const absl::flat_hash_set<const ir::Value*>& all_active() const { return active_; }
  /// Marks what depends on active values.
  void spread(const ir::Block& block);
  /// Every active while gets one more carried number, the count of its rounds. Before anything is
  /// copied.
  void count_rounds(const ir::Block& block);

  // The sum of what has arrived at a value; undefined: nothing yet.
  void arrive(ir::Value* v, const Tensor& dy);
  Tensor sum(const ir::Value* v) const;

  /// Nodes from `last` back to but without `before`.
  void walk(ir::Node* last, const ir::Node* before);

 private:
  /// A copy of a block's nodes: those after `before` up to `last`.
  struct Again {
    ir::Node* before;
    ir::Node* last;
    ir::Values yields;
  };
  /// What a loop needs to be run again, whatever its kind.
  struct Loop {
    ir::Node& node;
    const ir::Block& body;
    ir::Values parameters;  // what is carried, as the body sees it
    ir::Values starts;
    Int rounds;
    std::optional<Int> first, step;  // of a for's variable
    /// What has arrived at the starts from elsewhere: the first round adds to it.
    std::vector<Tensor> arrived = {};
  };

  void spread(const ir::Node& n);
  void spread_loop(const ir::Node& n, const ir::Values& parameters, const ir::Block& body);
  void spread_after(const ir::Node* before);
  void visit(ir::Node& n);
  void visit_op(ir::Node& n);
  void visit_composite(ir::Node& n);
  void visit_if(ir::Node& n);
  void visit_for(ir::Node& n);
  void visit_while(ir::Node& n);
  void visit_loop(Loop loop);
  bool is_counted(const ir::Node& n) const;
  void count(ir::Node& n);
  void refuse_random(const ir::Node& n) const;
  ir::Values reached_free(const ir::Node& n, absl::Span<const ir::Block* const> blocks,
                          bool all_active_yields) const;
  void reach_back(const ir::Block& b, absl::flat_hash_set<const ir::Value*>& needed) const;
  Again run_again(const ir::Block& b, ir::Graph::ValueMap& known, ir::SymbolMap& symbols);
  ir::Data sums_after(const ir::Values& reached, absl::FunctionRef<void()> run);
  ir::Data branch_sums(ir::Node& n, size_t which, const ir::Values& free);
  void check_carried(const Loop& loop, size_t i) const;
  bool starts_meet(const Loop& loop, const ir::Values& free) const;
  std::vector<Tensor> arrived(const Loop& loop, bool apart) const;
  void first_round(const Loop& loop, const ir::Values& free, const std::vector<Tensor>& carried);
  void know_round(const Loop& loop, Int j, ir::SymbolMap& symbols, ir::Graph::ValueMap& known);
  std::vector<Tensor> record_stacks(const Loop& loop);
  ir::Data backward_round(const Loop& loop, const std::vector<Tensor>& stacks,
                          const ir::Values& free, Int j, const ir::Data& sums);

  ir::Tracer& tracer_;
  ir::Graph& g_;
  absl::flat_hash_set<const ir::Value*> active_;
  absl::flat_hash_map<const ir::Value*, Tensor> sums_;
};

}  // namespace lathe
