// Poolings that say how many windows there are instead of how large they are: adaptive ones, whose
// windows cover the input evenly, and fractional ones, whose windows begin at random places. And
// max_unpool, the way back from the largest elements.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/infer/rules.h"
#include "core/ops/names.h"
#include "core/ops/windows.h"

namespace lathe {
namespace {

using namespace names;

void require_axes(std::string_view op, const Tensor& x, size_t axes) {
  if (x.rank() > static_cast<int>(axes)) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "the input has too few axes",
                    .got = to_string(x.shape()),
                    .expected = absl::StrCat("channels and ", axes, " more"),
                    .next = "unsqueeze() the missing ones"});
}

/// The size asked for on each axis; None keeps that of the input.
Shape sizes_asked(std::string_view op, const Arg& given, const Tensor& x, size_t axes) {
  Shape out;
  for (size_t k = 0; k < axes; ++k) {
    const Arg& item = given.tag == Tag::list ? given.list_->data[k] : given;
    const Int have = x.size(static_cast<int>(k) - static_cast<int>(axes));
    out.push_back(item.none() ? have : item.integer());
    if (!require(Relation::le, Int(1), out.back()) || !require(Relation::le, Int(1), have))
      throw ValueError({.op = std::string(op),
                        .problem = "a size below 1",
                        .got = absl::StrCat(to_string(given), " for ", to_string(x.shape())),
                        .expected = "sizes of at least 1, of the input too",
                        .next = "give None where a size shall stay as it is"});
  }
  return out;
}

/// Windows of the last axes whose lengths may differ by one: elements behind a shorter one's end
/// are there too, and not seen.
struct Cover {
  Tensor elements;             // [..., counts, places in the window]; or by axis, count and places
  Shape places;                // which axes of the elements are places
  bool some = false;           // not all are seen: those that are not are `unseen`
  Tensor lengths;              // of the windows, [counts]; undefined: all alike
  std::vector<Tensor> starts;  // along each axis, in the shape of `counted`
  Shape longest;               // of windows along each axis
};

Tensor covered_start(Int size, Int count, size_t k, size_t n, Device device) {
  return M::div_floor(M::mul(counted(count, k, n, device), size), count);
}

Cover even_cover(const Tensor& x, const Shape& counts) {
  Cover c;
  const size_t n = counts.size();
  c.places = last_axes(n);
  for (size_t k = 0; k < n; ++k) {
    const Int size = x.size(static_cast<int>(k) - static_cast<int>(n));
    c.longest.push_back(floor_div(size, counts[k]));
    c.starts.push_back(covered_start(size, counts[k], k, n, x.device()));
  }
  c.elements = S::windows(x, c.longest, c.longest);
  return c;
}

/// Along each axis in turn the windows are gathered, as two axes in its place. What is not seen is
/// covered as it lies there, where lines are long.
Cover uneven_cover(Tensor x, const Shape& counts, const Arg& unseen) {
  Cover c;
  Tensor all_seen;
  const size_t n = counts.size();
  const int lead = x.rank() - static_cast<int>(n);
  c.starts.resize(n);
  c.longest.resize(n);
  for (size_t k = n; k-- > 0;) {
    const int axis = lead + static_cast<int>(k);
    const Int size = x.size(axis), count = counts[k], longest = ceil_div(size, count) + 1;
    c.longest[k] = longest;
    c.starts[k] = covered_start(size, count, k, n, x.device());
    Tensor first = C::arange(0, count, 1, DType::i64, x.device());
    Tensor start = M::div_floor(M::mul(first, size), count);
    Tensor end = M::div_floor(M::add(M::mul(first, size), size + count - 1), count);
    Tensor at = M::add(S::unsqueeze(start, 1), C::arange(0, longest, 1, DType::i64, x.device()));
    Tensor seen = M::lt(at, S::unsqueeze(end, 1));  // [count, longest]
    x = I::index_select(x, axis, M::minimum(at, size - 1));
    Shape shape(2 * (n - k), Int(1));
    shape[0] = count;
    shape[1] = longest;
    seen = S::reshape(seen, shape);
    all_seen = all_seen.defined() ? M::logical_and(all_seen, seen) : seen;
    c.places.insert(c.places.begin(), Int(lead + 2 * static_cast<int>(k) + 1));
    Shape along(n - k, Int(1));
    along[0] = count;
    Tensor length = S::reshape(M::sub(end, start), along);
    c.lengths = c.lengths.defined() ? M::mul(c.lengths, length) : length;
  }
  c.elements = M::where(all_seen, x, unseen);
  c.some = true;
  return c;
}

