#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "core/error.h"
#include "core/fn.h"
#include "graph/arguments.h"
#include "graph/script/evaluator.h"
#include "graph/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"

namespace lathe::script {

using ir::Data;
using ir::Datum;
using M = math_ops<Tensor>;

const Op& operator_op(std::string_view symbol) {
  struct Row {
    std::string_view symbol;
    const Op* (*op)();
  };
  static constexpr Row kRows[] = {
      {"+", [] { return M::add.op(); }},
      {"-", [] { return M::sub.op(); }},
      {"*", [] { return M::mul.op(); }},
      {"/", [] { return M::div.op(); }},
      {"//", [] { return M::floor_divide.op(); }},
      {"%", [] { return M::remainder.op(); }},
      {"**", [] { return M::pow.op(); }},
      {"&", [] { return M::bitwise_and.op(); }},
      {"|", [] { return M::bitwise_or.op(); }},
      {"^", [] { return M::bitwise_xor.op(); }},
      {"<", [] { return M::lt.op(); }},
      {"<=", [] { return M::le.op(); }},
      {">", [] { return M::gt.op(); }},
      {">=", [] { return M::ge.op(); }},
      {"==", [] { return M::eq.op(); }},
      {"!=", [] { return M::ne.op(); }},
      {"@", [] { return nn_ops<Tensor>::matmul.op(); }},
  };
  for (const Row& r : kRows)
    if (r.symbol == symbol) return *r.op();
  throw ScriptError(
      {.problem = "this operator cannot be part of a script", .got = std::string(symbol)});
}

std::string Evaluator::described(const Thing& t) const {
  switch (t.kind) {
    case Thing::Kind::datum:
      return t.is_tensor() ? lathe::to_string(type_of(t.datum.tensor()))
                           : lathe::to_string(t.datum.arg());
    case Thing::Kind::tuple: {
      std::string out;
      for (const Thing& item : t.items)
        absl::StrAppend(&out, out.empty() ? "" : ", ", described(item));
      return absl::StrCat("(", out, ")");
    }
    case Thing::Kind::none_yet:
      return "nothing yet";
    case Thing::Kind::dtype:
      return std::string(lathe::name(t.dtype));
    case Thing::Kind::op:
      return absl::StrCat("the function ", t.op->name());
    case Thing::Kind::function:
    case Thing::Kind::method:
      return "a function";
    case Thing::Kind::module:
      return t.text;
    case Thing::Kind::range:
    case Thing::Kind::last:
      return "a range";
  }
  return "?";
}

Int Evaluator::integer(const Thing& t, int line, std::string_view what) const {
  if (t.kind == Thing::Kind::datum && t.datum.is_integer()) return t.datum.integer();
  if (t.is_number() && t.datum.arg().tag == Tag::flag) return t.datum.arg().flag_ ? 1 : 0;
  fail(line, absl::StrCat(what, " must be an integer"), described(t));
}

// ── names ───────────────────────────────────────────────────────────────────────────────────────

Thing Evaluator::name(int node) {
  const Node& n = t_[node];
  auto it = env_.find(n.text);
  if (it == env_.end()) return resolved(n.text, n.line);
  if (it->second.kind == Thing::Kind::none_yet)
    fail(n.line, absl::StrCat("'", n.text, "' may be undefined here: ", it->second.text), {},
         "give it a value before");
  if (it->second.kind == Thing::Kind::last) return last_of(it->second, n.line);
  return it->second;
}

Thing Evaluator::last_of(const Thing& range, int line) {
  Int start = range.items[0].datum.integer(), stop = range.items[1].datum.integer(),
      step = range.items[2].datum.integer();
  Int rounds = step > Int(0) ? ceil_div(stop - start, step) : ceil_div(start - stop, -step);
  if (rounds > Int(0)) return Thing(Arg(start + (rounds - 1) * step));
  if (range.items.size() > 3) return range.items[3];
  fail(line, "the variable of a loop that ran no round has no value");
}

Thing Evaluator::resolved(const std::string& dotted, int line) {
  Binding b = resolver_.resolve(dotted);
  Thing t;
  switch (b.how) {
    case Binding::How::unknown:
      fail(line, absl::StrCat("'", dotted, "' is not defined"));
    case Binding::How::refused:
      fail(line, absl::StrCat("'", dotted, "' cannot be part of a script"), b.reason);
    case Binding::How::op:
      t.kind = Thing::Kind::op;
      t.op = b.op;
      return t;
    case Binding::How::function:
      t.kind = Thing::Kind::function;
      t.tree = b.tree;
      t.function = b.function;
      return t;
    case Binding::How::module:
      t.kind = Thing::Kind::module;
      t.text = dotted;
      return t;
    case Binding::How::value:
      if (!b.is_dtype) return Thing(b.value);
      t.kind = Thing::Kind::dtype;
      t.dtype = b.dtype;
      return t;
  }
  return t;
}

// ── expressions ─────────────────────────────────────────────────────────────────────────────────

Thing Evaluator::evaluate(int node) {
  const Node& n = t_[node];
  switch (n.kind) {
    case Kind::name:
      return name(node);
    case Kind::constant:
      return Thing(n.literal[0]);
    case Kind::binary: {
      Thing a = evaluate(n.children[0]);
      return binary(n.text, a, evaluate(n.children[1]), n.line);
    }
    case Kind::unary:
      return unary(node);
    case Kind::boolean:
      return boolean(node, 0);
    case Kind::compare:
      return compare(node);
    case Kind::call:
      return call_node(node);
    case Kind::attribute:
      return attribute(node);
    case Kind::subscript:
      return subscript(node);
    case Kind::conditional:
      return conditional(node);
    case Kind::tuple:
    case Kind::list: {
      Thing t;
      t.kind = Thing::Kind::tuple;
      t.is_list = n.kind == Kind::list;
      for (int c : n.children) t.items.push_back(evaluate(c));
      return t;
    }
    case Kind::unsupported:
      fail(n.line, n.text);
    default:
      fail(n.line, "this expression cannot be part of a script");
  }
}

Thing Evaluator::apply(const Op& op, absl::Span<const Thing> args, int line) {
  absl::InlinedVector<Arg, 4> plain;
  bool tensors = false, varying = false;
  ir::Tracer* tracer = ir::Tracer::current();
  for (const Thing& t : args) {
    if (!t.is_tensor() && !t.is_number())
      fail(line, absl::StrCat(op.name(), " of this"), described(t));
    plain.push_back(t.datum.arg());
    tensors |= t.is_tensor();
    varying |= tracer != nullptr && t.datum.is_integer() && tracer->in_loop(t.datum.integer());
  }
  if (tensors) return Thing(call1(op, absl::MakeConstSpan(plain)));
  if (!varying || op.extra.promote != Promote::boolean)
    return Thing(ir::evaluate_scalar(op, absl::MakeConstSpan(plain)));
  // A number of a loop that is recorded once has no one answer: it is asked as a tensor.
  Tensors held;
  for (Arg& a : plain) {
    if (a.tag != Tag::integer) continue;
    held.push_back(create_ops<Tensor>::full(Ints(Shape{}), a, DType::i64));
    a = Arg(held.back());
  }
  return Thing(call1(op, absl::MakeConstSpan(plain)));
}

Thing Evaluator::binary(std::string_view op, const Thing& a, const Thing& b, int line) {
  SiteScope site(make_site(t_.file, line));
  if (a.kind == Thing::Kind::tuple && b.kind == Thing::Kind::tuple && op == "+") {
    Thing t = a;
    t.items.insert(t.items.end(), b.items.begin(), b.items.end());
    return t;
  }
  if (a.is_number() && b.is_number() && op == "**" && a.datum.is_integer() &&
      b.datum.is_integer() && b.datum.integer().known() && b.datum.integer().value() >= 0) {
    // Exact, as Python's.
    Int r = 1;
    for (int64_t i = b.datum.integer().value(); i > 0; --i) {
      if (i > 64 && !identical(a.datum.integer(), 1)) fail(line, "this power is too large");
      r *= a.datum.integer();
    }
    return Thing(Arg(r));
  }
  const Thing args[] = {a, b};
  return apply(operator_op(op), args, line);
}

Thing Evaluator::unary(int node) {
  const Node& n = t_[node];
  Thing x = evaluate(n.children[0]);
  SiteScope site(make_site(t_.file, n.line));
  if (n.text == "+") return x;
  if (n.text == "not") {
    if (x.kind == Thing::Kind::tuple) return Thing(Arg(x.items.empty()));
    if (x.kind != Thing::Kind::datum) fail(n.line, "'not' of this", described(x));
    if (!ir::symbolic(x.datum)) return Thing(Arg(!ir::truth(x.datum)));
    return Thing(M::logical_not(x.datum.tensor()));
  }
  const Op& op = n.text == "-" ? *M::neg.op() : *M::bitwise_not.op();
  if (x.is_number() && x.datum.is_integer() && n.text == "-") return Thing(Arg(-x.datum.integer()));
  return apply(op, absl::MakeConstSpan(&x, 1), n.line);
}

/// A condition: a flag, or a tensor of one element.
Datum Evaluator::test(int node) {
  Thing t = evaluate(node);
  if (t.kind == Thing::Kind::tuple) return Datum(Arg(!t.items.empty()));
  if (t.kind != Thing::Kind::datum) fail(t_[node].line, "this is no condition", described(t));
  if (!t.is_tensor() && !t.is_number()) return Datum(Arg(ir::truth(t.datum)));
  return t.datum;
}

/// Both hold; either may be a tensor.
Thing Evaluator::both(const Thing& a, const Thing& b) {
  if (!ir::symbolic(a.datum)) return ir::truth(a.datum) ? b : a;
  if (!ir::symbolic(b.datum)) return ir::truth(b.datum) ? a : b;
  return Thing(M::logical_and(a.datum.tensor(), b.datum.tensor()));
}

/// `and` and `or` give one of their operands, and the second only if the first does not decide.
Thing Evaluator::boolean(int node, size_t from) {
  const Node& n = t_[node];
  Thing first = evaluate(n.children[from]);
  if (from + 1 == n.children.size()) return first;
  bool is_and = n.text == "and";
  if (first.kind == Thing::Kind::tuple)
    return first.items.empty() == is_and ? first : boolean(node, from + 1);
  if (first.kind != Thing::Kind::datum) fail(n.line, "this is no condition", described(first));
  if (!ir::symbolic(first.datum))
    return ir::truth(first.datum) == is_and ? boolean(node, from + 1) : first;
  Thing shape;
  auto second = [&] {
    Thing t = boolean(node, from + 1);
    if (t.kind != Thing::Kind::datum) fail(n.line, "this is no condition", described(t));
    return Data{t.datum};
  };
  auto same = [&] { return Data{first.datum}; };
  Data r = is_and ? ir::if_(first.datum, second, same) : ir::if_(first.datum, same, second);
  return Thing(r[0]);
}

Thing Evaluator::compare(int node) {
  const Node& n = t_[node];
  std::vector<std::string> ops = absl::StrSplit(n.text, ' ');
  Thing left = evaluate(n.children[0]), result;
  for (size_t i = 0; i < ops.size(); ++i) {
    Thing right = evaluate(n.children[i + 1]);
    Thing one = compared(ops[i], left, right, n.line);
    result = i == 0 ? one : both(result, one);
    if (!ir::symbolic(result.datum) && !result.is_tensor() && !ir::truth(result.datum))
      return result;
    left = right;
  }
  return result;
}

Thing Evaluator::compared(std::string_view op, const Thing& a, const Thing& b, int line) {
  SiteScope site(make_site(t_.file, line));
  if (op == "is" || op == "is-not") {
    if (!a.is_none() && !b.is_none()) fail(line, "'is' compares with None only");
    return Thing(Arg((a.is_none() == b.is_none()) == (op == "is")));
  }
  bool equality = op == "==" || op == "!=";
  auto is_text = [](const Thing& t) {
    return t.kind == Thing::Kind::datum && !t.is_tensor() && t.datum.arg().tag == Tag::text;
  };
  if (equality && is_text(a) && is_text(b))
    return Thing(
        Arg((std::string_view(a.datum.arg().text_) == b.datum.arg().text_) == (op == "==")));
  if (equality && a.kind == Thing::Kind::dtype && b.kind == Thing::Kind::dtype)
    return Thing(Arg((a.dtype == b.dtype) == (op == "==")));
  if (equality && a.kind == Thing::Kind::tuple && b.kind == Thing::Kind::tuple) {
    Thing all(Arg(a.items.size() == b.items.size()));
    for (size_t i = 0; i < a.items.size() && ir::truth(all.datum); ++i)
      all = compared("==", a.items[i], b.items[i], line);
    return op == "==" ? all : Thing(Arg(!ir::truth(all.datum)));
  }
  const Thing args[] = {a, b};
  return apply(operator_op(op), args, line);
}

Thing Evaluator::conditional(int node) {
  const Node& n = t_[node];
  Datum c = test(n.children[0]);
  if (!ir::symbolic(c)) return evaluate(n.children[ir::truth(c) ? 1 : 2]);
  Thing shape;
  auto branch = [&](size_t which) {
    Thing t = evaluate(n.children[which]);
    if (which == 1)
      shape = t;
    else if (!same_structure(shape, t))
      fail(n.line, "the two values of a conditional are different kinds of things",
           absl::StrCat(described(shape), " and ", described(t)));
    Data out;
    flatten(t, out, n.line);
    return out;
  };
  Data r = ir::if_(
      c, [&] { return branch(1); }, [&] { return branch(2); });
  size_t at = 0;
  return restore(shape, r, at);
}

}  // namespace lathe::script
