#include "jit/row_part.h"

#include <algorithm>

#include "kernels/pool.h"
#include "kernels/scratch.h"

namespace lathe::jit {
namespace {

/// Elements that a thread takes at a time.
constexpr int64_t kRowWork = 1 << 15;

}  // namespace

std::byte* RowPart::origin(const Bound::OfStep& group, std::byte* scratch, size_t buffer,
                           int64_t first) const {
  if (member.temporary[buffer] < 0) return call.buffers[buffer];
  auto t = static_cast<size_t>(member.temporary[buffer]);
  return scratch + group.scratch[t] - first * group.row_bytes[t];
}

void RowPart::run(const Bound::OfStep& group, std::byte* scratch, int64_t first, int64_t end) {
  if (launch) {
    PointwiseKernel::Launch::Places places = launch->places();
    const auto& buffers = member.step.kernel->buffer_of();
    for (size_t k = 0; k < places.size(); ++k)
      if (buffers[k] >= 0 && member.temporary[static_cast<size_t>(buffers[k])] >= 0)
        places[k] = origin(group, scratch, static_cast<size_t>(buffers[k]), first);
    return launch->piece(absl::MakeConstSpan(places), first * inner, end * inner);
  }
  auto bytes = [](DType d) { return static_cast<int64_t>(size_of(d)); };
  const std::byte* x = origin(group, scratch, 0, first) +
                       first * inner * bytes(member.step.node->in(0)->tensor().dtype);
  const FoldAxis axis{inner, 1};
  const LineOperand to{origin(group, scratch, 1, first) + first * bytes(member.step.types[0].dtype),
                       1};
  member.fold->fold.run(x, inner, end - first, absl::MakeConstSpan(&axis, 1),
                        absl::MakeConstSpan(&to, 1), strips());
}

void run_rows(const Bound::OfStep& group, std::deque<RowPart>& parts) {
  int64_t work = 1;
  for (int64_t inner : group.inner) work += inner;
  int64_t blocks = std::max<int64_t>(1, kRowWork / (work * group.block));
  parallel_for(group.rows, blocks * group.block, [&](int64_t begin, int64_t end) {
    Scratch scratch(group.scratch_bytes);
    for (int64_t r = begin; r < end; r += group.block)
      for (RowPart& part : parts)
        part.run(group, scratch.data(), r, std::min(end, r + group.block));
  });
  for (RowPart& part : parts)
    if (part.launch) part.launch->finish();
}

}  // namespace lathe::jit
