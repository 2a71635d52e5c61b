// Norms and condition of matrices, powers, and systems of tensors.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/matrices.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// x in the dtype that the caller asked for; DTypeError for integers.
Tensor prepared(const char* op, const Tensor& x, const Arg& dtype) {
  const DType to = dtype.none() ? x.dtype() : dtype.dtype_;
  if (category(x.dtype()) < 2 || category(to) < 2 || category(to) < category(x.dtype()))
    throw DTypeError({.op = op,
                      .problem = "a norm is of floating or complex numbers",
                      .got = absl::StrCat(name(x.dtype()), dtype.none() ? "" : " as ",
                                          dtype.none() ? "" : name(to)),
                      .expected = "a floating or complex dtype",
                      .next = "convert with .to(lathe.float32)"});
  return to == x.dtype() ? x : M::cast(x, to);
}

Tensor vector_norm(const Tensor& x, Real p, const Shape& dims, bool keep) {
  return R::norm(x, p, dims, keep);
}

/// The two axes of a matrix, in order; IndexError and ShapeError name the op.
std::array<int, 2> matrix_axes(const char* op, const Tensor& x, const Shape& dims) {
  if (dims.size() != 2)
    throw ShapeError({.op = op,
                      .problem = "a matrix has two axes",
                      .got = absl::StrCat("dim=", to_string(dims)),
                      .expected = "two axes"});
  if (x.rank() < 2) require_matrix(op, "the operand", x);
  const int a = size_axis(op, dims[0].value(), x.rank());
  const int b = size_axis(op, dims[1].value(), x.rank());
  if (a == b)
    throw ShapeError({.op = op,
                      .problem = "an axis is named twice",
                      .got = absl::StrCat("dim=", to_string(dims)),
                      .expected = "two axes"});
  return {a, b};
}

/// The singular values of the matrices along two axes, which become one last axis.
Tensor values_along(const Tensor& x, std::array<int, 2> axes) {
  Shape order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axes[0] && i != axes[1]) order.push_back(Int(i));
  order.push_back(Int(axes[0]));
  order.push_back(Int(axes[1]));
  return L::svd_values(S::permute(x, order));
}

/// A result of one number a matrix with its two axes back, as 1.
Tensor keep_axes(Tensor y, std::array<int, 2> axes, bool keep) {
  if (!keep) return y;
  const auto [low, high] = std::minmax(axes[0], axes[1]);
  return S::unsqueeze(S::unsqueeze(y, low), high);
}

[[noreturn]] void unknown_order(const char* op, std::string got) {
  throw ValueError({.op = op,
                    .problem = "this norm of a matrix does not exist",
                    .got = std::move(got),
                    .expected = "'fro', 'nuc', inf, -inf, 1, -1, 2 or -2"});
}

Tensor named_matrix_norm(const char* op, const Tensor& x, std::string_view order, const Shape& dims,
                         bool keep) {
  const auto axes = matrix_axes(op, x, dims);
  if (order == "fro") return vector_norm(x, 2, dims, keep);
  if (order != "nuc") unknown_order(op, absl::StrCat("'", order, "'"));
  return keep_axes(R::sum(values_along(x, axes), {Int(-1)}), axes, keep);
}

Tensor matrix_norm(const char* op, const Tensor& x, Real order, const Shape& dims, bool keep) {
  const auto axes = matrix_axes(op, x, dims);
  if (order == 2) return keep_axes(R::amax(values_along(x, axes), {Int(-1)}), axes, keep);
  if (order == -2) return keep_axes(R::amin(values_along(x, axes), {Int(-1)}), axes, keep);
  const bool by_rows = order == kInfinity || order == -kInfinity;
  if (!by_rows && !(order == 1) && !(order == -1)) unknown_order(op, to_string(Arg(order)));
  Tensor sums = R::sum(M::abs(x), {Int(axes[by_rows ? 1 : 0])}, true);
  const Shape other{Int(axes[by_rows ? 0 : 1])};
  Tensor y = order > 0 ? R::amax(sums, other, true) : R::amin(sums, other, true);
  return keep ? y : S::squeeze(y, {Int(axes[0]), Int(axes[1])});
}

/// linalg.norm: of vectors, of matrices, or of everything, as ord and dim say.
Tensor norm(Args a) {
  const char* op = "linalg.norm";
  Tensor x = prepared(op, a.tensor(0), a[4]);
  const bool named = a[1].tag == Tag::text, keep = a.flag(3);
  Shape dims = a.none(2) ? Shape{} : a.ints(2);
  if (a.none(1)) return vector_norm(x, 2, dims, keep);
  if (a.none(2)) {
    if (x.rank() != 1 && x.rank() != 2)
      throw ValueError({.op = op,
                        .problem = "without dim a norm with ord is of a vector or a matrix",
                        .got = to_string(type_of(x)),
                        .expected = "one or two axes, or dim",
                        .next = "give dim, or leave out ord for the norm of all elements"});
    dims = all_axes(x.rank());
  }
  if (named) return named_matrix_norm(op, x, a.text(1), dims, keep);
  if (dims.size() == 2) return matrix_norm(op, x, a.real(1), dims, keep);
  return vector_norm(x, a.real(1), dims, keep);
}

