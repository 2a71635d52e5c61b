#include "kernels/own/taps.h"

#include <algorithm>

#include "kernels/own/rounding.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

constexpr int64_t kNear = 24 << 10;     // bytes of staged slabs that tiles go over again
constexpr int64_t kSumsRoom = 1 << 20;  // bytes of a task's sums
constexpr int64_t kMostRows = 128;      // of the left side in a task
constexpr int64_t kLeastTaps = 128;     // of a task that shares its rows with others
constexpr int64_t kSlabRoom = 1 << 20;  // bytes of a staged slab

}  // namespace

std::optional<WindowTaps> WindowTaps::of(const Sides& sides, size_t bytes) {
  const auto terms = sides.terms.vars();
  if (terms.empty() || sides.terms.extent() == 0 || sides.columns.extent() == 0)
    return std::nullopt;
  if (!sides.left.windows.empty()) return std::nullopt;
  // Two places if they move a window each, else one.
  for (size_t places : {size_t{2}, size_t{1}}) {
    if (places > terms.size()) continue;
    WindowTaps found;
    if (!found.windows_.find_axes(sides.c, sides.right, terms.last(places))) continue;
    if (!found.find_others(sides, terms.first(terms.size() - places))) return std::nullopt;
    const int64_t columns = std::min(found.windows_.across().extent, kSumBlock);
    constexpr size_t kMostSlabs = 1 << 14;
    if (!found.windows_.find_taps(sides.c, sides.right, sides.columns, columns, bytes, kMostSlabs))
      return std::nullopt;
    if (!found.find_slabs(bytes)) return std::nullopt;
    found.lanes_ = sides.lanes;
    const int64_t rows = sides.rows.extent();
    found.repeats_ = sides.beside();
    found.across_products_ = 2 * rows < sides.lanes && found.repeats_ > rows;
    if (2 * std::max(rows, found.repeats_) < sides.lanes) return std::nullopt;
    if (found.across_products_) {
      const int var[] = {sides.repeat};
      found.repeated_left_ = Side(sides.c, sides.left, Group(sides.c, var), sides.terms);
      sides.rows.contributions(sides.c, sides.left.stride, found.row_offsets_);
    }
    found.choose_blocks(sides, bytes);
    const auto size = static_cast<int64_t>(bytes);
    if (found.across_products_ && rows * found.taps() * sides.lanes * size > kSumsRoom)
      return std::nullopt;
    return found;
  }
  return std::nullopt;
}

/// What the summed variables that are no places move. False if that is a place's window.
bool WindowTaps::find_others(const Sides& sides, absl::Span<const int> vars) {
  const Group others(sides.c, vars);
  others.contributions(sides.c, sides.right.stride, other_offsets_);
  for (size_t w = 0; w < sides.right.windows.size(); ++w) {
    const int number = static_cast<int>(w);
    const bool of_place = number == windows_.across().window || number == windows_.down().window;
    const Sizes& coefficient = sides.right.windows[w].coefficient;
    for (int v : vars)
      if (of_place && coefficient[static_cast<size_t>(v)] != 0) return false;
    others.contributions(sides.c, coefficient, other_windows_.emplace_back());
  }
  return true;
}

/// Whether slabs have their taps side by side, as many each: several, else panels hold no element
/// twice, and fewer than places, else outputs are the places (windows.h). And the rows of a slab.
bool WindowTaps::find_slabs(size_t bytes) {
  const StagedWindows::Axis &down = windows_.down(), &across = windows_.across();
  const auto slabs = static_cast<int64_t>(windows_.slabs().size());
  if (taps() % slabs != 0 || slab_taps() < 2) return false;
  if (slab_taps() > down.extent * across.extent) return false;
  for (int64_t t = 0; t < taps(); ++t)
    if (windows_.taps()[static_cast<size_t>(t)].slab != static_cast<size_t>(t / slab_taps()))
      return false;
  const bool whole = across.extent <= kSumBlock;
  const int64_t lines = whole ? kSumBlock / across.extent + 2 : 2;
  const int64_t bands = whole ? kSumBlock / (across.extent * down.extent) + 2 : 2;
  rows_ = lines * down.step + bands * down.span;
  return slab_elements() * static_cast<int64_t>(bytes) <= kSlabRoom;
}

