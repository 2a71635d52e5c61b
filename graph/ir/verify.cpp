// The verifier walks a graph in program order. `known_` are the values that may be used at this
// point; leaving a block takes back what it made (`order_` says what to take back, `known_symbols_`
// what sizes go with it). A type is compared with what inference gives under the graph's own facts,
// so two sizes that an assumption makes equal count as equal; a symbol that inference makes up (a
// count of elements that only running it tells) fits any. Structures follow op() and constant(),
// one function each.
#include "graph/ir/verify.h"

#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <optional>

#include "core/base/error.h"
#include "core/base/stable_hash.h"
#include "graph/ir/arguments.h"
#include "graph/ir/text.h"

namespace lathe::ir {
namespace {

class Verifier {
 public:
  /// How two sizes are compared that cannot be proven equal: they differ; at sample values; at
  /// sample values, and every call checks it.
  enum class Unproven : uint8_t { differ, sampled, checked };
  Verifier(const Graph& graph, const Graph& module, Unproven unproven)
      : g_(graph), module_(module), unproven_(unproven), scope_(graph) {}

  /// What every call has to check of a graph that passed.
  const std::vector<SymFact>& checks() const { return checks_; }

  void run() {
    sources_ = g_.sources();
    for (uint32_t k = 0; k < sources_.size(); ++k)
      if (sources_[k].value != nullptr) symbols_by_source_[sources_[k].value].push_back(k);
    for (const SymFact& f : g_.assumptions()) declared(f.a), declared(f.b);
    for (const SymFact& f : g_.checks()) declared(f.a), declared(f.b);
    block(g_.body());
    for (size_t k = 0; k < sources_.size(); ++k)
      if (used_symbols_.contains(static_cast<uint32_t>(k)) && sources_[k].value == nullptr)
        fail(nullptr, absl::StrCat("nothing says what s", k, " is"));
    for (const Write& w : g_.writes()) {
      if (w.input->node() != nullptr || w.input->block() != &g_.body())
        fail(g_.body().end(), "what is written must be an input");
      same(g_.body().end(), w.value->type(), w.input->type(), "a write");
    }
  }

 private:
  [[noreturn]] void fail(const Node* n, std::string_view problem) const {
    throw ValueError({.op = absl::StrCat("graph ", g_.name()),
                      .problem = std::string(problem),
                      .got = n != nullptr ? print(*n) : "",
                      .site = n != nullptr ? n->site() : Site{}});
  }

  // ── values ──
  bool visible(const Value* v) const { return known_.contains(v); }

  void use(const Node* n, size_t i) {
    const Value* v = n->in(i);
    if (v == nullptr) fail(n, absl::StrCat("operand ", i, " is missing"));
    if (!visible(v)) fail(n, absl::StrCat("operand ", i, " is not made before it is used"));
    for (const Use& u : v->uses())
      if (u.node == n && u.index == i) return;
    fail(n, absl::StrCat("operand ", i, " does not know that it is used here"));
  }

  void define(const Value* v, const Node* n) {
    type(v->type(), n);
    known_.insert(v);
    order_.push_back(v);
    auto it = symbols_by_source_.find(v);
    if (it == symbols_by_source_.end()) return;
    for (uint32_t k : it->second) known_symbols_.insert(k);
  }

  void type(const Type& t, const Node* n) {
    if (const TensorType* tensor = t.tensor())
      if (!info(tensor->dtype).tensor) fail(n, "no tensor has this dtype");
    for_each_int(t, [&](Int e) { declared(e); });
  }

  void declared(Int e) {
    for (uint32_t k : symbols_of(e)) {
      if (k >= g_.symbols().size()) fail(nullptr, absl::StrCat("s", k, " is not declared"));
      used_symbols_.insert(k);
    }
  }

  /// Are the symbols in a literal known by now?
  void literal(const Node* n, const Arg& a) {
    if (a.tag == Tag::list)
      for (size_t i = 0; i < a.list_->size; ++i) literal(n, a.list_->data[i]);
    if (a.tag != Tag::integer) return;
    declared(a.integer());
    for (uint32_t k : symbols_of(a.integer()))
      if (!known_symbols_.contains(k)) fail(n, absl::StrCat("s", k, " is not known yet"));
  }