/// The places of each window as the last axis.
Tensor flat_windows(const Cover& c) {
  const int n = static_cast<int>(c.places.size());
  if (!c.some) return S::flatten(c.elements, -n, -1);
  const int lead = c.elements.rank() - 2 * n;
  Shape order = all_axes(lead);
  for (int part : {0, 1})
    for (int k = 0; k < n; ++k) order.push_back(Int(lead + 2 * k + part));
  return S::flatten(S::permute(c.elements, order), -n, -1);
}

Cover cover(std::string_view op, const Tensor& x, const Arg& size, size_t axes, const Arg& unseen) {
  require_axes(op, x, axes);
  const Shape counts = sizes_asked(op, size, x, axes);
  bool even = true;
  for (size_t k = 0; k < axes; ++k)
    even = even && mod(x.size(static_cast<int>(k) - static_cast<int>(axes)), counts[k]) == Int(0);
  return even ? even_cover(x, counts) : uneven_cover(x, counts, unseen);
}

Tensor adaptive_mean(std::string_view op, const Tensor& x, const Arg& size, size_t axes) {
  require_domain(get_op(op), x.dtype());
  const Cover c = cover(op, x, size, axes, Arg(0));
  if (!c.some) return R::mean(c.elements, c.places);
  Tensor total = R::sum(c.elements, c.places);
  return M::div(total, M::cast(c.lengths, x.dtype()));
}

/// Where in the last axes of x, flattened, element `taps` of windows lies that begin at `starts`.
Tensor places_of(const std::vector<Tensor>& starts, const Shape& kernel, Tensor taps,
                 const Tensor& x) {
  const size_t n = kernel.size();
  Tensor places;
  Int inner = 1;
  for (size_t k = n; k-- > 0;) {
    Tensor tap = k == 0 ? taps : M::remainder(taps, kernel[k]);
    if (k > 0) taps = M::div_floor(taps, kernel[k]);
    Tensor term = M::mul(M::add(starts[k], tap), inner);
    places = places.defined() ? M::add(places, term) : term;
    inner *= x.size(static_cast<int>(k) - static_cast<int>(n));
  }
  return places;
}

Outputs adaptive_largest(std::string_view op, const Tensor& x, const Arg& size, size_t axes) {
  const Cover c = cover(op, x, size, axes, lowest_number(x.dtype()));
  auto [values, taps] = R::max_dim(flat_windows(c), -1);
  return {values, places_of(c.starts, c.longest, taps, x)};
}