void WindowTaps::choose_blocks(const Sides& sides, size_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  const int64_t slabs = static_cast<int64_t>(windows_.slabs().size()), rows = sides.rows.extent();
  const int64_t slab = slab_elements() * size * (across_products_ ? lanes_ : 1);
  slab_block_ = slabs;
  row_block_ = rows;
  width_ = across_products_ ? lanes_ : sides.tile_lanes;
  if (!across_products_) {
    row_block_ = std::min(round_up(rows, width_), kMostRows);
    row_blocks_ = blocks(rows, row_block_);
    const int64_t most = std::max<int64_t>(1, kSumsRoom / (size * slab_taps() * row_block_));
    const int64_t work = rows * taps() * sides.terms.extent() >> 22;
    const int64_t wanted = std::clamp<int64_t>(work, 1, 16) / row_blocks_;
    // Each task packs its rows anew: so many taps have to read them.
    slab_blocks_ =
        std::max(blocks(slabs, most), std::min(wanted, slabs * slab_taps() / kLeastTaps));
    slab_block_ = blocks(slabs, std::max<int64_t>(1, slab_blocks_));
    slab_blocks_ = blocks(slabs, slab_block_);
  }
  const int64_t tile = sides.tile_rows;
  chunk_ = std::max(kNear / slab, blocks(2 * tile, slab_taps()));
  if (slab_taps() < tile) chunk_ = round_up(chunk_, tile);
  chunk_ = std::min(across_products_ ? kNear / slab + 1 : chunk_, slab_block_);
}

/// The staged elements, panels of the left side, sums and places of terms and taps that a task
/// takes, all in elements.
struct WindowTaps::Task {
  int64_t row, rows, slab, slabs;
};

size_t WindowTaps::elements(int64_t block) const {
  const int64_t taps = slab_block_ * slab_taps(), lanes = across_products_ ? lanes_ : 1;
  const int64_t rows = across_products_ ? row_block_ * lanes_ : row_block_;
  int64_t all = chunk_ * slab_elements() * lanes + round_up(rows, width_) * (block + taps);
  if (across_products_) all += slab_elements() * lanes_;
  return static_cast<size_t>(all) + 4 * StagedWindows::kPast;
}

WindowTaps::Bands WindowTaps::bands(int64_t k, int64_t depth, int64_t* places) const {
  const StagedWindows::Axis &down = windows_.down(), &across = windows_.across();
  const int64_t end = k + depth;
  const bool whole = across.extent <= kSumBlock;
  Bands found;
  for (int64_t row = 0; k < end;) {
    const int64_t line = k / across.extent, other = line / down.extent, y = line % down.extent;
    const int64_t lines_end = whole ? (other + 1) * down.extent : line + 1;
    const int64_t stop = std::min(end, lines_end * across.extent);
    const int64_t column = whole ? 0 : k - line * across.extent;
    const int64_t columns = whole ? across.extent : stop - k;
    const int64_t lines = (stop - 1) / across.extent - line + 1;
    found.push_back({other, {y, lines, column, columns}, row});
    for (int64_t l = 0; k < stop; ++l) {
      const int64_t begin = (line + l) * across.extent + column;
      const int64_t from = (row + l * down.step) * windows_.row_step() - begin;
      for (const int64_t line_end = std::min(stop, begin + columns); k < line_end; ++k)
        *places++ = from + k;
    }
    row += windows_.rows_of(lines);
  }
  return found;
}

/// Where the taps of some slabs lie, which are staged one after the other.
void WindowTaps::place_taps(int64_t slab, int64_t slabs, int64_t scale, int64_t* places) const {
  const int64_t first = slab * slab_taps();
  for (int64_t t = 0; t < slabs * slab_taps(); ++t) {
    const StagedWindows::Tap& tap = windows_.taps()[static_cast<size_t>(first + t)];
    places[t] = ((static_cast<int64_t>(tap.slab) - slab) * slab_elements() + tap.at) * scale;
  }
}