  void same(const Node* n, const Type& got, const Type& wanted, std::string_view what) {
    if (compatible(got, wanted)) return;
    fail(n,
         absl::StrCat(what, " has type ", to_string(got), " where ", to_string(wanted), " is due"));
  }

  bool compatible(const Type& got, const Type& wanted) {
    if (same_type(got, wanted)) return true;
    if (const Scalar* a = got.scalar()) {
      const Scalar* b = wanted.scalar();
      return b != nullptr && a->kind == b->kind;  // which number it is may differ
    }
    const TensorType *a = got.tensor(), *b = wanted.tensor();
    if (a == nullptr || b == nullptr || a->dtype != b->dtype || !(a->device == b->device) ||
        a->shape.size() != b->shape.size())
      return false;
    for (size_t i = 0; i < a->shape.size(); ++i)
      if (!equal_size(a->shape[i], b->shape[i])) return false;
    return true;
  }

  bool equal_size(Int a, Int b) {
    if (identical(a, b) || identical(scope_->simplify(a), scope_->simplify(b))) return true;
    for (Int e : {a, b})
      for (uint32_t k : symbols_of(e))
        if (k >= g_.symbols().size()) return true;  // made up by inference: known only when it runs
    if (scope_->prove(Relation::eq, a, b) == SymScope::Truth::yes) return true;
    // What was written before a check was known folds further once it is: both are written
    // anew.
    auto anew = [&](Int e) { return substitute(scope_->simplify(e), symbol); };
    if (identical(anew(a), anew(b))) return true;
    if (unproven_ == Unproven::differ) return false;
    a = scope_->simplify(a), b = scope_->simplify(b);
    return equal_by_value(a, b) && (unproven_ == Unproven::sampled || check(a, b));
  }

  /// Has every call compare them, if it knows them before it runs.
  bool check(Int a, Int b) {
    for (Int e : {a, b})
      for (uint32_t k : symbols_of(e))
        if (sources_[k].value == nullptr || !sources_[k].is_parameter_of(g_.body())) return false;
    auto is_it = [&](const SymFact& f) { return identical(f.a, a) && identical(f.b, b); };
    if (absl::c_none_of(checks_, is_it)) checks_.push_back({Relation::eq, true, a, b, {}});
    return true;
  }

  /// At the first call's sizes and at others that the facts allow: two different expressions would
  /// have to meet at all of them.
  bool equal_by_value(Int a, Int b) {
    if (scope_->prove(Relation::eq, a, b) == SymScope::Truth::no) return false;
    if (scope_->hint(a) != scope_->hint(b)) return false;
    constexpr int kSamples = 512, kEnough = 8;  // facts may leave few of the small sizes
    int compared = 0;
    for (int i = 0; i < kSamples; ++i) {
      std::optional<bool> equal = equal_at(a, b, static_cast<uint64_t>(i));
      if (equal && !*equal) return false;
      compared += equal.has_value();
    }
    return compared >= kEnough;
  }
  /// nullopt: the facts do not allow this sample, or something divides by zero there.
  std::optional<bool> equal_at(Int a, Int b, uint64_t sample) {
    constexpr int64_t kMost[] = {4, 12, 40, int64_t{1} << 40};  // most bend at small sizes
    auto value_of = [&](uint32_t k) {
      return Int(static_cast<int64_t>(StableHash(sample).add(k).value() >> 1) % kMost[sample % 4]);
    };
    auto at = [&](Int e) { return substitute(scope_->simplify(e), value_of); };
    auto allowed = [&](const SymFact& f) {
      return lathe::decide(f.relation, at(f.a), at(f.b)) == f.holds;
    };
    try {
      if (!absl::c_all_of(g_.assumptions(), allowed) || !absl::c_all_of(g_.checks(), allowed))
        return std::nullopt;
      return identical(at(a), at(b));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // ── blocks and nodes ──
  void block(const Block& b) {
    size_t mark = order_.size();
    for (size_t i = 0; i < b.parameters().size(); ++i) {
      const Value* p = b.parameters()[i];
      if (p->block() != &b || p->index() != i)
        fail(b.owner(), "a parameter that is not its block's");
      define(p, b.owner());
    }
    rest(b);
    leave(mark);
  }
  void rest(const Block& b) {
    const Node* before = nullptr;
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      if (n->parent() != &b || n->previous() != before) fail(n, "a node that is not in its block");
      node(*n);
      before = n;
    }
    for (size_t i = 0; i < b.end()->in().size(); ++i) use(b.end(), i);
  }
  void leave(size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) {
      known_.erase(order_.back());
      auto it = symbols_by_source_.find(order_.back());
      if (it == symbols_by_source_.end()) continue;
      for (uint32_t k : it->second) known_symbols_.erase(k);
    }
  }

