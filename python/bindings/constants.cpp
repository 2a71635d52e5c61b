#include "python/bindings/constants.h"

#include <algorithm>
#include <utility>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/batch/batch.h"
#include "graph/trace/tracer.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

constinit thread_local ConstantScope* t_scope = nullptr;

}  // namespace

ConstantScope::ConstantScope() : outer_(std::exchange(t_scope, this)) {}
ConstantScope::~ConstantScope() { t_scope = outer_; }

void note_constant(const Tensor& t) {
  if (t_scope != nullptr && thread_state().trace_epoch != 0) t_scope->noted_.push_back(t);
}
bool is_constant(const Tensor& t) {
  if (t_scope == nullptr) return false;
  return std::any_of(t_scope->noted_.begin(), t_scope->noted_.end(),
                     [&](const Tensor& noted) { return same(noted, t); });
}

void reading(const Tensor& t, const char* op) {
  if (thread_state().trace_epoch == 0 || t.symbolic() || is_constant(t)) [[likely]]
    return;  // a symbolic one refuses by itself
  throw TraceError({.op = op,
                    .problem =
                        "the traced code reads the elements of a tensor, which may be others "
                        "at the next call",
                    .got = to_string(type_of(t)),
                    .next = "keep it a tensor, or read it outside of the traced function"});
}

Tensor unrecorded(const Tensor& t) {
  Batch* batch = Batch::current();
  if (batch == nullptr) return without_history(t);
  // A leaf of what runs inside must be unknown below, where the tape would take it for one there.
  if (!batch->is_stand_in(t)) return batch->stand_in(batch->all(t));
  Tensor alias = detach(t);
  batch->note_shared(t.impl()->view ? t.impl()->view->base : t, alias);
  return alias;
}

Tensor without_history(const Tensor& t) {
  if (Batch* batch = Batch::current(); batch != nullptr && batch->is_stand_in(t)) {
    Tensor all = batch->all(t);  // brings a view up to date
    {
      const Below below(*batch);
      all = without_history(all);
    }
    Tensor alias = batch->stand_in(all);
    batch->note_shared(t.impl()->view ? t.impl()->view->base : t, alias);
    return alias;
  }
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer == nullptr || is_constant(t)) return detach(t);
  if (t.impl()->view) refresh(t);
  return tracer->aliased(t);
}

}  // namespace lathe::py
