#include "jit/kernel/simd_kernel.h"

#include <algorithm>

#include "kernels/reference/reduce.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

/// Elements that are lifted at a time: pieces are subtrees of the defined order.
constexpr int64_t kPiece = 8 * static_cast<int64_t>(kReduceBlock);

/// The input that output k is as it stands, or -1.
int copied_input(const ScalarFunction& f, size_t k) {
  const ExprNode& n = f.graph[f.outputs[k]];
  const bool copies = n.prim == Prim::input && f.inputs[n.payload] == f.output_types[k];
  return copies ? static_cast<int>(n.payload) : -1;
}

/// Which inputs each output is made of.
std::vector<std::vector<bool>> inputs_of(const ScalarFunction& f) {
  std::vector<std::vector<bool>> of_node;
  for (const ExprNode& n : f.graph.nodes()) {
    std::vector<bool> mine(f.inputs.size());
    if (n.prim == Prim::input) mine[n.payload] = true;
    for (uint8_t a = 0; a < n.arity; ++a)
      for (size_t i = 0; i < mine.size(); ++i) mine[i] = mine[i] || of_node[n.args[a]][i];
    of_node.push_back(std::move(mine));
  }
  std::vector<std::vector<bool>> out;
  for (uint32_t output : f.outputs) out.push_back(of_node[output]);
  return out;
}

