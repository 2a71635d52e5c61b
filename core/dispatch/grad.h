// Slots number a call's arguments with lists laid out flat: each argument is one slot, a Tensor[]
// as many as it has items. Gradients are given by slot. Before the first list, slot = schema
// position.
//
// What a derivative rule sees. The same rule runs on concrete tensors (the tape) and on symbolic
// ones (differentiate), because it is written with ordinary ops.
#pragma once

#include "core/op/op.h"

namespace lathe {

class Grad {
 public:
  struct Data {
    const Op* op;
    Args attrs;                             // the call's arguments; tensor slots are None
    absl::Span<const Tensor> dys;           // undefined: zero
    absl::Span<const TensorType> dy_types;  // of the outputs
    absl::Span<const Tensor> xs;            // by slot; defined only where saved
    absl::Span<const TensorType> x_types;   // by slot
    absl::Span<const Tensor> ys;            // by result; defined only where saved
    absl::Span<const bool> wanted;          // by slot: its gradient is asked for
    bool higher = false;                    // gradients of these gradients may be asked for
  };
  explicit Grad(const Data& data) : d_(&data) {}

  const Op& op() const { return *d_->op; }
  /// The cotangent of result k; zeros if nothing flowed there.
  Tensor dy(int k = 0) const;
  /// Whether anything flowed to result k at all.
  bool flows(int k) const { return d_->dys[static_cast<size_t>(k)].defined(); }
  Tensor x(int i) const;
  Tensor y(int k = 0) const;
  const Shape& shape(int i) const { return d_->x_types[i].shape; }
  DType dtype(int i) const { return d_->x_types[i].dtype; }
  const TensorType& type(int i) const { return d_->x_types[i]; }
  /// dx, which depends on `read` by steps alone (a comparison): where its gradients may be asked
  /// for, one that has a derivative of zero by it.
  Tensor steps_with(const Tensor& dx, const Tensor& read) const;
  bool wants(int i) const { return d_->wanted[static_cast<size_t>(i)]; }
  int slots() const { return static_cast<int>(d_->x_types.size()); }
  Args attrs() const { return d_->attrs; }
  Int integer(int i) const { return d_->attrs.integer(i); }
  int axis(int i, int of) const;  // attribute i as an axis of argument `of`
  Shape ints(int i) const { return d_->attrs.ints(i); }
  bool flag(int i) const { return d_->attrs.flag(i); }
  const Arg& arg(int i) const { return d_->attrs[i]; }

 private:
  const Data* d_;
};

/// The rule that applies to this op: its own, or the one its kind derives. Null: none.
using GradFn = std::function<Grads(Grad)>;
bool has_gradient(const Op& op);
/// What the kind contract derives: the adjoints of its formula, not yet summed to the operands'
/// shapes (contract_grad.cpp).
Grads contract_gradient(Grad g);
/// Runs it, on f16 and bf16 in f32 (Extra::moves). Results are summed to each argument's shape and
/// cast to its dtype.
Grads run_gradient(const Grad::Data& data);
/// The same op by op, whatever runner there is.
Grads expand_gradient(const Grad::Data& data);

/// Runs it as one program. False: it has none for this, and nothing was done.
using GradientRunner = bool (*)(const Grad::Data& data, Grads& out);
/// Asked where nothing watches or records the ops of a rule. Set once at start-up by jit/.
void set_gradient_runner(GradientRunner runner);
/// The dtype of a call's chain rule, one differentiable tensor after the other: the last one's, but
/// complex once one is, because a real operand of a complex result has a complex cotangent.
inline DType rule_type(DType found, DType next) {
  return is_complex(found) ? found : compute_type(next);
}
/// What the rule reads, declared or (elementwise by chain rule) computed for this compute dtype.
/// `wanted`: bits of the arguments whose gradient can be asked for; x * 3 need not keep x.
Saves saves_of(const Op& op, DType compute, uint32_t wanted = ~0u);
/// The same for one call: for its dtypes, and for the gradients of the tensors that require one.
Saves saves_of(const Op& op, Args args);

/// Calls f(slot, argument) for every slot in order; non-tensors too.
template <class F>
void each_slot(const Op& op, Args args, F f) {
  int slot = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].tag == Tag::list && op.schema.params[i].type == ArgType::tensor) {
      for (size_t k = 0; k < args[i].list_->size; ++k) f(slot++, args[i].list_->data[k]);
    } else {
      f(slot++, args[i]);
    }
  }
}

/// `number` everywhere in dy's shape and dtype, whatever dy holds: a derivative that is a number.
/// It is made of dy, with history, because a trace and a derivative of second order know no other
/// tensor.
Tensor constant_like(const Tensor& dy, const Arg& number);

/// Sums a broadcast gradient back to `shape`.
Tensor sum_to(const Tensor& g, IntSpan shape);

}  // namespace lathe
