#include "kernels/simd/reduce.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/ops/families.h"
#include "kernels/simd/reduce_run.h"

namespace lathe {
namespace {

bool same_graph(const ScalarFunction& a, const ScalarFunction& b) {
  return a.graph.nodes() == b.graph.nodes() && a.outputs == b.outputs;
}

/// The combination of each reduction as a body; what a row's must equal, node for node, to be that
/// reduction.
Exprs combination(Reduction fold, const Expr& a, const Expr& b) {
  auto better = [&](Expr best) {
    return Exprs{is_floating(a.dtype()) ? select(isnan(a), a, best) : best};
  };
  switch (fold) {
    case Reduction::sum:
    case Reduction::squares:
      return {a + b};
    case Reduction::prod:
      return {a * b};
    case Reduction::lowest:
      return better(pmin(a, b));
    case Reduction::highest:
      return better(pmax(a, b));
    case Reduction::any:
      return {a | b};
    case Reduction::all:
      return {a & b};
  }
  LATHE_INTERNAL("no such fold");
}

std::optional<Reduction> recognise(const ScalarFunction& combine, DType state) {
  bool is_bool = state == DType::bool_;
  for (int k = 0; k < kReductions; ++k) {
    auto fold = static_cast<Reduction>(k);
    if (simd_loops().reduce_blocks[k][static_cast<int>(state)] == nullptr) continue;
    if (is_bool != (fold == Reduction::any || fold == Reduction::all)) continue;
    auto known = build([&](absl::Span<const Expr> in) { return combination(fold, in[0], in[1]); },
                       std::vector<DType>{state, state});
    if (same_graph(known, combine)) return fold;
  }
  return std::nullopt;
}

/// Sums of x * x have kernels that square.
bool squares(const ScalarFunction& lift, DType state) {
  if (lift.inputs[0] != state || lift.output_types[0] != state) return false;
  if (simd_loops().reduce_blocks[static_cast<int>(Reduction::squares)][static_cast<int>(state)] ==
      nullptr)
    return false;
  const ExprNode& n = lift.graph[lift.outputs[0]];
  if (n.prim != Prim::mul || n.args[0] != n.args[1]) return false;
  const ExprNode& x = lift.graph[n.args[0]];
  return x.prim == Prim::input && x.payload == 0;
}

/// Elements that are only converted have kernels that do it as they read them.
bool widens(const ScalarFunction& lift, Reduction fold) {
  const ExprNode& n = lift.graph[lift.outputs[0]];
  const auto stored = static_cast<int>(lift.inputs[0]);
  return n.prim == Prim::cast && n.dtype == DType::f32 &&
         lift.graph[n.args[0]].prim == Prim::input && lift.graph[n.args[0]].payload == 0 &&
         is_narrow(lift.inputs[0]) &&
         simd_loops().reduce_blocks[static_cast<int>(fold)][stored] != nullptr;
}

/// The better of two (value, index) pairs, as the rows that give indices write it.
Exprs pick(bool highest, absl::Span<const Expr> in) {
  Expr a = in[0], a_at = in[1], b = in[2], b_at = in[3];
  Expr beats = highest ? lt(a, b) : lt(b, a), ties = eq(a, b);
  if (is_floating(a.dtype())) {
    beats = beats | (isnan(b) & ~isnan(a));
    ties = ties | (isnan(a) & isnan(b));
    beats = beats & ~(isnan(a) & ~isnan(b));
  }
  Expr take_b = beats | (ties & lt(b_at, a_at));
  return {select(take_b, b, a), select(take_b, b_at, a_at)};
}

/// A pick's unit must be what anything takes the place of.
bool gives_way(DType value, absl::Span<const uint64_t> unit, bool largest) {
  ScalarFunction worst = build(
      [&](absl::Span<const Expr>) { return Exprs{largest ? lowest(value) : highest(value)}; }, {});
  return unit[1] == static_cast<uint64_t>(INT64_MAX) && unit[0] == evaluate(worst, {})[0];
}

std::optional<int> recognise_pick(const ReduceBodies& bodies) {
  DType value = bodies.state[0];
  if (bodies.state.size() != 2 || bodies.state[1] != DType::i64) return {};
  if (simd_loops().pick[0][static_cast<int>(value)] == nullptr) return {};
  const ExprNode& index = bodies.lift.graph[bodies.lift.outputs[1]];
  if (index.prim != Prim::input || index.payload != 1) return {};
  for (int highest = 0; highest < 2; ++highest) {
    auto known = build([&](absl::Span<const Expr> in) { return pick(highest == 1, in); },
                       std::vector<DType>{value, DType::i64, value, DType::i64});
    if (same_graph(known, bodies.combine) && gives_way(value, bodies.unit, highest == 1))
      return highest;
  }
  return {};
}

/// Axes of size 1 go, and neighbours that are one axis merge.
absl::InlinedVector<ReduceAxis, 4> merged(absl::Span<const ReduceAxis> axes) {
  absl::InlinedVector<ReduceAxis, 4> out;
  for (const ReduceAxis& a : axes) {
    if (a.size == 1) continue;
    if (!out.empty() && out.back().stride == a.size * a.stride)
      out.back() = {out.back().size * a.size, a.stride};
    else
      out.push_back(a);
  }
  return out;
}

}  // namespace

ElementWalk::ElementWalk(absl::Span<const ReduceAxis> axes, int64_t begin)
    : axes_(axes), at_(axes.size(), 0) {
  for (size_t a = axes.size(); a-- > 0; begin /= axes[a].size) {
    at_[a] = begin % axes[a].size;
    offset_ += at_[a] * axes[a].stride;
  }
}

void ElementWalk::advance(int64_t n) {
  for (size_t a = axes_.size(); a-- > 0; n = 1) {
    at_[a] += n;
    offset_ += n * axes_[a].stride;
    if (at_[a] < axes_[a].size) return;
    offset_ -= at_[a] * axes_[a].stride;
    at_[a] = 0;
  }
}

ReduceRun::ReduceRun(const ReduceProgram& program, absl::Span<const ReduceAxis> reduced,
                     const SimdLoops& set)
    : p_(program), set_(set), axes_(merged(reduced)), count_(count_of(reduced)) {
  // The largest first, so that each lies on a boundary of its size, however many reductions a row
  // has.
  offset_.resize(p_.state_.size());
  for (size_t size : {16, 8, 4, 2, 1})
    for (size_t k = 0; k < p_.state_.size(); ++k) {
      if (size_of(p_.state_[k]) != size) continue;
      offset_[k] = state_bytes_;
      state_bytes_ += size;
    }
}

/// Only the layout decides which way it goes; all give the same bits.
ReduceRun::Row ReduceRun::states(const std::byte* x, const ReduceLines& kept) {
  if (count_ == 0) return units(kept.all());
  if (in_columns(kept)) return by_columns(x, kept);
  if (kept.lines == 1) return line_states(x, kept.x_stride, kept.results);
  Row all(state_bytes_ * static_cast<size_t>(kept.all()));
  for (int64_t l = 0; l < kept.lines; ++l) {
    const Row line =
        line_states(x + l * kept.line_stride * element_bytes(), kept.x_stride, kept.results);
    place(line, kept.results, all, kept.all(), l * kept.results);
  }
  return all;
}

ReduceRun::Row ReduceRun::line_states(const std::byte* x, int64_t x_stride, int64_t results) {
  if (results > 1 && !(p_.reduction_ || p_.pick_)) return by_monoid(x, x_stride, results);
  Row row(state_bytes_ * static_cast<size_t>(results));
  if (p_.reduction_ && lie_in_place() && count_ <= static_cast<int64_t>(kReduceRow)) {
    set_.reduce_rows[fold()][element_type()](row.data(), x, x_stride, static_cast<size_t>(results),
                                             static_cast<size_t>(count_), &p_.unit_[0]);
    return row;
  }
  if (picks_rows()) {
    auto* indices = row.data() + offset_[1] * static_cast<size_t>(results);
    set_.pick[*p_.pick_][type()](row.data() + offset_[0] * static_cast<size_t>(results),
                                 reinterpret_cast<int64_t*>(indices), x, x_stride,
                                 static_cast<size_t>(results), static_cast<size_t>(count_), 0);
    return row;
  }
  for (int64_t r = 0; r < results; ++r) {
    uint64_t state[ReduceProgram::kMostStates];
    one(x + r * x_stride * element_bytes(), 0, count_, state);
    put(row, results, r, state);
  }
  return row;
}

void ReduceRun::one(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
  if (p_.reduction_ || p_.pick_)
    rows(x, begin, end, state);
  else
    blocks(x, begin, end, state);
}

void ReduceRun::join_states(absl::Span<uint64_t> states) {
  size_t words = p_.state_.size(), n = states.size() / words;
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step) {
      LineOperand in[2 * ReduceProgram::kMostStates], out[ReduceProgram::kMostStates];
      for (size_t k = 0; k < words; ++k) {
        out[k] = in[k] = {reinterpret_cast<std::byte*>(&states[i * words + k]), 1};
        in[words + k] = {reinterpret_cast<std::byte*>(&states[(i + step) * words + k]), 1};
      }
      p_.combine_.run({in, 2 * words}, {out, words}, 1, {}, set_);
    }
}

