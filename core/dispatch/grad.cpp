// The one derivative: a definition's own rule, or what its kind derives, run with ordinary ops.
#include "core/dispatch/grad.h"

#include <absl/strings/str_cat.h>

#include <atomic>
#include <bit>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/replay.h"
#include "core/infer/rules.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

// ── the ops that rules of kinds are made of ─────────────────────────────────────────────────────

Tensor call_named(std::string_view name, absl::Span<const Arg> args) {
  const Op& op = get_op(name);
  return call(op, CompletedArgs(op, args))[0];
}

// ── elementwise: the chain rule over primitives ─────────────────────────────────────────────────

/// d(body) as a body that keeps complex numbers whole: inputs are the definition's inputs then one
/// dy an output, outputs the gradients of the inputs.
struct ChainRule {
  ScalarFunction f;
  Saves saves;
  absl::InlinedVector<uint32_t, 4> reads;  // by input: bits of the inputs that its gradient reads
  absl::InlinedVector<uint32_t, 4> steps;  // by input: of those that it reads by steps alone
  uint32_t rounds_twice = 0;  // bits of the inputs whose gradient is more than one rounding
};

/// Whether a float result of this node may differ from the real number that it stands for.
bool rounds(const ExprNode& n) {
  switch (n.prim) {
    case Prim::constant:
    case Prim::input:
    case Prim::neg:
    case Prim::abs:
    case Prim::pmin:
    case Prim::pmax:
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint:
    case Prim::select:
    case Prim::rare:
    case Prim::check:
    case Prim::cast:  // between the dtype computed in and that of the operands
      return false;
    default:
      return is_floating(n.dtype);
  }
}

struct ChainKey {
  const Op* op;
  DType compute;
  friend bool operator==(const ChainKey&, const ChainKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ChainKey& k) {
    return H::combine(std::move(h), k.op, k.compute);
  }
};

std::vector<uint32_t> needed_nodes(const ScalarFunction& f, uint32_t wanted_outputs) {
  std::vector<bool> need(f.graph.size(), false);
  for (size_t i = 0; i < f.outputs.size(); ++i)
    if (wanted_outputs >> i & 1) need[f.outputs[i]] = true;
  std::vector<uint32_t> order;
  for (uint32_t id = static_cast<uint32_t>(f.graph.size()); id-- > 0;) {
    if (!need[id]) continue;
    order.push_back(id);
    const ExprNode& n = f.graph[id];
    for (int a = 0; a < n.arity; ++a) need[n.args[a]] = true;
  }
  return {order.rbegin(), order.rend()};
}

/// Bits of the first 32 inputs that the value of a node has a slope by.
std::vector<uint32_t> sloped_inputs(const ScalarFunction& f) {
  std::vector<uint32_t> by(f.graph.size(), 0);
  for (uint32_t id = 0; id < f.graph.size(); ++id) {
    const ExprNode& n = f.graph[id];
    if (n.prim == Prim::input && n.payload < 32) by[id] = 1u << n.payload;
    if (!info(n.prim).smooth) continue;
    const bool chosen = n.prim == Prim::select || n.prim == Prim::rare || n.prim == Prim::check;
    for (int a = chosen ? 1 : 0; a < n.arity; ++a) by[id] |= by[n.args[a]];
  }
  return by;
}

