#include "jit/kernel/row_kernel.h"

#include <algorithm>
#include <deque>

#include "jit/kernel/cache_lines.h"
#include "jit/kernel/positions.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

/// Operations that a thread takes at a time.
constexpr int64_t kGrain = 1 << 17;
/// Bytes of the lanes of reductions over rows: they stay in the second cache. Fewer columns at a
/// time cost more in calls than they save in memory.
constexpr int64_t kNearLanes = 64 << 10;
/// Rows that are staged at a time, of which what they read lies side by side: whole lines of the
/// cache, and several of each page, as long as they stay in the second cache.
constexpr int64_t kStagedRows = 64, kFewStagedRows = 16;
constexpr int64_t kStagedBytes = 256 << 10;
/// Columns come in so many: whole vectors.
constexpr int64_t kFewColumns = 64;

}  // namespace

RowKernel::RowKernel(LoweredRows lowered)
    : CompiledKernel(std::move(lowered.kernel)),
      inputs_(std::move(lowered.inputs)),
      outputs_(std::move(lowered.outputs)),
      numbers_(std::move(lowered.numbers)),
      sums_(loops()),
      states_(lowered.of_line),
      staging_(loops()),
      short_rows_(loops()) {}

RowKernel::Bound RowKernel::bind(const std::function<int64_t(Int)>& value) const {
  const Kernel& k = loops();
  Bound b;
  CompiledKernel::bind(value, b);
  for (int a = 0; a < k.parallel; ++a) b.rows *= b.extents[static_cast<size_t>(a)];
  // Lanes have one place, whatever the position.
  b.strides.resize(b.strides.size() + sums_.lines() * k.axes.size());
  b.locals.resize(k.buffers.size());
  int64_t bytes = 0;
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buf& buf = k.buffers[i];
    if (buf.space != Space::local) continue;
    b.locals[i] = bytes;
    bytes += together() * value(buf.elements) * static_cast<int64_t>(size_of(buf.dtype));
    bytes = whole_lines(bytes);
  }
  cut(b);
  b.staged_at = static_cast<size_t>(bytes);
  b.scratch_bytes = b.staged_at + b.staged.bytes;
  if (k.line) b.line = value(*k.line);
  b.columns = b.extents.back();
  if (sums_.any() && columns_are_apart(k) && !staging_.flat()) {
    const int64_t near =
        kFewColumns * std::max<int64_t>(1, kNearLanes / sums_.block_bytes(b.rows, kFewColumns));
    const auto inner = static_cast<int>(k.axes.size()) - 1;
    b.columns = std::min(b.columns, count_of(k.schedule, ScheduleKind::split, near, inner));
  }
  b.row_work = 64 + b.extents.back() * std::max<int64_t>(1, k.facts.flops_per_element);
  b.unrolled = short_rows_.of(b.extents.back(), b.rows);
  if (b.unrolled != nullptr) b.of_unrolled = b.unrolled->kernel().bind(value);
  return b;
}

void RowKernel::cut(Bound& b) const {
  const int rows = loops().parallel - 1;
  b.box = count_of(loops().schedule, ScheduleKind::split, 0, rows);
  if (staging_.flat()) b.box = RowSums::kBlock;
  if (!staging_.any()) return;
  Sizes box(b.extents.size(), 1);
  box.back() = b.extents.back();
  if (b.box == 0) {
    const auto row =
        std::max<int64_t>(1, static_cast<int64_t>(staging_.bind(box, b.strides).bytes));
    b.box = kStagedBytes / row / kFewStagedRows * kFewStagedRows;
    b.box = std::clamp(b.box, kFewStagedRows, kStagedRows);
  }
  box[static_cast<size_t>(rows)] = b.box;
  b.staged = staging_.bind(box, b.strides);
}

int64_t RowKernel::grain(const Bound& bound) const {
  const int64_t least = std::max(together(), staging_.any() ? bound.box : 1);
  return count_of(loops().schedule, ScheduleKind::parallel,
                  std::max(least, kGrain / bound.row_work / least * least));
}

