#include "python/bindings/constants.h"

#include <algorithm>
#include <utility>

#include "autodiff/tape.h"
#include "core/base/error.h"
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

Tensor without_history(const Tensor& t) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer == nullptr || is_constant(t)) return detach(t);
  if (t.impl()->view) refresh(t);
  return tracer->aliased(t);
}

}  // namespace lathe::py
