#include "graph/trace/tracer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "graph/ir/arguments.h"
#include "graph/ir/literal.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"

namespace lathe::ir {
namespace {

constinit thread_local Tracer* t_tracer = nullptr;

/// Row-major, also along axes of size 1 and in a tensor of no elements, where strides say nothing
/// about the elements but can be read.
bool lies_as_sizes_say(const Geometry& g) {
  Int expected = 1;
  for (size_t i = g.shape.size(); i-- > 0;) {
    if (!identical(g.strides[i], expected)) return false;
    if (i > 0) expected *= g.shape[i];
  }
  return true;
}

bool has_no_elements(const Geometry& g) {
  return std::any_of(g.shape.begin(), g.shape.end(), [](Int size) { return identical(size, 0); });
}

/// Axes by descending stride; empty if that order is not one of a packed tensor with elements.
absl::InlinedVector<int, 6> packed_order(const Geometry& g) {
  absl::InlinedVector<int, 6> order(static_cast<size_t>(g.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return g.strides[static_cast<size_t>(a)].hint() > g.strides[static_cast<size_t>(b)].hint();
  });
  if (has_no_elements(g) || !lies_as_sizes_say(g.permute(order))) order.clear();
  return order;
}

}  // namespace

uint64_t stride_class(const Geometry& g, bool any_strides) {
  if (lies_as_sizes_say(g)) return 0;
  uint64_t code = 1;
  auto order = packed_order(g);
  if (!order.empty() && order.size() <= 14) {
    for (int axis : order) code = code * 16 + static_cast<uint64_t>(axis);
    return code;
  }
  for (Int s : g.strides) {
    const auto stride = static_cast<uint64_t>(s.hint());
    code = code * 0x9E3779B97F4A7C15 + (any_strides ? std::min<uint64_t>(stride, 2) : stride) + 1;
  }
  return code | uint64_t{1} << 63;
}

Datum TraceCallbacks::read(const Path& path) {
  throw TraceError(
      {.op = "trace", .problem = "this front end cannot read what a trace met", .got = path.text});
}

InputSpec spec_of(const Tensor& t, std::string name) {
  InputSpec s;
  s.path = {name};
  s.name = std::move(name);
  s.type = type_of(t);
  s.strides = t.geometry().strides;
  s.requires_grad = t.requires_grad();
  return s;
}

// ── the tracer ──────────────────────────────────────────────────────────────────────────────────

Tracer::Tracer(std::string name, TraceCallbacks& host) : Tracer(Graph(std::move(name)), host) {}

Tracer::Tracer(Graph graph, TraceCallbacks& host)
    : host_(host),
      epoch_(new_epoch()),
      graph_(std::move(graph)),
      outer_backend_(thread_state().backend),
      outer_epoch_(thread_state().trace_epoch),
      outer_tracer_(t_tracer) {
  enter_symbols(graph_, scope_);
  scope_.ask_when_it_runs([this](const SymFact& fact) { return ask_size(fact); });
  scope_.enter();
  reals_.enter();
  for (const SymFact& f : graph_.assumptions()) scope_.decide(f.relation, f.a, f.b);
  const std::vector<SymbolSource> sources = graph_.sources();
  for (const SymFact& f : graph_.checks()) {
    if (graph_.inputs_say(f.a, sources) && graph_.inputs_say(f.b, sources))
      scope_.require(f.relation, f.a, f.b);
    else  // what is true in every round of a loop need not be at the first call
      scope_.assume(f.relation, f.a, f.b);
  }
  thread_state().backend = this;
  thread_state().trace_epoch = epoch_;
  t_tracer = this;
}

Tracer::~Tracer() {
  reals_.leave();
  scope_.leave();
  thread_state().backend = outer_backend_;
  thread_state().trace_epoch = outer_epoch_;
  t_tracer = outer_tracer_;
}

Tracer* Tracer::current() { return t_tracer; }

/// What was presumed of a size that only running tells, asked when the program runs: where this
/// block makes all sizes that it is about, next to where they are made.
bool Tracer::ask_size(const SymFact& fact) {
  static const Op& op = *index_ops<Tensor>::check_size.op();
  Block& block = graph_.insertion_block();
  size_t last = 0;  // of the nodes that make the sizes
  bool early = true;
  for (const Int e : {fact.a, fact.b}) {
    for (uint32_t k : symbols_of(e)) {
      if (!scope_.inside(symbol(k))) {
        early = early && &block == &graph_.body();
        continue;
      }
      size_t made = 0;
      while (made < sized_.size() &&
             (sized_[made]->parent() != &block ||
              !identical(sized_[made]->out(0)->tensor().shape[0], symbol(k))))
        ++made;
      early = early && made < sized_.size();
      last = std::max(last, made);
    }
  }
  auto add = [&] {
    graph_.add(
        op, {Arg(fact.a), Arg(kRelations[static_cast<size_t>(fact.relation)].data()), Arg(fact.b)},
        {}, fact.site);
  };
  if (early && sized_[last]->next() != nullptr) {
    InsertAt behind(graph_, sized_[last]->next());
    add();
  } else {
    add();
  }
  return early;
}

bool Tracer::claims(const Op& op, Args args, Types& types) const {
  // What eager runs whole stays whole, so that both make the same choice of kernel.
  return !op.schema.writes() && below().claims(op, args, types);
}

Bits Tracer::bits(const Call& call) const { return below().bits(call); }

/// Who runs what this traces.
Backend& Tracer::below() const {
  thread_state().backend = outer_backend_;
  Backend& found = current_backend();
  thread_state().backend = const_cast<Tracer*>(this);
  return found;
}

uint32_t Tracer::id_of(Value* v) {
  auto [it, fresh] = ids_.emplace(v, static_cast<uint32_t>(values_.size()));
  if (fresh) values_.push_back(v);
  return it->second;
}

Tensor Tracer::tensor_for(Value* v) {
  auto* impl = new TensorImpl;
  Tensor t(impl);
  const TensorType& type = v->tensor();
  impl->dtype = type.dtype;
  impl->device = type.device;
  impl->geometry = Geometry::contiguous(type.shape);
  impl->symbol = {.epoch = epoch_, .value = id_of(v)};
  return t;
}

Value* Tracer::value_of(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  if (!chosen_.empty()) refuse_stale(t);
  refresh(t);
  if (!frames_.empty()) note_tracked(t);
  if (impl->storage) {
    if (impl->symbol.epoch != 0)
      throw TraceError({.problem =
                            "a view made before the trace is used after the traced code wrote to "
                            "the tensor it is a view of",
                        .got = lathe::to_string(type_of(t)),
                        .next = "make the view inside the traced function"});
    return lift(t);
  }
  if (impl->symbol.epoch != epoch_)
    throw TraceError(
        {.problem = "a symbolic tensor of another trace is used here: it escaped from the "
                    "function that was being traced",
         .got = lathe::to_string(type_of(t)),
         .expected = "tensors of this trace, or concrete ones",
         .next = "return the tensor from the traced function instead of keeping it in a "
                 "global, an attribute or a cache"});
  Value* v = values_[impl->symbol.value];
  if (!visible_from(v, graph_.insertion_block()))
    throw TraceError({.problem = "a tensor made inside a branch or a loop is used outside of it",
                      .got = lathe::to_string(type_of(t)),
                      .next = "return it from the branch, or carry it round the loop"});
  return v;
}

Value* Tracer::value_of(const Datum& d) {
  if (d.is_tensor()) return value_of(d.tensor());
  Operands::Item item = operand_of(d.arg());
  return item.value != nullptr ? item.value : graph_.add_constant(item.literal, here());
}

// ── floats ──────────────────────────────────────────────────────────────────────────────────────

Arg Tracer::number_for(Value* v, std::optional<double> hint) {
  const Scalar& type = *v->type().scalar();
  if (type.value) return Arg(*type.value);
  if (type.kind != ScalarKind::real)
    throw TraceError({.problem = "a number that no symbol names", .got = to_string(v->type())});
  for (const auto& [symbol, value] : real_values_)
    if (value == v) return Arg(Real::from_expr(symbol));
  Real r = reals_.fresh(hint);
  real_values_.emplace(r.expr(), v);
  return Arg(r);
}

namespace {

const Op& op_of(RealKind kind) {
  using M = math_ops<Tensor>;
  switch (kind) {
    case RealKind::add:
      return *M::add.op();
    case RealKind::sub:
      return *M::sub.op();
    case RealKind::mul:
      return *M::mul.op();
    case RealKind::div:
      return *M::div.op();
    case RealKind::neg:
      return *M::neg.op();
    case RealKind::abs:
      return *M::abs.op();
    case RealKind::symbol:
      break;
  }
  LATHE_INTERNAL("a symbol is computed");
}

}  // namespace

bool Tracer::at_head(const Value* v) const {
  if (v->node() == nullptr) return v->block() == &graph_.body();
  return std::find(real_nodes_.begin(), real_nodes_.end(), v->node()) != real_nodes_.end();
}

/// Expressions over inputs are computed once, at the head of the graph: what reads them may be in
/// any block. Others (of a transformation of a graph) are computed where they are read.
Value* Tracer::value_of(Real r) {
  if (auto it = real_values_.find(r.expr()); it != real_values_.end()) return it->second;
  reals_.require_own(r);
  const RealExpr& e = *r.expr();
  const bool unary = e.kind == RealKind::neg || e.kind == RealKind::abs;
  std::vector<Given> given(unary ? 1 : 2);
  bool head = true;
  for (size_t i = 0; i < given.size(); ++i) {
    Real part = i == 0 ? e.a : e.b;
    if (part.known()) {
      given[i].literal = Arg(part);
    } else {
      given[i].value = value_of(part);
      head = head && at_head(given[i].value);
    }
  }
  auto add = [&] {
    const Op& op = op_of(e.kind);
    return add_inferred(graph_, op, complete(op, given), here());
  };
  if (!head) return add()->out(0);
  Node* before = real_nodes_.empty() ? graph_.body().first() : real_nodes_.back()->next();
  if (before != nullptr) {
    InsertAt first(graph_, before);
    real_nodes_.push_back(add());
  } else {
    InsertAt first(graph_, graph_.body());
    real_nodes_.push_back(add());
  }
  return real_values_[r.expr()] = real_nodes_.back()->out(0);
}

/// What an op is given beside tensors: a literal, or the value of a float that is none.
Operands::Item Tracer::operand_of(const Arg& a) {
  if (a.tag != Tag::real || a.real().known()) return a;
  Real r = reals_.fixed(a.real());
  if (r.known()) return Arg(r);
  return value_of(r);
}

/// The tape keeps what a derivative reads as a tensor of its own, over the memory of one that was
/// met. Null: it is no such tensor.
Value* Tracer::as_kept(const Tensor& t) const {
  for (const TensorImpl* impl : captured_order_) {
    const Captured& l = captured_.at(impl);
    const Geometry &a = impl->geometry, &b = t.geometry();
    if (impl->storage.get() != t.impl()->storage.get() || impl->dtype != t.dtype()) continue;
    if (!identical(a.shape, b.shape) || !identical(a.strides, b.strides)) continue;
    if (!identical(a.offset, b.offset)) continue;
    if (impl->version == t.impl()->version) return l.now;
    throw AutogradError({.op = "trace",
                         .problem = "a tensor that a derivative reads was written to since",
                         .got = lathe::to_string(type_of(t)),
                         .expected = "the value it had in the forward pass",
                         .next = "write to a clone(), or move the write after backward()"});
  }
  return nullptr;
}

Value* Tracer::lift(const Tensor& t) {
  if (auto it = captured_.find(t.impl()); it != captured_.end()) return it->second.now;
  TraceCallbacks::Found found = host_.find(t);
  if (found.how != TraceCallbacks::Found::How::path)
    if (Value* v = as_kept(t); v != nullptr) return v;
  if (found.how == TraceCallbacks::Found::How::refused)
    throw TraceError(
        {.problem = "the traced code uses a tensor that later calls could not find again",
         .got = lathe::to_string(type_of(t)),
         .next = "pass it as an argument, or keep it in a global or an attribute"});
  Captured l{t, nullptr, nullptr, -1};
  // Captured values belong to the whole graph, whatever block is being recorded.
  if (found.how == TraceCallbacks::Found::How::path) {
    l.input = static_cast<int>(graph_.inputs().size());
    l.start = graph_.add_input(type_of(t), found.path.text);
    guards_.push_back({.kind = GuardKind::layout,
                       .path = found.path,
                       .expected = stride_class(t.geometry(), /*any_strides=*/false),
                       .type = type_of(t),
                       .requires_grad = t.requires_grad(),
                       .site = here()});
    paths_.push_back(found.path);
    captured_now_.emplace_back(t);
  } else {
    Block& body = graph_.body();
    Tensor kept = t;
    if (found.how == TraceCallbacks::Found::How::identity) {
      if (t.requires_grad() && thread_state().grad_enabled)
        throw TraceError({.problem = "the traced code uses a tensor that it was not given and that "
                                     "requires a gradient, which no program would give it",
                          .got = lathe::to_string(type_of(t)),
                          .next = "pass it as an argument, or turn gradients off"});
      l.by_identity = true;
      guards_.push_back({.kind = GuardKind::identity,
                         .expected = t.version(),
                         .requires_grad = t.requires_grad(),
                         .tensor = t,
                         .site = here()});
    }
    if (t.device() == Device{}) {
      // A copy: whatever happens to the tensor later, the program keeps what it was traced with.
      Tensor p = packed(t);
      kept = from_host(p.data(), t.dtype(), t.shape());
    }
    if (!writes_inline(kept)) graph_.add_large_constant(kept);
    if (body.first() != nullptr) {
      InsertAt first(graph_, body.first());
      l.start = graph_.add_constant(Arg(kept), here());
    } else {
      InsertAt first(graph_, body);
      l.start = graph_.add_constant(Arg(kept), here());
    }
  }
  l.now = l.start;
  Value* v = l.now;
  captured_order_.push_back(t.impl());
  captured_.emplace(t.impl(), std::move(l));
  return v;
}

Geometry Tracer::geometry_of(const Call& call, size_t result, const TensorType& type) const {
  if (result == 0 && call.op.kind == Kind::view && call.op.geometry != nullptr) {
    Geometry g = call.op.geometry(call.args.tensor(0).geometry(), call.args);
    if (identical(g.shape, type.shape)) return g;
  }
  return Geometry::contiguous(type.shape);
}

Operands Tracer::operands_of(const Call& call) {
  Operands operands;
  for (const Arg& a : call.args) {
    if (a.tag == Tag::tensor) {
      operands.push(value_of(a.tensor()));
    } else if (a.tag == Tag::list) {
      std::vector<Operands::Item> items;
      for (size_t i = 0; i < a.list_->size; ++i) {
        const Arg& item = a.list_->data[i];
        if (item.tag == Tag::tensor)
          items.push_back(value_of(item.tensor()));
        else
          items.push_back(operand_of(item));
      }
      operands.push_list(items);
    } else {
      operands.push(operand_of(a));
    }
  }
  return operands;
}

namespace {

/// An elementwise op on nothing but numbers gives a 0-d tensor to who calls it, and a number in the
/// IR, where arithmetic on numbers is written with the same ops. So its first one becomes a 0-d
/// tensor: which of them, or -1.
int lone_number(const Call& call) {
  if (call.op.kind != Kind::elementwise) return -1;
  int first = -1;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].tag == Tag::tensor || call.args[i].tag == Tag::list) return -1;
    if (first < 0 && call.op.schema.params[i].number) first = static_cast<int>(i);
  }
  return first;
}

}  // namespace