template <class T>
void WindowTaps::stage(const Sums<T>& sums, const Shift& at, const Bands& bands, size_t slab,
                       T* to) const {
  Shift shift = at;
  for (const Band& band : bands) {
    const auto other = static_cast<size_t>(band.other);
    shift.offset = at.offset + other_offsets_[other];
    for (size_t w = 0; w < shift.windows.size(); ++w)
      shift.windows[w] = at.windows[w] + other_windows_[w][other];
    windows_.stage(sums.tiles, sums.right, shift, windows_.slabs()[slab], band.part,
                   to + band.row * windows_.row_step());
  }
}

/// Every lane's slab, interleaved: lane by lane first.
template <class T>
void WindowTaps::stage_lanes(const Sums<T>& sums, const At& at, const Bands& bands, size_t slab,
                             int64_t first, int count, T* apart, T* to) const {
  Shift shift = at.right;
  for (int i = 0; i < count; ++i) {
    shift.offset = at.right.offset + (first + i) * at.right_step;
    stage(sums, shift, bands, slab, apart + i * slab_elements());
  }
  const Band& last = bands.back();
  const int64_t used = (last.row + windows_.rows_of(last.part.lines)) * windows_.row_step();
  sums.tiles.pack_transposed(apart, slab_elements(), used, count, lanes_, lanes_, nullptr, to);
}

/// Rows are the lanes.
template <class T>
void WindowTaps::sum_rows(const Sums<T>& sums, const At& at, const Task& task, T* room) const {
  const int64_t panels = round_up(task.rows, width_), taps = task.slabs * slab_taps();
  T* const staged = room;
  T* const left = staged + chunk_ * slab_elements() + StagedWindows::kPast;
  T* const added = left + panels * sums.block;
  std::vector<int64_t> places(static_cast<size_t>(sums.block)), of_taps(static_cast<size_t>(taps));
  TapsCall<T> call{};
  call.x = staged;
  call.places = places.data();
  call.b_k = width_;
  call.ldc = panels;
  Pace pace;
  for (int64_t k = 0; k < sums.depth; k += sums.block) {
    call.depth = std::min(sums.block, sums.depth - k);
    call.add = k > 0;
    const Bands bands = this->bands(k, call.depth, places.data());
    for (int64_t j = 0; j < task.rows; j += width_)
      sums.left_side.pack(sums.tiles, sums.left, at.left, task.row + j,
                          static_cast<int>(std::min<int64_t>(width_, task.rows - j)), width_, k,
                          call.depth, left + j * sums.block);
    for (int64_t s = 0; s < task.slabs; s += chunk_) {
      const int64_t some = std::min(chunk_, task.slabs - s), count = some * slab_taps();
      for (int64_t i = 0; i < some; ++i)
        stage(sums, at.right, bands, static_cast<size_t>(task.slab + s + i),
              staged + i * slab_elements());
      place_taps(task.slab + s, some, 1, of_taps.data());
      pace.after(count * call.depth);
      const int64_t tiles = blocks(count, sums.tiles.direct_rows), most = blocks(count, tiles);
      for (int64_t j = 0; j < task.rows; j += width_)
        for (int64_t t = 0; t < count; t += most) {
          call.taps = of_taps.data() + t;
          call.rows = static_cast<int>(std::min(most, count - t));
          call.cols = static_cast<int>(std::min<int64_t>(width_, task.rows - j));
          call.b = left + j * sums.block;
          call.c = added + (s * slab_taps() + t) * panels + j;
          sums.tiles.taps(call);
        }
    }
  }
  const int64_t out = at.out + task.row * sums.columns + task.slab * slab_taps();
  sums.tiles.pack_transposed(added, panels, task.rows, static_cast<int>(taps),
                             static_cast<int>(taps), sums.columns, nullptr, sums.out + out);
  if (sums.epilogue) sums.epilogue({out, taps, task.rows, sums.columns});
}

