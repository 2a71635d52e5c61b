#include "kernels/own/side.h"

#include <algorithm>

namespace lathe::own {

Group::Group(const Contraction& c, absl::Span<const int> vars) {
  for (int v : vars) {
    int64_t e = c.extent[static_cast<size_t>(v)];
    extent_ *= e;
    if (e != 1) vars_.push_back(v);
  }
}

void Group::contributions(const Contraction& c, absl::Span<const int64_t> step,
                          std::vector<int64_t>& out) const {
  out.assign(1, 0);
  if (extent_ == 0) return out.clear();
  out.reserve(static_cast<size_t>(extent_));
  std::vector<int64_t> outer;
  for (int v : vars_) {
    outer.swap(out);
    out.clear();
    int64_t n = c.extent[static_cast<size_t>(v)], s = step[static_cast<size_t>(v)];
    for (int64_t base : outer)
      for (int64_t i = 0; i < n; ++i) out.push_back(base + i * s);
  }
}

bool Group::linear(const Contraction& c, absl::Span<const int64_t> step, int64_t& stride) const {
  stride = 0;
  int64_t expected = 0;
  for (size_t i = vars_.size(); i-- > 0;) {
    size_t v = static_cast<size_t>(vars_[i]);
    if (i + 1 == vars_.size())
      stride = step[v];
    else if (step[v] != expected)
      return false;
    expected = step[v] * c.extent[v];
  }
  return true;
}

Side::Side(const Contraction& c, const Addressing& access, const Group& x, const Group& k)
    : extent_(x.extent()) {
  straight_x_ = x.linear(c, access.stride, x_step_);
  bool straight_k = k.linear(c, access.stride, k_step_);
  plain_ = access.windows.empty() && straight_x_ && straight_k;
  if (plain_) return;
  x.contributions(c, access.stride, x_at_);
  k.contributions(c, access.stride, k_at_);
  if (access.windows.empty() && straight_x_) find_places(c, access, k);
  int last_x = x.vars().empty() ? -1 : x.vars().back(),
      last_k = k.vars().empty() ? -1 : k.vars().back();
  auto of = [](absl::Span<const int64_t> s, int v, int64_t none) {
    return v < 0 ? none : s[static_cast<size_t>(v)];
  };
  inner_x_ = of(c.extent, last_x, 1);
  inner_x_step_ = of(access.stride, last_x, 0);
  inner_k_ = of(c.extent, last_k, 1);
  inner_k_step_ = of(access.stride, last_k, 0);
  for (const Window& w : access.windows) {
    Coordinate coordinate{w, {}, {}, of(w.coefficient, last_x, 0), of(w.coefficient, last_k, 0)};
    x.contributions(c, w.coefficient, coordinate.x);
    k.contributions(c, w.coefficient, coordinate.k);
    no_rows_ |= w.divisor != 1 || coordinate.inner_k < 0;
    coordinates_.push_back(std::move(coordinate));
  }
  // Innermost variables that move no window and lie one after the other make up a run.
  for (size_t i = k.vars().size(); i-- > 0;) {
    size_t v = static_cast<size_t>(k.vars()[i]);
    bool still = true;
    for (const Window& w : access.windows) still &= w.coefficient[v] == 0;
    if (run_ == 1) run_step_ = access.stride[v];
    if (!still || (run_ > 1 && access.stride[v] != run_step_ * run_)) break;
    run_ *= c.extent[v];
  }
}

void Side::find_places(const Contraction& c, const Addressing& access, const Group& k) {
  absl::InlinedVector<size_t, 6> vars(k.vars().begin(), k.vars().end());
  std::sort(vars.begin(), vars.end(),
            [&](size_t v, size_t w) { return access.stride[v] < access.stride[w]; });
  int64_t dense = 1;
  for (size_t v : vars) {
    if (access.stride[v] != dense) return;
    dense *= c.extent[v];
  }
  places_.resize(k_at_.size());
  for (size_t i = 0; i < k_at_.size(); ++i)
    places_[static_cast<size_t>(k_at_[i])] = static_cast<int64_t>(i);
}

namespace {

/// Narrows [lo, hi) of i to where 0 <= p + i * move < size. move >= 0.
void clip(int64_t p, int64_t move, int64_t size, int64_t& lo, int64_t& hi) {
  if (move == 0) {
    if (p < 0 || p >= size) hi = lo;
    return;
  }
  if (p < 0) lo = std::max(lo, move == 1 ? -p : (-p + move - 1) / move);
  int64_t room = size - p;
  hi = std::min(hi, room <= 0 ? 0 : move == 1 ? room : (room + move - 1) / move);
  hi = std::max(hi, lo);
}

}  // namespace

bool Side::stretch(const Shift& shift, int64_t x, int n, int64_t k, Stretch& s) const {
  size_t sx = static_cast<size_t>(x), sk = static_cast<size_t>(k);
  int64_t at = shift.offset + x_at_[sx] + k_at_[sk], step = inner_x_step_, lo = 0, hi = n;
  for (size_t w = 0; w < coordinates_.size(); ++w) {
    const Coordinate& c = coordinates_[w];
    if (c.window.divisor != 1 || c.inner_x < 0) return false;
    int64_t p = c.window.base + c.x[sx] + c.k[sk] + shift.windows[w];
    clip(p, c.inner_x, c.window.size, lo, hi);
    at += p * c.window.stride;
    step += c.inner_x * c.window.stride;
  }
  s = {at + lo * step, step, static_cast<int>(lo), static_cast<int>(hi - lo)};
  return true;
}

template <class T>
void Side::pack(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                int width, int64_t k0, int64_t depth, T* to) const {
  if (plain_)
    return pack_plain(tiles, base + shift.offset + x0 * x_step_ + k0 * k_step_, valid, width,
                      k_step_, depth, to);
  switch (way()) {
    case Way::table:
      return pack_table(tiles, base + shift.offset, x0, valid, width, k0, depth, to);
    case Way::straight:
      return pack_straight(tiles, base + shift.offset, x0, valid, width, k0, depth, to);
    case Way::rows:
      return pack_rows(tiles, base, shift, x0, valid, width, k0, depth, to);
    case Way::lanes:
      return pack_lanes(tiles, base, shift, x0, valid, width, k0, depth, to);
  }
}

Side::Way Side::way() const {
  if (coordinates_.empty() && straight_x_)
    return x_step_ != 1 && run_step_ != 1 ? Way::table : Way::straight;
  return run_ == 1 && inner_k_ >= 8 && !no_rows_ ? Way::rows : Way::lanes;
}

template <class T>
void Side::pack_plain(const Tiles<T>& tiles, const T* from, int valid, int width, int64_t k_step,
                      int64_t depth, T* to) const {
  if (x_step_ == 1 || valid == 1) return tiles.pack_straight(from, k_step, depth, valid, width, to);
  if (k_step == 1)
    return tiles.pack_transposed(from, x_step_, depth, valid, width, width, nullptr, to);
  for (int64_t k = 0; k < depth; ++k, from += k_step, to += width) {
    for (int x = 0; x < valid; ++x) to[x] = from[x * x_step_];
    std::fill(to + valid, to + width, T{});
  }
}

/// Neither direction is contiguous (a convolution's weights, whose channels are summed innermost).
/// Where all k of an x lie side by side in another order, they are turned in that one and put in
/// their places. Otherwise each x is gathered into a row, and the rows turned.
template <class T>
void Side::pack_table(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                      int64_t k0, int64_t depth, T* to) const {
  if (depth == static_cast<int64_t>(places_.size()))
    return tiles.pack_transposed(base + x0 * x_step_, x_step_, depth, valid, width, width,
                                 places_.data(), to);
  constexpr int64_t kStretch = 128;
  alignas(64) T rows[kMostLanes * kStretch];
  for (int64_t done = 0; done < depth; done += kStretch) {
    int64_t n = std::min(kStretch, depth - done);
    const int64_t* at = &k_at_[static_cast<size_t>(k0 + done)];
    for (int x = 0; x < valid; ++x) {
      const T* from = base + (x0 + x) * x_step_;
      T* row = rows + x * kStretch;
      for (int64_t i = 0; i < n; ++i) row[i] = from[at[i]];
    }
    tiles.pack_transposed(rows, kStretch, n, valid, width, width, nullptr, to + done * width);
  }
}

/// One x: inside or not, coordinates divided where need be.
int Side::find_single(const Shift& shift, int64_t x, int n, int lane, int64_t k,
                      LaneRun* runs) const {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    size_t sx = static_cast<size_t>(x + i), sk = static_cast<size_t>(k);
    int64_t at = shift.offset + x_at_[sx] + k_at_[sk];
    bool inside = true;
    for (size_t w = 0; w < coordinates_.size() && inside; ++w) {
      const Coordinate& c = coordinates_[w];
      int64_t p = c.window.base + c.x[sx] + c.k[sk] + shift.windows[w];
      inside = p >= 0 && p % c.window.divisor == 0 && p / c.window.divisor < c.window.size;
      at += p / c.window.divisor * c.window.stride;
    }
    if (inside) runs[count++] = {lane + i, 1, at, 1};
  }
  return count;
}

