// What lines.h promises, by ducc's passes; compiled once a precision.
//
// Lines of moderate length go through the passes several at a time, a line a lane; a long one by
// itself, since several would not fit into the cache, and there ducc takes vectors along the line.
// Which of it happens depends on the length alone, or changes no bits: a lane is computed as a
// line alone is.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/ducc/lines.h"
#include "kernels/ducc/passes.h"

namespace lathe::ducc {
namespace {

using ducc0::Cmplx;
using ducc0::detail_fft::tidx;
template <class R>
using Vector = ducc0::Vector<R>;

/// Above this ducc splits a complex line into transforms that it does several at a time.
constexpr size_t kLongLine = 10000;

/// The passes of one length: `Pass` is ducc's of complex or of real lines.
template <class Pass>
struct Plan {
  size_t n;
  std::shared_ptr<Pass> pass = Pass::make_pass(n);
};

template <class R>
using ComplexPlan = Plan<ducc0::detail_fft::cfftpass<R>>;
template <class R>
using RealPlan = Plan<ducc0::detail_fft::rfftpass<R>>;

/// Plans that this thread made, the last used first, until there are many or they are large.
template <class P>
std::shared_ptr<const P> plan_of(size_t n) {
  constexpr size_t kPlans = 16, kBytes = size_t{64} << 20;
  static thread_local std::vector<std::shared_ptr<const P>> t_plans;
  auto at = std::find_if(t_plans.begin(), t_plans.end(), [n](auto& p) { return p->n == n; });
  if (at == t_plans.end()) at = t_plans.insert(at, std::make_shared<P>(P{n}));
  std::rotate(t_plans.begin(), at, at + 1);
  size_t bytes = 0, kept = 0;
  while (kept < t_plans.size() && kept < kPlans) {
    bytes += t_plans[kept]->pass->footprint();
    if (kept > 0 && bytes > kBytes) break;
    ++kept;
  }
  t_plans.resize(kept);
  return t_plans[0];
}

/// Memory of the host for a while.
class Room {
 public:
  Room(const PluginHost& host, size_t bytes)
      : host_(host), bytes_(bytes), data_(host.allocate(bytes)) {}
  ~Room() { host_.release(data_, bytes_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  std::byte* data() const { return data_; }

 private:
  const PluginHost& host_;
  size_t bytes_;
  std::byte* data_;
};

template <class V>
constexpr size_t lanes_of() {
  if constexpr (std::is_floating_point_v<V>)
    return 1;
  else
    return V::size();
}
template <class V>
decltype(auto) lane(V& v, size_t j) {
  if constexpr (std::is_floating_point_v<std::remove_const_t<V>>)
    return (v);
  else
    return v[j];
}

/// Where the lines of one step begin in x or y, in elements, and the way along each.
template <class V>
struct Places {
  std::array<int64_t, lanes_of<V>()> begins;
  int64_t stride;
  bool adjacent;  // each line begins one element behind the one before
};

/// Lane j of row i changes places with lane i of row j, in squares of `size`: of their four parts
/// two do.
template <size_t size, class R>
[[gnu::always_inline]] inline void turn(Vector<R>* rows) {
  constexpr size_t w = Vector<R>::size();
  [&]<size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (size_t i = 0; i < w; ++i) {
      if (i / size % 2 == 1) continue;
      const auto a = rows[i].raw, b = rows[i + size].raw;
      rows[i].raw = __builtin_shufflevector(a, b, (k / size % 2 == 0 ? k : k - size + w)...);
      rows[i + size].raw = __builtin_shufflevector(a, b, (k / size % 2 == 0 ? k + size : k + w)...);
    }
  }
  (std::make_index_sequence<w>());
}

/// Rows to columns: of as many vectors as each has lanes.
template <class R>
[[gnu::always_inline]] inline void transpose(Vector<R>* rows) {
  constexpr size_t w = Vector<R>::size();
  turn<1, R>(rows);
  if constexpr (w > 2) turn<2, R>(rows);
  if constexpr (w > 4) turn<4, R>(rows);
  if constexpr (w > 8) turn<8, R>(rows);
}

/// Vectors from or to memory, at any address.
template <class R>
Vector<R> load(const R* from) {
  Vector<R> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class R>
void store(R* to, Vector<R> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

/// count numbers of each line into or out of `at`, one vector a number; the lines have stride 1.
template <class R>
void gather_rows(const R* x, const Places<Vector<R>>& p, size_t step, size_t count, Vector<R>* at) {
  constexpr size_t w = Vector<R>::size();
  size_t i = 0;
  for (; i + w <= count; i += w) {
    Vector<R> rows[w];
#pragma GCC unroll 16
    for (size_t j = 0; j < w; ++j) rows[j] = load(x + p.begins[j] * static_cast<int64_t>(step) + i);
    transpose<R>(rows);
#pragma GCC unroll 16
    for (size_t j = 0; j < w; ++j) at[i + j] = rows[j];
  }
  for (; i < count; ++i)
    for (size_t j = 0; j < w; ++j) at[i][j] = x[p.begins[j] * static_cast<int64_t>(step) + i];
}
template <class R>
void scatter_rows(const Vector<R>* at, R scale, const Places<Vector<R>>& p, size_t step,
                  size_t count, R* y) {
  constexpr size_t w = Vector<R>::size();
  size_t i = 0;
  for (; i + w <= count; i += w) {
    Vector<R> rows[w];
#pragma GCC unroll 16
    for (size_t k = 0; k < w; ++k) rows[k] = at[i + k] * scale;
    transpose<R>(rows);
#pragma GCC unroll 16
    for (size_t j = 0; j < w; ++j) store(y + p.begins[j] * static_cast<int64_t>(step) + i, rows[j]);
  }
  for (; i < count; ++i)
    for (size_t j = 0; j < w; ++j)
      y[p.begins[j] * static_cast<int64_t>(step) + i] = at[i][j] * scale;
}

/// Pairs of neighbours into two vectors, or from them; of adjacent lines these are r and i.
template <class R>
void part(const R* from, Vector<R>& even, Vector<R>& odd) {
  constexpr size_t w = Vector<R>::size();
  const auto a = load(from).raw, b = load(from + w).raw;
  [&]<size_t... k>(std::index_sequence<k...>) {
    even.raw = __builtin_shufflevector(a, b, (2 * k)...);
    odd.raw = __builtin_shufflevector(a, b, (2 * k + 1)...);
  }
  (std::make_index_sequence<w>());
}
template <class R>
void join(Vector<R> even, Vector<R> odd, R* to) {
  constexpr size_t w = Vector<R>::size();
  [&]<size_t... k>(std::index_sequence<k...>) {
    store<R>(to, __builtin_shufflevector(even.raw, odd.raw, (k / 2 + k % 2 * w)...));
    store<R>(to + w, __builtin_shufflevector(even.raw, odd.raw, ((k + w) / 2 + k % 2 * w)...));
  }
  (std::make_index_sequence<w>());
}

/// Of real numbers, into vectors or from them.
template <class R, class V>
void take(const R* x, const Places<V>& p, size_t count, V* at) {
  if constexpr (lanes_of<V>() > 1) {
    if (p.stride == 1) return gather_rows<R>(x, p, 1, count, at);
    if (p.adjacent) {
      const R* from = x + p.begins[0];
      for (size_t i = 0; i < count; ++i, from += p.stride) at[i] = load(from);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < lanes_of<V>(); ++j)
      lane(at[i], j) = x[p.begins[j] + static_cast<int64_t>(i) * p.stride];
}
template <class R, class V>
void give(const V* at, R scale, const Places<V>& p, size_t count, R* y) {
  if constexpr (lanes_of<V>() > 1) {
    if (p.stride == 1) return scatter_rows<R>(at, scale, p, 1, count, y);
    if (p.adjacent) {
      R* to = y + p.begins[0];
      for (size_t i = 0; i < count; ++i, to += p.stride) store<R>(to, at[i] * scale);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < lanes_of<V>(); ++j)
      y[p.begins[j] + static_cast<int64_t>(i) * p.stride] = lane(at[i], j) * scale;
}

/// Of complex ones.
template <class R, class V>
void take(const Cmplx<R>* x, const Places<V>& p, size_t count, Cmplx<V>* at) {
  if constexpr (lanes_of<V>() > 1) {
    if (p.stride == 1)
      return gather_rows<R>(reinterpret_cast<const R*>(x), p, 2, 2 * count,
                            reinterpret_cast<V*>(at));
    if (p.adjacent) {
      const auto* from = reinterpret_cast<const R*>(x + p.begins[0]);
      for (size_t i = 0; i < count; ++i, from += 2 * p.stride) part<R>(from, at[i].r, at[i].i);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < lanes_of<V>(); ++j) {
      const Cmplx<R>& from = x[p.begins[j] + static_cast<int64_t>(i) * p.stride];
      lane(at[i].r, j) = from.r;
      lane(at[i].i, j) = from.i;
    }
}
template <class R, class V>
void give(const Cmplx<V>* at, R scale, const Places<V>& p, size_t count, Cmplx<R>* y) {
  if constexpr (lanes_of<V>() > 1) {
    if (p.stride == 1)
      return scatter_rows<R>(reinterpret_cast<const V*>(at), scale, p, 2, 2 * count,
                             reinterpret_cast<R*>(y));
    if (p.adjacent) {
      auto* to = reinterpret_cast<R*>(y + p.begins[0]);
      for (size_t i = 0; i < count; ++i, to += 2 * p.stride)
        join<R>(at[i].r * scale, at[i].i * scale, to);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < lanes_of<V>(); ++j)
      y[p.begins[j] + static_cast<int64_t>(i) * p.stride] = {lane(at[i].r, j) * scale,
                                                             lane(at[i].i, j) * scale};
}

/// One call: what is the same for all of its lines.
template <class R>
class Work {
 public:
  Work(const PluginHost& host, const Lines& lines)
      : host_(host),
        lines_(lines),
        n_(static_cast<size_t>(lines.n)),
        scale_(static_cast<R>(lines.scale)) {
    find_outer_axes();
    if (lines.way == Way::forward || lines.way == Way::backward)
      complex_ = plan_of<ComplexPlan<R>>(n_);
    else
      real_ = plan_of<RealPlan<R>>(n_);
  }

  void run() const {
    const int64_t count = lines_.y.numel() / lines_.y.shape[lines_.axis];
    constexpr auto lanes = static_cast<int64_t>(Vector<R>::size());
    const int64_t step = n_ > kLongLine ? 1 : lanes;
    const int64_t grain = std::max<int64_t>(1, 4096 / (lines_.n * step));
    host_.parallel_for((count + step - 1) / step, grain, [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(end * step, count);
      int64_t at = begin * step;
      if (last - at > 1 && step > 1) {  // what is left over fills its lanes with the last line
        const Room room = room_of<Vector<R>>();
        for (; last - at > 1; at += lanes) lines_at<Vector<R>>(room, at, last);
      }
      if (at >= last) return;
      const Room room = room_of<R>();
      for (; at < last; ++at) lines_at<R>(room, at, last);
    });
  }

 private:
  struct Axis {
    int64_t extent;
    std::array<int64_t, 2> strides;  // of y, of x
  };

  /// Elements between the parts of a room, so that they do not begin at the same place in a page.
  static constexpr size_t kApart = 16;

  template <class V>
  Room room_of() const {
    const size_t one = complex_ ? 2 * sizeof(V) : sizeof(V);
    const size_t more = complex_ ? complex_->pass->bufsize() : real_->pass->bufsize();
    return Room(host_, one * (2 * (n_ + kApart) + more));
  }

  /// The other axes, in row-major order; neighbours that are one axis to both operands are merged.
  void find_outer_axes() {
    for (size_t i = 0; i < lines_.y.shape.size(); ++i) {
      if (i == lines_.axis || lines_.y.shape[i] == 1) continue;
      const Axis axis{lines_.y.shape[i], {lines_.y.strides[i], lines_.x.strides[i]}};
      if (!outer_.empty() && outer_.back().strides[0] == axis.extent * axis.strides[0] &&
          outer_.back().strides[1] == axis.extent * axis.strides[1])
        outer_.back() = {outer_.back().extent * axis.extent, axis.strides};
      else
        outer_.push_back(axis);
    }
  }
  int64_t begin_of(size_t which, int64_t line) const {
    int64_t offset = 0;
    for (size_t i = outer_.size(); i-- > 1; line /= outer_[i].extent)
      offset += line % outer_[i].extent * outer_[i].strides[which];
    return outer_.empty() ? 0 : offset + line * outer_[0].strides[which];
  }

  template <class V>
  Places<V> places(size_t which, int64_t line, int64_t last) const {
    const Operand& of = which == 0 ? lines_.y : lines_.x;
    Places<V> p{{}, of.strides[lines_.axis], true};
    for (size_t j = 0; j < p.begins.size(); ++j) {
      p.begins[j] = begin_of(which, std::min(line + static_cast<int64_t>(j), last - 1));
      p.adjacent &= p.begins[j] == p.begins[0] + static_cast<int64_t>(j);
    }
    return p;
  }

  /// Runs passes over what lies at the beginning of the room; where the result lies.
  template <class E, class P>
  E* pass(const P& plan, E* in, bool forward) const {
    E* copy = in + n_ + kApart;
    return static_cast<E*>(plan.pass->exec(tidx<E*>(), in, copy, copy + n_ + kApart, forward, 1));
  }

  /// The lines from `line` on, as many as V has lanes.
  template <class V>
  void lines_at(const Room& room, int64_t line, int64_t last) const {
    const Places<V> from = places<V>(1, line, last), to = places<V>(0, line, last);
    if (complex_) {
      auto* in = reinterpret_cast<Cmplx<V>*>(room.data());
      take<R, V>(reinterpret_cast<const Cmplx<R>*>(lines_.x.data), from, n_, in);
      const Cmplx<V>* out = pass(*complex_, in, lines_.way == Way::forward);
      return give<R, V>(out, scale_, to, n_, reinterpret_cast<Cmplx<R>*>(lines_.y.data));
    }
    // ducc's half of a transform: r0, r1, i1, r2, i2 ...; what is 0 is left out.
    V* in = reinterpret_cast<V*>(room.data());
    V* out;
    if (lines_.way == Way::real_to_half) {
      take<R, V>(reinterpret_cast<const R*>(lines_.x.data), from, n_, in);
      out = pass(*real_, in, true);
      give_half<V>(out, to);
    } else {
      take_half<V>(from, in);
      out = pass(*real_, in, false);
      give<R, V>(out, scale_, to, n_, reinterpret_cast<R*>(lines_.y.data));
    }
  }

  template <class V>
  void give_half(const V* at, const Places<V>& p) const {
    auto* y = reinterpret_cast<Cmplx<R>*>(lines_.y.data);
    for (size_t j = 0; j < lanes_of<V>(); ++j) y[p.begins[j]] = {lane(at[0], j) * scale_, R(0)};
    Places<V> rest = p;
    for (int64_t& begin : rest.begins) begin += p.stride;
    give<R, V>(reinterpret_cast<const Cmplx<V>*>(at + 1), scale_, rest, (n_ - 1) / 2, y);
    if (n_ % 2 == 1) return;
    for (size_t j = 0; j < lanes_of<V>(); ++j)
      y[p.begins[j] + static_cast<int64_t>(n_ / 2) * p.stride] = {lane(at[n_ - 1], j) * scale_,
                                                                  R(0)};
  }
  template <class V>
  void take_half(const Places<V>& p, V* at) const {
    const auto* x = reinterpret_cast<const Cmplx<R>*>(lines_.x.data);
    for (size_t j = 0; j < lanes_of<V>(); ++j) lane(at[0], j) = x[p.begins[j]].r;
    Places<V> rest = p;
    for (int64_t& begin : rest.begins) begin += p.stride;
    take<R, V>(x, rest, (n_ - 1) / 2, reinterpret_cast<Cmplx<V>*>(at + 1));
    if (n_ % 2 == 1) return;
    for (size_t j = 0; j < lanes_of<V>(); ++j)
      lane(at[n_ - 1], j) = x[p.begins[j] + static_cast<int64_t>(n_ / 2) * p.stride].r;
  }

  const PluginHost& host_;
  const Lines& lines_;
  size_t n_;
  R scale_;
  absl::InlinedVector<Axis, 4> outer_;
  std::shared_ptr<const ComplexPlan<R>> complex_;
  std::shared_ptr<const RealPlan<R>> real_;
};

}  // namespace

template <class R>
void transform(const PluginHost& host, const Lines& lines) {
  if (lines.y.numel() > 0) Work<R>(host, lines).run();
}

}  // namespace lathe::ducc
