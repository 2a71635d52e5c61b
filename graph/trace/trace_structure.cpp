// Recording if, for and while.
//
// Each part runs once, into a block. A tensor from outside that a part writes is noticed by
// note_write, put back after the part, and made a result (of an if) or a carried value (of a loop).
// A loop is recorded again, from the start, when its first recording shows that something more must
// be carried, or that a size changes from round to round; what the abandoned recording assumed
// about its own symbols goes with them.
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "graph/ir/arguments.h"
#include "graph/ir/text.h"
#include "graph/trace/trace_join.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {

void type_changes(const Datum& before, const Datum& after, std::string_view where) {
  auto text = [](const Datum& d) {
    return d.is_tensor() ? lathe::to_string(type_of(d.tensor())) : lathe::to_string(d.arg());
  };
  throw TraceError({.problem = absl::StrCat("a value changes its type ", where),
                    .got = absl::StrCat(text(before), " and ", text(after)),
                    .expected = "the same dtype, rank and device, or the same number",
                    .next = "cast or reshape the values so that they agree"});
}

bool same_kind(const Datum& a, const Datum& b) {
  if (a.is_tensor() != b.is_tensor()) return false;
  if (!a.is_tensor()) return a.arg().tag == b.arg().tag;
  return a.tensor().dtype() == b.tensor().dtype() && a.tensor().rank() == b.tensor().rank() &&
         a.tensor().device() == b.tensor().device();
}

bool is_flag(const Datum& d) { return !d.is_tensor() && d.arg().tag == Tag::flag; }
static bool is_flag_tensor(const Datum& d) {
  return d.is_tensor() && d.tensor().dtype() == DType::bool_ && d.tensor().rank() == 0;
}
bool needs_tensor(const Datum& a, const Datum& b) {
  if (is_flag(a) && is_flag(b)) return a.arg().flag_ != b.arg().flag_;
  return (is_flag(a) && is_flag_tensor(b)) || (is_flag_tensor(a) && is_flag(b));
}
Datum flag_as_tensor(const Datum& d) {
  if (d.is_tensor()) return d;
  return Datum(create_ops<Tensor>::full(Ints(Shape{}), d.arg(), DType::bool_));
}

Value* Tracer::condition_value(const Datum& condition) {
  using M = math_ops<Tensor>;
  using S = shape_ops<Tensor>;
  Tensor t = condition.tensor();
  if (!require(Relation::eq, t.numel(), 1))
    throw ValueError(
        {.problem = "a condition must have one element", .got = lathe::to_string(type_of(t))});
  if (t.dtype() != DType::bool_) t = M::cast(t, DType::bool_);
  if (t.rank() != 0) t = S::reshape(t, Ints(Shape{}));
  return value_of(t);
}

void Tracer::forget_after(Node* last) {
  std::vector<Node*> added;
  Node* first = last != nullptr ? last->next() : graph_.insertion_block().first();
  for (Node* n = first; n != nullptr; n = n->next()) added.push_back(n);
  auto is_captured = [&](const Node* n) {
    if (!n->out().empty() && at_head(n->out(0))) return true;
    for (const auto& [impl, l] : captured_)
      if (l.start->node() == n) return true;
    return false;
  };
  for (size_t i = added.size(); i-- > 0;) {
    bool used = false;
    for (Value* v : added[i]->out()) used |= v->used();
    if (!used && !is_captured(added[i])) graph_.erase(added[i]);
  }
}

Tracer::BlockResult Tracer::record_block(Block& block, absl::FunctionRef<Data()> run) {
  InsertAt inside(graph_, block);
  frames_.push_back({.block = &block});
  BlockResult r;
  std::vector<bool> was_stale;
  for (const Chosen& c : chosen_) was_stale.push_back(c.stale);
  auto leave = [&] {
    for (size_t i = 0; i < was_stale.size(); ++i) {
      if (was_stale[i] || !chosen_[i].stale) continue;
      r.stale.emplace_back(i, chosen_[i].writer);
      chosen_[i].stale = false;
    }
    // First all of them: what shares memory with another has that one's value.
    for (const Before& before : frames_.back().before)
      r.writes.emplace_back(before.tensor, now(before.tensor));
    for (Before& before : frames_.back().before) {
      const Tensor& t = before.tensor;
      set_now(t, before.value);
      t.impl()->autograd = std::move(before.history);
      t.impl()->requires_grad = before.requires_grad;
    }
    r.tracked = std::move(frames_.back().tracked);
    r.of_leaves = std::move(frames_.back().of_leaves);
    frames_.pop_back();
  };
  try {
    r.results = run();
    for (Datum& d : r.results)
      if (d.is_tensor()) refresh(d.tensor());
    for (Datum& d : r.results) {
      // What is handed on as it is has its history with gradients off, too.
      const GradMode mode(thread_state().grad_enabled ||
                          (d.is_tensor() && d.tensor().requires_grad()));
      r.values.push_back(d.is_tensor() ? value_of(d.tensor()) : nullptr);
    }
  } catch (...) {  // the front end may record the structure again
    leave();
    throw;
  }
  leave();
  return r;
}

