// Reductions over whole tensors: the axes are parted into those kept and those reduced, and results
// are computed side by side along one kept axis. Work is split across results, or, where there are
// few and each is long, into pieces of each that are subtrees of its fixed tree. Either way the
// bits are those of simd/reduce.h.
#include "kernels/own/reduce.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "core/infer/rules.h"
#include "kernels/own/copy.h"
#include "kernels/own/elementwise_launch.h"
#include "kernels/own/implementations.h"
#include "kernels/reference/reduce.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

struct Reductions {
  std::shared_mutex mutex;
  absl::flat_hash_map<std::tuple<const Op*, DType, DType, DType>, std::unique_ptr<ReducePrograms>>
      made;
};

Reductions& folds() {
  static auto& all = *new Reductions;  // programs are handed out for good
  return all;
}

}  // namespace

ScalarFunction unrolled(const ReduceBodies& bodies, int64_t count) {
  auto joined = [&](absl::Span<const Expr> a, absl::Span<const Expr> b) {
    Exprs both(a.begin(), a.end());
    both.insert(both.end(), b.begin(), b.end());
    return inline_call(bodies.combine, both);
  };
  auto body = [&](absl::Span<const Expr> x) {
    Exprs unit;
    for (size_t s = 0; s < bodies.state.size(); ++s)
      unit.push_back(constant_bits(bodies.state[s], bodies.unit[s]));
    // Element i is all there is in lane i; lanes without one hold the unit, which changes nothing.
    std::vector<Exprs> lanes;
    for (int64_t i = 0; i < count; ++i) {
      Exprs element{x[static_cast<size_t>(i)], constant_bits(DType::i64, static_cast<uint64_t>(i))};
      lanes.push_back(joined(unit, inline_call(bodies.lift, element)));
    }
    for (size_t half = kReduceLanes / 2; half > 0; half /= 2)
      for (size_t l = 0; l < half && l + half < lanes.size(); ++l)
        lanes[l] = joined(lanes[l], lanes[l + half]);
    Exprs last = lanes[0];
    last.push_back(constant_bits(DType::i64, static_cast<uint64_t>(count)));
    return inline_call(bodies.finish, last);
  };
  DType stored = bodies.lift.inputs[0];
  return build(body, std::vector<DType>(static_cast<size_t>(count), stored));
}

const Program* ReducePrograms::few(int64_t count) const {
  if (count < 1 || count > kFew || (!fold.known() && !fold.known_pick())) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& program = few_[static_cast<size_t>(count)];
  if (program == nullptr) {
    program = std::make_unique<Program>(unrolled(bodies, count));
    program->allow_code();
  }
  return program.get();
}

const ReducePrograms& reduce_of(const Op& op, const ElementTypes& types, DType stored) {
  std::tuple<const Op*, DType, DType, DType> key{&op, types.common, types.results[0], stored};
  Reductions& all = folds();
  {
    const std::shared_lock lock(all.mutex);
    auto it = all.made.find(key);
    if (it != all.made.end()) return *it->second;
  }
  auto made = std::make_unique<ReducePrograms>(reduce_bodies(op, types, stored));
  const std::lock_guard lock(all.mutex);
  return *all.made.try_emplace(key, std::move(made)).first->second;
}

