// Sizes that only running a program tells, such as how many elements a mask picks.
//
//   sized_by(count)            a tensor of so many elements: in a program its size is a symbol, and
//                              whatever is computed from it is an expression over that symbol
//   check_size(a, relation, b) what a shape rule presumed of such a size (SymScope::presume), asked
//                              where it was presumed
//
// Eagerly neither is needed: the count is read, and rules compare numbers.
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

using namespace names;

/// What a symbol is taken to be where nothing tells: neither 0 nor 1, and small.
constexpr int64_t kOrdinary = 7;

Types infer_sized_by(Args a) {
  Tensor count = a.tensor(0);
  if (!is_integer(count.dtype()) || count.rank() != 0)
    throw TypeError({.op = "sized_by",
                     .problem = "a size is one integer",
                     .got = to_string(type_of(count)),
                     .expected = "an integer tensor without axes",
                     .next = "convert with .to(lathe.int64)"});
  const bool symbolic = count.symbolic() || captures();
  const Int size = symbolic ? SymScope::current()->fresh_inside(kOrdinary) : count.item_int();
  return {TensorType{DType::bool_, {size}, count.device()}};
}

}  // namespace

bool captures() { return thread_state().trace_epoch != 0; }

Int size_in(const Tensor& count) {
  if (!captures()) return count.item_int();
  return I::sized_by(count).size(0);
}

void add_data_size_definitions(Definitions& r) {
  r.opaque("sized_by(Tensor count) -> Tensor", infer_sized_by,
           {.domain = integers,
            .no_grad = true,
            .places = kNowhere,
            .doc = "As many False as count says: how a program gets a size out of its data."});
  r.opaque("check_size(int a, str relation, int b) -> Tensor[]", [](Args) { return Types(); },
           {.no_grad = true,
            .places = kNowhere,
            .doc = "Stops the program unless a and b are related so (eq, ne, lt, le)."});
}

}  // namespace lathe
