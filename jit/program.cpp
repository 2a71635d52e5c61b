// Running a plan: inputs to slots, sizes to numbers, then one step after the other.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>

#include "core/element.h"
#include "core/error.h"
#include "core/flags.h"
#include "core/fn.h"
#include "core/inplace.h"
#include "graph/structure.h"
#include "graph/text.h"
#include "include/lathe/ops/math.h"
#include "jit/contraction.h"
#include "jit/row_part.h"
#include "jit/steps.h"
#include "kernels/executor.h"
#include "kernels/table.h"

namespace lathe::jit {
namespace {

bool contiguous(const Tensor& t) { return t.geometry().is_contiguous(); }

/// Bits of a number for a uniform of this dtype.
uint64_t uniform_bits(const Arg& a, DType dtype) {
  alignas(16) std::byte room[16] = {};
  store_number(a, dtype, room);
  return element_bits(dtype, room);
}

std::string_view name_of(const ir::Node& n) {
  return n.op() != nullptr ? std::string_view(n.op()->name()) : "group";
}

}  // namespace

class Runner {
 public:
  Runner(const Program& p, RunContext& c) : p_(p), c_(c) {}

  ir::Data run(const ir::Data& inputs) {
    GradMode no_grad(false);
    std::vector<int64_t> symbols = bind_inputs(inputs);
    if (!c_.bound_ || c_.bound_->symbols != symbols) {
      now_ = symbols;
      ask_facts();
      bind(std::move(symbols));
    }
    now_ = c_.bound_->symbols;
    wanted_ = wanted_engine();
    for (size_t i = 0; i < p_.steps_.size(); ++i) step(p_.steps_[i], c_.bound_->steps[i]);
    ir::Data out = results(inputs);
    for (int slot : c_.loose_) at(slot) = ir::Datum();  // keep nothing of this call alive
    return out;
  }

 private:
  // ── inputs and sizes ──

  std::vector<int64_t> bind_inputs(const ir::Data& inputs) {
    const ir::Values& want = p_.graph_.inputs();
    if (inputs.size() != want.size())
      throw TypeError({.op = absl::StrCat("program ", p_.graph_.name()),
                       .problem = "the number of inputs is wrong",
                       .got = absl::StrCat(inputs.size()),
                       .expected = absl::StrCat(want.size())});
    for (size_t i = 0; i < inputs.size(); ++i)
      c_.slots_[static_cast<size_t>(p_.input_slots_[i])] = checked(*want[i], inputs[i]);
    std::vector<int64_t> symbols(p_.sources_.size(), 0);
    for (size_t k = 0; k < symbols.size(); ++k) {
      const ir::SymbolSource& s = p_.sources_[k];
      if (s.value == nullptr || s.value->node() != nullptr || s.value->block() != &p_.graph_.body())
        continue;
      const ir::Datum& d = inputs[s.value->index()];
      symbols[k] = s.axis < 0 ? d.integer().value() : d.tensor().size(s.axis).value();
    }
    return symbols;
  }

  ir::Datum checked(const ir::Value& v, const ir::Datum& d) const {
    const TensorType* t = v.type().tensor();
    if (t == nullptr) return d;
    bool fits = d.is_tensor() && d.tensor().dtype() == t->dtype &&
                d.tensor().rank() == static_cast<int>(t->shape.size()) &&
                d.tensor().device() == t->device;
    if (!fits)
      throw TypeError(
          {.op = absl::StrCat("program ", p_.graph_.name()),
           .problem = absl::StrCat("input '", v.name(), "' has the wrong type"),
           .got = d.is_tensor() ? to_string(type_of(d.tensor())) : lathe::to_string(d.arg()),
           .expected = ir::to_string(v.type())});
    // Kernels are planned for elements in row-major order.
    return contiguous(d.tensor()) ? d : ir::Datum(math_ops<Tensor>::clone(d.tensor()));
  }

  int64_t value(Int e) const { return evaluate(e).value(); }
  Int evaluate(Int e) const { return jit::evaluate(e, now_); }

