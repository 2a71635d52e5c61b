// Recording if, for and while.
//
// Each part runs once, into a block. A tensor from outside that a part writes is noticed by
// note_write, put back after the part, and made a result (of an if) or a carried value (of a loop).
// A loop is recorded again, from the start, when its first recording shows that something more must
// be carried, or that a size changes from round to round; what the abandoned recording assumed
// about its own symbols goes with them.
#include <absl/strings/str_cat.h>

#include "core/error.h"
#include "core/fn.h"
#include "graph/arguments.h"
#include "graph/text.h"
#include "graph/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {
namespace {

constexpr int kMostRecordings = 16;

[[noreturn]] void type_changes(const Datum& before, const Datum& after, std::string_view where) {
  auto text = [](const Datum& d) {
    return d.is_tensor() ? lathe::to_string(type_of(d.tensor())) : lathe::to_string(d.arg());
  };
  throw TraceError({.problem = absl::StrCat("a value changes its type ", where),
                    .got = absl::StrCat(text(before), " and ", text(after)),
                    .expected = "the same dtype, rank and device, or the same number",
                    .next = "cast or reshape the values so that they agree"});
}

bool same_kind(const Datum& a, const Datum& b) {
  if (a.is_tensor() != b.is_tensor()) return false;
  if (!a.is_tensor()) return a.arg().tag == b.arg().tag;
  return a.tensor().dtype() == b.tensor().dtype() && a.tensor().rank() == b.tensor().rank() &&
         a.tensor().device() == b.tensor().device();
}

bool is_flag(const Datum& d) { return !d.is_tensor() && d.arg().tag == Tag::flag; }
bool is_flag_tensor(const Datum& d) {
  return d.is_tensor() && d.tensor().dtype() == DType::bool_ && d.tensor().rank() == 0;
}
/// A flag whose value differs between paths becomes a tensor: flags decide, and a decision is a
/// tensor's.
bool needs_tensor(const Datum& a, const Datum& b) {
  if (is_flag(a) && is_flag(b)) return a.arg().flag_ != b.arg().flag_;
  return (is_flag(a) && is_flag_tensor(b)) || (is_flag_tensor(a) && is_flag(b));
}
Datum flag_as_tensor(const Datum& d) {
  if (d.is_tensor()) return d;
  return Datum(create_ops<Tensor>::full(Ints(Shape{}), d.arg(), DType::bool_));
}

}  // namespace

Value* Tracer::condition_value(const Datum& condition) {
  using M = math_ops<Tensor>;
  using S = shape_ops<Tensor>;
  Tensor t = condition.tensor();
  if (!require(Relation::eq, t.numel(), 1))
    throw ValueError(
        {.problem = "a condition must have one element", .got = lathe::to_string(type_of(t))});
  if (t.dtype() != DType::bool_) t = M::cast(t, DType::bool_);
  if (t.rank() != 0) t = S::reshape(t, Ints(Shape{}));
  return value_of(t);
}

void Tracer::forget_after(Node* last) {
  std::vector<Node*> added;
  Node* first = last != nullptr ? last->next() : graph_.insertion_block().first();
  for (Node* n = first; n != nullptr; n = n->next()) added.push_back(n);
  auto is_lifted = [&](const Node* n) {
    for (const auto& [impl, l] : lifted_)
      if (l.start->node() == n) return true;
    return false;
  };
  for (size_t i = added.size(); i-- > 0;) {
    bool used = false;
    for (Value* v : added[i]->out()) used |= v->used();
    if (!used && !is_lifted(added[i])) graph_.erase(added[i]);
  }
}

Tracer::BlockResult Tracer::record_block(Block& block, absl::FunctionRef<Data()> run) {
  InsertAt inside(graph_, block);
  frames_.push_back({&block, {}});
  BlockResult r;
  r.results = run();
  for (Datum& d : r.results)
    if (d.is_tensor()) refresh(d.tensor());
  for (auto& [t, before] : frames_.back().before) {
    r.writes.emplace_back(t, now(t));
    set_now(t, before);
  }
  frames_.pop_back();
  return r;
}

bool Tracer::proven_equal(Int a, Int b) const {
  return identical(a, b) || scope_.prove(Relation::eq, a, b) == SymScope::Truth::yes;
}

Int Tracer::fresh_integer(int64_t hint, bool is_size) { return scope_.fresh(hint, is_size); }

bool Tracer::in_loop(Int e) const {
  if (open_loops_ == 0) return false;
  for (uint32_t k : symbols_of(e))
    if (k >= loop_symbols_) return true;
  return false;
}

