#include "kernels/problem/operand.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace lathe {

Sizes sizes(IntSpan shape) {
  Sizes out(shape.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = shape[i].value();
  return out;
}

Sizes contiguous_strides(absl::Span<const int64_t> shape) {
  Sizes out(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = step;
    step *= shape[i];
  }
  return out;
}

Operand operand(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  Operand o{nullptr, impl.dtype, sizes(impl.geometry.shape), sizes(impl.geometry.strides)};
  if (impl.storage->data != nullptr)
    o.data = impl.storage->data +
             impl.geometry.offset.value() * static_cast<int64_t>(size_of(impl.dtype));
  return o;
}

Operand broadcast_to(const Operand& x, absl::Span<const int64_t> shape) {
  Operand o;
  o.data = x.data;
  o.dtype = x.dtype;
  o.shape.assign(shape.begin(), shape.end());
  o.strides.assign(shape.size(), 0);
  size_t lead = shape.size() - x.shape.size();
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (x.shape[i] != 1) o.strides[lead + i] = x.strides[i];
  return o;
}

namespace {

/// Whether axis `i` directly inside axis `o` walks on where `o`'s next step would, for every
/// operand.
bool mergeable(const Walk& w, size_t o, size_t i) {
  for (const Sizes& s : w.strides)
    if (s[o] != s[i] * w.shape[i]) return false;
  return true;
}

void drop_axis(Walk& w, size_t axis) {
  w.shape.erase(w.shape.begin() + static_cast<ptrdiff_t>(axis));
  for (Sizes& s : w.strides) s.erase(s.begin() + static_cast<ptrdiff_t>(axis));
}

void sort_axes(Walk& w) {
  auto before = [&](size_t a, size_t b) {
    return std::abs(w.strides[0][a]) > std::abs(w.strides[0][b]);
  };
  bool sorted = true;
  for (size_t i = 1; i < w.shape.size(); ++i) sorted &= !before(i, i - 1);
  if (sorted) return;
  absl::InlinedVector<size_t, 6> order(w.shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  auto permute = [&](Sizes& s) {
    Sizes old = s;
    for (size_t i = 0; i < order.size(); ++i) s[i] = old[order[i]];
  };
  permute(w.shape);
  for (Sizes& s : w.strides) permute(s);
}

}  // namespace

Walk make_walk(absl::Span<const Operand* const> operands, absl::Span<const int64_t> shape,
               bool reorder) {
  Walk w;
  w.shape.assign(shape.begin(), shape.end());
  for (const Operand* o : operands) w.strides.push_back(o->strides);
  for (size_t i = w.shape.size(); i-- > 0;)
    if (w.shape[i] == 1) drop_axis(w, i);
  if (reorder && !w.strides.empty()) sort_axes(w);
  for (size_t i = w.shape.size(); i-- > 1;) {
    if (!mergeable(w, i - 1, i)) continue;
    w.shape[i] *= w.shape[i - 1];
    drop_axis(w, i - 1);
  }
  return w;
}

void walk_offsets(const Walk& walk, int axes, int64_t linear, absl::Span<int64_t> offsets) {
  std::fill(offsets.begin(), offsets.end(), 0);
  for (int axis = axes; axis-- > 0;) {
    size_t a = static_cast<size_t>(axis);
    int64_t i = linear;  // of the outermost axis it is the rest
    if (axis > 0) {
      i = linear % walk.shape[a];
      linear /= walk.shape[a];
    }
    for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += i * walk.strides[k][a];
  }
}

}  // namespace lathe
