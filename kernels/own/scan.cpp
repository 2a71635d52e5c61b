// Scans: a reduction along one axis that keeps every prefix.
//
// The order, which defines the bits. The elements along the axis (from its end, if the scan is
// reversed) are cut into blocks of 512. The local prefixes of a block are a left fold from the
// monoid's unit. The carry into a block is the left fold of the totals of the blocks before it,
// without a unit. An element is the carry combined with its local prefix; in the first block, which
// has no carry, it is the local prefix. So the carry out of a block is its last element.
//
// Two ways to it:
//   lines   sum, prod and extrema where few lanes lie side by side: four blocks at a time, of one
//           line or of several, as the lanes of vectors, in tiles that are turned on their way in
//           and out; then the carries, which are one operation an element and no chain. A long line
//           alone is shared out by blocks.
//   strips  any monoid: neighbouring lanes take a step together. Sum and prod have loops of their
//           own for it, others run their programs (scan_programs.cpp).
//
// Places of running extrema have loops of their own (scan_places.cpp). What lies in another order
// than the result, which is in row-major order, is brought there first, if it can lie there.
#include <algorithm>
#include <array>
#include <utility>

#include "core/infer/rules.h"
#include "kernels/own/copy.h"
#include "kernels/own/few.h"
#include "kernels/own/implementations.h"
#include "kernels/own/scan.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

constexpr int kTogether = 4;  // blocks whose chains run together

// ── reductions with loops of their own ───────────────────────────────────────────────────────────

// Of numbers or of vectors of them; sums and products take integers as unsigned ones, which wrap.
struct Sum {
  template <class T>
  static T combine(T a, T b) {
    return a + b;
  }
};
struct Product {
  template <class T>
  static T combine(T a, T b) {
    return a * b;
  }
};

template <bool kHighest>
struct Extremum {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_arithmetic_v<T>)
      return (kHighest ? b < a : a < b) || a != a ? a : b;  // NOLINT(misc-redundant-expression)
    else
      return ((kHighest ? b < a : a < b) | (a != a)) ? a : b;  // NOLINT(misc-redundant-expression)
  }
};

