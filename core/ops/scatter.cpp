// Writes by index: with a reduction, whole slices, flat positions, and several index tensors at
// once. Those that are of kind index are the machinery; what users call is made of them.
#include <absl/strings/str_cat.h>

#include <deque>
#include <limits>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

// ── derivatives of folds ────────────────────────────────────────────────────────────────────────

/// What reads and writes along an axis by an index: single elements, or whole slices.
struct ByElement {
  static Tensor read(const Tensor& x, int axis, const Tensor& index) {
    return I::gather(x, axis, index);
  }
  static Tensor add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
    return I::scatter_add(x, axis, index, source);
  }
  static Tensor multiply(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
    return I::scatter_prod(x, axis, index, source);
  }
  /// The part of the source that the index has a place for.
  static Tensor used(Tensor source, const Tensor& index) {
    for (int i = 0; i < index.rank(); ++i)
      if (!identical(index.size(i), source.size(i)))
        source = S::slice(source, i, Int(0), index.size(i));
    return source;
  }
};
struct BySlice {
  static Tensor read(const Tensor& x, int axis, const Tensor& index) {
    return I::index_select(x, axis, index);
  }
  static Tensor add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
    return I::index_add(x, axis, index, source);
  }
  static Tensor multiply(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
    return I::index_prod(x, axis, index, source);
  }
  static Tensor used(Tensor source, const Tensor&) { return source; }
};

/// The gradient of what was used, in the shape of the whole source: 0 for the rest.
Tensor in_whole(const Tensor& part, const Shape& whole) {
  bool all = true;
  for (size_t i = 0; i < whole.size(); ++i)
    all = all && identical(part.size(static_cast<int>(i)), whole[i]);
  if (all) return part;
  Tensor full = C::zeros(whole, part.dtype(), part.device()), inside = full;
  for (int i = 0; i < part.rank(); ++i) inside = S::slice(inside, i, Int(0), part.size(i));
  assign(inside, part);
  return full;
}

/// Those that equal the extremum share its gradient equally.
template <class By>
Grads fold_extremum_grad(Grad g) {
  Grads out(4);
  const int axis = g.axis(1, 0);
  Tensor x = g.x(0), index = g.x(2), source = By::used(g.x(3), index), y = g.y();
  auto hits = [&](const Tensor& t, const Tensor& best) {
    Tensor both_nan = M::bitwise_and(M::isnan(t), M::isnan(best));
    return M::cast(M::bitwise_or(M::eq(t, best), both_nan), g.dtype(0));
  };
  Tensor kept = hits(x, y), written = hits(source, By::read(y, axis, index));
  Tensor share = M::div(g.dy(), By::add(kept, axis, index, written));
  // A place with an extremum that nothing equals does not exist; 0 / 0 would be for ones of NaN.
  if (g.wants(0)) out[0] = M::mul(share, kept);
  if (g.wants(3)) out[3] = in_whole(M::mul(By::read(share, axis, index), written), g.shape(3));
  return out;
}

/// Each factor gets the product of the others; no division by what is 0. Where one of the others
/// is 0 it stands in that product as a factor, which has a derivative.
template <class By>
Grads fold_prod_grad(Grad g) {
  Grads out(4);
  const int axis = g.axis(1, 0);
  Tensor x = g.x(0), index = g.x(2), source = By::used(g.x(3), index);
  auto zeros = [&](const Tensor& t) { return M::eq(t, 0); };
  auto safe = [&](const Tensor& t) { return M::where(zeros(t), 1, t); };
  auto number = [&](const Tensor& t) { return M::cast(zeros(t), g.dtype(0)); };
  Tensor count = By::add(number(x), axis, index, number(source));
  Tensor product = By::multiply(safe(x), axis, index, safe(source));
  auto zero_of = [&](const Tensor& t) { return M::where(zeros(t), t, 0); };
  Tensor zero = By::add(zero_of(x), axis, index, zero_of(source));
  auto others = [&](const Tensor& t, const Tensor& product_there, const Tensor& count_there,
                    const Tensor& zero_there) {
    Tensor left = M::sub(count_there, number(t));  // zeros among the others
    Tensor rest = M::div(product_there, safe(t)), one = M::sub(zero_there, zero_of(t));
    return M::where(M::eq(left, 0), rest, M::where(M::eq(left, 1), M::mul(rest, one), 0));
  };
  if (g.wants(0)) out[0] = M::mul(g.dy(), others(x, product, count, zero));
  if (g.wants(3)) {
    Tensor rest = others(source, By::read(product, axis, index), By::read(count, axis, index),
                         By::read(zero, axis, index));
    out[3] = in_whole(M::mul(By::read(g.dy(), axis, index), rest), g.shape(3));
  }
  return out;
}

