// Views of the memory itself: by strides of one's own, as another dtype, as real and imaginary
// parts.
//
// A view that is given by strides is one of the memory in row-major order: of the tensor that owns
// it, whatever view of that it is asked of. In a trace, where values have no layout, that is the
// base that the view remembers.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/dispatch/view_path.h"
#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

// ── by strides ──────────────────────────────────────────────────────────────────────────────────

/// `strided`: size, stride and offset from the first element of x, which lies in row-major order.
Geometry strided_geometry(const Geometry& x, Args a) {
  const Shape size = a.ints(1), stride = a.ints(2);
  const Int offset = a.integer(3);
  bool fits = size.size() == stride.size() && require(Relation::le, 0, offset), empty = false;
  Int reach = offset;
  for (size_t i = 0; fits && i < size.size(); ++i) {
    fits = require(Relation::le, 0, size[i]) && require(Relation::le, 0, stride[i]);
    empty = empty || size[i] == 0;
    reach += (size[i] - 1) * stride[i];
  }
  if (!fits || (!empty && !require(Relation::lt, reach, numel(x.shape))))
    throw ShapeError({.op = "as_strided",
                      .problem = "the view reaches outside of the memory",
                      .got = absl::StrCat("sizes ", to_string(size), ", strides ",
                                          to_string(stride), ", offset ", to_string(offset)),
                      .expected = absl::StrCat("elements among ", to_string(numel(x.shape)),
                                               ", strides from 0, one for each size"),
                      .next = "check sizes and strides against the tensor's own"});
  if (!x.is_row_major())
    throw ShapeError({.op = "as_strided",
                      .problem = "the elements do not lie in row-major order",
                      .got = absl::StrCat("strides ", to_string(x.strides)),
                      .expected = "memory without gaps",
                      .next = "call contiguous() first"});
  return {size, stride, x.offset + offset};
}

/// Has every element an address of its own? In a trace the answer is a guard.
bool apart(const Shape& size, const Shape& stride) {
  struct Axis {
    Int stride, size;
  };
  std::vector<Axis> axes;
  for (size_t i = 0; i < size.size(); ++i)
    if (size[i] > Int(1)) axes.push_back({stride[i], size[i]});
  std::sort(axes.begin(), axes.end(),
            [](const Axis& p, const Axis& q) { return p.stride < q.stride; });
  Int reach = 0;
  for (const Axis& axis : axes) {
    if (axis.stride <= reach) return false;
    reach += (axis.size - 1) * axis.stride;
  }
  return true;
}

/// Each element of the memory takes the sum of all that show it.
Grads strided_grad(Grad g) {
  const Shape size = g.ints(1), stride = g.ints(2), none;
  const Device device = g.type(0).device;
  Tensor place = C::full(none, g.arg(3), DType::i64, device);
  for (size_t i = 0; i < size.size(); ++i) {
    Tensor along = M::mul(C::arange(0, size[i], 1, DType::i64, device), Arg(stride[i]));
    place = M::add(S::unsqueeze(place, -1), along);
  }
  Tensor dx = C::zeros({numel(g.shape(0))}, g.dy().dtype(), device);
  dx = I::index_add(dx, 0, S::reshape(place, {Int(-1)}), S::reshape(g.dy(), {Int(-1)}));
  return {S::reshape(dx, g.shape(0))};
}

/// The memory x lies in, as a tensor in row-major order, and where that begins.
Tensor memory_of(std::string_view op, const Tensor& x) {
  const ViewOf* view = x.impl()->view.get();
  Tensor root = view != nullptr ? view->base : x;
  const StorageRef& storage = x.impl()->storage;
  const size_t bytes = size_of(x.dtype());
  auto whole = [&] {
    return !storage || root.numel() == Int(storage->bytes / size_of(root.dtype()));
  };
  if (root.dtype() == x.dtype() && root.geometry().is_row_major() && whole()) return root;
  if (storage && !x.requires_grad())
    return make_tensor(storage, x.dtype(), Geometry::contiguous({Int(storage->bytes / bytes)}));
  throw UnsupportedError(
      {.op = std::string(op),
       .problem = "the memory of this tensor is not in row-major order, so that strides of it have "
                  "no derivative, and no meaning in a trace",
       .got = absl::StrCat(to_string(type_of(x)), ", strides ", to_string(x.geometry().strides)),
       .expected = "a tensor in row-major order, or a view of one",
       .next = "call contiguous() first"});
}

Tensor strided(const Tensor& memory, const Shape& size, const Shape& stride, Int offset) {
  const Int from = offset - memory.geometry().offset;
  return apart(size, stride) ? S::strided(memory, size, stride, from)
                             : S::strided_over(memory, size, stride, from);
}

