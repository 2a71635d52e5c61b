#include "core/dispatch/slice_at.h"

#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

std::optional<SliceAt> slice_at(Args args, size_t skipped, const Shape& of,
                                absl::FunctionRef<bool(Int a, Int b)> proven) {
  const Args rest(&args[1 + skipped], 4);  // dim, start, end, step
  for (size_t i : {size_t{0}, size_t{3}})
    if (rest[i].tag != Tag::integer || !rest[i].integer().known()) return std::nullopt;
  if (rest[3].integer() != Int(1)) return std::nullopt;
  const int axis = normalise_axis(shape_ops<Tensor>::slice.op()->name(), rest[0].integer().value(),
                                  static_cast<int>(of.size()));
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

}  // namespace lathe