/// The last slice that index names for a place stays; the others have no influence.
Grads index_copy_grad(Grad g) {
  Grads out(4);
  const int axis = g.axis(1, 0);
  Tensor index = g.x(2);
  const bool point = g.shape(0).empty();
  Tensor flat = S::reshape(index, {index.numel()});
  if (g.wants(0)) {
    Shape none = g.shape(0);
    if (point) none = {Int(1)};
    none[static_cast<size_t>(axis)] = flat.size(0);
    Tensor zeros = C::zeros(none, g.dy().dtype(), g.type(0).device);
    Tensor dy = point ? S::reshape(g.dy(), {Int(1)}) : g.dy();
    out[0] = S::reshape(I::index_copy(dy, axis, flat, zeros), g.shape(0));
  }
  if (!g.wants(3)) return out;
  const Int size = point ? Int(1) : g.shape(0)[static_cast<size_t>(axis)];
  Tensor order = C::arange(1, flat.size(0) + 1, 1, DType::i64, index.device());
  Tensor last = I::scatter(C::zeros({size}, DType::i64, index.device()), 0, flat, order);
  Shape along(index.shape().begin(), index.shape().end());
  for (size_t i = static_cast<size_t>(axis) + 1; i < g.shape(0).size(); ++i)
    along.push_back(Int(1));
  Tensor stays = S::reshape(M::eq(I::gather(last, 0, flat), order), along);
  Tensor back = S::reshape(I::index_select(g.dy(), axis, index), g.shape(3));
  out[3] = S::reshape(M::where(stays, back, 0), g.shape(3));
  return out;
}

// ── machinery ───────────────────────────────────────────────────────────────────────────────────

void add_folds(Definitions& r) {
  struct Way {
    Fold fold;
    std::string_view name, does;
    DTypeSet domain;
    Saves saves;
    GradRule single, slices;
  };
  const Saves all = save_x(0) | save_x(2) | save_x(3);
  const Way ways[] = {{Fold::prod, "prod", "multiplied by", all_dtypes, all,
                       fold_prod_grad<ByElement>, fold_prod_grad<BySlice>},
                      {Fold::max, "amax", "raised to", real_dtypes, all | save_y(0),
                       fold_extremum_grad<ByElement>, fold_extremum_grad<BySlice>},
                      {Fold::min, "amin", "lowered to", real_dtypes, all | save_y(0),
                       fold_extremum_grad<ByElement>, fold_extremum_grad<BySlice>}};
  for (const Way& w : ways) {
    static auto& docs = *new std::deque<std::string>;
    auto extra = [&](GradRule rule, std::string_view what) {
      docs.push_back(absl::StrCat("input with ", what, " ", w.does, " source, in order."));
      return Extra{.domain = w.domain,
                   .saves = w.saves,
                   .grad = rule,
                   .places = kNowhere,
                   .doc = docs.back()};
    };
    r.index(absl::StrCat("scatter_", w.name,
                         "(Tensor input, int dim, Tensor index, Tensor src) -> Tensor"),
            {.access = Access::put, .axis = 1, .index = 2, .source = 3, .fold = w.fold},
            extra(w.single, "the elements at index along dim"));
    r.index(absl::StrCat("index_", w.name,
                         "(Tensor input, int dim, Tensor index, Tensor source) -> Tensor"),
            {.access = Access::select_put, .axis = 1, .index = 2, .source = 3, .fold = w.fold},
            extra(w.slices, "the slices at index along dim"));
  }
  r.index("index_copy(Tensor input, int dim, Tensor index, Tensor source) -> Tensor",
          {.access = Access::select_put, .axis = 1, .index = 2, .source = 3},
          {.saves = save_x(2),
           .grad = index_copy_grad,
           .moves = true,
           .autocast = Autocast::widest,
           .doc = "input with the slices of source in place of those that index names along dim; "
                  "of several for one place the last stays."});
}

// ── reductions into places ──────────────────────────────────────────────────────────────────────

