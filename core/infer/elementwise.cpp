#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/infer/rules.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

/// Promotion as PyTorch's users know it: tensors with axes decide, then 0-d tensors, then plain
/// numbers; a lower standing only matters when it brings a higher category (bool < integer < float
/// < complex).
struct Standing {
  bool any = false;
  DType dtype = DType::bool_;
  void meet(DType d) {
    dtype = any ? promote(dtype, d) : d;
    any = true;
  }
};
struct Standings {
  Standing axes, points, numbers;
  void meet(const Arg& a);
  DType common() const;
};

DType scalar_dtype(const Arg& a) {
  if (a.tag == Tag::flag) return DType::bool_;
  if (a.tag == Tag::integer) return DType::i64;
  return default_dtype();
}

/// A lower standing of the same or a lower category changes nothing.
DType combine(const Standing& high, const Standing& low) {
  if (!low.any) return high.dtype;
  if (!high.any || category(low.dtype) > category(high.dtype)) {
    // A float met by a complex number: the complex type of the float's width.
    return high.any && is_floating(high.dtype) ? complex_type(high.dtype) : low.dtype;
  }
  return high.dtype;
}

/// Does this argument join in the common dtype?
bool joins_in(const Op& op, size_t param) {
  ArgType type = op.schema.params[param].type;
  return (type == ArgType::tensor || type == ArgType::scalar) && !is_fixed(op, param);
}

void Standings::meet(const Arg& a) {
  if (a.tag == Tag::tensor)
    (a.tensor_->geometry.rank() > 0 ? axes : points).meet(a.tensor_->dtype);
  else if (a.tag == Tag::list)
    for (size_t k = 0; k < a.list_->size; ++k) meet(a.list_->data[k]);
  else if (a.scalar())
    numbers.meet(scalar_dtype(a));
}

DType Standings::common() const {
  const Standing lower{points.any || numbers.any, combine(points, numbers)};
  return combine(axes, lower);
}

DType common_dtype(const Op& op, Args args) {
  Standings all;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!joins_in(op, i)) continue;
    if (args[i].tag == Tag::tensor && op.extra.promote == Promote::first)
      return args[i].tensor_->dtype;
    all.meet(args[i]);
  }
  return all.common();
}

/// A comparison has an answer for any two integers, in integers that hold both. (Which ones does
/// not depend on a plain number: a program serves many.)
DType wide_enough(const Op& op, Args args, DType common) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!joins_in(op, i)) continue;
    // Nothing is wider than u64: numbers must be among its own.
    if (args[i].tag == Tag::integer && common != DType::u64) return DType::i64;
    if (args[i].tag == Tag::tensor) common = promote(common, args[i].tensor_->dtype);
  }
  return common;
}

/// Elsewhere a plain number joins in the integers that the tensors have, and must be one of those.
void require_numbers_in_range(const Op& op, Args args, DType common) {
  if (!is_integer(common)) return;
  if (op.extra.promote == Promote::boolean && common != DType::u64) return;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].scalar() && joins_in(op, i)) require_in_range(op.name(), common, args[i]);
}

[[noreturn]] void not_defined(const Op& op, DType dtype) {
  std::string have;
  for (int d = 0; d < kDTypeCodes; ++d)
    if (op.extra.domain.has(static_cast<DType>(d)) && info(static_cast<DType>(d)).tensor)
      absl::StrAppend(&have, have.empty() ? "" : ", ", name(static_cast<DType>(d)));
  throw DTypeError({.op = op.name(),
                    .problem = absl::StrCat("not defined for ", name(dtype)),
                    .got = std::string(name(dtype)),
                    .expected = have,
                    .next = "convert with .to(dtype)"});
}

}  // namespace

DType result_type(Args args) {
  Standings all;
  for (const Arg& a : args) all.meet(a);
  return all.common();
}

void require_domain(const Op& op, DType dtype) {
  if (!op.extra.domain.has(dtype)) not_defined(op, dtype);
}

void require_in_range(std::string_view op, DType dtype, const Arg& number) {
  if (!integers.has(dtype)) return;
  IntegerRange r = range_of(dtype);
  if (number.tag == Tag::real) {
    const Real n = number.real();
    const auto low = static_cast<double>(r.low), high = static_cast<double>(r.high);
    // What is left of the fraction: doubles near the ends of i64 have none.
    const bool above = dtype == DType::i64 ? n >= low : n > low - 1.0;
    if (!(above && n < high + 1.0)) require_in_range(op, dtype, n.hint());
    return;
  }
  if (number.tag != Tag::integer || dtype == DType::i64) return;
  Int n = number.integer();
  // A guard, not a check: of a size that data decides nobody could ask it, and a trace is refused.
  const bool above = dtype != DType::u64 && Int(static_cast<int64_t>(r.high)) < n;
  if (above || n < Int(r.low)) require_in_range(op, dtype, n.hint());
}

