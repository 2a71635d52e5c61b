// Calls of ops, methods, functions and builtins; attributes; indices.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "core/error.h"
#include "core/fn.h"
#include "core/inplace.h"
#include "graph/script/evaluator.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::script {

using ir::Datum;
using S = shape_ops<Tensor>;

const Op* Resolver::method(const std::string& name) { return find_op(name); }

// ── ops ─────────────────────────────────────────────────────────────────────────────────────────

Arg Evaluator::as_arg(const Thing& t, std::deque<std::vector<Arg>>& lists,
                      std::deque<ArgList>& spans, int line) const {
  switch (t.kind) {
    case Thing::Kind::datum:
      return t.datum.arg();
    case Thing::Kind::dtype:
      return Arg(t.dtype);
    case Thing::Kind::tuple: {
      auto& list = lists.emplace_back();
      for (const Thing& item : t.items) list.push_back(as_arg(item, lists, spans, line));
      spans.push_back({list.data(), list.size()});
      return Arg(spans.back());
    }
    default:
      fail(line, "this cannot be an argument of an op", described(t));
  }
}

Thing Evaluator::call_op(const Op& op, std::vector<Thing> args,
                         const std::map<std::string, Thing>& named, int line) {
  SiteScope site(make_site(t_.file, line));
  // x.view(2, 3), x.permute(1, 0): numbers side by side where a list is wanted.
  const auto& params = op.schema.params;
  if (args.size() > 2 && params.size() >= 2 && params[1].list &&
      params[1].type == ArgType::integer && args[1].is_number()) {
    Thing list;
    list.kind = Thing::Kind::tuple;
    list.items.assign(args.begin() + 1, args.end());
    args.resize(1);
    args.push_back(std::move(list));
  }
  std::deque<std::vector<Arg>> lists;
  std::deque<ArgList> spans;
  std::vector<Arg> given;
  std::vector<NamedArg> by_name;
  for (const Thing& t : args) given.push_back(as_arg(t, lists, spans, line));
  for (const auto& [key, t] : named) by_name.push_back({key, as_arg(t, lists, spans, line)});
  absl::InlinedVector<Arg, 8> full;
  ArgVec pool;
  complete_call(op.schema, given, by_name, full, pool);
  Outputs out = lathe::call(op, absl::MakeConstSpan(full));
  bool many = op.schema.results.size() != 1 || op.schema.results[0].list;
  if (!many) return Thing(out[0]);
  Thing t;
  t.kind = Thing::Kind::tuple;
  for (Tensor& x : out) t.items.emplace_back(std::move(x));
  return t;
}

Thing Evaluator::call_method(const Thing& method, std::vector<Thing> args,
                             const std::map<std::string, Thing>& named, int line) {
  const Tensor& x = method.datum.tensor();
  const std::string& name = method.text;
  if (name == "size" && args.empty()) {
    Thing t;
    t.kind = Thing::Kind::tuple;
    for (Int s : x.shape()) t.items.emplace_back(Arg(s));
    return t;
  }
  if (name == "size")
    return Thing(Arg(x.size(static_cast<int>(integer(args[0], line, "an axis").value()))));
  if (name == "dim") return Thing(Arg(x.rank()));
  if (name == "numel") return Thing(Arg(x.numel()));
  if (name == "t" && x.rank() == 2) return Thing(S::transpose(x, 0, 1));
  if (name == "to" && args.size() == 1 && args[0].kind == Thing::Kind::dtype)
    return Thing(math_ops<Tensor>::cast(x, args[0].dtype));
  if (DType d; args.empty() && parse_dtype(name == "long"     ? "int64"
                                           : name == "double" ? "float64"
                                                              : name,
                                           d))
    return Thing(math_ops<Tensor>::cast(x, d));
  args.insert(args.begin(), Thing(x));
  if (name.size() > 1 && absl::EndsWith(name, "_")) {
    const Op* op = resolver_.method(name.substr(0, name.size() - 1));
    if (op == nullptr) fail(line, absl::StrCat("tensors have no method '", name, "'"));
    Thing value = call_op(*op, std::move(args), named, line);
    SiteScope site(make_site(t_.file, line));
    return Thing(lathe::assign(x, value.datum.tensor()));
  }
  const Op* op = resolver_.method(name);
  if (op == nullptr)
    fail(line, absl::StrCat("tensors have no method '", name, "' that a graph can run"), {},
         name == "item" || name == "tolist" || name == "numpy"
             ? "keep the value a tensor: a graph has no numbers that data decides"
             : "");
  return call_op(*op, std::move(args), named, line);
}

