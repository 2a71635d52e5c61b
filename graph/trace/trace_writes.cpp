// Writes of the traced code, and histories: what the tape knows of a tensor.
//
// A write gives its tensor another value of the graph, and reaches one that is a view through what
// that is a view of. What a block writes is noted by its frame, for trace_structure.cpp to put it
// back. A history is the tape's to keep; here it is asked for, or cut off.
#include <absl/algorithm/container.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/leaf.h"
#include "core/dispatch/replay.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {

Value* Tracer::now(const Tensor& t) const {
  return t.impl()->storage ? captured_.at(t.impl()).now : values_[t.impl()->symbol.value];
}

void Tracer::set_now(const Tensor& t, Value* v) {
  if (t.impl()->storage)
    captured_.at(t.impl()).now = v;
  else
    t.impl()->symbol.value = id_of(v);
  ++t.impl()->version;
}

void Tracer::note_write(const Tensor& root) {
  note_tracked(root);
  bool first = false;
  for (Frame& f : frames_) {
    Value* before = now(root);
    if (encloses(*f.block, before->block())) continue;  // made inside: nobody outside can see it
    bool known = false;
    for (const Before& b : f.before) known |= same(b.tensor, root);
    if (known) continue;
    f.before.push_back({root, before, root.impl()->autograd, root.impl()->requires_grad});
    first = true;
  }
  if (first) begin_history(root);
}

bool Tracer::block_writes() const {
  return !frames_.empty() && absl::c_any_of(frames_.back().before, [&](const Before& b) {
    return now(b.tensor)->node() != nullptr;  // no parameter, by which a loop hands it on
  });
}

/// What the tape says of t in the block is of the block: outside of it, t has the history that it
/// had, and then that of the whole structure.
void Tracer::begin_history(const Tensor& t) {
  TensorImpl& impl = *t.impl();
  if (!impl.requires_grad) {
    impl.autograd = nullptr;
  } else if (!is_leaf(t)) {
    const GradMode on(true);
    const Tensor same_elements = shape_ops<Tensor>::expand(t, Ints(IntSpan(t.shape())));
    impl.autograd = same_elements.impl()->autograd;
  }
}

Value* Tracer::written(const Tensor& dst, const Tensor& value) {
  if (thread_state().grad_enabled) return value_of(value);
  if (!has_history(dst)) {
    if (!dst.requires_grad() || frames_.empty()) return without_history(value);
    // What a leaf gets in a block is a value of its own, which gradients may lead back to.
    frames_.back().of_leaves.push_back(cut_off(value));
    return frames_.back().of_leaves.back();
  }
  const GradMode on(true);
  return value_of(shape_ops<Tensor>::overwritten(dst, value));
}

void Tracer::write(Tensor& dst, const Tensor& value) {
  ViewOf* view = dst.impl()->view.get();
  if (view == nullptr) {
    if (Tensor source = detached_from(dst); source.defined()) {  // one memory: it sees the write
      {
        const GradMode off(false);
        require_assignable(source);
        write(source, value);
      }
      // The history is that of the one that was written to alone.
      if (thread_state().grad_enabled && value.requires_grad()) set_now(dst, value_of(value));
      return;
    }
    value_of(dst);  // lifts it, or refuses one that escaped
    Value* v = written(dst, value);
    if (dst.impl()->storage && !captured_.contains(dst.impl()))
      throw TraceError({.problem = "the traced code writes to a tensor's memory by another tensor",
                        .got = lathe::to_string(type_of(dst)),
                        .next = "write to the tensor itself, under no_grad"});
    check_chosen(dst, put_picked(dst, value));
    note_write(dst);
    set_now(dst, v);
    if (!chosen_.empty()) renew_aliases(dst);
    return;
  }
  Tensor base = view->base;
  if (dst.impl()->storage)
    throw TraceError({.problem = "the traced code writes through a view made before the trace",
                      .got = lathe::to_string(type_of(dst)),
                      .next = "make the view inside the traced function"});
  ViewSteps path = steps_of(*view);
  write(base, put_through(base, path, value));
  // Read back from the base, as the tape has it: gradients arrive in the same order then. Only the
  // value: its history is the tape's to say.
  const GradMode mode(thread_state().grad_enabled || has_history(base));
  dst.impl()->symbol = replay(base, path).impl()->symbol;
  view->version = base.impl()->version;
}

