// What one thread of a program that LLVM has compiled for the host is called with. Its function,
// kKernelSymbol of jit/kernel/codegen.h, takes a HostThread*; who calls it for every thread of a
// block has them wait for each other where they say so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe::jit::simt {

struct HostThread {
  int64_t phase = 0;
  int64_t block = 0, thread = 0, grid = 0;
  std::byte* shared = nullptr;           // of the block, on a multiple of 16 bytes
  std::byte* const* memories = nullptr;  // that are not shared, in the program's order
  const int64_t* numbers = nullptr;
  const uint64_t* uniforms = nullptr;
  uint64_t seed = 0, call = 0;
  uint64_t* error = nullptr;
  /// Comes back when all threads of the block have come here.
  void (*barrier)(HostThread*) = nullptr;
  /// The word that the lane so many further in the half-warp brings; its own, where there is none.
  uint32_t (*shuffle)(HostThread*, uint32_t word, uint32_t distance) = nullptr;
};

}  // namespace lathe::jit::simt
