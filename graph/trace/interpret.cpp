#include "graph/trace/interpret.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/base/presumption.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/leaf.h"
#include "core/dispatch/replay.h"
#include "graph/ir/arguments.h"
#include "graph/ir/text.h"
#include "graph/trace/structure.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"

namespace lathe::ir {
namespace {

std::string described(const Datum& d) {
  return d.is_tensor() ? lathe::to_string(type_of(d.tensor())) : lathe::to_string(d.arg());
}

/// Values have no layout: where the elements of one lie in no order that a view can name, it reads
/// a copy. Whether eager refuses was asked when the graph was traced.
Outputs call_view(const Op& op, Args args) {
  return in_rows_if_refused(args.tensor(0), [&](const Tensor& x) {
    absl::InlinedVector<Arg, 8> again(args.begin(), args.end());
    again[0] = Arg(x);
    return call(op, absl::MakeConstSpan(again));
  });
}

}  // namespace

// ── planning ────────────────────────────────────────────────────────────────────────────────────

Interpreter::Interpreter(const Graph& graph) : Interpreter(graph, this) {
  for (const auto& f : graph.functions())
    functions_.emplace(f->name(), std::unique_ptr<Interpreter>(new Interpreter(*f, this)));
}

Interpreter::Interpreter(const Graph& graph, const Interpreter* root) : graph_(graph), root_(root) {
  auto sources = graph.sources();
  for (uint32_t k = 0; k < sources.size(); ++k)
    if (sources[k].value != nullptr) binds_[sources[k].value].push_back({k, sources[k].axis});
  plan_facts();
}

const Interpreter* Interpreter::function(const std::string& name) const {
  if (name == root_->graph_.name()) return root_;
  auto it = root_->functions_.find(name);
  return it == root_->functions_.end() ? nullptr : it->second.get();
}

void Interpreter::plan_facts() {
  auto sources = graph_.sources();
  // Program order of the values that say what symbols are.
  absl::flat_hash_map<const Value*, size_t> order;
  std::function<void(const Block&)> number = [&](const Block& b) {
    for (Value* v : b.parameters()) order.emplace(v, order.size());
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      for (Block* inner : n->blocks()) number(*inner);
      for (Value* v : n->out()) order.emplace(v, order.size());
    }
  };
  number(graph_.body());
  auto place = [&](const SymFact& f, bool is_check) {
    const Value* last = nullptr;
    for (Int e : {f.a, f.b})
      for (uint32_t k : symbols_of(e)) {
        const Value* v = k < sources.size() ? sources[k].value : nullptr;
        if (v == nullptr) return;
        if (last == nullptr || order[v] > order[last]) last = v;
      }
    if (last != nullptr) facts_[last].emplace_back(f, is_check);
  };
  for (const SymFact& f : graph_.assumptions()) place(f, false);
  for (const SymFact& f : graph_.checks()) place(f, true);
}

bool Interpreter::inputs_say(const SymFact& fact) const {
  const auto sources = graph_.sources();
  return graph_.inputs_say(fact.a, sources) && graph_.inputs_say(fact.b, sources);
}

// ── running ─────────────────────────────────────────────────────────────────────────────────────

class Frame {
 public:
  Frame(const Interpreter& plan, int depth)
      : plan_(plan), g_(plan.graph_), depth_(depth), symbols_(plan.graph_.symbols().size()) {
    size_ = [this](Int e) { return size(e); };
  }

  Data run(const Data& inputs) {
    bind_inputs(inputs);
    block(g_.body());
    Data results = values_of(g_.body().yields());
    std::vector<Write> writes = g_.writes();
    // All values first, then all writes: a value may be computed from what is written.
    size_t first = results.size() - writes.size();
    if (depth_ == 0) {
      make_fresh(inputs, results);
      for (size_t i = 0; i < first; ++i) make_row_major(results[i]);
    }
    for (size_t i = 0; i < writes.size(); ++i) {
      Tensor to = inputs[writes[i].input->index()].tensor();
      // A leaf that requires grad can only have been written under no_grad, or the trace had
      // refused.
      GradMode mode(thread_state().grad_enabled && !is_leaf(to));
      assign(to, results[first + i].tensor());
    }
    results.resize(first);
    return results;
  }

