// Constants of a loaded program that are there once: as they were read until a product packs them,
// in packed form from then on. Their plain elements are made where somebody asks for them (to save
// the program, to differentiate it, for another instruction set), and stay.
#pragma once

#include "core/tensor/tensor.h"
#include "kernels/table/prepared.h"

namespace lathe::jit {

/// Moves what the tensor holds out of sight: its storage becomes another one, which is `ready` only
/// after a wait. For a tensor that no other thread knows yet. Does nothing where that is not worth
/// it, or where the storage has another holder.
void hold(TensorImpl& t);

/// Operand `operand` of a call in the form of its entry, or null: `seen` of `whole`. `alone`: the
/// form is all that the program reads of a tensor that is held, which is then kept in it.
PackedRef packed_form(const PreparedCall& call, size_t operand, const Tensor& whole,
                      const lathe::Operand& seen, bool alone);

}  // namespace lathe::jit
