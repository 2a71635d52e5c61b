#include "kernels/own/staged.h"

#include <algorithm>

namespace lathe::own {
namespace {

constexpr int64_t kStored = 32;  // rows are made of so many bytes: stores of parts can be slow

/// The one window that a variable moves, if it moves no more than that; -1 otherwise.
int only_window(const Addressing& access, int var) {
  const auto v = static_cast<size_t>(var);
  int found = -1;
  for (size_t w = 0; w < access.windows.size(); ++w) {
    if (access.windows[w].coefficient[v] == 0) continue;
    if (found >= 0 || access.windows[w].coefficient[v] < 0) return -1;
    found = static_cast<int>(w);
  }
  return access.stride[v] == 0 ? found : -1;
}

}  // namespace

bool StagedWindows::find_axes(const Contraction& c, const Addressing& access,
                              absl::Span<const int> places) {
  if (places.empty() || places.size() > 2 || access.windows.empty()) return false;
  for (const Window& w : access.windows)
    if (w.divisor != 1) return false;
  Axis* axes[] = {&across_, &down_};
  for (size_t i = 0; i < places.size(); ++i) {
    const int var = places[places.size() - 1 - i];
    Axis& axis = *axes[i];
    axis.window = only_window(access, var);
    if (axis.window < 0) return false;
    const Window& w = access.windows[static_cast<size_t>(axis.window)];
    axis.extent = c.extent[static_cast<size_t>(var)];
    axis.step = w.coefficient[static_cast<size_t>(var)];
    axis.base = w.base;
    axis.size = w.size;
    axis.stride = w.stride;
  }
  return across_.extent > 0 && down_.extent > 0 && across_.window != down_.window;
}

bool StagedWindows::find_taps(const Contraction& c, const Addressing& access, const Group& taps,
                              int64_t columns, size_t bytes, size_t most) {
  const size_t windows = access.windows.size(), count = static_cast<size_t>(taps.extent());
  std::vector<int64_t> offsets;
  std::vector<std::vector<int64_t>> moves(windows);
  taps.contributions(c, access.stride, offsets);
  for (size_t w = 0; w < windows; ++w) {
    taps.contributions(c, access.windows[w].coefficient, moves[w]);
    const int number = static_cast<int>(w);
    if (number == across_.window || number == down_.window) continue;
    far_.push_back(access.windows[w]);
    far_numbers_.push_back(number);
  }
  for (Axis* axis : {&down_, &across_}) {
    if (axis->window < 0) continue;
    auto& m = moves[static_cast<size_t>(axis->window)];
    const auto [least, greatest] = std::minmax_element(m.begin(), m.end());
    axis->base += *least;
    axis->span = *greatest - *least + 1;
    for (int64_t less = *least; int64_t & x : m) x -= less;
  }
  const int64_t stored = kStored / static_cast<int64_t>(bytes);
  phase_step_ = columns + (across_.span - 1) / across_.step;
  phase_step_ = (phase_step_ + stored - 1) / stored * stored;
  row_step_ = phase_step_ * across_.step;
  auto move = [&](const Axis& axis, size_t t) {
    return axis.window < 0 ? 0 : moves[static_cast<size_t>(axis.window)][t];
  };
  for (size_t t = 0; t < count; ++t) {
    Slab slab{offsets[t], {}};
    for (int number : far_numbers_)
      slab.coordinates.push_back(moves[static_cast<size_t>(number)][t]);
    // Taps of a window follow each other, or slabs do: the one looked for is near the end.
    auto it = std::find(slabs_.rbegin(), slabs_.rend(), slab);
    const size_t number = static_cast<size_t>(slabs_.rend() - it);
    if (it == slabs_.rend()) slabs_.push_back(std::move(slab));
    if (slabs_.size() > most) return false;
    const int64_t x = move(across_, t);
    taps_.push_back(
        {number == 0 ? slabs_.size() - 1 : number - 1,
         move(down_, t) * row_step_ + x % across_.step * phase_step_ + x / across_.step});
  }
  return true;
}

template <class T>
StagedWindows::Edges StagedWindows::stage(const Tiles<T>& tiles, const T* base, const Shift& shift,
                                          const Slab& slab, const Part& part, T* to,
                                          const Beside& beside, const Edges* known) const {
  auto moved = [&](const Axis& axis) {
    return axis.window < 0 ? 0 : axis.base + shift.windows[static_cast<size_t>(axis.window)];
  };
  bool inside = true;
  int64_t at = shift.offset + slab.offset;
  for (size_t i = 0; i < far_.size(); ++i) {
    const auto number = static_cast<size_t>(far_numbers_[i]);
    const int64_t p = far_[i].base + shift.windows[number] + slab.coordinates[i];
    inside &= p >= 0 && p < far_[i].size;
    at += p * far_[i].stride;
  }
  const int64_t x = moved(across_) + part.column * across_.step;
  const int64_t rows = rows_of(part.lines), first = moved(down_) + part.line * down_.step;
  Edges e{rows, rows, rows, std::max<int64_t>(-x, 0), 0};
  e.high = std::max(across_.size - x, e.low);
  if (inside) {
    e.above = std::clamp<int64_t>(-first, 0, rows);
    e.last = std::clamp<int64_t>(down_.size - first, e.above, rows);
  }
  for (int64_t i = 0; i < beside.count && (known == nullptr || *known != e); ++i) {
    T* const slab_rows = to + i * beside.to_step;
    std::fill(slab_rows, slab_rows + e.above * row_step_, T{});
    std::fill(slab_rows + e.last * row_step_, slab_rows + rows * row_step_, T{});
  }
  const int64_t from = at + (first + e.above) * down_.stride + x * across_.stride;
  tiles.split_rows({base + from, down_.stride, across_.stride, e.last - e.above, e.low, e.high,
                    across_.step, phase_step_, to + e.above * row_step_, beside.count,
                    beside.from_step, beside.to_step});
  return e;
}

int64_t Sides::beside() const {
  if (repeat < 0) return 1;
  const auto var = static_cast<size_t>(repeat);
  const bool moved = std::any_of(right.windows.begin(), right.windows.end(),
                                 [&](const Window& w) { return w.coefficient[var] != 0; });
  return moved ? 1 : std::max<int64_t>(c.extent[var], 1);  // of no products nothing is asked
}

#define LATHE_STAGED_OF(T)                                                                        \
  template StagedWindows::Edges StagedWindows::stage(const Tiles<T>&, const T*, const Shift&,     \
                                                     const Slab&, const Part&, T*, const Beside&, \
                                                     const Edges*) const;
LATHE_STAGED_OF(float)
LATHE_STAGED_OF(double)
LATHE_STAGED_OF(uint32_t)
LATHE_STAGED_OF(uint64_t)
#undef LATHE_STAGED_OF

}  // namespace lathe::own