/// What the block gives for its result `i`; numbers become constants at the insertion point.
Value* Tracer::yielded(const BlockResult& r, size_t i) {
  const Datum& d = r.results[i];
  return d.is_tensor() && r.values[i] != nullptr ? r.values[i] : value_of(d);
}

// ── tensors that data chose ─────────────────────────────────────────────────────────────────────
// A joined value is a value of its own in the graph, while eagerly it is the very tensor that one
// branch named. The difference is seen only by writes: to the joined value, or to one of those it
// may be. Both are refused.

Tensors Tracer::given_as(const Tensor& t, const Block& block, bool parameters) const {
  Tensors out, waiting{root_of(t)};
  absl::flat_hash_set<const TensorImpl*> seen;
  while (!waiting.empty()) {
    const Tensor root = waiting.back();
    waiting.pop_back();
    if (!seen.insert(root.impl()).second) continue;
    const Value* v = root.impl()->storage ? nullptr : now(root);
    const bool inside = v != nullptr && encloses(block, v->block());
    if (!inside || (parameters && v->node() == nullptr && v->block() == &block)) {
      out.push_back(root);
      continue;
    }
    for (const Chosen& c : chosen_)
      if (same(c.tensor, root))
        for (const Tensor& other : c.others) waiting.push_back(root_of(other));
  }
  return out;
}

void Tracer::note_chosen(const Tensor& t, Tensors others) {
  if (others.empty()) return;
  // What one of them may be, t may be, too.
  for (size_t i = 0; i < others.size(); ++i)
    for (const Chosen& c : chosen_) {
      if (!same(c.tensor, others[i])) continue;
      for (const Tensor& other : c.others)
        if (absl::c_none_of(others, [&](const Tensor& known) { return same(known, other); }))
          others.push_back(other);
    }
  chosen_.push_back({t, std::move(others)});
}

void Tracer::note_picked(const Tensor& t, const Tensor& x, std::function<void(const Tensor&)> put) {
  note_chosen(t, {root_of(x)});
  chosen_.back().put = std::move(put);
}

bool Tracer::put_picked(const Tensor& written, const Tensor& value) {
  const auto it = std::find_if(chosen_.begin(), chosen_.end(), [&](const Chosen& c) {
    return c.put && !c.stale && same(c.tensor, written);
  });
  // With gradients the order in which they arrive would be another one than that of a view.
  if (it == chosen_.end() || written.requires_grad() || value.requires_grad() ||
      has_history(written) || may_have_history(value))
    return false;
  const auto at = static_cast<size_t>(it - chosen_.begin());
  const auto put = it->put;  // a write may note more that is chosen
  put(value);
  chosen_[at].stale = false;  // it has what it wrote
  return true;
}

/// A write to what an if chose goes to the one that it is.
void Tracer::note_alternatives(const Tensor& condition, const Alternatives& chosen) {
  const Tensor& joined = chosen_.back().tensor;
  for (const Tensor& t : chosen.of)
    for (int axis = 0; t.defined() && axis < t.rank(); ++axis)
      if (!proven_equal(t.size(axis), joined.size(axis))) return;
  chosen_.back().put = [this, condition, chosen](const Tensor& value) {
    using M = math_ops<Tensor>;
    for (int k = 0; k < 2; ++k) {
      Tensor t = chosen.of[k];
      if (!t.defined()) continue;
      const Tensor is_it = k == 0 ? condition : M::logical_not(condition);
      write(t, M::where(is_it, value, t));
    }
  };
}

Tensor Tracer::aliased(const Tensor& t) {
  Value* v = without_history(t);
  GradMode no_grad(false);
  Tensor a = tensor_for(v);
  a.impl()->geometry = t.geometry();
  note_chosen(a, {root_of(t)});
  chosen_.back().source = t;
  return a;
}

