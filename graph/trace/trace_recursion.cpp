// Recording a function that calls itself where data decides.
//
// Its body runs once, into a block whose parameters are the arguments, as that of a loop does;
// where it calls itself stands a `call`. The first recording finds what the body gives where it
// does not call itself, and with that the second has results for the calls. If it then shows that a
// size is another in another call, the body is recorded again. At the end the block becomes a
// function of the graph (lift_function): what it reads from outside is handed on from call to call.
#include <absl/cleanup/cleanup.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <set>

#include "core/base/error.h"
#include "graph/ir/literal.h"
#include "graph/trace/trace_join.h"
#include "graph/trace/tracer.h"

namespace lathe::ir {
namespace {

constexpr int kMostRecordings = 16;
constexpr std::string_view kWhere = "where a function calls itself";

bool copies_inline(const Value* v) {
  const Node* n = v->node();
  if (n == nullptr || !n->is(Structure::constant)) return false;
  const Arg& a = n->literal(0);
  return a.tag != Tag::tensor || writes_inline(a.tensor());
}

}  // namespace

std::string Tracer::free_name(const std::string& wanted) const {
  auto taken = [&](const std::string& name) {
    return name == graph_.name() || graph_.function(name) != nullptr ||
           std::any_of(recursions_.begin(), recursions_.end(),
                       [&](const Recursion* r) { return r->name == name; });
  };
  std::string name = wanted;
  for (int k = 1; taken(name); ++k) name = absl::StrCat(wanted, "_", k);
  return name;
}

// ── what it gives ───────────────────────────────────────────────────────────────────────────────

/// Where the size comes from, as every call can say it.
Tracer::Recursion::Size Tracer::size_of_result(const Recursion& r, Int size,
                                               uint32_t first_symbol) const {
  for (size_t i = 0; i < r.parameters.size(); ++i) {
    const Shape& shape = r.parameters[i]->tensor().shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (r.plan.changing[i][axis] && identical(shape[axis], size))
        return {std::nullopt, static_cast<int>(i), static_cast<int>(axis)};
  }
  for (uint32_t k : symbols_of(size))
    if (k >= first_symbol) return {};
  return {size};
}

bool Tracer::fits(const Recursion& r, const Recursion::Size& size, Int now) const {
  if (size.fixed) return stays(*size.fixed, now);
  if (size.argument < 0) return true;
  const Shape& shape = r.parameters[static_cast<size_t>(size.argument)]->tensor().shape;
  return proven_equal(shape[static_cast<size_t>(size.axis)], now);
}

/// True if the recording is right. Else `r` says more, and the body must be recorded again.
bool Tracer::recursion_fits(Recursion& r, const BlockResult& body, const Block& block,
                            uint32_t first_symbol) {
  bool good = r.fits && r.results.has_value();
  if (!r.results) {
    r.results.emplace();
    for (const Datum& d : body.results) {
      Recursion::Result result{d.tensor(), {}, !given_as(d.tensor(), block, true).empty()};
      for (Int size : d.tensor().shape())
        result.sizes.push_back(size_of_result(r, size, first_symbol));
      r.results->push_back(std::move(result));
    }
    return false;
  }
  LATHE_CHECK(body.results.size() == r.results->size());
  for (size_t i = 0; i < body.results.size(); ++i) {
    Recursion::Result& known = (*r.results)[i];
    const Tensor& t = body.results[i].tensor();
    if (!same_kind(Datum(known.like), body.results[i]))
      type_changes(Datum(known.like), body.results[i], kWhere);
    for (size_t axis = 0; axis < known.sizes.size(); ++axis) {
      if (fits(r, known.sizes[axis], t.shape()[axis])) continue;
      known.sizes[axis] = {};
      good = false;
    }
    if (known.shared || given_as(t, block, true).empty()) continue;
    known.shared = true;
    good = false;
  }
  return good;
}

Data Tracer::call_results(const Recursion& r, Values in, const Data& arguments,
                          const Tensors& others) {
  TypeList types;
  for (const Recursion::Result& result : *r.results) {
    TensorType t = type_of(result.like);
    for (size_t axis = 0; axis < t.shape.size(); ++axis) {
      const Recursion::Size& size = result.sizes[axis];
      if (size.fixed)
        t.shape[axis] = *size.fixed;
      else if (size.argument >= 0)
        t.shape[axis] = arguments[static_cast<size_t>(size.argument)]
                            .tensor()
                            .shape()[static_cast<size_t>(size.axis)];
      else
        t.shape[axis] = fresh_integer(scope_.hint(t.shape[axis]), true);
    }
    types.emplace_back(t);
  }
  const Node* n = graph_.add_call(r.name, std::move(in), std::move(types), here());
  Data out;
  for (size_t i = 0; i < n->out().size(); ++i) {
    out.emplace_back(tensor_for(n->out(i)));
    if (!(*r.results)[i].shared) continue;
    Tensors all = others;
    for (const Datum& d : arguments) all.push_back(root_of(d.tensor()));
    note_chosen(out.back().tensor(), std::move(all));
  }
  return out;
}

// ── recording ───────────────────────────────────────────────────────────────────────────────────

std::optional<Data> Tracer::record_recursive_call(size_t which, const Data& arguments) {
  Recursion& r = *recursions_.at(which);
  if (which + 1 != recursions_.size())
    throw TraceError({.op = r.name,
                      .problem =
                          "a function that calls itself calls another one again that does so "
                          "too, and that is under way",
                      .got = absl::StrCat(r.name, " inside of ", recursions_.back()->name),
                      .next = "write one of the two as a loop"});
  ++r.calls;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!same_kind(r.plan.start[i], arguments[i]))
      type_changes(r.plan.start[i], arguments[i], kWhere);
    const Shape& known = r.parameters[i]->tensor().shape;
    for (size_t axis = 0; axis < known.size(); ++axis) {
      if (r.plan.changing[i][axis] || stays(known[axis], arguments[i].tensor().shape()[axis]))
        continue;
      r.plan.changing[i][axis] = true;
      r.fits = false;
    }
  }
  if (!r.results) return std::nullopt;
  Values in;
  for (const Datum& d : arguments) in.push_back(value_of(d));
  return call_results(r, std::move(in), arguments, {});
}

