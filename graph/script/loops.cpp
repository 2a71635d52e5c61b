// while and for. A loop's state is what it carries, as plain values, and whether it was left by a
// break; graph/structure.h runs it, or records it where a condition is symbolic. Names that only a
// recorded body defines have no value afterwards.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/error.h"
#include "core/fn.h"
#include "graph/script/evaluator.h"
#include "graph/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::script {

using ir::Data;
using ir::Datum;
using M = math_ops<Tensor>;

namespace {

/// a < b; as a tensor where the answer changes from round to round of a loop being recorded.
Datum less(Int a, Int b) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer == nullptr || !(tracer->in_loop(a) || tracer->in_loop(b))) return Datum(Arg(a < b));
  auto tensor = [](Int i) { return create_ops<Tensor>::full(Ints(Shape{}), i, DType::i64); };
  return Datum(M::lt(tensor(a), tensor(b)));
}

bool recorded_deeper(int before) {
  ir::Tracer* tracer = ir::Tracer::current();
  return tracer != nullptr && tracer->depth() > before;
}
int record_depth() {
  ir::Tracer* tracer = ir::Tracer::current();
  return tracer != nullptr ? tracer->depth() : 0;
}

}  // namespace

std::vector<std::string> Evaluator::carried_names(const std::vector<std::string>& assigned) const {
  std::vector<std::string> out;
  for (const std::string& s : assigned) {
    auto it = env_.find(s);
    if (it != env_.end() && it->second.kind != Thing::Kind::none_yet) out.push_back(s);
  }
  return out;
}

/// The end of a frame as plain values. Loop: what it carries, then whether it was left.
Data Evaluator::finish(Outcome o) {
  if (o.exit == Exit::finished) return std::move(o.data);
  Frame& f = *frame_;
  Data out;
  if (!f.loop) {
    Thing value = o.exit == Exit::return_ ? o.value : Thing(Arg());
    if (!f.has_shape) {
      f.shape = value;
      f.has_shape = true;
    } else if (!same_structure(f.shape, value)) {
      fail(t_.nodes.empty() ? 0 : t_[0].line, "the function returns different kinds of things",
           absl::StrCat(described(f.shape), " and ", described(value)));
    }
    flatten(value, out, 0);
    return out;
  }
  if (o.exit == Exit::return_)
    throw ScriptError({.problem = "a return inside a loop, on a path that data decides",
                       .next = "break out of the loop, and return after it"});
  for (size_t i = 0; i < f.carried.size(); ++i) {
    const Thing& t = env_[f.carried[i]];
    if (!same_structure(f.carried_shapes[i], t))
      throw ScriptError({.problem = absl::StrCat("'", f.carried[i], "' changes its kind in a loop"),
                         .got = absl::StrCat(described(f.carried_shapes[i]), " and ", described(t)),
                         .next = "give it its final kind before the loop"});
    flatten(t, out, 0);
  }
  out.emplace_back(Arg(o.exit == Exit::break_));
  return out;
}

/// Runs a loop's body once: the new state.
Data Evaluator::body_round(int block, Frame& frame) {
  Frame* outer = std::exchange(frame_, &frame);
  Rest body{block, 0, nullptr};
  Data out = finish(run(&body));
  frame_ = outer;
  return out;
}

void Evaluator::take_round(const Data& state, const Frame& frame, size_t first) {
  size_t at = first;
  for (size_t i = 0; i < frame.carried.size(); ++i)
    env_[frame.carried[i]] = restore(frame.carried_shapes[i], state, at);
}

/// Names that a recorded body made have no value outside of it.
void Evaluator::forget_inner(const std::vector<std::string>& assigned, const Environment& before,
                             int line) {
  for (const std::string& s : assigned) {
    auto it = before.find(s);
    if (it != before.end() && it->second.kind != Thing::Kind::none_yet) continue;
    env_[s] = Thing();
    env_[s].kind = Thing::Kind::none_yet;
    env_[s].text = absl::StrCat("only the body of the loop at line ", line, " defines it");
  }
}

void Evaluator::while_loop(int node) {
  const Node& n = t_[node];
  std::vector<std::string> assigned = assigned_in(t_, n.children[1]);
  Frame frame{.loop = true, .carried = carried_names(assigned)};
  Data start;
  for (const std::string& s : frame.carried) {
    frame.carried_shapes.push_back(env_[s]);
    flatten(env_[s], start, n.line);
  }
  start.emplace_back(Arg(false));
  Environment before = env_;
  int depth = record_depth();
  bool recorded = false;
  auto condition = [&](const Data& state) -> Datum {
    take_round(state, frame, 0);
    const Datum& left = state.back();
    if (!ir::symbolic(left)) return ir::truth(left) ? Datum(Arg(false)) : test(n.children[0]);
    Thing go = both(Thing(M::logical_not(left.tensor())), Thing(test(n.children[0])));
    return go.datum;
  };
  auto body = [&](const Data& state) {
    recorded |= recorded_deeper(depth);
    take_round(state, frame, 0);
    return body_round(n.children[1], frame);
  };
  Data end = ir::while_(condition, body, std::move(start));
  if (recorded) forget_inner(assigned, before, n.line);
  take_round(end, frame, 0);
}