/// A write to a tensor is seen through its detached ones.
void Tracer::renew_aliases(const Tensor& written) {
  for (size_t i = 0; i < chosen_.size(); ++i) {
    Tensor source = chosen_[i].source, alias = chosen_[i].tensor;
    if (!source.defined() || chosen_[i].stale || !same(root_of(source), written)) continue;
    // One that another branch has made is nothing to this one.
    if (!visible_from(now(alias), graph_.insertion_block())) continue;
    if (source.impl()->view) refresh(source);
    Value* v = without_history(source);
    if (has_history(alias)) {  // a write by another name does not take it away
      const GradMode on(true);
      v = value_of(shape_ops<Tensor>::overwritten(alias, tensor_for(v)));
    }
    note_write(alias);
    set_now(alias, v);
    renew_aliases(alias);
  }
}

void Tracer::refuse_stale(const Tensor& t) const {
  for (const Chosen& c : chosen_) {
    if (!c.stale) continue;
    if (!same(c.tensor, t) && !(t.impl()->view && same(t.impl()->view->base, c.tensor))) continue;
    throw TraceError(
        {.problem = "a tensor is read after one whose memory it may share was written to",
         .got = absl::StrCat("a write at ",
                             c.writer.known() ? to_string(c.writer) : "an unknown line"),
         .next = "clone() the tensor in the branch or before the loop"});
  }
}

void Tracer::check_chosen(const Tensor& written, bool put) {
  for (Chosen& c : chosen_) {
    if (same(c.tensor, written) && !put)
      throw TraceError({.problem =
                            "a tensor is written that may share the memory of others: it was "
                            "chosen by data, carried by a loop, or detached",
                        .got = lathe::to_string(type_of(written)),
                        .next = c.put ? "write by the index: x[i] = x[i] + y"
                                      : "clone() it first, or write to it inside the branch"});
    const bool renewed = c.source.defined() && same(memory_of(c.source), written);
    for (const Tensor& t : c.others)
      if (same(t, written) && !c.stale && !renewed) {
        c.stale = true;
        c.writer = here();
      }
  }
}

void Tracer::make_stale(const Stale& stale) {
  for (const auto& [i, writer] : stale) {
    chosen_[i].stale = true;
    chosen_[i].writer = writer;
  }
}

bool Tracer::proven_equal(Int a, Int b) const {
  return identical(a, b) || scope_.prove(Relation::eq, a, b) == SymScope::Truth::yes;
}

Int Tracer::fresh_integer(int64_t hint, bool is_size) { return scope_.fresh_inside(hint, is_size); }

bool Tracer::in_loop(Int e) const {
  if (open_loops_ == 0) return false;
  for (uint32_t k : symbols_of(e))
    if (k >= loop_symbols_) return true;
  return false;
}

// ── if ──────────────────────────────────────────────────────────────────────────────────────────

/// The type that both branches' values have, and whether a result is needed at all.
std::pair<Type, bool> Tracer::joined(const Datum& a, const Datum& b) const {
  if (!same_kind(a, b)) type_changes(a, b, "between the branches of an if");
  if (!a.is_tensor()) {
    if (a.is_integer() && !identical(a.integer(), b.integer())) return {integer_type(), true};
    if (!equal(a.arg(), b.arg()) && a.arg().tag != Tag::text)
      type_changes(a, b, "between the branches of an if");
    return {None{}, false};
  }
  return {type_of(a.tensor()), true};
}

/// Sizes of the arguments that are equal now are taken to stay so, by a guard: code goes on with
/// what was joined, and would have to ask.
bool Tracer::are_one_size(Int a, Int b) {
  if (proven_equal(a, b)) return true;
  for (Int e : {a, b})
    for (uint32_t symbol : symbols_of(e))
      if (!given_.contains(symbol)) return false;
  return scope_.hint(a) == scope_.hint(b) && decide(Relation::eq, a, b);
}

Data Tracer::record_if(const Datum& condition, Branch yes, Branch no) {
  size_t count = 0;
  auto counted = [&] {
    Data out = yes();
    count = out.size();
    return out;
  };
  auto checked = [&] {
    Data out = no();
    if (out.size() != count)
      throw TraceError({.problem = "the branches of an if give different numbers of values",
                        .got = absl::StrCat(count, " and ", out.size())});
    return out;
  };
  return record_if(condition, counted, checked, [&] {
    Pairs pairs;
    for (size_t i = 0; i < count; ++i) pairs.emplace_back(i, i);
    return pairs;
  });
}