// ── calls ───────────────────────────────────────────────────────────────────────────────────────

Thing Evaluator::builtin(const std::string& name, const std::vector<Thing>& args, int line,
                         bool& found) {
  found = true;
  auto number = [&](size_t i) { return integer(args[i], line, "an argument of a builtin"); };
  if (name == "range" && !args.empty() && args.size() <= 3) {
    Thing t;
    t.kind = Thing::Kind::range;
    Int start = args.size() == 1 ? Int(0) : number(0),
        stop = args.size() == 1 ? number(0) : number(1);
    t.items = {Thing(Arg(start)), Thing(Arg(stop)),
               Thing(Arg(args.size() == 3 ? number(2) : Int(1)))};
    return t;
  }
  if (name == "len" && args.size() == 1) {
    if (args[0].kind == Thing::Kind::tuple) return Thing(Arg(Int(args[0].items.size())));
    if (args[0].is_tensor()) return Thing(Arg(args[0].datum.tensor().size(0)));
  }
  bool two_ints = args.size() == 2 && args[0].datum.is_integer() && args[1].datum.is_integer();
  if (name == "min" && two_ints) return Thing(Arg(lathe::min(number(0), number(1))));
  if (name == "max" && two_ints) return Thing(Arg(lathe::max(number(0), number(1))));
  if (name == "abs" && args.size() == 1)  // not an op: Python's builtin
    return apply(*math_ops<Tensor>::abs.op(), args, line);
  bool one_number = args.size() == 1 && args[0].is_number();
  if (name == "int" && one_number && args[0].datum.is_integer()) return args[0];
  if (name == "float" && one_number && args[0].datum.arg().tag == Tag::real) return args[0];
  if (name == "bool" && args.size() == 1 && !args[0].is_tensor())
    return Thing(Arg(ir::truth(args[0].datum)));
  if ((name == "int" || name == "float" || name == "bool") && args.size() == 1 &&
      args[0].is_tensor())
    fail(line, absl::StrCat(name, "() of a tensor: a graph has no numbers that data decides"),
         described(args[0]), "keep the value a tensor");
  found = false;
  return {};
}

Thing Evaluator::call_node(int node) {
  const Node& n = t_[node];
  std::vector<Thing> args;
  std::map<std::string, Thing> named;
  for (size_t i = 1; i < n.children.size(); ++i) {
    const Node& a = t_[n.children[i]];
    if (a.kind == Kind::keyword)
      named[a.text] = evaluate(a.children[0]);
    else
      args.push_back(evaluate(n.children[i]));
  }
  const Node& callee = t_[n.children[0]];
  if (callee.kind == Kind::name && !env_.contains(callee.text)) {
    bool found = false;
    Thing t = builtin(callee.text, args, n.line, found);
    if (found) return t;
  }
  Thing f = evaluate(n.children[0]);
  switch (f.kind) {
    case Thing::Kind::op:
      return call_op(*f.op, std::move(args), named, n.line);
    case Thing::Kind::method:
      return call_method(f, std::move(args), named, n.line);
    case Thing::Kind::function: {
      Evaluator inner(*f.tree, resolver_, depth_ + 1);
      return inner.call(f.function, std::move(args), named);
    }
    case Thing::Kind::dtype:
      if (args.size() == 1 && args[0].is_tensor())
        return Thing(math_ops<Tensor>::cast(args[0].datum.tensor(), f.dtype));
      [[fallthrough]];
    default:
      fail(n.line, "this cannot be called in a script", described(f));
  }
}

// ── attributes ──────────────────────────────────────────────────────────────────────────────────

/// "a.b.c" if it is made of names that are not local; else "".
std::string Evaluator::dotted(int node) const {
  const Node& n = t_[node];
  if (n.kind == Kind::name) return env_.contains(n.text) ? "" : n.text;
  if (n.kind != Kind::attribute) return "";
  std::string object = dotted(n.children[0]);
  return object.empty() ? "" : absl::StrCat(object, ".", n.text);
}

