#include "jit/program.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "core/element.h"
#include "core/error.h"
#include "core/fn.h"
#include "core/inplace.h"
#include "core/random.h"
#include "graph/structure.h"
#include "graph/text.h"
#include "include/lathe/ops/math.h"
#include "jit/steps.h"
#include "kernels/bodies.h"
#include "kernels/executor.h"

namespace lathe::jit {
namespace {

constexpr size_t kAlign = 64;
size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

bool contiguous(const Tensor& t) { return t.geometry().is_contiguous(); }

std::byte* elements(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  return impl->storage->data +
         impl->geometry.offset.value() * static_cast<int64_t>(size_of(impl->dtype));
}

/// Bits of a number for a uniform of this dtype.
uint64_t uniform_bits(const Arg& a, DType dtype) {
  alignas(16) std::byte room[16] = {};
  store_number(a, dtype, room);
  return element_bits(dtype, room);
}

}  // namespace

class Runner {
 public:
  Runner(const Program& p, RunContext& c) : p_(p), c_(c) {}

  ir::Data run(const ir::Data& inputs) {
    GradMode no_grad(false);
    std::vector<int64_t> symbols = bind_inputs(inputs);
    if (!c_.bound_ || c_.bound_->symbols != symbols) bind(std::move(symbols));
    now_ = c_.bound_->symbols;
    ask_facts();
    for (size_t i = 0; i < p_.steps_.size(); ++i) step(p_.steps_[i], &c_.bound_->steps[i]);
    return results(inputs);
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
  Int evaluate(Int e) const {
    if (e.known()) return e;
    return substitute(e, [&](uint32_t k) { return Int(now_[k]); });
  }
  TensorType evaluate(const TensorType& t) const {
    TensorType out = t;
    for (Int& s : out.shape) s = evaluate(s);
    return out;
  }

  void bind(std::vector<int64_t> symbols) {
    auto b = std::make_unique<Bound>();
    b->symbols = std::move(symbols);
    now_ = b->symbols;
    b->steps.resize(p_.steps_.size());
    for (size_t i = 0; i < p_.steps_.size(); ++i)
      if (!p_.steps_[i].dynamic) bind_step(p_.steps_[i], b->steps[i]);
    lay_out(*b);
    c_.bound_ = std::move(b);
    ++c_.counts_.bindings;
  }

  void bind_step(const Step& s, Bound::OfStep& b) const {
    b.types.clear();
    for (const TensorType& t : s.types) b.types.push_back(evaluate(t));
    if (s.kind == Step::Kind::kernel)
      b.kernel = s.kernel->bind([&](Int e) { return value(e); });
    else
      b.attrs = evaluated_attrs(*s.node);
  }

  ArgVec evaluated_attrs(const ir::Node& n) const {
    std::function<Int(Int)> change = [&](Int e) { return evaluate(e); };
    return ArgVec(ir::fill(n.attrs(), {}, {}, &change).args());
  }

  /// Offsets for all arena blocks: largest first, each at the lowest place free over its whole
  /// life.
  void lay_out(Bound& b) const {
    struct Placed {
      size_t begin, end;
      int first, last;
    };
    std::vector<size_t> order(p_.arena_.size());
    std::vector<size_t> bytes(p_.arena_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
      TensorType t = evaluate(p_.arena_[i].type);
      bytes[i] = aligned(static_cast<size_t>(numel(t.shape).value()) * size_of(t.dtype));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return bytes[x] > bytes[y]; });
    std::vector<Placed> placed;
    std::vector<size_t> offsets(order.size());
    for (size_t i : order) {
      const ArenaBlock& block = p_.arena_[i];
      size_t at = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (const Placed& q : placed) {
          bool together = q.first <= block.last && block.first <= q.last;
          if (together && at < q.end && q.begin < at + bytes[i]) {
            at = q.end;
            moved = true;
          }
        }
      }
      offsets[i] = at;
      placed.push_back({at, at + bytes[i], block.first, block.last});
      b.arena_bytes = std::max(b.arena_bytes, at + bytes[i]);
    }
    for (size_t i = 0; i < p_.steps_.size(); ++i)
      if (p_.steps_[i].arena >= 0)
        b.steps[i].arena_offset =
            static_cast<int64_t>(offsets[static_cast<size_t>(p_.steps_[i].arena)]);
    Device device = p_.graph_.inputs().empty() || p_.graph_.inputs()[0]->type().tensor() == nullptr
                        ? Device{}
                        : p_.graph_.inputs()[0]->tensor().device;
    if (!c_.arena_ || c_.arena_->bytes < b.arena_bytes)
      c_.arena_ = new_storage(device, b.arena_bytes);
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

