#include "kernels/problem/contraction.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

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
    c_.out.dtype = out.dtype;
    size_t lead = out.shape.size() - f_.out.axes.size();
    for (size_t i = 0; i < f_.out.axes.size(); ++i) read_out(f_.out.axes[i], out, lead + i);
    c_.out.batch.assign(out.strides.begin(), out.strides.begin() + static_cast<ptrdiff_t>(lead));
    c_.out.stride.resize(c_.extent.size(), 0);
    c_.a = read_operand(f_.a, a);
    c_.b = read_operand(f_.b, b);
    if (!f_.out.batch) sum_batch();
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
    if (!axis.window()) {
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

  /// Batch axes that the output does not have are variables, summed outermost.
  void sum_batch() {
    for (size_t i = 0; i < c_.batch.size(); ++i) {
      c_.reduced.insert(c_.reduced.begin() + static_cast<ptrdiff_t>(i),
                        static_cast<int>(c_.extent.size()));
      c_.extent.push_back(c_.batch[i]);
      for (Addressing* x : {&c_.a, &c_.b, &c_.out}) {
        x->stride.push_back(x == &c_.out ? 0 : x->batch[i]);
        for (Window& w : x->windows) w.coefficient.push_back(0);
      }
    }
    for (Sizes* s : {&c_.batch, &c_.a.batch, &c_.b.batch, &c_.out.batch}) s->clear();
  }

  Addressing read_operand(const FormulaOperand& o, const Operand& x) {
    Addressing access;
    access.dtype = x.dtype;
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
    if (axis.window()) {
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

namespace {

/// Where every axis is one variable, the extents are there to be read: the rule has been checked by
/// inference, and a small product should not pay for it twice.
bool read_extents(const Formula& f, const Operand& a, const Operand& b, FormulaExtents& e) {
  e.vars.assign(f.vars.size(), Int(0));
  for (auto [o, x] : {std::pair{&f.a, &a}, std::pair{&f.b, &b}}) {
    size_t lead = x->shape.size() - o->axes.size();
    for (size_t i = 0; i < o->axes.size(); ++i) {
      if (!o->axes[i].plain()) return false;
      e.vars[static_cast<size_t>(o->axes[i].packed[0])] = x->shape[lead + i];
    }
    if (lead > e.batch.size()) e.batch.insert(e.batch.begin(), lead - e.batch.size(), Int(1));
    for (size_t i = 0; i < lead; ++i)
      if (x->shape[i] != 1) e.batch[e.batch.size() - lead + i] = x->shape[i];
  }
  return f.attrs.empty();
}

}  // namespace

Contraction make_contraction(const Op& op, Args args, const Operand& a, const Operand& b,
                             const Operand& out) {
  FormulaExtents e;
  if (!read_extents(op.formula, a, b, e)) {
    Shape a_shape = to_shape(a.shape), b_shape = to_shape(b.shape), out_shape = to_shape(out.shape);
    e = formula_extents(op, args, a_shape, b_shape, &out_shape);
  }
  return Reader(op.formula, e).read(a, b, out);
}

bool divisible_axes(const Formula& formula) {
  for (const FormulaAxis& axis : formula.out.axes)
    if (axis.window() && axis.terms.size() > 2) return false;
  return true;
}

namespace {

/// Replaces variable v by first + step * v, v now of this extent, everywhere.
void substitute(Contraction& c, size_t v, int64_t first, int64_t step, int64_t extent) {
  c.extent[v] = extent;
  for (Addressing* a : {&c.a, &c.b, &c.out}) {
    a->offset += a->stride[v] * first;
    a->stride[v] *= step;
    for (Window& w : a->windows) {
      w.base += w.coefficient[v] * first;
      w.coefficient[v] *= step;
    }
  }
}

Window* divided_window(Contraction& c) {
  for (Addressing* a : {&c.a, &c.b})
    for (Window& w : a->windows)
      if (w.divisor != 1) return &w;
  return nullptr;
}

/// The part of `c` whose output index leaves this remainder by the window's divisor.
Contraction part_of(const Contraction& whole, int64_t remainder) {
  Contraction c = whole;
  Window& w = *divided_window(c);
  int64_t divisor = w.divisor;
  auto moves = [&](int v) { return w.coefficient[static_cast<size_t>(v)] != 0; };
  size_t h = static_cast<size_t>(*std::find_if(c.outer.begin(), c.outer.end(), moves));
  int64_t size = c.extent[h];
  substitute(c, h, remainder, divisor,
             size > remainder ? (size - remainder + divisor - 1) / divisor : 0);
  auto found = std::find_if(c.reduced.begin(), c.reduced.end(), moves);
  if (found == c.reduced.end()) {
    // No other variable makes up for a remainder: either all terms exist or none.
    if (w.base % divisor != 0) c.reduced.clear();
    if (w.base % divisor != 0)
      c.extent.push_back(0), c.reduced.push_back(static_cast<int>(c.extent.size()) - 1);
  } else {
    size_t i = static_cast<size_t>(*found);
    int64_t first = 0, step = divisor / std::gcd(divisor, w.coefficient[i]), terms = c.extent[i];
    while (first < step && (w.base + w.coefficient[i] * first) % divisor != 0) ++first;
    bool none = first == step || first >= terms;
    substitute(c, i, none ? 0 : first, step, none ? 0 : (terms - first + step - 1) / step);
  }
  w.base = w.base / divisor;  // exact, or there are no terms
  for (int64_t& k : w.coefficient) k /= divisor;
  w.divisor = 1;
  return c;
}

/// Gives `c` contiguous outputs of its own, and remembers where they belong.
Residue detached(Contraction c) {
  Residue r;
  r.offset = c.out.offset;
  c.out.offset = 0;
  r.shape = c.batch;
  r.strides = c.out.batch;
  for (int v : c.outer) {
    r.shape.push_back(c.extent[static_cast<size_t>(v)]);
    r.strides.push_back(c.out.stride[static_cast<size_t>(v)]);
  }
  Sizes own = contiguous_strides(r.shape);
  std::copy_n(own.begin(), c.batch.size(), c.out.batch.begin());
  for (size_t k = 0; k < c.outer.size(); ++k)
    c.out.stride[static_cast<size_t>(c.outer[k])] = own[c.batch.size() + k];
  r.contraction = std::move(c);
  return r;
}

}  // namespace

std::vector<Residue> residues(const Contraction& c) {
  std::vector<Contraction> open{c};
  std::vector<Residue> done;
  while (!open.empty()) {
    Contraction next = std::move(open.back());
    open.pop_back();
    const Window* w = divided_window(next);
    if (w == nullptr) {
      done.push_back(detached(std::move(next)));
      continue;
    }
    for (int64_t r = w->divisor; r-- > 0;) open.push_back(part_of(next, r));
  }
  return done;
}

Shape reduced_extents(const Op& op, Args args, IntSpan out) {
  const Formula& f = op.formula;
  Shape shape(out.begin(), out.end());
  FormulaExtents e = formula_extents(op, args, args.shape(0), args.shape(1), &shape);
  // Each affine output axis fixes the last of its variables: no sum runs over that one.
  absl::InlinedVector<int, 6> reduced(f.reduced.begin(), f.reduced.end());
  for (const FormulaAxis& axis : f.out.axes) {
    if (!axis.window()) continue;
    for (size_t i = reduced.size(); i-- > 0;) {
      bool own = false;
      for (const FormulaTerm& t : axis.terms) own |= t.var == reduced[i];
      if (!own) continue;
      reduced.erase(reduced.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
  }
  Shape extents;
  if (!f.out.batch) extents = e.batch;
  for (int v : reduced) extents.push_back(e.vars[static_cast<size_t>(v)]);
  return extents;
}

}  // namespace lathe