  void node(const Node& n) {
    for (size_t i = 0; i < n.in().size(); ++i) use(&n, i);
    for (size_t i = 0; i < n.attrs().size(); ++i) literal(&n, n.attrs()[i]);
    for (const Place& p : n.places()) place(n, p);
    switch (n.structure()) {
      case Structure::op:
        op(n);
        break;
      case Structure::constant:
        constant(n);
        break;
      case Structure::if_:
        if_(n);
        break;
      case Structure::while_:
        while_(n);
        break;
      case Structure::for_:
        for_(n);
        break;
      case Structure::call:
        call(n);
        break;
      case Structure::group:
        group(n);
        break;
      case Structure::yield:
        fail(&n, "a yield in the middle of a block");
    }
    for (size_t i = 0; i < n.out().size(); ++i) {
      const Value* v = n.out(i);
      if (v->node() != &n || v->index() != i) fail(&n, "a result that is not its node's");
      define(v, &n);
    }
  }

  void place(const Node& n, const Place& p) {
    bool good = p.param < n.attrs().size();
    if (good && p.element >= 0) {
      const Arg& list = n.attrs()[p.param];
      good = list.tag == Tag::list && static_cast<size_t>(p.element) < list.list_->size;
    }
    if (!good) fail(&n, "an operand without a place among the arguments");
  }

  void op(const Node& n) {
    if (n.op() == nullptr || n.attrs().size() != n.op()->schema.params.size() ||
        n.places().size() != n.in().size())
      fail(&n, "the arguments do not follow the signature");
    for (const Arg& a : n.attrs().view())
      if (a.tag == Tag::tensor) fail(&n, "a tensor stands where a constant's value is due");
    refit(n);
    TypeList types;
    try {
      types = infer(n);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::internal) throw;
      fail(&n, e.what());
    }
    if (types.size() != n.out().size()) fail(&n, "the number of results is wrong");
    for (size_t i = 0; i < types.size(); ++i)
      same(&n, n.out(i)->type(), types[i], absl::StrCat("result ", i));
  }

  /// The arguments must be ones a call could have been given.
  void refit(const Node& n) {
    std::vector<Given> given(n.attrs().size());
    for (size_t i = 0; i < given.size(); ++i) {
      const Arg& a = n.attrs()[i];
      given[i].literal = a;
      if (a.tag != Tag::list) continue;
      given[i].is_list = true;
      for (size_t k = 0; k < a.list_->size; ++k) {
        Given item;
        item.literal = a.list_->data[k];
        given[i].list.push_back(std::move(item));
      }
    }
    for (size_t i = 0; i < n.places().size(); ++i) {
      const Place& p = n.places()[i];
      (p.element < 0 ? given[p.param] : given[p.param].list[static_cast<size_t>(p.element)]).value =
          n.in(i);
    }
    try {
      Operands again = complete(*n.op(), given);
      if (!(again.places == n.places())) fail(&n, "the arguments do not follow the signature");
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::internal) throw;
      fail(&n, e.what());
    }
  }

  void constant(const Node& n) {
    if (n.attrs().size() != 1 || !n.in().empty() || n.out().size() != 1)
      fail(&n, "a constant has one value and one result");
    const Arg& a = n.literal(0);
    Type t;
    switch (a.tag) {
      case Tag::tensor:
        t = type_of(a.tensor());
        break;
      case Tag::integer:
        t = integer_type(a.integer());
        break;
      case Tag::real:
        t = float_type();
        break;
      case Tag::flag:
        t = flag_type();
        break;
      case Tag::text:
        t = Text{};
        break;
      case Tag::none:
        t = None{};
        break;
      default:
        fail(&n, "this cannot be a constant");
    }
    if (a.tag == Tag::tensor && a.tensor().symbolic()) fail(&n, "a constant has data");
    same(&n, n.out(0)->type(), t, "the constant");
  }

