#include "core/dispatch.h"

#include <absl/strings/str_cat.h>

#include <atomic>

#include "core/asked.h"
#include "core/error.h"
#include "core/fn.h"
#include "core/inplace.h"
#include "core/shortcut.h"

namespace lathe {
namespace {

constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));
// Whoever uses the library first sets them, and that may be several threads at once.
constinit std::atomic<Backend*> g_backend = nullptr;
constinit std::atomic<Observer*> g_tape = nullptr;

bool needs_grad(Args args) {
  for (const Arg& a : args) {
    if (a.tag == Tag::tensor && a.tensor_->requires_grad) return true;
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i)
      if (a.list_->data[i].tag == Tag::tensor && a.list_->data[i].tensor_->requires_grad)
        return true;
  }
  return false;
}

/// A tensor of a trace that is over: kernels would find no memory.
[[noreturn]] void escaped(const TensorImpl* t) {
  throw TraceError({.problem = "a symbolic tensor is used after its trace: it escaped from the "
                               "function that was traced",
                    .got = to_string(TensorType{t->dtype, t->geometry.shape, t->device}),
                    .next = "return the tensor from the traced function instead of keeping it in a "
                            "global, an attribute or a cache"});
}

/// Stale views among the operands are brought up to date first.
void refresh_operands(Args args) {
  auto one = [](const Arg& a) {
    if (a.tag != Tag::tensor) return;
    if (!a.tensor_->storage && t_state.backend == nullptr) [[unlikely]]
      escaped(a.tensor_);
    if (a.tensor_->view) refresh(a.tensor());
  };
  for (const Arg& a : args) {
    one(a);
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i) one(a.list_->data[i]);
  }
}

/// A composite that calls itself for ever is a broken row, not a stack overflow.
class CompositeDepth {
 public:
  explicit CompositeDepth(const Op& op) {
    if (++t_state.composite_depth > 32) {
      --t_state.composite_depth;
      LATHE_INTERNAL(absl::StrCat(op.name(), " expands into itself"));
    }
  }
  ~CompositeDepth() { --t_state.composite_depth; }
};

}  // namespace

ThreadState& thread_state() { return t_state; }
void set_default_backend(Backend* backend) { g_backend.store(backend, std::memory_order_release); }
void set_tape(Observer* tape) { g_tape.store(tape, std::memory_order_release); }

Backend& current_backend() {
  Backend* b = t_state.backend;
  if (b == nullptr) b = g_backend.load(std::memory_order_acquire);
  if (b == nullptr)
    throw InternalError({.op = "dispatch",
                         .problem = "no backend: the library is not initialised",
                         .next = "call lathe::initialise() first"});
  return *b;
}

Observer* tape() { return g_tape.load(std::memory_order_acquire); }

Outputs call(const Op& op, Args args, Tensor* into) {
  if (into == nullptr)
    if (Tensor quick = shortcut(op, args); quick.defined()) return {std::move(quick)};
  Backend& backend = current_backend();
  if (op.kind == Kind::composite && !backend.claims(op, args)) {
    CompositeDepth depth(op);
    AskedScope asked(op.name());
    return op.expansion(args);
  }
  refresh_operands(args);
  Types types = op.infer(args);
  Call made{op, args, types, into};
  Outputs outputs;
  backend.run(made, outputs);
  if (op.kind == Kind::view) remember_view(outputs[0], args.tensor(0), op, args);
  if (t_state.grad_enabled && needs_grad(args))
    if (Observer* t = tape(); t != nullptr) t->saw(made, outputs);
  for (Observer* o = t_state.observers; o != nullptr; o = o->next) o->saw(made, outputs);
  return outputs;
}

void ArgBuilder::push(IntSpan list) {
  std::vector<Arg>& items = this->list(list.size());
  for (Int i : list) items.push_back(Arg(i));
  lists_.push_back({items.data(), items.size()});
  args_.push_back(Arg(lists_.back()));
}

void ArgBuilder::push(const Ints& list) { push(IntSpan(list.values)); }

void ArgBuilder::push(absl::Span<const Tensor> list) {
  std::vector<Arg>& items = this->list(list.size());
  for (const Tensor& t : list) items.push_back(Arg(t));
  lists_.push_back({items.data(), items.size()});
  args_.push_back(Arg(lists_.back()));
}

std::vector<Arg>& ArgBuilder::list(size_t size) {
  items_.emplace_back();
  items_.back().reserve(size);
  return items_.back();
}

Outputs call_completed(const Op& op, absl::Span<const Arg> given) {
  absl::InlinedVector<Arg, 8> full;
  ArgVec pool;
  complete_call(op.schema, given, {}, full, pool);
  return call(op, Args(full.data(), full.size()));
}

}  // namespace lathe
