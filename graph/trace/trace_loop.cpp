// Recording for and while: see trace_structure.cpp for how parts are recorded and written tensors
// found.
//
// A LoopPlan says what the next recording carries. `loop_fits` compares what a recording gave with
// what it assumed; if more must be carried, or a size turns out to change from round to round, it
// says so in the plan, the recorded node is erased and the loop is recorded again.
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "graph/trace/trace_join.h"
#include "graph/trace/tracer.h"

namespace lathe::ir {
namespace {

constexpr int kMostRecordings = 16;

}  // namespace

Tracer::LoopPlan Tracer::plan_for(const Data& start) {
  LoopPlan plan;
  plan.start = start;
  for (const Datum& d : start)
    plan.changing.emplace_back(d.is_tensor() ? static_cast<size_t>(d.tensor().rank()) : 0, false);
  return plan;
}

Type Tracer::carried_type(const Datum& start, const std::vector<bool>& changing) {
  if (!start.is_tensor()) return integer_type(fresh_integer(scope_.hint(start.integer())));
  TensorType t = type_of(start.tensor());
  for (size_t axis = 0; axis < t.shape.size(); ++axis)
    if (changing[axis]) t.shape[axis] = fresh_integer(scope_.hint(t.shape[axis]), true);
  return t;
}

/// Parameters for what is carried: the values the parts see.
Data Tracer::bind_parameters(Block& block, const LoopPlan& plan, size_t first) {
  Data out;
  size_t k = first;
  for (size_t i = 0; i < plan.start.size(); ++i) {
    const Datum& d = plan.start[i];
    if (!d.is_tensor() && !d.is_integer()) {
      out.push_back(d);  // must stay what it is
      continue;
    }
    graph_.add_parameter(block, carried_type(d, plan.changing[i]));
    out.push_back(datum_for(block.parameters()[k++], d));
    if (d.is_tensor()) note_chosen(out.back().tensor(), {root_of(d.tensor())});
  }
  for (const Tensor& t : plan.written) graph_.add_parameter(block, type_of(t));
  return out;
}

/// Does a size that is carried stay as it is? Where nothing proves it, sizes that are equal now and
/// that inputs say are taken to be equal: a guard.
bool Tracer::stays(Int before, Int after) const {
  if (proven_equal(before, after)) return true;
  if (scope_.inside(before) || scope_.inside(after)) return false;
  return scope_.hint(before) == scope_.hint(after) && before == after;
}

/// True if the recording is right. Else the plan says more, and the loop must be recorded again.
bool Tracer::loop_fits(LoopPlan& plan, BlockResult& body, Block& block, const Values& parameters) {
  bool fits = true;
  if (body.results.size() != plan.start.size())
    throw TraceError({.problem = "the body of a loop gives another number of values than it takes",
                      .got = absl::StrCat(body.results.size()),
                      .expected = absl::StrCat(plan.start.size())});
  size_t k = 0;
  for (size_t i = 0; i < plan.start.size(); ++i) {
    const Datum &before = plan.start[i], &after = body.results[i];
    if (needs_tensor(before, after)) {
      if (is_flag(before)) {  // from the start, then; the loop is recorded again
        plan.start[i] = flag_as_tensor(before);
        fits = false;
        continue;
      }
      InsertAt inside(graph_, block);
      body.results[i] = flag_as_tensor(after);
    }
    if (!same_kind(before, after)) type_changes(before, after, "in a loop");
    if (!before.is_tensor()) {
      if (before.is_integer())
        ++k;
      else if (before.arg().tag != Tag::text && !equal(before.arg(), after.arg()))
        type_changes(before, after, "in a loop");
      continue;
    }
    const Shape& carried = parameters[k++]->tensor().shape;
    for (size_t axis = 0; axis < carried.size(); ++axis) {
      if (plan.changing[i][axis] || stays(carried[axis], after.tensor().shape()[axis])) continue;
      plan.changing[i][axis] = true;
      fits = false;
    }
  }
  for (auto& [t, v] : body.writes) {
    bool known = false;
    for (const Tensor& w : plan.written) known |= same(w, t);
    if (known) continue;
    plan.written.push_back(t);
    fits = false;
  }
  plan.others.assign(plan.start.size(), {});
  for (size_t i = 0; i < plan.start.size(); ++i) {
    if (!body.results[i].is_tensor()) continue;
    plan.others[i] = given_as(body.results[i].tensor(), block, false);
    for (const Tensor& root : plan.others[i])
      for (auto& [t, v] : body.writes)
        if (same(t, root))
          throw TraceError({.problem = "a loop carries a tensor that it also writes to",
                            .got = lathe::to_string(type_of(t)),
                            .next = "carry a clone() of it"});
  }
  return fits;
}

/// What the body gives for each parameter, as values of its block (the insertion point).
Values Tracer::loop_yields(const LoopPlan& plan, const BlockResult& body) {
  Values yields;
  for (size_t i = 0; i < plan.start.size(); ++i)
    if (plan.start[i].is_tensor() || plan.start[i].is_integer()) yields.push_back(yielded(body, i));
  for (const Tensor& t : plan.written) {
    Value* v = nullptr;
    for (auto& [w, value] : body.writes)
      if (same(w, t)) v = value;
    LATHE_CHECK(v != nullptr);
    yields.push_back(v);
  }
  return yields;
}

/// A parameter's type, with symbols that only mean something inside the loop replaced by new ones.
Type Tracer::result_type(const Value* parameter, uint32_t first_symbol) {
  return ir::map_ints(parameter->type(), [&](Int e) {
    bool inside = false;
    for (uint32_t k : symbols_of(e)) inside |= k >= first_symbol;
    bool size = parameter->type().tensor() != nullptr;
    return inside ? fresh_integer(scope_.hint(e), size) : e;
  });
}

Data Tracer::loop_results(Node* node, const LoopPlan& plan, const BlockResult& body,
                          const Values& parameters, uint32_t first_symbol) {
  Tensors tracked = body.tracked;
  for (const Datum& d : plan.start)
    if (d.is_tensor() && d.tensor().requires_grad() && thread_state().grad_enabled)
      tracked.push_back(d.tensor());
  const Origins from =
      origins(tracked, body.of_leaves);  // as they are before the writes are put back
  Data out;
  size_t k = 0;
  for (size_t i = 0; i < plan.start.size(); ++i) {
    const Datum& d = plan.start[i];
    if (!d.is_tensor() && !d.is_integer()) {
      out.push_back(d);
      continue;
    }
    out.push_back(
        datum_for(graph_.add_result(node, result_type(parameters[k++], first_symbol)), d));
    if (!d.is_tensor()) continue;
    Tensors others = plan.others[i];
    others.push_back(root_of(d.tensor()));
    note_chosen(out.back().tensor(), std::move(others));
  }
  for (const Tensor& t : plan.written)
    set_now(t, graph_.add_result(node, result_type(parameters[k++], first_symbol)));
  make_stale(body.stale);
  pass_history(node->structure(), node, tracked, out, plan.written, from);
  return out;
}

namespace {

[[noreturn]] void never_settles() {
  throw TraceError(
      {.problem = "a loop cannot be recorded: each recording carries more than the last"});
}

}  // namespace

Data Tracer::record_while(LoopCondition condition, LoopBody body, const Data& start) {
  LoopPlan plan = plan_for(start);
  for (int attempt = 0; attempt < kMostRecordings; ++attempt) {
    uint32_t first_symbol = scope_.symbol_count();
    OpenLoop open(open_loops_, loop_symbols_, first_symbol);
    Operands operands;
    for (const Datum& d : plan.start)
      if (d.is_tensor() || d.is_integer()) operands.in.push_back(value_of(d));
    for (const Tensor& t : plan.written) operands.in.push_back(now(t));
    Node* node = graph_.add_structure(Structure::while_, std::move(operands), {}, here());
    // The front end may record the loop again, too: it throws.
    absl::Cleanup erase = [&] { graph_.erase(node); };
    Block& test = graph_.add_block(node);
    Block& round = graph_.add_block(node);
    Data carried = bind_parameters(test, plan, 0);
    const Values parameters = test.parameters();
    size_t first_written = parameters.size() - plan.written.size();
    auto bind_written = [&] {
      for (size_t i = 0; i < plan.written.size(); ++i) {
        note_write(plan.written[i]);
        set_now(plan.written[i], parameters[first_written + i]);
      }
      make_stale(plan.stale);
    };
    Value* answer = nullptr;
    BlockResult asked = record_block(test, [&] {
      bind_written();
      Datum c = condition(carried);
      answer = symbolic(c) ? condition_value(c) : value_of(Datum(Arg(truth(c))));
      return Data{};
    });
    for (auto& [t, v] : asked.writes)
      if (std::find(parameters.begin(), parameters.end(), v) == parameters.end())
        throw TraceError({.problem = "the condition of a while writes to a tensor",
                          .next = "move the write into the body"});
    {
      InsertAt inside(graph_, test);
      graph_.set_yields(test, {answer}, here());
    }
    BlockResult made = record_block(round, [&] {
      bind_written();
      return body(carried);
    });
    if (!loop_fits(plan, made, round, parameters)) {
      plan.stale = std::move(made.stale);
      continue;
    }
    {
      InsertAt inside(graph_, round);
      graph_.set_yields(round, loop_yields(plan, made), here());
    }
    std::move(erase).Cancel();
    made.tracked.insert(made.tracked.end(), asked.tracked.begin(), asked.tracked.end());
    return loop_results(node, plan, made, parameters, first_symbol);
  }
  never_settles();
}

/// What is true in every round is said at once, so that an index i < n need not be asked about.
Int Tracer::loop_variable(Int start, Int stop, Int step) {
  bool up = step.known() && step.value() > 0, down = step.known() && step.value() < 0;
  Int least = down ? stop + 1 : start;
  bool size = (up || down) && scope_.prove(Relation::le, 0, least) == SymScope::Truth::yes;
  Int i = fresh_integer(scope_.hint(start), size);
  if (up || down) {
    scope_.assume(Relation::lt, i, up ? stop : start + 1);
    scope_.assume(Relation::le, up ? start : stop + 1, i);
  }
  return i;
}

Data Tracer::record_for(Int start, Int stop, Int step, ForBody body, const Data& carried) {
  LoopPlan plan = plan_for(carried);
  for (int attempt = 0; attempt < kMostRecordings; ++attempt) {
    uint32_t first_symbol = scope_.symbol_count();
    OpenLoop open(open_loops_, loop_symbols_, first_symbol);
    Operands operands{Arg(start), Arg(stop), Arg(step)};
    for (const Datum& d : plan.start)
      if (d.is_tensor() || d.is_integer()) operands.in.push_back(value_of(d));
    for (const Tensor& t : plan.written) operands.in.push_back(now(t));
    Node* node = graph_.add_structure(Structure::for_, std::move(operands), {}, here());
    Block& block = graph_.add_block(node);
    Int i = loop_variable(start, stop, step);
    graph_.add_parameter(block, integer_type(i));
    Data values = bind_parameters(block, plan, 1);
    const Values parameters(block.parameters().begin() + 1, block.parameters().end());
    BlockResult made = record_block(block, [&] {
      for (size_t k = 0; k < plan.written.size(); ++k) {
        note_write(plan.written[k]);
        set_now(plan.written[k], parameters[parameters.size() - plan.written.size() + k]);
      }
      make_stale(plan.stale);
      return body(i, values);
    });
    if (!loop_fits(plan, made, block, parameters)) {
      plan.stale = std::move(made.stale);
      graph_.erase(node);
      continue;
    }
    {
      InsertAt inside(graph_, block);
      graph_.set_yields(block, loop_yields(plan, made), here());
    }
    return loop_results(node, plan, made, parameters, first_symbol);
  }
  never_settles();
}

void Tracer::record_nothing(absl::FunctionRef<void()> run) {
  Node* node = graph_.add_structure(Structure::for_, {Arg(0), Arg(0), Arg(1)}, {}, here());
  absl::Cleanup erase = [&] { graph_.erase(node); };
  Block& block = graph_.add_block(node);
  graph_.add_parameter(block, integer_type(fresh_integer(0)));
  record_block(block, [&] {
    run();
    return Data{};
  });
}

}  // namespace lathe::ir
