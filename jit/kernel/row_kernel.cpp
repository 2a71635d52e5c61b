#include "jit/kernel/row_kernel.h"

#include <algorithm>
#include <deque>

#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

constexpr int64_t kAlign = 64;
/// Operations that a thread takes at a time.
constexpr int64_t kGrain = 1 << 17;

}  // namespace

RowKernel::RowKernel(LoweredRows lowered)
    : lowered_(std::move(lowered)), sums_(loops()), states_(lowered_.of_line), code_([this] {
        return [kernel = loops()](Effort effort) { return get_kernel(kernel, effort); };
      }) {
  const Kernel& k = loops();
  const auto place = [&](const Access& a) {
    const Buf& buf = k.buffers[static_cast<size_t>(a.buf)];
    places_.push_back({a.buf, -1, static_cast<int64_t>(size_of(buf.dtype)), &a});
  };
  each_operand(
      k.body,
      [&](const Operand& o) {
        if (const auto* access = std::get_if<Access>(&o)) return place(*access);
        places_.push_back({-1, std::get<Uniform>(o).slot, 1, nullptr});
      },
      place);
}

RowKernel::Bound RowKernel::bind(const std::function<int64_t(Int)>& value) const {
  const Kernel& k = loops();
  Bound b;
  b.rows = 1;
  for (const Axis& a : k.axes) b.extents.push_back(value(a.extent));
  for (int a = 0; a < k.parallel; ++a) b.rows *= b.extents[static_cast<size_t>(a)];
  for (const Place& p : places_) {
    b.offsets.push_back(p.access == nullptr ? 0 : value(p.access->map.offset) * p.item);
    for (size_t a = 0; a < k.axes.size(); ++a)
      b.strides.push_back(p.access == nullptr ? 0 : value(p.access->map.along(a)) * p.item);
  }
  // Lanes have one place, whatever the position.
  b.strides.resize(b.strides.size() + sums_.lines() * k.axes.size());
  b.locals.resize(k.buffers.size());
  int64_t bytes = 0;
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buf& buf = k.buffers[i];
    if (buf.space != Space::local) continue;
    b.locals[i] = bytes;
    bytes += together() * value(buf.elements) * static_cast<int64_t>(size_of(buf.dtype));
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  }
  b.scratch_bytes = static_cast<size_t>(bytes);
  if (k.line) b.line = value(*k.line);
  b.row_work = 64 + b.extents.back() * std::max<int64_t>(1, k.facts.flops_per_element);
  return b;
}

int64_t RowKernel::grain(const Bound& bound) const {
  return std::max(together(), kGrain / bound.row_work / together() * together());
}

RowKernel::Shares RowKernel::shares(const Bound& bound) const {
  constexpr int64_t kMost = RowSums::kLanes / kRowsTogether;
  const int64_t blocks = (bound.rows + RowSums::kBlock - 1) / RowSums::kBlock;
  const bool few = pool_threads() > 1 && blocks < 2 * pool_threads();
  return {blocks, few && bound.rows >= RowSums::kLanes ? kMost : 1};
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
  const int64_t length = bound.extents.back();
  const auto [blocks, each] = shares(bound);
  const int64_t threads = std::min<int64_t>(pool_threads(), blocks * each);
  const int64_t lanes = sums_.block_bytes(bound.rows, length);
  return times(1, blocks * sums_.state_bytes(length)) + times(threads, scratch) +
         times(each > 1 ? blocks : threads, lanes);
}

Engine RowKernel::run(const Bound& bound, const KernelRun& run) const {
  if (bound.rows == 0 && rows_are_apart()) return Engine::none;
  const KernelFn fn = code_.for_run(run.wanted, run.op, run.site);
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
    for (size_t i = 0; i < k_.places_.size(); ++i) {
      const Place& p = k_.places_[i];
      std::byte* at = nullptr;  // a local: each thread has its own
      if (p.uniform >= 0) {
        const uint64_t* bits = &run.uniforms[static_cast<size_t>(p.uniform)];
        at = reinterpret_cast<std::byte*>(const_cast<uint64_t*>(bits));  // read only
      } else if (!local(p)) {
        at = run.buffers[static_cast<size_t>(p.buffer)] + bound.offsets[i];
      }
      shared_.push_back(at);
    }
  }

  const Bound& bound() const { return bound_; }
  absl::Span<std::byte* const> places() const { return shared_; }

  /// A thread's own: with its locals in `scratch`, and the lanes of reductions over rows.
  class Worker {
   public:
    Worker(const Call& call, std::byte* scratch, absl::Span<std::byte* const> lanes)
        : call_(call), operands_(call.shared_.size()), places_(call.shared_) {
      const RowKernel& k = call.k_;
      for (size_t i = 0; i < operands_; ++i)
        if (call.local(k.places_[i]))
          places_[i] = scratch + call.bound_.locals[static_cast<size_t>(k.places_[i].buffer)];
      places_.insert(places_.end(), lanes.begin(), lanes.end());
    }
    void rows(int64_t begin, int64_t end) const { run(call_.bound_.extents, begin, end); }
    /// One piece of a line.
    void piece(int64_t which) const {
      const Bound& b = call_.bound_;
      absl::InlinedVector<int64_t, 4> extents = b.extents;
      extents.back() = std::min(extents.back(), b.line - which * extents.back());
      run(extents, which, which + 1);
    }

   private:
    void run(absl::Span<const int64_t> extents, int64_t begin, int64_t end) const {
      const Bound& b = call_.bound_;
      if (call_.by_simd_ != nullptr) {
        const auto all = absl::MakeConstSpan(places_);
        const auto own = all.first(operands_), lanes = all.subspan(operands_);
        return call_.by_simd_->run({own, extents, b.strides, begin, end, lanes});
      }
      KernelArgs args;
      args.data = places_.data();
      args.extents = extents.data();
      args.strides = b.strides.data();
      args.begin = begin;
      args.end = end;
      call_.fn_(&args);
    }

    const Call& call_;
    size_t operands_;
    absl::InlinedVector<std::byte*, 24> places_;
  };

 private:
  bool local(const Place& p) const {
    return p.buffer >= 0 && k_.loops().buffers[static_cast<size_t>(p.buffer)].space == Space::local;
  }

  const RowKernel& k_;
  KernelFn fn_;
  const Bound& bound_;
  const SimdKernel* by_simd_;
  absl::InlinedVector<std::byte*, 24> shared_;
};

