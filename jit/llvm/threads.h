// From a thread program (jit/simt/program.h) to PTX: a module with an entry for each phase, whose
// statements are LLVM's instructions on plain scalars (VectorOps with one lane), and its text by
// LLVM's NVPTX backend.
//
// The bits are those of the other engines: nothing is contracted, divisions and roots are rounded,
// denormals are kept. Remainders of floats, which are a call elsewhere, are a function of the
// module.
#pragma once

#include "jit/kernel/codegen.h"
#include "jit/llvm/target.h"
#include "jit/simt/program.h"

namespace lathe::jit {

/// The entries of a program that simt::verify() passes and whose functions are lowered.
OwnedModule emit_threads(const simt::Program& program, const Target& target);

/// Empty, or why there is no text of this program.
std::string check_threads(const simt::Program& program);

/// The text, for the virtual machine of this GPU ("sm_80") and those after it. The error says what
/// LLVM could not do.
Result<std::string> ptx_of(const simt::Program& program, std::string_view gpu = "sm_80");

}  // namespace lathe::jit
