#include "kernels/contraction.h"

#include <algorithm>

#include "core/error.h"

namespace lathe {

int64_t Contraction::terms() const {
  int64_t n = 1;
  for (int v : reduced) n *= extent[static_cast<size_t>(v)];
  return n;
}

int64_t Contraction::outputs() const {
  int64_t n = 1;
  for (int v : outer) n *= extent[static_cast<size_t>(v)];
  return n;
}

namespace {

/// A variable that an affine output axis fixes: (base + sum of coefficient * variable) / divisor.
struct Fixed {
  int var;
  int64_t base = 0, divisor = 1;
  Sizes coefficient;
};

class Reader {
 public:
  Reader(const Formula& f, const FormulaExtents& e) : f_(f) {
    for (Int v : e.vars) c_.extent.push_back(v.value());
    for (Int v : e.attrs) attrs_.push_back(v.value());
    for (Int v : e.batch) c_.batch.push_back(v.value());
    for (int v : f.reduced) c_.reduced.push_back(v);
  }

  Contraction read(const Operand& a, const Operand& b, const Operand& out) {
    c_.dtype = out.dtype;
    size_t lead = out.shape.size() - f_.out.axes.size();
    for (size_t i = 0; i < f_.out.axes.size(); ++i) read_out(f_.out.axes[i], out, lead + i);
    c_.out.batch.assign(out.strides.begin(), out.strides.begin() + static_cast<ptrdiff_t>(lead));
    c_.out.stride.resize(c_.extent.size(), 0);
    c_.a = read_operand(f_.a, a);
    c_.b = read_operand(f_.b, b);
    return std::move(c_);
  }

 private:
  int64_t scale(const FormulaTerm& t) const {
    return t.scale < 0 ? 1 : attrs_[static_cast<size_t>(t.scale)];
  }
  int64_t minus(const FormulaAxis& axis) const {
    int64_t sum = 0;
    for (int a : axis.minus) sum += attrs_[static_cast<size_t>(a)];
    return sum;
  }

  void read_out(const FormulaAxis& axis, const Operand& out, size_t at) {
    if (!axis.packed.empty()) {
      int64_t step = out.strides[at];
      for (size_t i = axis.packed.size(); i-- > 0;) {
        set(c_.out.stride, axis.packed[i], step);
        step *= c_.extent[static_cast<size_t>(axis.packed[i])];
      }
      for (int v : axis.packed) c_.outer.push_back(v);
      return;
    }
    // The output index becomes a variable of its own; the axis's last summed variable follows from
    // it.
    int h = static_cast<int>(c_.extent.size());
    c_.extent.push_back(out.shape[at]);
    set(c_.out.stride, h, out.strides[at]);
    c_.outer.push_back(h);
    const FormulaTerm* last = nullptr;
    ptrdiff_t rank = -1;
    for (const FormulaTerm& t : axis.terms) {
      auto it = std::find(c_.reduced.begin(), c_.reduced.end(), t.var);
      if (it == c_.reduced.end() || it - c_.reduced.begin() < rank) continue;
      rank = it - c_.reduced.begin();
      last = &t;
    }
    LATHE_CHECK(last != nullptr);
    Fixed fixed{last->var, minus(axis), scale(*last), {}};
    set(fixed.coefficient, h, 1);
    for (const FormulaTerm& t : axis.terms)
      if (t.var != last->var) set(fixed.coefficient, t.var, -scale(t));
    fixed_.push_back(std::move(fixed));
    c_.reduced.erase(c_.reduced.begin() + rank);
  }

  Addressing read_operand(const FormulaOperand& o, const Operand& x) {
    Addressing access;
    access.stride.resize(c_.extent.size(), 0);
    size_t lead = x.shape.size() - o.axes.size();
    access.batch.resize(c_.batch.size(), 0);
    for (size_t i = 0; i < lead; ++i)
      if (x.shape[i] != 1) access.batch[c_.batch.size() - lead + i] = x.strides[i];
    for (size_t i = 0; i < o.axes.size(); ++i)
      read_axis(o.axes[i], x.shape[lead + i], x.strides[lead + i], access);
    return access;
  }

  void read_axis(const FormulaAxis& axis, int64_t size, int64_t stride, Addressing& access) {
    if (axis.packed.empty()) {
      Window w{-minus(axis), 1, size, stride, Sizes(c_.extent.size(), 0)};
      for (const FormulaTerm& t : axis.terms) w.coefficient[static_cast<size_t>(t.var)] += scale(t);
      access.windows.push_back(std::move(w));
      return;
    }
    const Fixed* fixed = nullptr;
    for (const Fixed& f : fixed_)
      if (f.var == axis.packed.back()) fixed = &f;
    if (fixed != nullptr) {
      LATHE_CHECK(axis.plain());
      Window w{fixed->base, fixed->divisor, size, stride, fixed->coefficient};
      w.coefficient.resize(c_.extent.size(), 0);
      access.windows.push_back(std::move(w));
      return;
    }
    int64_t step = stride;
    for (size_t i = axis.packed.size(); i-- > 0;) {
      size_t v = static_cast<size_t>(axis.packed[i]);
      access.stride[v] += step;
      step *= c_.extent[v];
    }
  }

  static void set(Sizes& s, int var, int64_t value) {
    if (s.size() <= static_cast<size_t>(var)) s.resize(static_cast<size_t>(var) + 1, 0);
    s[static_cast<size_t>(var)] = value;
  }

  const Formula& f_;
  Sizes attrs_;
  Contraction c_;
  absl::InlinedVector<Fixed, 2> fixed_;
};

Shape to_shape(absl::Span<const int64_t> s) { return Shape(s.begin(), s.end()); }

}  // namespace

Contraction make_contraction(const Op& op, Args args, const Operand& a, const Operand& b,
                             const Operand& out) {
  Shape a_shape = to_shape(a.shape), b_shape = to_shape(b.shape), out_shape = to_shape(out.shape);
  FormulaExtents e = formula_extents(op.name(), op.formula, args, a_shape, b_shape, &out_shape);
  return Reader(op.formula, e).read(a, b, out);
}

Shape reduced_extents(const Op& op, Args args, IntSpan out) {
  const Formula& f = op.formula;
  Shape shape(out.begin(), out.end());
  FormulaExtents e = formula_extents(op.name(), f, args, args.shape(0), args.shape(1), &shape);
  // Each affine output axis fixes the last of its variables: no sum runs over that one.
  absl::InlinedVector<int, 6> reduced(f.reduced.begin(), f.reduced.end());
  for (const FormulaAxis& axis : f.out.axes) {
    if (!axis.packed.empty()) continue;
    for (size_t i = reduced.size(); i-- > 0;) {
      bool own = false;
      for (const FormulaTerm& t : axis.terms) own |= t.var == reduced[i];
      if (!own) continue;
      reduced.erase(reduced.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
  }
  Shape extents;
  for (int v : reduced) extents.push_back(e.vars[static_cast<size_t>(v)]);
  return extents;
}

}  // namespace lathe