  void bind(std::vector<int64_t> symbols) {
    const ir::Values& inputs = p_.graph_.inputs();
    Device device = inputs.empty() || inputs[0]->type().tensor() == nullptr
                        ? Device{}
                        : inputs[0]->tensor().device;
    c_.bound_ = jit::bind(p_.steps_, p_.arena_, std::move(symbols), device, c_.arena_);
    // What lies in the arena never moves until the next binding, nor do views of it.
    std::vector<bool> fixed(c_.slots_.size());
    for (const auto& [slot, value] : p_.constants_) fixed[static_cast<size_t>(slot)] = true;
    for (size_t i = 0; i < p_.steps_.size(); ++i) {
      const Step& s = p_.steps_[i];
      Bound::OfStep& b = c_.bound_->steps[i];
      bool view = s.kind == Step::Kind::op && s.node->op()->kind == Kind::view && !s.dynamic;
      b.fixed = view && std::all_of(s.in.begin(), s.in.end(),
                                    [&](int slot) { return fixed[static_cast<size_t>(slot)]; });
      if (b.fixed) fixed[static_cast<size_t>(s.out[0])] = true;
      auto placed = [&](const Step& step, const Bound::OfStep& bound) {
        if (bound.place.defined()) fixed[static_cast<size_t>(step.out[0])] = true;
      };
      placed(s, b);
      if (s.epilogue) placed(*s.epilogue, *b.epilogue);
      for (size_t k = 0; k < b.members.size(); ++k) placed(s.rows->members[k].step, b.members[k]);
    }
    c_.loose_.clear();
    for (size_t slot = 0; slot < fixed.size(); ++slot)
      if (!fixed[slot]) c_.loose_.push_back(static_cast<int>(slot));
    ++c_.counts_.bindings;
  }

  void ask_facts() const {
    for (const SymFact& f : p_.graph_.checks()) {
      if (!answerable(f)) continue;
      Int a = evaluate(f.a), b = evaluate(f.b);
      if (lathe::require(f.relation, a, b)) continue;
      throw ShapeError({.op = absl::StrCat("program ", p_.graph_.name()),
                        .problem = "the sizes of the inputs do not fit together",
                        .got = absl::StrCat(to_string(a), " and ", to_string(b)),
                        .expected = ir::to_string(f),
                        .site = f.site});
    }
  }

  bool answerable(const SymFact& f) const {
    for (Int e : {f.a, f.b})
      for (uint32_t k : symbols_of(e)) {
        const ir::Value* v = p_.sources_[k].value;
        if (v == nullptr || v->node() != nullptr || v->block() != &p_.graph_.body()) return false;
      }
    return true;
  }

  // ── steps ──

  void step(const Step& s, Bound::OfStep& ready) {
    SiteScope site(s.node->site());
    Bound::OfStep fresh;
    Bound::OfStep* bound = &ready;
    if (s.dynamic && s.kind != Step::Kind::structure) {
      bind_step(s, now_, fresh);
      bound = &fresh;
    }
    switch (s.kind) {
      case Step::Kind::op:
        run_op(s, *bound);
        break;
      case Step::Kind::kernel:
        run_kernel(s, *bound);
        break;
      case Step::Kind::rows:
        run_rows(s, *bound);
        break;
      case Step::Kind::structure:
        run_structure(s, *bound);
        break;
    }
    for (auto [symbol, axis] : s.symbols) {
      for (size_t k = 0; k < s.out.size(); ++k) {
        if (p_.sources_[symbol].value != s.node->out(k)) continue;
        const ir::Datum& d = at(s.out[k]);
        now_[symbol] = axis < 0 ? d.integer().value() : d.tensor().size(axis).value();
      }
    }
  }

  /// A constant may be an expression over sizes: the number it is now.
  ir::Datum evaluated(const ir::Datum& d) const {
    return d.is_integer() && !d.integer().known() ? ir::Datum(Arg(evaluate(d.integer()))) : d;
  }
  Arg argument(int slot) {
    const ir::Datum& d = at(slot);
    return d.is_integer() ? Arg(evaluate(d.integer())) : d.arg();
  }
  ir::Datum& at(int slot) { return c_.slots_[static_cast<size_t>(slot)]; }

  Tensor target(const Bound::OfStep& b, size_t result = 0) const {
    return result == 0 && b.place.defined() ? b.place : empty(b.types[result]);
  }

  Args arguments(const Step& s, Bound::OfStep& b) {
    for (size_t i = 0; i < s.in.size(); ++i) *b.holes[i] = argument(s.in[i]);
    return b.filled->args();
  }

  /// The entry that runs this op; asked again when flags have changed.
  const Entry& entry(const Call& call, Bound::OfStep& b) {
    uint64_t revision = flags_revision();
    if (b.entry == nullptr || b.revision != revision) {
      b.entry = &family(make_query(call.op, call.args, call.types));
      b.revision = revision;
    }
    return *b.entry;
  }