void add_adaptive(Definitions& r, int axes) {
  const auto n = static_cast<size_t>(axes);
  const std::string size = absl::StrCat("(Tensor input, int[", axes, "?] output_size");
  const std::string mean = absl::StrCat("adaptive_avg_pool", axes, "d"),
                    most = absl::StrCat("adaptive_max_pool", axes, "d");
  const std::string_view both = ") -> (Tensor values, Tensor indices)";
  r.composite(
      absl::StrCat(mean, size, ") -> Tensor"),
      [mean, n](Args a) -> Outputs { return {adaptive_mean(mean, a.tensor(0), a[1], n)}; },
      {.domain = floating,
       .places = static_cast<uint8_t>(axes == 1 ? kFunctional | kFunction : kFunctional),
       .doc = "Means of as many windows as output_size says, which cover the last axes evenly; "
              "None keeps a size."});
  auto with_indices = [most, n](Args a) { return adaptive_largest(most, a.tensor(0), a[1], n); };
  Extra extra{.domain = real_numbers,
              .places = kFunctional,
              .moves = true,
              .doc =
                  "The largest elements of as many windows as output_size says, which cover the "
                  "last axes evenly; None keeps a size."};
  r.composite(
      absl::StrCat(most, size, ", False return_indices=False) -> Tensor"),
      [with_indices](Args a) -> Outputs { return {with_indices(a)[0]}; }, extra);
  extra.doc = "As without return_indices, and where in the last axes, flattened, each lies.";
  r.composite(absl::StrCat(most, ".indices", size, ", True return_indices", both), with_indices,
              extra);
  r.composite(absl::StrCat(most, "_with_indices", size, ", bool return_indices=False", both),
              with_indices, extra);
  if (axes != 1) return;
  extra.places = kFunction;
  r.composite(absl::StrCat(most, ".function", size, both), with_indices, extra);
}

// ── fractional windows (Graham 2014) ────────────────────────────────────────────────────────────

/// How many windows: output_size, or the input's size times output_ratio.
Shape fractional_counts(std::string_view op, const Tensor& x, Args a, size_t axes) {
  if (a.none(2) == a.none(3))
    throw ValueError(
        {.op = std::string(op),
         .problem = "how many windows there are is not said, or twice",
         .got = absl::StrCat("output_size=", to_string(a[2]), ", output_ratio=", to_string(a[3])),
         .expected = "one of the two",
         .next = "give output_size as numbers, or output_ratio as fractions"});
  if (!a.none(2)) return per_axis(op, "output_size", a.ints(2), axes);
  Shape out;
  for (size_t k = 0; k < axes; ++k) {
    const Arg& given = a[3];
    const Arg& ratio =
        given.tag == Tag::list ? given.list_->data[given.list_->size == 1 ? 0 : k] : given;
    const double part = Args(&ratio, 1).real(0).value();
    if (!(part > 0 && part < 1))
      throw ValueError({.op = std::string(op),
                        .problem = "output_ratio is outside of (0, 1)",
                        .got = to_string(ratio),
                        .expected = "0 < output_ratio < 1",
                        .next = "give output_size to keep a size"});
    const auto size =
        static_cast<double>(x.size(static_cast<int>(k) - static_cast<int>(axes)).value());
    out.push_back(Int(static_cast<int64_t>(size * part)));
  }
  return out;
}

/// Where windows begin along an axis, for each image and channel: [n, c, count].
Tensor fractional_starts(const Tensor& sample, Int size, Int kernel, Int count) {
  const Device device = sample.device();
  const DType dtype = sample.dtype();
  Tensor last = C::full({1}, size - kernel, DType::i64, device);
  Tensor u = S::unsqueeze(sample, -1);
  if (count == Int(1)) return S::expand(last, {sample.size(0), sample.size(1), Int(1)});
  Tensor alpha =
      M::div(C::full({}, size - kernel, dtype, device), C::full({}, count - 1, dtype, device));
  Tensor i = M::cast(C::arange(0, count - 1, 1, DType::i64, device), dtype);
  auto whole = [](const Tensor& t) { return M::cast(M::trunc(t), DType::i64); };
  Tensor inner = M::sub(whole(M::mul(M::add(i, u), alpha)), whole(M::mul(u, alpha)));
  Shape ends{sample.size(0), sample.size(1), Int(1)};
  return S::cat(std::vector<Tensor>{inner, S::expand(last, ends)}, -1);
}

