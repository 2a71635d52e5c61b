// The view algebra. On numbers every comparison is a comparison; on symbols `identical` and what
// the trace can prove come first, and a guard is recorded only where two answers would give two
// layouts.
#include "core/sizes/symexpr.h"
#include "core/tensor/tensor.h"

namespace lathe {
namespace {

// Without a trace under way nobody can be asked, so the answer is the one that is always safe: no.
bool same(Int a, Int b) {
  if (identical(a, b)) return true;
  if (a.known() && b.known()) return false;
  SymScope* scope = SymScope::current();
  return scope && scope->decide(Relation::eq, a, b);
}

// Never a guard: an axis that may be 1 is treated as one that is not.
bool surely_one(Int size) {
  if (size.known()) return size.value() == 1;
  SymScope* scope = SymScope::current();
  return scope && scope->prove(Relation::eq, size, 1) == SymScope::Truth::yes;
}

bool surely_empty(IntSpan shape) {
  for (Int size : shape)
    if (identical(size, 0)) return true;
  return false;
}

// May `size` be the next axis (from the back) of a run of `total` elements of which `done` are
// placed?
bool fits(Int done, Int size, Int total) {
  if (done.known() && total.known()) return done < total || surely_one(size);
  if (identical(done, total)) return surely_one(size);
  if (divides(done * size, total)) return true;
  SymScope* scope = SymScope::current();
  return scope && scope->decide(Relation::lt, done, total);
}

// Places the axes of `shape`, from the back and starting at `axis`, over one run of `total`
// elements that are `stride` apart. False if they do not fill it exactly.
bool place_run(IntSpan shape, Int total, Int stride, int& axis, Strides& out) {
  Int done = 1;
  while (axis >= 0 && fits(done, shape[static_cast<size_t>(axis)], total)) {
    auto i = static_cast<size_t>(axis--);
    out[i] = done * stride;
    done *= shape[i];
  }
  return same(done, total);
}

}  // namespace

Geometry Geometry::contiguous(Shape shape) {
  Geometry g{std::move(shape), {}, 0};
  g.strides = row_major(g.shape);
  return g;
}

bool Geometry::is_contiguous() const { return surely_empty(shape) || is_row_major(); }

bool Geometry::is_row_major() const {
  size_t left = shape.size();
  int64_t elements = 1;  // of the axes behind: the stride that an axis should have
  for (; left > 0 && shape[left - 1].known() && strides[left - 1].known(); --left) {
    const int64_t size = shape[left - 1].value();
    if (size == 1) continue;
    if (strides[left - 1].value() != elements) return false;
    elements *= size;
  }
  Int expected = elements;
  for (size_t i = left; i-- > 0;) {
    if (surely_one(shape[i])) continue;
    if (!identical(strides[i], expected)) {
      // Different strides are the same layout only where the size is 1: the one question worth a
      // guard.
      if (shape[i].known() || !same(shape[i], 1)) {
        if (strides[i].known() && expected.known()) return false;
        if (!same(strides[i], expected)) return false;
      }
    }
    if (i > 0) expected *= shape[i];
  }
  return true;
}

Geometry Geometry::slice(int axis, Int start, Int length, Int step) const {
  Geometry r = *this;
  auto i = static_cast<size_t>(axis);
  r.shape[i] = length;
  r.strides[i] = strides[i] * step;
  r.offset = sym_add_whole(offset, start * strides[i]);
  return r;
}

Geometry Geometry::permute(absl::Span<const int> order) const {
  Geometry r{Shape(order.size()), Strides(order.size()), offset};
  for (size_t i = 0; i < order.size(); i++) {
    r.shape[i] = shape[static_cast<size_t>(order[i])];
    r.strides[i] = strides[static_cast<size_t>(order[i])];
  }
  return r;
}

Geometry Geometry::expand(IntSpan to) const {
  Geometry r{Shape(to.begin(), to.end()), Strides(to.size(), 0), offset};
  size_t added = to.size() - shape.size();
  for (size_t i = 0; i < shape.size(); i++) {
    // To a size that a trace does not know, one element goes by a stride of 0 even if it is 1
    // again.
    bool from_one = identical(shape[i], Int(1)) && !to[added + i].known();
    if (!from_one && same(shape[i], to[added + i])) r.strides[added + i] = strides[i];
  }
  return r;
}

Geometry Geometry::unsqueeze(int axis) const {
  Geometry r = *this;
  auto i = static_cast<size_t>(axis);
  Int stride = i < shape.size() ? shape[i] * strides[i] : Int(1);
  r.shape.insert(r.shape.begin() + axis, 1);
  r.strides.insert(r.strides.begin() + axis, stride);
  return r;
}

Geometry Geometry::squeeze(int axis) const {
  Geometry r = *this;
  r.shape.erase(r.shape.begin() + axis);
  r.strides.erase(r.strides.begin() + axis);
  return r;
}

// The axes fall into runs, from the back, in which each stride is the product of the sizes and the
// stride behind it; the new axes must fill run after run exactly (PyTorch's rule, computeStride). A
// size that turns out to be 0 at run time harms nothing: then no stride is ever used.
bool Geometry::reshape(IntSpan to, Geometry& out) const {
  Geometry r{Shape(to.begin(), to.end()), Strides(to.size(), 1), offset};
  // Dense elements stay so, whatever their number is.
  const bool dense = identical(strides, row_major(shape));
  if (dense || surely_empty(shape) || surely_empty(to)) {
    r.strides = row_major(to);
    out = std::move(r);
    return true;
  }
  // Sizes that only the trace knows to be 0: no run is filled then, and none needs to be.
  auto any_layout = [&] {
    if (!same(numel(shape), 0)) return false;
    r.strides = row_major(to);
    out = std::move(r);
    return true;
  };
  auto axis = static_cast<int>(to.size()) - 1;
  Int total = 1;
  Int stride = shape.empty() ? Int(1) : strides.back();
  for (size_t i = shape.size(); i-- > 0;) {
    total *= shape[i];
    if (i > 0 && (surely_one(shape[i - 1]) || same(strides[i - 1], total * stride))) continue;
    if (!place_run(to, total, stride, axis, r.strides)) return any_layout();
    if (i > 0) {
      total = 1;
      stride = strides[i - 1];
    }
  }
  // Whatever is left in front must be of size 1 (a tensor of rank 0 has no run at all).
  for (; axis >= 0; axis--) {
    if (!same(to[static_cast<size_t>(axis)], 1)) return any_layout();
    r.strides[static_cast<size_t>(axis)] = total * stride;
  }
  out = std::move(r);
  return true;
}

}  // namespace lathe