void RowKernel::run(KernelFn fn, const Bound& bound, const KernelRun& run) const {
  if (loops().line) return run_pieces(fn, bound, run);
  const Call call(*this, fn, bound, run);
  if (sums_.any()) return run_blocks(call);
  parallel_for(bound.rows, grain(bound), [&](int64_t begin, int64_t end) {
    const Scratch scratch(bound.scratch_bytes);
    Call::Worker(call, scratch.data(), {}).rows(begin, end);
  });
}

Engine RowKernel::run_some(const Bound& bound, const KernelRun& run, int64_t begin,
                           int64_t end) const {
  const KernelFn fn = code_.for_run(run.wanted, run.op, run.site);
  const Call call(*this, fn, bound, run);
  const Scratch scratch(bound.scratch_bytes);
  Call::Worker(call, scratch.data(), {}).rows(begin, end);
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
    const Call::Worker worker(call, scratch.data(), {});
    for (int64_t i = begin; i < end; ++i) worker.piece(i);
  });
  states_.finish(states.data(), bound.rows, bound.line, run.buffers.subspan(kept));
}

void RowKernel::run_blocks(const Call& call) const {
  const Bound& bound = call.bound();
  const int64_t length = bound.extents.back();
  const auto [blocks, each] = shares(bound);
  const Scratch states(static_cast<size_t>(blocks * sums_.state_bytes(length)));
  const auto rows_of = [&](int64_t b) {
    return std::min(RowSums::kBlock, bound.rows - b * RowSums::kBlock);
  };
  const auto room = static_cast<size_t>(sums_.block_bytes(bound.rows, length));
  const auto end_block = [&](int64_t b, absl::Span<std::byte* const> lanes) {
    sums_.end(lanes, rows_of(b), length, states.data() + b * sums_.state_bytes(length));
  };
  if (each == 1) {
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      const Scratch memory(room);
      for (int64_t b = begin; b < end; ++b) {
        const auto lanes = sums_.begin(memory.data(), rows_of(b), length);
        run_block(call, lanes, b, 0, 1);
        end_block(b, lanes);
      }
    });
  } else {
    std::deque<Scratch> memory;
    std::vector<std::vector<std::byte*>> lanes;
    for (int64_t b = 0; b < blocks; ++b)
      lanes.push_back(sums_.begin(memory.emplace_back(room).data(), rows_of(b), length));
    parallel_for(blocks * each, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        run_block(call, lanes[static_cast<size_t>(i / each)], i / each, i % each, each);
    });
    for (int64_t b = 0; b < blocks; ++b) end_block(b, lanes[static_cast<size_t>(b)]);
  }
  sums_.finish(states.data(), bound.rows, length, call.places());
}

/// A block, or in each sixteen rows of it those whose lanes are this share's.
void RowKernel::run_block(const Call& call, absl::Span<std::byte* const> lanes, int64_t block,
                          int64_t share, int64_t shares) const {
  const Bound& bound = call.bound();
  const Scratch scratch(bound.scratch_bytes);
  const int64_t first = block * RowSums::kBlock,
                last = std::min(bound.rows, first + RowSums::kBlock);
  const int64_t rows = shares == 1 ? grain(bound) : RowSums::kLanes / shares;
  const int64_t step = shares == 1 ? rows : RowSums::kLanes;
  const Call::Worker worker(call, scratch.data(), lanes);
  Pace pace;
  for (int64_t at = first + share * rows; at < last; at += step) {
    worker.rows(at, std::min(last, at + rows));
    pace.after(rows * bound.extents.back());
  }
}

std::string RowKernel::vectors() const {
  const CodegenOrReason& llvm = open_codegen();
  if (llvm.codegen == nullptr) return llvm.reason + "\n";
  const Result<std::string> text =
      llvm.codegen->print(with_lowered_functions(loops()), llvm.codegen->host());
  return text ? text.value : text.error + "\n";
}

}  // namespace lathe::jit
