#include "core/tensor/shared_memory.h"

#include <algorithm>

namespace lathe {
namespace {

/// From the first byte of the elements to past the last; empty where there are none.
struct AddressRange {
  uintptr_t begin = 0, end = 0;
};
AddressRange addresses_of(const TensorImpl& t) {
  if (!t.storage) return {};
  int64_t low = t.geometry.offset.value(), high = low;
  for (size_t i = 0; i < t.geometry.shape.size(); ++i) {
    const int64_t size = t.geometry.shape[i].value();
    if (size == 0) return {};
    const int64_t reach = (size - 1) * t.geometry.strides[i].value();
    (reach < 0 ? low : high) += reach;
  }
  const auto bytes = static_cast<int64_t>(size_of(t.dtype));
  const auto data = reinterpret_cast<uintptr_t>(t.storage->data);
  return {data + static_cast<uintptr_t>(low * bytes),
          data + static_cast<uintptr_t>((high + 1) * bytes)};
}

}  // namespace

bool elements_may_meet(const TensorImpl& a, const TensorImpl& b) {
  if (!(a.device == b.device)) return false;
  const AddressRange p = addresses_of(a), q = addresses_of(b);
  return p.begin < q.end && q.begin < p.end;
}

void SharedMemory::add(const TensorImpl* t) {
  const size_t number = added_++;
  if (t == nullptr) return;
  const AddressRange at = addresses_of(*t);
  if (at.begin < at.end) ranges_.push_back({at.begin, at.end, number, t});
}

void SharedMemory::sort() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (const Range& r : ranges_)
    furthest_.push_back(furthest_.empty() ? r.end : std::max(furthest_.back(), r.end));
  sorted_ = true;
}

bool SharedMemory::any(const TensorImpl& t, absl::FunctionRef<bool(size_t)> counts) {
  if (!sorted_) sort();
  const AddressRange at = addresses_of(t);
  // Those that begin before t ends, from the last on, for as long as one of them may reach t.
  auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                    [&](const Range& r) { return r.begin < at.end; });
  while (range != ranges_.begin()) {
    --range;
    if (furthest_[static_cast<size_t>(range - ranges_.begin())] <= at.begin) return false;
    if (may_share_memory(*range->tensor, t) && counts(range->number)) return true;
  }
  return false;
}

}  // namespace lathe
