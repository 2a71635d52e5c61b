// Whether anything arrives at a value on the way back through a graph, found before that way is
// recorded.
//
// Eager code goes back only where it went. In a graph a branch or a round may or may not have run,
// and what it reads from outside then gets a sum of nothing, -0.0: right as a summand, but a
// derivative that is infinite makes NaN of it. So a sum that data decides comes with a flag, a 0-d
// bool (Backprop::arrive), and one that never comes is not begun.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <functional>

#include "graph/ir/ir.h"

namespace lathe {

enum class Arrival : uint8_t { never, maybe, always };

/// Of two ways, where data says which.
inline Arrival either(Arrival a, Arrival b) { return a == b ? a : Arrival::maybe; }

/// What is known of a graph: do gradients flow to a value, and is a round of a loop sure to run?
struct Known {
  std::function<bool(const ir::Value*)> active;
  std::function<bool(const ir::Node&)> runs;
};

/// At the values of a block and those that it reads from outside, by what arrives at its yields.
class BlockArrivals {
 public:
  BlockArrivals(const Known& known, const ir::Block& block, absl::Span<const Arrival> yields);
  Arrival at(const ir::Value* v) const;
  /// Does data decide it for a node in the block?
  bool any_maybe() const { return any_maybe_; }

 private:
  void raise(const Known& known, const ir::Value* v, Arrival a);
  void visit(const Known& known, const ir::Node& n);
  void visit_if(const Known& known, const ir::Node& n);
  void visit_loop(const Known& known, const ir::Node& n);

  absl::flat_hash_map<const ir::Value*, Arrival> at_;
  bool any_maybe_ = false;
};

/// How many rounds a loop is known to have.
enum class Rounds : uint8_t { any, one, several };

/// In the rounds of a loop, by what arrives at its results.
class LoopArrivals {
 public:
  LoopArrivals(const Known& known, const ir::Block& body, const ir::Values& parameters,
               absl::Span<const Arrival> results);
  std::vector<Arrival> carried;  // at a yield, of all rounds
  std::vector<Arrival> passed;   // at what is carried, from a round to the one before
  BlockArrivals first, all;      // of the last round, which is the first here; of any
  /// At a value from outside, once a round has run.
  Arrival at_free(const ir::Value* v) const;
  /// Does data decide it in rounds?
  bool any_maybe = false;
  /// Is something sure to have arrived, once all rounds have run, at what is carried into the first
  /// of them, or at a value from outside? Where rounds differ in that, as the last one from the
  /// others, `maybe` above does not mean that data decides.
  bool is_sure_at(size_t i, Rounds rounds) const;
  bool is_sure_at(const ir::Value* v, Rounds rounds) const;

 private:
  std::vector<Arrival> passed_by_one;
  BlockArrivals second;  // of the round before the last
  std::vector<Arrival> passed_by_two;
  bool settled;  // rounds before that one pass on the same
};

}  // namespace lathe