RowKernel::Shares RowKernel::shares(const Bound& bound) const {
  const int64_t most = RowSums::kLanes / together();
  const int64_t blocks = (bound.rows + RowSums::kBlock - 1) / RowSums::kBlock;
  const int64_t tiles =
      bound.columns == 0 ? 1 : (bound.extents.back() + bound.columns - 1) / bound.columns;
  const bool few = pool_threads() > 1 && blocks * tiles < 2 * pool_threads() && !staging_.flat();
  return {blocks, tiles, few && bound.rows >= RowSums::kLanes ? most : 1};
}

size_t RowKernel::room(const Bound& bound) const {
  const auto times = [](int64_t count, int64_t bytes) {
    return static_cast<size_t>(count) * size_class_bytes(static_cast<size_t>(bytes));
  };
  const auto scratch = static_cast<int64_t>(bound.scratch_bytes);
  if (!sums_.any()) {
    const int64_t each = grain(bound), shares = (bound.rows + each - 1) / each;
    return times(std::min<int64_t>(pool_threads(), shares), scratch) +
           times(1, static_cast<int64_t>(states_.bytes(bound.rows)));
  }
  const auto [blocks, tiles, each] = shares(bound);
  const int64_t parts = blocks * tiles;
  const int64_t threads = std::min<int64_t>(pool_threads(), parts * each);
  const int64_t lanes = sums_.block_bytes(bound.rows, bound.columns);
  return times(1, parts * sums_.state_bytes(bound.columns)) + times(threads, scratch) +
         times(each > 1 ? parts : threads, lanes);
}

Engine RowKernel::run(const Bound& bound, const KernelRun& run) const {
  if (bound.rows == 0 && rows_are_apart()) return Engine::none;
  if (const KernelFn fn = bound.unrolled == nullptr ? nullptr : bound.unrolled->code(run)) {
    bound.unrolled->kernel().run(fn, bound.of_unrolled, run);
    return Engine::generated;
  }
  const KernelFn fn = code().for_run(run.wanted, run.op, run.site);
  this->run(fn, bound, run);
  return fn != nullptr ? Engine::generated : Engine::simd;
}

const SimdKernel& RowKernel::simd() const {
  std::call_once(simd_made_, [this] { simd_ = std::make_unique<SimdKernel>(loops()); });
  return *simd_;
}

/// One run: what all threads have in common.
class RowKernel::Call {
 public:
  Call(const RowKernel& kernel, KernelFn fn, const Bound& bound, const KernelRun& run)
      : k_(kernel), fn_(fn), bound_(bound), by_simd_(fn == nullptr ? &kernel.simd() : nullptr) {
    for (size_t i = 0; i < k_.places().size(); ++i)
      shared_.push_back(k_.place(i, bound, run));  // null for a local: each thread has its own
  }

  const Bound& bound() const { return bound_; }
  using Pointers = absl::InlinedVector<std::byte*, 24>;
  /// By operand: where it begins, for these columns.
  Pointers places(const Columns& columns) const {
    Pointers at = shared_;
    const size_t axes = bound_.extents.size();
    for (size_t i = 0; columns.first > 0 && i < at.size(); ++i)
      if (at[i] != nullptr) at[i] += columns.first * bound_.strides[(i + 1) * axes - 1];
    return at;
  }

  /// A thread's own: with its locals in `scratch`, and the lanes of reductions over rows.
  class Worker {
   public:
    using Extents = absl::InlinedVector<int64_t, 6>;
    Worker(const Call& call, std::byte* scratch, const Columns& columns,
           absl::Span<std::byte* const> lanes)
        : call_(call),
          operands_(call.shared_.size()),
          places_(call.places(columns)),
          extents_(call.bound_.extents) {
      const RowKernel& k = call.k_;
      for (size_t i = 0; i < operands_; ++i)
        if (const Place& p = k.places()[i]; k.is_local(p))
          places_[i] = scratch + call.bound_.locals[static_cast<size_t>(p.buffer)];
      places_.insert(places_.end(), lanes.begin(), lanes.end());
      extents_.back() = columns.length;
      room_ = scratch + call.bound_.staged_at;
    }
    Worker(const Call& call, std::byte* scratch)
        : Worker(call, scratch, {0, call.bound_.extents.back()}, {}) {}
    void rows(int64_t begin, int64_t end) const {
      const Bound& b = call_.bound_;
      if (call_.k_.staging_.flat()) return lines(begin, end);
      if (b.box == 0) return run(places_, b.strides, extents_, begin, end);
      const auto last = static_cast<size_t>(call_.k_.loops().parallel) - 1;
      while (begin < end) {
        const int64_t at = begin % b.extents[last];
        const int64_t stop = begin + std::min({b.box, end - begin, b.extents[last] - at});
        call_.k_.staging_.any() ? staged(begin, stop)
                                : run(places_, b.strides, extents_, begin, stop);
        begin = stop;
      }
    }
    /// One piece of a line.
    void piece(int64_t which) {
      const Bound& b = call_.bound_;
      extents_.back() = std::min(b.extents.back(), b.line - which * b.extents.back());
      rows(which, which + 1);
    }