ElementTypes element_types(const Op& op, Args args) {
  ElementTypes t;
  DType common = common_dtype(op, args);
  if (is_integer(common) && op.extra.promote == Promote::boolean)
    common = wide_enough(op, args, common);
  size_t n = op.schema.results.size();
  DType result = common;
  switch (op.extra.promote) {
    case Promote::to_float:
      if (!is_floating(common) && !is_complex(common)) common = default_dtype();
      result = common;
      break;
    case Promote::sum:
      if (!is_floating(common) && !is_complex(common)) common = DType::i64;
      result = common;
      break;
    case Promote::boolean:
      result = DType::bool_;
      break;
    case Promote::truth:
      result = common == DType::u8 ? common : DType::bool_;
      break;
    case Promote::index:
      result = DType::i64;
      break;
    case Promote::real:
      result = real_type(common);
      break;
    case Promote::complex:
      result = complex_type(common);
      break;
    case Promote::attribute:
      for (size_t i = 0; i < args.size(); ++i)
        if (args[i].tag == Tag::dtype) result = args[i].dtype_;
      break;
    case Promote::numeric:
    case Promote::first:
      break;
  }
  require_domain(op, common);
  t.common = common;
  t.compute = compute_type(common);
  t.results.assign(n, result);
  return t;
}

bool is_fixed(const Op& op, size_t param) {
  for (const FixedType& f : op.extra.fixed)
    if (static_cast<size_t>(f.param) == param) return true;
  return false;
}

bool require_equal(IntSpan a, IntSpan b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i) equal = require(Relation::eq, a[i], b[i]);
  return equal;
}

bool at_most_one(Int size) {
  const SymScope* scope = size.known() ? nullptr : SymScope::current();
  return scope != nullptr && scope->bounds(size).second <= 1;
}

/// A size that only running tells.
static bool by_data(Int size) {
  const SymScope* scope = size.known() ? nullptr : SymScope::current();
  return scope != nullptr && scope->inside(size);
}

/// Of another that is not 1 such a size is presumed to be the same: what else may be is that it is
/// 1, which is seldom so, or an error.
static bool meets_one_by_data(Int size, Int other) {
  return by_data(other) && !by_data(size) && !(size == Int(1)) &&
         require(Relation::eq, size, other);
}

Shape broadcast_shapes(std::string_view op, IntSpan a, IntSpan b) {
  if (identical(a, b)) return Shape(a.begin(), a.end());
  size_t rank = std::max(a.size(), b.size());
  Shape out(rank, Int(1));
  for (size_t i = 0; i < rank; ++i) {
    Int x = i < a.size() ? a[a.size() - 1 - i] : Int(1);
    Int y = i < b.size() ? b[b.size() - 1 - i] : Int(1);
    Int& z = out[rank - 1 - i];
    if (identical(x, y) || identical(y, Int(1))) {
      z = x;
    } else if (identical(x, Int(1))) {
      z = y;
    } else if (at_most_one(x) && !at_most_one(y) && x == Int(1)) {
      z = y;
    } else if (at_most_one(y) && !at_most_one(x) && y == Int(1)) {
      z = x;
    } else if (meets_one_by_data(x, y) || meets_one_by_data(y, x)) {
      z = by_data(x) ? y : x;
    } else if (x == y) {
      z = x.known() ? x : y;
    } else if (x == Int(1)) {
      z = y;
    } else if (y == Int(1)) {
      z = x;
    } else {
      throw ShapeError(
          {.op = std::string(op),
           .problem = "the shapes do not broadcast",
           .got = absl::StrCat(to_string(a), " and ", to_string(b)),
           .expected = absl::StrCat("sizes equal or 1, counted from the last axis; found ",
                                    to_string(x), " and ", to_string(y)),
           .next = "reshape or unsqueeze one of them"});
    }
  }
  return out;
}

Shape broadcast(const Op& op, absl::Span<const Shape* const> shapes) {
  if (shapes.empty()) return {};
  Shape out = *shapes[0];
  for (size_t i = 1; i < shapes.size(); ++i) out = broadcast_shapes(op.name(), out, *shapes[i]);
  return out;
}

void require_one_device(std::string_view op, std::string_view what, Device a, Device b) {
  if (a == b) return;
  throw DeviceError({.op = std::string(op),
                     .problem = absl::StrCat(what, " are on different devices"),
                     .got = absl::StrCat(to_string(a), " and ", to_string(b)),
                     .expected = "one device",
                     .next = "move one with .to(device)"});
}

Device common_device(const Op& op, Args args) {
  const TensorImpl* first = nullptr;
  auto meet = [&](const TensorImpl* t) {
    if (first == nullptr ||
        (first->geometry.rank() == 0 && first->device.kind == DeviceKind::cpu)) {
      first = t;
      return;
    }
    if (t->device == first->device ||
        (t->geometry.rank() == 0 && t->device.kind == DeviceKind::cpu))
      return;
    require_one_device(op.name(), "the operands", first->device, t->device);
  };
  for (const Arg& a : args) {
    if (a.tag == Tag::tensor) meet(a.tensor_);
    if (a.tag == Tag::list)
      for (size_t i = 0; i < a.list_->size; ++i)
        if (a.list_->data[i].tag == Tag::tensor) meet(a.list_->data[i].tensor_);
  }
  if (first != nullptr) return first->device;
  for (const Arg& a : args)
    if (a.tag == Tag::device) return a.device_;
  return {};
}

Types infer_elementwise(const Op& op, Args args) {
  ElementTypes t = element_types(op, args);
  require_numbers_in_range(op, args, t.common);
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const Arg& a : args)
    if (a.tag == Tag::tensor) shapes.push_back(&a.tensor_->geometry.shape);
  Shape shape = broadcast(op, shapes);
  Device device = common_device(op, args);
  Types out;
  for (DType d : t.results) out.push_back({d, shape, device});
  return out;
}

}  // namespace lathe
