// Scans that give the place of the extremum so far: of equal ones, and of NaNs, the last. A place
// is what it is in whatever order one looks for it, so there are no blocks here.
//
// Two ways to it:
//   lines   where few lanes lie side by side: some elements at a time, which are looked at one by
//           one only if a place changes among them
//   strips  neighbouring lanes take a step together
#include <algorithm>
#include <memory>

#include "kernels/own/scan.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

/// The later of two (value, place) pairs unless the earlier beats it, as the definitions write it.
Exprs later(bool highest, absl::Span<const Expr> in) {
  Expr take = highest ? le(in[0], in[2]) : le(in[2], in[0]);
  if (is_floating(in[0].dtype())) take = take | isnan(in[2]);
  return {select(take, in[2], in[0]), select(take, in[3], in[1])};
}

/// Does x take the place of the best so far?
template <bool kHighest, class T>
bool takes(T x, T best) {
  return (kHighest ? best <= x : x <= best) || x != x;  // NOLINT(misc-redundant-expression): NaN
}

template <bool kHighest, class T>
class Line {
 public:
  explicit Line(T unit) : best_(unit) {}

  /// Elements [begin, end) of a line.
  void run(const T* x, int64_t x_step, int64_t* out, int64_t out_step, int64_t begin, int64_t end) {
    int64_t i = begin;
    if (x_step == 1 && out_step == 1)
      for (; i + kAtOnce <= end; i += kAtOnce) {
        if (any(x + i)) {
          for (int64_t k = i; k < i + kAtOnce; ++k) out[k] = step(x[k], k);
        } else {
          for (int64_t k = 0; k < kAtOnce; ++k) out[i + k] = at_;
        }
      }
    for (; i < end; ++i) out[i * out_step] = step(x[i * x_step], i);
  }

 private:
  static constexpr int64_t kAtOnce = 16;

  bool any(const T* x) const {
    bool found = false;
    for (int64_t k = 0; k < kAtOnce; ++k) found |= takes<kHighest>(x[k], best_);
    return found;
  }
  int64_t step(T x, int64_t i) {
    if (takes<kHighest>(x, best_)) best_ = x, at_ = i;
    return at_;
  }

  T best_;
  int64_t at_ = 0;
};

/// The state's first part as it lies in x.
bool as_it_lies(const ScanJob& job) {
  const ScalarFunction& lift = job.programs->bodies.lift;
  const ExprNode& n = lift.graph[lift.outputs[0]];
  return n.prim == Prim::input && n.payload == 0 && job.x.dtype == job.programs->bodies.state[0];
}

/// Elements as states, where they have to be converted.
template <class T>
class Lifted {
 public:
  explicit Lifted(const ScanJob& job)
      : job_(job), plain_(as_it_lies(job)), room_(plain_ ? 1 : kMost * (sizeof(T) + 8)) {}

  static constexpr int64_t kMost = kScanLanes;  // elements at a time

  /// n of them; `step` becomes what lies between two.
  const T* of(std::byte* x, int64_t& step, int64_t n) {
    if (plain_) return reinterpret_cast<const T*>(x);
    int64_t index = 0;  // the place is counted, not read
    const LineOperand in[] = {{x, step}, {reinterpret_cast<std::byte*>(&index), 0}};
    const LineOperand out[] = {{room_.data() + kMost * 8, 1}, {room_.data(), 1}};
    job_.programs->lift.run(in, out, n, context_);
    step = 1;
    return reinterpret_cast<const T*>(room_.data() + kMost * 8);
  }

 private:
  const ScanJob& job_;
  bool plain_;
  Scratch room_;
  LineContext context_;
};

template <class T>
T unit_of(const ScanJob& job) {
  T unit;
  std::memcpy(&unit, job.programs->bodies.unit.data(), sizeof unit);
  return unit;
}

template <bool kHighest, class T>
void scan_lines(const ScanJob& job) {
  parallel_for(job.rows * job.lanes, std::max<int64_t>(1, 16384 / job.length),
               [&](int64_t begin, int64_t end) {
                 Lifted<T> lifted(job);
                 for (int64_t line = begin; line < end; ++line) {
                   int64_t at[2];
                   walk_offsets(job.lines, static_cast<int>(job.lines.shape.size()), line,
                                absl::MakeSpan(at));
                   Line<kHighest, T> state(unit_of<T>(job));
                   auto* out = reinterpret_cast<int64_t*>(mutable_element(job.out, at[1]));
                   for (int64_t i = 0; i < job.length; i += Lifted<T>::kMost) {
                     check_cancelled();
                     const int64_t n = std::min(Lifted<T>::kMost, job.length - i);
                     int64_t step = job.x_step;
                     const T* x = lifted.of(mutable_element(job.x, at[0] + i * step), step, n);
                     state.run(x - i * step, step, out, job.out_step, i, i + n);
                   }
                 }
               });
}

