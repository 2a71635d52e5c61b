// Products of vectors, matrices and batches of them, and sums of such with a tensor: composites
// over the contraction mm, the sum of elementwise products, and broadcasting.
#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "include/lathe/ops/products.h"

namespace lathe {
namespace {

using namespace names;
using P = products_ops<Tensor>;

/// ShapeError unless each operand has the rank it is given with.
void require_ranks(std::string_view op, std::initializer_list<std::pair<Tensor, int>> operands) {
  bool fits = true;
  for (const auto& [x, rank] : operands) fits = fits && x.rank() == rank;
  if (fits) return;
  std::string got, expected;
  for (const auto& [x, rank] : operands) {
    absl::StrAppend(&got, got.empty() ? "" : ", ", to_string(x.shape()));
    absl::StrAppend(&expected, expected.empty() ? "ranks " : ", ", rank);
  }
  throw ShapeError({.op = std::string(op),
                    .problem = "an operand has another number of axes",
                    .got = got,
                    .expected = expected,
                    .next = "matmul(), @ and einsum() take operands of other ranks"});
}

void require_length(std::string_view op, const Tensor& x, const Tensor& y) {
  if (require(Relation::eq, x.size(-1), y.size(-1))) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "the vectors differ in length",
                    .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
                    .expected = "one length",
                    .next = "slice the longer one"});
}

// ── of two operands ─────────────────────────────────────────────────────────────────────────────

Tensor dot(std::string_view op, const Tensor& x, const Tensor& y) {
  require_ranks(op, {{x, 1}, {y, 1}});
  require_length(op, x, y);
  return N::matmul(x, y);
}

Outputs outer_expansion(Args a) {
  require_ranks("outer", {{a.tensor(0), 1}, {a.tensor(1), 1}});
  return {M::mul(S::unsqueeze(a.tensor(0), 1), a.tensor(1))};
}

/// Sums over the last axes; a number times the other operand.
Outputs inner_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  if (x.rank() == 0 || y.rank() == 0) return {M::mul(x, y)};
  require_length("inner", x, y);
  if (y.rank() == 1) return {N::matmul(x, y)};
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.insert(shape.end(), y.shape().begin(), y.shape().end() - 1);
  auto matrix = [](const Tensor& t) {
    Int rows = 1;
    for (int i = 0; i + 1 < t.rank(); ++i) rows *= t.size(i);
    return S::reshape(t, {rows, t.size(-1)});
  };
  return {S::reshape(N::matmul(matrix(x), S::transpose(matrix(y), 0, 1)), shape)};
}

Outputs kron_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  while (x.rank() < y.rank()) x = S::unsqueeze(x, 0);
  while (y.rank() < x.rank()) y = S::unsqueeze(y, 0);
  Shape outer, inner, joined;
  for (int i = 0; i < x.rank(); ++i) {
    outer.insert(outer.end(), {x.size(i), Int(1)});
    inner.insert(inner.end(), {Int(1), y.size(i)});
    joined.push_back(x.size(i) * y.size(i));
  }
  return {S::reshape(M::mul(S::reshape(x, outer), S::reshape(y, inner)), joined)};
}

