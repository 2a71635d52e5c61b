// The backward walk over a graph, used by differentiate. See differentiate.cpp for how it works.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/functional/function_ref.h>

#include "autodiff/arrival.h"
#include "autodiff/slice_sums.h"
#include "graph/ir/inline.h"
#include "graph/trace/tracer.h"

namespace lathe {

class Backprop {
 public:
  /// `may_keep`: loops of the program may give more than they did, for their derivatives to read.
  /// `higher`: Grad::Data::higher.
  Backprop(ir::Tracer& tracer, bool may_keep, bool higher)
      : tracer_(tracer), g_(tracer.graph()), may_keep_(may_keep), higher_(higher) {}

  // Which values matter: they depend on what gradients are wanted by.
  void activate(ir::Value* v);
  bool active(const ir::Value* v) const { return active_.contains(v); }
  const absl::flat_hash_set<const ir::Value*>& all_active() const { return active_; }
  /// Marks what depends on active values.
  void spread(const ir::Block& block);
  /// Every active while gets one more carried number, the count of its rounds. Before anything is
  /// copied.
  void count_rounds(const ir::Block& block);

  // The sum of what has arrived at a value; undefined: nothing yet. `flag`: a 0-d bool, whether dy
  // is something, where data decides that; it is -0.0 if it is nothing.
  void arrive(ir::Value* v, const Tensor& dy, const Tensor& flag = Tensor());
  Tensor sum(const ir::Value* v) const;

  /// The program's nodes, from `last` back to the first.
  void walk(ir::Node* last);
  /// Nodes of a program that is still being recorded, in their order, by what has arrived at their
  /// results. Whether a for has a round, and more than one, is asked then: a guard.
  void walk_piece(absl::Span<ir::Node* const> nodes);
  /// Does data decide whether anything arrives at this value?
  bool maybe_arrives(const ir::Value* v) const { return flags_.contains(v); }

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
    Int span;                        // the same, but where that is 0 it may be less
    std::optional<Int> first, step;  // of a for's variable
    /// What has arrived at the starts from elsewhere: the first round adds to it.
    std::vector<Tensor> arrived = {};
    /// What arrives at the yield of each carried value, in any round: those with none are left out.
    std::vector<Arrival> arrival = {};
    bool flagged = false;  // rounds hand on flags: of what is carried, and of these from outside
    ir::Values flagged_free = {};
    bool runs = false;   // a round is sure to be run
    bool whole = false;  // that, and all are run again in one loop
    bool keeps = false;  // its rounds keep what their derivatives read
    bool reaches(size_t i) const { return arrival[i] != Arrival::never; }
    bool flags(size_t i) const { return flagged && arrival[i] == Arrival::maybe; }
    bool steps_by_one() const;
    /// What the symbol of over_rounds() is in the first round.
    Int begin() const { return steps_by_one() ? *first : Int(0); }
  };

