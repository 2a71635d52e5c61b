// What a profile notes of programs: a span around each call, and one around each step in it. Apart
// from runner.cpp, so that what runs without a profile pays one question a step.
#include <algorithm>

#include "core/dispatch/profile.h"
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

void Runner::run_profiled(const Step& s, Bound::OfStep& ready) {
  if (s.elided || ready.done) return run_step(s, ready);  // nothing to run
  Span span(SpanKind::step, what_runs(s), s.node->site());
  // A view that is never made may show less of what lies in the slot, or show it more than once.
  auto read = [&](const Step& part, size_t k) {
    const ir::Datum& d = at(part.in[k]);
    const TensorType* type = input(part, k)->type().tensor();
    if (!d.is_tensor() || !d.tensor().defined() || type == nullptr) return;
    TensorType seen = *type;
    int64_t bytes = static_cast<int64_t>(size_of(seen.dtype));
    for (Int& n : seen.shape) bytes *= (n = evaluate(n)).value();
    span.reads(seen, std::min(bytes, bytes_of(d.tensor())));
  };
  for (size_t k = 0; k < s.in.size(); ++k) read(s, k);
  if (s.epilogue)
    for (size_t k = 0; k < s.epilogue->in.size(); ++k)
      if (std::find(s.out.begin(), s.out.end(), s.epilogue->in[k]) == s.out.end())
        read(*s.epilogue, k);
  if (s.node->is(ir::Structure::op) && s.node->op()->kind == Kind::view) span.moves_nothing();
  run_step(s, ready);
  for (int slot : (s.epilogue ? *s.epilogue : s).out)
    if (const ir::Datum& d = at(slot); d.is_tensor() && d.tensor().defined())
      span.writes(type_of(d.tensor()), bytes_of(d.tensor()));
}

}  // namespace lathe::jit