  void blocks(const Node& n, size_t count) {
    if (n.blocks().size() != count) fail(&n, "the number of blocks is wrong");
    for (Block* b : n.blocks())
      if (b->owner() != &n) fail(&n, "a block that is not its node's");
  }
  void condition(const Node& n, const Value* v) {
    const TensorType* t = v->type().tensor();
    bool good = v->type().is_scalar(ScalarKind::flag) ||
                (t != nullptr && t->dtype == DType::bool_ && t->shape.empty());
    if (!good) fail(&n, "a condition is a bool, or a tensor bool[]");
  }
  void match(const Node& n, absl::Span<Value* const> got, absl::Span<Value* const> wanted,
             std::string_view what) {
    if (got.size() != wanted.size()) fail(&n, absl::StrCat("the number of ", what, " is wrong"));
    for (size_t i = 0; i < got.size(); ++i) same(&n, got[i]->type(), wanted[i]->type(), what);
  }

  void if_(const Node& n) {
    blocks(n, 2);
    if (n.in().size() != 1) fail(&n, "an if has one condition");
    condition(n, n.in(0));
    for (Block* b : n.blocks()) {
      if (!b->parameters().empty()) fail(&n, "the blocks of an if have no parameters");
      block(*b);
      branch(n, *b);
    }
  }
  /// A size that only one branch knows must be a new symbol outside.
  void branch(const Node& n, const Block& b) {
    if (b.yields().size() != n.out().size()) fail(&n, "the number of values yielded is wrong");
    for (size_t i = 0; i < n.out().size(); ++i)
      widened(n, b.yields()[i]->type(), n.out(i), "a value yielded");
  }

  /// `got` may be more precise than `v`, whose own symbols are what it then says.
  void widened(const Node& n, const Type& got, const Value* v, std::string_view what) {
    if (compatible(got, v->type())) return;
    const TensorType *a = got.tensor(), *b = v->type().tensor();
    bool good = a != nullptr && b != nullptr && a->dtype == b->dtype && a->device == b->device &&
                a->shape.size() == b->shape.size();
    for (size_t i = 0; good && i < a->shape.size(); ++i)
      good =
          equal_size(a->shape[i], b->shape[i]) || own_symbol(b->shape[i], v, static_cast<int>(i));
    if (!good) same(&n, got, v->type(), what);
  }
  bool own_symbol(Int e, const Value* v, int axis) const {
    if (e.known() || e.expr()->kind != SymKind::symbol) return false;
    const SymbolSource& s = sources_[e.expr()->symbol];
    return s.value == v && s.axis == axis;
  }

  void while_(const Node& n) {
    blocks(n, 2);
    const Values& parameters = n.block(0).parameters();
    loop_starts(n, parameters, n.in());
    if (!n.block(1).parameters().empty())
      fail(&n, "the body of a while has its condition's parameters");
    size_t mark = order_.size();
    block(n.block(0));
    if (n.block(0).yields().size() != 1) fail(&n, "the condition of a while yields one value");
    condition(n, n.block(0).yields()[0]);
    for (Value* p : parameters) define(p, &n);
    block(n.block(1));
    leave(mark);
    loop_ends(n, parameters, n.block(1).yields());
  }

  void for_(const Node& n) {
    blocks(n, 1);
    if (n.attrs().size() != 3 || n.carried_from() > n.in().size()) fail(&n, "a for has a range");
    for (int i = 0; i < 3; ++i) {
      const Value* v = n.value(i);
      bool good = v != nullptr ? v->type().is_scalar(ScalarKind::integer)
                               : n.literal(i).tag == Tag::integer;
      if (!good) fail(&n, "the range of a for is made of integers");
    }
    const Values& all = n.block(0).parameters();
    if (all.empty() || !all[0]->type().is_scalar(ScalarKind::integer))
      fail(&n, "a for has an integer variable");
    Values parameters(all.begin() + 1, all.end());
    Values starts(n.in().begin() + static_cast<std::ptrdiff_t>(n.carried_from()), n.in().end());
    loop_starts(n, parameters, starts);
    block(n.block(0));
    loop_ends(n, parameters, n.block(0).yields());
  }

