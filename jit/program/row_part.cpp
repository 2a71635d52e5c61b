#include "jit/program/row_part.h"

#include <algorithm>

#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

/// Elements that a thread takes at a time.
constexpr int64_t kRowWork = 1 << 15;

/// How many rows are a turn, and how many a share of the pool.
struct Turns {
  int64_t block, grain;
};
Turns turns(const Bound::OfStep& bound) {
  int64_t work = 1;
  for (int64_t inner : bound.inner) work += inner;
  // Every thread has several turns, even where all rows would be one.
  const int threads = pool_threads();
  const int64_t share = bound.rows / (4 * threads) / kRowsAbreast * kRowsAbreast;
  const int64_t least = std::min(bound.block, kRowsAbreast);
  const int64_t block = threads == 1 ? bound.block : std::clamp(share, least, bound.block);
  return {block, block * std::max<int64_t>(1, kRowWork / (work * block))};
}

}  // namespace

std::byte* RowPart::origin(absl::Span<std::byte* const> temporaries, size_t buffer) const {
  int t = member.temporary[buffer];
  return t < 0 ? call.buffers[buffer] : temporaries[static_cast<size_t>(t)];
}

void RowPart::run(absl::Span<std::byte* const> temporaries, int64_t first, int64_t end,
                  int64_t ahead) {
  if (launch) {
    PointwiseKernel::Launch::Places places = launch->places();
    const auto& buffers = member.step.kernel->buffer_of();
    for (size_t k = 0; k < places.size(); ++k)
      if (buffers[k] >= 0 && member.temporary[static_cast<size_t>(buffers[k])] >= 0)
        places[k] = origin(temporaries, static_cast<size_t>(buffers[k]));
    return in_stretches(first * inner, end * inner, [&](int64_t from, int64_t to) {
      launch->piece(absl::MakeConstSpan(places), from, to, ahead * inner);
    });
  }
  auto bytes = [](DType d) { return static_cast<int64_t>(size_of(d)); };
  const std::byte* x =
      origin(temporaries, 0) + first * inner * bytes(member.step.node->in(0)->tensor().dtype);
  const ReduceAxis axis{inner, 1};
  const LineOperand to{origin(temporaries, 1) + first * bytes(member.step.types[0].dtype), 1};
  member.fold->fold.run(x, inner, end - first, absl::MakeConstSpan(&axis, 1),
                        absl::MakeConstSpan(&to, 1), simd_loops());
}

size_t rows_room(const RowGroup&, const Bound::OfStep& bound) {
  const int64_t grain = turns(bound).grain, shares = (bound.rows + grain - 1) / grain;
  return static_cast<size_t>(std::min<int64_t>(pool_threads(), shares)) *
         size_class_bytes(bound.scratch_bytes);
}

void run_rows(const RowGroup& group, const Bound::OfStep& bound, std::deque<RowPart>& parts) {
  const auto [block, grain] = turns(bound);
  parallel_for(bound.rows, grain, [&](int64_t begin, int64_t end) {
    Scratch scratch(bound.scratch_bytes);
    absl::InlinedVector<std::byte*, 8> temporaries(group.temporaries.size());
    Pace pace;
    for (int64_t r = begin; r < end; r += block) {
      for (size_t t = 0; t < temporaries.size(); ++t) {
        int by = group.temporaries[t].replaced_by;
        temporaries[t] = by < 0 ? scratch.data() + bound.scratch[t] - r * bound.row_bytes[t]
                                : parts[static_cast<size_t>(by)].call.buffers.back();
      }
      // After the last turn of a share come the rows of another one, this thread's as likely as
      // not.
      const int64_t next = r + block, ahead = next < bound.rows ? block : 0;
      for (RowPart& part : parts) {
        pace.after(bound.block * part.inner);
        part.run(absl::MakeConstSpan(temporaries), r, std::min(end, next), ahead);
      }
    }
  });
  for (RowPart& part : parts)
    if (part.launch) part.launch->finish();
}

}  // namespace lathe::jit
