// What the rules work with: a call on stand-ins, and its arguments on the way to one on all.
#pragma once

#include "core/batch/batch.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

class Rule {
 public:
  Rule(const Batch& batch, const Call& call)
      : op(call.op), given(call.args), types(call.types), batch_(batch), args_(call.args) {}

  const Op& op;
  Args given;          // of one example
  const Types& types;  // of one example's results

  bool batched(size_t i) const {
    return given[i].tag == Tag::tensor && batch_.is_stand_in(given[i].tensor());
  }
  /// Of one example.
  int rank(size_t i) const { return given[i].tensor_->geometry.rank(); }
  int axis(int i, int rank) const {
    return normalise_axis(op.name(), given.integer(i).value(), rank);
  }
  Int size() const { return batch_.size(); }
  Shape with_size(const Shape& example) const {
    Shape shape{batch_.size()};
    shape.insert(shape.end(), example.begin(), example.end());
    return shape;
  }
  /// All examples of tensor i; one that is the same for all is expanded.
  Tensor all(size_t i) const { return batch_.all(given[i].tensor()); }

  /// The arguments of the call on all examples, at first the given ones.
  const ArgVec& args() const { return args_; }
  void set(size_t i, const Arg& a) { args_.set(i, a); }
  void give(size_t i, const Tensor& t) { args_.set(i, Arg(t)); }
  void give_ints(size_t i, const Shape& ints) {
    std::vector<Arg> items(ints.begin(), ints.end());
    args_.set(i, Arg(ArgList{items.data(), items.size()}));
  }
  /// As the parameter takes them: a list, or one alone.
  void give_axes(size_t i, const Shape& axes) {
    if (op.schema.params[i].list)
      give_ints(i, axes);
    else
      set(i, Arg(axes[0]));
  }
  Outputs finish() const { return call(op, args_); }

  /// More axes of size 1 behind the first, until an example has this rank.
  static Tensor padded(Tensor t, int rank) {
    while (t.rank() - 1 < rank) t = shape_ops<Tensor>::unsqueeze(t, 1);
    return t;
  }

 private:
  const Batch& batch_;
  ArgVec args_;
};

/// Contractions (contract.cpp).
bool run_contract(Rule& r, Outputs& outputs);

}  // namespace lathe