  void loop_starts(const Node& n, const Values& parameters, const Values& starts) {
    if (starts.size() != parameters.size()) fail(&n, "the number of carried values is wrong");
    for (size_t i = 0; i < starts.size(); ++i)
      widened(n, starts[i]->type(), parameters[i], "a value carried in");
  }
  void loop_ends(const Node& n, const Values& parameters, const Values& yields) {
    if (yields.size() != parameters.size() || n.out().size() != parameters.size())
      fail(&n, "the number of carried values is wrong");
    for (size_t i = 0; i < yields.size(); ++i) {
      widened(n, yields[i]->type(), parameters[i], "a value carried round");
      // The result has the parameter's type, under its own symbols where that has its own.
      result_of(n, parameters[i], n.out(i));
    }
  }
  void result_of(const Node& n, const Value* parameter, const Value* out) {
    const TensorType *a = parameter->type().tensor(), *b = out->type().tensor();
    if (a == nullptr || b == nullptr) return same(&n, out->type(), parameter->type(), "a result");
    bool good =
        a->dtype == b->dtype && a->shape.size() == b->shape.size() && a->device == b->device;
    for (size_t i = 0; good && i < a->shape.size(); ++i) {
      int axis = static_cast<int>(i);
      good = equal_size(a->shape[i], b->shape[i]) || own_symbol(b->shape[i], out, axis);
    }
    if (!good) same(&n, out->type(), parameter->type(), "a result");
  }

  void group(const Node& n) {
    blocks(n, 1);
    if (n.attrs().size() != 1 || n.literal(0).tag != Tag::text) fail(&n, "a group has a label");
    const Block& b = n.block(0);
    match(n, n.in(), b.parameters(), "inputs");
    // Nothing from outside is visible in it; sizes are.
    auto outside = std::exchange(known_, {});
    block(b);
    known_ = std::move(outside);
    match(n, n.out(), b.yields(), "results");
  }

  void call(const Node& n) {
    const Graph* callee = module_.function(n.callee());
    if (callee == nullptr && module_.name() == n.callee()) callee = &module_;
    if (callee == nullptr) fail(&n, absl::StrCat("there is no function '", n.callee(), "'"));
    if (callee->inputs().size() != n.in().size()) fail(&n, "the number of arguments is wrong");
    if (callee->outputs().size() != n.out().size()) fail(&n, "the number of results is wrong");
    // The callee's symbols are its own: only what does not depend on them can be compared.
    for (size_t i = 0; i < n.in().size(); ++i)
      loosely(n, n.in(i)->type(), callee->inputs()[i]->type());
    for (size_t i = 0; i < n.out().size(); ++i)
      loosely(n, n.out(i)->type(), callee->outputs()[i]->type());
  }
  void loosely(const Node& n, const Type& here, const Type& there) {
    const TensorType *a = here.tensor(), *b = there.tensor();
    bool good =
        a != nullptr && b != nullptr
            ? a->dtype == b->dtype && a->shape.size() == b->shape.size() && a->device == b->device
            : here.is.index() == there.is.index();
    if (!good)
      fail(&n,
           absl::StrCat("the function has ", to_string(there), " where this is ", to_string(here)));
  }

  const Graph& g_;
  const Graph& module_;
  const Unproven unproven_;
  GraphScope scope_;
  std::vector<SymFact> checks_;
  std::vector<SymbolSource> sources_;
  absl::flat_hash_set<const Value*> known_;
  std::vector<const Value*> order_;
  absl::flat_hash_map<const Value*, std::vector<uint32_t>> symbols_by_source_;
  absl::flat_hash_set<uint32_t> known_symbols_;
  absl::flat_hash_set<uint32_t> used_symbols_;
};

using Unproven = Verifier::Unproven;

std::vector<SymFact> verify_all(const Graph& graph, Unproven unproven) {
  for (const GradientDeclaration& d : graph.gradients())
    throw ValueError({.op = graph.name(),
                      .problem = "a gradient is declared and not written",
                      .got = d.name,
                      .next = "run the pass derive_gradients first",
                      .site = d.site});
  Verifier body(graph, graph, unproven);
  body.run();
  // The checks of a function are not a call's: what is not proven there is refused.
  const Unproven inside = unproven == Unproven::checked ? Unproven::differ : unproven;
  for (const auto& f : graph.functions()) Verifier(*f, graph, inside).run();
  return body.checks();
}

}  // namespace

void verify(const Graph& graph) { verify_all(graph, Unproven::differ); }
void verify_rewritten(const Graph& graph) { verify_all(graph, Unproven::sampled); }
void verify_loaded(Graph& graph) {
  for (const SymFact& f : verify_all(graph, Unproven::checked)) graph.checks().push_back(f);
}

}  // namespace lathe::ir
