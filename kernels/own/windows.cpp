#include "kernels/own/windows.h"

#include <algorithm>

namespace lathe::own {
namespace {

constexpr int64_t kRowsAtOnce = 4;

}  // namespace

bool WindowLines::pay(const Contraction& c, const Addressing& right, absl::Span<const int> columns,
                      const Group& k, int64_t rows, int lanes) {
  if (columns.empty() || right.windows.empty() || rows > kMostRows) return false;
  if (rows <= kRowsAtOnce) return true;
  auto moved = [&](int var) {
    for (const Window& w : right.windows)
      if (w.coefficient[static_cast<size_t>(var)] != 0)
        return w.coefficient[static_cast<size_t>(var)];
    return int64_t{0};
  };
  int64_t run = 1;  // terms that panels copy at once: those that lie at one place of the window
  for (int var : k.vars())
    if (moved(var) == 0) run *= c.extent[static_cast<size_t>(var)];
  const int64_t line = c.extent[static_cast<size_t>(columns.back())];
  const int64_t filled = (line + lanes - 1) / lanes * lanes;
  // Cycles for a vector of each row's term, as measured with AVX2: tiles of panels are a little
  // better than lines; copying costs some for each run, and more where places lie apart.
  const double lines = 0.75 * static_cast<double>(rows * filled) / static_cast<double>(line);
  const double copied = moved(columns.back()) == 1 ? 1 : 10;
  return lines < 0.6 * static_cast<double>(rows) + copied + 60.0 / static_cast<double>(run);
}

std::optional<WindowLines> WindowLines::of(const Contraction& c, const Addressing& right,
                                           absl::Span<const int> columns, const Group& k,
                                           size_t bytes) {
  constexpr int64_t kPiece = 2048;  // the most neighbours that are staged at once
  constexpr size_t kMostSlabs = 512;
  WindowLines found;
  if (k.extent() == 0 || !found.windows_.find_axes(c, right, columns)) return std::nullopt;
  const int64_t neighbours = found.windows_.across().extent;
  found.pieces_ = (neighbours + kPiece - 1) / kPiece;
  found.piece_ = (neighbours + found.pieces_ - 1) / found.pieces_;
  if (!found.windows_.find_taps(c, right, k, found.piece_, bytes, kMostSlabs)) return std::nullopt;
  if (!found.choose_stripe(bytes)) return std::nullopt;
  return found;
}

/// As many lines as the first-level cache holds staged; more where rows would be staged for several
/// stripes too often.
bool WindowLines::choose_stripe(size_t bytes) {
  constexpr int64_t kNear = 24 << 10, kMost = 256 << 10;
  const StagedWindows::Axis& down = windows_.down();
  const int64_t row = static_cast<int64_t>(windows_.slabs().size() * bytes) * windows_.row_step();
  auto lines_in = [&](int64_t room) {
    const int64_t rows = room / row;
    return rows < down.span ? 0 : (rows - down.span) / down.step + 1;
  };
  const int64_t least = (4 * down.span + down.step - 1) / down.step;
  stripe_ = std::min({down.extent, std::max(lines_in(kNear), least), lines_in(kMost)});
  if (stripe_ == 0) return false;
  stripes_ = (down.extent + stripe_ - 1) / stripe_;
  stripe_ = (down.extent + stripes_ - 1) / stripes_;
  for (const StagedWindows::Tap& tap : windows_.taps())
    terms_.push_back(static_cast<int64_t>(tap.slab) * slab_step() + tap.at);
  return true;
}

size_t WindowLines::staged_elements() const {
  return windows_.slabs().size() * static_cast<size_t>(slab_step()) + StagedWindows::kPast;
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
void WindowLines::run(const Sums<T>& sums, const T* right, const Shift& shift, const Part& part,
                      T* staged) const {
  for (size_t s = 0; s < windows_.slabs().size(); ++s)
    windows_.stage(sums.tiles, right, shift, windows_.slabs()[s],
                   {part.line, part.lines, part.column, part.columns},
                   staged + static_cast<int64_t>(s) * slab_step());
  const int64_t depth = static_cast<int64_t>(terms_.size());
  WindowCall<T> call{};
  call.x = staged;
  call.line_step = windows_.down().step * windows_.row_step();
  call.w_row = sums.x_step;
  call.w_step = sums.k_step;
  call.y_line = part.apart;
  call.y_row = sums.row_step;
  call.lines = part.lines;
  call.cols = part.columns;
  // Rows in groups as even as they can be.
  const int64_t groups = (sums.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  for (int64_t g = 0, row = 0; g < groups; ++g, row += call.rows) {
    call.rows = static_cast<int>(sums.rows / groups + (g < sums.rows % groups));
    call.y = sums.out + part.first + row * sums.row_step;
    for (int64_t k = 0; k < depth; k += sums.block) {
      call.taps = terms_.data() + k;
      call.w = sums.left + row * sums.x_step + k * sums.k_step;
      call.depth = std::min(sums.block, depth - k);
      call.add = k > 0;
      sums.tiles.window_lines(call);
    }
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