namespace {

bool same_arguments(const ArgVec& a, const ArgVec& b) {
  const auto x = a.view(), y = b.view();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
}

/// Are the two one value, as far as it is seen at so many steps?
bool same_value(const Value* a, const Value* b, const Graph& graph, int steps) {
  if (a == b) return true;
  const Node *n = a->node(), *m = b->node();
  if (steps == 0 || n == nullptr || m == nullptr || a->index() != b->index()) return false;
  if (!n->is(Structure::op) || n->op() != m->op() || !(n->places() == m->places())) return false;
  if (effects(*n, graph) == Effects::ordered || !same_arguments(n->attrs(), m->attrs()))
    return false;
  return std::equal(
      n->in().begin(), n->in().end(), m->in().begin(), m->in().end(),
      [&](const Value* x, const Value* y) { return same_value(x, y, graph, steps - 1); });
}

}  // namespace

/// The size that the count was made before: what one mask picks of two tensors has one size.
Value* Tracer::sized_before(const Call& call) {
  constexpr int kSteps = 8;
  if (&call.op != index_ops<Tensor>::sized_by.op()) return nullptr;
  const Value* count = value_of(call.args.tensor(0));
  for (Node* n : sized_)
    if (n->parent() != nullptr && visible_from(n->out(0), graph_.insertion_block()) &&
        same_value(n->in(0), count, graph_, kSteps))
      return n->out(0);
  return nullptr;
}

