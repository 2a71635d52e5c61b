#include "kernels/own/side.h"

#include <algorithm>
#include <cstring>

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
  bool straight_x = x.linear(c, access.stride, x_step_);
  bool straight_k = k.linear(c, access.stride, k_step_);
  plain_ = access.windows.empty() && straight_x && straight_k;
  if (plain_) return;
  x.contributions(c, access.stride, x_at_);
  k.contributions(c, access.stride, k_at_);
  for (const Window& w : access.windows) {
    Coordinate coordinate{w, {}, {}};
    x.contributions(c, w.coefficient, coordinate.x);
    k.contributions(c, w.coefficient, coordinate.k);
    coordinates_.push_back(std::move(coordinate));
  }
  // Innermost variables that move no window and lie one after the other make up a run.
  const std::vector<int>& vars = k.vars();
  for (size_t i = vars.size(); i-- > 0;) {
    size_t v = static_cast<size_t>(vars[i]);
    bool still = true;
    for (const Window& w : access.windows) still &= w.coefficient[v] == 0;
    if (run_ == 1) run_step_ = access.stride[v];
    if (!still || (run_ > 1 && access.stride[v] != run_step_ * run_)) break;
    run_ *= c.extent[v];
  }
  if (run_ == 1 && !vars.empty()) inner_ = c.extent[static_cast<size_t>(vars.back())];
}

template <class T>
void Side::pack(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0, int valid,
                int width, int64_t k0, int64_t depth, T* to) const {
  if (plain_) return pack_plain(tiles, base + shift.offset, x0, valid, width, k0, depth, to);
  if (run_ > 1 || inner_ < 8)
    return pack_lanes(tiles, base, shift, x0, valid, width, k0, depth, to);
  pack_rows(tiles, base, shift, x0, valid, width, k0, depth, to);
}

template <class T>
void Side::pack_plain(const Tiles<T>& tiles, const T* base, int64_t x0, int valid, int width,
                      int64_t k0, int64_t depth, T* to) const {
  const T* from = base + x0 * x_step_ + k0 * k_step_;
  if (x_step_ == 1 || valid == 1)
    return tiles.pack_straight(from, k_step_, depth, valid, width, to);
  if (k_step_ == 1) return tiles.pack_transposed(from, x_step_, depth, valid, width, to);
  for (int64_t k = 0; k < depth; ++k, from += k_step_, to += width) {
    for (int x = 0; x < valid; ++x) to[x] = from[x * x_step_];
    std::fill(to + valid, to + width, T{});
  }
}

/// Lane by lane the address is the same for a whole run of k but for the step: find the stretches
/// of lanes that lie side by side once, then copy.
template <class T>
void Side::pack_lanes(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0,
                      int valid, int width, int64_t k0, int64_t depth, T* to) const {
  constexpr int kMostLanes = 128;
  LaneRun runs[kMostLanes];
  while (depth > 0) {
    int64_t here = std::min(depth, run_ - k0 % run_);
    size_t k = static_cast<size_t>(k0);
    int count = 0;
    for (int lane = 0; lane < valid; ++lane) {
      size_t x = static_cast<size_t>(x0 + lane);
      int64_t at = shift.offset + x_at_[x] + k_at_[k];
      bool inside = true;
      for (size_t w = 0; w < coordinates_.size() && inside; ++w) {
        const Coordinate& c = coordinates_[w];
        int64_t p = c.window.base + c.x[x] + c.k[k] + shift.windows[w];
        if (c.window.divisor != 1) {
          inside = p % c.window.divisor == 0;
          p /= c.window.divisor;
        }
        inside = inside && p >= 0 && p < c.window.size;
        at += p * c.window.stride;
      }
      if (!inside) continue;
      LaneRun& last = runs[count - (count > 0)];
      if (count > 0 && last.lane + last.count == lane && last.from + last.count == at)
        ++last.count;
      else
        runs[count++] = {lane, 1, at};
    }
    tiles.pack_runs(base, run_step_, here, runs, count, width, to);
    to += here * width;
    k0 += here;
    depth -= here;
  }
}

/// The innermost k moves a window: each x is copied into a row, then the rows are turned.
template <class T>
void Side::pack_rows(const Tiles<T>& tiles, const T* base, const Shift& shift, int64_t x0,
                     int valid, int width, int64_t k0, int64_t depth, T* to) const {
  constexpr int64_t kStretch = 64;
  T rows[64 * kStretch];
  for (int64_t done = 0; done < depth; done += kStretch) {
    int64_t n = std::min(kStretch, depth - done);
    for (int x = 0; x < valid; ++x)
      fill_row(base, shift, x0 + x, k0 + done, n, rows + x * kStretch);
    tiles.pack_transposed(rows, kStretch, n, valid, width, to + done * width);
  }
}

template <class T>
void Side::fill_row(const T* base, const Shift& shift, int64_t x, int64_t k0, int64_t depth,
                    T* row) const {
  size_t sx = static_cast<size_t>(x);
  std::fill(row, row + depth, T{});
  for (int64_t i = 0; i < depth;) {
    // From here to the end of the innermost variable, addresses and coordinates move evenly.
    size_t k = static_cast<size_t>(k0 + i);
    int64_t n = std::min(depth - i, inner_ - (k0 + i) % inner_);
    int64_t at = shift.offset + x_at_[sx] + k_at_[k];
    int64_t step = n > 1 ? k_at_[k + 1] - k_at_[k] : 0;
    int64_t lo = 0, hi = n;
    bool even = true;
    for (size_t w = 0; w < coordinates_.size(); ++w) {
      const Coordinate& c = coordinates_[w];
      int64_t p = c.window.base + c.x[sx] + c.k[k] + shift.windows[w];
      int64_t move = n > 1 ? c.k[k + 1] - c.k[k] : 0;
      even &= c.window.divisor == 1 && move >= 0;
      if (!even) break;
      if (move == 0) {
        if (p < 0 || p >= c.window.size) hi = 0;
      } else {
        if (p < 0) lo = std::max(lo, (-p + move - 1) / move);
        hi = std::min(hi, c.window.size <= p ? 0 : (c.window.size - p + move - 1) / move);
      }
      at += p * c.window.stride;
      step += move * c.window.stride;
    }
    if (!even) {
      n = 1;
      at = shift.offset + x_at_[sx] + k_at_[k];
      lo = 0, hi = 1;
      for (size_t w = 0; w < coordinates_.size() && hi > 0; ++w) {
        const Coordinate& c = coordinates_[w];
        int64_t p = c.window.base + c.x[sx] + c.k[k] + shift.windows[w];
        if (p % c.window.divisor != 0) hi = 0;
        p /= c.window.divisor;
        if (p < 0 || p >= c.window.size) hi = 0;
        at += p * c.window.stride;
      }
    }
    if (step == 1 && hi > lo)
      std::memcpy(row + i + lo, base + at + lo, static_cast<size_t>(hi - lo) * sizeof(T));
    else
      for (int64_t j = lo; j < hi; ++j) row[i + j] = base[at + j * step];
    i += n;
  }
}

template void Side::pack(const Tiles<float>&, const float*, const Shift&, int64_t, int, int,
                         int64_t, int64_t, float*) const;
template void Side::pack(const Tiles<double>&, const double*, const Shift&, int64_t, int, int,
                         int64_t, int64_t, double*) const;

}  // namespace lathe::own