/// Sums over pairs of axes; those left of the first operand come first.
Outputs tensordot_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  const DType common = promote(x.dtype(), y.dtype());
  auto summed = [common](const Tensor& t, int axis) {
    return M::cast(R::sum(t, {Int(axis)}, true), common);
  };
  const Shape of_x = a.ints(2), of_y = a.ints(3);
  if (of_x.size() != of_y.size())
    throw ValueError({.op = "tensordot",
                      .problem = "axes are summed in pairs",
                      .got = absl::StrCat(to_string(of_x), " and ", to_string(of_y)),
                      .expected = "as many axes of one operand as of the other",
                      .next = "name each axis and the one it meets"});
  const AxisMask x_summed = named_axes("tensordot", of_x, x.rank());
  const AxisMask y_summed = named_axes("tensordot", of_y, y.rank());
  Shape x_order, y_order, shape;
  Int rows = 1, columns = 1, depth = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (x_summed[static_cast<size_t>(i)]) continue;
    x_order.push_back(Int(i));
    shape.push_back(x.size(i));
    rows *= x.size(i);
  }
  for (size_t k = 0; k < of_x.size(); ++k) {
    const int i = size_axis("tensordot", of_x[k].value(), x.rank());
    const int j = size_axis("tensordot", of_y[k].value(), y.rank());
    // An axis of one element meets one of any size, which is then summed by itself.
    if (x.size(i) == Int(1) && !(y.size(j) == Int(1))) y = summed(y, j);
    if (y.size(j) == Int(1) && !(x.size(i) == Int(1))) x = summed(x, i);
    if (!require(Relation::eq, x.size(i), y.size(j)))
      throw ShapeError({.op = "tensordot",
                        .problem = absl::StrCat("axis ", i, " meets axis ", j, " of another size"),
                        .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
                        .expected = "equal sizes",
                        .next = "check which axes are summed"});
    x_order.push_back(Int(i));
    y_order.push_back(Int(j));
    depth *= x.size(i);
  }
  for (int j = 0; j < y.rank(); ++j) {
    if (y_summed[static_cast<size_t>(j)]) continue;
    y_order.push_back(Int(j));
    shape.push_back(y.size(j));
    columns *= y.size(j);
  }
  Tensor left = S::reshape(S::permute(x, x_order), {rows, depth});
  Tensor right = S::reshape(S::permute(y, y_order), {depth, columns});
  return {S::reshape(N::matmul(left, right), shape)};
}

/// One last axis, along which the vectors lie.
Outputs vecdot_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  return {R::sum(M::mul(conjugate(x), y), {a.integer(2)})};
}

Outputs cross_along(std::string_view op, const Tensor& a, const Tensor& b, Int dim) {
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  Tensor x = S::expand(a, shape), y = S::expand(b, shape);
  const int axis = size_axis(op, dim.value(), x.rank());
  if (!require(Relation::eq, x.size(axis), 3))
    throw ShapeError({.op = std::string(op),
                      .problem = "the vectors do not have three elements",
                      .got = absl::StrCat(to_string(x.shape()), ", axis ", axis),
                      .expected = "3 elements along that axis",
                      .next = "name the axis the vectors lie along as dim"});
  auto turned = [&](const Tensor& t, int by) { return S::roll(t, {Int(by)}, {Int(axis)}); };
  Tensor left = M::mul(turned(x, -1), turned(y, -2)), right = M::mul(turned(x, -2), turned(y, -1));
  return {M::sub(left, right)};
}

/// Without the broadcasting of another rank, or of vectors of one element.
Outputs linalg_cross(Args a) {
  constexpr std::string_view kName = "linalg.cross";
  Tensor x = a.tensor(0), y = a.tensor(1);
  const bool one_rank = x.rank() == y.rank();
  const int axis = size_axis(kName, a.integer(2).value(), x.rank());
  if (!one_rank || !require(Relation::eq, x.size(axis), y.size(axis)))
    throw ShapeError({.op = std::string(kName),
                      .problem = one_rank ? "input and other differ in size along dim"
                                          : "input and other differ in rank",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
                      .expected = "vectors of 3 elements along one axis of both",
                      .next = one_rank ? "name the axis the vectors lie along as dim"
                                       : "unsqueeze() the missing axes, or take cross()"});
  return cross_along(kName, x, y, a.integer(2));
}

Outputs cross_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  if (!a.none(2)) return cross_along("cross", x, y, a.integer(2));
  const Shape shape = broadcast_shapes("cross", x.shape(), y.shape());
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == Int(3)) return cross_along("cross", x, y, Int(i));
  throw ShapeError({.op = "cross",
                    .problem = "no axis has three elements",
                    .got = to_string(shape),
                    .expected = "vectors of 3 elements",
                    .next = "name the axis the vectors lie along as dim"});
}

