// The shape and dtype rules, one a kind. Op::infer calls the one for the definition's kind; nothing
// else does.
#pragma once

#include "core/op/op.h"

namespace lathe {

Types infer_elementwise(const Op& op, Args args);
Types infer_reduce(const Op& op, Args args);
Types infer_scan(const Op& op, Args args);
Types infer_contract(const Op& op, Args args);
Types infer_view(const Op& op, Args args);
Types infer_index(const Op& op, Args args);
Types infer_sort(const Op& op, Args args);

/// What a composite gives, and whether its expansion draws no random numbers: only then may it be
/// run a second time for its derivative.
struct CompositeTypes {
  Types types;
  bool pure = true;
};
CompositeTypes infer_composite(const Op& op, Args args);

/// What arithmetic on these tensors and numbers is done in: tensors with axes decide, then tensors
/// without, then numbers.
DType result_type(Args args);

/// Has this parameter a dtype of its own, which takes no part in promotion?
bool is_fixed(const Op& op, size_t param);

/// DTypeError unless the definition is defined for this dtype.
void require_domain(const Op& op, DType dtype);

/// core/scalar/dtype.h's of the same name, for a number as the caller gave it; of a symbolic one
/// the trace notes a guard.
void require_in_range(std::string_view op, DType dtype, const Arg& number);

/// Are the shapes equal? A trace notes what it takes for granted as checks.
bool require_equal(IntSpan a, IntSpan b);

/// Is a size that is not known 0 or 1, as the number of first elements? Then whether it is 1 says
/// more than whether it equals another.
bool at_most_one(Int size);

/// Numpy broadcasting of two shapes; ShapeError names `op`. A symbolic size is guarded only where
/// the other is 1 or the two are not provably equal.
Shape broadcast_shapes(std::string_view op, IntSpan a, IntSpan b);

/// The device all tensor arguments share; DeviceError names the two that differ. 0-d tensors on the
/// cpu may meet any device.
Device common_device(const Op& op, Args args);
/// DeviceError unless they are one device; what: of the two, as a sentence's subject.
void require_one_device(std::string_view op, std::string_view what, Device a, Device b);

/// Axes as a mask by axis. IndexError on a bad or repeated one, of a 0-d tensor too.
using AxisMask = absl::InlinedVector<bool, 6>;
AxisMask named_axes(std::string_view op, IntSpan dims, int rank);
/// The axes a reduction runs over: [] means all.
AxisMask reduced_axes(const Op& op, Args args, int rank);

/// Conventional positions in the schemas of reducing definitions: x, dim, keepdim.
inline constexpr int kReduceDim = 1, kReduceKeep = 2;
/// And of scanning definitions: x, dim, reverse.
inline constexpr int kScanDim = 1, kScanReverse = 2;

}  // namespace lathe