template <class T>
struct Vector {
  typedef T type __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr int64_t lanes = 16 / sizeof(T);
  static type load(const T* from) {
    type v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(T* to, type v) { std::memcpy(to, &v, sizeof v); }
  static type all(T value) {
    type v;
    for (int64_t k = 0; k < lanes; ++k) v[k] = value;
    return v;
  }
};

/// Does f give its first input as it is?
bool gives_input(const ScalarFunction& f) {
  if (f.outputs.size() != 1) return false;
  const ExprNode& n = f.graph[f.outputs[0]];
  return n.prim == Prim::input && n.payload == 0;
}

/// Calls f with the reduction's type and a value of its state's; false if it has no loops of its
/// own.
template <class F>
bool known(const ReducePrograms& p, F f) {
  auto fold = p.fold.known();
  if (!fold || p.bodies.state.size() != 1 || reads_input(p.bodies.lift, 1) ||
      reads_input(p.bodies.finish, 1))
    return false;
  auto by_state = [&](auto combine, auto four, auto eight) {
    switch (p.bodies.state[0]) {
      case DType::f32:
        return f(combine, float{}), true;
      case DType::f64:
        return f(combine, double{}), true;
      case DType::i32:
        return f(combine, four), true;
      case DType::i64:
        return f(combine, eight), true;
      case DType::u32:
        return f(combine, uint32_t{}), true;
      case DType::u64:
        return f(combine, uint64_t{}), true;
      default:
        return false;
    }
  };
  if (*fold == Reduction::sum) return by_state(Sum{}, uint32_t{}, uint64_t{});
  if (*fold == Reduction::prod) return by_state(Product{}, uint32_t{}, uint64_t{});
  if (*fold == Reduction::highest) return by_state(Extremum<true>{}, int32_t{}, int64_t{});
  if (*fold == Reduction::lowest) return by_state(Extremum<false>{}, int32_t{}, int64_t{});
  return false;
}

template <class T>
T unit_of(const ReducePrograms& p) {
  T unit;
  std::memcpy(&unit, p.bodies.unit.data(), sizeof unit);
  return unit;
}

void lift_line(const ReducePrograms& p, std::byte* x, int64_t step, int64_t n, std::byte* to) {
  LineContext context;
  int64_t index = 0;  // not asked for by these reductions
  const LineOperand in[] = {{x, step}, {reinterpret_cast<std::byte*>(&index), 0}};
  const LineOperand out[] = {{to, 1}};
  p.lift.run(in, out, n, context);
}

void finish_line(const ReducePrograms& p, std::byte* states, int64_t n, std::byte* out,
                 int64_t step) {
  LineContext context;
  int64_t count = 1;  // not asked for either
  const LineOperand in[] = {{states, 1}, {reinterpret_cast<std::byte*>(&count), 0}};
  const LineOperand to[] = {{out, step}};
  p.finish.run(in, to, n, context);
}

/// to[i] = carry combined with to[i].
template <class F, class T>
void add_carry(T carry, T* to, int64_t step, int64_t n) {
  using V = Vector<T>;
  int64_t i = 0;
  if (step == 1 || step == -1) {  // every element takes the same part: the direction does not show
    if (step == -1) to -= n - 1;
    step = 1;
    const typename V::type c = V::all(carry);
    for (; i + V::lanes <= n; i += V::lanes) V::store(to + i, F::combine(c, V::load(to + i)));
  }
  for (; i < n; ++i) to[i * step] = F::combine(carry, to[i * step]);
}

/// f(0) ... f(N - 1), each a constant: a loop that the compiler does not keep as one.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(F f) {
  [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, K>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// The first prefixes of kTogether chains that have come to `state`, from neighbours to neighbours
/// (towards the front, if backwards): of as many elements of the n as make whole tiles, which it
/// returns.
template <class F, bool kBackwards, class T>
int64_t run_tiles(T* state, const T* const* from, T* const* to, int64_t n) {
  using V = Vector<T>;
  constexpr int64_t kLanes = V::lanes, kVectors = kTogether / kLanes;
  typename V::type s[kVectors];
  for (int64_t g = 0; g < kVectors; ++g) s[g] = V::load(state + g * kLanes);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const int64_t at = kBackwards ? 1 - kLanes - i : i;
    unrolled<kVectors>([&](auto g) __attribute__((always_inline)) {
      typename Few<T>::Vector v[kLanes];
      unrolled<kLanes>([&](auto c) __attribute__((always_inline)) {
        v[c] = V::load(from[g * kLanes + c] + at);
      });
      Few<T>::transpose(v);
      unrolled<kLanes>([&](auto k) __attribute__((always_inline)) {
        constexpr int64_t kNext = kBackwards ? kLanes - 1 - k : k;
        v[kNext] = s[g] = F::combine(s[g], v[kNext]);
      });
      Few<T>::transpose(v);
      unrolled<kLanes>([&](auto c) __attribute__((always_inline)) {
        V::store(to[g * kLanes + c] + at, v[c]);
      });
    });
  }
  for (int64_t g = 0; g < kVectors; ++g) V::store(state + g * kLanes, s[g]);
  return i;
}

/// The next n prefixes, wherever they lie.
template <class F, class T>
void run_chain(T state, const T* from, T* to, int64_t from_step, int64_t to_step, int64_t n) {
  for (int64_t k = 0; k < n; ++k) to[k * to_step] = state = F::combine(state, from[k * from_step]);
}

// ── lines ───────────────────────────────────────────────────────────────────────────────────────

/// One block of one line.
template <class T>
struct Block {
  int64_t number, n;  // which of the line's, its elements
  std::byte *x, *out;
  T *from, *to;  // its elements as states, and its prefixes
  int64_t from_step, to_step;
};

template <class F, class T>
class Lines {
 public:
  explicit Lines(const ScanJob& job)
      : job_(job),
        blocks_(blocks_of(job)),
        room_(job.plain_in && job.plain_out ? 1 : sizeof(T) * kTogether * kApart) {}