const ChainRule& chain_rule(const Op& op, DType compute) {
  static auto* mutex = new std::mutex;
  static auto* rules = new absl::flat_hash_map<ChainKey, std::unique_ptr<ChainRule>>;
  const ScalarFunction& plain = op.scalar(compute);
  const std::lock_guard lock(*mutex);
  auto& slot = (*rules)[{&op, compute}];
  if (slot) return *slot;
  const auto has_complex = [](const std::vector<DType>& types) {
    return std::any_of(types.begin(), types.end(), is_complex);
  };
  ScalarFunction whole;
  if (has_complex(plain.inputs) || has_complex(plain.output_types))
    whole = build(op.body, plain.inputs, ComplexAs::whole);
  const ScalarFunction& body = whole.outputs.empty() ? plain : whole;
  std::vector<DType> inputs = body.inputs;
  for (DType d : body.output_types) inputs.push_back(d);
  size_t n = body.inputs.size();
  slot = std::make_unique<ChainRule>();
  slot->f = build(
      [&](absl::Span<const Expr> in) { return derivative(body, in.subspan(0, n), in.subspan(n)); },
      inputs, ComplexAs::whole);
  const std::vector<uint32_t> sloped = sloped_inputs(slot->f);
  for (size_t i = 0; i < slot->f.outputs.size(); ++i) {
    uint32_t reads = 0;
    int roundings = 0;
    for (uint32_t id : needed_nodes(slot->f, 1u << i)) {
      const ExprNode& node = slot->f.graph[id];
      roundings += rounds(node);
      if (node.prim == Prim::input && node.payload < n) reads |= 1u << node.payload;
    }
    if (roundings > 1) slot->rounds_twice |= 1u << i;
    slot->reads.push_back(reads);
    slot->steps.push_back(reads & ~sloped[slot->f.outputs[i]]);
    slot->saves.inputs |= reads;
  }
  return *slot;
}

Arg constant_arg(const ExprNode& n) {
  switch (n.dtype) {
    case DType::f32:
      return Arg(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(n.payload))));
    case DType::f64:
      return Arg(std::bit_cast<double>(n.payload));
    case DType::c64:
    case DType::c128:
      return Arg(std::bit_cast<double>(n.payload));
    case DType::bool_:
      return Arg(n.payload != 0);
    default:
      return Arg(Int(static_cast<int64_t>(n.payload)));
  }
}

class Emitter {
 public:
  Emitter(const ScalarFunction& f, DType compute, DType common, absl::Span<const Arg> inputs)
      : f_(f),
        compute_(compute),
        common_(common),
        inputs_(inputs),
        values_(f.graph.size()),
        held_(f.graph.size()) {}

  /// Values of the wanted outputs, as ordinary ops on ordinary tensors.
  void run(uint32_t wanted) {
    for (uint32_t id : needed_nodes(f_, wanted)) values_[id] = emit(id);
  }
  const Arg& value(uint32_t id) const { return values_[id]; }

 private:
  Arg hold(uint32_t id, Tensor t) {
    held_[id] = std::move(t);
    return Arg(held_[id]);
  }

  Arg emit(uint32_t id) {
    const ExprNode& n = f_.graph[id];
    if (n.prim == Prim::input) return inputs_[n.payload];
    if (n.prim == Prim::constant) return constant_arg(n);
    std::vector<Arg> args;
    for (int a = 0; a < n.arity; ++a) args.push_back(values_[n.args[a]]);
    if (n.prim == Prim::rare) {  // rare(mask, fast, slow) is select(mask, slow, fast)
      std::swap(args[1], args[2]);
      return hold(id, call_named(info(Prim::select).name, args));
    }
    if (n.prim == Prim::check) return args[1];
    if (n.prim == Prim::conj && !complex_tensor(args[0])) return args[0];
    Tensor filled;
    if (n.prim == Prim::complex)  // one of the parts may be a number
      for (size_t k : {0, 1})
        if (args[k].tag != Tag::tensor) fill(args[k], args[1 - k].tensor(), filled);
    if ((n.prim == Prim::real || n.prim == Prim::imag) && !complex_tensor(args[0]))
      return n.prim == Prim::real ? args[0] : Arg(0.0);  // a real operand of a complex result
    if (n.prim == Prim::cast) {
      DType to = n.dtype == compute_ ? common_ : n.dtype;
      if (args[0].tag != Tag::tensor) return args[0];
      args.push_back(Arg(to));
    }
    // Numbers that elements choose between have the precision of the result; and a function of
    // complex numbers has values for real operands that the one of floats has not.
    if (n.prim == Prim::select && args[0].tag == Tag::tensor && args[1].tag != Tag::tensor &&
        args[2].tag != Tag::tensor)
      fill(args[1], converted(inputs_.back()), filled);
    if (is_complex(n.dtype) && (info(n.prim).transcendental || n.prim == Prim::sqrt) &&
        !complex_tensor(args[0])) {
      if (args[0].tag == Tag::tensor)
        args[0] = Arg(filled = converted(args[0]));
      else
        fill(args[0], converted(inputs_.back()), filled);
    }
    if (all_numbers(args)) return folded(n, args);
    return hold(id, call_named(info(n.prim).name, args));
  }