[[noreturn]] void unknown_reduction(std::string_view op, std::string_view got,
                                    std::string_view expected) {
  throw ValueError({.op = std::string(op),
                    .problem = "an unknown reduction",
                    .got = absl::StrCat("'", got, "'"),
                    .expected = std::string(expected),
                    .next = "leave out what has no such name"});
}

bool is_extremum(std::string_view how) { return how == "amax" || how == "amin"; }

/// What changes nothing in a fold of that name, of floats.
Arg unit_of(std::string_view how) {
  if (is_extremum(how)) return Arg(how == "amax" ? -kInfinity : kInfinity);
  return Arg(how == "prod" ? 1 : 0);
}

/// input with source folded in: the mean divides by how many met, rounded down for integers.
/// `fold(how, x, source)`, `fill(x, number)` and `put(x, source)` write at the places of the index.
template <class FoldInto, class Fill, class Put>
Tensor reduced_into(std::string_view how, bool include_self, const Tensor& x, const Tensor& source,
                    FoldInto fold, Fill fill, Put put) {
  Tensor start = x;
  if (!include_self) {
    // The extremum of what is written: of integers, one of them is where it begins.
    const bool any_written = is_extremum(how) && !is_floating(x.dtype());
    start = any_written ? put(x, source) : fill(x, unit_of(how));
  }
  if (how != "mean") return fold(how, start, source);
  Tensor total = fold("sum", start, source);
  auto ones_as = [](const Tensor& t) {
    return S::expand(C::ones({}, DType::i64, t.device()), t.shape());
  };
  Tensor ones = ones_as(x);
  Tensor count = fold("sum", include_self ? ones : fill(ones, Arg(0)), ones_as(source));
  count = M::clamp_min(count, 1);
  if (is_integer(x.dtype())) return M::cast(M::div_floor(total, count), x.dtype());
  return M::div(total, M::cast(count, real_type(x.dtype())));
}

Outputs scatter_reduced(Args a, std::string_view op, std::string_view how, bool include_self,
                        const Tensor& src) {
  const Int dim = a.integer(1);
  Tensor index = a.tensor(2);
  auto fold = [&](std::string_view by, const Tensor& x, const Tensor& source) {
    if (by == "sum") return I::scatter_add(x, dim, index, source);
    if (by == "prod") return I::scatter_prod(x, dim, index, source);
    if (by == "amax") return I::scatter_amax(x, dim, index, source);
    if (by == "amin") return I::scatter_amin(x, dim, index, source);
    unknown_reduction(op, by, "'sum', 'prod', 'mean', 'amax' or 'amin'");
  };
  auto fill = [&](const Tensor& x, const Arg& number) { return I::scatter(x, dim, index, number); };
  auto put = [&](const Tensor& x, const Tensor& source) {
    return I::scatter(x, dim, index, source);
  };
  return {reduced_into(how, include_self, a.tensor(0), src, fold, fill, put)};
}

Tensor full_slices(const Tensor& x, Int dim, const Tensor& index, const Tensor& value) {
  Shape shape = x.shape();
  if (!shape.empty()) {
    const int axis = size_axis("index_fill", dim.value(), x.rank());
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, index.shape().begin(), index.shape().end());
  } else {
    shape = index.shape();
  }
  return S::expand(cast_for(x, value), shape);
}

Outputs index_reduced(Args a) {
  Tensor index = a.tensor(2);
  const Int dim = a.integer(1);
  const std::string_view how = a.text(4);
  if (how == "sum") unknown_reduction("index_reduce", how, "'prod', 'mean', 'amax' or 'amin'");
  auto fold = [&](std::string_view by, const Tensor& x, const Tensor& source) {
    if (by == "sum") return I::index_add(x, dim, index, source);
    if (by == "prod") return I::index_prod(x, dim, index, source);
    if (by == "amax") return I::index_amax(x, dim, index, source);
    if (by == "amin") return I::index_amin(x, dim, index, source);
    unknown_reduction("index_reduce", by, "'prod', 'mean', 'amax' or 'amin'");
  };
  auto fill = [&](const Tensor& x, const Arg& number) {
    return I::index_copy(x, dim, index,
                         full_slices(x, dim, index, C::full({}, number, x.dtype(), x.device())));
  };
  auto put = [&](const Tensor& x, const Tensor& source) {
    return I::index_copy(x, dim, index, source);
  };
  return {reduced_into(how, a.flag(5), a.tensor(0), a.tensor(3), fold, fill, put)};
}