void add_of_two(Definitions& r) {
  r.composite(
      "mv(Tensor input, Tensor vec) -> Tensor",
      [](Args a) -> Outputs {
        require_ranks("mv", {{a.tensor(0), 2}, {a.tensor(1), 1}});
        return {N::matmul(a.tensor(0), a.tensor(1))};
      },
      moving("A matrix times a vector."));
  r.composite(
      "bmm(Tensor input, Tensor mat2) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0), y = a.tensor(1);
        require_ranks("bmm", {{x, 3}, {y, 3}});
        if (!require(Relation::eq, x.size(0), y.size(0)))
          throw ShapeError(
              {.op = "bmm",
               .problem = "the batches differ in size",
               .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
               .expected = "[n, i, k] and [n, k, j]",
               .next = "matmul() and @ broadcast batches"});
        return {N::mm(x, y)};
      },
      with_autocast(Autocast::narrow,
                    moving("Matrix products of a batch: input[n, i, k] @ mat2[n, k, j].")));
  r.composite(
      "dot(Tensor input, Tensor tensor) -> Tensor",
      [](Args a) -> Outputs { return {dot("dot", a.tensor(0), a.tensor(1))}; },
      moving("The sum of the products of two vectors' elements."));
  r.composite(
      "vdot(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {dot("vdot", conjugate(a.tensor(0)), a.tensor(1))}; },
      moving("As dot, of the complex conjugate of the first."));
  r.composite("outer(Tensor input, Tensor vec2) -> Tensor", outer_expansion,
              {.also = {"ger"},
               .moves = true,
               .doc = "Each element of one vector times each of another: input[i] * vec2[j]."});
  r.composite(
      "inner(Tensor input, Tensor other) -> Tensor", inner_expansion,
      with_autocast(
          Autocast::narrow,
          moving("Sums of products along the last axes, for each pair of the other indices.")));
  r.composite("kron(Tensor input, Tensor other) -> Tensor", kron_expansion,
              {.doc = "Blocks of other, each times an element of input."});
  r.composite(
      "tensordot.dims(Tensor input, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
      tensordot_expansion,
      with_autocast(Autocast::narrow,
                    moving("Sums of products over pairs of axes, one of each tensor.", kNowhere)));
  r.composite("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot_expansion,
              {.places = kNowhere,
               .also = {"linalg.vecdot"},
               .autocast = Autocast::narrow,
               .doc = "Sums along dim of the products of x, conjugated if it is complex, and y."});
  r.composite(
      "cross(Tensor input, Tensor other, int? dim=None) -> Tensor", cross_expansion,
      {.doc = "The vector at right angles to both, along dim or the first axis of size 3."});
  r.composite("linalg_cross(Tensor input, Tensor other, *, int dim=-1) -> Tensor", linalg_cross,
              {.places = kNowhere,
               .also = {"linalg.cross"},
               .doc = "The vector at right angles to both, along dim."});
  r.composite(
      "trace(Tensor input) -> Tensor",
      [](Args a) -> Outputs {
        require_rank("trace", a.tensor(0), 2, 2);
        return {R::sum(S::diagonal(a.tensor(0)))};
      },
      {.places = kMethod, .autocast = Autocast::wide, .doc = "The sum of a matrix' diagonal."});
}

// ── beta * input + alpha * product ──────────────────────────────────────────────────────────────

bool is_number(const Arg& factor, int value) {
  if (factor.tag == Tag::flag) return factor.flag_ == (value != 0);
  return factor.tag == Tag::integer ? identical(factor.integer(), Int(value))
                                    : factor.tag == Tag::real && factor.real() == value;
}

Tensor scaled(const Tensor& x, const Arg& factor) {
  return is_number(factor, 1) ? x : M::mul(x, factor);
}

