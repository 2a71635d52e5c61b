// Derivatives of elementwise ops in eager code. The derivative of a gelu is eighteen ops, each a
// trip through memory; as a program it is one kernel, with the same bits.
#pragma once

#include <string>

#include "core/dispatch/grad.h"

namespace lathe::jit {

/// A GradientRunner (core/dispatch/grad.h), for derivatives of one kind from the (flag
/// `fuse_after`)th on, of tensors that are large enough for a program to be less work than a few
/// short calls. False where a derivative of second order may be asked for, where an operand is not
/// in row-major order or the size of one that was not kept is another than the result's, and where
/// the rule starts no more kernels than its program.
bool run_gradient_program(const Grad::Data& data, Grads& out);

/// What runs so now, as composites_text() says it.
std::string gradients_text();

}  // namespace lathe::jit
