#include "core/ops/matrices.h"

#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/names.h"

namespace lathe {

using namespace names;

void require_matrix(std::string_view op, std::string_view what, const Tensor& x) {
  if (x.rank() >= 2) return;
  throw ShapeError({.op = std::string(op),
                    .problem = absl::StrCat(what, " is no matrix"),
                    .got = to_string(type_of(x)),
                    .expected = "two axes at least: [..., rows, columns]",
                    .next = "unsqueeze() the missing axes"});
}

void require_square(std::string_view op, std::string_view what, const Tensor& x) {
  require_matrix(op, what, x);
  if (require(Relation::eq, x.size(-1), x.size(-2))) return;
  throw ShapeError({.op = std::string(op),
                    .problem = absl::StrCat(what, " is not square"),
                    .got = to_string(type_of(x)),
                    .expected = "as many rows as columns",
                    .next = "linalg.pinv(), linalg.lstsq() and linalg.svd() take any matrix"});
}

void require_alike(std::string_view op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    throw DTypeError({.op = std::string(op),
                      .problem = "the operands differ in dtype",
                      .got = absl::StrCat(name(a.dtype()), " and ", name(b.dtype())),
                      .expected = "one dtype",
                      .next = "convert one with .to(dtype)"});
  require_one_device(op, "the operands", a.device(), b.device());
}

void require_one_batch(std::string_view op, const Tensor& a, const Tensor& b, int a_axes,
                       int b_axes) {
  if (a.rank() >= a_axes && b.rank() >= b_axes &&
      require_equal(batch_of(a, a_axes), batch_of(b, b_axes)))
    return;
  throw ShapeError({.op = std::string(op),
                    .problem = "the operands are not of one batch",
                    .got = absl::StrCat(to_string(type_of(a)), " and ", to_string(type_of(b))),
                    .expected = "the same axes before those of a matrix",
                    .next = "expand() one of them"});
}

void require_sizes(std::string_view op, std::string_view problem, Int a, Int b) {
  if (require(Relation::eq, a, b)) return;
  throw ShapeError({.op = std::string(op),
                    .problem = std::string(problem),
                    .got = absl::StrCat(to_string(a), " and ", to_string(b)),
                    .expected = "equal sizes",
                    .next = "look at the shapes of the operands"});
}

Shape batch_of(const Tensor& x, int axes) {
  return Shape(x.shape().begin(), x.shape().end() - axes);
}

Shape with_axes(Shape batch, std::initializer_list<Int> axes) {
  batch.insert(batch.end(), axes.begin(), axes.end());
  return batch;
}

Tensor expand_batch(const Tensor& x, const Shape& batch, int axes) {
  Shape shape = batch;
  shape.insert(shape.end(), x.shape().end() - axes, x.shape().end());
  return identical(IntSpan(shape), IntSpan(x.shape())) ? x : S::expand(x, shape);
}

Shape common_batch(std::string_view op, const Tensor& a, const Tensor& b, int a_axes, int b_axes) {
  return broadcast_shapes(op, batch_of(a, a_axes), batch_of(b, b_axes));
}

bool holds_vectors(const Tensor& a, const Tensor& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  for (int i = 0; i < b.rank(); ++i)
    if (!(a.size(i) == b.size(i))) return false;
  return true;
}

TensorType result_like(const Tensor& x, Shape shape) {
  return {x.dtype(), std::move(shape), x.device()};
}
TensorType result_like(const Tensor& x, Shape shape, DType dtype) {
  return {dtype, std::move(shape), x.device()};
}

Tensor transposed(const Tensor& x) { return S::transpose(x, -2, -1); }
Tensor adjoint(const Tensor& x) { return conjugate(transposed(x)); }
Tensor times(const Tensor& a, const Tensor& b) { return nn_ops<Tensor>::matmul(a, b); }
Tensor rows(const Tensor& x, Int begin, Int end) { return S::narrow(x, -2, begin, end - begin); }
Tensor columns(const Tensor& x, Int begin, Int end) { return S::narrow(x, -1, begin, end - begin); }
Tensor upper(const Tensor& x, int diagonal) { return S::triu(x, diagonal); }
Tensor lower(const Tensor& x, int diagonal) { return S::tril(x, diagonal); }

Tensor with_diagonal(const Tensor& x, const Arg& value) {
  return M::where(C::eye(x.size(-2), x.size(-1), DType::bool_, x.device()), value, x);
}

Tensor with_real_diagonal(const Tensor& x) {
  Tensor on = C::eye(x.size(-2), x.size(-1), DType::bool_, x.device());
  return M::complex(M::real_part(x), M::where(on, 0.0, M::imag_part(x)));
}

Tensor diagonal_of(const Tensor& x) {
  Tensor square = x;
  if (x.size(-2) > x.size(-1)) square = rows(x, 0, x.size(-1));
  if (x.size(-1) > x.size(-2)) square = columns(x, 0, x.size(-2));
  Tensor on = C::eye(square.size(-1), Arg(), DType::bool_, x.device());
  return reduce_ops<Tensor>::sum(M::where(on, square, 0), {Int(-1)});
}

Tensor diagonal_matrix(const Tensor& v) {
  return M::where(C::eye(v.size(-1), Arg(), DType::bool_, v.device()), S::unsqueeze(v, -1), 0);
}

Tensor unit_like(const Tensor& x, Int n) { return C::eye(n, Arg(), x.dtype(), x.device()); }
Tensor as_column(const Tensor& v) { return S::unsqueeze(v, -1); }
Tensor from_column(const Tensor& x) { return S::squeeze(x, {Int(-1)}); }

Extra in_module(std::string_view also, std::string_view doc, Autocast autocast) {
  Extra e{.places = kNowhere, .also = {also}, .autocast = autocast};
  e.doc = doc;
  return e;
}

void add_same(Definitions& r, std::string_view schema, std::string_view target, Extra extra) {
  const Op* op = r.find(target);
  LATHE_CHECK(op != nullptr && parse_schema(schema).params.size() == op->schema.params.size());
  extra.no_grad = op->extra.no_grad;
  if (extra.doc.empty()) extra.doc = op->extra.doc;
  r.composite(
      schema, [op](Args a) { return call(*op, a); }, std::move(extra));
}

Tensor inverse_cotangent(const Tensor& g, const Tensor& y) {
  Tensor left = adjoint(y);
  return M::neg(times(left, times(g, left)));
}

Tensor pseudoinverse_cotangent(const Tensor& g, const Tensor& x, const Tensor& y) {
  // dy = -y dx y + y y^H dx^H (1 - x y) + (1 - y x) dx^H y^H y (Golub and Pereyra, 1973).
  Tensor yh = adjoint(y), gh = adjoint(g);
  Tensor inner = M::neg(times(yh, times(g, yh)));
  Tensor a = times(gh, times(y, yh));
  Tensor b = times(times(yh, y), gh);
  Tensor outside = M::add(M::sub(a, times(x, times(y, a))), M::sub(b, times(times(b, y), x)));
  return M::add(inner, outside);
}

void add_linalg_definitions(Definitions& r) {
  add_linalg_solve_definitions(r);
  add_linalg_factor_definitions(r);
  add_linalg_spectral_definitions(r);
  add_linalg_norm_definitions(r);
}

}  // namespace lathe