  /// A tensor in the dtype that the rule is computed in.
  Tensor converted(const Arg& x) const {
    const Arg args[] = {x, Arg(common_)};
    return x.tensor_->dtype == common_ ? x.tensor() : call_named(info(Prim::cast).name, args);
  }
  /// A number as a tensor like another one.
  static void fill(Arg& number, const Tensor& like, Tensor& filled) {
    filled = constant_like(like, number);
    number = Arg(filled);
  }
  static bool complex_tensor(const Arg& a) {
    return a.tag == Tag::tensor && is_complex(a.tensor_->dtype);
  }
  static bool all_numbers(const std::vector<Arg>& args) {
    for (const Arg& a : args)
      if (a.tag == Tag::tensor) return false;
    return true;
  }
  /// Numbers stay numbers: a tensor made here would be a foreign one to a trace.
  Arg folded(const ExprNode& n, const std::vector<Arg>& args) const {
    ExprGraph graph;
    ExprScope scope(graph);
    Exprs xs;
    for (size_t a = 0; a < n.arity; ++a)
      xs.push_back(constant(real_type(f_.graph[n.args[a]].dtype), number(args[a])));
    Expr y = make(n.prim, real_type(n.dtype), xs, n.payload);
    if (y.prim() != Prim::constant) LATHE_INTERNAL("numbers did not fold");
    return constant_arg(*y);
  }

  static double number(const Arg& a) {
    if (a.tag == Tag::real) return a.real().value();
    return a.tag == Tag::flag ? (a.flag_ ? 1.0 : 0.0) : static_cast<double>(a.integer().value());
  }

  const ScalarFunction& f_;
  DType compute_, common_;
  absl::Span<const Arg> inputs_;
  std::vector<Arg> values_;
  std::vector<Tensor> held_;
};

Grads elementwise_gradient(Grad g, const Grad::Data& d) {
  const Op& op = *d.op;
  DType common = d.dy_types[0].dtype;
  for (size_t i = 0; i < d.x_types.size(); ++i)
    if (d.wanted[i] && !is_complex(common)) common = d.x_types[i].dtype;
  DType compute = compute_type(common);
  const ChainRule& rule = chain_rule(op, compute);
  auto params = body_params(op);
  std::vector<Arg> inputs;
  std::vector<Tensor> dys;
  for (size_t k = 0; k < params.size(); ++k) {
    auto i = static_cast<size_t>(params[k]);
    bool read = rule.saves.inputs >> k & 1;
    inputs.push_back(!read ? Arg() : d.attrs[i].none() ? Arg(d.xs[i]) : d.attrs[i]);
  }
  for (size_t k = 0; k < d.dys.size(); ++k) dys.push_back(g.dy(static_cast<int>(k)));
  for (const Tensor& t : dys) inputs.push_back(Arg(t));
  uint32_t wanted = 0;
  for (size_t k = 0; k < params.size(); ++k)
    if (d.wanted[static_cast<size_t>(params[k])]) wanted |= 1u << k;
  Emitter emit(rule.f, compute, common, inputs);
  emit.run(wanted);
  Grads out(d.x_types.size());
  for (size_t k = 0; k < params.size(); ++k) {
    if ((wanted >> k & 1) == 0) continue;
    const Arg& dx = emit.value(rule.f.outputs[k]);
    Tensor& to = out[static_cast<size_t>(params[k])];
    to = dx.tag == Tag::tensor ? dx.tensor() : constant_like(dys[0], dx);
    for (uint32_t left = rule.steps[k]; left != 0; left &= left - 1)
      if (const Arg& read = inputs[static_cast<size_t>(std::countr_zero(left))];
          read.tag == Tag::tensor)
        to = g.steps_with(to, read.tensor());
  }
  return out;
}

// ── view, put ───────────────────────────────────────────────────────────────────────────────────

Tensor zeros_of(const TensorType& t) {
  return create_ops<Tensor>::zeros(t.shape, t.dtype, t.device);
}