/// scatter(reduce='add' or 'multiply'), PyTorch's older words.
Outputs scatter_with(Args a, const Tensor& src) {
  const std::string_view how = a.text(4);
  if (how == "add") return scatter_reduced(a, "scatter", "sum", true, src);
  if (how == "multiply") return scatter_reduced(a, "scatter", "prod", true, src);
  unknown_reduction("scatter", how, "'add' or 'multiply'");
}

void add_reductions(Definitions& r) {
  auto writes = [](std::string_view doc) { return Extra{.inplace = true, .doc = doc}; };
  r.composite(
      "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool "
      "include_self=True) -> Tensor",
      [](Args a) {
        return scatter_reduced(a, "scatter_reduce", a.text(4), a.flag(5), a.tensor(3));
      },
      writes("input with src combined into the elements at index along dim by 'sum', 'prod', "
             "'mean', 'amax' or 'amin'; without the elements that were there, if not "
             "include_self."));
  r.composite(
      "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool "
      "include_self=True) -> Tensor",
      index_reduced,
      writes("input with the slices of source combined into those that index names along dim by "
             "'prod', 'mean', 'amax' or 'amin'; without what was there, if not include_self."));
  r.composite(
      "scatter.reducing(Tensor input, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
      [](Args a) { return scatter_with(a, a.tensor(3)); },
      writes("input with src added, or multiplied, into the elements at index along dim."));
  r.composite(
      "scatter.value_reducing(Tensor input, int dim, Tensor index, Scalar value, *, str reduce) -> "
      "Tensor",
      [](Args a) {
        Tensor x = a.tensor(0), index = a.tensor(2);
        return scatter_with(a, C::full(index.shape(), a[3], x.dtype(), x.device()));
      },
      writes("input with value added, or multiplied, into the elements at index along dim."));
}

// ── segments ────────────────────────────────────────────────────────────────────────────────────

/// How many elements each segment has, along the last axis of the tensor given.
Tensor segment_lengths(Args a) {
  if (!a.none(3) || a.none(2) == a.none(4))
    throw ValueError({.op = "segment_reduce",
                      .problem = "the segments are given by lengths or by offsets",
                      .got = a.none(3) ? "both or neither" : "indices",
                      .expected = "one of lengths and offsets",
                      .next = "use scatter_reduce() where each element names its segment"});
  Tensor lengths = a.none(2) ? R::diff(a.tensor(4)) : a.tensor(2);
  const int axis = size_axis("segment_reduce", a.integer(5).value(), a.tensor(0).rank());
  bool fits = lengths.rank() == axis + 1;
  for (int i = 0; fits && i < axis; ++i)
    fits = require(Relation::eq, lengths.size(i), a.tensor(0).size(i));
  if (!fits)
    throw ShapeError({.op = "segment_reduce",
                      .problem = "the segments do not fit the axis",
                      .got = absl::StrCat(to_string(lengths.shape()), " for axis ", axis, " of ",
                                          to_string(a.shape(0))),
                      .expected = "the sizes in front of the axis, then one for each segment",
                      .next = "give lengths of one axis for axis 0"});
  return M::cast(lengths, DType::i64);
}

