// Kernels at random, of all that every engine takes: elements of up to four axes, rows of up to
// three or pieces of a line and one axis along each; and memory to run them on.
#pragma once

#include "jit/kernel_ir/kernel.h"
#include "tests/cpp/jit/kernel_memory.h"

namespace lathe::jit {

struct RandomKernel {
  Kernel kernel;
  std::vector<int64_t> symbols;  // what each is: half of the kernels have sizes and strides of them
  bool compiles = true;          // false: LLVM refuses it, as a loop holds two computations

  int64_t value(Int e) const;
};

/// The same for the same seed.
RandomKernel random_kernel(uint64_t seed);
/// The kernel walked in another way, as far as that is legal.
Schedule random_schedule(const Kernel& kernel, uint64_t seed);

/// The arguments of a kernel, in memory that ends where they end; the same for the same seed.
class KernelArguments {
 public:
  KernelArguments(const RandomKernel& random, uint64_t seed);

  /// Where the two differ first, or nothing. NaNs are one.
  std::string difference(const KernelArguments& other) const;

  /// All bytes of each.
  std::vector<absl::Span<std::byte>> spans() const;

  std::vector<std::byte*> begins;
  std::vector<uint64_t> uniforms;

 private:
  std::vector<DType> dtypes_;
  std::vector<int64_t> elements_;
  std::vector<std::unique_ptr<testing::GuardedBytes>> memory_;
};

}  // namespace lathe::jit
