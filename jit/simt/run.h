// Runs a thread program on the host, statement by statement, and finds what a device would not say:
//
//   AliasError    a race: two threads touch an element, one of them writes it, and no barrier of
//                 their block stands between; or two blocks do
//   IndexError    an element outside of its memory
//   ValueError    a barrier or shuffle that not all threads reach, memory that is read before it is
//                 written, an argument that is missing
//   UnsupportedError   more shared memory than a block may have
//
// Each names the program, the statement, the memory and index, and both threads. Blocks run one
// after the other, threads to the next barrier, in an order that `seed` shuffles: what a program
// gives must not depend on it. It checks, and is slow: as the interpreter of kernels, twice that
// for what it keeps of every byte.
#pragma once

#include <absl/types/span.h>

#include <functional>

#include "jit/simt/program.h"

namespace lathe::jit::simt {

struct Launch {
  /// Where each global memory begins, and all bytes that belong to it.
  absl::Span<const absl::Span<std::byte>> arguments;
  absl::Span<const uint64_t> uniforms = {};  // bits
  std::function<int64_t(Int)> value;         // of the program's numbers
  uint64_t seed = 0, call = 0;               // of random words
  uint64_t* error = nullptr;                 // of failed checks: jit/kernel/codegen.h; may be null
  int64_t most_blocks = 0;                   // of a grid; 0: as many as have work
  uint64_t order = 0;                        // of threads and blocks
};

/// The program is one that verify() passes, or refuses for its barriers and shuffles alone.
void run(const Program& program, const Launch& launch);

}  // namespace lathe::jit::simt