   private:
    /// Rows of one position of the axes before the last one.
    void staged(int64_t begin, int64_t end) const {
      const Bound& b = call_.bound_;
      const auto rows = static_cast<size_t>(call_.k_.loops().parallel);
      Sizes first = position_of(begin, absl::MakeConstSpan(extents_).first(rows));
      first.resize(extents_.size());
      Sizes count(extents_.size(), 1);
      count[rows - 1] = end - begin;
      count.back() = extents_.back();
      Pointers places = places_;
      call_.k_.staging_.copy(b.staged, first, count, b.strides, absl::MakeSpan(places), room_);
      run(places, b.staged.strides, extents_, begin, end);
    }
    /// As many rows at a time as a sum over them has lanes, which follow each other as the elements
    /// of the rows do: one row of all of these. At most a block of rows, from its first on.
    void lines(int64_t begin, int64_t end) const {
      const Bound& b = call_.bound_;
      const size_t axes = extents_.size();
      Pointers places = places_;
      const bool stages = call_.k_.staging_.any();
      const Sizes first{begin, 0}, count{end - begin, extents_.back()};
      if (stages)
        call_.k_.staging_.copy(b.staged, first, count, b.strides, absl::MakeSpan(places), room_);
      const std::vector<int64_t>& strides = stages ? b.staged.strides : b.strides;
      Extents line = extents_;
      line.front() = 1;
      for (; begin < end; begin += RowSums::kLanes) {
        Pointers at = places;
        for (size_t i = 0; i < operands_; ++i) at[i] += begin * strides[i * axes];
        line.back() = std::min(RowSums::kLanes, end - begin) * extents_.back();
        run(at, strides, line, 0, 1);
      }
    }
    void run(const Pointers& places, const std::vector<int64_t>& strides, const Extents& extents,
             int64_t begin, int64_t end) const {
      if (call_.by_simd_ != nullptr) {
        const auto all = absl::MakeConstSpan(places);
        const auto own = all.first(operands_), lanes = all.subspan(operands_);
        return call_.by_simd_->run({own, extents, strides, begin, end, lanes});
      }
      KernelArgs args;
      args.data = places.data();
      args.extents = extents.data();
      args.strides = strides.data();
      args.begin = begin;
      args.end = end;
      call_.fn_(&args);
    }

    const Call& call_;
    size_t operands_;
    std::byte* room_ = nullptr;  // of what is staged
    Pointers places_;
    Extents extents_;
  };

 private:
  const RowKernel& k_;
  KernelFn fn_;
  const Bound& bound_;
  const SimdKernel* by_simd_;
  Pointers shared_;
};

void RowKernel::run(KernelFn fn, const Bound& bound, const KernelRun& run) const {
  if (loops().line) return run_pieces(fn, bound, run);
  const Call call(*this, fn, bound, run);
  if (sums_.any()) return run_blocks(call);
  parallel_for(bound.rows, grain(bound), [&](int64_t begin, int64_t end) {
    const Scratch scratch(bound.scratch_bytes);
    Call::Worker(call, scratch.data()).rows(begin, end);
  });
}

Engine RowKernel::run_some(const Bound& bound, const KernelRun& run, int64_t begin,
                           int64_t end) const {
  const KernelFn fn = code().for_run(run.wanted, run.op, run.site);
  const Call call(*this, fn, bound, run);
  const Scratch scratch(bound.scratch_bytes);
  Call::Worker(call, scratch.data()).rows(begin, end);
  return fn != nullptr ? Engine::generated : Engine::simd;
}

