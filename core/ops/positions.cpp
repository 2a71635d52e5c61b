// Where elements are not 0, and what is picked or written there. How large such a result is, data
// decides (size_in).
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Types infer_true_positions(Args a) {
  Tensor mask = a.tensor(0);
  const Int size = a.integer(1);
  if (!require(Relation::le, Int(0), size))
    throw ValueError({.op = "nonzero_static",
                      .problem = "a negative size",
                      .got = to_string(size),
                      .expected = "0 or more",
                      .next = "give the number of positions that the result has room for"});
  return {TensorType{DType::i64, {size, Int(mask.rank())}, mask.device()}};
}

Tensor truth(const Tensor& x) { return x.dtype() == DType::bool_ ? x : M::ne(x, 0); }

/// [n, axes]: where x is not 0.
Tensor positions(const Tensor& x) {
  Tensor mask = truth(x);
  return I::true_positions(mask, size_in(R::sum(mask)), -1);
}

Outputs columns(const Tensor& found) {
  Outputs out;
  for (Int k = 0; k < found.size(1); k = k + 1) out.push_back(S::select(found, 1, k));
  return out;
}

Outputs nonzero_expansion(Args a) {
  Tensor x = a.tensor(0);
  if (!a.flag(1)) return {positions(x)};
  return columns(positions(x.rank() == 0 ? S::unsqueeze(x, 0) : x));
}

void require_mask(std::string_view op, const Tensor& mask) {
  if (mask.dtype() == DType::bool_) return;
  throw DTypeError({.op = std::string(op),
                    .problem = "the mask is not of bool",
                    .got = absl::StrCat("a mask of ", name(mask.dtype())),
                    .expected = "a mask of bool",
                    .next = "compare it: mask != 0"});
}

/// One axis of all elements, of `x` as seen under a broadcast shape.
Tensor flat(const Tensor& x, const Shape& shape) {
  return S::reshape(S::expand(x, shape), {numel(shape)});
}

Outputs masked_select_expansion(Args a) {
  Tensor x = a.tensor(0), mask = a.tensor(1);
  require_mask("masked_select", mask);
  const Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  Tensor at = positions(flat(mask, shape));
  return {I::index_select(flat(x, shape), 0, S::reshape(at, {at.size(0)}))};
}

/// The k-th true element takes the k-th element of the source.
Outputs masked_scatter_expansion(Args a) {
  Tensor x = a.tensor(0), mask = a.tensor(1), source = a.tensor(2);
  require_mask("masked_scatter", mask);
  if (source.dtype() != x.dtype())
    throw DTypeError({.op = "masked_scatter",
                      .problem = "input and source differ in dtype",
                      .got = absl::StrCat(name(x.dtype()), " and ", name(source.dtype())),
                      .expected = "one dtype",
                      .next = "convert one with .to(dtype)"});
  const Shape shape = broadcast_shapes("masked_scatter", x.shape(), mask.shape());
  Tensor truth = flat(mask, shape), from = S::reshape(source, {source.numel()});
  // The elements are those from place 1 on, so that a source of none can be read at 0 too.
  from = S::cat({C::zeros({Int(1)}, x.dtype(), x.device()), from});
  Tensor place = M::where(truth, R::cumsum(truth, 0), 0);
  Tensor taken = S::reshape(I::index_select(from, 0, place), shape);
  return {M::where(mask, taken, x)};
}

Outputs unravel_expansion(Args a) {
  Tensor at = a.tensor(0);
  const Shape shape = a.ints(1);
  if (!is_integer(at.dtype()))
    throw DTypeError({.op = "unravel_index",
                      .problem = "the indices are not integers",
                      .got = std::string(name(at.dtype())),
                      .expected = "an integer dtype",
                      .next = "convert with .to(lathe.int64)"});
  for (Int size : shape)
    if (!require(Relation::le, Int(0), size))
      throw ValueError({.op = "unravel_index",
                        .problem = "a size is negative",
                        .got = to_string(shape),
                        .expected = "sizes of 0 or more",
                        .next = "give the shape of the tensor that was flattened"});
  at = M::cast(at, DType::i64);
  Outputs out(shape.size());
  Int stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = M::remainder(M::floor_divide(at, Arg(stride)), Arg(shape[i]));
    stride *= shape[i];
  }
  return out;
}

}  // namespace

Tensors positions_of(const Tensor& x) {
  const Arg args[] = {Arg(x), Arg(true)};
  return call(get_op("nonzero"), Args(args, 2));
}

void add_position_definitions(Definitions& r) {
  r.opaque("true_positions(Tensor mask, int size, int fill=-1) -> Tensor", infer_true_positions,
           {.domain = {DType::bool_},
            .no_grad = true,
            .places = kNowhere,
            .doc = "Coordinates of the first so many true elements, a row each, in row-major "
                   "order; rows of fill where there are fewer."});
  r.composite("nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor",
              [](Args a) -> Outputs {
                return {I::true_positions(truth(a.tensor(0)), a.integer(1), a.integer(2))};
              },
              {.no_grad = true,
               .moves = true,
               .doc = "Coordinates of the first so many elements that are not 0, a row each; rows "
                      "of fill_value where there are fewer."});
  r.composite("nonzero(Tensor input, *, bool as_tuple=False) -> Tensor[]", nonzero_expansion,
              {.no_grad = true,
               .moves = true,
               .lone = [](Args a) { return !a.flag(1); },
               .doc = "Coordinates of the elements that are not 0, a row each; as_tuple: an index "
                      "tensor for each axis."});
  r.composite("argwhere(Tensor input) -> Tensor",
              [](Args a) -> Outputs { return {positions(a.tensor(0))}; },
              {.no_grad = true,
               .moves = true,
               .doc = "Coordinates of the elements that are not 0, a row each."});
  r.composite("where.positions(Tensor condition) -> Tensor[]",
              [](Args a) -> Outputs { return positions_of(a.tensor(0)); },
              {.no_grad = true,
               .places = kFunction,
               .moves = true,
               .doc = "Where condition is not 0: an index tensor for each axis."});
  r.composite("unravel_index(Tensor indices, int[] shape) -> Tensor[]", unravel_expansion,
              {.domain = integers,
               .no_grad = true,
               .places = kFunction,
               .moves = true,
               .doc = "Where elements of a tensor of that shape lie that have these places when it "
                      "is flattened: an index tensor (int64) for each axis."});
  r.composite("masked_select(Tensor input, Tensor mask) -> Tensor", masked_select_expansion,
              {.moves = true, .doc = "The elements at which mask (bool) is true, along one axis."});
  r.composite("masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor",
              masked_scatter_expansion,
              {.inplace = true,
               .moves = true,
               .doc = "input with the elements of source, one after the other, where mask (bool) "
                      "is true."});
}

}  // namespace lathe
