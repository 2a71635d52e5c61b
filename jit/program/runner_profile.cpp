// What a profile notes of programs: a span around each call, and one around each step in it. Apart
// from runner.cpp, so that what runs without a profile pays one question a step.
#include <algorithm>
#include <functional>

#include "core/dispatch/profile.h"
#include "graph/ir/arguments.h"
#include "jit/program/runner.h"

namespace lathe::jit {
ir::Data Runner::run_profiled(const ir::Data& inputs) {
  Span span(SpanKind::call, p_.graph_.name(), here());
  for (const ir::Datum& d : inputs)
    if (d.is_tensor() && d.tensor().defined())
      span.reads(type_of(d.tensor()), bytes_of(d.tensor()));
  ir::Data out = run(inputs);
  for (const ir::Datum& d : out)
    if (d.is_tensor() && d.tensor().defined())
      span.writes(type_of(d.tensor()), bytes_of(d.tensor()));
  return out;
}

static int64_t bytes_of(const TensorType& t) {
  return numel(t.shape).value() * static_cast<int64_t>(size_of(t.dtype));
}

/// Of the contraction that the step's node is, if it is one.
static int64_t operations_of(const ir::Node& n, const std::function<Int(Int)>& evaluate) {
  if (!n.is(ir::Structure::op) || n.op()->kind != Kind::contract) return 0;
  const auto evaluated = [&](TensorType t) {
    for (Int& i : t.shape) i = evaluate(i);
    return t;
  };
  std::vector<Tensor> operands;
  std::vector<Arg> values;
  for (const ir::Value* v : n.in()) {
    const TensorType* t = v->type().tensor();
    if (t == nullptr) return 0;  // a number that only running tells
    operands.push_back(ir::stand_in(evaluated(*t)));
  }
  for (const Tensor& t : operands) values.push_back(Arg(t));
  ir::Filled filled = ir::fill(n.attrs(), n.places(), values, &evaluate);
  return lathe::operations_of(*n.op(), filled.args(), evaluated(n.out(0)->tensor()));
}

void Runner::run_profiled(const Step& s, Bound::OfStep& ready) {
  if (s.elided || ready.done) return run_step(s, ready);  // nothing to run
  Span span(SpanKind::step, what_runs(s), s.node->site());
  const bool over = may_take_over(s);  // it moves what it writes, and no more
  // A view that is never made may show less of what lies in the slot, or show it more than once.
  auto read = [&](const Step& part, size_t k) {
    const ir::Datum& d = at(part.in[k]);
    const TensorType* type = input(part, k)->type().tensor();
    if (!d.is_tensor() || !d.tensor().defined() || type == nullptr) return;
    TensorType seen = *type;
    for (Int& n : seen.shape) n = evaluate(n);
    span.reads(seen, k == 0 && over ? 0 : std::min(bytes_of(seen), bytes_of(d.tensor())));
  };
  for (size_t k = 0; k < s.in.size(); ++k) read(s, k);
  if (s.epilogue)
    for (size_t k = 0; k < s.epilogue->in.size(); ++k)
      if (std::find(s.out.begin(), s.out.end(), s.epilogue->in[k]) == s.out.end())
        read(*s.epilogue, k);
  if (s.node->is(ir::Structure::op) && s.node->op()->kind == Kind::view) span.moves_nothing();
  const int64_t written = over && at(s.in[1]).is_tensor() ? bytes_of(at(s.in[1]).tensor()) : 0;
  run_step(s, ready);
  const std::function<Int(Int)> now = [&](Int e) { return evaluate(e); };
  span.works(operations_of(*s.node, now));
  if (s.panels) span.works(operations_of(*s.panels->product.node, now));
  for (int slot : (s.epilogue ? *s.epilogue : s).out)
    if (const ir::Datum& d = at(slot); d.is_tensor() && d.tensor().defined())
      span.writes(type_of(d.tensor()), over ? written : bytes_of(d.tensor()));
}

}  // namespace lathe::jit