void Tracer::run(const Call& call, Outputs& outputs) {
  if (++ops_ > kMostOps)
    throw TraceError({.op = call.op.name(),
                      .problem = absl::StrCat("the traced code has made ", kMostOps,
                                              " ops: a loop of it may never end"),
                      .got = "a loop that is written out, round by round",
                      .expected = "less, or loops whose end a tensor decides",
                      .next = "bound the loop, or make it lathe.fori_loop or lathe.while_loop"});
  if (const int i = lone_number(call); i >= 0) {
    absl::InlinedVector<Arg, 8> args(call.args.begin(), call.args.end());
    const Tensor first = create_ops<Tensor>::full(Shape{}, args[static_cast<size_t>(i)], {}, {});
    args[static_cast<size_t>(i)] = Arg(first);
    return run({call.op, absl::MakeConstSpan(args), call.types}, outputs);
  }
  if (Value* known = sized_before(call)) return outputs.push_back(tensor_for(known));
  Operands operands = operands_of(call);
  TypeList types;
  for (const TensorType& t : call.types) types.push_back(t);
  Node* n = graph_.add(call.op, std::move(operands), std::move(types), here());
  graph_.set_detached(n, !thread_state().grad_enabled);
  for (size_t i = 0; i < n->out().size(); ++i) {
    Tensor t = tensor_for(n->out(i));
    t.impl()->geometry = geometry_of(call, i, call.types[i]);
    outputs.push_back(std::move(t));
  }
  if (&call.op == index_ops<Tensor>::sized_by.op()) sized_.push_back(n);
}

