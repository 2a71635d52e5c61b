// One call of a plan: inputs to slots, sizes to numbers, then one step after the other.
#include "jit/program/runner.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/profile.h"
#include "core/scalar/element.h"
#include "graph/ir/text.h"
#include "include/lathe/ops/math.h"
#include "jit/kernel/simulated.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/table/table.h"

namespace lathe::jit {
namespace {

bool contiguous(const Tensor& t) { return t.geometry().is_contiguous(); }

/// The first element, on whatever device it is.
std::byte* address_of(const ir::Datum& d) {
  const TensorImpl* t = d.tensor().impl();
  if (t == nullptr) return nullptr;
  std::byte* data = t->storage->data;
  return data == nullptr
             ? nullptr
             : data + t->geometry.offset.value() * static_cast<int64_t>(size_of(t->dtype));
}

/// Is the memory the tensor's own, and the tensor that of one slot?
bool has_one_owner(const TensorImpl& t) {
  return t.refs.load(std::memory_order_acquire) == 1 &&
         t.storage->refs.load(std::memory_order_acquire) == 1 && owns_memory(*t.storage) &&
         t.device.kind == DeviceKind::cpu && !t.storage->ready && t.geometry.is_contiguous();
}

/// Bits of a number for a uniform of this dtype.
uint64_t uniform_bits(const Arg& a, DType dtype) {
  alignas(16) std::byte room[16] = {};
  store_number(a, dtype, room);
  return element_bits(dtype, room);
}

}  // namespace

ir::Datum in_row_major_order(ir::Datum d) {
  if (!d.is_tensor() || contiguous(d.tensor())) return d;
  return ir::Datum(math_ops<Tensor>::clone(d.tensor()));
}

ir::Data Runner::run(const ir::Data& inputs) {
  GradMode no_grad(false);
  ir::Data out = run_steps(inputs);
  for (int slot : p_.loose_)  // keep nothing of this call alive
    if (at(slot).is_tensor()) put(slot, ir::Datum());
  return out;
}

ir::Data Runner::run_steps(const ir::Data& inputs) {
  const absl::Cleanup give_back = [&] { give_inputs_back(inputs); };
  now_ = take_inputs(inputs);
  if (!c_.bound_ || c_.bound_->symbols != now_) {
    ask_facts();
    bind(now_);
  }
  wanted_ = wanted_engine();
  std::vector<Bound::OfStep>& bound = c_.bound_->steps;
  for (size_t i = 0; i < p_.tail_; ++i) step(p_.steps_[i], bound[i]);
  place_results_of_tail();
  ir::Data out = outputs(inputs);
  if (!p_.written_.empty()) {
    prepare_writes(inputs);
    Uncancellable until_all_is_written;
    for (size_t i = p_.tail_; i < p_.steps_.size(); ++i) step(p_.steps_[i], bound[i]);
    write(inputs);
  }
  return out;
}

// ── inputs and sizes ────────────────────────────────────────────────────────────────────────────

std::vector<int64_t> Runner::take_inputs(const ir::Data& inputs) {
  const ir::Values& want = p_.graph_.inputs();
  if (inputs.size() != want.size())
    throw TypeError({.op = absl::StrCat("program ", p_.graph_.name()),
                     .problem = "the number of inputs is wrong",
                     .got = absl::StrCat(inputs.size()),
                     .expected = absl::StrCat(want.size())});
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(*want[i], inputs[i]);
    // Who calls keeps its inputs: none is counted once more.
    const bool lent = inputs[i].is_tensor() && contiguous(inputs[i].tensor());
    put(p_.input_slots_[i],
        lent ? ir::Datum::lent(inputs[i].tensor().impl()) : in_row_major_order(inputs[i]));
  }
  std::vector<int64_t> symbols(p_.sources_.size(), 0);
  for (size_t k = 0; k < symbols.size(); ++k) {
    const ir::SymbolSource& s = p_.sources_[k];
    if (s.is_parameter_of(p_.graph_.body())) symbols[k] = ir::said(s, inputs).value();
  }
  return symbols;
}

/// No step has put anything else into their slots. What was copied has another identity.
void Runner::give_inputs_back(const ir::Data& inputs) {
  for (size_t i = 0; i < std::min(inputs.size(), p_.input_slots_.size()); ++i)
    if (ir::Datum& d = at(p_.input_slots_[i]); same(d.tensor(), inputs[i].tensor())) d.give_back();
}

