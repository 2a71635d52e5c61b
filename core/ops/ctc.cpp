// Connectionist temporal classification (Graves et al. 2006): the probability of all ways to read a
// sequence of labels, with blanks between them, out of probabilities over time. The forward
// recursion in logarithms, by ordinary ops: so the derivative is theirs, too.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "core/ops/losses.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Reading {
  Tensor log_probs;      // [time, n, classes]
  Tensor targets;        // [n, labels], int64
  Tensor times, labels;  // lengths, [n] each, int64
  Int blank;
  bool batched;
};

[[noreturn]] void misfit(const Tensor& log_probs, const Tensor& targets) {
  throw ShapeError({.op = "ctc_loss",
                    .problem = "the operands do not fit together",
                    .got = absl::StrCat(to_string(log_probs.shape()), " and targets ",
                                        to_string(targets.shape())),
                    .expected = "[time, n, classes], targets [n, labels] or all in one row, and n "
                                "lengths of each; or the same without n",
                    .next = "check the order of the axes: time comes first"});
}

/// Rows of a batch whose labels stand in one row, one target behind the other; `most` in one.
Tensor parted(const Tensor& joined, const Tensor& lengths, Int most) {
  Tensor start = M::sub(R::cumsum(lengths, 0), lengths);
  Tensor place = M::add(S::unsqueeze(start, 1), C::arange(0, most, 1, DType::i64, joined.device()));
  return I::index_select(joined, 0, M::minimum(place, joined.size(0) - 1));
}

/// `most`: labels in one target, if that is known.
Reading reading_of(Args a, const Tensor& times, const Tensor& labels, const Arg& most) {
  Reading r{.log_probs = a.tensor(0), .targets = a.tensor(1), .blank = a.integer(4)};
  const Tensor given = r.log_probs, targets = r.targets;
  r.batched = given.rank() == 3;
  if (given.rank() != 2 && !r.batched) misfit(given, targets);
  if (!r.batched) r.log_probs = S::unsqueeze(given, 1);
  if (!is_integer(targets.dtype()))
    throw DTypeError({.op = "ctc_loss",
                      .problem = "labels must be integers",
                      .got = std::string(name(targets.dtype())),
                      .expected = "int64",
                      .next = "convert with .to(lathe.int64)"});
  const Int n = r.log_probs.size(1);
  auto lengths = [&](const Tensor& t) {
    Tensor flat = M::cast(t.rank() == 0 ? S::unsqueeze(t, 0) : t, DType::i64);
    if (flat.rank() != 1 || !require(Relation::eq, flat.size(0), n)) misfit(given, targets);
    return flat;
  };
  // Picked among those that may be, so that one beyond the time there is is refused.
  const Tensor may_be = C::arange(0, r.log_probs.size(0) + 1, 1, DType::i64, given.device());
  r.times = I::index_select(may_be, 0, lengths(times));
  r.labels = lengths(labels);
  r.targets = M::cast(targets, DType::i64);
  if (!r.batched && targets.rank() == 1)
    r.targets = S::unsqueeze(r.targets, 0);
  else if (targets.rank() == 1 && targets.size(0) > Int(0))
    r.targets = parted(r.targets, r.labels, most.none() ? targets.size(0) : most.integer());
  else if (targets.rank() == 1)
    r.targets = C::zeros({n, Int(0)}, DType::i64, targets.device());
  if (r.targets.rank() != 2 || !require(Relation::eq, r.targets.size(0), n)) misfit(given, targets);
  if (!require(Relation::le, Int(0), r.blank) ||
      !require(Relation::lt, r.blank, r.log_probs.size(2)))
    throw ValueError({.op = "ctc_loss",
                      .problem = "there is no such class for the blank",
                      .got = to_string(r.blank),
                      .expected = absl::StrCat("0 to ", to_string(r.log_probs.size(2) - 1)),
                      .next = "leave it out for class 0"});
  return r;
}

/// log(sum exp) of a few, where nothing is possible too.
Tensor any_of(std::initializer_list<Tensor> ways) {
  Tensor top;
  {
    GradMode no_grad(false);
    for (const Tensor& w : ways) top = top.defined() ? M::maximum(top, w) : w;
    top = M::where(M::eq(top, kNever), 0, top);
  }
  Tensor sum;
  for (const Tensor& w : ways) {
    Tensor e = M::exp(M::sub(w, top));
    sum = sum.defined() ? M::add(sum, e) : e;
  }
  Tensor none = M::eq(sum, 0);
  return M::where(none, kNever, M::add(M::log(M::where(none, 1, sum)), top));
}

/// Each row moved to the right by so many places; never before them.
Tensor moved(const Tensor& x, Int by) { return S::constant_pad_nd(x, {by, -by}, kNever); }