/// Products are the lanes: `task.row` counts them.
template <class T>
void WindowTaps::sum_lanes(const Sums<T>& sums, const At& at, const Task& task, T* room) const {
  const int count = static_cast<int>(task.rows);
  T* const apart = room;
  T* const staged = apart + slab_elements() * lanes_ + StagedWindows::kPast;
  T* const left = staged + chunk_ * slab_elements() * lanes_;
  T* const added = left + sums.rows * lanes_ * sums.block;
  std::vector<int64_t> places(static_cast<size_t>(sums.block)),
      of_taps(static_cast<size_t>(taps()));
  TapsCall<T> call{};
  call.x = staged;
  call.places = places.data();
  call.b_k = call.ldc = call.cols = lanes_;
  Pace pace;
  for (int64_t k = 0; k < sums.depth; k += sums.block) {
    call.depth = std::min(sums.block, sums.depth - k);
    call.add = k > 0;
    const Bands bands = this->bands(k, call.depth, places.data());
    for (int64_t i = 0; i < call.depth; ++i) places[static_cast<size_t>(i)] *= lanes_;
    for (int64_t r = 0; r < sums.rows; ++r) {
      Shift shift = at.left;
      shift.offset += row_offsets_[static_cast<size_t>(r)];
      repeated_left_.pack(sums.tiles, sums.left, shift, task.row, count, lanes_, k, call.depth,
                          left + r * lanes_ * sums.block);
    }
    for (int64_t s = 0; s < task.slabs; s += chunk_) {
      const int64_t some = std::min(chunk_, task.slabs - s), all = some * slab_taps();
      for (int64_t i = 0; i < some; ++i)
        stage_lanes(sums, at, bands, static_cast<size_t>(s + i), task.row, count, apart,
                    staged + i * slab_elements() * lanes_);
      place_taps(s, some, lanes_, of_taps.data());
      pace.after(all * call.depth);
      const int64_t tiles = blocks(all, kLaneTaps), most = blocks(all, tiles);
      for (int64_t r = 0; r < sums.rows; ++r)
        for (int64_t t = 0; t < all; t += most) {
          call.taps = of_taps.data() + t;
          call.rows = static_cast<int>(std::min(most, all - t));
          call.b = left + r * lanes_ * sums.block;
          call.c = added + (r * taps() + s * slab_taps() + t) * lanes_;
          sums.tiles.lane_taps(call);
        }
    }
  }
  const int width = static_cast<int>(taps());
  for (int64_t r = 0; r < sums.rows; ++r) {
    const int64_t out = at.out + task.row * at.out_step + r * sums.columns;
    sums.tiles.pack_transposed(added + r * taps() * lanes_, lanes_, count, width, width,
                               at.out_step, nullptr, sums.out + out);
    if (sums.epilogue) sums.epilogue({out, taps(), count, at.out_step});
  }
}

template <class T>
void WindowTaps::run(const Sums<T>& sums, const At& at, int64_t task, T* room) const {
  if (across_products_) {
    const int64_t first = task * lanes_;
    const auto slabs = static_cast<int64_t>(windows_.slabs().size());
    return sum_lanes(sums, at, {first, std::min<int64_t>(lanes_, repeats_ - first), 0, slabs},
                     room);
  }
  const int64_t row = task % row_blocks_ * row_block_, slab = task / row_blocks_ * slab_block_;
  const auto slabs = static_cast<int64_t>(windows_.slabs().size());
  sum_rows(sums, at,
           {row, std::min(row_block_, sums.rows - row), slab, std::min(slab_block_, slabs - slab)},
           room);
}

#define LATHE_TAPS_OF(T) \
  template void WindowTaps::run(const Sums<T>&, const At&, int64_t, T*) const;
LATHE_TAPS_OF(float)
LATHE_TAPS_OF(double)
LATHE_TAPS_OF(uint32_t)
LATHE_TAPS_OF(uint64_t)
#undef LATHE_TAPS_OF

}  // namespace lathe::own