void Runner::check_input(const ir::Value& v, const ir::Datum& d) const {
  const TensorType* t = v.type().tensor();
  if (t == nullptr) return;
  bool fits = d.is_tensor() && d.tensor().dtype() == t->dtype &&
              d.tensor().rank() == static_cast<int>(t->shape.size()) &&
              d.tensor().device() == t->device;
  if (!fits)
    throw TypeError(
        {.op = absl::StrCat("program ", p_.graph_.name()),
         .problem = absl::StrCat("input '", v.name(), "' has the wrong type"),
         .got = d.is_tensor() ? to_string(type_of(d.tensor())) : lathe::to_string(d.arg()),
         .expected = ir::to_string(v.type())});
}

void Runner::bind(std::vector<int64_t> symbols) {
  c_.bound_ = jit::bind(p_.steps_, p_.arena_, std::move(symbols), p_.arena_device(), c_.arena_);
  for (const auto& [slot, value] : p_.constants_) {
    put(slot, value);
    if (value.is_tensor() && !p_.packed_only_.contains(slot))
      host_wait(value.tensor().impl()->storage->ready);
  }
  auto place = [&](const Step& step, const Bound::OfStep& bound) {
    for (size_t k = 0; k < bound.places.size(); ++k)
      if (bound.places[k].defined()) put(step.out[k], ir::Datum(bound.places[k]));
  };
  for (size_t i = 0; i < p_.steps_.size(); ++i) {
    place(p_.steps_[i], c_.bound_->steps[i]);
    if (p_.steps_[i].epilogue) place(*p_.steps_[i].epilogue, *c_.bound_->steps[i].epilogue);
  }
  ++c_.counts_.bindings;
}

void Runner::ask_facts() const {
  for (const SymFact& f : p_.graph_.checks()) {
    if (!answerable(f)) continue;
    Int a = evaluate(f.a), b = evaluate(f.b);
    if (lathe::require(f.relation, a, b)) continue;
    throw ShapeError({.op = absl::StrCat("program ", p_.graph_.name()),
                      .problem = "the sizes of the inputs do not fit together",
                      .got = absl::StrCat(to_string(a), " and ", to_string(b)),
                      .expected = ir::to_string(f),
                      .next = "give inputs of such sizes: the function itself refuses others",
                      .site = f.site});
  }
}

bool Runner::answerable(const SymFact& f) const {
  return p_.graph_.inputs_say(f.a, p_.sources_) && p_.graph_.inputs_say(f.b, p_.sources_);
}

// ── slots ───────────────────────────────────────────────────────────────────────────────────────

void Runner::put(int slot, ir::Datum d) {
  auto i = static_cast<size_t>(slot);
  c_.addresses_[i] = address_of(d);
  c_.slots_[i] = std::move(d);
}

ir::Datum Runner::taken(int slot) {
  ir::Datum d = std::move(at(slot));
  put(slot, ir::Datum());
  return d;
}

ir::Datum Runner::evaluated(ir::Datum d) const {
  return d.is_integer() && !d.integer().known() ? ir::Datum(Arg(evaluate(d.integer()))) : d;
}

Arg Runner::argument(int slot) {
  const ir::Datum& d = at(slot);
  return d.is_integer() ? Arg(evaluate(d.integer())) : d.arg();
}

/// Where a slot's elements begin.
std::byte* Runner::first(int slot) { return c_.addresses_[static_cast<size_t>(slot)]; }

/// Runs a kernel where the memory of its results can be read: here, or on the device's stream, in
/// its order. There it is waited for: what it reads of the call lies on this thread's stack.
template <class F>
void Runner::on_device(const Step& s, const Bound::OfStep& b, F kernel) {
  const Device device = b.types.empty() ? Device{} : b.types[0].device;
  if (device.kind == DeviceKind::cpu) return kernel();
  std::vector<Tensor> reads;
  each_part(s, [&](const Step& part) {
    for (int slot : part.in)
      if (at(slot).is_tensor()) reads.push_back(at(slot).tensor());
  });
  submit(device, reads, {}, kernel);
  current_stream(device).synchronize();
}