/// States by who is combined with whom.
std::vector<std::vector<size_t>> independent(const ReduceBodies& b) {
  const size_t states = b.state.size();
  std::vector<size_t> of(states);
  for (size_t s = 0; s < states; ++s) of[s] = s;
  const auto read = inputs_of(b.combine);
  for (size_t s = 0; s < states; ++s)
    for (size_t i = 0; i < 2 * states; ++i)
      if (read[s][i]) std::replace(of.begin(), of.end(), of[i % states], of[s]);
  std::vector<std::vector<size_t>> parts;
  for (size_t root = 0; root < states; ++root) {
    std::vector<size_t> part;
    for (size_t s = 0; s < states; ++s)
      if (of[s] == root) part.push_back(s);
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

/// These outputs of f alone.
ScalarFunction some_outputs(const ScalarFunction& f, absl::Span<const size_t> which) {
  return build(
      [&](absl::Span<const Expr> in) {
        const Exprs all = inline_call(f, in);
        Exprs some;
        for (size_t k : which) some.push_back(all[k]);
        return some;
      },
      f.inputs);
}

}  // namespace

SimdKernel::SimdKernel(const Kernel& kernel) : kernel_(kernel) {
  each_operand(
      kernel.body,
      [&](const Operand& o) {
        const auto* a = std::get_if<Access>(&o);
        const DType d = a != nullptr ? kernel.buffers[static_cast<size_t>(a->buf)].dtype
                                     : std::get<Uniform>(o).dtype;  // rows have no pieces
        items_.push_back(static_cast<int64_t>(size_of(d)));
      },
      [&](const Access& a) {
        const DType d = kernel.buffers[static_cast<size_t>(a.buf)].dtype;
        items_.push_back(static_cast<int64_t>(size_of(d)));
      });
  each_numbered(kernel.body, [&](const auto& statement, size_t first) { add(statement, first); });
}

void SimdKernel::add(const Compute& c, size_t first) {
  Stage& stage = stages_[&c];
  stage.first = first;
  stage.body = std::make_unique<SimdProgram>(c.f);
}

SimdKernel::Part SimdKernel::part_of(const Reduce& r, std::vector<size_t> states) {
  const ReduceBodies& all = r.bodies;
  Part part;
  part.states = std::move(states);
  ReduceBodies& b = part.bodies;
  for (size_t s : part.states) {
    b.state.push_back(all.state[s]);
    b.unit.push_back(all.unit[s]);
  }
  std::vector<DType> both = b.state;
  both.insert(both.end(), b.state.begin(), b.state.end());
  const size_t n = part.states.size();
  b.combine = build(
      [&](absl::Span<const Expr> in) {
        std::vector<Expr> args;
        for (size_t half = 0; half < 2; ++half)
          for (DType d : all.state) args.push_back(constant_bits(d, 0));
        for (size_t k = 0; k < n; ++k) {
          args[part.states[k]] = in[k];
          args[all.state.size() + part.states[k]] = in[n + k];
        }
        const Exprs combined = inline_call(all.combine, args);
        Exprs mine;
        for (size_t s : part.states) mine.push_back(combined[s]);
        return mine;
      },
      both);
  b.finish = states_alone(b.state);
  // One stored element and, for a pick, its index; else all states of an element as they are.
  const bool pick = n == 2 && b.state[1] == DType::i64;
  std::vector<DType> stored = pick ? std::vector<DType>{b.state[0]} : b.state;
  stored.push_back(DType::i64);
  b.lift =
      build([&](absl::Span<const Expr> in) { return Exprs(in.begin(), in.begin() + n); }, stored);
  return part;
}

void SimdKernel::add(const Reduce& r, size_t first) {
  Stage& stage = stages_[&r];
  stage.first = first;
  const size_t index = r.operands.size();
  std::vector<size_t> lifted;
  for (std::vector<size_t>& states : independent(r.bodies)) {
    const bool pair = states.size() == 2 && r.bodies.state[states[1]] == DType::i64 &&
                      copied_input(r.bodies.lift, states[1]) == static_cast<int>(index);
    Part& part = stage.parts.emplace_back(part_of(r, std::move(states)));
    if (part.states.size() == 1 || pair) {
      part.program = std::make_unique<ReduceProgram>(part.bodies);
      if (pair && !part.program->known_pick()) part.program = nullptr;
    }
    const int copied = copied_input(r.bodies.lift, part.states[0]);
    if (part.program != nullptr && copied >= 0 && copied < static_cast<int>(index)) {
      part.operand = copied;
      continue;
    }
    for (size_t k = 0; k < part.states.size(); ++k) {
      const bool implied = k == 1 && part.program != nullptr;
      part.lifted.push_back(implied ? -1 : static_cast<int>(lifted.size()));
      if (!implied) lifted.push_back(part.states[k]);
    }
  }
  if (!lifted.empty()) {
    const ScalarFunction lift = some_outputs(r.bodies.lift, lifted);
    stage.indexed = reads_input(lift, index);
    stage.types = lift.output_types;
    stage.body = std::make_unique<SimdProgram>(lift);
  }
  stage.finish = std::make_unique<SimdProgram>(r.bodies.finish);
}

void SimdKernel::add(const ReduceRows& r, size_t first) {
  Stage& stage = stages_[&r];
  stage.first = first;
  stage.body = std::make_unique<SimdProgram>(step_of(r.bodies));
  stage.lanes = lanes_;
  lanes_ += r.bodies.state.size();
}

/// One call: where each axis is.
class SimdKernelRun {
 public:
  SimdKernelRun(const SimdKernel& k, const KernelLines& call)
      : k_(k), call_(call), at_(call.extents.size()) {}

  void run() {
    const auto parallel = static_cast<size_t>(k_.kernel_.parallel);
    for (int64_t position = call_.begin; position < call_.end; ++position) {
      position_ = position;
      int64_t rest = position;
      for (size_t axis = parallel; axis-- > 0; rest /= call_.extents[axis])
        at_[axis] = rest % call_.extents[axis];
      block(k_.kernel_.body);
    }
  }

 private:
  using Lines = absl::InlinedVector<LineOperand, 8>;

  void block(const Block& b) {
    for (const Statement& s : b) std::visit([&](const auto& node) { statement(node); }, s.node);
  }

  /// `count` operands from this one on, where they are at the position; along `axis`, or -1.
  Lines lines(size_t first, size_t count, int axis) const {
    Lines out;
    for (size_t k = first; k < first + count; ++k) {
      const int64_t* strides = &call_.strides[k * at_.size()];
      std::byte* data = call_.data[k];
      for (size_t a = 0; a < at_.size(); ++a) data += strides[a] * at_[a];
      out.push_back({data, axis < 0 ? 0 : strides[axis] / k_.items_[k]});
    }
    return out;
  }

  void compute(const Compute& c, int axis, int64_t count) const {
    const SimdKernel::Stage& stage = k_.stages_.at(&c);
    const Lines in = lines(stage.first, c.operands.size(), axis);
    const Lines out = lines(stage.first + c.operands.size(), c.stores.size(), axis);
    stage.body->run(in, out, count, {});
  }
  void statement(const Compute& c) const { compute(c, -1, 1); }

  void statement(const For& f) {
    const auto axis = static_cast<size_t>(f.axis);
    const auto* c = f.body.size() == 1 ? std::get_if<Compute>(&f.body[0].node) : nullptr;
    if (c != nullptr) return compute(*c, f.axis, call_.extents[axis]);
    for (at_[axis] = 0; at_[axis] < call_.extents[axis]; ++at_[axis]) block(f.body);
    at_[axis] = 0;
  }

  void statement(const Reduce& r) const {
    const SimdKernel::Stage& stage = k_.stages_.at(&r);
    const int64_t count = call_.extents[static_cast<size_t>(r.axis)];
    const Lines in = lines(stage.first, r.operands.size(), r.axis);
    const size_t states = r.bodies.state.size();
    absl::InlinedVector<uint64_t, 8> total(states);
    for (size_t s = 0; s < states; ++s) total[s] = r.bodies.unit[s];
    if (count > 0) {
      reduce_direct(stage, in, count, total.data());
      reduce_lifted(stage, in, count, total.data());
    }
    Lines finished;
    for (uint64_t& t : total) finished.push_back({reinterpret_cast<std::byte*>(&t), 0});
    int64_t counted = count;
    finished.push_back({reinterpret_cast<std::byte*>(&counted), 0});
    const Lines out = lines(stage.first + r.operands.size(), r.stores.size(), -1);
    stage.finish->run(finished, out, 1, {});
  }

  void statement(const ReduceRows& r) const {
    const SimdKernel::Stage& stage = k_.stages_.at(&r);
    const int64_t length = call_.extents[static_cast<size_t>(r.axis)];
    Lines in = lines(stage.first, r.operands.size(), r.axis), out;
    int64_t row = position_;
    in.push_back({reinterpret_cast<std::byte*>(&row), 0});
    for (size_t s = 0; s < r.bodies.state.size(); ++s) {
      const auto item = static_cast<int64_t>(size_of(r.bodies.state[s]));
      std::byte* lane = call_.lanes[stage.lanes + s] + position_ % RowSums::kLanes * length * item;
      in.push_back({lane, 1});
      out.push_back({lane, 1});
    }
    stage.body->run(in, out, length, {});
  }

  static void reduce_direct(const SimdKernel::Stage& stage, const Lines& in, int64_t count,
                            uint64_t* total) {
    for (const SimdKernel::Part& part : stage.parts) {
      if (part.operand < 0) continue;
      const LineOperand& x = in[static_cast<size_t>(part.operand)];
      const ReduceAxis axis{count, x.stride};
      part.program->run(x.data, {}, {&axis, 1}, places(part, total), simd_loops());
    }
  }

  static absl::InlinedVector<LineOperand, 2> places(const SimdKernel::Part& part, uint64_t* total) {
    absl::InlinedVector<LineOperand, 2> out;
    for (size_t s : part.states) out.push_back({reinterpret_cast<std::byte*>(&total[s]), 1});
    return out;
  }

  /// What is computed first: a piece at a time, then the pieces' states.
  void reduce_lifted(const SimdKernel::Stage& stage, const Lines& in, int64_t count,
                     uint64_t* total) const {
    if (stage.body == nullptr) return;
    const bool by_reference = std::any_of(stage.parts.begin(), stage.parts.end(),
                                          [](const auto& p) { return p.program == nullptr; });
    // The reference takes its elements in any order, so they are all there.
    const int64_t piece = by_reference ? count : std::min(kPiece, count);
    std::vector<int64_t> begins;
    int64_t bytes = 0;
    for (DType d : stage.types) {
      begins.push_back(bytes);
      bytes += (piece * static_cast<int64_t>(size_of(d)) + 63) / 64 * 64;
    }
    const Scratch scratch(static_cast<size_t>(bytes + piece * 8));
    auto* index = reinterpret_cast<int64_t*>(scratch.data() + bytes);
    Lines at = in, out;
    for (size_t k = 0; k < begins.size(); ++k) out.push_back({scratch.data() + begins[k], 1});
    at.push_back({reinterpret_cast<std::byte*>(index), 1});
    std::vector<std::vector<uint64_t>> pieces(stage.parts.size());
    for (int64_t begin = 0; begin < count; begin += piece) {
      const int64_t n = std::min(piece, count - begin);
      for (int64_t i = 0; stage.indexed && i < n; ++i) index[i] = begin + i;
      stage.body->run(at, out, n, {});
      for (size_t p = 0; p < stage.parts.size(); ++p)
        if (stage.parts[p].operand < 0) one_piece(stage.parts[p], stage, out, begin, n, pieces[p]);
      for (size_t k = 0; k < in.size(); ++k)
        at[k].data += n * in[k].stride * k_.items_[stage.first + k];
    }
    for (size_t p = 0; p < stage.parts.size(); ++p) {
      const SimdKernel::Part& part = stage.parts[p];
      if (part.operand >= 0) continue;
      if (part.program != nullptr)
        part.program->finish(absl::MakeSpan(pieces[p]), count, places(part, total), simd_loops());
      else
        for (size_t k = 0; k < part.states.size(); ++k) total[part.states[k]] = pieces[p][k];
    }
  }

  static void one_piece(const SimdKernel::Part& part, const SimdKernel::Stage& stage,
                        const Lines& lifted, int64_t begin, int64_t n,
                        std::vector<uint64_t>& states) {
    if (part.program == nullptr) {
      const reference::State total = reference::reduce_tree(part.bodies, n, [&](int64_t i) {
        reference::State element;
        for (int which : part.lifted) {
          const auto k = static_cast<size_t>(which);
          const auto item = static_cast<int64_t>(size_of(stage.types[k]));
          reference::read_element(stage.types[k], lifted[k].data + i * item, element);
        }
        return element;
      });
      states.assign(total.begin(), total.end());
      return;
    }
    const ReduceAxis axis{n, 1};
    const size_t words = part.program->states(), at = states.size();
    states.resize(at + words);
    part.program->piece(lifted[static_cast<size_t>(part.lifted[0])].data, {&axis, 1}, 0, n,
                        absl::MakeSpan(&states[at], words), simd_loops());
    if (words == 2) states[at + 1] += static_cast<uint64_t>(begin);  // a pick: of this piece
  }

  const SimdKernel& k_;
  const KernelLines& call_;
  absl::InlinedVector<int64_t, 6> at_;
  int64_t position_ = 0;
};

void SimdKernel::run(const KernelLines& call) const { SimdKernelRun(*this, call).run(); }

}  // namespace lathe::jit
