// lathe.masked: reductions, scans and normalisations of the elements at which a mask is true. The
// others take the value that changes nothing, and do not count.
#include <absl/strings/str_cat.h>

#include <deque>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/moments.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// The arguments that a definition of this file has by the same name.
struct Masked {
  Tensor x, mask;  // mask: undefined if all elements count
  Shape dims;
  bool keep = false;

  Masked(const Op& op, Args a) : x(a.tensor(0)) {
    const int dim = op.schema.find("dim"), keepdim = op.schema.find("keepdim");
    const int dtype = op.schema.find("dtype"), given = op.schema.find("mask");
    if (!a.none(dtype)) x = M::cast(x, a[static_cast<size_t>(dtype)]);
    if (!a.none(dim)) dims = a.ints(dim);
    if (keepdim >= 0) keep = a.flag(keepdim);
    if (a.none(given)) return;
    mask = a.tensor(given);
    if (mask.dtype() != DType::bool_)
      throw DTypeError({.op = std::string(op.public_name()),
                        .problem = "the mask is not of bool",
                        .got = absl::StrCat("a mask of ", name(mask.dtype())),
                        .expected = "a mask of bool",
                        .next = "compare it: mask != 0"});
    mask = S::expand(mask, x.shape());
  }
  /// x with this number where it does not count.
  Tensor filled(const Arg& number) const { return mask.defined() ? M::where(mask, x, number) : x; }
  /// x with the lowest or the highest number of its dtype where it does not count.
  Tensor bounded(bool low) const {
    if (!is_integer(x.dtype())) return filled(Arg(low ? -kInfinity : kInfinity));
    // An infinity as an integer is the last one on that side.
    Tensor bound = M::cast(C::full({}, low ? -kInfinity : kInfinity, DType::f64), x.dtype());
    return filled(Arg(bound));
  }
  Tensor count() const {
    Tensor all = mask.defined() ? mask : C::ones(x.shape(), DType::bool_, x.device());
    return M::cast(R::sum(all, dims, keep), real_type(x.dtype()));
  }
  Int dim() const { return dims[0]; }
};

using Rule = Tensor (*)(const Masked&, Args);

Tensor mean_of(const Masked& m) {
  if (category(m.x.dtype()) < 2)
    throw DTypeError({.op = "masked.mean",
                      .problem = "the mean of integers is no integer",
                      .got = std::string(name(m.x.dtype())),
                      .expected = "a floating dtype",
                      .next = "give dtype=lt.float32"});
  return M::div(R::sum(m.filled(0), m.dims, m.keep), m.count());
}

/// Arguments from 2 on: unbiased, correction.
Tensor variance(const Masked& given, Args a) {
  Masked m = given;
  m.x = as_float(m.x);
  const Tensor apart = centred(m.x, [&given](const Tensor& t) {
    Masked of = given;
    of.x = t;
    of.keep = true;
    return mean_of(of);
  });
  m.x = is_complex(m.x.dtype()) ? M::mul(apart, conjugate(apart)) : M::square(apart);
  Arg less(1);
  if (!a.none(2)) less = Arg(a.flag(2) ? 1 : 0);
  if (!a.none(3)) less = a[3];
  Tensor total = R::sum(m.filled(0), m.dims, m.keep);
  return M::div(total, M::clamp_min(M::sub(m.count(), less), 0));
}

Tensor norm_of(const Masked& m, const Arg& p) {
  const bool lowest_counts = Args(&p, 1).real(0) == -kInfinity;
  return R::norm(m.filled(lowest_counts ? Arg(kInfinity) : Arg(0)), p, m.dims, m.keep);
}

/// Unlike sums and lathe.cumsum, running sums of integers stay in their dtype, as in PyTorch.
Tensor in_own_dtype(const Masked& m, const Tensor& found) {
  return is_integer(m.x.dtype()) ? M::cast(found, m.x.dtype()) : found;
}

Tensor median_of(const Masked& m) {
  const Tensor x = m.filled(kNaN);
  const Arg args[] = {Arg(x), Arg(m.dim()), Arg(m.keep)};
  return call(get_op("nanmedian.dim"), Args(args, 3))[0];
}

struct Definition {
  std::string_view name, parameters;
  Rule rule;
  std::string_view doc;
};

constexpr std::string_view kReduction = "int[]? dim=None, *, bool keepdim=False";
constexpr std::string_view kPick = "int? dim=None, *, bool keepdim=False";
constexpr std::string_view kAlong = "int dim, *";
constexpr std::string_view kSpread =
    "int[]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool keepdim=False";