bool Runner::simulate(const Bound::OfStep& b, const Kernel& kernel, const KernelRun& run) const {
  const Simulator take = simulator();
  if (take == nullptr || b.types.empty() || b.types[0].device.kind != DeviceKind::sim) return false;
  return take({kernel, run.buffers, run.uniforms, [this](Int e) { return value(e); }});
}

std::byte* Runner::address(const Step& s, const Bound::OfStep& b, size_t input) {
  std::byte* begin = first(s.in[input]);
  return begin == nullptr ? nullptr : begin + b.shifts[input];
}

std::byte* Runner::target(const Step& s, const Bound::OfStep& b, size_t result) {
  const bool placed =
      !s.replaces.empty() || (result < b.places.size() && b.places[result].defined());
  if (!placed) put(s.out[result], ir::Datum(empty(b.types[result])));
  return first(s.out[result]);
}

/// Does its first operand end here, owned by nothing but its slot and in memory of its own? Then
/// nobody can tell where the result lies.
bool Runner::may_take_over(const Step& s) const {
  if (!s.over || s.in_arena()) return s.over;
  return has_one_owner(*c_.slots_[static_cast<size_t>(s.in[0])].tensor().impl());
}

// ── steps ───────────────────────────────────────────────────────────────────────────────────────

void Runner::step(const Step& s, Bound::OfStep& ready) {
  SiteScope site(s.node->site());
  profiling() ? run_profiled(s, ready) : run_step(s, ready);
  if (!s.symbols.empty()) learn_symbols(s);
  for (int slot : s.frees) put(slot, ir::Datum());
}

/// Bound for this once: apart from step(), since a frame with room for that takes time.
void Runner::run_dynamic(const Step& s) {
  Bound::OfStep bound;
  bind_step(s, now_, bound);
  run_bound(s, bound);
}

void Runner::run_bound(const Step& s, Bound::OfStep& bound) {
  if (bound.done) return;
  switch (s.kind) {
    case Step::Kind::op:
      if (s.panels)
        run_panels(s, bound);
      else
        s.epilogue ? run_with_epilogue(s, bound) : run_op(s, bound);
      break;
    case Step::Kind::kernel:
      run_kernel(s, bound);
      break;
    case Step::Kind::rows:
      run_rows(s, bound);
      break;
    case Step::Kind::structure:
      run_structure(s, bound);
      break;
  }
  bound.done = bound.fixed;
}

/// Sizes and numbers that only this result tells.
void Runner::learn_symbols(const Step& s) {
  for (auto [symbol, axis] : s.symbols) {
    for (size_t k = 0; k < s.out.size(); ++k) {
      if (p_.sources_[symbol].value != s.node->out(k)) continue;
      const ir::Datum& d = at(s.out[k]);
      now_[symbol] = axis < 0 ? d.integer().value() : d.tensor().size(axis).value();
    }
  }
}

void Runner::run_op(const Step& s, Bound::OfStep& b) {
  ++c_.counts_.ops;
  if (s.extends)
    run_extension(s, b);
  else if (!s.operands.empty())
    run_prepared(s, b, target(s, b), {});
  else if (s.view)
    run_view(s, b);
  else
    run_call(s, b);
}

Args Runner::arguments(const Step& s, Bound::OfStep& b) {
  for (size_t i = 0; i < s.in.size(); ++i) *b.holes[i] = argument(s.in[i]);
  return b.filled->args();
}

/// An op as eager runs it: through the table's entry, asked for again when flags have changed.
void Runner::run_call(const Step& s, Bound::OfStep& b) {
  const ir::Node& n = *s.node;
  Args args = arguments(s, b);
  if (b.types.size() != n.out().size())  // numbers
    return put(s.out[0], ir::Datum(ir::evaluate_scalar(*n.op(), args)));
  Outputs outputs;
  Tensor into = b.places.empty() ? Tensor() : b.places[0];
  Call call{*n.op(), args, b.types, into.defined() ? &into : nullptr, may_take_over(s)};
  if (n.op()->kind == Kind::contract) {
    executor().run(call, outputs);
  } else {
    if (uint64_t now = flags_revision(); b.entry == nullptr || b.revision != now) {
      b.entry = &choose_entry(make_query(call.op, call.args, call.types));
      b.revision = now;
    }
    if (profiling()) note_kernel(b.entry->name);
    b.entry->run_call(call, outputs);
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    // Plans take results to be in row-major order; a foreign kernel may give another.
    const Kind kind = n.op()->kind;
    if ((kind == Kind::opaque || kind == Kind::composite) && outputs[k].defined() &&
        !contiguous(outputs[k]))
      outputs[k] = math_ops<Tensor>::clone(outputs[k]);
    put(s.out[k], ir::Datum(std::move(outputs[k])));
  }
}