namespace {

constexpr int64_t kFewResults = 32;   // from there a launch over them is worth setting up
constexpr int64_t kPiece = 512 << 7;  // elements: a subtree of 128 blocks

/// Where the elements are: all that differs from run to run of one job.
struct Places {
  const std::byte* x;
  absl::InlinedVector<std::byte*, 2> outs;
};

struct Job {
  const ReducePrograms* programs;
  DType dtype;                        // of what is reduced
  absl::InlinedVector<DType, 2> out;  // of the results
  Walk kept;     // operand 0: x; then one a result. The last axis is that of results side by side.
  Walk reduced;  // x alone
  absl::InlinedVector<ReduceAxis, 4> axes;  // the same
  int64_t results = 1, count = 1;
  std::optional<Operand> turned;  // how x lies, where what is reduced is a row-major copy of it
};

int64_t bytes_of(DType d) { return static_cast<int64_t>(size_of(d)); }

/// The kept axis along which results lie side by side: where their elements are neighbours, else
/// the last.
void choose_line(Walk& kept) {
  if (kept.shape.empty()) {
    kept.shape.push_back(1);
    for (Sizes& s : kept.strides) s.push_back(0);
    return;
  }
  size_t last = kept.shape.size() - 1;
  for (size_t i = 0; i < last; ++i)
    if (kept.strides[0][i] == 1 && kept.shape[i] > 1) {
      std::swap(kept.shape[i], kept.shape[last]);
      for (Sizes& s : kept.strides) std::swap(s[i], s[last]);
      return;
    }
}

Job make_job(const ReducePrograms& programs, const Operand& x, absl::Span<const Operand> outs,
             absl::Span<const bool> mask, bool keep_axes) {
  Job job{.programs = &programs, .dtype = x.dtype};
  for (const Operand& o : outs) job.out.push_back(o.dtype);
  Operand kept{nullptr, x.dtype, {}, {}}, gone = kept;
  absl::InlinedVector<Operand, 2> results(outs.size());
  size_t at = 0;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    Operand& side = mask[i] ? gone : kept;
    side.shape.push_back(x.shape[i]);
    side.strides.push_back(x.strides[i]);
    if (!mask[i])
      for (size_t k = 0; k < outs.size(); ++k) results[k].strides.push_back(outs[k].strides[at]);
    if (!mask[i] || keep_axes) ++at;
  }
  absl::InlinedVector<const Operand*, 3> all{&kept};
  for (Operand& o : results) all.push_back(&o);
  const Operand* alone[] = {&gone};
  job.results = kept.numel();
  job.count = gone.numel();
  job.kept = make_walk(all, kept.shape, false);
  job.reduced = make_walk(alone, gone.shape, false);
  for (size_t i = 0; i < job.reduced.shape.size(); ++i)
    job.axes.push_back({job.reduced.shape[i], job.reduced.strides[0][i]});
  choose_line(job.kept);
  return job;
}

/// Does what is reduced run along another axis than its order goes, so that each element is in
/// another line of the cache? Copying it, which turns blocks of it, is far less work.
bool against_the_grain(const Job& job) {
  constexpr int64_t kFew = 16, kLeast = 4096;
  const Sizes &shape = job.reduced.shape, &steps = job.reduced.strides[0];
  if (job.results * job.count < kLeast || shape.size() < 2 || std::abs(steps.back()) < kFew)
    return false;
  if (job.kept.shape.back() >= kFew && job.kept.strides[0].back() == 1) return false;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (steps[i] == 1 && shape[i] >= kFew) return true;
  return false;
}

Job make_job(const Op& op, Args args, const Operand& x, absl::Span<const Operand> outs) {
  const auto job_of = [&](const Operand& read) {
    return make_job(reduce_of(op, element_types(op, args), x.dtype), read, outs,
                    reduced_axes(op, args, x.rank()), args.flag(kReduceKeep));
  };
  Job job = job_of(x);
  if (!against_the_grain(job)) return job;
  job = job_of({nullptr, x.dtype, x.shape, contiguous_strides(x.shape)});
  job.turned = x;
  return job;
}

/// Where result `line * line length + start` lies, for x and every output.
struct Place {
  const std::byte* x;
  absl::InlinedVector<LineOperand, 2> out;
};
Place place(const Job& job, const Places& data, int64_t line, int64_t start) {
  size_t last = job.kept.shape.size() - 1;
  absl::InlinedVector<int64_t, 3> at(job.out.size() + 1);
  walk_offsets(job.kept, static_cast<int>(last), line, absl::MakeSpan(at));
  Place p;
  p.x = data.x + (at[0] + start * job.kept.strides[0][last]) * bytes_of(job.dtype);
  for (size_t k = 0; k < job.out.size(); ++k) {
    int64_t stride = job.kept.strides[k + 1][last];
    p.out.push_back({data.outs[k] + (at[k + 1] + start * stride) * bytes_of(job.out[k]), stride});
  }
  return p;
}