/// The kernel gives the states of each piece where a caller has results of the line.
void RowKernel::run_pieces(KernelFn fn, const Bound& bound, const KernelRun& run) const {
  const Scratch states(states_.bytes(bound.rows));
  absl::InlinedVector<std::byte*, 16> buffers;
  const auto kept = static_cast<size_t>(loops().inputs + loops().outputs) - states_.states();
  buffers.assign(run.buffers.begin(), run.buffers.begin() + static_cast<ptrdiff_t>(kept));
  for (std::byte* place : states_.places(states.data(), bound.rows)) buffers.push_back(place);
  KernelRun with_states = run;
  with_states.buffers = buffers;
  const Call call(*this, fn, bound, with_states);
  parallel_for(bound.rows, grain(bound), [&](int64_t begin, int64_t end) {
    const Scratch scratch(bound.scratch_bytes);
    Call::Worker worker(call, scratch.data());
    for (int64_t i = begin; i < end; ++i) worker.piece(i);
  });
  states_.finish(states.data(), bound.rows, bound.line, run.buffers.subspan(kept));
}

/// Part i: a block of rows and a tile of columns.
void RowKernel::run_blocks(const Call& call) const {
  const Bound& bound = call.bound();
  const auto [blocks, tiles, each] = shares(bound);
  const int64_t parts = blocks * tiles, bytes = sums_.state_bytes(bound.columns);
  const Scratch states(static_cast<size_t>(parts * bytes));
  const auto room = static_cast<size_t>(sums_.block_bytes(bound.rows, bound.columns));
  const auto part = [&, n = blocks](int64_t i) {
    const int64_t first = i % n * RowSums::kBlock;
    return Part{columns(bound, i / n), first, std::min(bound.rows, first + RowSums::kBlock)};
  };
  const auto begin = [&](const Part& p, const Scratch& memory) {
    return sums_.begin(memory.data(), p.end - p.begin, p.columns.length);
  };
  const auto end = [&](int64_t i, const Part& p, absl::Span<std::byte* const> lanes) {
    sums_.end(lanes, p.end - p.begin, p.columns.length, states.data() + i * bytes);
  };
  if (each == 1) {
    parallel_for(parts, 1, [&](int64_t from, int64_t to) {
      const Scratch memory(room);
      for (int64_t i = from; i < to; ++i) {
        const Part p = part(i);
        const auto lanes = begin(p, memory);
        run_part(call, p, lanes, 0, 1);
        end(i, p, lanes);
      }
    });
  } else {
    std::deque<Scratch> memory;
    std::vector<std::vector<std::byte*>> lanes;
    for (int64_t i = 0; i < parts; ++i) lanes.push_back(begin(part(i), memory.emplace_back(room)));
    parallel_for(parts * each, 1, [&, n = each](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i)
        run_part(call, part(i / n), lanes[static_cast<size_t>(i / n)], i % n, n);
    });
    for (int64_t i = 0; i < parts; ++i) end(i, part(i), lanes[static_cast<size_t>(i)]);
  }
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const Columns c = columns(bound, tile);
    sums_.finish(states.data() + tile * blocks * bytes, bytes, bound.rows, c.length,
                 call.places(c));
  }
}

RowKernel::Columns RowKernel::columns(const Bound& bound, int64_t tile) {
  const int64_t first = tile * bound.columns;
  return {first, std::min(bound.columns, bound.extents.back() - first)};
}

/// All of it, or in each sixteen rows of it those whose lanes are this share's.
void RowKernel::run_part(const Call& call, const Part& part, absl::Span<std::byte* const> lanes,
                         int64_t share, int64_t shares) const {
  const Bound& bound = call.bound();
  const Scratch scratch(bound.scratch_bytes);
  const int64_t rows = shares == 1 ? grain(bound) : RowSums::kLanes / shares;
  const int64_t step = shares == 1 ? rows : RowSums::kLanes;
  const Call::Worker worker(call, scratch.data(), part.columns, lanes);
  Pace pace;
  for (int64_t at = part.begin + share * rows; at < part.end; at += step) {
    worker.rows(at, std::min(part.end, at + rows));
    pace.after(rows * part.columns.length);
  }
}

}  // namespace lathe::jit
