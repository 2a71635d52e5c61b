// From a kernel (jit/kernel_ir/kernel.h) to a thread program, with the bits of its statements:
//
//   elements   a thread an element, in strides of the grid; of an operand of several pieces it
//   reads
//              each that is there for it, the last one for good
//   rows       a block of threads a row, in strides of the grid. Along the inner axis a loop gives
//              element i to thread i mod `threads`. A reduction gives each block of 512 elements to
//              a half-warp: lane i mod 16 takes 32 of them ascending, shuffles by 8, 4, 2, 1 halve,
//              and thread 0 counts the blocks in shared memory. What a row keeps for itself is
//              shared, but for what plain computations give, which every thread computes
//   sums over rows   a block of threads does 512 rows one after the other; thread j mod `threads`
//              holds the sixteen lanes of column j in scratch memory. A second phase combines the
//              blocks of each column
//
// Barriers stand where one thread reads or writes what another has touched since the last one.
// The kernel's own schedule says nothing here: `Shape` is that of a grid, and may be any.
#pragma once

#include "jit/kernel_ir/kernel.h"
#include "jit/simt/program.h"
#include "jit/simt/shape.h"

namespace lathe::jit::simt {

/// Empty, or why no thread program can be made of this kernel, which verify() has passed.
std::string refuses(const Kernel& kernel);

/// Throws UnsupportedError for a kernel that it refuses.
Program threads_of(const Kernel& kernel, const Shape& shape = {});

}  // namespace lathe::jit::simt