absl::InlinedVector<Arg, 8> around(const Tensor& first, const Tensor* second, Args attrs,
                                   size_t from) {
  absl::InlinedVector<Arg, 8> args{Arg(first)};
  if (second != nullptr) args.push_back(Arg(*second));
  for (size_t i = from; i < attrs.size(); ++i) args.push_back(attrs[i]);
  return args;
}

/// A view's gradient: dy put back into zeros. A put's: dy without the view's elements, and the
/// view.
Grads view_gradient(Grad g) {
  Tensor zero = zeros_of(g.type(0)), dy = g.dy();
  auto args = around(zero, &dy, g.attrs(), 1);
  return {call(*g.op().put, absl::MakeConstSpan(args))[0]};
}

Grads put_gradient_of(Grad g, const Tensor& dy) {
  Grads out(2);
  if (g.wants(0)) {
    Tensor zero = zeros_of(g.type(1));
    auto args = around(dy, &zero, g.attrs(), 2);
    out[0] = call_one(g.op(), absl::MakeConstSpan(args));
  }
  if (g.wants(1)) {
    auto args = around(dy, nullptr, g.attrs(), 2);
    out[1] = call_one(*g.op().put_of, absl::MakeConstSpan(args));
  }
  return out;
}

/// A cotangent may lie in any order, as an expanded one does; some views are of memory in rows.
Grads put_gradient(Grad g) {
  return in_rows_if_refused(g.dy(), [&](const Tensor& dy) { return put_gradient_of(g, dy); });
}

}  // namespace

// ── Grad ────────────────────────────────────────────────────────────────────────────────────────

Tensor Grad::dy(int k) const {
  const Tensor& t = d_->dys[static_cast<size_t>(k)];
  return t.defined() ? t : zeros_of(d_->dy_types[static_cast<size_t>(k)]);
}

Tensor Grad::x(int i) const {
  const Tensor& t = d_->xs[static_cast<size_t>(i)];
  if (!t.defined() && d_->attrs[static_cast<size_t>(i)].scalar()) {
    // A number stood in the tensor's place: it has the precision of what it met.
    const Arg& number = d_->attrs[static_cast<size_t>(i)];
    DType dtype = number.tag == Tag::flag ? DType::bool_ : d_->dy_types[0].dtype;
    return create_ops<Tensor>::full(Shape{}, number, dtype, d_->dy_types[0].device);
  }
  if (!t.defined())
    LATHE_INTERNAL(absl::StrCat("the derivative of ", op().name(), " reads input ", i,
                                ", which its definition does not save"));
  return t;
}

Tensor Grad::y(int k) const {
  const Tensor& t = d_->ys[static_cast<size_t>(k)];
  if (!t.defined())
    LATHE_INTERNAL(absl::StrCat("the derivative of ", op().name(), " reads output ", k,
                                ", which its definition does not save"));
  return t;
}

Tensor Grad::steps_with(const Tensor& dx, const Tensor& read) const {
  if (!d_->higher || !(read.symbolic() || read.requires_grad())) return dx;
  const bool same = read.dtype() == dx.dtype();
  return shape_ops<Tensor>::steps_with(dx, same ? read : math_ops<Tensor>::cast(read, dx.dtype()));
}

int Grad::axis(int i, int of) const {
  int rank = static_cast<int>(shape(of).size());
  return normalise_axis(op().name(), integer(i).value(), rank);
}

bool has_gradient(const Op& op) {
  if (op.extra.no_grad) return false;
  return op.extra.grad != nullptr || op.kind == Kind::elementwise || op.kind == Kind::view ||
         op.kind == Kind::contract || op.put_of != nullptr;
}

namespace {

Saves find_saves(const Op& op, DType compute, uint32_t wanted) {
  const ChainRule& rule = chain_rule(op, compute);
  auto params = body_params(op);
  uint32_t reads = 0;
  for (size_t k = 0; k < params.size(); ++k)
    if (wanted >> params[k] & 1) reads |= rule.reads[k];
  Saves out;
  for (size_t k = 0; k < params.size(); ++k)
    if (reads >> k & 1) out.inputs |= 1u << params[k];
  return out;
}

/// What saves_of found before, a word a question: definition, dtype and wanted inputs above, the
/// answer below.
constexpr size_t kFoundSaves = 256;
constinit std::atomic<uint64_t> found_saves[kFoundSaves]{};

}  // namespace