  /// Blocks [begin, end), counted line by line. With carries, begin must be the first of a line.
  void run(int64_t begin, int64_t end, bool carries) {
    T carry{};
    for (int64_t first = begin; first < end; first += kTogether) {
      check_cancelled();
      Block<T> group[kTogether];
      int count = static_cast<int>(std::min<int64_t>(kTogether, end - first));
      for (int r = 0; r < count; ++r) group[r] = block(first + r, r);
      fold(group, count);
      for (int r = 0; r < count; ++r) {
        Block<T>& b = group[r];
        if (carries && b.number > 0) add_carry<F>(carry, b.to, b.to_step, b.n);
        carry = b.to[(b.n - 1) * b.to_step];
        if (!job_.plain_out)
          finish_line(*job_.programs, reinterpret_cast<std::byte*>(b.to), b.n, b.out,
                      job_.out_step);
      }
    }
  }

  Block<T> block(int64_t index, int place) const {
    const int64_t line = index / blocks_, number = index % blocks_;
    int64_t at[2];
    walk_offsets(job_.lines, static_cast<int>(job_.lines.shape.size()), line, absl::MakeSpan(at));
    Block<T> b{.number = number, .n = std::min(kScanBlock, job_.length - number * kScanBlock)};
    b.x = mutable_element(job_.x, at[0] + number * kScanBlock * job_.x_step);
    b.out = mutable_element(job_.out, at[1] + number * kScanBlock * job_.out_step);
    T* room = job_.plain_in && job_.plain_out ? nullptr : room_.template as<T>() + place * kApart;
    b.from = job_.plain_in ? reinterpret_cast<T*>(b.x) : room;
    b.from_step = job_.plain_in ? job_.x_step : 1;
    b.to = job_.plain_out ? reinterpret_cast<T*>(b.out) : room;
    b.to_step = job_.plain_out ? job_.out_step : 1;
    return b;
  }

 private:
  // Not a multiple of a page: the blocks would take each other's places in the cache.
  static constexpr int64_t kApart = kScanBlock + 16;

  /// The local prefixes of all.
  void fold(const Block<T>* group, int count) {
    T state[kTogether];
    std::fill(state, state + kTogether, unit_of<T>(*job_.programs));
    for (int r = 0; r < count && !job_.plain_in; ++r)
      lift_line(*job_.programs, group[r].x, job_.x_step, group[r].n,
                reinterpret_cast<std::byte*>(group[r].from));
    const int64_t done = count == kTogether ? run_together(group, state) : 0;
    for (int r = 0; r < count; ++r) {
      const Block<T>& b = group[r];
      run_chain<F>(state[r], b.from + done * b.from_step, b.to + done * b.to_step, b.from_step,
                   b.to_step, b.n - done);
    }
  }

  /// What all the blocks have, if they are of neighbours; returns how many elements that is.
  static int64_t run_together(const Block<T>* group, T* state) {
    const T* from[kTogether];
    T* to[kTogether];
    const int64_t step = group[0].from_step;  // it is the same for all
    if (group[0].to_step != step || std::abs(step) != 1) return 0;
    int64_t n = kScanBlock;
    for (int c = 0; c < kTogether; ++c) {
      from[c] = group[c].from, to[c] = group[c].to;
      n = std::min(n, group[c].n);
    }
    return step == 1 ? run_tiles<F, false>(state, from, to, n)
                     : run_tiles<F, true>(state, from, to, n);
  }