template <bool kHighest, class T>
class Strip {
 public:
  explicit Strip(const ScanJob& job) : job_(job), lifted_(job) {}

  void run(int64_t x_at, int64_t out_at, int64_t lanes) {
    const size_t last = job_.lines.shape.size() - 1;
    const int64_t x_lane = job_.lines.strides[0][last], out_lane = job_.lines.strides[1][last];
    std::fill(best_, best_ + lanes, unit_of<T>(job_));
    std::fill(at_, at_ + lanes, 0);
    for (int64_t i = 0; i < job_.length; ++i) {
      if (i % kUnasked == 0) check_cancelled();
      int64_t step = x_lane;
      const T* x = lifted_.of(mutable_element(job_.x, x_at + i * job_.x_step), step, lanes);
      auto* out = reinterpret_cast<int64_t*>(mutable_element(job_.out, out_at + i * job_.out_step));
      for (int64_t l = 0; l < lanes; ++l) {
        const T value = x[l * step];
        const bool take = takes<kHighest>(value, best_[l]);
        best_[l] = take ? value : best_[l];
        out[l * out_lane] = at_[l] = take ? i : at_[l];
      }
    }
  }

 private:
  static constexpr int64_t kUnasked = 32;

  const ScanJob& job_;
  Lifted<T> lifted_;
  T best_[kScanLanes];
  int64_t at_[kScanLanes];
};

template <bool kHighest, class T>
void scan_as(const ScanJob& job) {
  if (job.lanes < kScanWide) return scan_lines<kHighest, T>(job);
  each_strip(job, [&] {
    return [strip = std::make_unique<Strip<kHighest, T>>(job)](
               int64_t x, int64_t out, int64_t lanes) { strip->run(x, out, lanes); };
  });
}

template <bool kHighest>
bool scan_highest(const ScanJob& job) {
  switch (job.programs->bodies.state[0]) {
    case DType::f32:
      return scan_as<kHighest, float>(job), true;
    case DType::f64:
      return scan_as<kHighest, double>(job), true;
    case DType::bool_:
    case DType::u8:
      return scan_as<kHighest, uint8_t>(job), true;
    case DType::i8:
      return scan_as<kHighest, int8_t>(job), true;
    case DType::i16:
      return scan_as<kHighest, int16_t>(job), true;
    case DType::i32:
      return scan_as<kHighest, int32_t>(job), true;
    case DType::i64:
      return scan_as<kHighest, int64_t>(job), true;
    case DType::u16:
      return scan_as<kHighest, uint16_t>(job), true;
    case DType::u32:
      return scan_as<kHighest, uint32_t>(job), true;
    case DType::u64:
      return scan_as<kHighest, uint64_t>(job), true;
    default:
      return false;
  }
}

}  // namespace

std::optional<bool> running_place(const ReduceBodies& bodies) {
  if (bodies.state.size() != 2 || bodies.state[1] != DType::i64) return {};
  const ExprNode& place = bodies.lift.graph[bodies.lift.outputs[1]];
  const ExprNode& given = bodies.finish.graph[bodies.finish.outputs[0]];
  if (place.prim != Prim::input || place.payload != 1) return {};
  if (bodies.finish.outputs.size() != 1 || given.prim != Prim::input || given.payload != 1)
    return {};
  const DType value = bodies.state[0];
  for (const bool highest : {true, false}) {
    const auto known = build([&](absl::Span<const Expr> in) { return later(highest, in); },
                             std::vector<DType>{value, DType::i64, value, DType::i64});
    if (known.graph.nodes() == bodies.combine.graph.nodes() &&
        known.outputs == bodies.combine.outputs)
      return highest;
  }
  return {};
}

bool scan_places(const ScanJob& job) {
  const std::optional<bool> highest = job.programs->running_place;
  if (!highest) return false;
  return *highest ? scan_highest<true>(job) : scan_highest<false>(job);
}

}  // namespace lathe::own
