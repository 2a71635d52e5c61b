// Statements. A block runs statement by statement; `Rest` says what comes after, so that a symbolic
// branch with an early exit can run it inside itself. A frame (function or loop body) ends as a
// list of plain values: `finish` makes it, and structures join such lists.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/error.h"
#include "core/fn.h"
#include "core/inplace.h"
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

constexpr int kDeepestCall = 64;

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

// ── functions ───────────────────────────────────────────────────────────────────────────────────

Thing Evaluator::call(int function, std::vector<Thing> arguments,
                      const std::map<std::string, Thing>& named) {
  const Node& f = t_[function];
  if (depth_ > kDeepestCall) fail(f.line, absl::StrCat("'", f.text, "' calls itself too deeply"));
  size_t count = f.children.size() - 1;
  if (arguments.size() > count)
    fail(f.line, absl::StrCat("'", f.text, "' takes ", count, " arguments"),
         absl::StrCat(arguments.size()));
  for (size_t i = 0; i < count; ++i) {
    const Node& p = t_[f.children[i]];
    auto it = named.find(p.text);
    if (i < arguments.size())
      env_[p.text] = arguments[i];
    else if (it != named.end())
      env_[p.text] = it->second;
    else if (t_[p.children[1]].kind != Kind::none)
      env_[p.text] = evaluate(p.children[1]);
    else
      fail(f.line, absl::StrCat("argument '", p.text, "' of '", f.text, "' is missing"));
  }
  Frame frame;
  frame_ = &frame;
  Rest body{f.children.back(), 0, nullptr};
  Outcome out = run(&body);
  if (out.exit == Exit::finished) {
    size_t at = 0;
    return restore(frame.shape, out.data, at);
  }
  return out.exit == Exit::return_ ? out.value : Thing(Arg());
}

// ── sequences ───────────────────────────────────────────────────────────────────────────────────

Evaluator::Outcome Evaluator::run(const Rest* at) {
  while (at != nullptr) {
    const Node& block = t_[at->block];
    if (at->next >= block.children.size()) {
      at = at->after;
      continue;
    }
    Rest after{at->block, at->next + 1, at->after};
    Outcome o = statement(block.children[at->next], after);
    if (o.exit != Exit::end) return o;
    // The rest of this block, then of those around it: a loop instead of recursion.
    Rest next = after;
    const Node& same = t_[next.block];
    while (next.next < same.children.size()) {
      Rest then{next.block, next.next + 1, next.after};
      o = statement(same.children[next.next], then);
      if (o.exit != Exit::end) return o;
      next.next++;
    }
    at = next.after;
  }
  return {};
}

Evaluator::Outcome Evaluator::statement(int node, const Rest& after) {
  const Node& n = t_[node];
  SiteScope site(make_site(t_.file, n.line));
  switch (n.kind) {
    case Kind::pass_:
      return {};
    case Kind::expression:
      evaluate(n.children[0]);
      return {};
    case Kind::return_:
      return {Exit::return_, n.children.empty() ? Thing(Arg()) : evaluate(n.children[0])};
    case Kind::break_:
      return {Exit::break_};
    case Kind::continue_:
      return {Exit::continue_};
    case Kind::assign: {
      Thing value = evaluate(n.children.back());
      for (size_t i = 0; i + 1 < n.children.size(); ++i) assign(n.children[i], value);
      return {};
    }
    case Kind::augmented:
      augmented(node);
      return {};
    case Kind::if_:
      return if_statement(node, after);
    case Kind::while_:
      while_loop(node);
      return {};
    case Kind::for_:
      for_loop(node);
      return {};
    case Kind::unsupported:
      fail(n.line, n.text);
    default:
      fail(n.line, "this statement cannot be part of a script");
  }
}

void Evaluator::assign(int target, const Thing& value) {
  const Node& n = t_[target];
  switch (n.kind) {
    case Kind::name:
      env_[n.text] = value;
      return;
    case Kind::tuple:
    case Kind::list:
      if (value.kind != Thing::Kind::tuple || value.items.size() != n.children.size())
        fail(n.line, absl::StrCat("this cannot be taken apart into ", n.children.size(), " names"),
             described(value));
      for (size_t i = 0; i < n.children.size(); ++i) assign(n.children[i], value.items[i]);
      return;
    case Kind::subscript: {
      Thing x = evaluate(n.children[0]);
      if (!x.is_tensor()) fail(n.line, "only elements of tensors can be assigned to", described(x));
      Tensor view = view_of(x.datum.tensor(), n.children[1], n.line);
      if (value.is_tensor()) {
        lathe::assign(view, value.datum.tensor());
        return;
      }
      if (!value.is_number()) fail(n.line, "this cannot be written to a tensor", described(value));
      lathe::assign(view, create_ops<Tensor>::full(Ints(Shape{}), value.datum.arg(), view.dtype(),
                                                   view.device()));
      return;
    }
    default:
      fail(n.line, "an attribute is assigned to, which a graph cannot do", n.text,
           "return the value instead, or keep it in a local variable");
  }
}