/// -log of the probability of each target: [n].
Tensor losses_of(const Reading& r) {
  const Int time = r.log_probs.size(0), n = r.log_probs.size(1), labels = r.targets.size(1);
  const Int places = labels * 2 + 1;  // a blank before, between and behind the labels
  const Device device = r.log_probs.device();
  Tensor place = C::arange(0, places, 1, DType::i64, device);
  Tensor is_blank = M::eq(M::remainder(place, 2), 0);
  Tensor symbols = C::full({n, places}, r.blank, DType::i64, device);
  if (labels > Int(0)) {
    Tensor label = M::clamp(M::div_floor(M::sub(place, 1), 2), 0, labels - 1);
    symbols = M::where(is_blank, r.blank, I::index_select(r.targets, 1, label));
  }
  // A label may follow the one before without a blank between them, unless the two are the same.
  Tensor before = I::index_select(symbols, 1, M::maximum(M::sub(place, 2), 0));
  Tensor skips = M::logical_and(M::logical_and(M::ge(place, 2), M::logical_not(is_blank)),
                                M::ne(symbols, before));
  Tensor seen = I::gather(r.log_probs, 2, S::expand(symbols, {time, n, places}));
  Tensor state = M::where(M::lt(place, 2), S::select(seen, 0, 0), kNever);
  Tensor times = S::unsqueeze(r.times, 1);
  for (Int t = 1; t < time; t = t + 1) {
    Tensor reached = state;
    if (labels > Int(0)) {  // else there is one place, and it is blank
      Tensor skipped = M::where(skips, moved(state, 2), kNever);
      reached = any_of({state, moved(state, 1), skipped});
    }
    Tensor next = M::add(reached, S::select(seen, 0, t));
    state = M::where(M::lt(t, times), next, state);
  }
  Tensor last = S::unsqueeze(M::mul(r.labels, 2), 1);
  Tensor on_blank = I::gather(state, 1, last);
  Tensor on_label = I::gather(state, 1, M::maximum(M::sub(last, 1), 0));
  on_label = M::where(M::gt(last, 0), on_label, kNever);
  Tensor losses = S::squeeze(M::neg(any_of({on_blank, on_label})), {Int(1)});
  Tensor without_time =
      M::where(M::eq(r.labels, 0), 0.0, C::full({}, -kNever, losses.dtype(), device));
  return M::where(M::eq(r.times, 0), without_time, losses);
}

/// Arguments: log_probs, targets, both lengths, blank, reduction, zero_infinity.
Outputs ctc(Args a, const Tensor& times, const Tensor& labels, const Arg& most) {
  const std::string_view how = a.text(5);
  check_reduction("ctc_loss", how);
  const Reading r = reading_of(a, times, labels, most);
  Tensor losses = losses_of(r);
  if (a.flag(6)) losses = M::where(M::eq(losses, -kNever), 0, losses);
  if (how == "mean") losses = M::div(losses, M::cast(M::maximum(r.labels, 1), losses.dtype()));
  if (!r.batched && how == "none") return {S::squeeze(losses, {Int(0)})};
  return {reduced(losses, "ctc_loss", how)};
}

Tensor tensor_of(const Shape& lengths, Device device) {
  std::vector<Tensor> each;
  for (Int n : lengths) each.push_back(C::full({}, n, DType::i64, device));
  return S::stack(each, 0);
}

}  // namespace

void add_ctc_definitions(Definitions& r) {
  const Extra extra{
      .domain = floating,
      .places = kFunctional,
      .autocast = Autocast::wide,
      .doc =
          "-log of the probability that log_probs[time, n, classes] read targets[n, labels] (or "
          "all in one row), with blanks in between (Graves et al. 2006). zero_infinity: a target "
          "that does not fit into its time counts as 0. The mean is that of losses divided by "
          "the number of labels."};
  auto schema = [](std::string_view name, std::string_view lengths) {
    return absl::StrCat(name, "(Tensor log_probs, Tensor targets, ", lengths, " input_lengths, ",
                        lengths,
                        " target_lengths, int blank=0, str reduction='mean', bool "
                        "zero_infinity=False) -> Tensor");
  };
  r.composite(
      schema("ctc_loss", "Tensor"), [](Args a) { return ctc(a, a.tensor(2), a.tensor(3), Arg()); },
      extra);
  r.composite(
      schema("ctc_loss.lists", "int[]"),
      [](Args a) {
        const Shape labels = a.ints(3);
        Int most = 1;
        for (Int n : labels) most = max(most, n);
        const Device device = a.tensor(0).device();
        return ctc(a, tensor_of(a.ints(2), device), tensor_of(labels, device), Arg(most));
      },
      extra);
}

}  // namespace lathe
