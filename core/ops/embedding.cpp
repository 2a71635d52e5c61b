// Rows of a table by index, and sums of bags of them.
#include <absl/strings/str_cat.h>

#include <limits>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Tensor without_history(const Tensor& x) {
  GradMode no_grad(false);
  return M::clone(x);
}

void require_table(std::string_view op, const Tensor& weight) {
  if (weight.rank() == 2) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "the weight is not a matrix",
                    .got = to_string(type_of(weight)),
                    .expected = "weight[rows, features]",
                    .next = "use index_select() for other ranks"});
}

/// The row that is not trained, as a number from 0; None as it is.
Arg padding_row(std::string_view op, const Arg& given, const Tensor& weight) {
  if (given.none()) return given;
  const Int padding = given.integer(), count = weight.size(0);
  if (!require(Relation::lt, padding, count) || !require(Relation::le, -count, padding))
    throw ValueError({.op = std::string(op),
                      .problem = "padding_idx is outside of the weight's rows",
                      .got = to_string(padding),
                      .expected = absl::StrCat("-", to_string(count), " to ", to_string(count - 1)),
                      .next = "leave it out where no row is padding"});
  return Arg(padding < Int(0) ? padding + count : padding);
}

/// How often each index is among all of them, in its place.
Tensor frequencies(const Tensor& index, const Tensor& weight) {
  Tensor flat = S::reshape(index, {index.numel()});
  Tensor ones = C::ones({index.numel()}, weight.dtype(), weight.device());
  Tensor zeros = C::zeros({weight.size(0)}, weight.dtype(), weight.device());
  return I::index_select(I::index_add(zeros, 0, flat, ones), 0, index);
}

/// Rows by index; the row `padding` takes no gradient, and that of the others is divided by how
/// often they are asked for if `by_frequency`.
Tensor rows_of(const Tensor& weight, const Tensor& index, const Arg& padding, bool by_frequency) {
  Tensor rows = I::index_select(weight, 0, index);
  if (padding.none() && !by_frequency) return rows;
  Tensor constant = without_history(rows);
  if (by_frequency) {
    Tensor share = S::unsqueeze(M::reciprocal(frequencies(index, weight)), -1);
    rows = M::add(M::mul(M::sub(rows, constant), share), constant);
  }
  if (padding.none()) return rows;
  return M::where(S::unsqueeze(M::eq(index, padding), -1), constant, rows);
}

/// Rows of weight that index names, and that are longer than `most`, shortened where they stand.
void shorten(const Tensor& weight, const Tensor& index, const Arg& most, Real p) {
  constexpr double kSmall = 1e-7;  // as in PyTorch: keeps what is left below `most`
  GradMode no_grad(false);
  Tensor flat = S::reshape(index, {index.numel()});
  Tensor rows = as_float(I::index_select(weight, 0, flat));
  Tensor length = R::norm(M::cast(rows, compute_type(rows.dtype())), p, {Int(-1)}, true);
  Tensor scale = M::div(most, M::add(length, kSmall));
  Tensor now = M::where(M::gt(length, most), M::mul(rows, scale), rows);
  Tensor to = S::expand(S::unsqueeze(flat, 1), rows.shape());
  assign(weight, I::scatter(weight, 0, to, M::cast(now, weight.dtype())));
}

/// input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse (which changes no
/// value: it asks for a sparse layout of the gradient, and there is the strided one only).
Outputs embedding_expansion(Args a) {
  Tensor index = a.tensor(0), weight = a.tensor(1);
  require_table("embedding", weight);
  const Arg padding = padding_row("embedding", a[2], weight);
  if (!a.none(3)) shorten(weight, index, a[3], a.real(4));
  return {rows_of(weight, index, padding, a.flag(5))};
}

// ── bags ────────────────────────────────────────────────────────────────────────────────────────

enum class Mode : uint8_t { sum, mean, max };

Mode bag_mode(std::string_view mode) {
  constexpr std::string_view kModes[] = {"sum", "mean", "max"};
  for (size_t i = 0; i < 3; ++i)
    if (kModes[i] == mode) return static_cast<Mode>(i);
  throw ValueError({.op = "embedding_bag",
                    .problem = "an unknown mode",
                    .got = absl::StrCat("'", mode, "'"),
                    .expected = "'sum', 'mean' or 'max'",
                    .next = "leave the argument out for the mean"});
}

/// What is in the bags: rows [..., features], and which of them count (undefined: all).
struct Bags {
  Tensor rows, counted;
  Mode mode;
};

/// The rows that count and `no` in place of the others.
Tensor counted_rows(const Bags& b, double no) {
  if (!b.counted.defined()) return b.rows;
  return M::where(S::unsqueeze(b.counted, -1), b.rows, no);
}

Tensor ones_of(const Bags& b, const Shape& shape) {
  if (b.counted.defined()) return M::cast(b.counted, b.rows.dtype());
  return C::ones(shape, b.rows.dtype(), b.rows.device());
}

/// total [n, features] divided by what counted in each bag, which may be nothing.
Tensor mean_of(const Tensor& total, const Tensor& count) {
  return M::div(total, S::unsqueeze(M::clamp_min(count, 1.0), -1));
}

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Largest along axis 1 of [n, rows, features]; 0 where no row counts.
Tensor largest_of(const Tensor& rows, const Tensor& counted) {
  if (rows.size(1) == Int(0))
    return C::zeros({rows.size(0), rows.size(2)}, rows.dtype(), rows.device());
  Tensor most = std::get<0>(R::max_dim(rows, 1));
  if (!counted.defined()) return most;
  return M::where(S::unsqueeze(R::any(counted, {Int(1)}), -1), most, 0);
}

