// The shape rule of every contract row, read off its formula: plain axes give extents directly,
// packed axes by division, and an affine axis `y*s + i*d - p` gives the extent of the one variable
// it has that nothing else fixes, with the padding taken on both sides.
#include <absl/strings/str_cat.h>

#include <optional>

#include "core/error.h"
#include "core/formula.h"
#include "core/infer/rules.h"

namespace lathe {
namespace {

class Solver {
 public:
  Solver(std::string_view op, const Formula& f, Args args) : op_(op), f_(f) {
    vars_.resize(f.vars.size());
    for (const FormulaAttr& a : f.attrs) {
      const Arg& value = args[static_cast<size_t>(a.param)];
      attrs_.push_back(value.tag == Tag::list ? value.list_->data[a.element].integer()
                                              : value.integer());
    }
  }

  void use(const FormulaOperand& o, IntSpan shape) {
    if (static_cast<size_t>(shape.size()) < o.axes.size() ||
        (!o.batch && shape.size() != o.axes.size()))
      throw ShapeError({.op = std::string(op_),
                        .problem = absl::StrCat("operand ", o.name, " has the wrong rank"),
                        .got = absl::StrCat(o.name, to_string(shape)),
                        .expected = absl::StrCat(o.axes.size(), o.batch ? " or more axes" : " axes",
                                                 ", by ", f_.text)});
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
  const Shape& attrs() const { return attrs_; }
  std::vector<std::optional<Int>>& vars() { return vars_; }

 private:
  struct Equation {
    const FormulaOperand* operand;
    const FormulaAxis* axis;
    Int size;
    bool done = false;
  };

  bool try_solve(const Equation& e) {
    return e.axis->packed.empty() ? solve_affine(e) : solve_packed(e);
  }

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
      mismatch(e, product);
    vars_[static_cast<size_t>(missing)] = floor_div(e.size, product);
    return true;
  }

  /// y*s + i*d - p with i known: floor((size + 2p - d(i-1) - 1) / s) + 1, at least 0.
  bool solve_affine(const Equation& e) {
    Int padded = e.size;
    for (int a : e.axis->minus) padded += attrs_[static_cast<size_t>(a)] * 2;
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
    if (missing == nullptr) return check_affine(e, room);
    if (!require(Relation::le, Int(1), scale(*missing)))
      throw ValueError({.op = std::string(op_),
                        .problem = "a stride must be at least 1",
                        .got = to_string(scale(*missing)),
                        .expected = "1 or more",
                        .next = "leave it out for 1"});
    if (!require(Relation::le, Int(0), room))
      throw ShapeError({.op = std::string(op_),
                        .problem = "the window is larger than the padded input",
                        .got = absl::StrCat("a window of ", to_string(padded - room), " on ",
                                            to_string(e.size), ", padded ", to_string(padded)),
                        .expected = absl::StrCat("a window of at most ", to_string(padded)),
                        .next = "pad more, or take a smaller window"});
    vars_[static_cast<size_t>(missing->var)] = floor_div(room, scale(*missing)) + 1;
    return true;
  }

  /// All extents are known: the first variable's must be the one that the others leave it, so that
  /// an adjoint belongs to a product that there is.
  bool check_affine(const Equation& e, Int room) {
    const FormulaTerm& first = e.axis->terms[0];
    Int left = room + scale(first) * (var(first.var) - 1), fits = 0;
    if (require(Relation::le, Int(1), scale(first)) && require(Relation::le, Int(0), left))
      fits = floor_div(left, scale(first)) + 1;
    if (require(Relation::eq, var(first.var), fits)) return true;
    throw ShapeError({.op = std::string(op_),
                      .problem = absl::StrCat("the sizes of '", f_.vars[first.var], "' differ"),
                      .got = to_string(var(first.var)),
                      .expected = absl::StrCat(to_string(fits), " for an axis of ",
                                               to_string(e.size), ", by ", f_.text),
                      .next = "give the shape that the forward convolution had"});
  }

  Int scale(const FormulaTerm& t) const {
    return t.scale < 0 ? Int(1) : attrs_[static_cast<size_t>(t.scale)];
  }

  [[noreturn]] void mismatch(const Equation& e, Int want) {
    std::string axis;
    for (int v : e.axis->packed) absl::StrAppend(&axis, axis.empty() ? "" : " ", f_.vars[v]);
    throw ShapeError({.op = std::string(op_),
                      .problem = absl::StrCat("the sizes of '", axis, "' differ"),
                      .got = absl::StrCat(e.operand->name, " has ", to_string(e.size), " there"),
                      .expected = absl::StrCat(to_string(want), ", by ", f_.text),
                      .next = "check the order of the operands, or transpose one"});
  }
  [[noreturn]] void undetermined(const Equation& e) {
    throw InternalError({.op = std::string(op_),
                         .problem = absl::StrCat("formula leaves an axis of ", e.operand->name,
                                                 " undetermined: ", f_.text)});
  }

  std::string_view op_;
  const Formula& f_;
  std::vector<std::optional<Int>> vars_;
  Shape attrs_;
  std::vector<Equation> pending_;
};

}  // namespace

FormulaExtents formula_extents(std::string_view op, const Formula& f, Args args, IntSpan a,
                               IntSpan b, const Shape* out_shape) {
  Solver s(op, f, args);
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
  e.batch = broadcast_shapes(op, batch(f.a, a), batch(f.b, b));
  if (out_shape != nullptr) {
    e.out = *out_shape;
    return e;
  }
  if (f.out.batch) e.out = e.batch;
  for (const FormulaAxis& axis : f.out.axes) {
    Int size = 1;
    for (int v : axis.packed) size *= e.vars[static_cast<size_t>(v)];
    e.out.push_back(size);
  }
  return e;
}

Types infer_contract(const Op& op, Args args) {
  DType dtype = element_types(op, args).results[0];
  Tensor a = args.tensor(0), b = args.tensor(1);
  bool affine_out = false;
  for (const FormulaAxis& axis : op.formula.out.axes) affine_out |= axis.packed.empty();
  int shape_param = op.schema.find("shape");
  Shape given;
  if (shape_param >= 0) given = args.ints(shape_param);
  if (affine_out && shape_param < 0) LATHE_INTERNAL("an affine output needs a shape argument");
  FormulaExtents e = formula_extents(op.name(), op.formula, args, a.shape(), b.shape(),
                                     shape_param >= 0 ? &given : nullptr);
  return {TensorType{dtype, e.out, common_device(op, args)}};
}

}  // namespace lathe