void Evaluator::for_loop(int node) {
  const Node& n = t_[node];
  Thing over = evaluate(n.children[1]);
  if (over.kind == Thing::Kind::range) {
    if (t_[n.children[0]].kind != Kind::name) fail(n.line, "a range gives one number at a time");
    const std::string& variable = t_[n.children[0]].text;
    if (has_break(t_, n.children[2])) return breaking_range_loop(node, over, variable);
    return range_loop(node, over, variable);
  }
  std::vector<Thing> items = over.items;
  if (over.is_tensor()) {
    Int rows = over.datum.tensor().size(0);
    for (int64_t i = 0, count = rows.value(); i < count; ++i)
      items.push_back(Thing(shape_ops<Tensor>::select(over.datum.tensor(), 0, i)));
  } else if (over.kind != Thing::Kind::tuple) {
    fail(n.line, "a script loops over range(...), tuples, lists and the rows of tensors",
         described(over));
  }
  // A known number of rounds, each with an object of its own: written out.
  Frame frame{.loop = true};
  for (const Thing& item : items) {
    assign(n.children[0], item);
    Frame* outer = std::exchange(frame_, &frame);
    frame.carried.clear();
    frame.carried_shapes.clear();
    for (const std::string& s : carried_names(assigned_in(t_, n.children[2]))) {
      frame.carried.push_back(s);
      frame.carried_shapes.push_back(env_[s]);
    }
    Rest body{n.children[2], 0, nullptr};
    Outcome o = run(&body);
    frame_ = outer;
    if (o.exit == Exit::finished) {
      if (ir::symbolic(o.data.back()))
        fail(n.line, "a break that data decides, in a loop over objects", {},
             "loop over range(...) instead");
      take_round(o.data, frame, 0);
      if (ir::truth(o.data.back())) return;
    } else if (o.exit == Exit::break_) {
      return;
    } else if (o.exit == Exit::return_) {
      fail(n.line, "a return inside a loop", {}, "break out of the loop, and return after it");
    }
  }
}

void Evaluator::range_loop(int node, const Thing& range, const std::string& variable) {
  const Node& n = t_[node];
  std::vector<std::string> assigned = assigned_in(t_, n.children[2]);
  std::erase(assigned, variable);
  Frame frame{.loop = true, .carried = carried_names(assigned)};
  Data start;
  for (const std::string& s : frame.carried) {
    frame.carried_shapes.push_back(env_[s]);
    flatten(env_[s], start, n.line);
  }
  Environment before = env_;
  int depth = record_depth();
  bool recorded = false;
  auto body = [&](Int i, const Data& state) {
    recorded |= recorded_deeper(depth);
    take_round(state, frame, 0);
    env_[variable] = Thing(Arg(i));
    Data out = body_round(n.children[2], frame);
    out.pop_back();  // nothing breaks here
    return out;
  };
  auto part = [&](size_t i) { return range.items[i].datum.integer(); };
  Data end = ir::for_(part(0), part(1), part(2), body, std::move(start));
  if (recorded) forget_inner(assigned, before, n.line);
  take_round(end, frame, 0);
  // Python leaves the variable at its last value; what that is is asked only if it is read.
  Thing last = range;
  last.kind = Thing::Kind::last;
  if (before.contains(variable)) last.items.push_back(before[variable]);
  env_[variable] = last;
}

/// A range that may be left early: its variable is carried, and asked about, like any other number.
void Evaluator::breaking_range_loop(int node, const Thing& range, const std::string& variable) {
  const Node& n = t_[node];
  auto part = [&](size_t i) { return range.items[i].datum.integer(); };
  Int first = part(0), stop = part(1), step = part(2);
  bool up = step > Int(0);
  std::vector<std::string> assigned = assigned_in(t_, n.children[2]);
  std::erase(assigned, variable);
  Frame frame{.loop = true, .carried = carried_names(assigned)};
  Data start{Datum(Arg(first))};
  for (const std::string& s : frame.carried) {
    frame.carried_shapes.push_back(env_[s]);
    flatten(env_[s], start, n.line);
  }
  start.emplace_back(Arg(false));
  Environment before = env_;
  int depth = record_depth();
  bool recorded = false;
  auto condition = [&](const Data& state) -> Datum {
    Int i = state[0].integer();
    const Datum& left = state.back();
    if (!ir::symbolic(left) && ir::truth(left)) return Datum(Arg(false));
    Datum inside = up ? less(i, stop) : less(stop, i);
    if (!ir::symbolic(left)) return inside;
    return both(Thing(M::logical_not(left.tensor())), Thing(inside)).datum;
  };
  auto body = [&](const Data& state) {
    recorded |= recorded_deeper(depth);
    take_round(state, frame, 1);
    Int i = state[0].integer();
    env_[variable] = Thing(Arg(i));
    Data inner = body_round(n.children[2], frame);
    Data out{Datum(Arg(i + step))};
    out.insert(out.end(), inner.begin(), inner.end());
    return out;
  };
  Data end = ir::while_(condition, body, std::move(start));
  if (recorded) {
    assigned.push_back(variable);
    forget_inner(assigned, before, n.line);
  }
  take_round(end, frame, 1);
}

}  // namespace lathe::script