bool Tracer::sizes_fit(size_t which) const { return recursions_.at(which)->fits; }

std::optional<Data> Tracer::record_recursion(std::string name, LoopBody body, const Data& start) {
  Recursion r{.name = free_name(name), .plan = plan_for(start)};
  for (int attempt = 0; attempt < kMostRecordings; ++attempt) {
    r.calls = 0;
    r.fits = true;
    const uint32_t first_symbol = scope_.symbol_count();
    const OpenLoop open(open_loops_, loop_symbols_, first_symbol);
    Node* node = graph_.add_structure(Structure::group, {}, {}, here());
    // It only holds the block while that is recorded.
    const absl::Cleanup erase = [&] { graph_.erase(node); };
    Block& block = graph_.add_block(node);
    const Data given = bind_parameters(block, r.plan, 0);
    r.parameters = block.parameters();
    recursions_.push_back(&r);
    absl::Cleanup close = [&] { recursions_.pop_back(); };
    BlockResult made = record_block(block, [&] { return body(given); });
    std::move(close).Invoke();
    if (!made.writes.empty())
      throw TraceError({.op = r.name,
                        .problem = "a function that calls itself, where data decides, writes to a "
                                   "tensor from outside of it",
                        .got = lathe::to_string(type_of(made.writes[0].first)),
                        .next = "return the new value instead, or clone() the tensor first"});
    if (r.calls == 0) return std::nullopt;
    if (!r.fits && made.results.empty()) continue;  // with sizes as they were it never ended
    if (!recursion_fits(r, made, block, first_symbol)) continue;
    Tensors others;
    for (const Datum& d : made.results)
      for (Tensor& t : given_as(d.tensor(), block, true)) others.push_back(std::move(t));
    {
      InsertAt inside(graph_, block);
      graph_.set_yields(block, made.values, here());
    }
    Values in;
    for (const Datum& d : start) in.push_back(value_of(d));
    for (Value* v : lift_function(r, block)) in.push_back(v);
    Data out = call_results(r, std::move(in), start, others);
    for (const Datum& d : start)
      if (d.tensor().requires_grad() && thread_state().grad_enabled)
        made.tracked.push_back(d.tensor());
    pass_history(Structure::call, nullptr, made.tracked, out, {}, {});
    return out;
  }
  throw TraceError({.op = r.name,
                    .problem = "a function that calls itself, where data decides, cannot be "
                               "recorded: each recording shows other sizes"});
}

/// Makes the block a function of the graph. What every call hands it besides its arguments: values
/// that it reads from outside, and the symbols in sizes that no tensor among its inputs says.
Values Tracer::lift_function(const Recursion& r, const Block& block) {
  auto f = std::make_unique<Graph>(r.name);
  Graph::ValueMap known;
  for (Value* p : block.parameters()) known[p] = f->add_input(p->type(), p->name());
  Values passed, inputs;
  for (Value* v : free_values(block)) {
    if (copies_inline(v)) {
      f->copy_node(*v->node(), known);
      continue;
    }
    known[v] = f->add_input(v->type(), v->name());
    passed.push_back(v);
    inputs.push_back(known[v]);
  }
  f->set_results(f->copy_nodes(block, known), {}, here());
  f->symbols() = symbol_infos();

  const std::vector<SymbolSource> here_said = graph_.sources(f->symbols().size());
  const std::vector<SymbolSource> said = f->sources();
  std::set<uint32_t> missing;
  map_ints(*f, [&](Int e) {
    for (uint32_t k : symbols_of(e)) {
      const bool inside =
          here_said[k].value != nullptr && encloses(block, here_said[k].value->block());
      if (!inside && !said[k].is_parameter_of(f->body())) missing.insert(k);
    }
    return e;
  });
  for (uint32_t k : missing) {
    passed.push_back(graph_.add_constant(Arg(symbol(k)), here()));
    inputs.push_back(f->add_input(integer_type(symbol(k))));
  }
  for_each_node(f->body(), [&](Node* n) {
    if (!n->is(Structure::call) || n->callee() != r.name) return;
    for (Value* v : inputs) f->append_input(n, v);
  });
  f->assumptions() = scope_.guards();
  f->checks() = scope_.checks();
  compact_symbols(*f);
  graph_.add_function(std::move(f));
  return passed;
}

}  // namespace lathe::ir
