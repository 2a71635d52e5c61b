// Reading and writing by index tensors; sorting.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Tensor zeros(const Grad& g, int like) {
  return create_ops<Tensor>::zeros(g.shape(like), g.dy().dtype(), g.type(like).device);
}

/// 1 where this element of src is the one that stayed, 0 where a later one overwrote it.
Tensor winners(const Grad& g, const Tensor& index) {
  int axis = g.axis(1, 0);
  Tensor order = M::add(create_ops<Tensor>::arange(0, index.numel(), 1, DType::i64), 1);
  order = shape_ops<Tensor>::reshape(order, index.shape());
  Tensor none = create_ops<Tensor>::zeros(g.shape(0), DType::i64, g.type(0).device);
  Tensor last = I::gather(I::scatter(none, axis, index, order), axis, index);
  return M::eq(last, order);
}

/// Of a sum of the input and of what `read` finds the places of.
template <class Read>
Grads added_grad(const Grad& g, Read read) {
  Grads out(4);
  if (g.wants(0)) out[0] = g.dy();
  if (g.wants(3)) out[3] = read();
  return out;
}

Grads scatter_grad(Grad g) {
  Grads out(4);
  int axis = g.axis(1, 0);
  Tensor index = g.x(2);
  if (g.wants(0)) out[0] = I::scatter(g.dy(), axis, index, 0);
  if (g.wants(3)) {
    Tensor d = M::where(winners(g, index), I::gather(g.dy(), axis, index), 0);
    Tensor full = create_ops<Tensor>::zeros(g.shape(3), d.dtype(), g.type(3).device);
    for (int i = 0; i < d.rank(); ++i)
      if (!identical(d.size(i), full.size(i))) {
        Tensor part = full;
        for (int k = 0; k < d.rank(); ++k)
          part = shape_ops<Tensor>::slice(part, k, Int(0), d.size(k));
        assign(part, d);
        d = full;
        break;
      }
    out[3] = d;
  }
  return out;
}

Types infer_searchsorted(Args a) {
  Tensor sorted = a.tensor(0), values = a.tensor(1);
  const int rows = sorted.rank() - 1;
  bool fits = rows == 0 || (rows > 0 && values.rank() == sorted.rank());
  for (int i = 0; fits && i < rows; ++i)
    fits = require(Relation::eq, sorted.size(i), values.size(i));
  if (!fits)
    throw ShapeError(
        {.op = "searchsorted",
         .problem = "the values do not have the rows of the sorted sequences",
         .got = absl::StrCat(to_string(type_of(sorted)), " and ", to_string(type_of(values))),
         .expected = "one sequence for all values, or one for each row of them",
         .next = "flatten() the sequence, or expand() it to the values' leading axes"});
  if (sorted.dtype() != values.dtype())
    throw DTypeError({.op = "searchsorted",
                      .problem = "sequence and values differ in dtype",
                      .got = absl::StrCat(name(sorted.dtype()), " and ", name(values.dtype())),
                      .expected = "one dtype",
                      .next = "convert one with .to(dtype)"});
  require_one_device("searchsorted", "sequence and values", sorted.device(), values.device());
  return {type_of(values).with(DType::i64)};
}

Grads sorted_grad(Grad g) {
  return {I::scatter(zeros(g, 0), g.axis(g.op().sort.axis, 0), g.y(1), g.dy())};
}

Grads gather_grad(Grad g) {
  Tensor none = zeros(g, 0), index = g.x(2);
  if (index.rank() != none.rank())  // it names nothing, or the only element
    return Grads{none.rank() == 0 ? R::sum(g.dy()) : none};
  return Grads{I::scatter_add(none, g.axis(1, 0), index, g.dy())};
}