Saves saves_of(const Op& op, DType compute, uint32_t wanted) {
  if (op.extra.grad != nullptr)
    return op.extra.saves_for != nullptr ? op.extra.saves_for(wanted) : op.extra.saves;
  if (op.kind == Kind::composite) return {~0u, 0};     // the expansion is run again
  if (op.kind == Kind::contract && !op.extra.no_grad)  // each operand's reads the other
    return {(wanted & 1) << 1 | (wanted >> 1 & 1), 0};
  if (op.kind != Kind::elementwise || op.extra.no_grad) return {};
  if (wanted == 0 || wanted > 0xff) return find_saves(op, compute, wanted);
  const uint64_t question =
      uint64_t{op.id} << 48 | static_cast<uint64_t>(compute) << 40 | uint64_t{wanted} << 32;
  std::atomic<uint64_t>& place = found_saves[(size_t{op.id} * 4 + wanted) % kFoundSaves];
  const uint64_t word = place.load(std::memory_order_relaxed);
  if ((word & ~uint64_t{0xffffffff}) == question) return {static_cast<uint32_t>(word), 0};
  Saves found = find_saves(op, compute, wanted);
  place.store(question | found.inputs, std::memory_order_relaxed);
  return found;
}

Saves saves_of(const Op& op, Args args) {
  DType compute = DType::f32;
  uint32_t wanted = 0;
  each_slot(op, args, [&](int slot, const Arg& a) {
    if (a.tag != Tag::tensor) return;
    if (slot < 32 && a.tensor_->requires_grad) wanted |= 1u << slot;
    if (differentiable.has(a.tensor_->dtype)) compute = rule_type(compute, a.tensor_->dtype);
  });
  return saves_of(op, compute, wanted);
}

Tensor constant_like(const Tensor& dy, const Arg& number) {
  // Not dy * 0, which is NaN where dy is infinite.
  Arg args[] = {Arg(false), Arg(dy), number};
  return call_named(info(Prim::select).name, args);
}

Tensor sum_to(const Tensor& g, IntSpan shape) {
  if (identical(g.shape(), shape)) return g;
  auto extra = g.rank() - static_cast<int>(shape.size());
  Shape dims;
  for (int i = 0; i < g.rank(); ++i) {
    if (i < extra) {
      dims.push_back(Int(i));
      continue;
    }
    Int want = shape[static_cast<size_t>(i - extra)], have = g.size(i);
    if (identical(want, have)) continue;
    if (!want.known() && !at_most_one(want) && want == have) continue;
    if (want == Int(1) && !(have == Int(1))) dims.push_back(Int(i));
  }
  Tensor out = g;
  if (!dims.empty()) out = reduce_ops<Tensor>::sum(out, dims, true);
  if (extra > 0) out = shape_ops<Tensor>::reshape(out, shape);
  return out;
}