/// PyTorch's older names, as functions alone.
void add_older_norms(Definitions& r) {
  const auto older = [](std::string_view doc) { return Extra{.places = kFunction, .doc = doc}; };
  r.composite(
      "frobenius_norm(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = prepared("frobenius_norm", a.tensor(0), {});
        return {vector_norm(x, 2, a.ints(1), a.flag(2))};
      },
      older("The root of the sum of squared moduli over dim, or over everything if that is []."));
  const char* nuclear =
      "The sum of the singular values of matrices[..., m, n], or of those along "
      "the two axes dim.";
  r.composite(
      "nuclear_norm(Tensor input, bool keepdim=False) -> Tensor",
      [](Args a) -> Outputs {
        const char* op = "nuclear_norm";
        Tensor x = prepared(op, a.tensor(0), {});
        return {named_matrix_norm(op, x, "nuc", {Int(-2), Int(-1)}, a.flag(1))};
      },
      older(nuclear));
  r.composite(
      "nuclear_norm.dim(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
      [](Args a) -> Outputs {
        const char* op = "nuclear_norm";
        Tensor x = prepared(op, a.tensor(0), {});
        return {named_matrix_norm(op, x, "nuc", a.ints(1), a.flag(2))};
      },
      older(nuclear));
}

void add_norms(Definitions& r) {
  add_older_norms(r);
  r.composite(
      "linalg_vector_norm(Tensor input, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, "
      "dtype? dtype=None) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = prepared("linalg.vector_norm", a.tensor(0), a[4]);
        return {vector_norm(x, a.real(1), a.none(2) ? Shape{} : a.ints(2), a.flag(3))};
      },
      in_module("linalg.vector_norm",
                "(sum |x|^ord)^(1/ord) over dim, or over everything; the limits for inf and -inf, "
                "for 0 how many elements are not 0.",
                Autocast::none));
  const char* doc =
      "'fro': of the elements as a vector; 'nuc': the sum of the singular values; 2, -2: the "
      "largest, the least of them; 1, -1: of the columns' sums of moduli; inf, -inf: of the rows'.";
  r.composite(
      "linalg_matrix_norm(Tensor input, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, "
      "dtype? dtype=None) -> Tensor",
      [](Args a) -> Outputs {
        const char* op = "linalg.matrix_norm";
        return {named_matrix_norm(op, prepared(op, a.tensor(0), a[4]), a.text(1), a.ints(2),
                                  a.flag(3))};
      },
      in_module("linalg.matrix_norm", doc, Autocast::none));
  r.composite(
      "linalg_matrix_norm.ord(Tensor input, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, "
      "*, dtype? dtype=None) -> Tensor",
      [](Args a) -> Outputs {
        const char* op = "linalg.matrix_norm";
        return {matrix_norm(op, prepared(op, a.tensor(0), a[4]), a.real(1), a.ints(2), a.flag(3))};
      },
      in_module("linalg.matrix_norm", doc, Autocast::none));
  const char* both =
      "linalg.matrix_norm of the two axes dim, linalg.vector_norm of one; without ord the norm of "
      "the elements over dim, or over everything, as a vector.";
  r.composite(
      "linalg_norm(Tensor input, Scalar? ord=None, int[]? dim=None, bool keepdim=False, *, dtype? "
      "dtype=None) -> Tensor",
      [](Args a) -> Outputs { return {norm(a)}; }, in_module("linalg.norm", both, Autocast::none));
  r.composite(
      "linalg_norm.name(Tensor input, str ord, int[]? dim=None, bool keepdim=False, *, dtype? "
      "dtype=None) -> Tensor",
      [](Args a) -> Outputs { return {norm(a)}; }, in_module("linalg.norm", both, Autocast::none));
}

// ── condition ───────────────────────────────────────────────────────────────────────────────────

/// |A| |A^-1|, infinite where there is no inverse.
template <class Norm>
Tensor condition(const Tensor& x, Norm norm_of) {
  require_square("linalg.cond", "A", x);
  auto [inverse, info] = L::inv_ex(x, false);
  Tensor product = M::mul(norm_of(x), norm_of(inverse));
  return M::where(M::eq(info, 0), product, kInfinity);
}

/// Of the largest and the least singular value; 0 by 0 is infinite too.
Tensor ratio(const Tensor& x, bool inverted) {
  Tensor values = L::svd_values(x);
  Tensor most = R::amax(values, {Int(-1)}), least = R::amin(values, {Int(-1)});
  return inverted ? M::div(least, most) : M::div(most, least);
}

