#include "core/dispatch/dispatch.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>

#include "core/base/asked.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/inplace.h"
#include "core/dispatch/shortcut.h"
#include "include/lathe/ops/math.h"

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

/// The dtype that a composite's results are rounded to where it computes in a wider one: f16 or
/// bf16, if that is what its floating operands have in common; else f32 (nothing to do).
DType storage_type(Args args) {
  bool any = false;
  DType common = DType::f32;
  auto meet = [&](const Arg& a) {
    if (a.tag != Tag::tensor || !is_floating(a.tensor_->dtype)) return;
    common = any ? promote(common, a.tensor_->dtype) : a.tensor_->dtype;
    any = true;
  };
  for (const Arg& a : args) {
    meet(a);
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i) meet(a.list_->data[i]);
  }
  return common;
}

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

Outputs expand(const Op& op, Args args) {
  CompositeDepth depth(op);
  AskedScope asked(op.public_name());
  if (op.extra.moves) return op.expansion(args);
  const DType storage = storage_type(args);
  const DType compute = compute_type(storage);
  if (compute == storage) return op.expansion(args);
  // Operands by their converted form: an expansion that returns one returns what it was given.
  absl::InlinedVector<std::pair<Tensor, Tensor>, 4> converted;
  auto widened = [&](const Arg& a) {
    if (a.tag != Tag::tensor || compute_type(a.tensor_->dtype) == a.tensor_->dtype) return a;
    converted.emplace_back(math_ops<Tensor>::cast(a.tensor(), compute), a.tensor());
    return Arg(converted.back().first);
  };
  ArgVec lists;
  absl::InlinedVector<Arg, 8> operands;
  for (size_t i = 0; i < args.size(); ++i) {
    // What the op writes to stays as it is: assign() rounds.
    if (op.schema.params[i].written) {
      operands.push_back(args[i]);
    } else if (args[i].tag == Tag::list) {
      std::vector<Arg> items;
      for (size_t k = 0; k < args[i].list_->size; ++k)
        items.push_back(widened(args[i].list_->data[k]));
      lists.push(Arg(ArgList{items.data(), items.size()}));
      operands.push_back(lists[lists.size() - 1]);
    } else {
      operands.push_back(widened(args[i]));
    }
  }
  Outputs outputs = op.expansion(absl::MakeConstSpan(operands));
  for (Tensor& t : outputs) {
    auto is_this = [&](const auto& pair) { return same(pair.first, t); };
    auto given = std::find_if(converted.begin(), converted.end(), is_this);
    if (given != converted.end())
      t = given->second;
    else if (t.dtype() == compute)
      t = math_ops<Tensor>::cast(t, storage);
  }
  return outputs;
}

Outputs call(const Op& op, Args args, Tensor* into) {
  if (into == nullptr)
    if (Tensor quick = shortcut(op, args); quick.defined()) return {std::move(quick)};
  Backend& backend = current_backend();
  if (op.kind == Kind::composite && !backend.claims(op, args)) return expand(op, args);
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
