// What a profile notes of programs: a span around each call, and one around each step in it. Apart
// from runner.cpp, so that what runs without a profile pays one question a step.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/dispatch/profile.h"
#include "jit/program/runner.h"

namespace lathe::jit {
namespace {

std::string name_of_node(const ir::Node& n) {
  if (n.is(ir::Structure::op)) return n.op()->name();
  if (n.is(ir::Structure::call)) return absl::StrCat("call @", n.callee());
  if (!n.is(ir::Structure::group)) return std::string(name(n.structure()));
  std::string out;
  for (const ir::Node* inner : n.block(0).nodes())
    absl::StrAppend(&out, out.empty() ? "" : "+", inner->op()->name());
  return out;
}

/// Of all that the step runs as one.
std::string name_of_step(const Step& s) {
  std::string out;
  each_node(s, [&](const ir::Node& n) {
    absl::StrAppend(&out, out.empty() ? "" : "+", name_of_node(n));
  });
  return out;
}

}  // namespace

std::string_view name_of(Engine engine) {
  constexpr std::string_view kNames[] = {"", "own.simd", "generated", "own.copy"};
  return kNames[static_cast<size_t>(engine)];
}

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
  Span span(SpanKind::step, name_of_step(s), s.node->site());
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