Outputs fractional_largest(std::string_view op, Args a, size_t axes) {
  Tensor x = a.tensor(0);
  const auto n = static_cast<int>(axes);
  require_axes(op, x, axes);
  const bool batched = x.rank() > n + 1;
  if (!batched) x = S::unsqueeze(x, 0);
  const Shape kernel = a.ints(1), counts = fractional_counts(op, x, a, axes);
  Tensor samples = a.optional_tensor(5);
  if (!samples.defined())
    samples = C::rand({x.size(0), x.size(1), Int(n)},
                      x.dtype() == DType::f64 ? DType::f64 : DType::f32, x.device());
  // Of more images than there are, the first are taken, as in PyTorch.
  if (samples.rank() != 3 || !require(Relation::eq, samples.size(-1), Int(n)) ||
      !require(Relation::eq, samples.size(1), x.size(1)) ||
      !require(Relation::le, x.size(0), samples.size(0)))
    throw ShapeError({.op = std::string(op),
                      .problem = "_random_samples has another shape",
                      .got = to_string(samples.shape()),
                      .expected = to_string(Shape{x.size(0), x.size(1), Int(n)}),
                      .next = "leave it out to have them drawn"});
  samples = S::narrow(samples, 0, 0, x.size(0));
  Tensor at;  // flat place of each element of each window: [n, c, counts, kernel]
  Int inner = 1;
  for (int k = n; k-- > 0;) {
    const auto i = static_cast<size_t>(k);
    const Int size = x.size(k - n);
    if (!require(Relation::le, kernel[i] + counts[i] - 1, size) ||
        !require(Relation::le, Int(1), counts[i]))
      throw ShapeError({.op = std::string(op),
                        .problem = "there is no room for so many windows",
                        .got = absl::StrCat(to_string(counts), " windows of ", to_string(kernel),
                                            " on ", to_string(x.shape())),
                        .expected = "kernel + windows - 1 of at most the input's size",
                        .next = "ask for fewer windows, or a smaller kernel"});
    // Of two axes, PyTorch draws the number of the last one first.
    Tensor start =
        fractional_starts(S::select(samples, -1, n == 2 ? 1 - k : k), size, kernel[i], counts[i]);
    Shape shape{x.size(0), x.size(1)};
    for (int j = 0; j < 2 * n; ++j) shape.push_back(j == k ? counts[i] : Int(1));
    Tensor tap = counted(kernel[i], i, axes, x.device());
    Tensor term = M::mul(M::add(S::reshape(start, shape), tap), inner);
    at = at.defined() ? M::add(at, term) : term;
    inner *= size;
  }
  at = S::flatten(at, -n, -1);
  Tensor found = I::gather(S::reshape(x, {x.size(0), x.size(1), inner}), -1,
                           S::reshape(at, {x.size(0), x.size(1), numel(counts) * numel(kernel)}));
  auto [values, taps] = R::max_dim(S::reshape(found, at.shape()), -1);
  Tensor places = S::squeeze(I::gather(at, -1, S::unsqueeze(taps, -1)), {Int(-1)});
  if (batched) return {values, places};
  return {S::squeeze(values, {Int(0)}), S::squeeze(places, {Int(0)})};
}

void add_fractional(Definitions& r, int axes) {
  const auto n = static_cast<size_t>(axes);
  const std::string name = absl::StrCat("fractional_max_pool", axes, "d");
  const std::string arguments =
      absl::StrCat("(Tensor input, int[", axes, "] kernel_size, int[]? output_size=None, float[",
                   axes, "]? output_ratio=None, ");
  const std::string_view rest = ", Tensor? _random_samples=None) -> ",
                         both = "(Tensor values, Tensor indices)";
  auto with_indices = [name, n](Args a) { return fractional_largest(name, a, n); };
  Extra extra{.domain = floating,
              .places = kFunctional,
              .moves = true,
              .doc =
                  "The largest elements of windows that begin at random places, as many as "
                  "output_size says, or output_ratio of the input's size (Graham 2014)."};
  r.composite(
      absl::StrCat(name, arguments, "False return_indices=False", rest, "Tensor"),
      [with_indices](Args a) -> Outputs { return {with_indices(a)[0]}; }, extra);
  extra.doc = "As without return_indices, and where in the last axes, flattened, each lies.";
  r.composite(absl::StrCat(name, ".indices", arguments, "True return_indices", rest, both),
              with_indices, extra);
  r.composite(
      absl::StrCat(name, "_with_indices", arguments, "bool return_indices=False", rest, both),
      with_indices, extra);
}