Int offset_or(const Arg& given, const Tensor& x) {
  return given.none() ? x.geometry().offset : given.integer();
}

Outputs scatter_expansion(Args a) {
  Tensor x = a.tensor(0), src = a.tensor(1);
  const Int offset = offset_or(a[4], x);
  Tensor memory = M::clone(memory_of("as_strided_scatter", x));
  Tensor part = strided(memory, a.ints(2), a.ints(3), offset);
  if (!require_equal(src.shape(), part.shape()))
    throw ShapeError({.op = "as_strided_scatter",
                      .problem = "src has another shape than the part it is written to",
                      .got = to_string(src.shape()),
                      .expected = to_string(part.shape()),
                      .next = "expand() src, or name another part"});
  assign(part, src);
  const Geometry& g = x.geometry();
  return {strided(memory, g.shape, g.strides, g.offset)};
}

void add_strides(Definitions& r) {
  constexpr std::string_view params =
      "(Tensor input, int[] size, int[] stride, int offset) -> Tensor";
  r.view(absl::StrCat("strided", params), strided_geometry,
         {.places = kNowhere,
          .moves = true,
          .doc = "Elements of a tensor in row-major order by strides, each at most once; a view."});
  r.view(absl::StrCat("strided_over", params), strided_geometry,
         {.grad = strided_grad,
          .overlaps = true,
          .places = kNowhere,
          .moves = true,
          .doc = "Elements of a tensor in row-major order by strides, any of them several times; a "
                 "view."});
  r.composite(
      "as_strided(Tensor input, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        const Int offset = offset_or(a[3], x);
        return {strided(memory_of("as_strided", x), a.ints(1), a.ints(2), offset)};
      },
      moving("The memory of input seen with these sizes and strides; a view, written through only "
             "where no element is seen twice."));
  r.composite(
      "as_strided_scatter(Tensor input, Tensor src, int[] size, int[] stride, int? "
      "storage_offset=None) -> Tensor",
      scatter_expansion, moving("A copy of input with src at these sizes and strides."));
}

// ── as another dtype ────────────────────────────────────────────────────────────────────────────

[[noreturn]] void no_such_elements(std::string_view op, const Geometry& x, std::string_view what) {
  throw ShapeError({.op = std::string(op),
                    .problem = std::string(what),
                    .got = absl::StrCat("shape ", to_string(x.shape), ", strides ",
                                        to_string(x.strides), ", offset ", to_string(x.offset)),
                    .expected = "a last axis without gaps, and whole elements throughout",
                    .next = "call contiguous() first, or to(dtype) to convert the values"});
}

/// Where smaller elements begin: each becomes so many, along the last axis.
Geometry in_parts(const Geometry& x, Int parts) {
  Geometry g = x;
  for (Int& s : g.strides) s *= parts;
  g.offset *= parts;
  return g;
}

/// Where larger elements begin, of so many parts each.
Geometry in_wholes(std::string_view op, const Geometry& x, Int parts) {
  Geometry g = x;
  bool fits = require(Relation::eq, mod(x.offset, parts), 0);
  for (size_t i = 0; i + 1 < g.strides.size(); ++i) {
    fits = fits && require(Relation::eq, mod(x.strides[i], parts), 0);
    g.strides[i] = floor_div(x.strides[i], parts);
  }
  if (!fits) no_such_elements(op, x, "elements of the other dtype would begin between these");
  g.offset = floor_div(x.offset, parts);
  return g;
}

void require_packed(std::string_view op, const Geometry& x) {
  if (x.rank() == 0) no_such_elements(op, x, "there is no axis whose size could change");
  // Where there is one element, its stride says nothing.
  const Int stride = x.strides.back();
  if (!identical(stride, Int(1)) && x.shape.back() != Int(1) && !require(Relation::eq, stride, 1))
    no_such_elements(op, x, "the last axis has gaps");
}

/// The strides of a tensor without elements say nothing: it is seen as one that is packed.
Geometry packed_if_empty(const Geometry& x) {
  auto none = [](Int size) { return identical(size, 0); };
  return std::any_of(x.shape.begin(), x.shape.end(), none) ? Geometry::contiguous(x.shape) : x;
}

Geometry reinterpreted_geometry(const Geometry& given, Args a) {
  const size_t from = size_of(a.tensor(0).dtype()), to = size_of(a.dtype(1));
  if (from == to) return given;
  const Geometry x = packed_if_empty(given);
  require_packed("view", x);
  if (from > to) {
    const Int parts(from / to);
    Geometry g = in_parts(x, parts);
    g.shape.back() = x.shape.back() * parts;
    g.strides.back() = 1;
    return g;
  }
  const Int parts(to / from);
  if (!require(Relation::eq, mod(x.shape.back(), parts), 0))
    no_such_elements("view", x, "the last axis does not fall into whole elements");
  Geometry g = in_wholes("view", x, parts);
  g.shape.back() = floor_div(x.shape.back(), parts);
  g.strides.back() = 1;
  return g;
}

