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

std::optional<SliceAt> slice_at(Args args, size_t skipped, const Shape& of,
                                absl::FunctionRef<bool(Int a, Int b)> proven) {
  const Args rest(&args[1 + skipped], 4);  // dim, start, end, step
  for (size_t i : {size_t{0}, size_t{3}})
    if (rest[i].tag != Tag::integer || !rest[i].integer().known()) return std::nullopt;
  if (rest[3].integer() != Int(1)) return std::nullopt;
  const int axis =
      normalise_axis(S::slice.op()->name(), rest[0].integer().value(), static_cast<int>(of.size()));
  const Int size = of[static_cast<size_t>(axis)];
  auto place = [&](const Arg& a, Int otherwise) -> std::optional<Int> {
    if (a.tag != Tag::integer) return otherwise;
    Int e = a.integer();
    if (size.known() && e.known()) {
      if (e.value() < 0) e = e + size;
      return lathe::min(lathe::max(e, Int(0)), size);
    }
    if (!proven(0, e) || !proven(e, size)) return std::nullopt;
    return e;
  };
  const std::optional<Int> start = place(rest[1], 0), end = place(rest[2], size);
  if (!start || !end || !proven(*start, *end)) return std::nullopt;
  return SliceAt{axis, *start, *end};
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