Thing Evaluator::attribute(int node) {
  const Node& n = t_[node];
  if (std::string path = dotted(node); !path.empty()) {
    Binding b = resolver_.resolve(path);
    if (b.how != Binding::How::unknown) return resolved(path, n.line);
  }
  Thing object = evaluate(n.children[0]);
  if (object.kind == Thing::Kind::module)
    return resolved(absl::StrCat(object.text, ".", n.text), n.line);
  if (!object.is_tensor())
    fail(n.line, absl::StrCat("this has no attribute '", n.text, "'"), described(object));
  const Tensor& x = object.datum.tensor();
  Thing t;
  if (n.text == "shape") {
    t.kind = Thing::Kind::tuple;
    for (Int s : x.shape()) t.items.emplace_back(Arg(s));
    return t;
  }
  if (n.text == "dtype") {
    t.kind = Thing::Kind::dtype;
    t.dtype = x.dtype();
    return t;
  }
  if (n.text == "ndim") return Thing(Arg(x.rank()));
  if (n.text == "T" && x.rank() == 2) return Thing(S::transpose(x, 0, 1));
  t.kind = Thing::Kind::method;
  t.datum = object.datum;
  t.text = n.text;
  return t;
}

// ── indices ─────────────────────────────────────────────────────────────────────────────────────

Thing Evaluator::subscript(int node) {
  const Node& n = t_[node];
  Thing x = evaluate(n.children[0]);
  SiteScope site(make_site(t_.file, n.line));
  if (x.is_tensor()) return Thing(view_of(x.datum.tensor(), n.children[1], n.line));
  if (x.kind != Thing::Kind::tuple) fail(n.line, "this cannot be indexed", described(x));
  auto size = static_cast<int64_t>(x.items.size());
  if (t_[n.children[1]].kind == Kind::slice) {
    const Node& s = t_[n.children[1]];
    auto part = [&](size_t i, int64_t otherwise) {
      if (t_[s.children[i]].kind == Kind::none) return otherwise;
      return integer(evaluate(s.children[i]), n.line, "an index").value();
    };
    int64_t step = part(2, 1);
    if (step == 0) fail(n.line, "the step of a slice is zero");
    auto bound = [&](int64_t v) {
      if (v < 0) v += size;
      return std::clamp<int64_t>(v, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
    };
    bool has_start = t_[s.children[0]].kind != Kind::none,
         has_stop = t_[s.children[1]].kind != Kind::none;
    int64_t start = has_start ? bound(part(0, 0)) : (step > 0 ? 0 : size - 1);
    int64_t stop = has_stop ? bound(part(1, 0)) : (step > 0 ? size : -1);
    Thing out = x;
    out.items.clear();
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step)
      out.items.push_back(x.items[static_cast<size_t>(i)]);
    return out;
  }
  int64_t i = integer(evaluate(n.children[1]), n.line, "an index").value();
  if (i < 0) i += size;
  if (i < 0 || i >= size) fail(n.line, "this index is out of range", absl::StrCat(i, " of ", size));
  return x.items[static_cast<size_t>(i)];
}

/// x[index] as a view, or as a selection where the index is a tensor.
Tensor Evaluator::view_of(const Tensor& x, int index, int line) {
  const Node& n = t_[index];
  std::vector<int> items = n.kind == Kind::tuple ? n.children : std::vector<int>{index};
  Tensor out = x;
  int axis = 0;
  for (int item : items) {
    const Node& i = t_[item];
    if (i.kind == Kind::slice) {
      auto part = [&](size_t k) {
        return t_[i.children[k]].kind == Kind::none
                   ? Arg()
                   : Arg(integer(evaluate(i.children[k]), line, "a bound of a slice"));
      };
      Int step = t_[i.children[2]].kind == Kind::none ? Int(1) : part(2).integer();
      out = S::slice(out, axis++, part(0), part(1), step);
      continue;
    }
    Thing t = evaluate(item);
    if (t.is_none()) {
      out = S::unsqueeze(out, axis++);
    } else if (t.is_tensor()) {
      if (!is_integer(t.datum.tensor().dtype()) || t.datum.tensor().rank() > 1 || items.size() > 1)
        fail(line,
             "an index in a script is made of integers, slices, None, or one vector of integers",
             described(t));
      out = t.datum.tensor().rank() == 0
                ? S::squeeze(
                      index_ops<Tensor>::index_select(out, axis, S::unsqueeze(t.datum.tensor(), 0)),
                      {Int(axis)})
                : index_ops<Tensor>::index_select(out, axis, t.datum.tensor());
      ++axis;
    } else {
      out = S::select(out, axis, integer(t, line, "an index"));
    }
  }
  return out;
}

}  // namespace lathe::script