  void step(const Step& s, const Bound::OfStep* bound) {
    SiteScope site(s.node->site());
    Bound::OfStep fresh;
    if (s.dynamic && s.kind != Step::Kind::structure) {
      bind_step(s, fresh);
      bound = &fresh;
    }
    switch (s.kind) {
      case Step::Kind::op:
        run_op(s, *bound);
        break;
      case Step::Kind::kernel:
        run_kernel(s, *bound);
        break;
      case Step::Kind::structure:
        run_structure(s);
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

  ir::Datum& at(int slot) { return c_.slots_[static_cast<size_t>(slot)]; }

  Tensor target(const Bound::OfStep& b) const {
    if (b.arena_offset < 0) return empty(b.types[0]);
    Geometry g = Geometry::contiguous(b.types[0].shape);
    g.offset = Int(b.arena_offset / static_cast<int64_t>(size_of(b.types[0].dtype)));
    return make_tensor(c_.arena_, b.types[0].dtype, std::move(g));
  }

  void run_op(const Step& s, const Bound::OfStep& b) {
    const ir::Node& n = *s.node;
    absl::InlinedVector<Arg, 8> values;
    for (int slot : s.in) values.push_back(at(slot).arg());
    ir::Filled filled = ir::fill(b.attrs, n.places(), values);
    ++c_.counts_.ops;
    if (b.types.size() != n.out().size()) {  // numbers
      at(s.out[0]) = ir::Datum(ir::evaluate_scalar(*n.op(), filled.args()));
      return;
    }
    Outputs outputs;
    Tensor into;
    if (b.arena_offset >= 0) into = target(b);
    Call call{*n.op(), filled.args(), b.types, into.defined() ? &into : nullptr};
    executor().run(call, outputs);
    for (size_t k = 0; k < outputs.size(); ++k) at(s.out[k]) = ir::Datum(std::move(outputs[k]));
  }

  void run_kernel(const Step& s, const Bound::OfStep& b) {
    const PointwiseKernel& kernel = *s.kernel;
    absl::InlinedVector<std::byte*, 8> buffers;
    for (int input : kernel.tensors()) {
      const Tensor& t = at(s.in[static_cast<size_t>(input)]).tensor();
      buffers.push_back(elements(t));
    }
    absl::InlinedVector<Tensor, 2> outs;
    for (size_t k = 0; k < b.types.size(); ++k) {
      outs.push_back(k == 0 ? target(b) : empty(b.types[k]));
      buffers.push_back(elements(outs.back()));
    }
    absl::InlinedVector<uint64_t, 4> uniforms;
    for (const Number& u : kernel.numbers())
      uniforms.push_back(uniform_bits(
          u.input >= 0 ? at(s.in[static_cast<size_t>(u.input)]).arg() : Arg(evaluate(u.expr)),
          u.dtype));
    PointwiseKernel::Run run{
        buffers,
        uniforms,
        0,
        0,
        s.node->op() != nullptr ? std::string_view(s.node->op()->name()) : "group",
        s.node->site()};
    Engine engine = kernel.run(b.kernel, run);
    ++(engine == Engine::generated ? c_.counts_.kernels_generated : c_.counts_.kernels_strips);
    for (size_t k = 0; k < outs.size(); ++k) at(s.out[k]) = ir::Datum(std::move(outs[k]));
  }

  // ── structures ──

  ir::Data inner(const Step::Inner& block, absl::Span<const ir::Datum> parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) at(block.parameters[i]) = parameters[i];
    bind_parameters(block);
    for (const Step& s : block.steps) {
      Bound::OfStep bound;
      if (!s.dynamic) bind_step(s, bound);  // binds on every run: it is not among the top level's
      step(s, &bound);
    }
    ir::Data out;
    for (int slot : block.yields) out.push_back(at(slot));
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

  void run_structure(const Step& s) {
    ir::Data in;
    for (int slot : s.in) in.push_back(at(slot));
    ir::Data out;
    switch (s.node->structure()) {
      case ir::Structure::if_:
        out = inner(s.blocks[ir::truth(in[0]) ? 0 : 1], {});
        break;
      case ir::Structure::while_:
        out = in;
        while (ir::truth(inner(s.blocks[0], out)[0])) out = inner(s.blocks[1], out);
        break;
      case ir::Structure::for_:
        out = run_for(s, in);
        break;
      case ir::Structure::call:
        out = s.callee->run(in);
        break;
      default:
        LATHE_INTERNAL("a structure that programs do not run");
    }
    for (size_t k = 0; k < out.size(); ++k) at(s.out[k]) = out[k];
  }

  ir::Data run_for(const Step& s, const ir::Data& in) {
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
      carried = inner(s.blocks[0], parameters);
    }
    return carried;
  }

  // ── results ──

  /// All values first, then all writes. What lies in an input that is written, or is itself an
  /// input, is copied first where the write could change it.
  ir::Data results(const ir::Data& inputs) {
    ir::Data all;
    for (int slot : p_.result_slots_) all.push_back(at(slot));
    std::vector<ir::Write> writes = p_.graph_.writes();
    size_t outputs = all.size() - writes.size();
    auto written = [&](const Tensor& t) {
      for (const ir::Write& w : writes)
        if (inputs[w.input->index()].tensor().impl()->storage.get() == t.impl()->storage.get())
          return true;
      return false;
    };
    if (!writes.empty())
      for (ir::Datum& d : all)
        if (d.is_tensor() && written(d.tensor()))
          d = ir::Datum(math_ops<Tensor>::clone(d.tensor()));
    for (size_t i = 0; i < writes.size(); ++i)
      assign(inputs[writes[i].input->index()].tensor(), all[outputs + i].tensor());
    all.resize(outputs);
    return all;
  }

  const Program& p_;
  RunContext& c_;
  std::vector<int64_t> now_;  // what each symbol is
};

ir::Data Program::run(const ir::Data& inputs, RunContext& context) const {
  return Runner(*this, context).run(inputs);
}

ir::Data Program::run(const ir::Data& inputs) const {
  RunContext context(*this);
  return run(inputs, context);
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