void add_access(Definitions& r) {
  r.index(
      "gather(Tensor input, int dim, Tensor index) -> Tensor",
      {.access = Access::take, .axis = 1, .index = 2},
      {.saves = save_x(2),
       .grad = gather_grad,
       .doc = "out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused; "
              "an index without elements may have any rank, and that of a 0-d input an axis."});
  r.index("gather_inside(Tensor input, int dim, Tensor index) -> Tensor",
          {.access = Access::take, .axis = 1, .index = 2, .inside = true},
          {.saves = save_x(2),
           .grad = gather_grad,
           .places = kNowhere,
           .doc = "gather() by indexes that were computed from sizes, or found by a search."});
  r.index(
      "scatter(Tensor input, int dim, Tensor index, Tensor|Scalar src) -> Tensor",
      {.access = Access::put, .axis = 1, .index = 2, .source = 3},
      {.saves = save_x(2),
       .grad = scatter_grad,
       .moves = true,
       .doc = "x with src written at index along dim; of several writes to one place the last in "
              "row-major order stays. src may be a number."});
  r.index("scatter_add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
          {.access = Access::put, .axis = 1, .index = 2, .source = 3, .fold = Fold::sum},
          {.saves = save_x(2),
           .grad =
               [](Grad g) {
                 return added_grad(g, [&] { return I::gather(g.dy(), g.axis(1, 0), g.x(2)); });
               },
           .moves = true,
           .doc = "x with src added at index along dim, in row-major order."});
  r.index("index_select(Tensor input, int dim, Tensor index) -> Tensor",
          {.access = Access::select, .axis = 1, .index = 2},
          {.saves = save_x(2),
           .grad =
               [](Grad g) {
                 // Of a 0-d input the result has no axis, and index may have one.
                 Tensor dy = g.shape(0).empty() ? S::reshape(g.dy(), g.x(2).shape()) : g.dy();
                 return Grads{I::index_add(zeros(g, 0), g.axis(1, 0), g.x(2), dy)};
               },
           .doc = "Whole slices of x along dim, in the order of index; index may have any rank."});
  r.index("index_add(Tensor input, int dim, Tensor index, Tensor source) -> Tensor",
          {.access = Access::select_put, .axis = 1, .index = 2, .source = 3, .fold = Fold::sum},
          {.saves = save_x(2),
           .grad =
               [](Grad g) {
                 return added_grad(g, [&] {
                   Tensor read = I::index_select(g.dy(), g.axis(1, 0), g.x(2));
                   return g.shape(0).empty() ? S::reshape(read, g.shape(3)) : read;
                 });
               },
           .moves = true,
           .doc = "x with the slices of src added to those that index names along dim, in order."});
  r.composite(
      "one_hot(Tensor input, int num_classes=-1) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (!is_integer(x.dtype()))
          throw DTypeError({.op = "one_hot",
                            .problem = "class numbers must be integers",
                            .got = std::string(name(x.dtype())),
                            .expected = "int64",
                            .next = "convert with .to(lt.int64)"});
        // Written by index, which is refused where there is no such class.
        Shape shape = x.shape();
        Int classes = a.integer(1);
        if (classes == Int(-1)) {  // as many as the data names
          if (x.numel() == Int(0))
            throw ValueError({.op = "one_hot",
                              .problem = "no class number says how many classes there are",
                              .got = to_string(type_of(x)),
                              .expected = "num_classes, where the input is empty",
                              .next = "give num_classes"});
          classes = size_in(M::cast(reduce_ops<Tensor>::amax(x, Shape{}), DType::i64)) + 1;
        }
        shape.push_back(classes);
        Tensor zeros = create_ops<Tensor>::zeros(shape, DType::i64, x.device());
        Tensor index = shape_ops<Tensor>::unsqueeze(M::cast(x, DType::i64), -1);
        return {I::scatter(zeros, -1, index, 1)};
      },
      {.no_grad = true,
       .places = kFunctional,
       .moves = true,
       .doc =
           "1 at the class, 0 elsewhere, as int64 along a new last axis. A class outside "
           "of 0 to num_classes - 1 is an IndexError. num_classes=-1: one more than the largest."});
}

void add_sorting(Definitions& r) {
  r.sort("sort(Tensor input, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
         {.axis = 1, .descending = 2},
         {.domain = real_dtypes,
          .saves = save_y(1),
          .grad = sorted_grad,
          .doc = "Sorted along dim, and where each came from. Stable; NaN counts as largest."});
  r.sort(
      "topk(Tensor input, int k, int dim=-1, bool largest=True) -> (Tensor values, Tensor indices)",
      {.axis = 2, .count = 1, .descending = 3},
      {.domain = real_dtypes,
       .saves = save_y(1),
       .grad = sorted_grad,
       .doc = "The k largest (smallest) along dim, in order. Ties: lowest index first; NaN is "
              "largest."});
  r.composite("argsort(Tensor input, int dim=-1, bool descending=False) -> Tensor",
              [](Args a) -> Outputs {
                return {std::get<1>(I::sort(a.tensor(0), a.integer(1), a.flag(2)))};
              },
              {.no_grad = true, .moves = true, .doc = "The indices of sort."});
  r.opaque(
      "searchsorted(Tensor sorted_sequence, Tensor input, *, bool right=False) -> Tensor",
      infer_searchsorted,
      {.domain = real_dtypes,
       .no_grad = true,
       .places = kNowhere,
       .doc = "Where each value would go into an ascending sequence, that of its row or the only "
              "one: before equal elements, or behind them if right."});
}

}  // namespace

void add_index_definitions(Definitions& r) {
  add_access(r);
  add_sorting(r);
}

}  // namespace lathe
