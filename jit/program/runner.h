// One call of a program, in a context: private to runner*.cpp and run_program.cpp. runner.cpp has
// inputs and sizes, and each step; runner_structures.cpp branches, loops and calls;
// runner_panels.cpp products in panels; runner_results.cpp what is given back and written;
// runner_profile.cpp what a profile notes.
#pragma once

#include "graph/trace/structure.h"
#include "jit/program/steps.h"
#include "kernels/executor.h"

namespace lathe::jit {

/// A kernel about to run: where its tensors lie, and its numbers.
struct KernelCall {
  absl::InlinedVector<std::byte*, 8> buffers;  // inputs then results
  absl::InlinedVector<uint64_t, 4> uniforms;
  KernelRun run;
};

inline std::string_view name_of(const ir::Node& n) {
  return n.op() != nullptr ? std::string_view(n.op()->name()) : "group";
}

/// The same, a copy if its elements lie otherwise: what plans take inputs and what structures hand
/// on to be.
ir::Datum in_row_major_order(ir::Datum d);

class Runner {
 public:
  Runner(const Program& p, RunContext& c)
      : p_(p), c_(c), shared_(static_cast<size_t>(p.shared_operands_)) {}
  ir::Data run(const ir::Data& inputs);
  /// The same within a span of the profile, as step() does each step.
  [[gnu::cold]] ir::Data run_profiled(const ir::Data& inputs);

 private:
  ir::Data run_steps(const ir::Data& inputs);

  // Inputs and sizes.
  std::vector<int64_t> take_inputs(const ir::Data& inputs);
  void give_inputs_back(const ir::Data& inputs);
  void check_input(const ir::Value& v, const ir::Datum& d) const;
  void bind(std::vector<int64_t> symbols);
  void ask_facts() const;
  bool answerable(const SymFact& f) const;
  int64_t value(Int e) const { return evaluate(e).value(); }
  Int evaluate(Int e) const { return jit::evaluate(e, now_); }

  // Slots.
  ir::Datum& at(int slot) { return c_.slots_[static_cast<size_t>(slot)]; }
  void put(int slot, ir::Datum d);
  /// What is in the slot, which is empty from then on.
  ir::Datum taken(int slot);
  /// A constant may be an expression over sizes: the number it is now.
  ir::Datum evaluated(ir::Datum d) const;
  Arg argument(int slot);
  std::byte* first(int slot);
  template <class F>
  void on_device(const Step& s, const Bound::OfStep& b, F kernel);
  /// Whether the device `sim` has taken the kernel over.
  bool simulate(const Bound::OfStep& b, const Kernel& kernel, const KernelRun& run) const;
  std::byte* address(const Step& s, const Bound::OfStep& b, size_t input);
  /// Where a step's result goes: its place, or memory of its own, which is put into the slot.
  std::byte* target(const Step& s, const Bound::OfStep& b, size_t result = 0);
  bool may_take_over(const Step& s) const;

  // Steps.
  void step(const Step& s, Bound::OfStep& ready);
  void run_step(const Step& s, Bound::OfStep& ready) {
    s.dynamic&& s.kind != Step::Kind::structure ? run_dynamic(s) : run_bound(s, ready);
  }
  /// The same within a span of the profile.
  [[gnu::cold]] void run_profiled(const Step& s, Bound::OfStep& ready);
  void run_dynamic(const Step& s);
  void run_bound(const Step& s, Bound::OfStep& bound);
  void learn_symbols(const Step& s);
  void run_op(const Step& s, Bound::OfStep& b);
  void run_call(const Step& s, Bound::OfStep& b);
  void run_view(const Step& s, Bound::OfStep& b);
  void run_extension(const Step& s, const Bound::OfStep& b);
  Args arguments(const Step& s, Bound::OfStep& b);
  void prepare_call(const Step& s, Bound::OfStep& b);
  void run_prepared(const Step& s, Bound::OfStep& b, std::byte* out, Epilogue epilogue);
  SharedOperand& shared(const Step& s, size_t operand) {
    return shared_[static_cast<size_t>(s.shared[operand].number)];
  }
  void run_with_epilogue(const Step& s, Bound::OfStep& b);
  /// placed: a result that has its place already; -1: none has.
  void prepare(const Step& s, const Bound::OfStep& b, KernelCall& call, int placed = -1);
  void add_uniforms(const Step& s, const std::vector<Number>& numbers, KernelCall& call);
  void run_kernel(const Step& s, const Bound::OfStep& b);
  void run_rows(const Step& s, const Bound::OfStep& b);
  class InPanels;
  void run_panels(const Step& s, Bound::OfStep& b);
  void count(Engine engine);

  // Structures.
  class Rounds;
  void run_structure(const Step& s, Bound::OfStep& b);
  ir::Data run_if(const Step& s, Bound::OfStep& b, size_t which);
  ir::Data run_for(const Step& s, Bound::OfStep& b, ir::Data in);
  ir::Data run_while(const Step& s, Bound::OfStep& b, ir::Data in);
  ir::Data inner(const Step::Inner& block, std::vector<Bound::OfStep>& bound, ir::Data parameters);
  void bind_parameters(const Step::Inner& inner);
  ir::Datum of_its_own(ir::Datum d);

  // Results.
  void place_results_of_tail();
  ir::Data outputs(const ir::Data& inputs);
  void prepare_writes(const ir::Data& inputs);
  void write(const ir::Data& inputs);

  const Program& p_;
  RunContext& c_;
  std::vector<int64_t> now_;  // what each symbol is
  Wanted wanted_ = Wanted::either;
  std::vector<SharedOperand> shared_;
  // By write: its value, before anything is written; none: the tail puts it where the input lies.
  absl::InlinedVector<Tensor, 4> values_;
};

}  // namespace lathe::jit
