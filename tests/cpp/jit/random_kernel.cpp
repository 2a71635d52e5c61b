#include "tests/cpp/jit/random_kernel.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/sizes/symexpr.h"
#include "jit/kernel_ir/scheduling.h"

namespace lathe::jit {
namespace {

using namespace lathe::testing;  // NOLINT: values and programs at random

/// How two states of one thing that is reduced become one.
enum class Way : uint8_t { sum, most, chain, pick, crossed, log_sum, variance };
constexpr size_t kWays = 7;

size_t states_of(Way way) { return way == Way::variance ? 3 : way >= Way::pick ? 2 : 1; }

uint64_t minus_infinity(DType d) { return d == DType::f32 ? 0xff800000u : 0xfff0000000000000u; }

void add_units(Way way, DType d, ReduceBodies& b) {
  const bool least = way == Way::pick || way == Way::log_sum;
  b.state.push_back(d);
  b.unit.push_back(least ? minus_infinity(d) : 0);
  for (size_t s = 1; s < states_of(way); ++s) {
    b.state.push_back(way == Way::pick ? DType::i64 : d);
    b.unit.push_back(way == Way::pick ? static_cast<uint64_t>(INT64_MAX) : 0);
  }
}

void add_lifted(Way way, Expr x, Expr index, Exprs& states) {
  const Expr one = constant(x.dtype(), 1);
  if (way == Way::variance) states.push_back(one);
  states.push_back(x);
  if (way == Way::pick) states.push_back(index);
  if (way == Way::crossed) states.push_back(x * x);
  if (way == Way::log_sum) states.push_back(one);
  if (way == Way::variance) states.push_back(constant(x.dtype(), 0));
}

/// The larger one and where it is: NaN is the largest, and the lower place wins.
void add_pick(Expr a, Expr b, Expr i, Expr k, Exprs& out) {
  const Expr beats = (lt(a, b) | (isnan(b) & ~isnan(a))) & ~(isnan(a) & ~isnan(b));
  const Expr ties = eq(a, b) | (isnan(a) & isnan(b));
  const Expr take = beats | (ties & lt(k, i));
  out.push_back(select(take, b, a));
  out.push_back(select(take, k, i));
}

void add_combined(Way way, absl::Span<const Expr> x, absl::Span<const Expr> y, Exprs& out) {
  const Expr a = x[0], b = y[0];
  switch (way) {
    case Way::sum:
      return out.push_back(a + b);
    case Way::most:
      return out.push_back(pmax(a, b));
    case Way::chain:  // no loop is made for it
      return out.push_back(fma(a, constant(a.dtype(), 0.5), b));
    case Way::pick:
      return add_pick(a, b, x[1], y[1], out);
    case Way::crossed:
      out.push_back(a + b);
      return out.push_back(fma(a, b, x[1] + y[1]));
    case Way::log_sum: {
      const Expr most = pmax(a, b);
      out.push_back(most);
      return out.push_back(x[1] * exp(a - most) + y[1] * exp(b - most));
    }
    case Way::variance: {  // count, mean, sum of squares
      const Expr n = a + b, apart = y[1] - x[1];
      out.push_back(n);
      out.push_back(x[1] + apart * (b / n));
      return out.push_back(x[2] + y[2] + apart * apart * (a * b / n));
    }
  }
}

bool stored(DType d) {
  return std::find(std::begin(kTensorTypes), std::end(kTensorTypes), d) != std::end(kTensorTypes);
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : rng_(seed) {}

  RandomKernel run() {
    symbolic_ = pick(2) == 0;
    elements_ = pick(5) == 0;
    choose_axes();
    const size_t statements = elements_ ? 0 : 1 + pick(4);
    if (elements_) k_.body.push_back({compute(/*along=*/true)});
    for (size_t s = 0; s < statements; ++s) {
      const size_t kind = pick(line_ ? 5 : 7);
      if (kind == 0) k_.body.push_back({compute(/*along=*/false)});
      if (kind == 1 || kind == 2) k_.body.push_back({loop()});
      if (kind == 3 || kind == 4) k_.body.push_back({reduce()});
      if (kind > 4) k_.body.push_back({reduce_rows()});
    }
    put_arguments_first();
    k_.name = "random";
    count_facts(k_);
    return std::move(out_);
  }

 private:
  size_t pick(size_t n) { return rng_() % n; }
  int64_t below(int64_t n) { return static_cast<int64_t>(pick(static_cast<size_t>(n))); }
  size_t inner() const { return rows_.size() - (elements_ ? 1 : 0); }

  // ── sizes ──

  /// This number; in some kernels as an expression of symbols.
  Int size(int64_t n) {
    if (!symbolic_ || pick(3) == 0) return Int(n);
    std::vector<int64_t>& known = out_.symbols;
    const int64_t more = pick(3) == 0 ? below(7) - 3 : 0;
    const int64_t factor = more == 0 && n % 2 == 0 && pick(4) == 0 ? 2 : 1;
    const int64_t wanted = (n - more) / factor;
    auto at = std::find(known.begin(), known.end(), wanted);
    if (at == known.end()) at = known.insert(known.end(), wanted);
    return symbol(static_cast<uint32_t>(at - known.begin())) * Int(factor) + Int(more);
  }

  void choose_axes() {
    constexpr int64_t kLengths[] = {0,  1,  2,  15,  16,  17,  31,   33,
                                    64, 65, 99, 511, 512, 513, 1025, 2600};
    constexpr int64_t kRows[] = {0, 1, 15, 16, 17, 511, 512, 513, 1025, 1600};
    length_ = kLengths[pick(std::size(kLengths))];
    if (pick(5) == 0) {  // blocks of rows
      rows_ = {kRows[pick(std::size(kRows))]};
      length_ = below(20);
    } else {
      const size_t axes = pick(6) < 3 ? 1 : 2 + pick(2);
      for (size_t a = 0; a < axes; ++a) rows_.push_back(1 + below(axes == 1 ? 7 : 4));
      if (pick(25) == 0) rows_[pick(axes)] = 0;
    }
    if (elements_) rows_.push_back(length_);
    for (int64_t n : rows_) k_.axes.push_back({size(n)});
    k_.parallel = static_cast<int>(rows_.size());
    if (elements_) return;
    k_.axes.push_back({size(length_)});
    line_ = pick(5) == 0 && rows_.size() == 1 && rows_[0] > 0 && length_ > 0;
    if (line_) k_.line = size(rows_[0] * length_ - below(length_));
  }

  int64_t extent(size_t axis) const { return axis < inner() ? rows_[axis] : length_; }

  /// Where an argument lies: padded, turned round, and of inputs some axes not at all.
  IndexMap spread(bool along, bool output) {
    IndexMap map;
    int64_t span = 1, offset = pick(3) == 0 ? below(5) : 0;
    map.strides.assign(k_.axes.size(), Int(0));
    for (size_t axis = k_.axes.size(); axis-- > 0;) {
      const bool is_inner = axis == inner();
      if (is_inner && (!along || (output && (!elements_ || pick(2) == 0)))) {
        map.strides[axis] = Int(along ? 1 : 0);
        if (along) span += std::max<int64_t>(0, length_ - 1);
        continue;
      }
      int64_t step = is_inner ? (output ? 1 : 0) + below(4) : span;
      if (!is_inner && !output && pick(3) == 0) step = 0;
      if (!is_inner && step != 0) step += below(3);
      const int64_t reach = step * std::max<int64_t>(0, extent(axis) - 1);
      span += reach;
      const bool back = pick(4) == 0;
      if (back) offset += reach;
      const bool plain = is_inner && pick(2) == 0;  // machine code is made for some
      map.strides[axis] = plain ? Int(back ? -step : step) : size(back ? -step : step);
    }
    map.offset = size(offset);
    return map;
  }

  // ── buffers ──

  int add(DType d, Space space, Int elements = 0) {
    k_.buffers.push_back({d, space, elements, pick(4) == 0 ? "named" : ""});
    return static_cast<int>(k_.buffers.size()) - 1;
  }

  Operand operand(DType d, bool along) {
    if (elements_ && pick(4) == 0) return pieces(d);
    std::vector<Access> fit;
    for (const Access& a : written_)
      if (k_.buffers[static_cast<size_t>(a.buf)].dtype == d &&
          (along || identical(a.map.along(inner()), Int(0))))
        fit.push_back(a);
    if (!fit.empty() && pick(2) == 0) return fit[pick(fit.size())];
    if (pick(6) == 0) {
      k_.uniforms.push_back(d);
      return Uniform{static_cast<int>(k_.uniforms.size()) - 1, d};
    }
    int b = -1;
    for (int known : inputs_)
      if (k_.buffers[static_cast<size_t>(known)].dtype == d && pick(4) == 0) b = known;
    if (b < 0) inputs_.push_back(b = add(d, Space::argument));
    return Access{b, spread(along, /*output=*/false)};
  }

  /// One that is there everywhere, and others that begin and end somewhere, also behind the end.
  Pieces pieces(DType d) {
    Pieces out{d, {piece(d)}};
    for (size_t more = pick(4); more > 0; --more) {
      Piece p = piece(d);
      for (size_t axis = 0; axis < rows_.size(); ++axis) {
        if (pick(2) == 0) continue;
        const int64_t first = below(rows_[axis] + 1), last = first + below(rows_[axis] + 3 - first);
        p.within.push_back({static_cast<int>(axis), size(first), size(last)});
        if (!p.from) continue;
        IndexMap& map = p.from->map;
        const int64_t step = out_.value(map.along(axis));
        if (step > 0 && pick(2) == 0) map.offset = map.offset - size(first) * size(step);
      }
      out.all.push_back(std::move(p));
    }
    return out;
  }
  Piece piece(DType d) {
    if (pick(3) == 0) return {{}, testing::random_value(d, rng_), {}};
    int b = -1;
    for (int known : inputs_)
      if (k_.buffers[static_cast<size_t>(known)].dtype == d && pick(4) == 0) b = known;
    if (b < 0) inputs_.push_back(b = add(d, Space::argument));
    Access from{b, spread(/*along=*/true, /*output=*/false)};
    from.map.strides.back() = 1;
    return {std::move(from), 0, {}};
  }

  Access result(DType d, bool along) {
    const bool local = !elements_ && pick(2) == 0;
    const int b = add(d, local ? Space::local : Space::argument,
                      !local  ? Int(0)
                      : along ? k_.axes.back().extent
                              : Int(1));
    if (local) return {b, beside(along)};
    outputs_.push_back(b);
    return {b, spread(along, /*output=*/true)};
  }

  /// One value for all rows, or one for each position along them.
  IndexMap beside(bool along) const {
    IndexMap map;
    map.strides.assign(k_.axes.size(), Int(0));
    map.strides.back() = Int(along ? 1 : 0);
    return map;
  }

  // ── statements ──

  ScalarFunction function() {
    while (true) {
      const int steps = 2 + static_cast<int>(pick(6));
      const ScalarFunction f =
          random_program(rng_, {.steps = steps, .inputs = kTensorTypes}).built();
      const auto& nodes = f.graph.nodes();
      const bool checks = std::any_of(nodes.begin(), nodes.end(),
                                      [](const ExprNode& n) { return n.prim == Prim::check; });
      if (!checks && std::all_of(f.output_types.begin(), f.output_types.end(), stored)) return f;
    }
  }

  Compute compute(bool along) {
    Compute c;
    c.f = function();
    for (DType d : c.f.inputs) c.operands.push_back(operand(d, along));
    for (DType d : c.f.output_types) c.stores.push_back(result(d, along));
    written_.insert(written_.end(), c.stores.begin(), c.stores.end());
    return c;
  }

  For loop() {
    For f{static_cast<int>(inner()), {{compute(/*along=*/true)}}};
    if (pick(12) != 0) return f;
    f.body.push_back({compute(/*along=*/true)});
    out_.compiles = false;
    return f;
  }

  Reduce reduce() {
    Reduce r;
    r.axis = static_cast<int>(inner());
    r.bodies = bodies(r.operands);
    for (DType d : r.bodies.finish.output_types) r.stores.push_back(result(d, false));
    written_.insert(written_.end(), r.stores.begin(), r.stores.end());
    return r;
  }

  /// Its results are arguments, which nothing reads.
  ReduceRows reduce_rows() {
    ReduceRows r;
    r.axis = static_cast<int>(inner());
    r.bodies = bodies(r.operands);
    for (DType d : r.bodies.finish.output_types) {
      outputs_.push_back(add(d, Space::argument));
      r.stores.push_back({outputs_.back(), beside(/*along=*/true)});
      r.stores.back().map.offset = size(below(3));
    }
    return r;
  }

  ReduceBodies bodies(std::vector<Operand>& operands) {
    const ScalarFunction f = function();
    for (DType in : f.inputs) operands.push_back(operand(in, true));
    std::vector<DType> types = f.inputs, parts;
    types.push_back(DType::i64);
    std::vector<Way> ways;
    ReduceBodies b;
    const size_t most = 1 + pick(f.output_types.size());
    for (size_t p = 0; p < most; ++p) {
      const DType d = f.output_types[p];
      parts.push_back(d == DType::f16 || d == DType::bf16 ? DType::f32 : d);
      ways.push_back(static_cast<Way>(pick(is_floating(parts[p]) ? kWays : 2)));
      add_units(ways[p], parts[p], b);
    }
    b.lift = build(
        [&](absl::Span<const Expr> in) {
          const Exprs x = inline_call(f, in.subspan(0, f.inputs.size()));
          Exprs states;
          for (size_t p = 0; p < most; ++p)
            add_lifted(ways[p], cast(x[p], parts[p]), in.back(), states);
          return states;
        },
        types);
    std::vector<DType> both = b.state;
    both.insert(both.end(), b.state.begin(), b.state.end());
    b.combine = build(
        [&](absl::Span<const Expr> in) {
          Exprs all;
          size_t s = 0;
          for (Way way : ways) {
            add_combined(way, in.subspan(s), in.subspan(in.size() / 2 + s), all);
            s += states_of(way);
          }
          return all;
        },
        both);
    b.finish = finish(b.state);
    return b;
  }

  /// The states as they are, or some of them divided by the count or rounded.
  ScalarFunction finish(std::vector<DType> state) {
    const size_t kind = pick(4);
    state.push_back(DType::i64);
    return build(
        [&](absl::Span<const Expr> in) {
          Exprs out(in.begin(), in.end() - 1);
          if (!is_floating(in[0].dtype()) || kind < 2) return out;
          if (kind == 2) out[0] = out[0] / cast(in.back(), in[0].dtype());
          if (kind == 3) out = {cast(cast(log(out[0]), DType::f32), DType::f16)};
          return out;
        },
        state);
  }

  void put_arguments_first() {
    std::vector<int> order = inputs_;
    order.insert(order.end(), outputs_.begin(), outputs_.end());
    for (size_t b = 0; b < k_.buffers.size(); ++b)
      if (k_.buffers[b].space == Space::local) order.push_back(static_cast<int>(b));
    std::vector<int> now(order.size());
    std::vector<Buf> buffers;
    for (size_t i = 0; i < order.size(); ++i) {
      now[static_cast<size_t>(order[i])] = static_cast<int>(i);
      buffers.push_back(k_.buffers[static_cast<size_t>(order[i])]);
    }
    k_.buffers = buffers;
    k_.inputs = static_cast<int>(inputs_.size());
    k_.outputs = static_cast<int>(outputs_.size());
    each_access(k_.body, [&](Access& a, bool) { a.buf = now[static_cast<size_t>(a.buf)]; });
  }

  std::mt19937_64 rng_;
  RandomKernel out_;
  Kernel& k_ = out_.kernel;
  bool symbolic_ = false, line_ = false;
  bool elements_ = false;  // one computation, and no axis inside
  std::vector<int64_t> rows_;
  int64_t length_ = 0;
  std::vector<int> inputs_, outputs_;
  std::vector<Access> written_;  // may be read
};

}  // namespace

int64_t RandomKernel::value(Int e) const {
  return substitute(e, [&](uint32_t k) { return Int(symbols[k]); }).value();
}

RandomKernel random_kernel(uint64_t seed) { return Maker(seed).run(); }

Schedule random_schedule(const Kernel& kernel, uint64_t seed) {
  std::mt19937_64 rng(seed);
  constexpr int64_t kCounts[] = {1, 2, 3, 4, 5, 7, 8, 16, 32, 50, 64, 512, 1000};
  Kernel scheduled = kernel;
  Schedule& out = scheduled.schedule;
  out.clear();
  // Few kernels may be one line, so these are more often than chance has it.
  if (const ScheduleStep line{ScheduleKind::flatten};
      rng() % 2 == 0 && illegal(kernel, line).empty())
    out.push_back(line);
  for (size_t tries = rng() % 12; tries > 0; --tries) {
    ScheduleStep s{static_cast<ScheduleKind>(rng() % kScheduleKinds)};
    if (about(s.kind) == 'i') s.on = static_cast<int>(rng() % kernel.axes.size());
    if (about(s.kind) == 'b') s.on = static_cast<int>(rng() % kernel.buffers.size());
    if (counts(s.kind)) s.by = kCounts[rng() % std::size(kCounts)];
    if (find(out, s.kind, s.on) == nullptr && illegal(scheduled, s).empty()) out.push_back(s);
  }
  return out;
}

KernelArguments::KernelArguments(const RandomKernel& random, uint64_t seed) {
  const Kernel& k = random.kernel;
  std::mt19937_64 rng(seed);
  std::vector<int64_t> elements(k.buffers.size(), 1);
  each_access(k.body, [&](const Access& a, bool) {
    int64_t last = random.value(a.map.offset);
    for (size_t axis = 0; axis < k.axes.size(); ++axis)
      last += std::max<int64_t>(0, random.value(a.map.along(axis))) *
              std::max<int64_t>(0, random.value(k.axes[axis].extent) - 1);
    auto& n = elements[static_cast<size_t>(a.buf)];
    n = std::max(n, last + 1);
  });
  for (int b = 0; b < k.inputs + k.outputs; ++b) {
    const DType d = k.buffers[static_cast<size_t>(b)].dtype;
    const int64_t n = elements[static_cast<size_t>(b)];
    dtypes_.push_back(d);
    elements_.push_back(n);
    memory_.push_back(std::make_unique<testing::GuardedBytes>(static_cast<size_t>(n) * size_of(d)));
    begins.push_back(memory_.back()->data());
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = testing::random_value(d, rng);
      std::memcpy(begins.back() + i * static_cast<int64_t>(size_of(d)), &bits, size_of(d));
    }
  }
  for (DType d : k.uniforms) uniforms.push_back(testing::random_value(d, rng));
}

std::vector<absl::Span<std::byte>> KernelArguments::spans() const {
  std::vector<absl::Span<std::byte>> all;
  for (size_t b = 0; b < begins.size(); ++b)
    all.emplace_back(begins[b], static_cast<size_t>(elements_[b]) * size_of(dtypes_[b]));
  return all;
}

std::string KernelArguments::difference(const KernelArguments& other) const {
  for (size_t b = 0; b < begins.size(); ++b)
    for (int64_t i = 0; i < elements_[b]; ++i) {
      const int64_t at = i * static_cast<int64_t>(size_of(dtypes_[b]));
      const uint64_t mine = testing::read(begins[b] + at, dtypes_[b]);
      const uint64_t theirs = testing::read(other.begins[b] + at, dtypes_[b]);
      if (!testing::same_value(dtypes_[b], mine, theirs))
        return absl::StrCat("b", b, " element ", i, ": ", absl::Hex(mine), " and ",
                            absl::Hex(theirs));
    }
  return "";
}

}  // namespace lathe::jit
