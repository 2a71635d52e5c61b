// Who computes, and who watches. Exactly one Backend *replaces* execution (the kernels' executor,
// or a tracer); any number of Observers *see* each call (the tape, a profiler). call.h asks both.
#pragma once

#include <string_view>

#include "core/op/op.h"

namespace lathe {

struct Call {
  const Op& op;
  Args args;
  const Types& types;      // of the results, as inferred
  Tensor* into = nullptr;  // result 0 may be written here: same type, no other operand overlaps it
  /// Of an index op that writes: result 0 may lie where operand 0 does, which nobody else reads.
  bool over = false;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const Call& call, Outputs& outputs) = 0;
  /// True if this backend wants the composite whole instead of its expansion; `types` are then
  /// those of its results.
  virtual bool claims(const Op& op, Args args, Types& types) const = 0;
  /// What the results of a call promise, whatever sizes are.
  virtual Bits bits(const Call& /*call*/) const { return Bits::free; }
  /// Writes `value` (already dst's shape and dtype) into dst's elements: concrete bytes, or a
  /// symbolic tensor's new value (through its path to the base, if it is a view). See assign.h.
  virtual void write(Tensor& dst, const Tensor& value) = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// After a call, with its results.
  virtual void saw(const Op& op, Args args, Outputs& outputs) = 0;
  /// After a write by assign().
  virtual void wrote(Tensor& dst, const Tensor& value) = 0;
  /// After a part of a trace that is recorded as one (an if, a loop): `results` depend on `inputs`
  /// in a way that only the graph knows.
  virtual void saw_part(std::string_view name, const Tensors& inputs, Tensors& results) = 0;
  Observer* next = nullptr;
};

struct ThreadState {
  Backend* backend = nullptr;     // null: the default backend
  Observer* observers = nullptr;  // innermost first
  bool grad_enabled = true;
  DType autocast = DType::f32;  // what a scope of autocast computes products in; f32: there is none
  uint8_t composite_depth = 0;
  uint64_t trace_epoch = 0;  // 0: not tracing
};
namespace detail {
extern constinit thread_local ThreadState t_state [[gnu::tls_model("initial-exec")]];
}
inline ThreadState& thread_state() { return detail::t_state; }

/// Set once at start-up by kernels/.
void set_default_backend(Backend* backend);
/// The tape, set once at start-up by autodiff/; asked only when grad is enabled and an input needs
/// it.
void set_tape(Observer* tape);

Backend& current_backend();  // InternalError before initialise()
Observer* tape();

class BackendScope {
 public:
  explicit BackendScope(Backend* backend) : previous_(thread_state().backend) {
    thread_state().backend = backend;
  }
  ~BackendScope() { thread_state().backend = previous_; }
  BackendScope(const BackendScope&) = delete;

 private:
  Backend* previous_;
};

class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(thread_state().grad_enabled) {
    thread_state().grad_enabled = enabled;
  }
  ~GradMode() { thread_state().grad_enabled = previous_; }
  GradMode(const GradMode&) = delete;

 private:
  bool previous_;
};

/// Products of f32 operands are computed in `dtype`, f16 or bf16, until its end; f32: as they are.
class AutocastScope {
 public:
  explicit AutocastScope(DType dtype) : previous_(thread_state().autocast) {
    thread_state().autocast = dtype;
  }
  ~AutocastScope() { thread_state().autocast = previous_; }
  AutocastScope(const AutocastScope&) = delete;

 private:
  DType previous_;
};

}  // namespace lathe
