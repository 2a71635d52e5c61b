// What linear algebra needs beside LAPACK; each is an entry of its own in kernels/entries.cpp.
#pragma once

#include "core/dispatch/call.h"

namespace lathe::own {

/// (pivots, rows, inverse): the order of rows that swapping them one by one leads to.
void run_lu_permutation(const Call& call, Outputs& outputs);
/// (A, value): value.
void run_pinv_of(const Call& call, Outputs& outputs);
/// (input, turn): input, or an AutogradError if an element of turn is not about 0.
void run_phase_free(const Call& call, Outputs& outputs);

}  // namespace lathe::own
