// Scans: an ascending left fold along one axis that keeps every prefix. It starts from the monoid's
// unit.
//
// A scan cannot be split along its axis, so speed comes from the other axes. Where enough of them
// lie side by side, whole strips of states take a step at a time; else lines are taken in groups of
// eight, whose chains of additions hide each other's latency. A line has no end to its length, so
// each loop along one asks from time to time whether the work is still wanted.
#include <algorithm>
#include <array>

#include "core/infer/rules.h"
#include "core/scalar.h"
#include "kernels/launch.h"
#include "kernels/own/fold.h"
#include "kernels/own/kinds.h"
#include "kernels/pool.h"
#include "kernels/reference/fold.h"
#include "kernels/scratch.h"

namespace lathe::own {
namespace {

constexpr int64_t kWide = 32;       // lanes from which stepping strips pays
constexpr int64_t kLanes = 1024;    // lanes to a strip
constexpr int64_t kStretch = 1024;  // elements of a line at a time
constexpr int kTogether = 8;        // lines

struct Job {
  const FoldPrograms* programs;
  Operand x, out;
  size_t axis = 0;
  Walk lines;  // operands x, out, without the axis; the last axis is that of lanes
  int64_t length = 0, lanes = 1, rows = 1;
};

const std::byte* element(const Operand& o, int64_t at) {
  return o.data + at * static_cast<int64_t>(size_of(o.dtype));
}
std::byte* mutable_element(const Operand& o, int64_t at) {
  return o.data + at * static_cast<int64_t>(size_of(o.dtype));
}

// ── strips of states ────────────────────────────────────────────────────────────────────────────

/// Room for one strip of every state.
class States {
 public:
  explicit States(const FoldBodies& bodies) : room_(bodies.state.size() * kLanes * 8) {
    for (size_t k = 0; k < bodies.state.size(); ++k)
      at_.push_back({room_.data() + k * kLanes * 8, 1});
  }
  absl::Span<const LineOperand> lines() const { return at_; }

