// How the executor hands work to a device.
#pragma once

#include <absl/types/span.h>

#include <functional>
#include <utility>
#include <vector>

#include "core/dispatch/backend.h"
#include "core/tensor/tensor.h"

namespace lathe {

/// Where a call's result k is written: the place that the caller gives, or fresh memory.
inline Tensor result_of(const Call& call, size_t k = 0) {
  return k == 0 && call.into != nullptr ? *call.into : empty(call.types[k]);
}

/// Runs `work` on the device's current stream: on the cpu before this returns, elsewhere later.
/// `reads` are waited for; `writes` are marked ready when it is done; all are kept alive until
/// then, so raw pointers into them may be captured. What `work` throws reaches the caller (cpu) or
/// whoever synchronises the stream.
template <class F>
void submit(Device device, absl::Span<const Tensor> reads, absl::Span<const Tensor> writes,
            F work) {
  if (device.kind == DeviceKind::cpu) {  // whose stream is the caller
    for (const Tensor& t : reads) host_wait(t.impl()->storage->ready);
    return work();
  }
  Stream& stream = current_stream(device);
  for (const Tensor& t : reads)
    if (t.impl()->storage->ready) stream.wait(t.impl()->storage->ready);
  std::vector<Tensor> held(reads.begin(), reads.end());
  held.insert(held.end(), writes.begin(), writes.end());
  stream.enqueue([work = std::move(work), held = std::move(held)]() mutable { work(); });
  Event done = stream.record();
  for (const Tensor& t : writes) t.impl()->storage->ready = done;
}

}  // namespace lathe