  void spread(const ir::Node& n);
  void spread_loop(const ir::Node& n, const ir::Values& parameters, const ir::Block& body);
  void spread_after(const ir::Node* before);
  /// Nodes from `last` back to but without `before`.
  void walk(ir::Node* last, const ir::Node* before);
  void visit(ir::Node& n);
  void visit_op(ir::Node& n);
  void visit_composite(ir::Node& n);
  void visit_if(ir::Node& n);
  void visit_for(ir::Node& n);
  static void ask_rounds(const ir::Node& n);
  static void ask_rounds(const ir::Node& n, uint32_t first_symbol);
  void visit_while(ir::Node& n);
  void visit_loop(Loop loop);
  bool is_counted(const ir::Node& n) const;
  void count(ir::Node& n);
  void count_rounds(ir::Node& n);
  /// Must it not run again, as random numbers and what Python gives in order?
  bool is_ordered(const ir::Node& n) const;
  void refuse_ordered(const ir::Node& n) const;
  /// What was copied behind `before` and only calls the front end, out again.
  void drop_calls(const ir::Node* before);
  ir::Values reached_free(const ir::Node& n, absl::Span<const ir::Block* const> blocks,
                          bool all_active_yields) const;
  void reach_back(const ir::Block& b, absl::flat_hash_set<const ir::Value*>& needed) const;
  ir::Values copy(const ir::Block& b, ir::Graph::ValueMap& known, ir::SymbolMap& symbols,
                  std::optional<uint32_t> own);
  Again run_again(const ir::Block& b, ir::Graph::ValueMap& known, ir::SymbolMap& symbols,
                  std::optional<uint32_t> own = std::nullopt);
  ir::Data sums_after(const ir::Values& reached, const ir::Values& flagged,
                      absl::FunctionRef<void()> run);
  void take_sums(const ir::Values& reached, const ir::Values& flagged, const ir::Data& from);
  void check_carried(const Loop& loop, size_t i) const;
  bool starts_meet(const Loop& loop, const ir::Values& free) const;
  std::vector<Tensor> arrived(const Loop& loop, bool apart) const;
  /// What has come back to what is carried.
  struct Carried {
    Tensor sum, flag;
  };
  std::vector<Carried> at_results(const Loop& loop) const;
  void first_round(const Loop& loop, const ir::Values& free, const std::vector<Carried>& carried);
  void say_within(const Loop& loop, Int j);
  /// A round that is being recorded again.
  struct Round {
    Int number;       // from 0
    Int variable;     // of the for
    uint32_t symbol;  // of the loop that runs it again
  };
  ir::Data over_rounds(const Loop& loop, Int from, Int to, int direction,
                       absl::FunctionRef<ir::Data(Round, const ir::Data&)> body,
                       const ir::Data& start);
  static Int variable_at(const Loop& loop, Int j);
  void know_variable(const Loop& loop, Int now, ir::SymbolMap& symbols, ir::Graph::ValueMap& known);

  // Rounds, run again and backwards (backprop_rounds.cpp).
  /// What a loop carries before each of some rounds, in one tensor a value. Undefined: its elements
  /// are not read.
  struct Stacks {
    std::vector<Tensor> values;
    Int first;  // round, at place 0
  };
  bool is_written_only(const Loop& loop, size_t i) const;
  std::vector<Tensor> make_stacks(const Loop& loop, Int rounds) const;
  ir::Data starts_of(const Loop& loop, const std::vector<Tensor>& stacks) const;
  void say_inside(Int at, Int size) const;
  Tensor row_at(const Tensor& stack, Int at) const;
  void store(const std::vector<Tensor>& stacks, Int at, const ir::Data& carried) const;
  ir::Data forward_round(const Loop& loop, const std::vector<Tensor>& stacks, Round r,
                         const ir::Data& carried);
  Stacks record_stacks(const Loop& loop, const ir::Data& start, Int first, Int count);
  std::vector<Tensor> record_checkpoints(const Loop& loop, Int segments);
  ir::Data backward_rounds(const Loop& loop, const ir::Values& free, Int stop,
                           const ir::Data& sums);
  /// A round's derivative, behind a copy of the round.
  struct Recorded {
    const ir::Block* block;
    Again again;
    ir::Graph::ValueMap known;  // the copy
    Round round;
  };
  void begin_with_arrived(const Loop& loop, size_t i, const ir::Value* h, Int number);
  ir::Data backward_round(const Loop& loop, const Stacks& stacks, const ir::Values& free, Round r,
                          const ir::Data& sums, std::optional<Recorded>& recorded);

  // Whether something has arrived (backprop_flags.cpp).
  Arrival arrival(const ir::Value* v) const;
  Tensor flag_of(const ir::Value* v) const;
  Tensor flag_at(const ir::Value* v) const;
  Tensor flag_of(const ir::Node& n) const;
  void join_flag(const ir::Value* v, Arrival before, const Tensor& flag);
  bool runs(const ir::Node& n) const;
  Known what_is_known() const;
  LoopArrivals arrivals(const Loop& loop) const;
  Rounds rounds_known(const Loop& loop) const;
  std::pair<ir::Values, ir::Values> arrivals(const ir::Node& n, const ir::Values& reached) const;
  void choose_flags(Loop& loop, const ir::Values& free, const LoopArrivals& way,
                    bool may_be_none) const;
  ir::Data begin_rounds(const Loop& loop, const ir::Values& free) const;
  std::vector<Carried> end_rounds(const Loop& loop, const ir::Values& free, const ir::Data& end,
                                  const LoopArrivals& way);