void Tracer::renew(const Tensor& t, const Tensor& v) {
  const auto fail = [&](std::string_view problem) {
    throw TraceError({.op = "data",
                      .problem = std::string(problem),
                      .got = lathe::to_string(type_of(v)),
                      .expected = lathe::to_string(type_of(t)),
                      .next = "copy the values: with no_grad(): x.copy_(y)"});
  };
  bool same_type = t.dtype() == v.dtype() && t.device() == v.device() && t.rank() == v.rank();
  for (int i = 0; same_type && i < t.rank(); ++i) same_type = t.size(i) == v.size(i);
  if (!same_type) fail("a trace cannot give a tensor another type");
  const Tensor owner = memory_of(v);
  const bool of_t = same(owner, memory_of(t));
  if (of_t && !v.impl()->view && !t.impl()->view) return;  // it has that memory: t.data -= 1
  if (of_t || t.impl()->view || owner.impl()->storage || as_input(owner))
    fail("a trace cannot let two tensors share memory that both have from outside of it");
  for (Chosen& c : chosen_)  // the others stay where they are: stale ones are known by their places
    if (c.source.defined() && same(c.tensor, t)) c = {};
  for (Chosen& c : chosen_) {
    if (!c.source.defined() || !same(root_of(c.source), t)) continue;
    c.source = Tensor();
    const auto is_t = [&](const Tensor& other) { return same(other, t); };
    c.others.erase(std::remove_if(c.others.begin(), c.others.end(), is_t), c.others.end());
  }
  Tensor to = t;
  const GradMode off(false);
  assign(to, v);
  to.impl()->renewed = to.impl()->version;
  note_chosen(root_of(v), {t});
  if (!v.impl()->view) chosen_.back().source = t;
}

// ── histories ───────────────────────────────────────────────────────────────────────────────────

void Tracer::note_tracked(const Tensor& t) {
  if (!t.requires_grad() || !thread_state().grad_enabled) return;
  const bool has_value = !t.impl()->storage || captured_.contains(t.impl());
  const auto gave = [&](const Frame& f) { return absl::c_linear_search(f.of_leaves, now(t)); };
  const bool from_outside =
      has_value && absl::c_any_of(frames_, gave);  // a leaf that is written to
  for (Frame& f : frames_) {
    const bool inside = !from_outside && !t.impl()->storage && encloses(*f.block, now(t)->block());
    auto is_it = [&](const Tensor& known) { return same(known, t); };
    if (!inside && std::none_of(f.tracked.begin(), f.tracked.end(), is_it)) f.tracked.push_back(t);
  }
}

/// Was it computed from what requires grad, or may that be so at a later call? To the tape it is
/// that still after a write with gradients off, and the value written is a number.
bool Tracer::has_history(const Tensor& t) {
  if (t.requires_grad() && t.impl()->autograd && !is_leaf(t)) return true;
  if (!any_history_ || !differentiable.has(t.dtype())) return false;
  const Value* v = value_of(t);
  const Node* n = v->node();
  if (n == nullptr) return v->block() != &graph_.body();  // what a loop carries may have one
  if (n->op() == nullptr) return !n->is(Structure::constant);
  return !n->detached() && !n->op()->extra.no_grad && n->op()->kind != Kind::create;
}

bool Tracer::any_tracked() const {
  auto is_tracked = [](const Tensor& t) { return t.defined() && t.requires_grad(); };
  return std::any_of(inputs_.begin(), inputs_.end(), is_tracked) ||
         std::any_of(captured_.begin(), captured_.end(),
                     [&](const auto& known) { return is_tracked(known.second.tensor); });
}

bool Tracer::may_have_history(const Tensor& t) {
  if (t.requires_grad() || !differentiable.has(t.dtype()) || depth() == 0 || !any_tracked())
    return false;
  Values waiting{value_of(t)};
  absl::flat_hash_set<const Value*> seen;
  while (!waiting.empty()) {
    const Value* v = waiting.back();
    waiting.pop_back();
    const Node* n = v->node();
    if (!seen.insert(v).second || v->type().tensor() == nullptr) continue;
    if (n == nullptr && v->block() != &graph_.body() && differentiable.has(v->tensor().dtype))
      return true;
    const bool cut =
        n == nullptr || n->detached() || (n->op() != nullptr && n->op()->extra.no_grad);
    if (!cut) waiting.insert(waiting.end(), n->in().begin(), n->in().end());
  }
  return false;
}

/// What the tensor is now, as a result that has no history: a node of its own says so, or whoever
/// takes gradients through the graph would see the tensor itself.
Value* Tracer::without_history(const Tensor& t) {
  Value* v = value_of(t);
  const bool recording = thread_state().grad_enabled;
  const bool is_cut = !(is_floating(t.dtype()) || is_complex(t.dtype())) ||
                      (v->node() != nullptr && v->node()->detached());
  return !recording && is_cut ? v : cut_off(t);
}

