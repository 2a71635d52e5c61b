#include "kernels/own/windows.h"

#include <algorithm>

namespace lathe::own {
namespace {

constexpr int64_t kNear = 24 << 10;  // bytes that stay in the first-level cache

/// A whole in parts as even as they can be; only the last may be smaller.
struct Parts {
  int64_t count, each;
};
Parts even_parts(int64_t whole, int64_t most) {
  const int64_t count = (whole + most - 1) / most;
  return {count, (whole + count - 1) / count};
}

}  // namespace

bool WindowLines::pay(const Sides& sides) {
  constexpr int64_t kFew = 4;
  const Contraction& c = sides.c;
  const auto columns = sides.columns.vars();
  const int64_t rows = sides.rows.extent(), lanes = sides.lanes;
  if (columns.empty() || sides.right.windows.empty() || rows > kMostRows) return false;
  if (rows <= kFew) return true;
  auto moved = [&](int var) {
    for (const Window& w : sides.right.windows)
      if (w.coefficient[static_cast<size_t>(var)] != 0)
        return w.coefficient[static_cast<size_t>(var)];
    return int64_t{0};
  };
  int64_t run = 1;  // terms that panels copy at once: those that lie at one place of the window
  for (int var : sides.terms.vars())
    if (moved(var) == 0) run *= c.extent[static_cast<size_t>(var)];
  const int64_t line = c.extent[static_cast<size_t>(columns.back())];
  const int64_t filled = (line + lanes - 1) / lanes * lanes;
  // Cycles for a vector of each row's term, as measured with AVX2: tiles of panels are a little
  // better than lines; copying costs some for each run, and more where places lie apart.
  const double lines = 0.75 * static_cast<double>(rows * filled) / static_cast<double>(line);
  const double copied = moved(columns.back()) == 1 ? 1 : 10;
  return lines < 0.6 * static_cast<double>(rows) + copied + 60.0 / static_cast<double>(run);
}

std::optional<WindowLines> WindowLines::of(const Sides& sides, size_t bytes) {
  constexpr int64_t kPiece = 2048;  // the most neighbours that are staged at once
  constexpr size_t kMostSlabs = 512;
  WindowLines found;
  if (!sides.left.windows.empty() || sides.terms.extent() == 0) return std::nullopt;
  if (!found.windows_.find_axes(sides.c, sides.right, sides.columns.vars())) return std::nullopt;
  const Parts pieces = even_parts(found.windows_.across().extent, kPiece);
  found.pieces_ = pieces.count;
  found.piece_ = pieces.each;
  if (!found.windows_.find_taps(sides.c, sides.right, sides.terms, found.piece_, bytes, kMostSlabs))
    return std::nullopt;
  if (!found.choose_stripe(bytes)) return std::nullopt;
  found.choose_group(sides, bytes);
  return found;
}

/// As many lines as the first-level cache holds staged; more where rows would be staged for several
/// stripes too often.
bool WindowLines::choose_stripe(size_t bytes) {
  constexpr int64_t kMost = 256 << 10;
  const StagedWindows::Axis& down = windows_.down();
  const int64_t row = slabs() * static_cast<int64_t>(bytes) * windows_.row_step();
  auto lines_in = [&](int64_t room) {
    const int64_t rows = room / row;
    return rows < down.span ? 0 : (rows - down.span) / down.step + 1;
  };
  const int64_t least = (4 * down.span + down.step - 1) / down.step;
  const int64_t most = std::min({down.extent, std::max(lines_in(kNear), least), lines_in(kMost)});
  if (most == 0) return false;
  const Parts stripes = even_parts(down.extent, most);
  stripes_ = stripes.count;
  stripe_ = stripes.each;
  for (const StagedWindows::Tap& tap : windows_.taps())
    terms_.push_back(static_cast<int64_t>(tap.slab) * slab_step() + tap.at);
  return true;
}

/// Groups of as many products as the first-level cache holds staged.
void WindowLines::choose_group(const Sides& sides, size_t bytes) {
  constexpr int64_t kMostTogether = 16;
  beside_ = sides.beside();
  if (beside_ > 1) right_step_ = sides.right.stride[static_cast<size_t>(sides.repeat)];
  if (parts() > 1) return;
  const int64_t plane = slabs() * slab_step() * static_cast<int64_t>(bytes);
  const int64_t most = std::clamp<int64_t>(kNear / plane, 1, std::min(kMostTogether, beside_));
  together_ = even_parts(beside_, most).each;
}

size_t WindowLines::staged_elements() const {
  return static_cast<size_t>(together_ * slabs() * slab_step()) + StagedWindows::kPast;
}

WindowLines::Part WindowLines::part(int64_t i) const {
  const int64_t lines = windows_.down().extent, neighbours = windows_.across().extent;
  Part p;
  p.line = i / pieces_ * stripe_;
  p.lines = std::min(stripe_, lines - p.line);
  p.column = i % pieces_ * piece_;
  p.columns = std::min(piece_, neighbours - p.column);
  p.first = p.line * neighbours + p.column;
  p.apart = neighbours;
  return p;
}

template <class T>
void WindowLines::run(const Sums<T>& sums, const Part& part, Room<T>& room) const {
  const int64_t plane = slabs() * slab_step(), depth = static_cast<int64_t>(terms_.size());
  const bool known = room.count >= sums.count;
  room.known.resize(windows_.slabs().size());
  for (int64_t s = 0; s < slabs(); ++s) {
    auto& edges = room.known[static_cast<size_t>(s)];
    edges = windows_.stage(
        sums.tiles, sums.right, sums.at, windows_.slabs()[static_cast<size_t>(s)],
        {part.line, part.lines, part.column, part.columns}, room.staged + s * slab_step(),
        {sums.count, right_step_, plane}, known ? &edges : nullptr);
  }
  room.count = sums.count;
  WindowCall<T> call{};
  call.line_step = windows_.down().step * windows_.row_step();
  call.w_row = sums.x_step;
  call.w_step = sums.k_step;
  call.y_line = part.apart;
  call.y_row = sums.row_step;
  call.rows = sums.rows;
  call.lines = part.lines;
  call.cols = part.columns;
  for (int64_t i = 0; i < sums.count; ++i) {
    call.x = room.staged + i * plane;
    call.y = sums.out + i * sums.out_step + part.first;
    for (int64_t k = 0; k < depth; k += sums.block) {
      call.taps = terms_.data() + k;
      call.w = sums.left + i * sums.left_step + k * sums.k_step;
      call.depth = std::min(sums.block, depth - k);
      call.add = k > 0;
      sums.tiles.window_lines(call);
    }
  }
}

#define LATHE_WINDOWS_OF(T) \
  template void WindowLines::run(const Sums<T>&, const Part&, Room<T>&) const;
LATHE_WINDOWS_OF(float)
LATHE_WINDOWS_OF(double)
LATHE_WINDOWS_OF(uint32_t)
LATHE_WINDOWS_OF(uint64_t)
#undef LATHE_WINDOWS_OF

}  // namespace lathe::own
