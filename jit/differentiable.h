// A program under the tape: one node of history, however many ops it has. The forward pass gives
// its results and what the derivative reads; the derivative is a program too, and so is its own.
//
// Which derivative runs depends on which results a cotangent arrived at, and at which inputs one
// had arrived before: the sums there are continued in the order in which the ops of the program
// would have added to them, so gradients have the bits of eager. Each is made when it is first
// asked for, and again for sizes that answer what its rules asked in another way.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "autodiff/differentiate.h"
#include "autodiff/tape.h"
#include "graph/pipeline.h"
#include "jit/program/program.h"

namespace lathe::jit {

/// Which of these require grad.
std::vector<int> tracked_inputs(const ir::Data& inputs);
/// Do all hold on these inputs of a graph?
bool facts_hold(absl::Span<const ir::SymbolSource> sources, absl::Span<const SymFact> facts,
                const ir::Data& inputs);

class Differentiable : public std::enable_shared_from_this<Differentiable> {
 public:
  /// `wrt`: the inputs that require grad. `active` and `hidden`: as VjpOptions'; no result that
  /// gradients are expected through, only what is kept for them. `strided`: as Program's.
  /// `terms`: those of the program, for its derivatives as well.
  /// AutogradError where differentiate() has one.
  Differentiable(const ir::Graph& graph, std::vector<int> wrt,
                 std::optional<absl::Span<const int>> active = std::nullopt,
                 absl::Span<ir::Value* const> hidden = {}, std::vector<bool> strided = {},
                 Terms terms = {});
  Differentiable(const Differentiable&) = delete;

  /// Runs the forward pass, makes its writes good, and records one node. The graph's outputs;
  /// `hidden`: gets the histories of the hidden results.
  ir::Data run(const ir::Data& inputs, std::vector<Edge>* hidden = nullptr) const;

  /// Does the derivative by what all results may be given hold for these inputs?
  bool fits(const ir::Data& inputs) const { return facts_hold(sources_, vjp_.asked, inputs); }
  /// The first of these that fits, or one more, made of the graph as it is for these inputs.
  using Variants = std::vector<std::shared_ptr<Differentiable>>;
  static std::shared_ptr<Differentiable> fitting(Variants& variants, const ir::Data& inputs,
                                                 const ir::Graph& graph,
                                                 const std::vector<int>& wrt, const Terms& terms);

  /// The forward pass as differentiate() left it, with what that took for granted.
  const ir::Graph& forward_graph() const { return vjp_.forward; }
  /// The forward pass, and the derivatives that have run.
  std::vector<const Program*> programs() const;
  std::string explain(ir::Detail detail) const;

 private:
  /// Whether a derivative of higher order is asked for; by result of the program whether a
  /// cotangent arrived; by wanted input whether one had arrived before.
  using Arrived = absl::InlinedVector<uint64_t, 4>;  // bits
  /// Where a read is found: the size of an argument or result, or the place among what is kept.
  struct Place {
    enum class Of : uint8_t { size, number, input, result, derived } of;
    size_t at = 0;
  };
  struct Backward {
    Vjp vjp;  // of it only what belongs to the backward; asked: in the symbols of Vjp::whole
    Terms terms;
    std::vector<size_t> continued;  // slots
    std::vector<Place> places;      // by read
    bool reads_derived = false;
    mutable std::mutex mutex;          // of what follows
    std::unique_ptr<Program> program;  // made at the first run
    /// By which of its inputs are tracked: for derivatives of second order.
    absl::flat_hash_map<std::vector<int>, Variants> again;

    const Program& plan();
    void add_programs(std::vector<const Program*>& out) const;
    ir::Data run(const ir::Data& inputs);
  };

  Tensors derive(const std::shared_ptr<TapeNode>& node, const Tensors& dys, Tensors sums) const;
  std::shared_ptr<Backward> backward_for(const TapeNode& node, const Tensors& dys,
                                         const Tensors& sums) const;
  std::shared_ptr<Backward> make_backward(const TapeNode& node, absl::Span<const int> active,
                                          absl::Span<const int> continued, bool higher) const;
  ir::Data like_inputs(const TapeNode& node) const;
  Place place_of(const Vjp::Read& r) const;
  bool is_derived(const Vjp::Read& r) const;
  static ir::Datum read(const Vjp::Read& r, Place place, const std::shared_ptr<TapeNode>& node,
                        const Tensors& derived);
  Tensors derived_values(const std::shared_ptr<TapeNode>& node) const;
  Tensors results_of(const ir::Data& inputs, const ir::Data& given) const;
  void pass_on_writes(const ir::Data& inputs, const Tensors& results) const;

  OwnDerivative own_;  // of each node that run() records, which keeps this alive
  std::vector<int> wrt_;
  Terms terms_;
  std::vector<ir::SymbolSource> sources_, sources_of_whole_;  // what the inputs say
  size_t derived_ = 0;  // where the derived results begin (Vjp::whole)
  std::vector<int>
      passed_on_;  // by result: which input it is itself, if the program gives one; else -1
  Vjp vjp_;
  ir::Report report_;
  std::unique_ptr<Program> forward_;
  std::vector<ir::Write> writes_;
  std::vector<size_t> saved_inputs_, saved_results_;
  std::vector<Vjp::Read> numbers_;          // the nodes' attributes
  std::vector<Place> places_;               // by vjp_.reads
  std::unique_ptr<bool[]> left_out_;        // by result
  mutable std::unique_ptr<Program> again_;  // made when it is asked for
  mutable std::mutex mutex_;
  mutable absl::flat_hash_map<Arrived, std::vector<std::shared_ptr<Backward>>> backwards_;
};

}  // namespace lathe::jit
