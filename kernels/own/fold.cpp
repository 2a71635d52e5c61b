#include "kernels/own/fold.h"

#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>

#include <algorithm>

#include "core/error.h"
#include "core/infer/rules.h"
#include "kernels/launch.h"
#include "kernels/own/kinds.h"
#include "kernels/pool.h"
#include "kernels/reference/fold.h"

namespace lathe::own {
namespace {

struct Folds {
  absl::Mutex mutex;
  absl::flat_hash_map<std::tuple<const Op*, DType, DType, DType>, std::unique_ptr<FoldBodies>> made;
};

Folds& folds() {
  static auto& all = *new Folds;
  return all;
}

}  // namespace

const FoldBodies& fold_of(const Op& op, const ElementTypes& types, DType stored) {
  std::tuple<const Op*, DType, DType, DType> key{&op, types.common, types.results[0], stored};
  Folds& all = folds();
  {
    absl::ReaderMutexLock lock(&all.mutex);
    auto it = all.made.find(key);
    if (it != all.made.end()) return *it->second;
  }
  auto made = std::make_unique<FoldBodies>(fold_bodies(op, types, stored));
  absl::MutexLock lock(&all.mutex);
  return *all.made.try_emplace(key, std::move(made)).first->second;
}

namespace {

Parted part(const Operand& x, absl::Span<const bool> mask, absl::Span<const Operand> outs, bool keep) {
  Parted p;
  Operand kept{x.data, x.dtype, {}, {}}, gone = kept;
  absl::InlinedVector<Operand, 2> results(outs.begin(), outs.end());
  for (Operand& o : results) {
    o.shape.clear();
    o.strides.clear();
  }
  size_t at = 0;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    Operand& side = mask[i] ? gone : kept;
    side.shape.push_back(x.shape[i]);
    side.strides.push_back(x.strides[i]);
    if (!mask[i])
      for (size_t k = 0; k < outs.size(); ++k) results[k].strides.push_back(outs[k].strides[at]);
    if (!mask[i] || keep) ++at;
  }
  absl::InlinedVector<const Operand*, 3> all{&kept};
  for (Operand& o : results) {
    o.shape = kept.shape;
    all.push_back(&o);
  }
  const Operand* alone[] = {&gone};
  p.outputs = kept.numel();
  p.count = gone.numel();
  p.kept = make_walk(all, kept.shape, false);
  p.reduced = make_walk(alone, gone.shape, false);
  return p;
}

struct Job {
  const FoldBodies* fold;
  Operand x;
  absl::InlinedVector<Operand, 2> outs;
  Parted parted;
};

void reduce_by_reference(const Job& job) {
  const FoldBodies& fold = *job.fold;
  size_t bytes = size_of(job.x.dtype);
  int64_t grain = std::max<int64_t>(1, 256 / std::max<int64_t>(1, job.parted.count));
  parallel_for(job.parted.outputs, grain, [&](int64_t begin, int64_t end) {
    absl::InlinedVector<int64_t, 3> at(job.outs.size() + 1);
    for (int64_t o = begin; o < end; ++o) {
      walk_offsets(job.parted.kept, static_cast<int>(job.parted.kept.shape.size()), o, absl::MakeSpan(at));
      auto element = [&](int64_t i) {
        int64_t inside[1];
        walk_offsets(job.parted.reduced, static_cast<int>(job.parted.reduced.shape.size()), i,
                     absl::MakeSpan(inside));
        return reference::read_bits(job.x.data + (at[0] + inside[0]) * static_cast<int64_t>(bytes), bytes);
      };
      auto state = reference::fold_tree(fold, job.parted.count, element);
      auto results = reference::finish(fold, state, job.parted.count);
      for (size_t k = 0; k < job.outs.size(); ++k) {
        size_t size = size_of(job.outs[k].dtype);
        reference::write_bits(job.outs[k].data + at[k + 1] * static_cast<int64_t>(size), size, results[k]);
      }
    }
  });
}

void scan_by_reference(const Job& job, size_t axis) {
  const FoldBodies& fold = *job.fold;
  Walk w;
  w.shape = job.x.shape;
  w.strides = {job.x.strides, job.outs[0].strides};
  w.shape.erase(w.shape.begin() + static_cast<ptrdiff_t>(axis));
  for (Sizes& s : w.strides) s.erase(s.begin() + static_cast<ptrdiff_t>(axis));
  int64_t n = job.x.shape[axis], lines = job.x.numel() / std::max<int64_t>(1, n);
  auto in = static_cast<int64_t>(size_of(job.x.dtype)), out = static_cast<int64_t>(size_of(job.outs[0].dtype));
  parallel_for(lines, std::max<int64_t>(1, 256 / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t at[2];
      walk_offsets(w, static_cast<int>(w.shape.size()), line, absl::MakeSpan(at));
      auto state = reference::unit(fold);
      for (int64_t i = 0; i < n; ++i) {
        const std::byte* from = job.x.data + (at[0] + i * job.x.strides[axis]) * in;
        std::byte* to = job.outs[0].data + (at[1] + i * job.outs[0].strides[axis]) * out;
        uint64_t element = reference::read_bits(from, static_cast<size_t>(in));
        state = reference::combine(fold, state, reference::lift(fold, element, i));
        reference::write_bits(to, static_cast<size_t>(out), reference::finish(fold, state, i + 1)[0]);
      }
    }
  });
}

Job make_job(const Call& call, Outputs& outputs) {
  Job job;
  Tensor x = call.args.tensor(0);
  job.fold = &fold_of(call.op, element_types(call.op, call.args), x.dtype());
  job.x = operand(x);
  for (const TensorType& t : call.types) {
    outputs.push_back(empty(t));
    job.outs.push_back(operand(outputs.back()));
  }
  return job;
}

}  // namespace

void run_reduce(const Call& call, Outputs& outputs) {
  Job job = make_job(call, outputs);
  auto mask = reduced_axes(call.op, call.args, job.x.rank());
  job.parted = part(job.x, mask, job.outs, call.args.flag(kReduceKeep));
  Tensor x = call.args.tensor(0);
  submit(x.device(), {x}, outputs, [job = std::move(job)] {
    if (job.parted.outputs > 0) reduce_by_reference(job);
  });
}

void run_scan(const Call& call, Outputs& outputs) {
  Job job = make_job(call, outputs);
  Tensor x = call.args.tensor(0);
  int axis = normalise_axis(call.op.name(), call.args.integer(kScanDim).value(), x.rank());
  if (x.rank() == 0)
    for (Operand* o : {&job.x, &job.outs[0]}) {
      o->shape.push_back(1);
      o->strides.push_back(1);
    }
  submit(x.device(), {x}, outputs, [job = std::move(job), axis] {
    if (job.x.numel() > 0) scan_by_reference(job, static_cast<size_t>(axis));
  });
}

}  // namespace lathe::own