  void run_op(const Step& s, Bound::OfStep& b) {
    if (b.done) return;
    const ir::Node& n = *s.node;
    ++c_.counts_.ops;
    if (n.op()->kind == Kind::contract) return run_contraction(s, b);
    Args args = arguments(s, b);
    if (b.types.size() != n.out().size()) {  // numbers
      at(s.out[0]) = ir::Datum(ir::evaluate_scalar(*n.op(), args));
      return;
    }
    Outputs outputs;
    Tensor into = b.place;
    Call call{*n.op(), args, b.types, into.defined() ? &into : nullptr};
    entry(call, b).call(call, outputs);
    for (size_t k = 0; k < outputs.size(); ++k) {
      // Plans take results to be in row-major order; a foreign op may give another.
      if (n.op()->kind == Kind::opaque && outputs[k].defined() && !contiguous(outputs[k]))
        outputs[k] = math_ops<Tensor>::clone(outputs[k]);
      at(s.out[k]) = ir::Datum(std::move(outputs[k]));
    }
    b.done = b.fixed;
  }

  /// Where the elements of an input begin.
  std::byte* address(const Step& s, const Bound::OfStep& b, size_t input) {
    return elements(at(s.in[input]).tensor()) + b.shifts[input];
  }

  // ── contractions ──

  void contract(const Step& s, Bound::OfStep& b, const Tensor& out, Epilogue epilogue) {
    jit::run_contraction(s, b, {&at(s.in[0]).tensor(), &at(s.in[1]).tensor()}, now_, p_.packed_,
                         out, epilogue);
  }

  void run_contraction(const Step& s, Bound::OfStep& b) {
    if (s.operands.empty()) {  // of another device, or of another dtype
      Args args = arguments(s, b);
      Outputs outputs;
      Tensor into = b.place;
      executor().run(Call{*s.node->op(), args, b.types, into.defined() ? &into : nullptr}, outputs);
      at(s.out[0]) = ir::Datum(std::move(outputs[0]));
      if (s.epilogue) run_kernel(*s.epilogue, *b.epilogue);
      return;
    }
    at(s.out[0]) = ir::Datum(target(b));
    const Tensor& out = at(s.out[0]).tensor();
    if (!s.epilogue) return contract(s, b, out, {});
    KernelCall call;
    prepare(*s.epilogue, *b.epilogue, call);
    PointwiseKernel::Launch launch(*s.epilogue->kernel, b.epilogue->kernel, call.run);
    auto apply = [](void* context, int64_t first, int64_t count) {
      static_cast<PointwiseKernel::Launch*>(context)->piece(first, first + count);
    };
    contract(s, b, out, {apply, &launch});
    launch.finish();
    finish(*s.epilogue, call, launch.engine());
  }

  // ── kernels ──

  void prepare(const Step& s, const Bound::OfStep& b, KernelCall& call) {
    settle(b);
    const PointwiseKernel& kernel = *s.kernel;
    for (int input : kernel.tensors()) {
      auto k = static_cast<size_t>(input);
      call.buffers.push_back(at(s.in[k]).is_tensor() ? address(s, b, k) : nullptr);
    }
    for (size_t k = 0; k < b.types.size(); ++k) {
      call.outs.push_back(target(b, k));
      call.buffers.push_back(elements(call.outs.back()));
    }
    add_uniforms(s, call);
  }

  void add_uniforms(const Step& s, KernelCall& call) {
    for (const Number& u : s.kernel->numbers())
      call.uniforms.push_back(uniform_bits(
          u.input >= 0 ? argument(s.in[static_cast<size_t>(u.input)]) : Arg(evaluate(u.expr)),
          u.dtype));
    call.run = {call.buffers, call.uniforms, wanted_, name_of(*s.node), s.node->site()};
  }

  void finish(const Step& s, KernelCall& call, Engine engine) {
    count(engine);
    for (size_t k = 0; k < call.outs.size(); ++k) at(s.out[k]) = ir::Datum(std::move(call.outs[k]));
  }

  void count(Engine engine) {
    c_.counts_.kernels_generated += engine == Engine::generated;
    c_.counts_.kernels_strips += engine == Engine::strips;
  }

  void run_kernel(const Step& s, const Bound::OfStep& b) {
    KernelCall call;
    prepare(s, b, call);
    finish(s, call, s.kernel->run(b.kernel, call.run));
  }

  /// Kernels run on the host: before they touch memory of another device its work must be done.
  static void settle(const Bound::OfStep& b) {
    if (!b.types.empty() && b.types[0].device.kind != DeviceKind::cpu)
      current_stream(b.types[0].device).synchronize();
  }

  // ── row groups ──