  // What rounds keep (backprop_kept.cpp).
  class RowChoice;
  static uint32_t variable_symbol(const Loop& loop);
  static bool stacks(const Loop& loop, const ir::Value* v);
  static Int row_of_round(const Loop& loop);
  bool keeps_rounds(const Loop& loop) const;
  bool may_keep(const Loop& loop) const;
  bool keeps_draws(const Loop& loop) const;
  void drop_unused(const Loop& loop, const Recorded& r);
  int row_holder(const Loop& loop, const ir::Value* v) const;
  ir::Value* kept_rounds(const Loop& loop, ir::Value* v, const TensorType& type);
  static void know_rows(const Loop& loop, ir::Graph::ValueMap& known);
  void read_kept_rounds(const Loop& loop, const Stacks& stand_ins, const Recorded& r);
  [[noreturn]] static void refuse_unkept(const Loop& loop);

  // Rows that rounds read (backprop_rows.cpp).
  bool is_row_of_round(const ir::Value* v, const ir::Node& put) const;
  static bool is_scanned(const ir::Value* v);
  const ir::Node* row_put(const ir::Value* v, const Tensor& dy) const;
  bool arrive_at_row(const ir::Value* v, Tensor& sum, const Tensor& dy);
  void add_left_out(const Loop& loop, const ir::Value* v);
  // Slices of one value (backprop_rows.cpp, slice_sums.h).
  std::optional<SliceAt> slice_of_zeros(const ir::Value* v, const Tensor& dy) const;
  bool arrive_at_slice(const ir::Value* v, Tensor& sum, const Tensor& dy);
  void note_slices(const ir::Value* v, const ir::Value* before, const Tensor& sum,
                   const Tensor& dy);
  bool proven(Int a, Int b) const;  // a <= b

  /// The round whose derivative is being recorded.
  struct OpenRound {
    const ir::Block* block = nullptr;
    uint32_t symbol = 0;               // says which round it is
    const ir::Values* free = nullptr;  // what a `whole` loop reads from outside
  };
  /// A row that rounds have added to.
  struct Row {
    SliceAt at;
    uint32_t symbol;
  };

  ir::Tracer& tracer_;
  ir::Graph& g_;
  const bool may_keep_, higher_;
  const ir::Node* own_ = nullptr;  // the program's node under way
  absl::flat_hash_set<const ir::Value*> active_;
  absl::flat_hash_map<const ir::Value*, Tensor> sums_;
  absl::flat_hash_map<const ir::Value*, Tensor> flags_;  // of sums that data decides
  OpenRound round_;
  absl::flat_hash_map<const ir::Value*, std::vector<Row>> rows_;  // of the loop under way
  /// By value: the sum that slices of it have made, as far as it is still that.
  struct OfSlices {
    const ir::Value* sum;
    SliceSum slices;
  };
  absl::flat_hash_map<const ir::Value*, OfSlices> slices_;
};

/// The arguments of a node without its tensors.
ArgVec plain_arguments(const ir::Node& n, ir::Tracer& tracer);
/// Start, stop or step of a for; nothing: a number that no symbol names.
std::optional<Int> range_part(const ir::Node& n, int i);
/// What a sum can begin with unchanged: 0.0 would turn -0.0 into 0.0.
Tensor empty_sum(const TensorType& t);
/// `yes` bit by bit if the number, which running tells, is 0, else `no`.
Tensor if_zero(Int number, const Tensor& yes, const Tensor& no);

}  // namespace lathe
