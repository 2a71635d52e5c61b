#include "kernels/own/windows.h"

#include <algorithm>

namespace lathe::own {
namespace {

constexpr int64_t kVector = 64;   // bytes of the widest: so much may be read past the end
constexpr int64_t kStored = 32;   // rows are made of so many bytes: stores of parts can be slow
constexpr int64_t kPiece = 2048;  // the most neighbours that are staged at once

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

std::optional<WindowLines> WindowLines::of(const Contraction& c, const Addressing& right,
                                           absl::Span<const int> columns, const Group& k,
                                           size_t bytes) {
  if (columns.empty() || columns.size() > 2 || right.windows.empty()) return std::nullopt;
  for (const Window& w : right.windows)
    if (w.divisor != 1) return std::nullopt;
  WindowLines found;
  if (k.extent() == 0 || !found.add_axes(c, right, columns)) return std::nullopt;
  if (!found.add_terms(c, right, k, bytes) || !found.choose_stripe(bytes)) return std::nullopt;
  return found;
}

bool WindowLines::add_axes(const Contraction& c, const Addressing& right,
                           absl::Span<const int> columns) {
  Axis* axes[] = {&across_, &down_};
  for (size_t i = 0; i < columns.size(); ++i) {
    const int var = columns[columns.size() - 1 - i];
    Axis& axis = *axes[i];
    axis.window = only_window(right, var);
    if (axis.window < 0) return false;
    const Window& w = right.windows[static_cast<size_t>(axis.window)];
    axis.extent = c.extent[static_cast<size_t>(var)];
    axis.step = w.coefficient[static_cast<size_t>(var)];
    axis.base = w.base;
    axis.size = w.size;
    axis.stride = w.stride;
  }
  pieces_ = (across_.extent + kPiece - 1) / kPiece;
  piece_ = pieces_ == 0 ? 0 : (across_.extent + pieces_ - 1) / pieces_;
  return piece_ > 0 && down_.extent > 0 && across_.window != down_.window;
}

/// Slabs, and of each term its slab and what it adds to the coordinates.
bool WindowLines::add_terms(const Contraction& c, const Addressing& right, const Group& k,
                            size_t bytes) {
  constexpr size_t kMostSlabs = 512;
  const size_t windows = right.windows.size(), terms = static_cast<size_t>(k.extent());
  std::vector<int64_t> offsets;
  std::vector<std::vector<int64_t>> moves(windows);
  k.contributions(c, right.stride, offsets);
  for (size_t w = 0; w < windows; ++w) {
    k.contributions(c, right.windows[w].coefficient, moves[w]);
    const int number = static_cast<int>(w);
    if (number == across_.window || number == down_.window) continue;
    far_.push_back(right.windows[w]);
    far_numbers_.push_back(number);
  }
  for (Axis* axis : {&down_, &across_}) {
    if (axis->window < 0) continue;
    const auto& m = moves[static_cast<size_t>(axis->window)];
    const auto [least, most] = std::minmax_element(m.begin(), m.end());
    axis->base += *least;
    axis->span = *most - *least + 1;
    for (int64_t less = *least; int64_t & x : moves[static_cast<size_t>(axis->window)]) x -= less;
  }
  const int64_t stored = kStored / static_cast<int64_t>(bytes);
  phase_step_ = piece_ + (across_.span - 1) / across_.step;
  phase_step_ = (phase_step_ + stored - 1) / stored * stored;
  row_step_ = phase_step_ * across_.step;
  std::vector<size_t> slab_of(terms);
  for (size_t t = 0; t < terms; ++t) {
    Slab slab{offsets[t], {}};
    for (int number : far_numbers_)
      slab.coordinates.push_back(moves[static_cast<size_t>(number)][t]);
    // Terms of a window follow each other, or slabs do: the one looked for is near the end.
    auto it = std::find(slabs_.rbegin(), slabs_.rend(), slab);
    slab_of[t] = it == slabs_.rend() ? slabs_.size() : static_cast<size_t>(slabs_.rend() - it) - 1;
    if (it == slabs_.rend()) slabs_.push_back(std::move(slab));
    if (slabs_.size() > kMostSlabs) return false;
  }
  auto move = [&](const Axis& axis, size_t t) {
    return axis.window < 0 ? 0 : moves[static_cast<size_t>(axis.window)][t];
  };
  // Slabs lie apart by what the stripe decides: kept as rows until then.
  for (size_t t = 0; t < terms; ++t) {
    const int64_t x = move(across_, t);
    terms_.push_back(static_cast<int64_t>(slab_of[t]));
    terms_.push_back(move(down_, t) * row_step_ + x % across_.step * phase_step_ +
                     x / across_.step);
  }
  return true;
}

/// As many lines as the first-level cache holds staged; more where rows would be staged for several
/// stripes too often.
bool WindowLines::choose_stripe(size_t bytes) {
  constexpr int64_t kNear = 24 << 10, kMost = 256 << 10;
  const int64_t row = static_cast<int64_t>(slabs_.size() * bytes) * row_step_;
  auto lines_in = [&](int64_t room) {
    const int64_t rows = room / row;
    return rows < down_.span ? 0 : (rows - down_.span) / down_.step + 1;
  };
  const int64_t least = (4 * down_.span + down_.step - 1) / down_.step;
  stripe_ = std::min({down_.extent, std::max(lines_in(kNear), least), lines_in(kMost)});
  if (stripe_ == 0) return false;
  stripes_ = (down_.extent + stripe_ - 1) / stripe_;
  stripe_ = (down_.extent + stripes_ - 1) / stripes_;
  std::vector<int64_t> at;
  for (size_t i = 0; i < terms_.size(); i += 2)
    at.push_back(terms_[i] * slab_step() + terms_[i + 1]);
  terms_ = std::move(at);
  return true;
}

size_t WindowLines::staged_elements() const {
  return slabs_.size() * static_cast<size_t>(slab_step()) + kVector / sizeof(float);
}

template <class T>
void WindowLines::stage_slab(const Tiles<T>& tiles, const T* right, const Shift& shift,
                             const Slab& slab, const Part& part, T* to) const {
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
  const int64_t low = std::max<int64_t>(-x, 0), high = std::max(across_.size - x, low);
  const int64_t rows = rows_of(part.lines), first = moved(down_) + part.line * down_.step;
  int64_t above = inside ? std::clamp<int64_t>(-first, 0, rows) : rows;
  int64_t last = inside ? std::clamp<int64_t>(down_.size - first, above, rows) : rows;
  std::fill(to, to + above * row_step_, T{});
  std::fill(to + last * row_step_, to + rows * row_step_, T{});
  const int64_t from = at + (first + above) * down_.stride + x * across_.stride;
  tiles.split_rows({right + from, down_.stride, across_.stride, last - above, low, high,
                    across_.step, phase_step_, to + above * row_step_});
}

WindowLines::Part WindowLines::part(int64_t i) const {
  Part p;
  p.line = i / pieces_ * stripe_;
  p.lines = std::min(stripe_, down_.extent - p.line);
  p.column = i % pieces_ * piece_;
  p.columns = std::min(piece_, across_.extent - p.column);
  p.first = p.line * across_.extent + p.column;
  p.apart = across_.extent;
  return p;
}

template <class T>
void WindowLines::run(const Sums<T>& sums, const T* right, const Shift& shift, const Part& part,
                      T* staged) const {
  for (size_t s = 0; s < slabs_.size(); ++s)
    stage_slab(sums.tiles, right, shift, slabs_[s], part,
               staged + static_cast<int64_t>(s) * slab_step());
  const int64_t depth = static_cast<int64_t>(terms_.size());
  WindowCall<T> call{};
  call.x = staged;
  call.line_step = down_.step * row_step_;
  call.w_row = sums.x_step;
  call.w_step = sums.k_step;
  call.y = sums.out + part.first;
  call.y_line = part.apart;
  call.y_row = sums.row_step;
  call.lines = part.lines;
  call.cols = part.columns;
  call.rows = static_cast<int>(sums.rows);
  for (int64_t k = 0; k < depth; k += sums.block) {
    call.taps = terms_.data() + k;
    call.w = sums.left + k * sums.k_step;
    call.depth = std::min(sums.block, depth - k);
    call.add = k > 0;
    sums.tiles.window_lines(call);
  }
}

#define LATHE_WINDOWS_OF(T) \
  template void WindowLines::run(const Sums<T>&, const T*, const Shift&, const Part&, T*) const;
LATHE_WINDOWS_OF(float)
LATHE_WINDOWS_OF(double)
LATHE_WINDOWS_OF(uint32_t)
LATHE_WINDOWS_OF(uint64_t)
#undef LATHE_WINDOWS_OF

}  // namespace lathe::own
