#include "kernels/own/product.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <utility>

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

/// The output's variables that are longer than 1, and where among them rows and columns begin.
struct Roles {
  absl::InlinedVector<int, 6> outer;
  size_t rows, cols;
  bool right_is_a;
};

Roles roles_of(const Contraction& c) {
  Roles r;
  absl::InlinedVector<int, 6>& outer = r.outer;
  for (int v : c.outer)
    if (c.extent[static_cast<size_t>(v)] != 1) outer.push_back(v);
  const size_t end = outer.size();
  r.right_is_a = end > 0 && moves(c.a, outer[end - 1]) && !moves(c.b, outer[end - 1]);
  const Addressing& right = r.right_is_a ? c.a : c.b;
  const Addressing& left = r.right_is_a ? c.b : c.a;
  // A variable that moves neither (both are expanded along it) is a row, unless it would be the
  // only column: as columns, those of an expanded left side would leave one row to the product.
  r.cols = end;
  while (r.cols > 0 && !moves(left, outer[r.cols - 1]) &&
         (r.cols == end || moves(right, outer[r.cols - 1])))
    --r.cols;
  r.rows = r.cols;
  while (r.rows > 0 && !moves(right, outer[r.rows - 1])) --r.rows;
  // A single row against windows over three axes: WindowLines takes the two innermost as columns.
  if (r.rows == r.cols && end - r.cols > 2 && !right.windows.empty()) r.rows = r.cols = end - 2;
  return r;
}

/// Where products are, and how far they are repeated.
void add_repeats(Product& p, const Contraction& c, const Roles& roles, const Addressing& left,
                 const Addressing& right) {
  for (size_t i = 0; i < c.batch.size(); ++i) {
    if (c.batch[i] != 1)
      p.repeats.push_back({c.batch[i], left.batch[i], right.batch[i], c.out.batch[i],
                           absl::InlinedVector<int64_t, 2>(left.windows.size(), 0),
                           absl::InlinedVector<int64_t, 2>(right.windows.size(), 0)});
    p.products *= c.batch[i];
  }
  for (int v : absl::MakeConstSpan(roles.outer).first(roles.rows)) {
    p.repeats.push_back(repeat_of(c, left, right, v));
    p.products *= c.extent[static_cast<size_t>(v)];
  }
}

/// A window that one variable moves, or none, and never out of the operand, is an axis like any
/// other.
Addressing straightened(const Contraction& c, Addressing access) {
  absl::InlinedVector<Window, 2> left;
  for (const Window& w : access.windows) {
    int64_t most = w.base, movers = 0;
    size_t last = 0;
    for (size_t v = 0; v < c.extent.size(); ++v) {
      if (w.coefficient[v] == 0 || c.extent[v] <= 1) continue;
      most += w.coefficient[v] * (c.extent[v] - 1);
      ++movers;
      last = v;
    }
    const bool plain = w.divisor == 1 && movers <= 1 && w.base >= 0 && most >= w.base;
    if (!plain || most >= w.size) {
      left.push_back(w);
      continue;
    }
    access.offset += w.base * w.stride;
    if (movers > 0) access.stride[last] += w.coefficient[last] * w.stride;
  }
  access.windows = std::move(left);
  return access;
}

/// How long rows times columns take by tiles, in steps of a vector a term.
template <class T>
int64_t steps(const Tiles<T>& tiles, int64_t rows, int64_t cols) {
  constexpr int64_t kChains = 8;  // that one step after the other does not wait for
  const int64_t few = tiles.few_columns != nullptr ? kFewColumns : 0, last = cols % tiles.cols;
  const int64_t vectors = tiles.cols / tiles.lanes, short_rows = rows % tiles.rows;
  int64_t across = cols / tiles.cols * vectors, apart = 0;
  if (last > few)
    across += (last + tiles.lanes - 1) / tiles.lanes;
  else
    apart = last * ((rows + tiles.rows - 1) / tiles.rows);
  const int64_t least = short_rows > 0 ? std::max(short_rows, kChains / vectors) : 0;
  return (rows - short_rows + least) * across + apart;
}

/// Is the product less work with rows and columns exchanged? By an eighth, so that turning tiles
/// does not show beside sums of so many terms.
template <class T>
bool better_turned(const Tiles<T>& tiles, int64_t rows, int64_t cols, int64_t depth) {
  constexpr int64_t kLeastDepth = 96;
  if (depth < kLeastDepth || rows < tiles.cols || cols <= tiles.rows) return false;
  return steps(tiles, cols, rows) * 8 <= steps(tiles, rows, cols) * 7;
}

}  // namespace

template <class T>
Product make_product(const Contraction& c, const Tiles<T>& tiles) {
  Product p;
  const Roles roles = roles_of(c);
  const auto outer = absl::MakeConstSpan(roles.outer);
  Group n(c, outer.subspan(roles.cols)), m(c, outer.subspan(roles.rows, roles.cols - roles.rows));
  const Group k(c, c.reduced);
  Addressing right = roles.right_is_a ? c.a : c.b, left = roles.right_is_a ? c.b : c.a;
  p.depth = c.terms();
  const int repeat = roles.rows > 0 ? outer[roles.rows - 1] : -1;
  const Sides sides{c, left, right, m, n, k, repeat, tiles.lanes, tiles.cols, tiles.direct_rows};
  p.taps = WindowTaps::of(sides, sizeof(T));
  // A convolution of single places is read like any matrix.
  const bool straight = straightened(c, right).windows.empty();
  if (!p.taps && !straight && WindowLines::pay(sides)) p.lines = WindowLines::of(sides, sizeof(T));
  const bool windowed = p.taps || p.lines;
  if (!windowed) {
    right = straightened(c, std::move(right));
    left = straightened(c, std::move(left));
    p.turned = better_turned(tiles, m.extent(), n.extent(), p.depth);
  }
  if (p.turned) {
    std::swap(m, n);
    std::swap(left, right);
  }
  p.right_is_a = roles.right_is_a != p.turned;
  p.rows = m.extent();
  p.cols = n.extent();
  p.left = Side(c, left, m, k);
  p.right = Side(c, right, n, k);
  p.left_offset = left.offset;
  p.right_offset = right.offset;
  add_repeats(p, c, roles, left, right);
  if (windowed) return p;
  auto still = [&](auto windows) {
    return absl::c_all_of(p.repeats, [&](const Product::Repeat& r) {
      return absl::c_all_of(r.*windows, [](int64_t step) { return step == 0; });
    });
  };
  if (still(&Product::Repeat::left_windows)) p.left.remember_runs(tiles.rows);
  if (still(&Product::Repeat::right_windows)) p.right.remember_runs(tiles.cols);
  return p;
}

#define LATHE_PRODUCT_OF(T) template Product make_product(const Contraction&, const Tiles<T>&);
LATHE_PRODUCT_OF(float)
LATHE_PRODUCT_OF(double)
LATHE_PRODUCT_OF(uint32_t)
LATHE_PRODUCT_OF(uint64_t)
#undef LATHE_PRODUCT_OF

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