/// The same as a value of its own.
Value* Tracer::cut_off(const Tensor& t) {
  const GradMode no_grad(false);
  return value_of(shape_ops<Tensor>::expand(t, Ints(IntSpan(t.shape()))));
}

std::optional<Tracer::Part> Tracer::part_of(Node* node, const Tensors& inputs,
                                            const Tensors& results,
                                            absl::Span<const Tensor> written) const {
  absl::flat_hash_set<const Value*> read(node->in().begin(), node->in().end());
  for (const Block* b : node->blocks())
    for (const Value* v : free_values(*b)) read.insert(v);
  Part part{node, {}, {}};
  for (const Tensor& t : inputs) {
    Value* v = t.impl()->storage && !captured_.contains(t.impl()) ? nullptr : now(t);
    for (size_t i = 0; i < written.size(); ++i)  // a loop is given what it writes last
      if (same(written[i], t))
        v = node->is(Structure::if_) ? nullptr : node->in(node->in().size() - written.size() + i);
    // Two tensors of one value: nothing says to which of them its gradient goes.
    if (v == nullptr || read.erase(v) == 0) return std::nullopt;
    part.inputs.push_back(v);
  }
  for (const Tensor& t : results) part.results.push_back(now(t));
  return part;
}

Tracer::Origins Tracer::origins(const Tensors& tracked, const Values& of_leaves) {
  Origins out(of_leaves.begin(), of_leaves.end());
  if (!frames_.empty()) absl::c_copy(of_leaves, std::back_inserter(frames_.back().of_leaves));
  for (const Tensor& t : tracked)
    if (t.requires_grad() && (!t.impl()->storage || captured_.contains(t.impl())))
      out.insert(now(t));
  return out;
}

bool Tracer::leads_back(const Value* v, const Origins& origins) {
  std::vector<const Value*> waiting{v};
  absl::flat_hash_set<const Value*> seen;
  while (!waiting.empty()) {
    v = waiting.back();
    waiting.pop_back();
    if (!seen.insert(v).second || v->type().tensor() == nullptr) continue;
    if (origins.contains(v)) return true;
    if (!differentiable.has(v->tensor().dtype)) continue;
    const Node* n = v->node();
    const Node* structure = n != nullptr ? n : v->block()->owner();
    if (structure == nullptr || structure->detached() ||
        (structure->op() != nullptr && structure->op()->extra.no_grad))
      continue;
    if (structure->blocks().empty()) {
      waiting.insert(waiting.end(), n->in().begin(), n->in().end());
      continue;
    }
    // Of an if what its branches give; of a loop what it begins with, and what a round leaves.
    const bool loop = !structure->is(Structure::if_);
    const size_t own = n == nullptr && structure->is(Structure::for_) ? 1 : 0;
    if (v->index() < own) continue;
    const size_t k = v->index() - own;
    for (const Block* b : structure->blocks())
      if (b->end() != nullptr && k < b->yields().size() &&
          !(structure->is(Structure::while_) && b == structure->blocks().front()))
        waiting.push_back(b->yields()[k]);
    if (const size_t at = structure->carried_from() + k; loop && at < structure->in().size())
      waiting.push_back(structure->in(at));
  }
  return false;
}

void Tracer::pass_history(Structure structure, Node* node, const Tensors& tracked,
                          const Data& results, absl::Span<const Tensor> written,
                          const Origins& origins) {
  if (tracked.empty() || tape() == nullptr) return;
  Tensors in, out;
  // A leaf is one also after it was written to, and what had no history has one only from what was
  // written.
  const auto gets_one = [&](size_t i) {
    const Tensor& t = written[i];
    if (t.requires_grad()) return !is_leaf(t);
    return std::any_of(node->blocks().begin(), node->blocks().end(), [&](const Block* b) {
      if (structure == Structure::while_ && b == node->blocks().front()) return false;
      return leads_back(b->yields()[b->yields().size() - written.size() + i], origins);
    });
  };
  for (size_t i = 0; i < written.size(); ++i)
    if (gets_one(i)) out.push_back(written[i]);
  for (const Tensor& t : tracked) {
    const auto is_t = [&](const Tensor& known) { return same(known, t); };
    if (t.requires_grad() && std::none_of(in.begin(), in.end(), is_t)) in.push_back(t);
  }
  for (const Datum& d : results)
    if (d.is_tensor()) out.push_back(d.tensor());
  if (node != nullptr) part_ = part_of(node, in, out, written);
  tape()->saw_part(name(structure), in, out);
  part_.reset();
}

}  // namespace lathe::ir