Outputs cond_expansion(Args a) {
  Tensor x = a.tensor(0);
  const char* op = "linalg.cond";
  require_matrix(op, "A", x);
  const Shape dims{Int(-2), Int(-1)};
  if (x.size(-1) == Int(0) || x.size(-2) == Int(0))
    return {C::zeros(batch_of(x), real_type(x.dtype()), x.device())};
  if (a[1].tag == Tag::text) {
    const std::string order(a.text(1));
    return {condition(
        x, [&](const Tensor& t) { return named_matrix_norm(op, t, order, dims, false); })};
  }
  const Real order = a.none(1) ? Real(2) : a.real(1);
  if (order == 2 || order == -2) return {ratio(x, order == -2)};
  return {condition(x, [&](const Tensor& t) { return matrix_norm(op, t, order, dims, false); })};
}

// ── powers ──────────────────────────────────────────────────────────────────────────────────────

Outputs power_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.matrix_power", "A", x);
  int64_t n = a.integer(1).value();
  if (n == 0) {
    // It has a derivative, 0.
    return {M::where(C::ones(Shape{}, DType::bool_, x.device()), unit_like(x, x.size(-1)), x)};
  }
  if (n < 0) {
    x = L::inv(x);
    n = -n;
  }
  Tensor power;
  for (Tensor base = x;; base = times(base, base)) {
    if ((n & 1) != 0) power = power.defined() ? times(power, base) : base;
    n >>= 1;
    if (n == 0) break;
  }
  return {same(power, x) ? M::clone(x) : power};
}

// ── systems of tensors ──────────────────────────────────────────────────────────────────────────

Int product(const Tensor& x, int begin, int end) {
  Int n = 1;
  for (int i = begin; i < end; ++i) n *= x.size(i);
  return n;
}

Outputs tensorinv_expansion(Args a) {
  Tensor x = a.tensor(0);
  const char* op = "linalg.tensorinv";
  const int64_t ind = a.integer(1).value();
  if (ind < 1)
    throw ValueError({.op = op,
                      .problem = "ind counts the first axes of the inverse's result",
                      .got = absl::StrCat("ind=", ind),
                      .expected = "a positive number"});
  const int first = static_cast<int>(std::min<int64_t>(ind, x.rank()));
  const Int n = product(x, 0, first);
  require_sizes(op, "the first axes have not as many elements as the last", n,
                product(x, first, x.rank()));
  Shape shape(x.shape().begin() + first, x.shape().end());
  shape.insert(shape.end(), x.shape().begin(), x.shape().begin() + first);
  return {S::reshape(L::inv(S::reshape(x, {n, n})), shape)};
}

Outputs tensorsolve_expansion(Args args) {
  Tensor a = args.tensor(0), b = args.tensor(1);
  const char* op = "linalg.tensorsolve";
  if (!args.none(2)) {  // these axes go to the end
    std::vector<bool> moved(static_cast<size_t>(a.rank()), false);
    Shape order, last;
    for (Int d : args.ints(2)) {
      const int axis = size_axis(op, d.value(), a.rank());
      moved[static_cast<size_t>(axis)] = true;
      last.push_back(Int(axis));
    }
    for (int i = 0; i < a.rank(); ++i)
      if (!moved[static_cast<size_t>(i)]) order.push_back(Int(i));
    order.insert(order.end(), last.begin(), last.end());
    a = S::permute(a, order);
  }
  const int first = std::min(b.rank(), a.rank());
  Shape result(a.shape().begin() + first, a.shape().end());
  const Int n = product(a, first, a.rank());
  require_sizes(op, "the axes of B have not as many elements as the others of A", n, b.numel());
  require_sizes(op, "the first axes of A have not as many elements as the others",
                product(a, 0, first), n);
  Tensor x = L::solve(S::reshape(a, {n, n}), S::reshape(b, {n}), true);
  return {S::reshape(x, result)};
}

void add_powers(Definitions& r) {
  const char* cond =
      "|A| |A^-1| in this norm of matrices; None: the largest singular value by the least.";
  r.composite("linalg_cond(Tensor input, Scalar? p=None) -> Tensor", cond_expansion,
              in_module("linalg.cond", cond));
  r.composite("linalg_cond.name(Tensor input, str p) -> Tensor", cond_expansion,
              in_module("linalg.cond", cond));
  r.composite(
      "linalg_matrix_power(Tensor input, int n) -> Tensor", power_expansion,
      in_module("linalg.matrix_power",
                "The product of n factors A; of the inverse for a negative n.", Autocast::narrow));
  add_same(r, "matrix_power(Tensor input, int n) -> Tensor", "linalg_matrix_power");
  r.composite(
      "linalg_tensorinv(Tensor input, int ind=2) -> Tensor", tensorinv_expansion,
      in_module("linalg.tensorinv", "The inverse of the map that tensordot(A, x, ind) is."));
  r.composite(
      "linalg_tensorsolve(Tensor input, Tensor other, int[]? dims=None) -> Tensor",
      tensorsolve_expansion,
      in_module("linalg.tensorsolve",
                "X of tensordot(A, X) = B over all axes of X; dims: axes of A to be put last."));
}

}  // namespace

void add_linalg_norm_definitions(Definitions& r) {
  add_norms(r);
  add_powers(r);
}

}  // namespace lathe