Outputs segment_reduced(Args a) {
  Tensor x = a.tensor(0), lengths = segment_lengths(a);
  const std::string_view how = a.text(1);
  const bool mean = how == "mean";
  const char* fold = how == "sum" || mean ? "sum"
                     : how == "prod"      ? "prod"
                     : how == "max"       ? "amax"
                     : how == "min"       ? "amin"
                                          : nullptr;
  if (fold == nullptr)
    unknown_reduction("segment_reduce", how, "'sum', 'mean', 'max', 'min' or 'prod'");
  const int axis = lengths.rank() - 1;
  const Int n = x.size(axis);
  // Each element's segment: the first that ends behind it.
  Shape front(lengths.shape().begin(), lengths.shape().end() - 1);
  front.push_back(n);
  Tensor place = S::expand(C::arange(0, n, 1, DType::i64, x.device()), front);
  Tensor segment = I::searchsorted(R::cumsum(lengths, -1), place, true);
  auto along = [&](Tensor t) {
    while (t.rank() < x.rank()) t = S::unsqueeze(t, t.rank());
    return t;
  };
  Shape shape = x.shape();
  // An element behind all segments is out of range, or falls into one more that is dropped.
  const Int segments = lengths.size(axis);
  shape[static_cast<size_t>(axis)] = a.flag(6) ? segments + 1 : segments;
  Tensor start = C::full(shape, a.none(7) ? unit_of(fold) : a[7], x.dtype(), x.device());
  const Tensor index = S::expand(along(segment), x.shape());
  const Arg args[] = {Arg(start), Arg(Int(axis)), Arg(index), Arg(x), Arg(fold), Arg(true)};
  Tensor y = S::slice(call(get_op("scatter_reduce"), Args(args, 6))[0], axis, Int(0), segments);
  if (!mean) return {y};
  Tensor count = M::cast(along(lengths), x.dtype());
  Tensor empty = M::eq(count, 0);
  Tensor nothing = a.none(7) ? M::mul(C::ones_like(y), std::numeric_limits<double>::quiet_NaN())
                             : S::slice(start, axis, Int(0), segments);
  return {M::where(empty, nothing, M::div(y, M::where(empty, 1, count)))};
}

// ── slices and flat positions ───────────────────────────────────────────────────────────────────

Tensor flat(const Tensor& x) { return S::reshape(x, {x.numel()}); }

Outputs index_fill_expansion(Args a) {
  Tensor x = a.tensor(0), value;
  const int axis = normalise_axis("index_fill", a.integer(1).value(), x.rank());
  Tensor index = from_the_end(a.tensor(2), x.rank() == 0 ? Int(1) : x.size(axis));
  if (a[3].tag == Tag::tensor) {
    value = a.tensor(3);
    if (value.rank() != 0)
      throw ShapeError({.op = "index_fill",
                        .problem = "one value fills all places",
                        .got = to_string(type_of(value)),
                        .expected = "a number, or a tensor without axes",
                        .next = "use index_copy() for a value a place"});
  } else {
    require_in_range("index_fill", x.dtype(), a[3]);
    value = C::full({}, a[3], x.dtype(), x.device());
  }
  return {I::index_copy(x, axis, index, full_slices(x, axis, index, value))};
}

Outputs put_expansion(Args a) {
  Tensor x = a.tensor(0), at = flat(from_the_end(a.tensor(1), x.numel())),
         source = flat(a.tensor(2));
  Tensor y =
      a.flag(3) ? I::index_add(flat(x), 0, at, source) : I::index_copy(flat(x), 0, at, source);
  return {S::reshape(y, x.shape())};
}

Outputs take_along_expansion(Args a) {
  Tensor x = a.tensor(0), index = a.tensor(1);
  if (a.none(2)) return {I::gather(flat(x), 0, flat(index))};
  if (x.rank() != index.rank())
    throw ShapeError({.op = "take_along_dim",
                      .problem = "index and input differ in rank",
                      .got = absl::StrCat(to_string(index.shape()), " and ", to_string(x.shape())),
                      .expected = "one rank",
                      .next = "add axes with unsqueeze(), or leave dim out"});
  const int axis = size_axis("take_along_dim", a.integer(2).value(), x.rank());
  // Both to one shape on all axes but the one picked along.
  Shape xs = x.shape(), is = index.shape();
  xs[static_cast<size_t>(axis)] = is[static_cast<size_t>(axis)] = Int(1);
  Shape common = broadcast_shapes("take_along_dim", xs, is);
  auto to = [&](const Tensor& t) {
    Shape shape = common;
    shape[static_cast<size_t>(axis)] = t.size(axis);
    return S::expand(t, shape);
  };
  return {I::gather(to(x), axis, to(index))};
}

/// A mask among index tensors, for the axes of x from `first` on.
void require_mask(std::string_view op, const Tensor& x, const Tensor& mask, int first) {
  const int last = first + mask.rank();
  bool fits = mask.rank() > 0 && last <= x.rank();
  for (int k = 0; fits && k < mask.rank(); ++k)
    fits = require(Relation::eq, mask.size(k), x.size(first + k));
  if (fits) return;
  throw IndexError({.op = std::string(op),
                    .problem = "a mask has not the sizes of the axes it picks from",
                    .got = absl::StrCat("a mask ", to_string(mask.shape()), " for ",
                                        to_string(x.shape()), " from axis ", first),
                    .expected = "one or more axes, each of the input's size",
                    .next = "write x[mask] = values where the mask has no axes"});
}