/// Of integers, a factor is its whole part, of bools whether it is other than 0, as in PyTorch.
Arg factor_for(DType dtype, const Arg& given) {
  if (dtype == DType::bool_ && given.tag != Tag::flag)
    return Arg(given.tag == Tag::real ? given.real() != 0 : given.integer() != Int(0));
  if (category(dtype) >= 2 || given.tag != Tag::real) return given;
  const double whole = std::trunc(given.real().value());
  if (!(std::abs(whole) < 0x1p62))
    throw OverflowError({.op = "addmm",
                         .problem = "a factor is no integer",
                         .got = to_string(given),
                         .expected = "a number below 2^62",
                         .next = "convert an operand with .to(lathe.float32)"});
  return Arg(Int(static_cast<int64_t>(whole)));
}

/// What a beta of 0 leaves out is not read: NaN in it does no harm.
Outputs scaled_sum(std::string_view op, const Tensor& input, const Tensor& product,
                   const Arg& given_beta, const Arg& given_alpha) {
  const DType dtype = promote(input.dtype(), product.dtype());
  const Arg beta = factor_for(dtype, given_beta), alpha = factor_for(dtype, given_alpha);
  const Shape shape = broadcast_shapes(op, input.shape(), product.shape());
  if (!require_equal(shape, product.shape()))
    throw ShapeError(
        {.op = std::string(op),
         .problem = "input is larger than the product it is added to",
         .got = to_string(input.shape()),
         .expected = absl::StrCat("a shape that broadcasts to ", to_string(product.shape())),
         .next = "sum or slice the input first"});
  Tensor y = scaled(product, alpha);
  if (is_number(given_beta, 0)) return {y};
  return {M::add(scaled(input, beta), y)};
}

using Ranks = std::pair<int, int>;

/// <name>(input, <a>, <b>, *, beta=1, alpha=1): beta * input + alpha * product(a, b). Factors that
/// are tensors without axes, as complex numbers come, are a form of their own.
template <class F>
void add_scaled(Definitions& r, std::string_view name, std::string_view operands, Ranks ranks,
                F product, std::string_view doc) {
  const bool matrices = ranks.second > 1;
  Extra extra{.inplace = true, .autocast = matrices ? Autocast::narrow : Autocast::none};
  extra.doc = doc;
  auto expand = [=](Args a) {
    Tensor x = a.tensor(1), y = a.tensor(2);
    require_ranks(name, {{x, ranks.first}, {y, ranks.second}});
    return scaled_sum(name, a.tensor(0), product(x, y), a[3], a[4]);
  };
  const std::string tensors = absl::StrCat("(Tensor input, ", operands, ", *, ");
  r.composite(absl::StrCat(name, tensors, "Scalar beta=1, Scalar alpha=1) -> Tensor"), expand,
              extra);
  r.composite(absl::StrCat(name, ".scaled", tensors,
                           "Tensor|Scalar beta=1, Tensor|Scalar alpha=1) -> Tensor"),
              expand, extra);
}

void add_sums(Definitions& r) {
  auto matmul = [](const Tensor& x, const Tensor& y) { return N::matmul(x, y); };
  auto batches = [](const Tensor& x, const Tensor& y) { return P::bmm(x, y); };
  add_scaled(r, "addmm", "Tensor mat1, Tensor mat2", {2, 2}, matmul,
             "beta * input + alpha * (mat1 @ mat2).");
  add_scaled(r, "addmv", "Tensor mat, Tensor vec", {2, 1}, matmul,
             "beta * input + alpha * (mat @ vec).");
  add_scaled(
      r, "addr", "Tensor vec1, Tensor vec2", {1, 1},
      [](const Tensor& x, const Tensor& y) { return P::outer(x, y); },
      "beta * input + alpha * outer(vec1, vec2).");
  add_scaled(r, "baddbmm", "Tensor batch1, Tensor batch2", {3, 3}, batches,
             "beta * input + alpha * bmm(batch1, batch2).");
  add_scaled(
      r, "addbmm", "Tensor batch1, Tensor batch2", {3, 3},
      [=](const Tensor& x, const Tensor& y) {
        Tensor each = batches(x, y);
        return M::cast(R::sum(each, {Int(0)}), each.dtype());
      },
      "beta * input + alpha * the sum of bmm(batch1, batch2) over its matrices.");
}