void Runner::run_view(const Step& s, Bound::OfStep& b) {
  const TensorImpl* from = at(s.in[0]).tensor().impl();
  Geometry seen = *b.view;
  seen.offset = from->geometry.offset + seen.offset;
  put(s.out[0], ir::Datum(make_tensor(from->storage, from->dtype, std::move(seen))));
}

/// Memory that has to be enlarged gets room for half as much again, so that each element is copied
/// a few times in all, however long a tensor becomes.
void Runner::run_extension(const Step& s, const Bound::OfStep& b) {
  if (profiling()) note_kernel("own.extend");
  const TensorType& type = b.types[0];
  const auto each = static_cast<int64_t>(size_of(type.dtype));
  const int64_t elements = numel(type.shape).value();
  const Tensor first = in_row_major_order(taken(s.in[1])).tensor();
  Geometry g = Geometry::contiguous(type.shape);
  g.offset = first.geometry().offset;
  const size_t end = static_cast<size_t>((g.offset.value() + elements) * each);
  const TensorImpl& t = *first.impl();
  if (has_one_owner(t) && end <= t.storage->bytes)
    return put(s.out[0], ir::Datum(make_tensor(t.storage, type.dtype, std::move(g))));
  const Tensor room = empty({type.dtype, Shape{elements + elements / 2}, type.device});
  g.offset = 0;
  if (const int64_t known = first.numel().value(); known > 0)
    std::memcpy(room.impl()->storage->data, address_of(ir::Datum(first)),
                static_cast<size_t>(known * each));
  put(s.out[0], ir::Datum(make_tensor(room.impl()->storage, type.dtype, std::move(g))));
}

// ── contractions and reductions ─────────────────────────────────────────────────────────────────

/// Chooses who runs it and how: when sizes or flags have changed.
void Runner::prepare_call(const Step& s, Bound::OfStep& b) {
  absl::InlinedVector<Tensor, 2> views;
  absl::InlinedVector<lathe::Operand, 2> in;
  for (size_t k = 0; k < s.operands.size(); ++k) {
    const Tensor& from = at(s.in[k]).tensor();
    Geometry g = s.operands[k];
    for (Shape* sizes : {&g.shape, &g.strides})
      for (Int& i : *sizes) i = evaluate(i);
    g.offset = from.geometry().offset + evaluate(s.shifts[k]);
    views.push_back(make_tensor(from.impl()->storage, from.dtype(), std::move(g)));
    in.push_back(operand(views.back()));
    *b.holes[k] = Arg(views[k]);
  }
  const TensorType& type = b.types[0];
  Sizes shape;
  for (Int i : type.shape) shape.push_back(i.value());
  const lathe::Operand out{nullptr, type.dtype, shape, contiguous_strides(shape)};
  b.prepared = prepared_call({*s.node->op(), b.filled->args(), b.types}, in, out);
  b.revision = flags_revision();
  for (size_t k = 0; k < in.size(); ++k) {
    if (!s.lasting.empty() && s.lasting[k])
      b.packed[k] = p_.packed_.find(packed_name(s, k), k, b.prepared, at(s.in[k]).tensor(), in[k],
                                    p_.packed_only_.contains(s.in[k]));
    else if (k < s.shared.size() && s.shared[k].number >= 0)
      b.shares[k] = packs_each_time(b.prepared, k);
  }
}