void ReduceRun::finish(Row& row, int64_t results, int64_t count,
                       absl::Span<const LineOperand> out) {
  absl::InlinedVector<LineOperand, 4> in;
  for (size_t offset : offset_)
    in.push_back({row.data() + offset * static_cast<size_t>(results), 1});
  in.push_back({reinterpret_cast<std::byte*>(&count), 0});
  if (p_.finished_.empty()) return p_.finish_.run(in, out, results, {}, set_);
  for (size_t k = 0; k < out.size(); ++k) {
    size_t from = p_.finished_[k];
    auto bytes = static_cast<int64_t>(size_of(p_.state_[from]));
    set_.scatter[size_class(static_cast<size_t>(bytes))](
        out[k].data, out[k].stride * bytes, in[from].data, static_cast<size_t>(results));
  }
}

void ReduceRun::put(Row& row, int64_t results, int64_t r, const uint64_t* state) const {
  for (size_t k = 0; k < offset_.size(); ++k) {
    size_t size = size_of(p_.state_[k]);
    std::memcpy(
        row.data() + offset_[k] * static_cast<size_t>(results) + static_cast<size_t>(r) * size,
        &state[k], size);
  }
}

ReduceRun::Row ReduceRun::units(int64_t results) const {
  Row row(state_bytes_ * static_cast<size_t>(results));
  fill_units(row.data(), results);
  return row;
}
void ReduceRun::fill_units(std::byte* row, int64_t results) const {
  for (size_t k = 0; k < offset_.size(); ++k)
    set_.fill[size_class(size_of(p_.state_[k]))](row + offset_[k] * static_cast<size_t>(results),
                                                 &p_.unit_[k], static_cast<size_t>(results));
}