 private:
  Scratch room_;
  absl::InlinedVector<LineOperand, 3> at_;
};

/// One dtype's unit in every lane.
void fill_units(const FoldBodies& bodies, const States& states, int64_t lanes) {
  auto unit = reference::unit(bodies);
  for (size_t k = 0; k < unit.size(); ++k) {
    size_t bytes = size_of(bodies.state[k]);
    for (int64_t l = 0; l < lanes; ++l)
      reference::write_bits(states.lines()[k].data + static_cast<size_t>(l) * bytes, bytes,
                            unit[k]);
  }
}

void step_strip(const Job& job, int64_t x_at, int64_t out_at, int64_t lanes, const States& states,
                const States& lifted) {
  const FoldPrograms& p = *job.programs;
  size_t last = job.lines.shape.size() - 1;
  int64_t x_lane = job.lines.strides[0][last], out_lane = job.lines.strides[1][last];
  fill_units(p.bodies, states, lanes);
  absl::InlinedVector<LineOperand, 6> both(states.lines().begin(), states.lines().end());
  both.insert(both.end(), lifted.lines().begin(), lifted.lines().end());
  absl::InlinedVector<LineOperand, 4> counted(states.lines().begin(), states.lines().end());
  int64_t count = 0, index = 0;
  counted.push_back({reinterpret_cast<std::byte*>(&count), 0});
  LineContext context;
  for (; index < job.length; ++index) {
    check_cancelled();
    std::byte* from = mutable_element(job.x, x_at + index * job.x.strides[job.axis]);
    LineOperand in[] = {{from, x_lane}, {reinterpret_cast<std::byte*>(&index), 0}};
    p.lift.run(in, lifted.lines(), lanes, context);
    p.combine.run(both, states.lines(), lanes, context);
    count = index + 1;
    LineOperand to[] = {
        {mutable_element(job.out, out_at + index * job.out.strides[job.axis]), out_lane}};
    p.finish.run(counted, to, lanes, context);
  }
}

void scan_strips(const Job& job) {
  int64_t pieces = (job.lanes + kLanes - 1) / kLanes;
  size_t last = job.lines.shape.size() - 1;
  int64_t grain = std::max<int64_t>(1, 16384 / (job.length * std::min(job.lanes, kLanes)));
  parallel_for(job.rows * pieces, grain, [&](int64_t begin, int64_t end) {
    States states(job.programs->bodies), lifted(job.programs->bodies);
    for (int64_t t = begin; t < end; ++t) {
      int64_t at[2], lane = t % pieces * kLanes;
      walk_offsets(job.lines, static_cast<int>(last), t / pieces, absl::MakeSpan(at));
      step_strip(job, at[0] + lane * job.lines.strides[0][last],
                 at[1] + lane * job.lines.strides[1][last], std::min(kLanes, job.lanes - lane),
                 states, lifted);
    }
  });
}

// ── lines of one known fold ─────────────────────────────────────────────────────────────────────
struct Sum {
  template <class T>
  static T combine(T a, T b) {
    return scalar::add(a, b);
  }
};
struct Product {
  template <class T>
  static T combine(T a, T b) {
    return scalar::mul(a, b);
  }
};

/// values[r * kStretch + i] becomes the fold of everything of line r up to i.
template <class F, class T>
void run_chains(T* values, int lines, int64_t n, T* carried) {
  if (lines == kTogether) {
    T s[kTogether];
    std::copy_n(carried, kTogether, s);
    for (int64_t i = 0; i < n; ++i)
      for (int r = 0; r < kTogether; ++r) {
        T& v = values[r * kStretch + i];
        v = s[r] = F::combine(s[r], v);
      }
    std::copy_n(s, kTogether, carried);
    return;
  }
  for (int r = 0; r < lines; ++r) {
    T s = carried[r];
    for (int64_t i = 0; i < n; ++i) {
      T& v = values[r * kStretch + i];
      v = s = F::combine(s, v);
    }
    carried[r] = s;
  }
}

template <class F, class T>
void scan_lines(const Job& job) {
  const FoldPrograms& p = *job.programs;
  int64_t lines = job.rows * job.lanes, groups = (lines + kTogether - 1) / kTogether;
  T unit;
  std::memcpy(&unit, &p.bodies.unit[0], sizeof unit);
  int64_t x_step = job.x.strides[job.axis], out_step = job.out.strides[job.axis];
  parallel_for(
      groups, std::max<int64_t>(1, 16384 / (job.length * kTogether)),
      [&](int64_t begin, int64_t end) {
        Scratch room(sizeof(T) * kTogether * kStretch);
        T* values = room.as<T>();
        for (int64_t g = begin; g < end; ++g) {
          int64_t first = g * kTogether;
          int together = static_cast<int>(std::min<int64_t>(kTogether, lines - first));
          int64_t at[kTogether][2];
          for (int r = 0; r < together; ++r)
            walk_offsets(job.lines, static_cast<int>(job.lines.shape.size()), first + r,
                         absl::MakeSpan(at[r]));
          T carried[kTogether];
          std::fill(carried, carried + kTogether, unit);
          for (int64_t i = 0; i < job.length; i += kStretch) {
            check_cancelled();
            int64_t n = std::min(kStretch, job.length - i);
            LineContext context;
            for (int r = 0; r < together; ++r) {
              int64_t index = 0;  // not asked for by these folds
              LineOperand in[] = {{mutable_element(job.x, at[r][0] + i * x_step), x_step},
                                  {reinterpret_cast<std::byte*>(&index), 0}};
              LineOperand to[] = {{reinterpret_cast<std::byte*>(values + r * kStretch), 1}};
              p.lift.run(in, to, n, context);
            }
            run_chains<F, T>(values, together, n, carried);
            for (int r = 0; r < together; ++r) {
              int64_t count = 1;  // nor this
              LineOperand in[] = {{reinterpret_cast<std::byte*>(values + r * kStretch), 1},
                                  {reinterpret_cast<std::byte*>(&count), 0}};
              LineOperand to[] = {{mutable_element(job.out, at[r][1] + i * out_step), out_step}};
              p.finish.run(in, to, n, context);
            }
          }
        }
      });
}

template <class F>
bool scan_lines_of(const Job& job, DType state) {
  switch (state) {
    case DType::f32:
      scan_lines<F, float>(job);
      return true;
    case DType::f64:
      scan_lines<F, double>(job);
      return true;
    case DType::i32:
      scan_lines<F, int32_t>(job);
      return true;
    case DType::i64:
      scan_lines<F, int64_t>(job);
      return true;
    default:
      return false;
  }
}

bool reads(const ScalarFunction& f, uint64_t input) {
  for (const ExprNode& n : f.graph.nodes())
    if (n.prim == Prim::input && n.payload == input) return true;
  return false;
}

bool known_lines(const Job& job) {
  const FoldPrograms& p = *job.programs;
  auto fold = p.fold.known();
  if (!fold || p.bodies.state.size() != 1 || reads(p.bodies.lift, 1) || reads(p.bodies.finish, 1))
    return false;
  if (*fold == Fold::sum) return scan_lines_of<Sum>(job, p.bodies.state[0]);
  if (*fold == Fold::prod) return scan_lines_of<Product>(job, p.bodies.state[0]);
  return false;
}

void scan(const Job& job) {
  if (job.lanes < kWide && known_lines(job)) return;
  scan_strips(job);
}

void scan_by_reference(const Job& job) {
  const FoldBodies& fold = job.programs->bodies;
  size_t in = size_of(job.x.dtype), out = size_of(job.out.dtype);
  int64_t lines = job.rows * job.lanes;
  parallel_for(lines, std::max<int64_t>(1, 256 / job.length), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t at[2];
      walk_offsets(job.lines, static_cast<int>(job.lines.shape.size()), line, absl::MakeSpan(at));
      auto state = reference::unit(fold);
      for (int64_t i = 0; i < job.length; ++i) {
        if (i % kStretch == 0) check_cancelled();
        uint64_t x = reference::read_bits(element(job.x, at[0] + i * job.x.strides[job.axis]), in);
        state = reference::combine(fold, state, reference::lift(fold, x, i));
        reference::write_bits(mutable_element(job.out, at[1] + i * job.out.strides[job.axis]), out,
                              reference::finish(fold, state, i + 1)[0]);
      }
    }
  });
}