void Runner::run_prepared(const Step& s, Bound::OfStep& b, std::byte* out, Epilogue epilogue) {
  if (b.prepared.entry == nullptr || b.revision != flags_revision()) prepare_call(s, b);
  const Entry& entry = *b.prepared.entry;
  Launch launch{address(s, b, 0),
                s.operands.size() > 1 ? address(s, b, 1) : nullptr,
                out,
                {},
                {b.packed[0].get(), b.packed[1].get()}};
  for (size_t k = 0; k < b.shares.size(); ++k)
    if (b.shares[k] && b.packed[k] == nullptr)
      launch.packed[k] = shared(s, k).get(b.prepared, k, address(s, b, k));
  if (profiling()) note_kernel(entry.name);
  if (entry.fuses) launch.epilogue = epilogue;
  entry.run(entry, *b.prepared.plan, launch);
  for (size_t k = 0; k < s.shared.size(); ++k)
    if (s.shared[k].last) shared(s, k) = {};
  if (epilogue && !entry.fuses) epilogue.at_the_end(numel(b.types[0].shape).value(), parallel_for);
}

void Runner::run_with_epilogue(const Step& s, Bound::OfStep& b) {
  ++c_.counts_.ops;
  if (s.operands.empty()) {  // of another device
    run_call(s, b);
    return run_kernel(*s.epilogue, *b.epilogue);
  }
  const bool shares = s.shares_result();
  if (shares) {
    const auto k = static_cast<size_t>(s.replaced);
    target(*s.epilogue, *b.epilogue, k);
    put(s.out[0], at(s.epilogue->out[k]));
  }
  std::byte* out = shares ? first(s.out[0]) : target(s, b);
  KernelCall call;
  prepare(*s.epilogue, *b.epilogue, call, shares ? s.replaced : -1);
  ElementKernel::Launch launch(*s.epilogue->kernel, b.epilogue->kernel, call.run);
  auto apply = [](void* context, const Epilogue::Lines& lines) {
    static_cast<ElementKernel::Launch*>(context)->lines(lines);
  };
  run_prepared(s, b, out, {apply, &launch});
  if (shares) put(s.out[0], ir::Datum());
  launch.finish();
  count(launch.engine());
}

// ── kernels ─────────────────────────────────────────────────────────────────────────────────────

void Runner::prepare(const Step& s, const Bound::OfStep& b, KernelCall& call, int placed) {
  for (int input : s.kernel->tensors()) {
    auto k = static_cast<size_t>(input);
    call.buffers.push_back(at(s.in[k]).is_tensor() ? address(s, b, k) : nullptr);
  }
  for (size_t k = 0; k < b.types.size(); ++k)
    call.buffers.push_back(static_cast<int>(k) == placed ? first(s.out[k]) : target(s, b, k));
  add_uniforms(s, s.kernel->numbers(), call);
}

void Runner::add_uniforms(const Step& s, const std::vector<Number>& numbers, KernelCall& call) {
  for (const Number& u : numbers)
    call.uniforms.push_back(uniform_bits(
        u.input >= 0 ? argument(s.in[static_cast<size_t>(u.input)]) : Arg(evaluate(u.expr)),
        u.dtype));
  call.run = {call.buffers, call.uniforms, wanted_, name_of(*s.node), s.node->site()};
}

void Runner::run_kernel(const Step& s, const Bound::OfStep& b) {
  if (s.blank) return void(target(s, b, 0));
  KernelCall call;
  prepare(s, b, call);
  Engine engine = Engine::none;
  on_device(s, b, [&] {
    if (!simulate(b, s.kernel->loops(), call.run)) engine = s.kernel->run(b.kernel, call.run);
  });
  count(engine);
}

void Runner::count(Engine engine) {
  if (profiling()) note_kernel(name_of(engine));
  c_.counts_.kernels_generated += engine == Engine::generated;
  c_.counts_.kernels_simd += engine == Engine::simd;
  c_.counts_.kernels_moved += engine == Engine::moved;
}

void Runner::run_rows(const Step& s, const Bound::OfStep& b) {
  const RowKernel& kernel = s.rows->kernel;
  KernelCall call;
  for (size_t k = 0; k < static_cast<size_t>(kernel.loops().inputs); ++k)
    call.buffers.push_back(address(s, b, k));
  for (size_t k = 0; k < b.types.size(); ++k) call.buffers.push_back(target(s, b, k));
  add_uniforms(s, kernel.numbers(), call);
  Engine engine = Engine::none;
  on_device(s, b, [&] {
    if (!simulate(b, kernel.loops(), call.run)) engine = kernel.run(b.rows, call.run);
  });
  count(engine);
}

}  // namespace lathe::jit