// ── the way back ────────────────────────────────────────────────────────────────────────────────

Outputs unpool(std::string_view op, Args a, size_t axes) {
  Tensor x = a.tensor(0), indices = a.tensor(1);
  require_axes(op, x, axes);
  bool same = x.rank() == indices.rank();
  for (size_t i = 0; same && i < x.shape().size(); ++i)
    same = require(Relation::eq, x.shape()[i], indices.shape()[i]);
  if (!same)
    throw ShapeError(
        {.op = std::string(op),
         .problem = "input and indices differ in shape",
         .got = absl::StrCat(to_string(x.shape()), " and ", to_string(indices.shape())),
         .expected = "one shape",
         .next = "give both results of the pooling"});
  const Shape kernel = a.ints(2), pad = a.ints(4);
  const Shape stride =
      a.none(3) || a.ints(3).empty() ? kernel : per_axis(op, "stride", a.ints(3), axes);
  Shape sizes, asked = a.none(5) ? Shape{} : a.ints(5);
  if (asked.size() > axes) asked.erase(asked.begin(), asked.end() - static_cast<int64_t>(axes));
  for (size_t k = 0; k < axes; ++k) {
    const Int have = x.size(static_cast<int>(k) - static_cast<int>(axes));
    const Int usual = (have - 1) * stride[k] + kernel[k] - pad[k] * 2;
    sizes.push_back(asked.empty() ? usual : asked[k]);
    if (!asked.empty() && (!require(Relation::lt, usual - stride[k], asked[k]) ||
                           !require(Relation::lt, asked[k], usual + stride[k])))
      throw ValueError({.op = std::string(op),
                        .problem = "no pooling of such an output gives this input",
                        .got = absl::StrCat("output_size ", to_string(asked)),
                        .expected = absl::StrCat("within ", to_string(stride[k]), " of ",
                                                 to_string(usual), " on axis ", k),
                        .next = "give the sizes of what was pooled"});
  }
  Shape flat(x.shape().begin(), x.shape().end() - static_cast<int64_t>(axes)), wide = flat;
  Int places = 1;
  for (size_t k = 0; k < axes; ++k) places *= x.size(static_cast<int>(k) - static_cast<int>(axes));
  flat.push_back(places);
  wide.push_back(numel(sizes));
  Tensor zeros = C::zeros(wide, x.dtype(), x.device());
  Tensor y =
      I::scatter(zeros, -1, S::reshape(M::cast(indices, DType::i64), flat), S::reshape(x, flat));
  return {S::reshape(y, with_last(x.shape(), sizes))};
}

void add_unpool(Definitions& r, int axes) {
  const auto n = static_cast<size_t>(axes);
  const std::string name = absl::StrCat("max_unpool", axes, "d"),
                    list = absl::StrCat("int[", axes, "]");
  r.composite(absl::StrCat(name, "(Tensor input, Tensor indices, ", list,
                           " kernel_size, int[]? stride=None, ", list,
                           " padding=0, int[]? output_size=None) -> Tensor"),
              [name, n](Args a) { return unpool(name, a, n); },
              {.domain = real_numbers,
               .places = kFunctional,
               .moves = true,
               .doc = "The largest elements back where a pooling found them, zeros elsewhere. "
                      "output_size: of what was pooled, where several sizes give this input."});
}

}  // namespace

void add_adaptive_definitions(Definitions& r) {
  for (int axes : {1, 2, 3}) {
    add_adaptive(r, axes);
    add_unpool(r, axes);
    if (axes > 1) add_fractional(r, axes);
  }
}

}  // namespace lathe
