#include "kernels/own/product.h"

#include <absl/algorithm/container.h>

#include <algorithm>

namespace lathe::own {
namespace {

bool moves(const Addressing& access, int var) {
  size_t v = static_cast<size_t>(var);
  if (access.stride[v] != 0) return true;
  for (const Window& w : access.windows)
    if (w.coefficient[v] != 0) return true;
  return false;
}

Product::Repeat repeat_of(const Contraction& c, const Addressing& left, const Addressing& right,
                          int var) {
  size_t v = static_cast<size_t>(var);
  Product::Repeat r{c.extent[v], left.stride[v], right.stride[v], c.out.stride[v], {}, {}};
  for (const Window& w : left.windows) r.left_windows.push_back(w.coefficient[v]);
  for (const Window& w : right.windows) r.right_windows.push_back(w.coefficient[v]);
  return r;
}

}  // namespace

Product make_product(const Contraction& c, int tile_rows, int tile_cols) {
  Product p;
  absl::InlinedVector<int, 6> outer;
  for (int v : c.outer)
    if (c.extent[static_cast<size_t>(v)] != 1) outer.push_back(v);
  size_t end = outer.size();
  p.right_is_a = end > 0 && moves(c.a, outer[end - 1]) && !moves(c.b, outer[end - 1]);
  const Addressing& right = p.right_is_a ? c.a : c.b;
  const Addressing& left = p.right_is_a ? c.b : c.a;
  // A variable that moves neither (both are expanded along it) is a row, unless it would be the
  // only column: as columns, those of an expanded left side would leave one row to the product.
  size_t cols = end;
  while (cols > 0 && !moves(left, outer[cols - 1]) &&
         (cols == end || moves(right, outer[cols - 1])))
    --cols;
  size_t rows = cols;
  while (rows > 0 && !moves(right, outer[rows - 1])) --rows;
  // A single row against windows over three axes: WindowLines takes the two innermost as columns.
  if (rows == cols && end - cols > 2 && !right.windows.empty()) rows = cols = end - 2;
  auto span = absl::MakeConstSpan(outer);
  Group n(c, span.subspan(cols)), m(c, span.subspan(rows, cols - rows)), k(c, c.reduced);
  p.left = Side(c, left, m, k);
  p.right = Side(c, right, n, k);
  p.left_offset = left.offset;
  p.right_offset = right.offset;
  p.rows = m.extent();
  p.cols = n.extent();
  p.depth = c.terms();
  for (size_t i = 0; i < c.batch.size(); ++i) {
    if (c.batch[i] != 1)
      p.repeats.push_back({c.batch[i], left.batch[i], right.batch[i], c.out.batch[i],
                           absl::InlinedVector<int64_t, 2>(left.windows.size(), 0),
                           absl::InlinedVector<int64_t, 2>(right.windows.size(), 0)});
    p.products *= c.batch[i];
  }
  for (size_t i = 0; i < rows; ++i) p.repeats.push_back(repeat_of(c, left, right, outer[i]));
  for (size_t i = 0; i < rows; ++i) p.products *= c.extent[static_cast<size_t>(outer[i])];
  if (p.rows <= WindowLines::kMostRows && left.windows.empty())
    p.lines = WindowLines::of(c, right, n.vars(), k, size_of(c.out.dtype));
  if (p.lines) return p;
  auto still = [&](auto windows) {
    return absl::c_all_of(p.repeats, [&](const Product::Repeat& r) {
      return absl::c_all_of(r.*windows, [](int64_t step) { return step == 0; });
    });
  };
  if (still(&Product::Repeat::left_windows)) p.left.remember_runs(tile_rows);
  if (still(&Product::Repeat::right_windows)) p.right.remember_runs(tile_cols);
  return p;
}

Contraction complex_as_real(const Contraction& c) {
  Contraction r = c;
  r.a.dtype = r.b.dtype = r.out.dtype = real_type(c.out.dtype);
  auto scale = [](Addressing& a, int64_t by) {
    for (int64_t& s : a.batch) s *= by;
    for (int64_t& s : a.stride) s *= by;
    for (Window& w : a.windows) w.stride *= by;
  };
  scale(r.a, 2);
  scale(r.b, 4);
  scale(r.out, 2);
  // Two variables more: the part of b's pair that is the term, summed innermost; the part of the
  // result.
  int term = static_cast<int>(r.extent.size()), part = term + 1;
  r.extent.insert(r.extent.end(), {2, 2});
  r.reduced.push_back(term);
  r.outer.push_back(part);
  auto add = [](Addressing& a, int64_t of_term, int64_t of_part) {
    a.stride.insert(a.stride.end(), {of_term, of_part});
    for (Window& w : a.windows) w.coefficient.insert(w.coefficient.end(), {0, 0});
  };
  add(r.a, 1, 0);
  add(r.b, 2, 1);
  add(r.out, 0, 1);
  return r;
}

template <class T>
void expand_complex(const T* from, int64_t elements, T* to) {
  for (int64_t i = 0; i < elements; ++i, from += 2, to += 4) {
    to[0] = from[0];
    to[1] = from[1];
    to[2] = -from[1];
    to[3] = from[0];
  }
}
template void expand_complex(const float*, int64_t, float*);
template void expand_complex(const double*, int64_t, double*);

}  // namespace lathe::own
