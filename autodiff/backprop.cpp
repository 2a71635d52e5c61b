#include "autodiff/backprop.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "graph/ir/arguments.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

bool is_float(const Value* v) {
  const TensorType* t = v->type().tensor();
  return t != nullptr && differentiable.has(t->dtype);
}

/// An op's arguments with lists laid out flat (core/dispatch/grad.h): the Value in each slot, or
/// null.
Values slots_of(const Node& n) {
  Values out;
  for (size_t i = 0; i < n.attrs().size(); ++i) {
    auto param = static_cast<int>(i);
    if (n.attrs()[i].tag == Tag::list && n.op()->schema.params[i].type == ArgType::tensor) {
      Values list = n.values(param);
      out.insert(out.end(), list.begin(), list.end());
    } else {
      out.push_back(n.value(param));
    }
  }
  for (Value*& v : out)
    if (v != nullptr && v->type().tensor() == nullptr) v = nullptr;
  return out;
}

}  // namespace

ArgVec plain_arguments(const Node& n, Tracer& tracer) {
  ArgVec out;
  for (size_t i = 0; i < n.attrs().size(); ++i) {
    const Arg& a = n.attrs()[i];
    bool tensors = a.tag == Tag::list && n.op()->schema.params[i].type == ArgType::tensor;
    Value* v = n.value(static_cast<int>(i));
    bool number = v != nullptr && v->type().scalar() != nullptr;
    out.push(number ? tracer.number_for(v) : tensors ? Arg() : a);
  }
  return out;
}

// ── which values matter ─────────────────────────────────────────────────────────────────────────

void Backprop::activate(Value* v) {
  if (is_float(v)) active_.insert(v);
}

void Backprop::spread(const Block& block) {
  for (Node* n = block.first(); n != nullptr; n = n->next()) spread(*n);
}

void Backprop::spread(const Node& n) {
  switch (n.structure()) {
    case Structure::op: {
      bool any = false;
      for (Value* v : n.in()) any |= active(v);
      if (any && !n.op()->extra.no_grad && !n.detached())
        for (Value* v : n.out()) activate(v);
      return;
    }
    case Structure::if_:
      for (Block* b : n.blocks()) {
        spread(*b);
        for (size_t i = 0; i < n.out().size(); ++i)
          if (active(b->yields()[i])) activate(n.out(i));
      }
      return;
    case Structure::while_:
      return spread_loop(n, n.block(0).parameters(), n.block(1));
    case Structure::for_: {
      const Values& p = n.block(0).parameters();
      return spread_loop(n, Values(p.begin() + 1, p.end()), n.block(0));
    }
    default:
      return;
  }
}

void Backprop::spread_after(const Node* before) {
  Node* n = before != nullptr ? before->next() : g_.insertion_block().first();
  for (; n != nullptr; n = n->next()) spread(*n);
}

void Backprop::spread_loop(const Node& n, const Values& parameters, const Block& body) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (active(n.in(n.carried_from() + i))) activate(parameters[i]);
  for (bool changed = true; changed;) {
    changed = false;
    spread(body);
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!active(body.yields()[i]) || active(parameters[i])) continue;
      activate(parameters[i]);
      changed = true;
    }
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (active(parameters[i])) activate(n.out(i));
}

// ── sums ────────────────────────────────────────────────────────────────────────────────────────

void Backprop::arrive(Value* v, const Tensor& dy, const Tensor& flag) {
  join_flag(v, arrival(v), flag);
  Tensor& sum = sums_[v];
  if (sum.defined() && (arrive_at_row(v, sum, dy) || arrive_at_slice(v, sum, dy))) return;
  const Value* before = sum.defined() ? tracer_.value_of(sum) : nullptr;
  sum = sum.defined() ? math_ops<Tensor>::add(sum, dy) : dy;
  note_slices(v, before, sum, dy);
}