/// argmax and argmin, which have one axis or none; as in PyTorch in the dtype of the input, or in
/// the one that is asked for.
template <auto& Pick, bool kLow>
Tensor place(const Masked& m, Args a) {
  return M::cast(Pick(m.bounded(kLow), a[1], m.keep), m.x.dtype());
}

constexpr Definition kDefinitions[] = {
    {"sum", kReduction, [](const Masked& m, Args) { return R::sum(m.filled(0), m.dims, m.keep); },
     "Sum"},
    {"prod", kReduction, [](const Masked& m, Args) { return R::prod(m.filled(1), m.dims, m.keep); },
     "Product"},
    {"mean", kReduction, [](const Masked& m, Args) { return mean_of(m); }, "Mean (NaN of none)"},
    {"amax", kReduction,
     [](const Masked& m, Args) { return R::amax(m.bounded(true), m.dims, m.keep); }, "The largest"},
    {"amin", kReduction,
     [](const Masked& m, Args) { return R::amin(m.bounded(false), m.dims, m.keep); },
     "The smallest"},
    {"argmax", kPick, place<R::argmax, true>, "The place of the largest"},
    {"argmin", kPick, place<R::argmin, false>, "The place of the smallest"},
    {"var", kSpread, variance, "Variance"},
    {"std", kSpread, [](const Masked& m, Args a) { return M::sqrt(variance(m, a)); },
     "Standard deviation"},
    {"median", "int dim=-1, *, bool keepdim=False",
     [](const Masked& m, Args) { return median_of(m); }, "Median (NaN of none)"},
    {"logsumexp", kReduction,
     [](const Masked& m, Args) { return R::logsumexp(m.filled(-kInfinity), m.dims, m.keep); },
     "log(sum(exp(x)))"},
    {"norm", "float ord=2.0, int[]? dim=None, *, bool keepdim=False",
     [](const Masked& m, Args a) { return norm_of(m, a[1]); }, "The ord-norm"},
    {"cumsum", kAlong,
     [](const Masked& m, Args) { return in_own_dtype(m, R::cumsum(m.filled(0), m.dim())); },
     "Running sum"},
    {"cumprod", kAlong,
     [](const Masked& m, Args) { return in_own_dtype(m, R::cumprod(m.filled(1), m.dim())); },
     "Running product"},
    {"softmax", kAlong,
     [](const Masked& m, Args) { return N::softmax(m.filled(-kInfinity), m.dim()); }, "softmax"},
    {"log_softmax", kAlong,
     [](const Masked& m, Args) { return N::log_softmax(m.filled(-kInfinity), m.dim()); },
     "log_softmax"},
    {"softmin", kAlong,
     [](const Masked& m, Args) { return N::softmax(M::neg(m.filled(kInfinity)), m.dim()); },
     "softmax of -x"},
    {"normalize", "float ord, int dim, *, float eps=1e-12",
     [](const Masked& given, Args a) {
       Masked m = given;
       m.keep = true;
       return M::div(m.filled(0), M::clamp_min(norm_of(m, a[1]), a[3]));
     },
     "x / max(norm, eps)"},
};

}  // namespace

void add_masked_definitions(Definitions& r) {
  static auto& texts = *new std::deque<std::string>;
  for (const Definition& d : kDefinitions) {
    const std::string_view public_name = texts.emplace_back(absl::StrCat("masked.", d.name));
    const std::string_view doc = texts.emplace_back(
        absl::StrCat(d.doc, " along dim of the elements at which mask is true."));
    const std::string own = absl::StrCat("masked_", d.name);
    auto expand = [own, rule = d.rule](Args a) -> Outputs {
      return {rule(Masked(get_op(own), a), a)};
    };
    const bool picks = d.name.substr(0, 3) == "arg";
    r.composite(absl::StrCat(own, "(Tensor input, ", d.parameters,
                             ", dtype? dtype=None, Tensor? mask=None) -> Tensor"),
                expand, {.no_grad = picks, .places = kNowhere, .also = {public_name}, .doc = doc});
  }
  r.composite(
      "masked_logaddexp(Tensor input, Tensor other, *, dtype? dtype=None, Tensor? input_mask=None, "
      "Tensor? other_mask=None) -> Tensor",
      [](Args a) -> Outputs {
        auto term = [&](int x, int mask) {
          Tensor t = as_float(a.tensor(x));
          if (!a.none(2)) t = M::cast(t, a[2]);
          return a.none(mask) ? t : M::where(a.tensor(mask), t, -kInfinity);
        };
        Tensor both = S::stack({S::expand(term(0, 3), a.shape(0)), term(1, 4)});
        return {R::logsumexp(both, {Int(0)})};
      },
      {.places = kNowhere,
       .also = {"masked.logaddexp"},
       .doc = "log(exp(input) + exp(other)), of those at which their masks are true."});
}

}  // namespace lathe