int Side::find_runs(const Shift& shift, int64_t x0, int valid, int64_t k, LaneRun* runs) const {
  int count = 0;
  for (int lane = 0; lane < valid;) {
    int64_t x = x0 + lane;
    int n = static_cast<int>(std::min<int64_t>(valid - lane, inner_x_ - x % inner_x_));
    Stretch s;
    if (!stretch(shift, x, n, k, s)) {
      count += find_single(shift, x, n, lane, k, runs + count);
    } else if (s.count > 0) {
      LaneRun run{lane + s.first, s.count, s.from, s.step};
      LaneRun& before = runs[count - (count > 0)];
      bool joins = count > 0 && before.lane + before.count == run.lane && before.step == run.step &&
                   before.from + before.count * before.step == run.from;
      if (joins)
        before.count += run.count;
      else
        runs[count++] = run;
    }
    lane += n;
  }
  return count;
}

void Side::remember_runs(int width) {
  constexpr size_t kMostRuns = 1 << 15;  // 768 KiB; more are cheap beside the product they are of
  const int64_t depth = static_cast<int64_t>(k_at_.size());
  if (plain_ || extent_ == 0 || depth == 0 || way() != Way::lanes) return;
  Remembered found{width, depth / run_, {0}, {}};
  Shift none;
  none.windows.assign(windows(), 0);
  LaneRun runs[kMostLanes];
  for (int64_t x = 0; x < extent_; x += width)
    for (int64_t k = 0; k < depth; k += run_) {
      int valid = static_cast<int>(std::min<int64_t>(width, extent_ - x));
      found.runs.insert(found.runs.end(), runs, runs + find_runs(none, x, valid, k, runs));
      found.first.push_back(static_cast<int32_t>(found.runs.size()));
      if (found.runs.size() + found.first.size() > kMostRuns) return;
    }
  remembered_ = std::move(found);
}