Tensor Backprop::sum(const Value* v) const {
  auto it = sums_.find(v);
  return it == sums_.end() ? Tensor() : it->second;
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────

void Backprop::walk(Node* last) {
  for (Node* n = last; n != nullptr; n = n->previous()) {
    own_ = n;
    visit(*n);
  }
}

void Backprop::walk(Node* last, const Node* before) {
  for (Node* n = last; n != before; n = n->previous()) visit(*n);
}

void Backprop::visit(Node& n) {
  bool reached = false;
  for (Value* v : n.out()) reached |= active(v) && sum(v).defined();
  if (!reached) return;
  SiteScope site(n.site().known() ? n.site() : here());
  switch (n.structure()) {
    case Structure::op:
      return n.op()->kind == Kind::composite && !has_gradient(*n.op()) ? visit_composite(n)
                                                                       : visit_op(n);
    case Structure::if_:
      return visit_if(n);
    case Structure::for_:
      return visit_for(n);
    case Structure::while_:
      return visit_while(n);
    case Structure::constant:  // it is what a gradient is wanted by
      return;
    default:
      LATHE_INTERNAL(absl::StrCat("the derivative of '", name(n.structure()), "'"));
  }
}

void Backprop::visit_op(Node& n) {
  const Op& op = *n.op();
  if (!has_gradient(op))
    throw AutogradError({.op = op.name(),
                         .problem = "this op has no derivative",
                         .next = "detach() its inputs, or run it under lt.no_grad()",
                         .site = n.site()});
  DType compute = DType::f32;  // as the tape finds it
  for (int i = 0; i < static_cast<int>(n.attrs().size()); ++i)
    if (Value* v = n.value(i); v != nullptr && is_float(v))
      compute = rule_type(compute, v->tensor().dtype);
  Values slots = slots_of(n);
  uint32_t asked = 0;
  for (size_t i = 0; i < slots.size() && i < 32; ++i)
    if (slots[i] != nullptr && active(slots[i])) asked |= 1u << i;
  Saves saves = saves_of(op, compute, asked);

  std::vector<Tensor> dys, ys(n.out().size()), xs;
  std::vector<TensorType> y_types, x_types;
  absl::InlinedVector<bool, 8> wanted;
  for (size_t i = 0; i < slots.size(); ++i) {
    Value* v = slots[i];
    bool saved = v != nullptr && i < 32 && (saves.inputs >> i & 1) != 0;
    x_types.push_back(v != nullptr ? v->tensor() : TensorType{});
    wanted.push_back(v != nullptr && active(v));
    xs.push_back(saved ? tracer_.tensor_for(v) : Tensor());
  }
  for (size_t k = 0; k < n.out().size(); ++k) {
    dys.push_back(active(n.out(k)) ? sum(n.out(k)) : Tensor());
    y_types.push_back(n.out(k)->tensor());
    if (saves.outputs >> k & 1) ys[k] = tracer_.tensor_for(n.out(k));
  }
  ArgVec attrs = plain_arguments(n, tracer_);
  Grad::Data data{&op, attrs.view(), dys, y_types, xs, x_types, ys, wanted, higher_};
  const Tensor flag = flag_of(n);
  Grads grads = run_gradient(data);
  for (size_t i = 0; i < grads.size(); ++i) {
    Tensor& dx = grads[i];
    if (!dx.defined() || !wanted[i]) continue;
    if (flag.defined() && row_put(slots[i], dx) == nullptr)  // a row's zeros are left out anyway
      dx = math_ops<Tensor>::where(flag, dx, empty_sum({dx.dtype(), Shape{}, dx.device()}));
    arrive(slots[i], dx, flag);
  }
}

/// A composite that a backend takes whole has no rule of its own: its parts have. They are recorded
/// now, as the tape does, so that each adds to the sum of what it reads in its own turn.
void Backprop::visit_composite(Node& n) {
  Node* before = g_.insertion_block().last();
  Tensors held;
  std::vector<Arg> values;
  for (Value* v : n.in()) {
    if (v->type().tensor() != nullptr) {
      held.push_back(tracer_.tensor_for(v));
      values.push_back(Arg(held.back()));
    } else {
      values.push_back(tracer_.number_for(v));
    }
  }
  Filled args = fill(n.attrs(), n.places(), values);
  Values results;
  for (const Tensor& t : lathe::expand(*n.op(), args.args()))
    results.push_back(t.defined() ? tracer_.value_of(t) : nullptr);
  Node* last = g_.insertion_block().last();
  spread_after(before);
  for (size_t k = 0; k < results.size(); ++k)
    if (results[k] != nullptr && active(n.out(k)) && sum(n.out(k)).defined() && active(results[k]))
      arrive(results[k], sum(n.out(k)), flag_at(n.out(k)));
  walk(last, before);
}

}  // namespace lathe