/// Axes but the scanned one, collapsed; lanes are those whose elements are neighbours, else the
/// last.
void arrange(Job& job) {
  Operand x = job.x, out = job.out;
  for (Operand* o : {&x, &out}) {
    o->shape.erase(o->shape.begin() + static_cast<ptrdiff_t>(job.axis));
    o->strides.erase(o->strides.begin() + static_cast<ptrdiff_t>(job.axis));
  }
  const Operand* both[] = {&x, &out};
  job.lines = make_walk(both, x.shape, false);
  if (job.lines.shape.empty()) {
    job.lines.shape.push_back(1);
    for (Sizes& s : job.lines.strides) s.push_back(0);
  }
  job.length = job.x.shape[job.axis];
  job.lanes = job.lines.shape.back();
  job.rows = job.lanes == 0 ? 0 : x.numel() / job.lanes;
  // Along the scanned axis itself lies the memory: lanes would be far apart.
  if (job.x.strides[job.axis] == 1 && job.programs->fold.known()) {
    job.rows *= job.lanes;
    job.lines.shape.push_back(1);
    for (Sizes& s : job.lines.strides) s.push_back(0);
    job.lanes = 1;
  }
}

void run_with(const Call& call, Outputs& outputs, void (*run)(const Job&)) {
  Job job;
  Tensor x = call.args.tensor(0);
  int axis = normalise_axis(call.op.name(), call.args.integer(kScanDim).value(), x.rank());
  job.programs = &fold_of(call.op, element_types(call.op, call.args), x.dtype());
  outputs.push_back(empty(call.types[0]));
  job.x = operand(x);
  job.out = operand(outputs[0]);
  if (x.rank() == 0)
    for (Operand* o : {&job.x, &job.out}) {
      o->shape.push_back(1);
      o->strides.push_back(1);
    }
  job.axis = static_cast<size_t>(axis);
  arrange(job);
  submit(x.device(), {x}, outputs, [job = std::move(job), run] {
    if (job.x.numel() > 0) run(job);
  });
}

}  // namespace

void run_scan(const Call& call, Outputs& outputs) { run_with(call, outputs, scan); }
void run_scan_by_reference(const Call& call, Outputs& outputs) {
  run_with(call, outputs, scan_by_reference);
}

}  // namespace lathe::own