 private:
  // ── sizes ──
  Int size(Int e) const {
    if (e.known()) return e;
    return substitute(e, [&](uint32_t k) {
      if (k < symbols_.size() && symbols_[k]) return *symbols_[k];
      LATHE_INTERNAL(absl::StrCat("s", k, " is used before it is known"));
    });
  }

  void bind(const Value* v, Datum d) {
    if (auto it = plan_.binds_.find(v); it != plan_.binds_.end())
      for (const auto& b : it->second)
        symbols_[b.symbol] = b.axis < 0 ? d.integer() : d.tensor().size(b.axis);
    values_[v] = std::move(d);
  }

  void ask_facts(const Value* v) {
    auto it = plan_.facts_.find(v);
    if (it == plan_.facts_.end()) return;
    for (const auto& [f, is_check] : it->second) {
      Int a = size(f.a), b = size(f.b);
      bool good =
          is_check ? lathe::require(f.relation, a, b) : lathe::decide(f.relation, a, b) == f.holds;
      if (good) continue;
      if (!plan_.inputs_say(f))
        throw PresumptionError(
            {.op = absl::StrCat("graph ", g_.name()),
             .problem = "a size that data decides is not one that the graph "
                        "was captured for",
             .got = absl::StrCat(lathe::to_string(a), " and ", lathe::to_string(b)),
             .expected = to_string(f),
             .next = "call the function itself for such values",
             .site = f.site});
      throw ShapeError({.op = absl::StrCat("graph ", g_.name()),
                        .problem = is_check ? "the sizes of the inputs do not fit together"
                                            : "this program was captured for other sizes",
                        .got = absl::StrCat(lathe::to_string(a), " and ", lathe::to_string(b)),
                        .expected = to_string(f),
                        .next = is_check ? "" : "capture it again for these inputs",
                        .site = f.site});
    }
  }