void Tracer::refuse_loop_guards(size_t first_guard, uint32_t first_symbol) const {
  auto mentions = [&](Int e) {
    for (uint32_t k : symbols_of(e))
      if (k >= first_symbol) return true;
    return false;
  };
  for (size_t i = first_guard; i < scope_.guards().size(); ++i) {
    const SymFact& f = scope_.guards()[i];
    if (!mentions(f.a) && !mentions(f.b)) continue;
    throw TraceError({.problem =
                          "the program depends on a number that changes from round to round of a "
                          "loop that is recorded once",
                      .got = absl::StrCat("the question whether ", to_string(f)),
                      .next = "compare tensors instead, or make the loop's length a number that is "
                              "known while tracing",
                      .site = f.site});
  }
}

// ── if ──────────────────────────────────────────────────────────────────────────────────────────

/// The type that both branches' values have, and whether a result is needed at all.
std::pair<Type, bool> Tracer::joined(const Datum& a, const Datum& b) const {
  if (!same_kind(a, b)) type_changes(a, b, "between the branches of an if");
  if (!a.is_tensor()) {
    if (a.is_integer() && !identical(a.integer(), b.integer())) return {integer_type(), true};
    if (!equal(a.arg(), b.arg()) && a.arg().tag != Tag::text)
      type_changes(a, b, "between the branches of an if");
    return {None{}, false};
  }
  return {type_of(a.tensor()), true};
}

Data Tracer::record_if(const Datum& condition, Branch yes, Branch no) {
  Operands operands;
  operands.in = {condition_value(condition)};
  size_t first_guard = scope_.guards().size();
  uint32_t first_symbol = scope_.symbol_count();
  Node* node = graph_.add_structure(Structure::if_, std::move(operands), {}, here());
  Branch branches[2] = {yes, no};
  BlockResult made[2];
  for (int i = 0; i < 2; ++i) made[i] = record_block(graph_.add_block(node), branches[i]);
  if (made[0].results.size() != made[1].results.size())
    throw TraceError(
        {.problem = "the branches of an if give different numbers of values",
         .got = absl::StrCat(made[0].results.size(), " and ", made[1].results.size())});
  refuse_loop_guards(first_guard, first_symbol);

  // What either branch wrote, both give.
  std::vector<Tensor> written;
  for (BlockResult& r : made)
    for (auto& [t, v] : r.writes) {
      bool known = false;
      for (const Tensor& w : written) known |= same(w, t);
      if (!known) written.push_back(t);
    }
  Data results;
  Values yields[2];
  auto join_shapes = [&](Type type, const Value* a, const Value* b) {
    TensorType t = *type.tensor();
    for (size_t axis = 0; axis < t.shape.size(); ++axis)
      if (!proven_equal(a->tensor().shape[axis], b->tensor().shape[axis]))
        t.shape[axis] = fresh_integer(scope_.hint(a->tensor().shape[axis]), true);
    return Type(t);
  };
  for (size_t i = 0; i < made[0].results.size(); ++i) {
    const Datum &a = made[0].results[i], &b = made[1].results[i];
    bool promote = needs_tensor(a, b);
    for (int k = 0; promote && k < 2; ++k) {
      InsertAt inside(graph_, node->block(static_cast<size_t>(k)));
      made[k].results[i] = flag_as_tensor(made[k].results[i]);
    }
    auto [type, needed] = joined(a, b);
    if (!needed) {
      results.push_back(a);
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      InsertAt inside(graph_, node->block(static_cast<size_t>(k)));
      yields[k].push_back(value_of(made[k].results[i]));
    }
    Type t = a.is_tensor() ? join_shapes(type, yields[0].back(), yields[1].back())
                           : integer_type(fresh_integer(scope_.hint(a.integer())));
    results.push_back(datum_for(graph_.add_result(node, std::move(t)), a));
  }
  for (const Tensor& t : written) {
    for (int k = 0; k < 2; ++k) {
      Value* v = now(t);
      for (auto& [w, value] : made[k].writes)
        if (same(w, t)) v = value;
      yields[k].push_back(v);
    }
    set_now(t, graph_.add_result(node, type_of(t)));
  }
  for (int k = 0; k < 2; ++k)
    graph_.set_yields(node->block(static_cast<size_t>(k)), std::move(yields[k]), here());
  return results;
}

Datum Tracer::datum_for(Value* v, const Datum& like) {
  if (like.is_tensor()) return Datum(tensor_for(v));
  return Datum(Arg(*v->type().scalar()->value));
}

// ── loops ───────────────────────────────────────────────────────────────────────────────────────

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
  }
  for (const Tensor& t : plan.written) graph_.add_parameter(block, type_of(t));
  return out;
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
      if (plan.changing[i][axis] || proven_equal(carried[axis], after.tensor().shape()[axis]))
        continue;
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
  return fits;
}