void Evaluator::augmented(int node) {
  const Node& n = t_[node];
  int target = n.children[0];
  Thing value = evaluate(n.children[1]);
  if (t_[target].kind == Kind::subscript) {
    Thing x = evaluate(t_[target].children[0]);
    if (!x.is_tensor()) fail(n.line, "only elements of tensors can be assigned to", described(x));
    Tensor view = view_of(x.datum.tensor(), t_[target].children[1], n.line);
    lathe::assign(view, binary(n.text, Thing(view), value, n.line).datum.tensor());
    return;
  }
  if (t_[target].kind != Kind::name)
    fail(n.line, "an attribute is assigned to, which a graph cannot do");
  Thing x = name(target);
  if (!x.is_tensor()) {
    env_[t_[target].text] = binary(n.text, x, value, n.line);
    return;
  }
  // Tensors are changed in place, as in Python: other names for it see that.
  Thing r = binary(n.text, x, value, n.line);
  lathe::assign(x.datum.tensor(), r.datum.tensor());
}

// ── if ──────────────────────────────────────────────────────────────────────────────────────────

Evaluator::Outcome Evaluator::if_statement(int node, const Rest& after) {
  const Node& n = t_[node];
  Datum c = test(n.children[0]);
  if (!ir::symbolic(c)) {
    Rest body{n.children[ir::truth(c) ? 1 : 2], 0, nullptr};
    return run(&body);
  }
  bool exits = may_exit(t_, n.children[1]) || may_exit(t_, n.children[2]);
  if (exits) return join_exits(node, Thing(c), after);
  join_values(node, Thing(c));
  return {};
}

/// Both branches run to the end of the frame.
Evaluator::Outcome Evaluator::join_exits(int node, const Thing& test, const Rest& after) {
  const Node& n = t_[node];
  Environment before = env_;
  auto branch = [&](size_t which) {
    env_ = before;
    Rest body{n.children[which], 0, &after};
    return finish(run(&body));
  };
  Outcome out{Exit::finished};
  out.data = ir::if_(
      test.datum, [&] { return branch(1); }, [&] { return branch(2); });
  env_ = std::move(before);
  return out;
}

/// What both branches, or one of them and the code before, define is joined; what is left may be
/// undefined.
void Evaluator::join_values(int node, const Thing& test) {
  const Node& n = t_[node];
  std::vector<std::string> yes = assigned_in(t_, n.children[1]),
                           no = assigned_in(t_, n.children[2]);
  std::vector<std::string> names, all = yes;
  for (const std::string& s : no)
    if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
  auto has = [](const std::vector<std::string>& list, const std::string& s) {
    return std::find(list.begin(), list.end(), s) != list.end();
  };
  for (const std::string& s : all)
    if ((env_.contains(s) && env_[s].kind != Thing::Kind::none_yet) || (has(yes, s) && has(no, s)))
      names.push_back(s);
  Environment before = env_;
  std::vector<Thing> shapes;
  auto branch = [&](size_t which) {
    env_ = before;
    Rest body{n.children[which], 0, nullptr};
    run(&body);
    Data out;
    for (size_t i = 0; i < names.size(); ++i) {
      const Thing& t = env_[names[i]];
      if (which == 1)
        shapes.push_back(t);
      else if (!same_structure(shapes[i], t))
        fail(n.line, absl::StrCat("'", names[i], "' is another kind of thing after each branch"),
             absl::StrCat(described(shapes[i]), " and ", described(t)));
      flatten(t, out, n.line);
    }
    return out;
  };
  Data joined = ir::if_(
      test.datum, [&] { return branch(1); }, [&] { return branch(2); });
  env_ = std::move(before);
  size_t at = 0;
  for (size_t i = 0; i < names.size(); ++i) env_[names[i]] = restore(shapes[i], joined, at);
  for (const std::string& s : all)
    if (!has(names, s)) {
      env_[s] = Thing();
      env_[s].kind = Thing::Kind::none_yet;
      env_[s].text = absl::StrCat("only one branch of the if at line ", n.line, " defines it");
    }
}

// ── loops ───────────────────────────────────────────────────────────────────────────────────────

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

// ── plain values ────────────────────────────────────────────────────────────────────────────────

bool Evaluator::same_structure(const Thing& a, const Thing& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  if (a.kind == Thing::Kind::datum) {
    // A flag may become a tensor of one flag; else tensors stay tensors and numbers numbers.
    auto plain = [](const Thing& t) { return !t.is_tensor() && t.datum.arg().tag != Tag::flag; };
    return a.is_tensor() == b.is_tensor() || (!plain(a) && !plain(b));
  }
  if (a.kind == Thing::Kind::dtype) return a.dtype == b.dtype;
  if (a.kind == Thing::Kind::op) return a.op == b.op;
  if (a.kind == Thing::Kind::function) return a.tree == b.tree && a.function == b.function;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!same_structure(a.items[i], b.items[i])) return false;
  return true;
}

void Evaluator::flatten(const Thing& t, Data& out, int line) const {
  switch (t.kind) {
    case Thing::Kind::datum:
      out.push_back(t.datum);
      return;
    case Thing::Kind::tuple:
      for (const Thing& item : t.items) flatten(item, out, line);
      return;
    case Thing::Kind::none_yet:
      fail(line, "a variable that may be undefined", {}, t.text);
    default:
      return;  // the same on every path (same_structure), so nothing to carry
  }
}

Thing Evaluator::restore(const Thing& shape, const Data& data, size_t& at) const {
  Thing out = shape;
  if (shape.kind == Thing::Kind::datum) out.datum = data[at++];
  if (shape.kind == Thing::Kind::tuple)
    for (Thing& item : out.items) item = restore(item, data, at);
  return out;
}

}  // namespace lathe::script
