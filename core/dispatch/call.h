// The one way an op is called, by eager Python and C++, the tape's derivative rules, expansions of
// composites, tracers and interpreters alike.
#pragma once

#include "core/dispatch/backend.h"

namespace lathe {

/// Where a call's result goes: to a fresh tensor, or into the first operand (x.op_(...)).
enum class CallForm : uint8_t { fresh, in_place };

/// Runs `op` on arguments that complete its schema (complete_call), and returns its results:
///
///   infer the types | backend.run, or the expansion of a composite it does not claim | observers
///
/// In place this is assign(x, op(x, ...)), computed where x lies if nothing can tell, and there are
/// no results. Throws what the op's rules and kernels throw (ShapeError, DTypeError ...),
/// in place also DTypeError and ShapeError where the result does not fit into x, and what assign()
/// throws.
Outputs call(const Op& op, Args args, CallForm form = CallForm::fresh);

/// The same by the short way of small elementwise ops (shortcut.h). True: the call is done, and its
/// one result is in `result` (in place: untouched). False: there is no short way, nothing was done,
/// and call() has to be asked.
bool call_short(const Op& op, Args args, CallForm form, Tensor& result);

/// The first result of call().
Tensor call_one(const Op& op, Args args);

/// The results of a composite by its expansion, which computes in the op type (Extra::moves).
Outputs expand(const Op& op, Args args);

/// Runs a composite in eager code as one program, with the results, bits and history of its
/// expansion; false: it leaves the call alone, and nothing was done. Operands are fresh.
using CompositeRunner = bool (*)(const Op& op, Args args, Outputs& outputs);
/// Set once at start-up by jit/. Asked where the default backend computes and nobody but the tape
/// watches.
void set_composite_runner(CompositeRunner runner);

/// Is this a call of the program's own, inside of a scope of autocast (AutocastScope) that changes
/// the operands of this definition? What composites call is not asked.
bool casts_operands(const Op& op);
/// The call with its operands converted, outside of the scope: what the op consists of sees theirs.
void call_cast(const Op& op, Args args, Outputs& outputs);

/// Brings a view up to date with its base, by replaying its steps, if a write made it stale.
void refresh(const Tensor& x);

}  // namespace lathe
