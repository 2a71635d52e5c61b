// Bodies as they run on stored elements. A definition's body is written for one compute dtype;
// operands are stored in theirs. What happens between is part of the meaning, so it is in the DAG,
// and every engine takes it from here:
//
//   tensor   stored dtype → the dtype operands meet in (rounding, if that is f16 or bf16) → compute
//   dtype number   straight to the compute dtype, on the host result   compute dtype → stored
//   dtype, rounding once
//
// Parameters of a fixed dtype (the condition of where) go to that dtype instead.
#pragma once

#include "core/op/op.h"

namespace lathe {

/// x in dtype `to`, as the op `cast` converts: f16 and bf16 by way of f32, complex to real by its
/// real part.
Expr convert_to(Expr x, DType to);

/// The dtype in which `op`'s body for `compute` takes argument `param`.
DType input_dtype(const Op& op, int param, DType compute);

/// The dtype of a plain number in that place: no number is complex, so it comes as a real one.
DType number_dtype(const Op& op, int param, DType compute);

/// One input of a stored body.
struct BodyInput {
  DType dtype;          // as it comes
  bool number = false;  // a uniform in compute dtype, converted on the host
};

/// `op`'s body for these inputs (one a body_params entry) on stored elements. Elementwise, create,
/// random definitions.
ScalarFunction stored_body(const Op& op, const ElementTypes& types,
                           absl::Span<const BodyInput> inputs);

/// The four functions of a reducing or scanning definition, on stored elements. No state is
/// complex: the parts of one are two states.
struct ReduceBodies {
  std::vector<DType> state;
  std::vector<uint64_t> unit;  // bits, one a state
  ScalarFunction lift;         // stored element, its index in the reduced space (i64) → state
  ScalarFunction combine;      // state, state → state
  ScalarFunction finish;       // state, count of elements (i64) → stored results
};
ReduceBodies reduce_bodies(const Op& op, const ElementTypes& types, DType stored);

bool reads_input(const ScalarFunction& f, size_t which);

/// A number argument as the bits of an element of `dtype`, in `room` (16 bytes).
void store_number(const Arg& value, DType dtype, std::byte* room);

}  // namespace lathe