/// No windows, and x evenly apart: run after run of k is plainly strided.
template <class T>
void Side::pack_straight(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                         int64_t k0, int64_t depth, T* to) const {
  for (int64_t here; depth > 0; to += here * width, k0 += here, depth -= here) {
    here = std::min(depth, run_ - k0 % run_);
    pack_plain(tiles, base + x0 * x_step_ + k_at_[static_cast<size_t>(k0)], valid, width, run_step_,
               here, to);
  }
}

template <class T>
void Side::pack_lanes(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0,
                      int valid, int width, int64_t k0, int64_t depth, T* to) const {
  const bool known = remembered_.width == width && x0 % width == 0 &&
                     valid == std::min<int64_t>(width, extent_ - x0);
  LaneRun found[kMostLanes];
  for (int64_t here; depth > 0; to += here * width, k0 += here, depth -= here) {
    const int64_t done = k0 % run_;
    here = std::min(depth, run_ - done);
    if (known) {
      const auto entry = static_cast<size_t>(x0 / width * remembered_.per_panel + k0 / run_);
      const int32_t first = remembered_.first[entry], end = remembered_.first[entry + 1];
      tiles.pack_runs(base + shift.offset + done * run_step_, run_step_, here,
                      remembered_.runs.data() + first, end - first, width, to);
    } else {
      int count = find_runs(shift, x0, valid, k0, found);
      tiles.pack_runs(base, run_step_, here, found, count, width, to);
    }
  }
}

template <class T>
void Side::pack_rows(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0,
                     int valid, int width, int64_t k0, int64_t depth, T* to) const {
  constexpr int64_t kStretch = 128;
  alignas(64) T rows[kMostLanes * kStretch];
  for (int64_t done = 0; done < depth; done += kStretch) {
    int64_t n = std::min(kStretch, depth - done);
    for (int64_t i = 0; i < n;) {
      int64_t k = k0 + done + i, length = std::min(n - i, inner_k_ - k % inner_k_);
      for (int x = 0; x < valid; ++x) {
        size_t sx = static_cast<size_t>(x0 + x), sk = static_cast<size_t>(k);
        int64_t at = shift.offset + x_at_[sx] + k_at_[sk], step = inner_k_step_, lo = 0,
                hi = length;
        for (size_t w = 0; w < coordinates_.size(); ++w) {
          const Coordinate& c = coordinates_[w];
          int64_t p = c.window.base + c.x[sx] + c.k[sk] + shift.windows[w];
          clip(p, c.inner_k, c.window.size, lo, hi);
          at += p * c.window.stride;
          step += c.inner_k * c.window.stride;
        }
        T* row = rows + x * kStretch + i;
        tiles.split_rows({base + at, 0, step, 1, lo, hi, 1, length, row});
      }
      i += length;
    }
    tiles.pack_transposed(rows, kStretch, n, valid, width, width, nullptr, to + done * width);
  }
}

#define LATHE_SIDE_OF(T)                                                                        \
  template void Side::pack(const Tiles<T>&, const T*, const Shift&, int64_t, int, int, int64_t, \
                           int64_t, T*) const;
LATHE_SIDE_OF(float)
LATHE_SIDE_OF(double)
LATHE_SIDE_OF(uint32_t)
LATHE_SIDE_OF(uint64_t)
#undef LATHE_SIDE_OF

}  // namespace lathe::own