  const ScanJob& job_;
  int64_t blocks_;
  Scratch room_;
};

/// Few long lines: local prefixes, then the carries of each line, then what they add.
template <class F, class T>
void scan_by_blocks(const ScanJob& job) {
  const int64_t lines = job.rows * job.lanes, blocks = blocks_of(job);
  constexpr int64_t kGrain = 32;
  parallel_for(lines * blocks, kGrain,
               [&](int64_t begin, int64_t end) { Lines<F, T>(job).run(begin, end, false); });
  Scratch room(sizeof(T) * static_cast<size_t>(lines * blocks));
  T* carries = room.as<T>();
  Lines<F, T> all(job);
  for (int64_t i = 0; i < lines * blocks; ++i) {
    const Block<T> b = all.block(i, 0);
    const T total = b.to[(b.n - 1) * b.to_step];
    carries[i] = b.number == 0 ? total : F::combine(carries[i - 1], total);
  }
  parallel_for(lines * blocks, kGrain, [&](int64_t begin, int64_t end) {
    Lines<F, T> some(job);
    for (int64_t i = begin; i < end; ++i) {
      const Block<T> b = some.block(i, 0);
      if (b.number > 0) add_carry<F>(carries[i - 1], b.to, b.to_step, b.n);
    }
  });
}

template <class F, class T>
void scan_lines(const ScanJob& job) {
  constexpr int64_t kFewLines = 8, kManyBlocks = 64;
  const int64_t lines = job.rows * job.lanes, blocks = blocks_of(job);
  if (lines < kFewLines && blocks >= kManyBlocks && job.plain_out) return scan_by_blocks<F, T>(job);
  parallel_for(lines, std::max<int64_t>(kTogether, 16384 / job.length),
               [&](int64_t begin, int64_t end) {
                 Lines<F, T>(job).run(begin * blocks, end * blocks, true);
               });
}

// ── strips of lanes, by loops ───────────────────────────────────────────────────────────────────

/// kSteps steps of n lanes: state takes x in, and out is what the carry makes of it.
template <class F, bool kCarried, int kSteps, class T>
void step(T* state, const T* carry, const T* x, int64_t x_step, T* out, int64_t out_step,
          int64_t n) {
  using V = Vector<T>;
  int64_t l = 0;
  for (; l + V::lanes <= n; l += V::lanes) {
    auto s = V::load(state + l);
    const auto c = kCarried ? V::load(carry + l) : s;
    unrolled<kSteps>([&](auto k) __attribute__((always_inline)) {
      s = F::combine(s, V::load(x + k * x_step + l));
      V::store(out + k * out_step + l, kCarried ? F::combine(c, s) : s);
    });
    V::store(state + l, s);
  }
  for (; l < n; ++l)
    for (int k = 0; k < kSteps; ++k) {
      state[l] = F::combine(state[l], x[k * x_step + l]);
      out[k * out_step + l] = kCarried ? F::combine(carry[l], state[l]) : state[l];
    }
}

template <class F, class T>
class Columns {
 public:
  explicit Columns(const ScanJob& job)
      : job_(job), p_(*job.programs), unit_(unit_of<T>(*job.programs)) {
    const size_t last = job.lines.shape.size() - 1;
    x_lane_ = job.lines.strides[0][last];
    out_lane_ = job.lines.strides[1][last];
    direct_in_ = job.plain_in && x_lane_ == 1;
    direct_out_ = job.plain_out && out_lane_ == 1;
  }

  void run(int64_t x_at, int64_t out_at, int64_t lanes) {
    for (int64_t i = 0; i < job_.length;) {
      check_cancelled();
      if (i % kScanBlock == 0) begin_block(i, lanes);
      std::byte* x = mutable_element(job_.x, x_at + i * job_.x_step);
      std::byte* out = mutable_element(job_.out, out_at + i * job_.out_step);
      // Blocks are a multiple of four.
      const bool four = direct_in_ && direct_out_ && i + 4 <= job_.length;
      const T* from = direct_in_ ? reinterpret_cast<const T*>(x) : from_;
      T* to = direct_out_ ? reinterpret_cast<T*>(out) : to_;
      if (!direct_in_) lift_line(p_, x, x_lane_, lanes, reinterpret_cast<std::byte*>(from_));
      if (four)
        take<4>(i, from, to, lanes);
      else
        take<1>(i, from, to, lanes);
      if (!direct_out_) finish_line(p_, reinterpret_cast<std::byte*>(to_), lanes, out, out_lane_);
      i += four ? 4 : 1;
    }
  }

 private:
  void begin_block(int64_t i, int64_t lanes) {
    for (int64_t l = 0; l < lanes && i > 0; ++l)
      carry_[l] = i == kScanBlock ? state_[l] : F::combine(carry_[l], state_[l]);
    std::fill(state_, state_ + lanes, unit_);
  }
  template <int kSteps>
  void take(int64_t i, const T* from, T* to, int64_t lanes) {
    if (i < kScanBlock)
      step<F, false, kSteps>(state_, carry_, from, job_.x_step, to, job_.out_step, lanes);
    else
      step<F, true, kSteps>(state_, carry_, from, job_.x_step, to, job_.out_step, lanes);
  }