// ── inputs ──────────────────────────────────────────────────────────────────────────────────────

Real Tracer::capture_number(const Path& path, double now) {
  Value* input = graph_.add_input(float_type(), path.text);
  paths_.push_back(path);
  captured_now_.emplace_back(Arg(Real(now)));
  return number_for(input, now).real();
}

Int Tracer::capture_number(const Path& path, int64_t now) {
  const Int n = scope_.fresh(now, false);
  graph_.add_input(integer_type(n), path.text);
  paths_.push_back(path);
  captured_now_.emplace_back(Arg(Int(now)));
  return n;
}

/// Strides of the next input, which do not say row-major order: from its sizes where they follow
/// from these, or of their own. Which of them are 0 and 1 is guarded (stride_class).
void Tracer::lay_out(Geometry& g, const Geometry& real) {
  const auto order = packed_order(real);
  if (!order.empty()) {
    const Geometry packed = Geometry::contiguous(g.permute(order).shape);
    for (size_t i = 0; i < order.size(); ++i)
      g.strides[static_cast<size_t>(order[i])] = packed.strides[i];
    return;
  }
  for (size_t axis = 0; axis < real.strides.size(); ++axis) {
    g.strides[axis] = real.strides[axis];
    if (real.strides[axis].value() < 2) continue;
    g.strides[axis] = scope_.fresh(real.strides[axis].value());
    const uint32_t symbol = symbols_of(g.strides[axis])[0];
    given_.insert(symbol);
    strides_.push_back({symbol, {inputs_.size(), static_cast<int>(axis)}});
  }
}