namespace {

/// The dtype that the real operands of an elementwise call met in on the way forward, if one of
/// those that the rule reads has another.
std::optional<DType> meeting_dtype(const Grad::Data& data) {
  const Op& op = *data.op;
  const bool promotes =
      op.extra.promote == Promote::numeric || op.extra.promote == Promote::to_float;
  if (op.kind != Kind::elementwise || !promotes) return {};
  const DType common = data.dy_types[0].dtype;
  if (!is_floating(common)) return {};
  for (size_t i = 0; i < data.xs.size(); ++i) {
    const Tensor& x = data.xs[i];
    if (x.defined() && x.dtype() != common && !is_fixed(op, i)) return common;
  }
  return {};
}

Grads derive(const Grad::Data& data);

/// The rule on operands of one dtype: a function of one of them alone, as the log of a power's
/// base, would round in that one's own.
Grads derive_in(DType common, const Grad::Data& data) {
  absl::InlinedVector<Tensor, 4> xs(data.xs.begin(), data.xs.end());
  absl::InlinedVector<TensorType, 4> types(data.x_types.begin(), data.x_types.end());
  for (size_t i = 0; i < xs.size(); ++i) {
    if (is_fixed(*data.op, i)) continue;
    if (xs[i].defined()) xs[i] = math_ops<Tensor>::cast(xs[i], common);
    if (is_floating(types[i].dtype)) types[i].dtype = common;
  }
  return derive(
      {data.op, data.attrs, data.dys, data.dy_types, xs, types, data.ys, data.wanted, data.higher});
}

Grads derive(const Grad::Data& data) {
  const Op& op = *data.op;
  if (const auto common = meeting_dtype(data)) return derive_in(*common, data);
  Grad g(data);
  if (op.extra.grad != nullptr) return op.extra.grad(g);
  if (op.kind == Kind::elementwise) return elementwise_gradient(g, data);
  if (op.kind == Kind::contract) return contract_gradient(g);
  if (op.kind == Kind::view) return view_gradient(g);
  if (op.put_of != nullptr) return put_gradient(g);
  LATHE_INTERNAL(absl::StrCat(op.name(), " has no derivative"));
}

/// Whether the rule rounds more than once on its way, so that f16 and bf16 would show it.
bool computes(const Grad::Data& data) {
  const Op& op = *data.op;
  if (op.extra.grad != nullptr)
    return !op.extra.moves && op.kind != Kind::opaque && op.kind != Kind::sort;
  if (op.kind != Kind::elementwise) return false;
  const ChainRule& rule = chain_rule(op, DType::f32);
  auto params = body_params(op);
  for (size_t k = 0; k < params.size(); ++k)
    if ((rule.rounds_twice >> k & 1) != 0 && data.wanted[static_cast<size_t>(params[k])])
      return true;
  return false;
}

/// The rule in the dtype that its op computes in, as a composite: what it is given is converted
/// first, and what it gives is rounded once, by the caller.
Grads derive_widened(const Grad::Data& data) {
  auto tensors = [](absl::Span<const Tensor> given) {
    absl::InlinedVector<Tensor, 4> wide(given.begin(), given.end());
    for (Tensor& t : wide)
      if (t.defined() && is_narrow(t.dtype()))
        t = math_ops<Tensor>::cast(t, compute_type(t.dtype()));
    return wide;
  };
  auto types = [](absl::Span<const TensorType> given) {
    absl::InlinedVector<TensorType, 4> wide(given.begin(), given.end());
    for (TensorType& t : wide)
      if (is_narrow(t.dtype)) t.dtype = compute_type(t.dtype);
    return wide;
  };
  const auto dys = tensors(data.dys), xs = tensors(data.xs), ys = tensors(data.ys);
  const auto dy_types = types(data.dy_types), x_types = types(data.x_types);
  return derive({data.op, data.attrs, dys, dy_types, xs, x_types, ys, data.wanted, data.higher});
}

constinit std::atomic<GradientRunner> gradient_runner{nullptr};

}  // namespace

void set_gradient_runner(GradientRunner r) { gradient_runner.store(r, std::memory_order_release); }

Grads run_gradient(const Grad::Data& data) {
  const ThreadState& state = thread_state();
  const bool plain = state.backend == nullptr && state.observers == nullptr;
  const GradientRunner run = plain ? gradient_runner.load(std::memory_order_acquire) : nullptr;
  Grads out;
  if (run != nullptr && run(data, out)) return out;
  return expand_gradient(data);
}

Grads expand_gradient(const Grad::Data& data) {
  const AutocastScope over(DType::f32);  // the casts have derivatives of their own
  auto narrow = [](const TensorType& t) { return is_narrow(t.dtype); };
  const bool half = std::any_of(data.x_types.begin(), data.x_types.end(), narrow);
  Grads out = half && computes(data) ? derive_widened(data) : derive(data);
  out.resize(data.x_types.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!data.wanted[i] || !out[i].defined()) {
      out[i] = Tensor();
      continue;
    }
    out[i] = sum_to(out[i], data.x_types[i].shape);
    if (out[i].dtype() != data.x_types[i].dtype) {
      Arg args[] = {Arg(out[i]), Arg(data.x_types[i].dtype)};
      out[i] = call_named(info(Prim::cast).name, args);
    }
  }
  return out;
}

}  // namespace lathe