Geometry as_real_geometry(const Geometry& x, Args) {
  Geometry g = in_parts(x, 2);
  g.shape.push_back(2);
  g.strides.push_back(1);
  return g;
}

Geometry as_complex_geometry(const Geometry& given, Args) {
  const Geometry x = packed_if_empty(given);
  require_packed("view_as_complex", x);
  if (!require(Relation::eq, x.shape.back(), 2))
    no_such_elements("view_as_complex", x, "the last axis does not hold two parts");
  Geometry g = in_wholes("view_as_complex", x, 2);
  g.shape.pop_back();
  g.strides.pop_back();
  return g;
}

Types seen_as(Args a, GeometryRule rule, DType dtype) {
  Tensor x = a.tensor(0);
  return {TensorType{dtype, rule(x.geometry(), a).shape, x.device()}};
}

[[noreturn]] void wrong_parts(std::string_view op, DType got, std::string_view expected) {
  throw DTypeError({.op = std::string(op),
                    .problem = "the elements are of another sort",
                    .got = std::string(name(got)),
                    .expected = std::string(expected),
                    .next = "convert with .to(dtype)"});
}

/// A bool is the byte 0 or 1; what engines make of another byte differs.
Types infer_reinterpreted(Args a) {
  if (a.dtype(1) == DType::bool_ && a.tensor(0).dtype() != DType::bool_)
    throw DTypeError({.op = "view",
                      .problem = "bytes that are neither 0 nor 1 are no bool",
                      .got = absl::StrCat(name(a.tensor(0).dtype()), " as bool"),
                      .expected = "any other dtype",
                      .next = "compare with 0: x != 0"});
  return seen_as(a, reinterpreted_geometry, a.dtype(1));
}

Types infer_as_real(Args a) {
  const DType dtype = a.tensor(0).dtype();
  if (!is_complex(dtype)) wrong_parts("view_as_real", dtype, "a complex dtype");
  return seen_as(a, as_real_geometry, real_type(dtype));
}

Types infer_as_complex(Args a) {
  const DType dtype = a.tensor(0).dtype();
  const DType whole = promote(dtype, DType::c64);
  if (!is_floating(dtype) || real_type(whole) != dtype || !complexes.has(whole))
    wrong_parts("view_as_complex", dtype, "the dtype of a complex number's parts");
  return seen_as(a, as_complex_geometry, whole);
}

void add_dtypes(Definitions& r) {
  r.view("reinterpreted(Tensor input, dtype dtype) -> Tensor", reinterpreted_geometry,
         {.infer = infer_reinterpreted,
          .no_grad = true,
          .places = kNowhere,
          .moves = true,
          .doc = "The same bytes as elements of another dtype; a view."});
  r.composite("view.dtype(Tensor input, dtype dtype) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                if (x.dtype() == a.dtype(1)) return {S::view(x, x.shape())};
                return {S::reinterpreted(x, a[1])};
              },
              {.no_grad = true,
               .places = kMethod,
               .moves = true,
               .doc = "The same bytes as elements of another dtype, without a copy."});
  r.view("view_as_real(Tensor input) -> Tensor", as_real_geometry,
         {.infer = infer_as_real,
          .grad =
              [](Grad g) {
                return Grads{M::complex(S::select(g.dy(), -1, 0), S::select(g.dy(), -1, 1))};
              },
          .places = kFunction,
          .moves = true,
          .doc = "Real and imaginary parts as a new last axis; a view."});
  r.composite("real(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                if (!is_complex(x.dtype())) return {S::view(x, x.shape())};
                return {S::select(S::view_as_real(x), -1, 0)};
              },
              {.moves = true, .doc = "The real parts, a view of them; a real input as it is."});
  r.composite("imag(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                if (!is_complex(x.dtype())) wrong_parts("imag", x.dtype(), "a complex dtype");
                return {S::select(S::view_as_real(x), -1, 1)};
              },
              {.domain = complexes, .moves = true, .doc = "The imaginary parts, a view of them."});
  r.view("view_as_complex(Tensor input) -> Tensor", as_complex_geometry,
         {.infer = infer_as_complex,
          .grad =
              [](Grad g) {
                const Tensor parts[] = {M::real_part(g.dy()), M::imag_part(g.dy())};
                return Grads{S::stack(parts, -1)};
              },
          .places = kFunction,
          .moves = true,
          .autocast = Autocast::wide,
          .doc = "A last axis of two as real and imaginary parts; a view."});
}

}  // namespace

void add_strided_definitions(Definitions& r) {
  add_strides(r);
  add_dtypes(r);
}

}  // namespace lathe
