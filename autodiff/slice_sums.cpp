#include "autodiff/slice_sums.h"

#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using S = shape_ops<Tensor>;

Tensor put_slice(const Tensor& base, const Tensor& value, const SliceAt& at) {
  const Arg args[] = {Arg(base), Arg(value), Arg(at.axis), Arg(at.start), Arg(at.end), Arg(1)};
  return call(*S::slice.op()->put, absl::MakeConstSpan(args))[0];
}

Tensor add_to_slice(const Tensor& sum, const Tensor& dy, const SliceAt& at) {
  const Tensor part = S::slice(sum, at.axis, at.start, at.end, 1);
  return put_slice(sum, math_ops<Tensor>::add(part, dy), at);
}

SliceSum::Way SliceSum::add(const SliceAt& at, std::optional<SliceAt>& tidied,
                            absl::FunctionRef<bool(Int a, Int b)> proven) {
  tidied = std::nullopt;
  if (!only_) return Way::the_slice;
  const bool apart =
      at.axis == only_->axis && (proven(at.end, only_->start) || proven(only_->end, at.start));
  if (!apart) return Way::whole;
  std::swap(tidied, only_);
  return Way::the_slice;
}

}  // namespace lathe