  void run_rows(const Step& s, Bound::OfStep& b) {
    settle(b.members[0]);
    std::deque<RowPart> parts;
    for (size_t i = 0; i < b.members.size(); ++i)
      add_part(parts.emplace_back(s.rows->members[i], b.inner[i]), b.members[i]);
    jit::run_rows(*s.rows, b, parts);
    for (RowPart& part : parts) {
      if (part.launch)
        count(part.launch->engine());
      else
        ++c_.counts_.ops;
    }
  }

  void add_part(RowPart& part, Bound::OfStep& b) {
    const RowGroup::Member& m = part.member;
    for (size_t i = 0; i < m.inputs.size(); ++i)
      part.call.buffers.push_back(m.temporary[i] < 0 ? address(m.step, b, m.inputs[i]) : nullptr);
    for (size_t k = 0; k < m.step.out.size(); ++k) {
      part.call.outs.push_back(m.keeps(k) ? target(b, k) : Tensor());
      part.call.buffers.push_back(m.keeps(k) ? elements(part.call.outs.back()) : nullptr);
      if (m.keeps(k)) at(m.step.out[k]) = ir::Datum(part.call.outs.back());  // later ones read it
    }
    if (m.fold != nullptr) return;
    add_uniforms(m.step, part.call);
    part.launch.emplace(*m.step.kernel, b.kernel, part.call.run);
  }

  // ── structures ──

  /// Kernels are planned for structures' parameters and results in row-major order.
  static ir::Datum row_major(const ir::Datum& d) {
    if (!d.is_tensor() || contiguous(d.tensor())) return d;
    return ir::Datum(math_ops<Tensor>::clone(d.tensor()));
  }
  /// What a structure hands through may lie in the arena, where its place is another's soon.
  ir::Datum of_its_own(const ir::Datum& d) const {
    bool lent = d.is_tensor() && d.tensor().impl()->storage.get() == c_.arena_.get();
    return lent ? ir::Datum(math_ops<Tensor>::clone(d.tensor())) : row_major(d);
  }

  ir::Data inner(const Step::Inner& block, std::vector<Bound::OfStep>& bound,
                 absl::Span<const ir::Datum> parameters) {
    // The body of a while has none of its own: it sees those of the condition, which ran just
    // before.
    for (size_t i = 0; i < block.parameters.size(); ++i)
      at(block.parameters[i]) = row_major(parameters[i]);
    bind_parameters(block);
    for (size_t i = 0; i < block.steps.size(); ++i) step(block.steps[i], bound[i]);
    ir::Data out;
    for (int slot : block.yields) out.push_back(evaluated(at(slot)));
    return out;
  }

  void bind_parameters(const Step::Inner& inner) {
    for (uint32_t k = 0; k < p_.sources_.size(); ++k) {
      const ir::SymbolSource& src = p_.sources_[k];
      if (src.value == nullptr || src.value->node() != nullptr || src.value->block() != inner.block)
        continue;
      const ir::Datum& d = at(inner.parameters[src.value->index()]);
      now_[k] = src.axis < 0 ? d.integer().value() : d.tensor().size(src.axis).value();
    }
  }

  void run_structure(const Step& s, Bound::OfStep& b) {
    ir::Data in;
    for (int slot : s.in) in.push_back(evaluated(at(slot)));
    ir::Data out;
    switch (s.node->structure()) {
      case ir::Structure::if_:
        out = run_if(s, b, ir::truth(in[0]) ? 0 : 1);
        break;
      case ir::Structure::while_:
        out = in;
        // The rounds see what the condition was asked with: the parameters are its.
        while (ir::truth(inner(s.blocks[0], b.blocks[0], out)[0]))
          out = inner(s.blocks[1], b.blocks[1], {});
        break;
      case ir::Structure::for_:
        out = run_for(s, b, in);
        break;
      case ir::Structure::call:
        out = s.callee->run(in);
        break;
      default:
        LATHE_INTERNAL("a structure that programs do not run");
    }
    for (size_t k = 0; k < out.size(); ++k) at(s.out[k]) = of_its_own(out[k]);
  }

  ir::Data run_if(const Step& s, Bound::OfStep& b, size_t which) {
    return inner(s.blocks[which], b.blocks[which], {});
  }