  // ── inputs ──
  void bind_inputs(const Data& inputs) {
    if (inputs.size() != g_.inputs().size())
      throw TypeError({.op = absl::StrCat("graph ", g_.name()),
                       .problem = "the number of inputs is wrong",
                       .got = absl::StrCat(inputs.size()),
                       .expected = absl::StrCat(g_.inputs().size())});
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_kind(*g_.inputs()[i], inputs[i]);
      bind(g_.inputs()[i], inputs[i]);
    }
    for (size_t i = 0; i < inputs.size(); ++i) check_sizes(*g_.inputs()[i], inputs[i]);
    for (Value* v : g_.inputs()) ask_facts(v);
  }

  [[noreturn]] void wrong_input(const Value& v, const Datum& d) const {
    throw TypeError({.op = absl::StrCat("graph ", g_.name()),
                     .problem = absl::StrCat("input '", v.name(), "' has the wrong type"),
                     .got = described(d),
                     .expected = to_string(v.type())});
  }

  void check_kind(const Value& v, const Datum& d) const {
    if (const TensorType* t = v.type().tensor()) {
      if (!d.is_tensor() || d.tensor().rank() != static_cast<int>(t->shape.size()) ||
          !(d.tensor().device() == t->device))
        wrong_input(v, d);
      if (d.tensor().dtype() != t->dtype)
        throw DTypeError({.op = absl::StrCat("graph ", g_.name()),
                          .problem = absl::StrCat("input '", v.name(), "' has another dtype"),
                          .got = described(d),
                          .expected = to_string(v.type())});
    } else if (const Scalar* s = v.type().scalar()) {
      constexpr Tag kTags[] = {Tag::flag, Tag::integer, Tag::real};
      if (d.is_tensor() || d.arg().tag != kTags[static_cast<int>(s->kind)]) wrong_input(v, d);
    }
  }

  void check_sizes(const Value& v, const Datum& d) const {
    const TensorType* t = v.type().tensor();
    if (t == nullptr) return;
    for (size_t i = 0; i < t->shape.size(); ++i) {
      Int want = size(t->shape[i]), have = d.tensor().shape()[i];
      if (identical(want, have) || lathe::require(Relation::eq, want, have)) continue;
      throw ShapeError(
          {.op = absl::StrCat("graph ", g_.name()),
           .problem = absl::StrCat("input '", v.name(), "' has another size along axis ", i),
           .got = described(d),
           .expected = to_string(v.type())});
    }
  }

  /// Results share memory with nothing else the caller can reach: not with inputs, constants or
  /// each other.
  void make_fresh(const Data& inputs, Data& results) const {
    absl::flat_hash_set<const void*> taken;
    auto memory = [](const Tensor& t) -> const void* {
      return t.impl()->storage ? static_cast<const void*>(t.impl()->storage.get()) : t.impl();
    };
    for (const Datum& d : inputs)
      if (d.is_tensor()) taken.insert(memory(d.tensor()));
    for (Node* n = g_.body().first(); n != nullptr; n = n->next())
      if (n->is(Structure::constant) && n->literal(0).tag == Tag::tensor)
        taken.insert(memory(n->literal(0).tensor()));
    for (Datum& d : results)
      if (d.is_tensor() && !taken.insert(memory(d.tensor())).second)
        d = Datum(math_ops<Tensor>::clone(d.tensor()));
  }

  /// As what eager returns lies. What was written to a tensor may be a view here, and show one
  /// element in many places.
  static void make_row_major(Datum& d) {
    if (d.is_tensor() && !in_rows(d.tensor())) d = Datum(math_ops<Tensor>::clone(d.tensor()));
  }

  // ── nodes ──
  const Datum& at(const Value* v) const { return values_.at(v); }
  Data values_of(absl::Span<Value* const> values) const {
    Data out;
    for (const Value* v : values) out.push_back(at(v));
    return out;
  }

  void block(const Block& b) {
    for (Node* n = b.first(); n != nullptr; n = n->next()) node(*n);
  }

  void give(const Node& n, Data results) {
    LATHE_CHECK(results.size() == n.out().size());
    for (size_t i = 0; i < results.size(); ++i) bind(n.out(i), std::move(results[i]));
    for (Value* v : n.out()) ask_facts(v);
  }

  void node(const Node& n) {
    SiteScope site(n.site().known() ? n.site() : here());
    switch (n.structure()) {
      case Structure::op:
        return give(n, op(n));
      case Structure::constant:
        return give(n, {constant(n)});
      case Structure::if_:
        return give(n, if_node(n));
      case Structure::while_:
        return give(n, while_node(n));
      case Structure::for_:
        return give(n, for_node(n));
      case Structure::call:
        return give(n, call_node(n));
      case Structure::group: {
        const Block& b = n.block(0);
        for (size_t i = 0; i < n.in().size(); ++i) bind(b.parameters()[i], at(n.in(i)));
        block(b);
        return give(n, values_of(b.yields()));
      }
      case Structure::yield:
        break;
    }
    LATHE_INTERNAL("a yield that is run");
  }

  Datum constant(const Node& n) const {
    const Arg& a = n.literal(0);
    return a.tag == Tag::integer ? Datum(Arg(size(a.integer()))) : Datum(a);
  }

  Filled filled(const Node& n, size_t count) const {
    std::vector<Arg> values;
    for (size_t i = 0; i < count; ++i) values.push_back(at(n.in(i)).arg());
    return fill(n.attrs(), n.places(), values, &size_);
  }

  Data op(const Node& n) {
    Filled f = filled(n, n.in().size());
    GradMode mode(thread_state().grad_enabled && !n.detached());
    if (scalar_result(*n.op(), f.args())) return {on_numbers(*n.op(), f.args())};
    Data out;
    const Op& op = *n.op();
    for (Tensor& t : op.kind == Kind::view ? call_view(op, f.args()) : call(op, f.args()))
      out.emplace_back(std::move(t));
    return out;
  }

  /// A number that changes from round to round of a loop being recorded has no value to compare: it
  /// is compared as a tensor, and the answer is one.
  static Datum on_numbers(const Op& op, Args args) {
    Tracer* tracer = Tracer::current();
    bool asks = op.extra.promote == Promote::boolean;
    bool varying = false;
    for (const Arg& a : args)
      varying |= tracer != nullptr && asks && a.tag == Tag::integer && tracer->in_loop(a.integer());
    if (!varying) return Datum(evaluate_scalar(op, args));
    Tensors held;
    absl::InlinedVector<Arg, 8> tensors;
    for (const Arg& a : args) {
      if (a.tag == Tag::integer) {
        held.push_back(create_ops<Tensor>::full(Ints(Shape{}), a, DType::i64));
        tensors.push_back(Arg(held.back()));
      } else {
        tensors.push_back(a);
      }
    }
    return Datum(call(op, absl::MakeConstSpan(tensors))[0]);
  }

  Data if_node(const Node& n) {
    auto branch = [&](size_t i) {
      return [this, &n, i] {
        block(n.block(i));
        return values_of(n.block(i).yields());
      };
    };
    return if_(at(n.in(0)), branch(0), branch(1));
  }

  void bind_carried(const Block& b, size_t first, const Data& carried) {
    for (size_t i = 0; i < carried.size(); ++i) bind(b.parameters()[first + i], carried[i]);
    for (size_t i = 0; i < carried.size(); ++i) ask_facts(b.parameters()[first + i]);
  }

  Data while_node(const Node& n) {
    auto condition = [&](const Data& carried) {
      bind_carried(n.block(0), 0, carried);
      block(n.block(0));
      return at(n.block(0).yields()[0]);
    };
    auto body = [&](const Data& carried) {
      bind_carried(n.block(0), 0, carried);
      block(n.block(1));
      return values_of(n.block(1).yields());
    };
    return while_(condition, body, values_of(n.in()));
  }

  Data for_node(const Node& n) {
    Filled range = filled(n, n.carried_from());
    auto number = [&](size_t i) { return range.args()[i].integer(); };
    auto body = [&](Int i, const Data& carried) {
      bind(n.block(0).parameters()[0], Datum(Arg(i)));
      ask_facts(n.block(0).parameters()[0]);
      bind_carried(n.block(0), 1, carried);
      block(n.block(0));
      return values_of(n.block(0).yields());
    };
    auto carried = absl::MakeConstSpan(n.in()).subspan(n.carried_from());
    return for_(number(0), number(1), number(2), body, values_of(carried));
  }

  Data call_node(const Node& n) {
    const Interpreter* callee = plan_.function(n.callee());
    if (callee == nullptr)
      throw NameError(
          {.op = n.callee(), .problem = "there is no function of this name in the graph"});
    if (depth_ >= kDeepestCall) too_deep(n.callee(), depth_);
    return Frame(*callee, depth_ + 1).run(values_of(n.in()));
  }

  const Interpreter& plan_;
  const Graph& g_;
  int depth_;
  absl::flat_hash_map<const Value*, Datum> values_;
  std::vector<std::optional<Int>> symbols_;
  std::function<Int(Int)> size_;
};

Data Interpreter::run(const Data& inputs) const { return Frame(*this, 0).run(inputs); }

Data interpret(const Graph& graph, const Data& inputs) { return Interpreter(graph).run(inputs); }

}  // namespace lathe::ir
