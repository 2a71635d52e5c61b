// The shape and dtype rule of every contraction, read off its definition. Plain axes give extents
// directly, packed axes by division, `where` by an argument, and a window `y*s + i*d - p` gives the
// extent of the one variable it has that nothing else fixes, with the padding taken on both sides.
#include <absl/strings/str_cat.h>

#include <optional>

#include "core/base/error.h"
#include "core/infer/rules.h"
#include "core/op/formula.h"

namespace lathe {
namespace {

class Solver {
 public:
  Solver(const Op& op, Args args) : op_(op), f_(op.formula), args_(args) {
    vars_.resize(f_.vars.size());
    for (const FormulaAttr& a : f_.attrs) {
      const Arg& value = args[static_cast<size_t>(a.param)];
      attrs_.push_back(value.tag == Tag::list ? value.list_->data[a.element].integer()
                                              : value.integer());
    }
    for (const FormulaExtent& w : f_.where) {
      Int extent = attr(w.attr);
      require_least(w.attr, 1);
      vars_[static_cast<size_t>(w.var)] = extent;
    }
    for (const FormulaOperand* o : {&f_.out, &f_.a, &f_.b})
      for (const FormulaAxis& axis : o->axes) check_steps(axis);
  }

  void use(const FormulaOperand& o, IntSpan shape) {
    if (static_cast<size_t>(shape.size()) < o.axes.size() ||
        (!o.batch && shape.size() != o.axes.size()))
      throw ShapeError({.op = op_.name(),
                        .problem = absl::StrCat(subject(o), " has the wrong rank"),
                        .got = absl::StrCat(subject(o), to_string(shape)),
                        .expected = absl::StrCat(
                            o.axes.size(), o.batch ? " or more axes; " : " axes; ", axes_of(o)),
                        .next = "reshape it, or check the order of the operands"});
    size_t batch = shape.size() - o.axes.size();
    for (size_t i = 0; i < o.axes.size(); ++i)
      pending_.push_back({&o, &o.axes[i], shape[batch + i]});
  }

  void solve() {
    for (size_t round = 0; round <= f_.vars.size(); ++round)
      for (Equation& e : pending_)
        if (!e.done) e.done = try_solve(e);
    for (const Equation& e : pending_)
      if (!e.done) undetermined(e);
  }

  Int var(int v) const { return *vars_[static_cast<size_t>(v)]; }
  bool known(int v) const { return vars_[static_cast<size_t>(v)].has_value(); }
  Int attr(int a) const { return attrs_[static_cast<size_t>(a)]; }
  const Shape& attrs() const { return attrs_; }
  std::vector<std::optional<Int>>& vars() { return vars_; }

  /// How long an output axis is: a window's, as long as it reaches.
  Int extent(const FormulaAxis& axis) const {
    Int size = 1;
    for (int v : axis.packed) size *= var(v);
    if (!axis.window()) return size;
    for (const FormulaTerm& t : axis.terms) size += scale(t) * (var(t.var) - 1);
    size -= off_the_ends(axis);
    if (require(Relation::le, Int(0), size)) return size;
    throw ShapeError({.op = op_.name(),
                      .problem = "the padding takes off more than there is",
                      .got = absl::StrCat("a size of ", to_string(size)),
                      .expected = "a size of 0 or more",
                      .next = "pad less"});
  }

 private:
  struct Equation {
    const FormulaOperand* operand;
    const FormulaAxis* axis;
    Int size;
    bool done = false;
  };

  bool try_solve(const Equation& e) { return e.axis->window() ? solve_window(e) : solve_packed(e); }

  bool solve_packed(const Equation& e) {
    Int product = 1;
    int missing = -1;
    for (int v : e.axis->packed) {
      if (known(v)) {
        product *= var(v);
      } else if (missing >= 0) {
        return false;
      } else {
        missing = v;
      }
    }
    if (missing < 0) {
      if (!require(Relation::eq, product, e.size)) mismatch(e, product);
      return true;
    }
    if (identical(product, Int(1))) {
      vars_[static_cast<size_t>(missing)] = e.size;
      return true;
    }
    if (!require(Relation::ne, product, Int(0)) ||
        !require(Relation::eq, mod(e.size, product), Int(0)))
      no_multiple(e, product);
    vars_[static_cast<size_t>(missing)] = floor_div(e.size, product);
    return true;
  }

  /// What padding adds to both ends of an axis, less what `more` adds behind its last window.
  Int off_the_ends(const FormulaAxis& axis) const {
    Int size = 0;
    for (int a : axis.minus) size += attr(a) * 2;
    for (int a : axis.more) size -= attr(a);
    return size;
  }