  ir::Data run_for(const Step& s, Bound::OfStep& b, const ir::Data& in) {
    const ir::Node& n = *s.node;
    int64_t bounds[3];
    size_t next = 0;
    for (int i = 0; i < 3; ++i)
      bounds[i] =
          n.value(i) != nullptr ? in[next++].integer().value() : value(n.literal(i).integer());
    ir::Data carried(in.begin() + static_cast<ptrdiff_t>(n.carried_from()), in.end());
    for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
      ir::Data parameters{ir::Datum(Arg(Int(i)))};
      parameters.insert(parameters.end(), carried.begin(), carried.end());
      carried = inner(s.blocks[0], b.blocks[0], parameters);
    }
    return carried;
  }

  // ── results ──

  /// All values first, then all writes. What lies in an input that is written, or is itself an
  /// input, is copied first where the write could change it.
  ir::Data results(const ir::Data& inputs) {
    ir::Data all;
    for (int slot : p_.result_slots_) all.push_back(evaluated(at(slot)));
    size_t outputs = all.size() - p_.written_.size();
    // A result owns its memory: no input's (a copy that was rewritten away), no constant's, and no
    // other result's (equal expressions that were merged).
    auto lies_in = [](const ir::Datum& d, const ir::Datum& other) {
      return other.is_tensor() &&
             d.tensor().impl()->storage.get() == other.tensor().impl()->storage.get();
    };
    auto lent = [&](size_t i) {
      auto same = [&](const ir::Datum& other) { return lies_in(all[i], other); };
      return std::any_of(inputs.begin(), inputs.end(), same) ||
             std::any_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(i), same) ||
             std::any_of(p_.constants_.begin(), p_.constants_.end(),
                         [&](const auto& c) { return same(c.second); });
    };
    // And it lies as eager's: a view that was written to a tensor may show one element many times.
    for (size_t i = 0; i < outputs; ++i)
      if (all[i].is_tensor() && (lent(i) || !contiguous(all[i].tensor())))
        all[i] = ir::Datum(math_ops<Tensor>::clone(all[i].tensor()));
    auto written = [&](const ir::Datum& d) {
      return std::any_of(p_.written_.begin(), p_.written_.end(),
                         [&](size_t input) { return lies_in(d, inputs[input]); });
    };
    for (size_t i = outputs; i < all.size(); ++i)
      if (all[i].is_tensor() && written(all[i]))
        all[i] = ir::Datum(math_ops<Tensor>::clone(all[i].tensor()));
    const ir::Values& made = p_.graph_.body().yields();
    for (size_t i = 0; i < p_.written_.size(); ++i) {
      const ir::Node* by = made[outputs + i]->node();
      SiteScope site(by == nullptr ? Site() : by->site());  // who wrote, for errors about versions
      assign(inputs[p_.written_[i]].tensor(), all[outputs + i].tensor());
    }
    all.resize(outputs);
    return all;
  }

  const Program& p_;
  RunContext& c_;
  std::vector<int64_t> now_;  // what each symbol is
  Wanted wanted_ = Wanted::either;
};

ir::Data Program::run(const ir::Data& inputs, RunContext& context) const {
  return Runner(*this, context).run(inputs);
}

ir::Data Program::run(const ir::Data& inputs) const {
  std::unique_ptr<RunContext> context;
  {
    std::lock_guard hold(mutex_);
    if (!idle_.empty()) {
      context = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!context) context = std::make_unique<RunContext>(*this);
  context->counts_ = {};
  ir::Data outputs = run(inputs, *context);  // one that throws is not used again
  std::lock_guard hold(mutex_);
  counts_ += context->counts_;
  peak_ = std::max(peak_, context->arena_bytes());
  idle_.push_back(std::move(context));
  return outputs;
}

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  ops += other.ops;
  kernels_generated += other.kernels_generated;
  kernels_strips += other.kernels_strips;
  bindings += other.bindings;
  return *this;
}

RunCounts Program::counts() const {
  std::lock_guard hold(mutex_);
  return counts_;
}

size_t Program::peak_bytes() const {
  std::lock_guard hold(mutex_);
  return peak_;
}

int Program::kernels() const { return static_cast<int>(kernels_.size()); }

std::string Program::compile() const {
  std::string why;
  for (const auto& k : kernels_)
    if (std::string w = k->compile(); !w.empty())
      absl::StrAppend(&why, k->nest().name, ": ", w, "\n");
  return why;
}

RunContext::RunContext(const Program& program)
    : program_(&program), slots_(static_cast<size_t>(program.slots_)) {
  for (const auto& [slot, value] : program.constants_) slots_[static_cast<size_t>(slot)] = value;
}
RunContext::~RunContext() = default;
RunContext::RunContext(RunContext&&) noexcept = default;
size_t RunContext::arena_bytes() const { return bound_ ? bound_->arena_bytes : 0; }

}  // namespace lathe::jit