/// Bags of one length: rows [n, length, features].
Tensor even_bags(const Bags& b) {
  if (b.mode == Mode::max) return largest_of(counted_rows(b, kLowest), b.counted);
  Tensor total = R::sum(counted_rows(b, 0), {Int(1)});
  if (b.mode == Mode::sum) return total;
  const Shape shape{b.rows.size(0), b.rows.size(1)};
  return mean_of(total, R::sum(ones_of(b, shape), {Int(1)}));
}

/// Rows [m, features] in bags that begin at offsets[n].
Tensor uneven_bags(const Bags& b, const Tensor& offsets) {
  const Int m = b.rows.size(0), n = offsets.size(0);
  const Device device = b.rows.device();
  Tensor place = C::arange(0, m, 1, DType::i64, device);
  Tensor bag = M::sub(I::searchsorted(M::cast(offsets, DType::i64), place, true), 1);
  if (b.mode == Mode::max) {
    Tensor own = M::eq(bag, S::unsqueeze(C::arange(0, n, 1, DType::i64, device), 1));
    if (b.counted.defined()) own = M::logical_and(own, b.counted);
    return largest_of(M::where(S::unsqueeze(own, -1), b.rows, kLowest), own);
  }
  auto added = [&](const Tensor& what) {
    Shape shape = what.shape();
    shape[0] = n;
    return I::index_add(C::zeros(shape, what.dtype(), device), 0, bag, what);
  };
  Tensor total = added(counted_rows(b, 0));
  return b.mode == Mode::sum ? total : mean_of(total, added(ones_of(b, {m})));
}

/// input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
/// per_sample_weights, include_last_offset, padding_idx.
Outputs bag_expansion(Args a) {
  constexpr std::string_view kName = "embedding_bag";
  Tensor index = a.tensor(0), weight = a.tensor(1), offsets = a.optional_tensor(2);
  Tensor per_sample = a.optional_tensor(8);
  require_table(kName, weight);
  const bool even = index.rank() == 2;
  const bool fits =
      even ? !offsets.defined() : index.rank() == 1 && offsets.defined() && offsets.rank() == 1;
  if (!fits)
    throw ValueError({.op = std::string(kName),
                      .problem = "input and offsets do not say what is in which bag",
                      .got = absl::StrCat("input ", to_string(index.shape()), ", offsets ",
                                          offsets.defined() ? to_string(offsets.shape()) : "None"),
                      .expected = "input[n, length] alone, or input[m] and offsets[n]",
                      .next = "offsets say where in a row of indices each bag begins"});
  Bags b{.mode = bag_mode(a.text(6))};
  const Arg padding = padding_row(kName, a[10], weight);
  if (!a.none(3)) shorten(weight, index, a[3], a.real(4));
  b.rows = rows_of(weight, index, padding, a.flag(5));
  if (!padding.none()) b.counted = M::ne(index, padding);
  if (per_sample.defined()) {
    if (b.mode != Mode::sum || !require_equal(per_sample.shape(), index.shape()))
      throw ValueError(
          {.op = std::string(kName),
           .problem = "per_sample_weights are for sums, one for each index",
           .got = absl::StrCat(to_string(per_sample.shape()), ", mode='", a.text(6), "'"),
           .expected = absl::StrCat(to_string(index.shape()), ", mode='sum'"),
           .next = "take mode='sum', or leave them out"});
    b.rows = M::mul(b.rows, S::unsqueeze(per_sample, -1));
  }
  if (even) return {even_bags(b)};
  if (a.flag(9)) offsets = S::slice(offsets, 0, Int(0), offsets.size(0) - 1);
  return {uneven_bags(b, offsets)};
}

}  // namespace

void add_embedding_definitions(Definitions& r) {
  const std::string rest =
      "float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor";
  Extra extra{.places = kFunction,
              .moves = true,
              .doc =
                  "Rows of weight by index; the row padding_idx takes no gradient. The gradient is "
                  "a whole tensor also with sparse=True."};
  r.composite(
      "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
      "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
      [](Args a) {
        const bool padded = Int(0) <= a.integer(2);
        const Arg all[] = {a[1], a[0], padded ? a[2] : Arg(), Arg(), Arg(2.0), a[3], a[4]};
        return embedding_expansion(Args(all, 7));
      },
      extra);
  extra.places = kFunctional;
  r.composite(
      "embedding.functional(Tensor input, Tensor weight, int? padding_idx=None, None "
      "max_norm=None, " +
          rest,
      embedding_expansion, extra);
  extra.doc =
      "Rows of weight by index; those that are longer than max_norm in the norm_type-norm are "
      "shortened before, in weight itself.";
  r.composite(
      "embedding.renorm(Tensor input, Tensor(!) weight, int? padding_idx=None, float max_norm, " +
          rest,
      embedding_expansion, extra);
  const std::string
      before = "(Tensor input, ",
      after =
          ", float norm_type=2, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, "
          "Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) "
          "-> "
          "Tensor";
  extra.moves = false;
  extra.doc =
      "The sum, mean or largest elements of bags of rows of weight: input[n, length] holds n bags, "
      "input[m] holds one behind the other, beginning at offsets[n] (the last of which is the end "
      "if include_last_offset). The row padding_idx counts for nothing.";
  r.composite(absl::StrCat("embedding_bag", before,
                           "Tensor weight, Tensor? offsets=None, None max_norm=None", after),
              bag_expansion, extra);
  r.composite(absl::StrCat("embedding_bag.renorm", before,
                           "Tensor(!) weight, Tensor? offsets=None, float max_norm", after),
              bag_expansion, extra);
}

}  // namespace lathe