  /// y*s + i*d - p with i known: floor((size + 2p - d(i-1) - 1) / s) + 1, at least 0.
  bool solve_window(const Equation& e) {
    Int padded = e.size + off_the_ends(*e.axis);
    Int room = padded - 1;
    const FormulaTerm* missing = nullptr;
    for (const FormulaTerm& t : e.axis->terms) {
      if (known(t.var)) {
        room -= scale(t) * (var(t.var) - 1);
      } else if (missing != nullptr) {
        return false;
      } else {
        missing = &t;
      }
    }
    if (missing == nullptr) return check_window(e, room);
    if (!require(Relation::le, Int(0), room))
      throw ShapeError({.op = op_.name(),
                        .problem = "the window is larger than the padded input",
                        .got = absl::StrCat("a window of ", to_string(padded - room),
                                            " on a size of ", to_string(e.size), ", which is ",
                                            to_string(padded), " with its padding"),
                        .expected = absl::StrCat("a window of at most ", to_string(padded)),
                        .next = "pad more, or take a smaller window"});
    vars_[static_cast<size_t>(missing->var)] = floor_div(room, scale(*missing)) + 1;
    return true;
  }

  void check_steps(const FormulaAxis& axis) const {
    for (const FormulaTerm& t : axis.terms)
      if (t.scale >= 0) require_least(t.scale, 1);
    for (int a : axis.minus) require_least(a, 0);
    for (int a : axis.more) require_least(a, 0);
  }
  void require_least(int attribute, int least) const {
    if (require(Relation::le, Int(least), attr(attribute))) return;
    const std::string& param = op_.schema.params[attr_param(attribute)].name;
    throw ValueError({.op = op_.name(),
                      .problem = absl::StrCat("'", param, "' must be at least ", least),
                      .got = absl::StrCat(param, "=", to_string(attr(attribute))),
                      .expected = absl::StrCat(param, " >= ", least),
                      .next = absl::StrCat("leave ", param, " out for ", least)});
  }

  /// All extents are known: the first variable's must be the one that the others leave it, so that
  /// an adjoint belongs to a product that there is. Where the axis states what is left behind the
  /// last window, exactly that must be left.
  bool check_window(const Equation& e, Int room) {
    const FormulaTerm& first = e.axis->terms[0];
    Int left = room + scale(first) * (var(first.var) - 1), fits = 0;
    if (!e.axis->more.empty()) {
      if (Int reach = extent(*e.axis); !require(Relation::eq, e.size, reach)) wrong_size(e, reach);
      return true;
    }
    if (require(Relation::le, Int(0), left)) fits = floor_div(left, scale(first)) + 1;
    if (require(Relation::eq, var(first.var), fits)) return true;
    throw ShapeError({.op = op_.name(),
                      .problem = absl::StrCat("the sizes of '", f_.vars[first.var], "' differ"),
                      .got = to_string(var(first.var)),
                      .expected = absl::StrCat(to_string(fits), " for an axis of ",
                                               to_string(e.size), ", by ", f_.text),
                      .next = "give the shape that the forward convolution had"});
  }

  Int scale(const FormulaTerm& t) const {
    return t.scale < 0 ? Int(1) : attrs_[static_cast<size_t>(t.scale)];
  }

  /// Operands by the names of their parameters.
  std::string subject(const FormulaOperand& o) const {
    if (&o == &f_.out) return "the result";
    return op_.schema.params[&o == &f_.a ? 0 : 1].name;
  }
  std::string operands() const {
    std::string out = absl::StrCat(subject(f_.a), to_string(args_.shape(0)), ", ", subject(f_.b),
                                   to_string(args_.shape(1)));
    for (const FormulaExtent& w : f_.where)
      absl::StrAppend(&out, ", ", op_.schema.params[attr_param(w.attr)].name, "=",
                      to_string(attr(w.attr)));
    return out;
  }
  /// "weight is W[g o, c, i, j], g = groups"
  std::string axes_of(const FormulaOperand& o) const {
    return absl::StrCat(subject(o), " is ", o.name, o.batch ? "[..., " : "[", o.text, "]",
                        f_.where.empty() ? "" : ", ", f_.where_text);
  }
  size_t attr_param(int attribute) const {
    return static_cast<size_t>(f_.attrs[static_cast<size_t>(attribute)].param);
  }
  std::string names(const FormulaAxis& axis) const {
    std::string out;
    for (int v : axis.packed) absl::StrAppend(&out, out.empty() ? "" : " ", f_.vars[v]);
    return out;
  }