/// The index tensors of x[i, j, ...] as one index into the joined leading axes.
struct Joined {
  Tensor x;  // its first axis is the named ones
  Tensor index;
};
Joined joined(std::string_view op, const Tensor& x, const Tensors& indices) {
  Tensors all;
  for (const Tensor& t : indices) {
    if (t.dtype() != DType::bool_) {
      all.push_back(t);
      continue;
    }
    require_mask(op, x, t, static_cast<int>(all.size()));
    for (const Tensor& at : positions_of(t)) all.push_back(at);
  }
  const auto count = static_cast<int>(all.size());
  if (count == 0 || count > x.rank())
    throw IndexError({.op = std::string(op),
                      .problem = "there are more index tensors than axes, or none",
                      .got = absl::StrCat(count, " for ", to_string(type_of(x))),
                      .expected = absl::StrCat("1 to ", x.rank()),
                      .next = "leave some out"});
  Tensor index;
  for (int i = 0; i < count; ++i) {
    const Int size = x.size(i);
    // Looked up in a table of its own axis, so that one index out of range cannot hide in the sum.
    Tensor checked = I::index_select(C::arange(0, size, 1, DType::i64, x.device()), 0,
                                     from_the_end(all[static_cast<size_t>(i)], size));
    index = index.defined() ? M::add(M::mul(index, size), checked) : checked;
  }
  return {count == 1 ? x : S::flatten(x, 0, count - 1), index};
}

Outputs index_put_expansion(Args a) {
  Tensor x = a.tensor(0), values = a.tensor(2);
  const Joined j = joined("index_put", x, a.tensors(1));
  if (values.dtype() != x.dtype())
    throw DTypeError({.op = "index_put",
                      .problem = "input and values differ in dtype",
                      .got = absl::StrCat(name(x.dtype()), " and ", name(values.dtype())),
                      .expected = "one dtype",
                      .next = "convert one with .to(dtype)"});
  Shape shape = j.index.shape();
  shape.insert(shape.end(), j.x.shape().begin() + 1, j.x.shape().end());
  values = S::expand(values, shape);
  Tensor y =
      a.flag(3) ? I::index_add(j.x, 0, j.index, values) : I::index_copy(j.x, 0, j.index, values);
  return {S::reshape(y, x.shape())};
}

void add_places(Definitions& r) {
  r.composite(
      "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
      "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
      segment_reduced,
      {.domain = floating,
       .places = kFunction,
       .doc = "Neighbours along axis, cut into segments of the lengths given, reduced by 'sum', "
              "'mean', 'max', 'min' or 'prod' from initial; of no elements those are 0, NaN, "
              "-inf, inf and 1. Elements behind the last segment are an IndexError, or left out "
              "if unsafe."});
  auto moving = [](std::string_view doc, bool inplace) {
    return Extra{.inplace = inplace, .moves = true, .doc = doc};
  };
  r.composite("index_fill(Tensor input, int dim, Tensor index, Tensor|Scalar value) -> Tensor",
              index_fill_expansion,
              moving("input with value in the slices that index names along dim.", true));
  r.composite(
      "take(Tensor input, Tensor index) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        return {I::index_select(flat(x), 0, from_the_end(a.tensor(1), x.numel()))};
      },
      moving("The elements at positions of the flattened input; negative ones count from "
             "the end.",
             false));
  r.composite(
      "put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
      put_expansion,
      moving("input with source written (added, if accumulate) at positions of the flattened "
             "input.",
             true));
  r.composite("take_along_dim(Tensor input, Tensor indices, int? dim=None) -> Tensor",
              take_along_expansion,
              moving("gather() with input and indices broadcast on the other axes; of the "
                     "flattened input if dim is None.",
                     false));
  r.composite(
      "index_put(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
      index_put_expansion,
      moving("input with values written (added, if accumulate) at the places that the index "
             "tensors name together on the leading axes.",
             true));
}

}  // namespace

Tensor from_the_end(const Tensor& index, Int size) {
  Tensor at = index.dtype() == DType::i64 ? index : M::cast(index, DType::i64);
  return M::where(M::lt(at, 0), M::add(at, size), at);
}

void add_scatter_definitions(Definitions& r) {
  add_folds(r);
  add_reductions(r);
  add_places(r);
}

}  // namespace lathe
