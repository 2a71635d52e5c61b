// PyTorch's further creators: of given strides, with ends that are tensors.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

DType dtype_or_default(const Arg& a) { return a.none() ? default_dtype() : a.dtype_; }

// ── evenly spaced, between tensors ──────────────────────────────────────────────────────────────

Tensor end_of(std::string_view op, const Arg& given, DType dtype, const Arg& device) {
  if (given.tag != Tag::tensor) return C::full(Shape{}, given, dtype, device);
  require_rank(op, given.tensor(), 0, 0);
  return M::cast(given.tensor(), dtype);
}

/// The dtype that is asked for, else one that holds both ends.
DType dtype_between(Args a, size_t asked) {
  DType d = dtype_or_default(a[asked]);
  for (size_t i : {0, 1})
    if (a[asked].none() && a[i].tag == Tag::tensor && is_complex(a[i].tensor().dtype()))
      d = complex_type(d);
  return d;
}

/// In the dtype `to`, between ends in `dtype`. From the nearer end, so that both are exact; from
/// integers on in f64.
Tensor between(std::string_view op, Args a, DType dtype, DType to, const Arg& device) {
  const DType compute = is_integer(dtype) ? DType::f64 : dtype;
  const Int steps = a.integer(2);
  // A number comes to where the tensor is.
  auto at = [&](size_t i) {
    return a[i].tag == Tag::tensor ? Arg(a[i].tensor().device()) : device;
  };
  const Arg where = at(0).none() || a[0].tag != Tag::tensor ? at(1) : at(0);
  auto end = [&](size_t i) { return M::cast(end_of(op, a[i], dtype, where), compute); };
  Tensor start = end(0), stop = end(1);
  Tensor place = C::arange(0, steps, 1, DType::i64, start.device()), i = M::cast(place, compute);
  Tensor step = M::div(M::sub(stop, start), max(steps - 1, Int(1)));
  Tensor left = M::add(M::mul(i, step), start);
  Tensor right = M::sub(stop, M::mul(M::sub(steps - 1, i), step));
  return M::cast(M::where(M::lt(M::mul(place, 2), steps), left, right), to);
}

/// base to the power of evenly spaced exponents; integers as floats, rounded towards 0.
Tensor power_of(const Arg& base, const Tensor& exponents, DType dtype) {
  return M::cast(M::pow(base, exponents), dtype);
}

Outputs logspace(Args a) {
  const DType dtype = dtype_between(a, 4);
  // As in PyTorch, integers lie between powers of whole exponents.
  const DType exponent = is_integer(dtype) ? DType::f64 : compute_type(dtype);
  const DType end = is_integer(dtype) ? dtype : exponent;
  return {power_of(a[3], between("logspace", a, end, exponent, a[5]), dtype)};
}

void add_spaced(Definitions& r) {
  r.composite(
      "linspace.ends(Tensor|Scalar start, Tensor|Scalar end, int steps, *, dtype? dtype=None, "
      "device? device=None) -> Tensor",
      [](Args a) -> Outputs {
        const DType dtype = dtype_between(a, 3);
        return {between("linspace", a, dtype, dtype, a[4])};
      },
      creating("Between ends that are tensors of one element."));
  r.composite(
      "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, dtype? dtype=None, "
      "device? "
      "device=None) -> Tensor",
      logspace, creating("base to the power of steps evenly spaced numbers from start to end."));
  r.composite(
      "logspace.ends(Tensor|Scalar start, Tensor|Scalar end, int steps, float base=10.0, *, dtype? "
      "dtype=None, device? device=None) -> Tensor",
      logspace, creating("Between exponents that are tensors of one element."));
}

// ── of given strides ────────────────────────────────────────────────────────────────────────────

/// Zeros whose axes lie in memory in this order, outermost first.
Tensor zeros_in_order(const Shape& size, const Shape& order, const Arg& dtype, const Arg& device) {
  Shape lying, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    lying.push_back(size[static_cast<size_t>(order[i].value())]);
    back[static_cast<size_t>(order[i].value())] = Int(i);
  }
  return S::permute(C::zeros(lying, dtype, device), back);
}

Outputs empty_permuted_expansion(Args a) {
  const Shape size = a.ints(0), order = a.ints(1);
  named_axes("empty_permuted", order, static_cast<int>(size.size()));
  if (order.size() != size.size())
    throw ValueError({.op = "empty_permuted",
                      .problem = "each axis must be named just once",
                      .got = to_string(order),
                      .expected = absl::StrCat(size.size(), " axes in any order"),
                      .next = "name the axes from the outermost to the innermost in memory"});
  return {zeros_in_order(size, order, a[2], a[3])};
}

Outputs empty_strided_expansion(Args a) {
  const Shape size = a.ints(0), stride = a.ints(1);
  if (size.size() != stride.size())
    throw ValueError({.op = "empty_strided",
                      .problem = "each axis needs one stride",
                      .got = absl::StrCat(to_string(size), " and ", to_string(stride)),
                      .expected = "as many strides as sizes",
                      .next = "give the step between neighbours along each axis"});
  // Elements from the first to the last.
  Int reach = 1;
  bool empty = false;
  for (size_t i = 0; i < size.size(); ++i) {
    reach += max(size[i] - 1, Int(0)) * stride[i];
    empty = empty || size[i] == Int(0);
  }
  Tensor memory = C::zeros({empty ? Int(0) : reach}, a[2], a[3]);
  return {S::as_strided(memory, size, stride, Int(0))};
}

void add_strided(Definitions& r) {
  r.composite(
      "empty_permuted(int[] size, int[] physical_layout, *, dtype? dtype=None, device? "
      "device=None) "
      "-> Tensor",
      empty_permuted_expansion, creating("Zeros whose axes lie in memory in another order."));
  r.composite(
      "empty_strided(int[] size, int[] stride, *, dtype? dtype=None, device? device=None) -> "
      "Tensor",
      empty_strided_expansion, creating("Zeros with these strides."));
  auto new_form = [&](std::string_view name, std::string_view params, auto make,
                      std::string_view doc) {
    Extra e = moving(doc, kMethod);
    e.no_grad = true;
    r.composite(absl::StrCat(name, "(Tensor input, ", params,
                             ", *, dtype? dtype=None, device? device=None) -> Tensor"),
                make, e);
  };
  new_form(
      "new_empty", "int[] size",
      [](Args a) -> Outputs { return {C::zeros(a.ints(1), like_dtype(a, 2), like_device(a, 3))}; },
      "Zeros of these sizes, of this tensor's dtype and device unless others are given.");
  new_form(
      "new_empty_strided", "int[] size, int[] stride",
      [](Args a) -> Outputs {
        return {C::empty_strided(a.ints(1), a.ints(2), like_dtype(a, 3), like_device(a, 4))};
      },
      "Zeros with these strides, of this tensor's dtype and device unless others are given.");
  r.composite(
      "scalar_tensor(Scalar s, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::full(Shape{}, a[0], dtype_or_default(a[1]), a[2])}; },
      creating("A tensor without axes that holds the number, in the default dtype."));
}

}  // namespace

void add_create_forms_definitions(Definitions& r) {
  add_spaced(r);
  add_strided(r);
}

}  // namespace lathe