void ReduceRun::collect(const std::byte* x, int64_t begin, int64_t n, std::byte* to) {
  int64_t bytes = element_bytes();
  ElementWalk walk(axes_, begin);
  while (n > 0) {
    int64_t m = std::min(n, walk.run());
    set_.gather[size_class(static_cast<size_t>(bytes))](to, x + walk.offset() * bytes,
                                                        m == 1 ? bytes : walk.stride() * bytes,
                                                        static_cast<size_t>(m));
    to += m * bytes;
    n -= m;
    walk.advance(m);
  }
}

std::byte* ReduceRun::room(std::unique_ptr<Scratch>& scratch, int64_t bytes) {
  if (!scratch) scratch = std::make_unique<Scratch>(static_cast<size_t>(bytes));
  return scratch->data();
}

ReduceProgram::ReduceProgram(const ReduceBodies& bodies)
    : stored_(bodies.lift.inputs[0]),
      state_(bodies.state),
      lift_(bodies.lift),
      combine_(bodies.combine),
      finish_(bodies.finish) {
  LATHE_CHECK(state_.size() <= kMostStates);
  unit_.assign(bodies.unit.begin(), bodies.unit.end());
  if (state_.size() == 1) reduction_ = recognise(bodies.combine, state_[0]);
  if (state_.size() == 2) pick_ = recognise_pick(bodies);
  indexed_ = reads_input(bodies.lift, 1);
  const ExprNode& lifted = bodies.lift.graph[bodies.lift.outputs[0]];
  plain_ = (state_.size() == 1 || pick_) && lifted.prim == Prim::input && lifted.payload == 0 &&
           state_[0] == stored_;
  if (reduction_ && widens(bodies.lift, *reduction_)) plain_ = true;
  if (reduction_ == Reduction::sum && !plain_ && squares(bodies.lift, state_[0])) {
    reduction_ = Reduction::squares;
    plain_ = true;
  }
  for (size_t k = 0; k < bodies.finish.output_types.size(); ++k) {
    // Nothing complex is a state, so neither is any result behind one.
    const ExprNode& n = bodies.finish.graph[bodies.finish.outputs[k]];
    if (is_complex(bodies.finish.output_types[k]) || n.prim != Prim::input ||
        n.payload >= state_.size()) {
      finished_.clear();
      break;
    }
    finished_.push_back(static_cast<uint8_t>(n.payload));
  }
}