// ── chains ──────────────────────────────────────────────────────────────────────────────────────

/// Where each part of a chain of matrices is best cut in two, by the number of products of numbers
/// (Cormen et al., Introduction to Algorithms, 15.2). The order decides the bits, so a trace guards
/// each comparison.
class Chain {
 public:
  explicit Chain(const Tensors& xs) : xs_(xs), cut_(xs.size() * xs.size()) {
    const size_t n = xs.size();
    std::vector<Int> cost(n * n), side;
    for (const Tensor& x : xs) side.push_back(x.size(0));
    side.push_back(xs.back().size(1));
    for (size_t length = 1; length < n; ++length) {
      for (size_t i = 0; i + length < n; ++i) {
        const size_t j = i + length;
        for (size_t k = i; k < j; ++k) {
          const Int c =
              cost[i * n + k] + cost[(k + 1) * n + j] + side[i] * side[k + 1] * side[j + 1];
          if (k == i || c < cost[i * n + j]) {
            cost[i * n + j] = c;
            cut_[i * n + j] = k;
          }
        }
      }
    }
  }
  Tensor product(size_t i, size_t j) const {
    if (i == j) return xs_[i];
    const size_t k = cut_[i * xs_.size() + j];
    return N::matmul(product(i, k), product(k + 1, j));
  }

 private:
  const Tensors& xs_;
  std::vector<size_t> cut_;
};

/// The first may be a row and the last a column.
Outputs multi_dot(std::string_view op, Tensors xs, size_t least, bool vectors) {
  if (xs.size() < least)
    throw ValueError({.op = std::string(op),
                      .problem = "there are too few matrices",
                      .got = absl::StrCat(xs.size()),
                      .expected = absl::StrCat("at least ", least),
                      .next = "give the matrices in the order of the product"});
  const bool row = vectors && xs.front().rank() == 1, column = vectors && xs.back().rank() == 1;
  if (row) xs.front() = S::unsqueeze(xs.front(), 0);
  if (column) xs.back() = S::unsqueeze(xs.back(), 1);
  for (size_t i = 0; i < xs.size(); ++i) {
    require_rank(op, xs[i], 2, 2);
    if (i == 0 || require(Relation::eq, xs[i - 1].size(1), xs[i].size(0))) continue;
    throw ShapeError(
        {.op = std::string(op),
         .problem = absl::StrCat("matrix ", i, " does not fit the one before it"),
         .got = absl::StrCat(to_string(xs[i - 1].shape()), " @ ", to_string(xs[i].shape())),
         .expected = "as many rows as the one before has columns",
         .next = "check the order, or transpose one"});
  }
  Tensor y = Chain(xs).product(0, xs.size() - 1);
  if (column) y = S::squeeze(y, {Int(-1)});
  if (row) y = S::squeeze(y, {Int(column ? -1 : 0)});
  return {y};
}

void add_chains(Definitions& r) {
  constexpr std::string_view doc =
      "The product of all, in the order that takes the fewest multiplications.";
  r.composite(
      "linalg_multi_dot(Tensor[] tensors) -> Tensor",
      [](Args a) { return multi_dot("multi_dot", a.tensors(0), 2, true); },
      {.places = kNowhere, .also = {"linalg.multi_dot"}, .autocast = Autocast::narrow, .doc = doc});
  r.composite("chain_matmul(Tensor... matrices) -> Tensor",
              [](Args a) -> Outputs {
                const Tensors xs = a.tensors(0);
                if (xs.size() == 1 && xs[0].rank() == 2) return {M::clone(xs[0])};
                return multi_dot("chain_matmul", xs, 1, false);
              },
              {.places = kFunction, .autocast = Autocast::narrow, .doc = doc});
}

}  // namespace

void add_products_definitions(Definitions& r) {
  add_of_two(r);
  add_sums(r);
  add_chains(r);
}

}  // namespace lathe
