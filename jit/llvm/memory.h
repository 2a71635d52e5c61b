// How a vector of elements is read from and written to memory: whole, or only its first few where
// an axis ends.
#pragma once

#include <absl/container/inlined_vector.h>

#include "jit/llvm/vector_ops.h"

namespace lathe::jit {

enum class Movement : uint8_t { contiguous, uniform, strided };

/// Where lane 0's element is, and where the next one.
struct Place {
  DType dtype;
  Movement movement;
  llvm::Value* pointer;
  llvm::Value* stride = nullptr;  // strided: bytes, i64
};

/// One value, or the two parts of a complex one.
using Parts = absl::InlinedVector<llvm::Value*, 2>;

class Memory {
 public:
  Memory(VectorOps& ops, const Target& target) : ops_(ops), b_(ops.b), target_(target) {}

  /// The lanes' elements; with `count`, of the first 0 < count < lanes lanes only: memory beyond is
  /// not touched, and the other lanes hold anything.
  Parts load(const Place& place, llvm::Value* count = nullptr);
  void store(const Place& place, const Parts& values, llvm::Value* count = nullptr);

 private:
  llvm::Type* memory_type(DType dtype) const;
  bool masks_runs(llvm::Type* scalar) const;
  bool gathers(llvm::Type* scalar) const;
  llvm::Value* first_lanes(unsigned lanes, llvm::Value* count);
  llvm::Value* gather_mask(llvm::Value* count);
  llvm::Value* load_run(llvm::Type* scalar, unsigned lanes, llvm::Value* pointer,
                        llvm::Value* count);
  void store_run(llvm::Value* vector, llvm::Value* pointer, llvm::Value* count);
  llvm::Value* load_strided(llvm::Type* scalar, const Place& place, uint64_t skip,
                            llvm::Value* count);
  void store_strided(llvm::Value* vector, const Place& place, uint64_t skip, llvm::Value* count);
  llvm::Value* pointers(const Place& place, uint64_t skip);
  llvm::Value* temporary(llvm::Type* vector);
  llvm::Value* from_memory(DType dtype, llvm::Value* x);
  llvm::Value* to_memory(DType dtype, llvm::Value* x);

  VectorOps& ops_;
  llvm::IRBuilder<>& b_;
  const Target& target_;
  absl::flat_hash_map<llvm::Type*, llvm::Value*> temporaries_;
};

}  // namespace lathe::jit