Data Tracer::record_if(const Datum& condition, Branch yes, Branch no,
                       absl::FunctionRef<Pairs()> choose) {
  Operands operands;
  operands.in = {condition_value(condition)};
  Node* node = graph_.add_structure(Structure::if_, std::move(operands), {}, here());
  Branch branches[2] = {yes, no};
  BlockResult made[2];
  Pairs pairs;
  try {
    for (int i = 0; i < 2; ++i) made[i] = record_block(graph_.add_block(node), branches[i]);
    pairs = choose();  // the front end may find that it must record the branches again
  } catch (...) {
    graph_.erase(node);
    throw;
  }

  // What either branch wrote, both give.
  std::vector<Tensor> written;
  for (BlockResult& r : made)
    for (auto& [t, v] : r.writes) {
      bool known = false;
      for (const Tensor& w : written) known |= same(w, t);
      if (!known) written.push_back(t);
    }
  Tensors tracked = std::move(made[0].tracked);
  tracked.insert(tracked.end(), made[1].tracked.begin(), made[1].tracked.end());
  Values of_leaves = std::move(made[0].of_leaves);
  absl::c_copy(made[1].of_leaves, std::back_inserter(of_leaves));
  const Origins from = origins(tracked, of_leaves);  // as they are before the writes are put back
  Data results, handed_on;
  Values yields[2];
  auto join_shapes = [&](Type type, const Value* a, const Value* b) {
    TensorType t = *type.tensor();
    for (size_t axis = 0; axis < t.shape.size(); ++axis)
      if (!are_one_size(a->tensor().shape[axis], b->tensor().shape[axis]))
        t.shape[axis] = fresh_integer(scope_.hint(a->tensor().shape[axis]), true);
    return Type(t);
  };
  for (const auto& pair : pairs) {
    const size_t at[2] = {pair.first, pair.second};
    const bool promote = needs_tensor(made[0].results[at[0]], made[1].results[at[1]]);
    for (int k = 0; promote && k < 2; ++k) {
      InsertAt inside(graph_, node->block(static_cast<size_t>(k)));
      Datum& d = made[k].results[at[k]];
      d = flag_as_tensor(d);
    }
    const Datum &a = made[0].results[at[0]], &b = made[1].results[at[1]];
    auto [type, needed] = joined(a, b);
    if (!needed) {
      results.push_back(a);
      continue;
    }
    Tensors others;
    Alternatives chosen;
    for (int k = 0; k < 2; ++k) {
      Block& block = node->block(static_cast<size_t>(k));
      InsertAt inside(graph_, block);
      yields[k].push_back(yielded(made[k], at[k]));
      if (!a.is_tensor()) continue;
      const Tensor& t = made[k].results[at[k]].tensor();
      Tensors given = given_as(t, block, false);
      if (given.size() == 1 && same(given[0], t)) chosen.of[k] = t;
      chosen.known &= given.empty() || chosen.of[k].defined();
      for (Tensor& other : given) others.push_back(std::move(other));
    }
    Type t = a.is_tensor() ? join_shapes(type, yields[0].back(), yields[1].back())
                           : integer_type(fresh_integer(scope_.hint(a.integer())));
    results.push_back(datum_for(graph_.add_result(node, std::move(t)), a));
    if (a.is_tensor() && !others.empty()) {
      note_chosen(results.back().tensor(), std::move(others));
      if (chosen.known) note_alternatives(tensor_for(node->in(0)), chosen);
    }
    if (a.is_tensor() && (a.tensor().requires_grad() || b.tensor().requires_grad()))
      handed_on.push_back(results.back());
  }
  for (const Tensor& t : written) {
    for (int k = 0; k < 2; ++k) {
      Value* v = now(t);
      for (auto& [w, value] : made[k].writes)
        if (same(w, t)) v = value;
      yields[k].push_back(v);
    }
  }
  // After all of them: what shares memory with another has that one's value.
  for (const Tensor& t : written) set_now(t, graph_.add_result(node, type_of(t)));
  for (const BlockResult& r : made) make_stale(r.stale);
  for (int k = 0; k < 2; ++k)
    graph_.set_yields(node->block(static_cast<size_t>(k)), std::move(yields[k]), here());
  if (thread_state().grad_enabled) {
    pass_history(Structure::if_, node, tracked, results, written, from);
  } else {
    const GradMode on(true);
    pass_history(Structure::if_, node, tracked, handed_on, {}, {});
  }
  return results;
}

Datum Tracer::datum_for(Value* v, const Datum& like) {
  if (like.is_tensor()) return Datum(tensor_for(v));
  return Datum(Arg(*v->type().scalar()->value));
}

}  // namespace lathe::ir