  const ScanJob& job_;
  const ReducePrograms& p_;
  T unit_;
  int64_t x_lane_ = 0, out_lane_ = 0;
  bool direct_in_ = false, direct_out_ = false;
  T state_[kScanLanes], carry_[kScanLanes], from_[kScanLanes], to_[kScanLanes];
};

void scan(const ScanJob& job) {
  const bool done = known(*job.programs, [&]<class F, class T>(F, T) {
    if (job.lanes < kScanWide) return scan_lines<F, T>(job);
    each_strip(job, [&] {
      return [columns = std::make_unique<Columns<F, T>>(job)](
                 int64_t x, int64_t out, int64_t lanes) { columns->run(x, out, lanes); };
    });
  });
  if (!done && !scan_places(job)) scan_by_programs(job);
}

/// Axes but the scanned one, collapsed; lanes are those whose elements are neighbours, else the
/// last.
void arrange(ScanJob& job) {
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
  job.x_step = job.x.strides[job.axis];
  job.out_step = job.out.strides[job.axis];
  job.lanes = job.lines.shape.back();
  job.rows = job.lanes == 0 ? 0 : x.numel() / job.lanes;
  // Along the scanned axis itself lies the memory: lanes would be far apart.
  if (job.x_step == 1 && (job.programs->fold.known() || job.programs->running_place)) {
    job.rows *= job.lanes;
    job.lines.shape.push_back(1);
    for (Sizes& s : job.lines.strides) s.push_back(0);
    job.lanes = 1;
  }
  const ReduceBodies& bodies = job.programs->bodies;
  job.plain_in = gives_input(bodies.lift) && job.x.dtype == bodies.state[0];
  job.plain_out = gives_input(bodies.finish) && job.out.dtype == bodies.state[0];
}

/// From the last element backwards.
void reverse(ScanJob& job) {
  if (job.length == 0) return;
  for (auto [o, step] : {std::pair(&job.x, &job.x_step), std::pair(&job.out, &job.out_step)}) {
    o->data = mutable_element(*o, (job.length - 1) * *step);
    *step = -*step;
  }
}

/// Do neighbours in the result come from far apart in x?
bool lies_across(const Operand& x, const Operand& out) {
  const Operand* both[] = {&x, &out};
  const Walk w = make_walk(both, x.shape, false);
  return !w.shape.empty() && w.strides[0].back() != w.strides[1].back();
}

void run_with(const Call& call, Outputs& outputs, void (*run)(const ScanJob&)) {
  ScanJob job;
  Tensor x = call.args.tensor(0);
  int axis = normalise_axis(call.op.name(), call.args.integer(kScanDim).value(), x.rank());
  job.programs = &reduce_of(call.op, element_types(call.op, call.args), x.dtype());
  outputs.push_back(result_of(call));
  job.x = operand(x);
  job.out = operand(outputs[0]);
  const Operand from = job.x, to = job.out;
  const bool moved = x.dtype() == outputs[0].dtype() && lies_across(from, to);
  if (moved) job.x = to;
  if (x.rank() == 0)
    for (Operand* o : {&job.x, &job.out}) {
      o->shape.push_back(1);
      o->strides.push_back(1);
    }
  job.axis = static_cast<size_t>(axis);
  arrange(job);
  if (call.args.flag(kScanReverse)) reverse(job);
  submit(x.device(), {x}, outputs, [job = std::move(job), from, to, moved, run] {
    if (job.x.numel() == 0) return;
    if (moved) copy_elements(from, to);
    run(job);
  });
}

}  // namespace

void run_scan(const Call& call, Outputs& outputs) { run_with(call, outputs, scan); }
void run_scan_by_reference(const Call& call, Outputs& outputs) {
  run_with(call, outputs, scan_by_reference);
}

}  // namespace lathe::own