Datum Tracer::add_input(const InputSpec& spec) {
  specs_.push_back(spec);
  if (specs_.back().path.text.empty()) specs_.back().path.text = spec.name;
  if (const Scalar* s = spec.type.scalar()) {
    inputs_.emplace_back();
    if (s->kind == ScalarKind::real)
      return Datum(number_for(graph_.add_input(spec.type, spec.name), spec.number));
    if (s->kind != ScalarKind::integer || !s->value)
      throw TypeError(
          {.op = "trace",
           .problem = "an argument that is a number must be a float, or an integer with a value",
           .got = to_string(spec.type),
           .next = "pass other numbers as they are, and guard them by value"});
    Int i = scope_.fresh(s->value->value(), false);
    graph_.add_input(integer_type(i), spec.name);
    return Datum(Arg(i));
  }
  const TensorType* concrete = spec.type.tensor();
  if (concrete == nullptr)
    throw TypeError({.op = "trace",
                     .problem = "an argument must be a tensor or a number",
                     .got = to_string(spec.type)});
  TensorType type = *concrete;
  Geometry real = Geometry::contiguous(concrete->shape);
  if (!spec.strides.empty()) real.strides = spec.strides;
  const bool usual = lies_as_sizes_say(real);
  const bool fixed = spec.fixed_sizes || (!usual && has_no_elements(real));
  for (size_t axis = 0; axis < type.shape.size(); ++axis)
    if (!fixed && (axis >= 64 || (spec.fixed_axes >> axis & 1) == 0))
      type.shape[axis] = scope_.fresh(type.shape[axis].value());
  for (Int size : type.shape)
    for (uint32_t symbol : symbols_of(size)) given_.insert(symbol);
  Tensor t = tensor_for(graph_.add_input(type, spec.name));
  Geometry& g = t.impl()->geometry;
  if (!usual) lay_out(g, real);
  t.impl()->requires_grad = spec.requires_grad;
  guards_.push_back({.kind = GuardKind::layout,
                     .path = specs_.back().path,
                     .expected = stride_class(real, /*any_strides=*/true),
                     .type = type,
                     .any_strides = true,
                     .requires_grad = spec.requires_grad});
  inputs_.push_back(t);
  return Datum(t);
}

}  // namespace lathe::ir
