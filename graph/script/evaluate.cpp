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