/// How many neighbouring lines are one to every result, so that they may be taken together.
int64_t lines_together(const Walk& kept) {
  const size_t last = kept.shape.size() - 1;
  if (last == 0) return 1;
  for (size_t k = 1; k < kept.strides.size(); ++k)
    if (kept.strides[k][last - 1] != kept.strides[k][last] * kept.shape[last]) return 1;
  return kept.shape[last - 1];
}

void reduce_side_by_side(const Job& job, const Places& data) {
  size_t last = job.kept.shape.size() - 1;
  int64_t length = job.kept.shape[last], stride = job.kept.strides[0][last];
  int64_t each = std::max<int64_t>(1, job.count);
  // Neighbouring columns share cache lines, and of long rows the processor fetches ahead: at least
  // 64 of them stay together, and a page where there are enough for all threads.
  const int64_t share = length / pool_threads(), wide = 4096 / bytes_of(job.dtype);
  int64_t least = stride == 1 ? std::clamp<int64_t>(share, std::min<int64_t>(64, wide), wide) : 1;
  int64_t most = std::max(least, kPiece / each), piece = std::min(length, most);
  int64_t pieces = (length + piece - 1) / piece;
  int64_t near = lines_together(job.kept),
          lines = std::min(near, std::max<int64_t>(1, most / length));
  int64_t bundles = (near + lines - 1) / lines, groups = job.results / length / near * bundles;
  const SimdLoops& set = simd_loops();
  parallel_for(groups * pieces, std::max<int64_t>(1, kPiece / (each * piece * lines)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                   int64_t start = t % pieces * piece, group = t / pieces;
                   int64_t line = group % bundles * lines;
                   Place p = place(job, data, group / bundles * near + line, start);
                   ReduceLines kept{.x_stride = stride, .results = std::min(piece, length - start)};
                   kept.lines = std::min(lines, near - line);
                   if (last > 0) kept.line_stride = job.kept.strides[0][last - 1];
                   job.programs->fold.run(p.x, kept, job.axes, p.out, set);
                 }
               });
}

void reduce_in_pieces(const Job& job, const Places& data) {
  const ReduceProgram& fold = job.programs->fold;
  int64_t length = job.kept.shape.back(), pieces = (job.count + kPiece - 1) / kPiece;
  size_t words = fold.states();
  const SimdLoops& set = simd_loops();
  std::vector<uint64_t> states(static_cast<size_t>(pieces) * words);
  for (int64_t r = 0; r < job.results; ++r) {
    Place p = place(job, data, r / length, r % length);
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        fold.piece(p.x, job.axes, i * kPiece, std::min(job.count, (i + 1) * kPiece),
                   absl::MakeSpan(&states[static_cast<size_t>(i) * words], words), set);
    });
    fold.finish(absl::MakeSpan(states), job.count, p.out, set);
  }
}

/// Reductions of a few elements: a launch over the results, with an operand an element.
void reduce_few(const Job& job, const Places& data, const Program& program) {
  ElementwiseLaunch launch;
  launch.program = &program;
  auto axes = static_cast<int>(job.reduced.shape.size());
  for (int64_t i = 0; i < job.count; ++i) {
    int64_t at[1];
    walk_offsets(job.reduced, axes, i, absl::MakeSpan(at));
    // Inputs of a launch are only read.
    auto* x = const_cast<std::byte*>(data.x + at[0] * bytes_of(job.dtype));
    launch.ins.push_back({x, job.dtype, job.kept.shape, job.kept.strides[0]});
  }
  for (size_t k = 0; k < job.out.size(); ++k)
    launch.outs.push_back({data.outs[k], job.out[k], job.kept.shape, job.kept.strides[k + 1]});
  run_elementwise(launch);
}