  [[noreturn]] void mismatch(const Equation& e, Int want) {
    throw ShapeError(
        {.op = op_.name(),
         .problem = absl::StrCat("the sizes of '", names(*e.axis), "' differ"),
         .got = operands(),
         .expected = absl::StrCat(to_string(want), " in ", subject(*e.operand), ", found ",
                                  to_string(e.size), "; ", axes_of(*e.operand)),
         .next = f_.where.empty() ? "check the order of the operands, or transpose one"
                                  : "check the sizes of every operand, and the arguments: the one "
                                    "that is named may be the one that is right"});
  }
  [[noreturn]] void no_multiple(const Equation& e, Int of) {
    throw ShapeError(
        {.op = op_.name(),
         .problem =
             absl::StrCat("the size of '", names(*e.axis), "' is no multiple of ", to_string(of)),
         .got = operands(),
         .expected = absl::StrCat("a multiple of ", to_string(of), " in ", subject(*e.operand),
                                  ", found ", to_string(e.size), "; ", axes_of(*e.operand)),
         .next = "check the order of the operands, and the arguments"});
  }
  [[noreturn]] void wrong_size(const Equation& e, Int reach) {
    throw ShapeError({.op = op_.name(),
                      .problem = "a size is not the one that the windows reach",
                      .got = absl::StrCat(to_string(e.size), " in ", subject(*e.operand)),
                      .expected = absl::StrCat(to_string(reach), "; ", axes_of(*e.operand)),
                      .next = "give the shape that the forward convolution had"});
  }
  [[noreturn]] void undetermined(const Equation& e) {
    throw InternalError({.op = op_.name(),
                         .problem = absl::StrCat("formula leaves an axis of ", e.operand->name,
                                                 " undetermined: ", f_.text)});
  }

  const Op& op_;
  const Formula& f_;
  Args args_;
  std::vector<std::optional<Int>> vars_;
  Shape attrs_;
  std::vector<Equation> pending_;
};

}  // namespace

FormulaExtents formula_extents(const Op& op, Args args, IntSpan a, IntSpan b,
                               const Shape* out_shape) {
  const Formula& f = op.formula;
  Solver s(op, args);
  s.use(f.a, a);
  s.use(f.b, b);
  if (out_shape != nullptr) s.use(f.out, *out_shape);
  s.solve();
  FormulaExtents e;
  e.attrs = s.attrs();
  for (const auto& v : s.vars()) e.vars.push_back(*v);
  auto batch = [](const FormulaOperand& o, IntSpan shape) {
    return shape.subspan(0, shape.size() - o.axes.size());
  };
  e.batch = broadcast_shapes(op.name(), batch(f.a, a), batch(f.b, b));
  if (out_shape != nullptr) {
    e.out = *out_shape;
    return e;
  }
  if (f.out.batch) e.out = e.batch;
  for (const FormulaAxis& axis : f.out.axes) e.out.push_back(s.extent(axis));
  return e;
}

namespace {

/// The result's dtype as the caller states it.
DType stated_dtype(const Op& op, Args args, DType common, DType stated) {
  if (promote(common, stated) != stated)
    throw DTypeError(
        {.op = op.name(),
         .problem = "out_dtype cannot hold what the operands hold",
         .got = absl::StrCat(name(args.tensor(0).dtype()), " and ", name(args.tensor(1).dtype()),
                             ", out_dtype=", name(stated)),
         .expected = absl::StrCat(name(common), " or a wider dtype"),
         .next = "leave it out, and convert the result with .to(dtype)"});
  require_domain(op, stated);
  return stated;
}

}  // namespace

SumTypes sum_types(const Op& op, Args args) {
  if (!op.extra.sums.empty()) {
    const DType a = args.tensor(0).dtype(), b = args.tensor(1).dtype();
    for (const SumRule& rule : op.extra.sums)
      if (rule.a == a && rule.b == b) return {promote(a, b), rule.accumulator, rule.result};
  }
  const ElementTypes types = element_types(op, args);
  DType result = types.results[0];
  if (const int at = op.formula.out_dtype; at >= 0 && !args.none(at))
    result = stated_dtype(op, args, types.common, args.dtype(at));
  return {types.common, compute_type(result), result};
}

Types infer_contract(const Op& op, Args args) {
  const DType dtype = sum_types(op, args).result;
  Tensor a = args.tensor(0), b = args.tensor(1);
  const Device device = common_device(op, args);
  if (op.formula.shape < 0)
    return {TensorType{dtype, formula_extents(op, args, a.shape(), b.shape()).out, device}};
  const Shape given = args.ints(op.formula.shape);
  FormulaExtents e = formula_extents(op, args, a.shape(), b.shape(), &given);
  const IntSpan batch = IntSpan(given).first(given.size() - op.formula.out.axes.size());
  if (op.formula.out.batch && !require_equal(batch, e.batch))
    throw ShapeError({.op = op.name(),
                      .problem = "the leading axes of the shape are not the operands'",
                      .got = to_string(batch),
                      .expected = to_string(e.batch),
                      .next = "give the shape with the operands' leading axes, broadcast"});
  return {TensorType{dtype, std::move(e.out), device}};
}

}  // namespace lathe
