// Shape rules of the kinds that work along axes: reduce, scan, view, index, sort.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/infer/rules.h"

namespace lathe {

AxisMask named_axes(std::string_view op, IntSpan dims, int rank) {
  AxisMask mask(static_cast<size_t>(std::max(rank, 1)), false);
  for (Int d : dims) {
    const int axis = normalise_axis(op, d.value(), rank);
    if (mask[static_cast<size_t>(axis)])
      throw IndexError({.op = std::string(op),
                        .problem = absl::StrCat("axis ", axis, " is named twice"),
                        .got = to_string(dims),
                        .expected = "each axis at most once",
                        .next = "name it once"});
    mask[static_cast<size_t>(axis)] = true;
  }
  mask.resize(static_cast<size_t>(rank));  // a 0-d tensor's axis 0 is only a name
  return mask;
}

AxisMask reduced_axes(const Op& op, Args args, int rank) {
  const Arg& dim = args[kReduceDim];
  if (dim.none() || (dim.tag == Tag::list && dim.list_->size == 0))
    return AxisMask(static_cast<size_t>(rank), true);
  return named_axes(op.name(), args.ints(kReduceDim), rank);
}

Types infer_reduce(const Op& op, Args args) {
  ElementTypes t = element_types(op, args);
  const Shape& x = args.shape(0);
  auto mask = reduced_axes(op, args, static_cast<int>(x.size()));
  bool keep = args.flag(kReduceKeep);
  Shape out;
  Int count = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!mask[i]) out.push_back(x[i]);
    if (mask[i] && keep) out.push_back(Int(1));
    if (mask[i]) count *= x[i];
  }
  if (op.monoid.needs_element && !require(Relation::lt, Int(0), count))
    throw ValueError({.op = op.name(),
                      .problem = "nothing to reduce: an axis of size 0 has no such value",
                      .got = to_string(x),
                      .expected = "at least one element",
                      .next = "test numel() before, or reduce another axis"});
  Device device = common_device(op, args);
  Types types;
  for (size_t k = 0; k < t.results.size(); ++k) types.push_back({t.results[k], out, device});
  if (types.size() == 2) types[1].dtype = DType::i64;  // (values, indices)
  return types;
}

Types infer_scan(const Op& op, Args args) {
  ElementTypes t = element_types(op, args);
  const Shape& x = args.shape(0);
  normalise_axis(op.name(), args.integer(kScanDim).value(), static_cast<int>(x.size()));
  return {TensorType{t.results[0], x, common_device(op, args)}};
}

Types infer_view(const Op& op, Args args) {
  Tensor x = args.tensor(0);
  return {TensorType{x.dtype(), op.geometry(x.geometry(), args).shape, x.device()}};
}

namespace {

[[noreturn]] void index_dtype(const Op& op, DType got) {
  throw DTypeError({.op = op.name(),
                    .problem = "an index must be of an integer type",
                    .got = std::string(name(got)),
                    .expected = "int64 or int32",
                    .next = "convert with .to(lt.int64)"});
}

/// x with a view's elements replaced: the value must have just the view's shape and dtype. The
/// result is another tensor, in row-major order: that is what the view is of.
Types infer_through(const Op& op, Args args) {
  Tensor x = args.tensor(0), value = args.tensor(1);
  absl::InlinedVector<Arg, 8> rest(args.begin() + 1, args.end());
  rest[0] = args[0];
  TensorType seen = type_of(x);
  if (op.put_of->extra.infer == nullptr)
    seen.shape =
        op.put_of->geometry(Geometry::contiguous(x.shape()), absl::MakeConstSpan(rest)).shape;
  else
    seen = op.put_of->infer(absl::MakeConstSpan(rest))[0];
  if (value.dtype() != seen.dtype)
    throw DTypeError({.op = op.name(),
                      .problem = "the value has another dtype than the view it is put through",
                      .got = to_string(type_of(value)),
                      .expected = to_string(seen),
                      .next = "convert with .to(dtype)"});
  if (!require_equal(seen.shape, value.shape()))
    throw ShapeError({.op = op.name(),
                      .problem = "the value does not fit the view it is put through",
                      .got = to_string(type_of(value)),
                      .expected = to_string(seen)});
  return {type_of(x)};
}

}  // namespace

