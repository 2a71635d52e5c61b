// PyTorch's other ways to call a definition: overloads under the same public name whose expansion
// converts their arguments and calls it. A call that needs none of them never meets them.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>

#include "core/infer/rules.h"
#include "core/ops/losses.h"
#include "core/ops/names.h"

namespace lathe {

absl::InlinedVector<int, 6> format_order(std::string_view op, std::string_view format, int rank) {
  if (format == "contiguous_format" || format == "preserve_format") return {};
  const int axes = format == "channels_last" ? 4 : format == "channels_last_3d" ? 5 : 0;
  if (axes == 0)
    throw ValueError(
        {.op = std::string(op),
         .problem = "there is no such memory format",
         .got = std::string(format),
         .expected = "contiguous_format, preserve_format, channels_last or channels_last_3d",
         .next = "take one of lathe.contiguous_format and its like"});
  if (rank != axes)
    throw ShapeError({.op = std::string(op),
                      .problem = "this memory format is for another number of axes",
                      .got = absl::StrCat(rank, " axes"),
                      .expected = absl::StrCat(axes, " axes for ", format),
                      .next = "leave memory_format out, or reshape the tensor first"});
  absl::InlinedVector<int, 6> order{0};
  for (int axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

Tensor in_format(std::string_view op, const Tensor& x, const Arg& memory_format, bool copy) {
  using Shapes = shape_ops<Tensor>;
  auto row_major = [copy](const Tensor& t) {
    return copy ? math_ops<Tensor>::clone(t) : Shapes::contiguous(t);
  };
  if (memory_format.none()) return row_major(x);
  const auto order = format_order(op, memory_format.text_, x.rank());
  if (order.empty()) return row_major(x);
  if (!copy && x.geometry().permute(order).is_row_major()) return x;
  Shape there, back(order.size(), Int(0));
  for (size_t i = 0; i < order.size(); ++i) {
    there.push_back(Int(order[i]));
    back[static_cast<size_t>(order[i])] = Int(static_cast<int64_t>(i));
  }
  return Shapes::permute(row_major(Shapes::permute(x, there)), back);
}

namespace {

using namespace names;

Extra also(Extra e, std::vector<std::string_view> names) {
  e.also = std::move(names);
  return e;
}

/// Adds `schema`, whose parameters stand in another order than those of the definition `target` and
/// are handed to it by name. Its parameters size_average and reduce, if given, decide `reduction`.
void add_order(Definitions& r, std::string_view schema, std::string_view target, uint8_t places) {
  const Op* op = r.find(target);
  LATHE_CHECK(op != nullptr);
  Schema form = parse_schema(schema);
  absl::InlinedVector<int, 8> from;
  for (const Param& p : op->schema.params) from.push_back(form.find(p.name));
  const int average = form.find("size_average"), reduce = form.find("reduce");
  const int reduction = op->schema.find("reduction"), given = form.find("reduction");
  const bool number =
      given >= 0 && form.params[static_cast<size_t>(given)].type == ArgType::integer;
  auto expand = [op, from, average, reduce, reduction, given, number](Args a) -> Outputs {
    absl::InlinedVector<Arg, 8> args;
    for (size_t i = 0; i < from.size(); ++i)
      args.push_back(from[i] < 0 ? op->schema.params[i].default_value[0]
                                 : a[static_cast<size_t>(from[i])]);
    if (average >= 0 && !(a.none(average) && a.none(reduce)))
      args[static_cast<size_t>(reduction)] =
          Arg(legacy_reduction(a[static_cast<size_t>(average)], a[static_cast<size_t>(reduce)]));
    if (number)
      args[static_cast<size_t>(reduction)] =
          Arg(numbered_reduction(op->public_name(), a.integer(given)));
    return call(*op, absl::MakeConstSpan(args));
  };
  Extra e{.places = places, .moves = true, .autocast = op->extra.autocast, .doc = op->extra.doc};
  e.inplace_argument = false;
  r.composite(schema, expand, std::move(e));
}

// ── arithmetic ──────────────────────────────────────────────────────────────────────────────────

Outputs div_rounded(Args a) {
  if (a.none(2)) return {M::div(a[0], a[1])};
  std::string_view mode = a.text(2);
  if (mode == "floor") return {M::div_floor(a[0], a[1])};
  if (mode != "trunc")
    throw ValueError({.op = "div",
                      .problem = "an unknown rounding mode",
                      .got = absl::StrCat("'", mode, "'"),
                      .expected = "None, 'trunc' or 'floor'",
                      .next = "leave the argument out for a quotient that is not rounded"});
  return {M::div_trunc(a[0], a[1])};
}

Outputs round_decimals(Args a) {
  Tensor x = a.tensor(0);
  const Int decimals = a.integer(1);
  if (!is_floating(x.dtype())) return {M::round(x)};
  if (decimals == Int(0)) return {M::round(x)};
  const int64_t digits = decimals.value();
  double scale = 1;
  for (int64_t i = 0; i < std::min<int64_t>(std::abs(digits), 400); ++i) scale *= 10;
  if (digits > 0) return {M::div(M::round(M::mul(x, scale)), scale)};
  return {M::mul(M::round(M::div(x, scale)), scale)};
}

/// alpha * other, where alpha is a tensor without axes, as complex numbers come.
Arg scaled_by_tensor(std::string_view op, Args a, Tensor& kept) {
  const Tensor alpha = a.tensor(2);
  const DType common = result_type(Args(a.begin(), 2));
  if (alpha.rank() != 0 || category(common) < category(alpha.dtype()))
    throw DTypeError({.op = std::string(op),
                      .problem = "alpha is no number of the operands' kind",
                      .got = absl::StrCat("alpha: ", to_string(type_of(alpha))),
                      .expected = absl::StrCat("a number for ", name(common)),
                      .next = "multiply: input + alpha * other"});
  kept = M::mul(a[1].tag == Tag::tensor ? Arg(M::cast(a.tensor(1), common)) : a[1], alpha);
  return Arg(kept);
}

/// alpha * other: a number if both are, as Python would give it.
Arg scaled(std::string_view op, Args a, Tensor& kept) {
  if (a[2].tag == Tag::tensor) return scaled_by_tensor(op, a, kept);
  const bool integers = std::all_of(a.begin(), a.begin() + 2, [](const Arg& x) {
    return x.tag == Tag::tensor ? category(x.tensor_->dtype) < 2 : x.tag != Tag::real;
  });
  if (integers && a[2].tag == Tag::real)
    throw DTypeError({.op = std::string(op),
                      .problem = "alpha is a float where both operands are integers",
                      .got = absl::StrCat("alpha=", to_string(a[2])),
                      .expected = "an integer",
                      .next = "convert an operand with .to(lathe.float32)"});
  if (a[1].tag == Tag::tensor) {
    // In what the sum is computed in: a small integer would wrap round.
    const DType common = result_type(Args(a.begin(), 2));
    const Tensor other = a.tensor(1);
    Arg alpha = a[2];
    if (common == DType::bool_ && alpha.tag == Tag::integer) alpha = Arg(alpha.integer() != Int(0));
    kept = M::mul(other.dtype() == common ? other : M::cast(other, common), alpha);
    return Arg(kept);
  }
  if (a[1].tag == Tag::real || a[2].tag == Tag::real) return Arg(a.real(1) * a.real(2));
  return Arg(a.integer(1) * a.integer(2));
}

void add_arithmetic(Definitions& r) {
  const auto add = [](Args a) -> Outputs {
    Tensor kept;
    return {M::add(a[0], scaled("add", a, kept))};
  };
  const auto subtract = [](Args a) -> Outputs {
    Tensor kept;
    return {M::sub(a[0], scaled("sub", a, kept))};
  };
  const auto reversed = [subtract](Args a) {
    const Arg swapped[] = {a[1], a[0], a[2]};
    return subtract(Args(swapped, 3));
  };
  const Extra sum{.inplace = true, .numbers_alone = true, .doc = "input + alpha * other."};
  Extra difference = sum;
  difference.also = {"subtract"};
  difference.doc = "input - alpha * other.";
  const Extra from{.doc = "other - alpha * input."};
  const std::string_view operands = "(Tensor|Scalar input, Tensor|Scalar other, *, ";
  r.composite(absl::StrCat("add.alpha", operands, "Scalar alpha) -> Tensor"), add, sum);
  r.composite(absl::StrCat("sub.alpha", operands, "Scalar alpha) -> Tensor"), subtract, difference);
  r.composite("subtract.scalar(Tensor input, Scalar other, Scalar alpha) -> Tensor", subtract,
              {.inplace = true, .doc = "input - alpha * other."});
  r.composite("rsub(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor", reversed, from);
  r.composite("rsub.scalar(Tensor input, Scalar other, Scalar alpha=1) -> Tensor", reversed, from);
  // Of a factor that is a tensor without axes, as complex numbers come.
  const std::string_view factor = "Tensor|Scalar alpha) -> Tensor";
  r.composite(absl::StrCat("add.scaled", operands, factor), add, sum);
  r.composite(absl::StrCat("sub.scaled", operands, factor), subtract, difference);
  r.composite(absl::StrCat("rsub.scaled(Tensor input, Tensor|Scalar other, *, ", factor), reversed,
              from);
  r.composite(
      "div.rounding_mode(Tensor|Scalar input, Tensor|Scalar other, *, str? rounding_mode) -> "
      "Tensor",
      div_rounded,
      {.also = {"divide"},
       .inplace = true,
       .numbers_alone = true,
       .doc = "The quotient, rounded towards zero ('trunc') or down ('floor')."});
  r.composite("round.decimals(Tensor input, *, int decimals) -> Tensor", round_decimals,
              {.also = {"special.round"},
               .inplace = true,
               .doc = "Rounded to so many decimals, which may be negative; ties to even."});
  r.composite(
      "clone.memory_format(Tensor input, *, str? memory_format) -> Tensor",
      [](Args a) -> Outputs { return {in_format("clone", a.tensor(0), a[1], true)}; },
      moving("A copy of x."));
  r.composite(
      "contiguous.memory_format(Tensor input, *, str? memory_format) -> Tensor",
      [](Args a) -> Outputs { return {in_format("contiguous", a.tensor(0), a[1], false)}; },
      moving("x itself if its elements lie in row-major order, else a copy.", kMethod));
}

// ── creation ────────────────────────────────────────────────────────────────────────────────────

/// A tensor without axes as the value everywhere: what has a history keeps it, and complex numbers
/// come so.
Outputs fill_with(const Op& op, const Shape& size, const Tensor& value, const Arg& dtype,
                  const Arg& device) {
  if (value.rank() != 0)
    throw ShapeError({.op = op.name(),
                      .problem = "the value is one number",
                      .got = to_string(value.shape()),
                      .expected = "a number, or a tensor without axes",
                      .next = "use expand() for more values"});
  if (!device.none())
    require_one_device(op.name(), "value and result", value.device(), device.device_);
  return {M::clone(S::expand(dtype.none() ? value : M::cast(value, dtype.dtype_), size))};
}

void add_creation_forms(Definitions& r) {
  const Op *full = r.find("full"), *full_like = r.find("full_like");
  r.composite(
      "full.tensor(int[] size, Tensor fill_value, *, dtype? dtype=None, device? device=None) -> "
      "Tensor",
      [full](Args a) { return fill_with(*full, a.ints(0), a.tensor(1), a[2], a[3]); },
      moving(full->extra.doc, kFunction));
  r.composite(
      "full_like.tensor(Tensor input, Tensor fill_value, *, dtype? dtype=None, "
      "device? device=None) -> Tensor",
      [full_like](Args a) {
        return fill_with(*full_like, a.shape(0), a.tensor(1), like_dtype(a, 2), like_device(a, 3));
      },
      moving(full_like->extra.doc, kFunction));
}

// ── reductions ──────────────────────────────────────────────────────────────────────────────────

/// PyTorch's unbiased=, for var, std and the like: whether the divisor is count - 1.
void add_unbiased(Definitions& r, std::string_view name) {
  const Op* op = r.find(name);
  std::string_view gives = std::string_view(op->schema.text).substr(op->schema.text.find("->"));
  auto with = [op](const Arg& x, const Arg& dim, bool unbiased, const Arg& keepdim) {
    const Arg args[] = {x, dim, Arg(Int(unbiased ? 1 : 0)), keepdim};
    return call(*op, Args(args, 4));
  };
  r.composite(
      absl::StrCat(name, ".dim(Tensor input, int[]? dim, bool unbiased=True, bool keepdim=False) ",
                   gives),
      [with](Args a) { return with(a[0], a[1], a.flag(2), a[3]); }, moving(op->extra.doc));
  r.composite(
      absl::StrCat(name, ".unbiased(Tensor input, bool unbiased) ", gives),
      [with](Args a) { return with(a[0], Arg(), a.flag(1), Arg(false)); }, moving(op->extra.doc));
}

/// Adds the overload `<name>.dtype`, which takes the keyword-only argument `dtype` and converts the
/// first operand to it before it calls `name`.
void add_dtype_form(Definitions& r, std::string_view name) {
  const Op* op = r.find(name);
  LATHE_CHECK(op != nullptr && op->schema.params.back().name != "dtype");
  std::string_view text = op->schema.text;
  size_t open = text.find('('), close = text.rfind(") ->");
  const bool keywords = op->schema.positional() < op->schema.params.size();
  Extra extra{.no_grad = op->extra.no_grad,
              .places = op->extra.places,
              .also = op->extra.also,
              .inplace = op->kind == Kind::scan,
              .moves = true,
              .autocast = op->extra.autocast,
              .doc = op->extra.doc};
  auto convert_first = [op](Args args) -> Outputs {
    absl::InlinedVector<Arg, 8> rest(args.begin(), args.end() - 1);
    const auto last = static_cast<int>(args.size()) - 1;
    if (args.none(last)) return call(*op, absl::MakeConstSpan(rest));
    const DType asked = args.dtype(last);
    const Tensor converted = M::cast(args.tensor(0), asked);
    rest[0] = Arg(converted);
    Outputs results = call(*op, absl::MakeConstSpan(rest));
    // Sums of small integers and of bool are int64 by themselves.
    if (category(asked) < 2 && category(results[0].dtype()) < 2) {
      results[0] = M::cast(results[0], asked);
    } else if (results[0].dtype() != asked) {
      throw DTypeError({.op = std::string(op->public_name()),
                        .problem = "there are no results of this dtype",
                        .got = absl::StrCat("dtype=", lathe::name(asked)),
                        .expected = "a floating dtype"});
    }
    return results;
  };
  r.composite(absl::StrCat(name, ".dtype", text.substr(open, close - open), keywords ? "" : ", *",
                           ", dtype? dtype", text.substr(close)),
              convert_first, std::move(extra));
}

void add_reductions(Definitions& r) {
  for (std::string_view name : {"sum", "mean", "prod", "cumsum", "cumprod"})
    add_dtype_form(r, name);
  for (std::string_view name : {"var", "std", "var_mean", "std_mean"}) add_unbiased(r, name);
  r.composite(
      "max(Tensor input) -> Tensor", [](Args a) -> Outputs { return {R::amax(a.tensor(0))}; },
      moving("The largest element; NaN if one is NaN."));
  r.composite(
      "min(Tensor input) -> Tensor", [](Args a) -> Outputs { return {R::amin(a.tensor(0))}; },
      moving("The smallest element; NaN if one is NaN."));
  r.composite(
      "max.other(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {M::maximum(a[0], a[1])}; },
      moving("The larger of the two, element by element; NaN if either is NaN."));
  r.composite(
      "min.other(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {M::minimum(a[0], a[1])}; },
      moving("The smaller of the two, element by element; NaN if either is NaN."));
}

// ── creation ────────────────────────────────────────────────────────────────────────────────────

/// <name>(Tensor input, *, dtype, device): of its shape, dtype and device unless others are given.
template <auto& Make>
void add_like(Definitions& r, std::string_view name, std::string_view doc) {
  Extra e = moving(doc, kFunction);
  e.no_grad = true;
  r.composite(
      absl::StrCat(name, "(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor"),
      [](Args a) -> Outputs { return {Make(a.shape(0), like_dtype(a, 1), like_device(a, 2))}; }, e);
}

void add_creation(Definitions& r) {
  Extra creates = moving({}, kFunction);
  creates.no_grad = true;
  auto with = [&](std::string_view doc) {
    Extra e = creates;
    e.doc = doc;
    return e;
  };
  r.composite(
      "arange.end(Scalar end, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::arange(0, a[0], 1, a[1], a[2])}; },
      with("0, 1, ... below end."));
  r.composite(
      "randint.high(int high, int[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::randint(0, a.integer(0), a.ints(1), a[2], a[3])}; },
      with("Uniform integers in [0, high)."));
  r.composite(
      "empty(int[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::zeros(a.ints(0), a[1], a[2])}; },
      with("Zeros; uninitialised memory is never exposed."));
  add_like<C::zeros>(r, "empty_like", "Zeros; uninitialised memory is never exposed.");
  add_like<C::rand>(r, "rand_like", "Uniform in [0, 1), of the shape of input.");
  add_like<C::randn>(r, "randn_like", "Normal with mean 0 and variance 1, of the shape of input.");
  for (const bool from : {false, true})
    r.composite(
        absl::StrCat("randint_like", from ? ".low(Tensor input, int low, " : "(Tensor input, ",
                     "int high, *, dtype? dtype=None, device? device=None) -> Tensor"),
        [from](Args a) -> Outputs {
          const int at = from ? 3 : 2;
          return {C::randint(from ? a.integer(1) : Int(0), a.integer(at - 1), a.shape(0),
                             like_dtype(a, at), like_device(a, at + 1))};
        },
        with("Whole numbers from low to high - 1, of the shape of input."));
  r.composite("bernoulli(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                Tensor p = a.tensor(0);
                const DType d = compute_type(p.dtype());  // in halves 1 could be drawn
                Tensor y = C::bernoulli_of(C::rand(p.shape(), d, p.device()), M::cast(p, d));
                return {d == p.dtype() ? y : M::cast(y, p.dtype())};
              },
              {.no_grad = true,
               .version = 2,  // the first had the name for bernoulli.size
               .draws = true,
               .doc = "1 with the probability that input has there, else 0. One outside "
                      "of [0, 1] is a ValueError."});
  r.composite("bernoulli.p(Tensor input, float p) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                return {C::bernoulli(x.shape(), a.real(1), x.dtype(), x.device())};
              },
              {.no_grad = true,
               .draws = true,
               .moves = true,
               .doc = "1 with probability p, else 0; of the shape and dtype of input."});
}

// ── indexing and sorting ────────────────────────────────────────────────────────────────────────

void add_indexing(Definitions& r) {
  Extra inplace = moving("input with value written at index along dim.");
  inplace.inplace = true;
  r.composite(
      "scatter.value(Tensor input, int dim, Tensor index, Scalar value) -> Tensor",
      [](Args a) -> Outputs { return {I::scatter(a.tensor(0), a.integer(1), a.tensor(2), a[3])}; },
      inplace);
  Extra adds{.inplace = true,
             .doc = "input with alpha * source added to the slices that index names along dim."};
  r.composite(
      "index_add.alpha(Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha) -> "
      "Tensor",
      [](Args a) -> Outputs {
        Tensor source = M::cast(M::mul(a.tensor(3), a[4]), a.tensor(3).dtype());
        return {I::index_add(a.tensor(0), a.integer(1), a.tensor(2), source)};
      },
      adds);
  r.composite(
      "gather.sparse_grad(Tensor input, int dim, Tensor index, *, bool sparse_grad) -> "
      "Tensor",
      [](Args a) -> Outputs {
        require_off("gather", "sparse_grad", a[3]);
        return {I::gather(a.tensor(0), a.integer(1), a.tensor(2))};
      },
      moving("As gather; sparse gradients do not exist."));
  r.composite(
      "sort.stable(Tensor input, *, bool? stable, int dim=-1, bool descending=False) -> "
      "(Tensor values, Tensor indices)",
      [](Args a) -> Outputs {
        auto [values, indices] = I::sort(a.tensor(0), a.integer(2), a.flag(3));
        return {values, indices};
      },
      moving("As sort, which is always stable."));
  Extra order = moving("As argsort, which is always stable.");
  order.no_grad = true;
  r.composite(
      "argsort.stable(Tensor input, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
      [](Args a) -> Outputs { return {I::argsort(a.tensor(0), a.integer(2), a.flag(3))}; }, order);
  r.composite(
      "topk.sorted(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True) "
      "-> (Tensor values, Tensor indices)",
      [](Args a) -> Outputs {
        auto [values, indices] = I::topk(a.tensor(0), a.integer(1), a.integer(2), a.flag(3));
        return {values, indices};
      },
      moving("As topk, whose results are always in order."));
}

// ── networks ────────────────────────────────────────────────────────────────────────────────────

/// F.softmax without dim: PyTorch takes axis 0 of 0, 1 or 3 axes, else axis 1.
Int implicit_axis(const Arg& dim, int rank) {
  if (!dim.none()) return dim.integer();
  return Int(rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
}

void add_softmax_form(Definitions& r, std::string_view name) {
  add_dtype_form(r, name);
  const Op* op = r.find(absl::StrCat(name, ".dtype"));
  auto expand = [op](Args a) {
    const Arg args[] = {a[0], Arg(implicit_axis(a[1], a.tensor(0).rank())), a[3]};
    return call(*op, Args(args, 3));
  };
  r.composite(absl::StrCat(name,
                           ".functional(Tensor input, int? dim=None, int _stacklevel=3, dtype? "
                           "dtype=None) -> Tensor"),
              expand, moving(op->extra.doc, kFunctional));
  // The function and the method of PyTorch take dtype by position too.
  r.composite(
      absl::StrCat(name, ".int(Tensor input, int dim, dtype? dtype) -> Tensor"),
      [op](Args a) { return call(*op, a); }, also(moving(op->extra.doc), op->extra.also));
}

/// The losses outside of nn.functional, whose reduction is a number.
void add_numbered_losses(Definitions& r) {
  constexpr std::pair<std::string_view, std::string_view> kForms[] = {
      {"hinge_embedding_loss", "(Tensor input, Tensor target, float margin=1.0"},
      {"margin_ranking_loss", "(Tensor input1, Tensor input2, Tensor target, float margin=0.0"},
      {"cosine_embedding_loss", "(Tensor input1, Tensor input2, Tensor target, float margin=0.0"},
      {"triplet_margin_loss",
       "(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
       "eps=1e-06, bool swap=False"},
  };
  for (const auto& [name, arguments] : kForms)
    add_order(r, absl::StrCat(name, ".numbered", arguments, ", int reduction=1) -> Tensor"), name,
              kFunction);
  add_order(r,
            "kl_div.numbered(Tensor input, Tensor target, int reduction=1, *, bool "
            "log_target=False) -> Tensor",
            "kl_div", kFunction);
  add_order(r,
            "binary_cross_entropy_with_logits.numbered(Tensor input, Tensor target, Tensor? "
            "weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor",
            "binary_cross_entropy_with_logits", kFunction);
  add_order(r,
            "poisson_nll_loss.numbered(Tensor input, Tensor target, bool log_input, bool full, "
            "float eps, int reduction) -> Tensor",
            "poisson_nll_loss", kFunction);
  for (std::string_view form : {"Tensor", "int[]"})
    add_order(r,
              absl::StrCat("ctc_loss.numbered", form == "Tensor" ? "" : "_lists",
                           "(Tensor log_probs, Tensor targets, ", form, " input_lengths, ", form,
                           " target_lengths, int blank=0, int reduction=1, bool "
                           "zero_infinity=False) -> Tensor"),
              form == "Tensor" ? "ctc_loss" : "ctc_loss.lists", kFunction);
}

void add_networks(Definitions& r) {
  add_numbered_losses(r);
  for (std::string_view name : {"softmax", "log_softmax"}) add_softmax_form(r, name);
  add_order(r,
            "batch_norm.functional(Tensor input, Tensor(!)? running_mean, Tensor(!)? running_var, "
            "Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, "
            "float eps=1e-05) -> Tensor",
            "batch_norm", kFunctional);
  add_order(r,
            "mse_loss.legacy(Tensor input, Tensor target, bool? size_average=None, bool? "
            "reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
            "mse_loss", kFunctional);
  add_order(r,
            "l1_loss.legacy(Tensor input, Tensor target, bool? size_average=None, bool? "
            "reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
            "l1_loss", kFunctional);
  add_order(r,
            "nll_loss.legacy(Tensor input, Tensor target, Tensor? weight=None, bool? "
            "size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean') -> "
            "Tensor",
            "nll_loss", kFunctional);
  add_order(r,
            "cross_entropy.legacy(Tensor input, Tensor target, Tensor? weight=None, bool? "
            "size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean', "
            "float label_smoothing=0.0) -> Tensor",
            "cross_entropy", kFunctional);
  add_order(r,
            "binary_cross_entropy_with_logits.legacy(Tensor input, Tensor target, Tensor? "
            "weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean', "
            "Tensor? pos_weight=None) -> Tensor",
            "binary_cross_entropy_with_logits", kFunctional);
}

}  // namespace

void add_form_definitions(Definitions& r) {
  add_arithmetic(r);
  add_reductions(r);
  add_creation(r);
  add_creation_forms(r);
  add_indexing(r);
  add_networks(r);
}

}  // namespace lathe
