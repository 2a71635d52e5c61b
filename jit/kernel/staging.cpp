#include "jit/kernel/staging.h"

#include <algorithm>

#include "jit/kernel/cache_lines.h"
#include "jit/kernel_ir/same_place.h"
#include "kernels/own/copy.h"

namespace lathe::jit {
namespace {

bool same_elements(const Access& a, const Access& b) {
  return a.buf == b.buf && same_place(a.map, b.map);
}

}  // namespace

Staging::Staging(const Kernel& kernel)
    : flat_(find(kernel.schedule, ScheduleKind::flatten) != nullptr) {
  std::vector<const Access*> first;  // by slot
  const auto is_staged = [&](const Access& a) {
    return find(kernel.schedule, ScheduleKind::stage, a.buf) != nullptr ||
           (flat_ && !is_one_element(a.map) && !is_flat(kernel, a.map));
  };
  size_t number = 0;
  const auto read = [&](const Operand& o) {
    const size_t k = number++;
    const auto* a = std::get_if<Access>(&o);
    if (a == nullptr || !is_staged(*a)) return;
    size_t slot = 0;
    while (slot < first.size() && !same_elements(*first[slot], *a)) ++slot;
    if (slot == first.size()) {
      first.push_back(a);
      const bool along = !identical(a->map.along(kernel.axes.size() - 1), Int(0));
      const bool spread = flat_ && !is_one_element(a->map);
      slots_.push_back({kernel.buffers[static_cast<size_t>(a->buf)].dtype, along, spread, {}});
    }
    slots_[slot].operands.push_back(k);
  };
  each_operand(kernel.body, read, [&](const Access&) { ++number; });
}

size_t Staging::runs_along(const std::vector<int64_t>& strides, size_t axes) const {
  const int64_t* of_first = &strides[slots_[0].operands[0] * axes];
  const auto far = [](int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); };
  const auto nearer = [&](int64_t a, int64_t b) { return far(a) < far(b); };
  return static_cast<size_t>(std::min_element(of_first, of_first + axes, nearer) - of_first);
}

Staging::Bound Staging::bind(absl::Span<const int64_t> box,
                             const std::vector<int64_t>& strides) const {
  Bound b;
  if (!any()) return b;
  b.strides = strides;
  for (const Slot& slot : slots_) {
    int64_t step = static_cast<int64_t>(size_of(slot.dtype));
    b.begins.push_back(b.bytes);
    const auto lies = absl::MakeConstSpan(strides).subspan(slot.operands[0] * box.size());
    for (size_t axis = box.size(); axis-- > 0;) {
      const bool line = slot.spread && axis + 1 == box.size();  // which is that of the whole box
      const bool goes = line || (!slot.repeated(lies.first(box.size()), axis) && box[axis] != 1);
      for (size_t k : slot.operands) b.strides[k * box.size() + axis] = goes ? step : 0;
      if (goes) step *= box[axis];
    }
    b.bytes += static_cast<size_t>(whole_lines(step));
  }
  return b;
}

void Staging::copy(const Bound& bound, absl::Span<const int64_t> first,
                   absl::Span<const int64_t> count, const std::vector<int64_t>& strides,
                   absl::Span<std::byte*> places, std::byte* room, size_t again) const {
  const size_t axes = count.size();
  for (size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    const size_t row = slot.operands[0] * axes;
    const auto lies = absl::MakeConstSpan(strides).subspan(row, axes);
    const auto item = static_cast<int64_t>(size_of(slot.dtype));
    ::lathe::Operand from{places[slot.operands[0]], slot.dtype, {}, {}}, to = from;
    to.data = room + bound.begins[s];
    std::byte* place = to.data;
    for (size_t axis = 0; axis < axes; ++axis) {
      const int64_t staged = bound.strides[row + axis];
      from.data += first[axis] * lies[axis];
      from.shape.push_back(slot.repeated(lies, axis) ? 1 : count[axis]);
      from.strides.push_back(lies[axis] / item);
      to.strides.push_back(staged / item);
      place -= first[axis] * staged;
    }
    to.shape = from.shape;
    const auto is_same = [](int64_t step) { return step == 0; };
    const bool there =
        again < axes &&
        std::all_of(lies.begin(), lies.begin() + static_cast<ptrdiff_t>(again), is_same);
    if (!there) own::copy_elements(from, to);
    for (size_t k : slot.operands) places[k] = place;
  }
}

}  // namespace lathe::jit
