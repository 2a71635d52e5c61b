#include "jit/kernel/piece_boxes.h"

#include <algorithm>
#include <cstring>

namespace lathe::jit {
namespace {

using Value = std::function<int64_t(Int)>;

/// Elements of a line of one value: it stays in the first cache, however long the last axis is.
constexpr int64_t kLongestLine = 4096;

/// Where pieces begin and end along an axis, ends of the axis included; ascending.
std::vector<int64_t> cuts_of(const std::vector<const Piece*>& pieces, int axis, int64_t extent,
                             const Value& value) {
  std::vector<int64_t> cuts{0, extent};
  for (const Piece* p : pieces)
    for (const Range& r : p->within) {
      if (r.axis != axis) continue;
      for (const Int& end : {r.first, r.last})
        cuts.push_back(std::clamp<int64_t>(value(end), 0, extent));
    }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// More of them, so that nothing between two is longer than `most`.
std::vector<int64_t> with_short_parts(const std::vector<int64_t>& cuts, int64_t most) {
  std::vector<int64_t> all;
  for (size_t k = 0; k + 1 < cuts.size(); ++k)
    for (int64_t at = cuts[k]; at < cuts[k + 1]; at += most) all.push_back(at);
  all.push_back(cuts.back());
  return all;
}

/// Is it there for the position, and so for the box that begins there?
bool holds(const Piece& p, const Sizes& at, const Value& value) {
  return std::all_of(p.within.begin(), p.within.end(), [&](const Range& r) {
    const int64_t here = at[static_cast<size_t>(r.axis)];
    return value(r.first) <= here && here < value(r.last);
  });
}

}  // namespace

PieceBoxes::PieceBoxes(const Kernel& kernel) {
  for (const auto& [number, pieces] : piecewise(kernel)) operands_.push_back({number, *pieces});
}

PieceBoxes::Bound PieceBoxes::bind(const Value& value, absl::Span<const int64_t> extents,
                                   const std::vector<int64_t>& strides) const {
  const size_t axes = extents.size();
  std::vector<const Piece*> pieces;
  for (const Operand& o : operands_)
    for (const Piece& p : o.pieces.all) pieces.push_back(&p);
  std::vector<std::vector<int64_t>> cuts;
  for (size_t axis = 0; axis < axes; ++axis)
    cuts.push_back(cuts_of(pieces, static_cast<int>(axis), extents[axis], value));
  const auto is_value = [](const Piece* p) { return !p->from; };
  if (std::any_of(pieces.begin(), pieces.end(), is_value))
    cuts.back() = with_short_parts(cuts.back(), kLongestLine);
  int64_t count = 1, begin = 0;
  for (const auto& of_axis : cuts) count *= static_cast<int64_t>(of_axis.size()) - 1;
  Bound bound;
  Lines lines;
  for (int64_t number = 0; number < count; ++number) {
    Box box{Sizes(axes), Sizes(axes), begin, strides, {}};
    int64_t elements = 1;
    for (size_t axis = axes, rest = static_cast<size_t>(number); axis-- > 0;) {
      const size_t parts = cuts[axis].size() - 1, k = rest % parts;
      rest /= parts;
      box.first[axis] = cuts[axis][k];
      box.count[axis] = cuts[axis][k + 1] - cuts[axis][k];
      elements *= box.count[axis];
    }
    for (const Operand& o : operands_) place(o, value, box, lines);
    begin += elements;
    bound.boxes.push_back(std::move(box));
  }
  make(lines, bound);
  return bound;
}

/// Says where the operand lies in the box; of a line, which one.
void PieceBoxes::place(const Operand& o, const Value& value, Box& box, Lines& lines) {
  const size_t axes = box.first.size();
  const auto& all = o.pieces.all;
  const auto item = static_cast<int64_t>(size_of(o.pieces.dtype));
  const Piece& here = *std::find_if(all.rbegin(), all.rend(),
                                    [&](const Piece& p) { return holds(p, box.first, value); });
  int64_t* steps = &box.strides[o.number * axes];
  std::fill(steps, steps + axes, 0);
  steps[axes - 1] = item;
  if (!here.from) {
    const int64_t line = number_of(o.pieces.dtype, here.bits, box.count.back(), lines);
    box.sources.push_back({o.number, -1, line});
    return;
  }
  int64_t offset = value(here.from->map.offset) * item;
  for (size_t axis = 0; axis < axes; ++axis) {
    steps[axis] = value(here.from->map.along(axis)) * item;
    offset += box.first[axis] * steps[axis];
  }
  box.sources.push_back({o.number, here.from->buf, offset});
}

/// Which line has this value, so long at least.
int64_t PieceBoxes::number_of(DType dtype, uint64_t bits, int64_t length, Lines& lines) {
  const auto is_it = [&](const Line& l) { return l.dtype == dtype && l.bits == bits; };
  auto line = std::find_if(lines.begin(), lines.end(), is_it);
  if (line == lines.end()) line = lines.insert(line, {dtype, bits});
  line->length = std::max(line->length, length);
  return line - lines.begin();
}

/// Writes the lines, and says where they are.
void PieceBoxes::make(const Lines& lines, Bound& bound) {
  std::vector<int64_t> begins;
  size_t bytes = 0;
  for (const Line& l : lines) {
    begins.push_back(static_cast<int64_t>(bytes));
    bytes += (static_cast<size_t>(l.length) * size_of(l.dtype) + 63) / 64 * 64;
  }
  bound.lines.resize(bytes);
  for (size_t k = 0; k < lines.size(); ++k) {
    std::byte* at = bound.lines.data() + begins[k];
    for (int64_t i = 0; i < lines[k].length; ++i, at += size_of(lines[k].dtype))
      std::memcpy(at, &lines[k].bits, size_of(lines[k].dtype));
  }
  for (Box& box : bound.boxes)
    for (Source& s : box.sources)
      if (s.buffer < 0) s.offset = begins[static_cast<size_t>(s.offset)];
}

}  // namespace lathe::jit
