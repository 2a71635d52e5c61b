#include "graph/trace/structure.h"

#include <absl/strings/str_cat.h>

#include "core/base/cancel.h"
#include "core/base/error.h"
#include "graph/trace/tracer.h"

namespace lathe::ir {
namespace {

/// Longer loops of a known length are recorded as loops, shorter ones written out: so each round
/// can fuse with its neighbours.
constexpr int64_t kMostUnrolled = 16;

[[noreturn]] void no_tracer() {
  throw TraceError({.problem = "a condition is a symbolic tensor, and no trace is under way",
                    .next = "symbolic tensors cannot leave the function that was traced"});
}

}  // namespace

void too_deep(const std::string& callee, int calls) {
  throw ValueError({.op = callee,
                    .problem = "the recursion is too deep",
                    .got = absl::StrCat(calls, " calls inside each other"),
                    .next = "look whether it ends; one that goes so deep is a while loop"});
}

void check_range(Int step) {
  if (step == Int(0))
    throw ValueError({.op = "range",  // not an op: a word
                      .problem = "the step of a range is zero"});
}

bool symbolic(const Datum& condition) {
  return condition.is_tensor() && condition.tensor().symbolic();
}

bool truth(const Datum& condition) {
  if (condition.is_tensor()) {
    const Tensor& t = condition.tensor();
    return is_floating(t.dtype()) ? t.item_double() != 0 : t.item_int() != 0;
  }
  Arg a = condition.arg();
  switch (a.tag) {
    case Tag::flag:
      return a.flag_;
    case Tag::integer:
      return !(a.integer() == Int(0));
    case Tag::real:
      return !(a.real() == 0.0);
    case Tag::text:
      return a.text_[0] != '\0';
    default:
      return false;
  }
}

Data if_(const Datum& condition, Branch yes, Branch no) {
  if (!symbolic(condition)) return truth(condition) ? yes() : no();
  Tracer* tracer = Tracer::current();
  if (tracer == nullptr) no_tracer();
  return tracer->record_if(condition, yes, no);
}

Data while_(LoopCondition condition, LoopBody body, Data carried) {
  for (;;) {
    // The first answers may be known and later ones not: rounds until then are written out.
    Tracer* tracer = Tracer::current();
    Node* before = tracer != nullptr ? tracer->last_node() : nullptr;
    Datum c = condition(carried);
    if (symbolic(c)) {
      if (tracer == nullptr) no_tracer();
      tracer->forget_after(before);  // the loop asks again, in its own block
      return tracer->record_while(condition, body, carried);
    }
    if (!truth(c)) return carried;
    if (cancel_wanted()) throw_cancelled();  // a round of numbers asks nowhere else
    carried = body(carried);
  }
}

Data for_(Int start, Int stop, Int step, ForBody body, Data carried) {
  check_range(step);
  bool known = start.known() && stop.known() && step.known();
  Tracer* tracer = Tracer::current();
  Int count = step > Int(0) ? ceil_div(stop - start, step) : ceil_div(start - stop, -step);
  if (tracer != nullptr && !known) {
    // No round is a program of its own: what a round asks of its index, no hint would answer.
    const bool asks = !tracer->in_loop(start) && !tracer->in_loop(stop) && !tracer->in_loop(step);
    if (asks && !(count > Int(0))) return carried;
    return tracer->record_for(start, stop, step, body, carried);
  }
  if (tracer != nullptr && count.value() > kMostUnrolled)
    return tracer->record_for(start, stop, step, body, carried);
  Int i = start;
  for (int64_t n = count.value(); n > 0; --n, i += step) {
    if (cancel_wanted()) throw_cancelled();
    carried = body(i, carried);
  }
  return carried;
}

}  // namespace lathe::ir