/// The commonest case, without anything to set up: a known reduction over one contiguous axis,
/// whose results are the states.
bool ReduceProgram::run_rows(const std::byte* x, const ReduceLines& kept,
                             absl::Span<const ReduceAxis> reduced,
                             absl::Span<const LineOperand> out, const SimdLoops& set) const {
  constexpr auto lanes = static_cast<int64_t>(kReduceLanes);
  bool simple = reduction_ && plain_ && finished_.size() == 1 && kept.lines == 1 &&
                reduced.size() == 1 && reduced[0].stride == 1 && reduced[0].size > 0 &&
                (reduced[0].size >= lanes || kept.results < lanes) &&
                reduced[0].size <= static_cast<int64_t>(kReduceRow) && out[0].stride == 1;
  if (!simple) return false;
  set.reduce_rows[static_cast<int>(*reduction_)][static_cast<int>(stored_)](
      out[0].data, x, kept.x_stride, static_cast<size_t>(kept.results),
      static_cast<size_t>(reduced[0].size), &unit_[0]);
  return true;
}

void ReduceProgram::run(const std::byte* x, const ReduceLines& kept,
                        absl::Span<const ReduceAxis> reduced, absl::Span<const LineOperand> out,
                        const SimdLoops& set) const {
  if (kept.all() <= 0 || run_rows(x, kept, reduced, out, set)) return;
  ReduceRun run(*this, reduced, set);
  auto row = run.states(x, kept);
  run.finish(row, kept.all(), count_of(reduced), out);
}

void ReduceProgram::piece(const std::byte* x, absl::Span<const ReduceAxis> reduced, int64_t begin,
                          int64_t end, absl::Span<uint64_t> state, const SimdLoops& set) const {
  ReduceRun(*this, reduced, set).one(x, begin, end, state.data());
}

void ReduceProgram::finish(absl::Span<uint64_t> states, int64_t count,
                           absl::Span<const LineOperand> out, const SimdLoops& set) const {
  ReduceRun run(*this, {}, set);
  run.join_states(states);
  auto row = run.units(1);
  run.put(row, 1, 0, states.data());
  run.finish(row, 1, count, out);
}

}  // namespace lathe