Types infer_index(const Op& op, Args args) {
  const IndexSpec& s = op.index;
  if (s.access == Access::through) return infer_through(op, args);
  Tensor x = args.tensor(0), index = args.tensor(s.index);
  require_domain(op, x.dtype());
  // An index that names nothing may be of any dtype, as it comes out of empty lists.
  const bool counts = index.dtype() == DType::i64 || index.dtype() == DType::i32;
  if (!counts && index.numel() != Int(0)) index_dtype(op, index.dtype());
  int axis = normalise_axis(op.name(), args.integer(s.axis).value(), x.rank());
  Shape out = x.shape();
  auto at = static_cast<size_t>(axis);
  auto wrong = [&](const char* problem, IntSpan a, IntSpan b) {
    throw ShapeError({.op = op.name(),
                      .problem = problem,
                      .got = absl::StrCat(to_string(a), " and ", to_string(b))});
  };
  if (s.source >= 0 && args[static_cast<size_t>(s.source)].tag == Tag::tensor) {
    DType source = args.tensor(s.source).dtype();
    if (source != x.dtype())
      throw DTypeError({.op = op.name(),
                        .problem = "input and source differ in dtype",
                        .got = absl::StrCat(name(x.dtype()), " and ", name(source)),
                        .next = "convert one with .to(dtype)"});
  }
  if (s.source >= 0) require_in_range(op.name(), x.dtype(), args[static_cast<size_t>(s.source)]);
  if (s.access == Access::select) {
    if (x.rank() == 0) {
      // As in PyTorch: its one element, named once, and no axis in the result either.
      if (index.rank() > 1 || (index.rank() == 1 && !require_equal(index.shape(), Shape{Int(1)})))
        wrong("the input has one element, and index does not name one", x.shape(), index.shape());
      return {TensorType{x.dtype(), out, common_device(op, args)}};
    }
    out.erase(out.begin() + axis);
    out.insert(out.begin() + axis, index.shape().begin(), index.shape().end());
    return {TensorType{x.dtype(), out, common_device(op, args)}};
  }
  if (s.access == Access::select_put) {
    Shape want = x.shape();
    if (x.rank() > 0) want.erase(want.begin() + axis);
    want.insert(want.begin() + (x.rank() > 0 ? axis : 0), index.shape().begin(),
                index.shape().end());
    const Shape& have = args.shape(s.source);
    // As in PyTorch: where all is one element, it does not matter which of them has an axis.
    const bool point = x.rank() == 0 && have.empty();
    if (!require_equal(point ? Shape(want.size(), Int(1)) : have, want))
      wrong("the source does not have the shape of the slices named", have, want);
    return {type_of(x)};
  }
  // As in PyTorch: an index that names nothing may have any shape, and one of an axis may name the
  // element of an input without axes.
  const bool point = x.rank() == 0 && index.rank() == 1;
  if (s.access == Access::take && index.rank() != x.rank() && (point || index.numel() == Int(0)))
    return {TensorType{x.dtype(), index.shape(), common_device(op, args)}};
  if (index.rank() != x.rank()) wrong("index and input differ in rank", index.shape(), x.shape());
  for (size_t i = 0; i < out.size(); ++i)
    if (i != at && !require(Relation::le, index.shape()[i], out[i]))
      wrong("index reaches outside the input", index.shape(), x.shape());
  DType dtype = x.dtype();
  if (s.access == Access::take) {
    out = index.shape();
  } else if (args[static_cast<size_t>(s.source)].tag == Tag::tensor) {
    Tensor source = args.tensor(s.source);
    if (source.rank() != index.rank())
      wrong("index and source differ in rank", index.shape(), source.shape());
    for (size_t i = 0; i < out.size(); ++i)
      if (!require(Relation::le, index.shape()[i], source.shape()[i]))
        wrong("index is larger than the source", index.shape(), source.shape());
  }
  return {TensorType{dtype, out, common_device(op, args)}};
}

Types infer_sort(const Op& op, Args args) {
  Tensor x = args.tensor(0);
  require_domain(op, x.dtype());
  int axis = normalise_axis(op.name(), args.integer(op.sort.axis).value(), x.rank());
  TensorType t = type_of(x);
  if (op.sort.count >= 0) {
    Int k = args.integer(op.sort.count), n = x.rank() > 0 ? x.size(axis) : Int(1);
    if (x.rank() == 0 && k == Int(0)) n = Int(-1);  // there is no empty result without an axis
    if (!require(Relation::le, Int(0), k) || !require(Relation::le, k, n))
      throw ValueError({.op = op.name(),
                        .problem = "k is out of range",
                        .got = absl::StrCat("k = ", to_string(k)),
                        .expected = absl::StrCat("between 0 and ", to_string(n)),
                        .next = "take min(k, size)"});
    if (x.rank() > 0) t = t.with_size(axis, k);
  }
  return {t, t.with(DType::i64)};
}

}  // namespace lathe