/// What the body gives for each parameter, as values of its block (the insertion point).
Values Tracer::loop_yields(const LoopPlan& plan, const BlockResult& body) {
  Values yields;
  for (size_t i = 0; i < plan.start.size(); ++i)
    if (plan.start[i].is_tensor() || plan.start[i].is_integer())
      yields.push_back(value_of(body.results[i]));
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

Data Tracer::loop_results(Node* node, const LoopPlan& plan, const Values& parameters,
                          uint32_t first_symbol) {
  Data out;
  size_t k = 0;
  for (const Datum& d : plan.start) {
    if (!d.is_tensor() && !d.is_integer()) {
      out.push_back(d);
      continue;
    }
    out.push_back(
        datum_for(graph_.add_result(node, result_type(parameters[k++], first_symbol)), d));
  }
  for (const Tensor& t : plan.written)
    set_now(t, graph_.add_result(node, result_type(parameters[k++], first_symbol)));
  return out;
}

namespace {

/// While a loop is recorded, symbols from `first` on are its own.
class OpenLoop {
 public:
  OpenLoop(int& open, uint32_t& symbols, uint32_t first)
      : open_(open), symbols_(symbols), outer_(symbols) {
    if (open_++ == 0) symbols_ = first;
  }
  ~OpenLoop() {
    if (--open_ == 0) symbols_ = outer_;
  }
  OpenLoop(const OpenLoop&) = delete;

 private:
  int& open_;
  uint32_t& symbols_;
  uint32_t outer_;
};

[[noreturn]] void never_settles() {
  throw TraceError(
      {.problem = "a loop cannot be recorded: each recording carries more than the last"});
}

}  // namespace

Data Tracer::record_while(LoopCondition condition, LoopBody body, const Data& start) {
  LoopPlan plan = plan_for(start);
  for (int attempt = 0; attempt < kMostRecordings; ++attempt) {
    size_t first_guard = scope_.guards().size();
    uint32_t first_symbol = scope_.symbol_count();
    OpenLoop open(open_loops_, loop_symbols_, first_symbol);
    Operands operands;
    for (const Datum& d : plan.start)
      if (d.is_tensor() || d.is_integer()) operands.in.push_back(value_of(d));
    for (const Tensor& t : plan.written) operands.in.push_back(now(t));
    Node* node = graph_.add_structure(Structure::while_, std::move(operands), {}, here());
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
    };
    BlockResult asked = record_block(test, [&] {
      bind_written();
      return Data{condition(carried)};
    });
    for (auto& [t, v] : asked.writes)
      if (std::find(parameters.begin(), parameters.end(), v) == parameters.end())
        throw TraceError({.problem = "the condition of a while writes to a tensor",
                          .next = "move the write into the body"});
    {
      InsertAt inside(graph_, test);
      Value* answer = symbolic(asked.results[0]) ? condition_value(asked.results[0])
                                                 : value_of(Datum(Arg(truth(asked.results[0]))));
      graph_.set_yields(test, {answer}, here());
    }
    BlockResult made = record_block(round, [&] {
      bind_written();
      return body(carried);
    });
    if (!loop_fits(plan, made, round, parameters)) {
      graph_.erase(node);
      continue;
    }
    refuse_loop_guards(first_guard, first_symbol);
    {
      InsertAt inside(graph_, round);
      graph_.set_yields(round, loop_yields(plan, made), here());
    }
    return loop_results(node, plan, parameters, first_symbol);
  }
  never_settles();
}

/// What is true in every round is said at once, so that an index i < n need not be asked about.
Int Tracer::loop_variable(Int start, Int stop, Int step) {
  bool up = step.known() && step.value() > 0, down = step.known() && step.value() < 0;
  Int least = down ? stop + 1 : start;
  bool size = (up || down) && scope_.prove(Relation::le, 0, least) == SymScope::Truth::yes;
  Int i = fresh_integer(scope_.hint(start), size);
  if (up && scope_.hint(start) < scope_.hint(stop)) scope_.require(Relation::lt, i, stop);
  if (down && scope_.hint(start) > scope_.hint(stop)) scope_.require(Relation::le, i, start);
  return i;
}

Data Tracer::record_for(Int start, Int stop, Int step, ForBody body, const Data& carried) {
  LoopPlan plan = plan_for(carried);
  for (int attempt = 0; attempt < kMostRecordings; ++attempt) {
    size_t first_guard = scope_.guards().size();
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
      return body(i, values);
    });
    if (!loop_fits(plan, made, block, parameters)) {
      graph_.erase(node);
      continue;
    }
    refuse_loop_guards(first_guard, first_symbol);
    {
      InsertAt inside(graph_, block);
      graph_.set_yields(block, loop_yields(plan, made), here());
    }
    return loop_results(node, plan, parameters, first_symbol);
  }
  never_settles();
}

}  // namespace lathe::ir
