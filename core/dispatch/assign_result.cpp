// x.op_(...): computed into a tensor of its own and assigned, where the short way does not do.
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/dispatch/in_place.h"
#include "core/op/each_tensor.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

/// Will a derivative read the elements that this in-place call writes over?
bool derivative_reads_destination(const Op& op, Args args) {
  if (!thread_state().grad_enabled || op.extra.no_grad) return false;
  if (!needs_grad(args)) return false;
  // What the parts of a composite keep is known only when they run.
  return op.kind == Kind::composite || (saves_of(op, args).inputs & 1u) != 0;
}

}  // namespace

void assign_result(const Op& op, Args args) {
  Tensor x = args.tensor(0);
  absl::InlinedVector<Arg, 8> read(args.begin(), args.end());
  Tensor before;
  if (derivative_reads_destination(op, args)) {
    before = math_ops<Tensor>::clone(x);
    for (Arg& a : read)
      if (a.tag == Tag::tensor && a.tensor_ == x.impl()) a = Arg(before);
  }
  Tensor value = call(op, absl::MakeConstSpan(read))[0];
  if (category(value.dtype()) > category(x.dtype()))
    throw DTypeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the dtype it is written to",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(x.dtype())),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  // Broadcasting may enlarge the result, never the destination.
  bool fits = value.rank() <= x.rank();
  for (int i = 1; fits && i <= value.rank(); ++i)
    fits = require(Relation::eq, value.size(-i), x.size(-i));
  if (!fits)
    throw ShapeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the tensor it is written to",
                      .got = to_string(value.shape()),
                      .expected = to_string(x.shape()),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  assign(x, value);
}

}  // namespace lathe