void reduce(const Job& job, const Places& data) {
  if (job.results == 0) return;
  const Program* body = job.results < kFewResults ? nullptr : job.programs->few(job.count);
  if (body != nullptr) return reduce_few(job, data, *body);
  bool few = job.results <= 4 && job.count >= 2 * kPiece;
  few ? reduce_in_pieces(job, data) : reduce_side_by_side(job, data);
}

void reduce_by_reference(const Job& job, const Places& data) {
  const ReduceBodies& bodies = job.programs->bodies;
  int64_t bytes = bytes_of(job.dtype);
  int64_t length = job.kept.shape.back();
  parallel_for(job.results, std::max<int64_t>(1, 256 / std::max<int64_t>(1, job.count)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   Place p = place(job, data, r / length, r % length);
                   auto state = reference::reduce_tree(bodies, job.count, [&](int64_t i) {
                     int64_t inside[1];
                     walk_offsets(job.reduced, static_cast<int>(job.reduced.shape.size()), i,
                                  absl::MakeSpan(inside));
                     reference::State element;
                     reference::read_element(job.dtype, p.x + inside[0] * bytes, element);
                     return element;
                   });
                   auto results = reference::finish(bodies, state, job.count);
                   const uint64_t* at = results.data();
                   for (size_t k = 0; k < job.out.size(); ++k)
                     at = reference::write_element(job.out[k], p.out[k].data, at);
                 }
               });
}

using Reduction = void(const Job&, const Places&);

void perform(const Job& job, const Places& data, Reduction* run) {
  if (!job.turned) return run(job, data);
  Operand from = *job.turned;
  from.data = const_cast<std::byte*>(data.x);  // only read
  const Scratch room(static_cast<size_t>(from.numel() * bytes_of(from.dtype)));
  copy_elements(from, {room.data(), from.dtype, from.shape, contiguous_strides(from.shape)});
  run(job, {room.data(), data.outs});
}

void run_with(const Call& call, Outputs& outputs, Reduction* run) {
  Tensor x = call.args.tensor(0);
  Operand in = operand(x);
  Places data{in.data, {}};
  absl::InlinedVector<Operand, 2> outs;
  for (size_t k = 0; k < call.types.size(); ++k) {
    outputs.push_back(result_of(call, k));
    outs.push_back(operand(outputs.back()));
    data.outs.push_back(outs.back().data);
  }
  Job job = make_job(call.op, call.args, in, outs);
  submit(x.device(), {x}, outputs,
         [job = std::move(job), data = std::move(data), run] { perform(job, data, run); });
}

struct ReducePlan final : Prepared {
  explicit ReducePlan(Job j) : job(std::move(j)) {}
  Job job;
};

void run_prepared(const Prepared& plan, const Launch& launch, Reduction* run) {
  perform(static_cast<const ReducePlan&>(plan).job, {launch.a, {launch.out}}, run);
}

}  // namespace

void run_reduce(const Call& call, Outputs& outputs) { run_with(call, outputs, reduce); }
void run_reduce_by_reference(const Call& call, Outputs& outputs) {
  run_with(call, outputs, reduce_by_reference);
}

PreparedRef reduce_prepare(const Entry&, const Problem& problem) {
  return std::make_unique<ReducePlan>(
      make_job(problem.op, problem.args, problem.in[0], absl::MakeConstSpan(&problem.out, 1)));
}
void reduce_run(const Entry&, const Prepared& plan, const Launch& launch) {
  run_prepared(plan, launch, reduce);
}
void reduce_run_by_reference(const Entry&, const Prepared& plan, const Launch& launch) {
  run_prepared(plan, launch, reduce_by_reference);
}

}  // namespace lathe::own
