// How a vector of elements is read from and written to memory: whole, or only its first few where
// an axis ends.
#pragma once

#include <functional>

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

/// Which lanes take part: `count` (0 < count < lanes) from lane `first` on (absent: 0), or all.
struct Limit {
  llvm::Value* count = nullptr;
  llvm::Value* first = nullptr;
  explicit operator bool() const { return count != nullptr; }
};

/// One value, or the two parts of a complex one.
using Parts = absl::InlinedVector<llvm::Value*, 2>;

class Memory {
 public:
  Memory(VectorOps& ops, const Target& target) : ops_(ops), b_(ops.b), target_(target) {}

  /// The lanes' elements. Memory of lanes that take no part is not touched; such lanes hold
  /// anything. Stores begin at lane 0.
  Parts load(const Place& place, Limit limit = {});
  void store(const Place& place, const Parts& values, Limit limit = {});
  /// Calls the lines of the lanes' elements into the second-level cache. Contiguous places only.
  void fetch(const Place& place);

 private:
  llvm::Type* memory_type(DType dtype) const;
  bool masks_loads(llvm::Type* scalar) const;
  bool masks_stores(llvm::Type* scalar) const;
  bool gathers(llvm::Type* scalar) const;
  llvm::Value* gather_mask(Limit limit);
  llvm::Value* bytes_in(llvm::Type* scalar, llvm::Value* lanes);
  Limit doubled(Limit limit);
  llvm::Value* load_run(llvm::Type* scalar, unsigned lanes, llvm::Value* pointer, Limit limit);
  void store_run(llvm::Value* vector, llvm::Value* pointer, Limit limit);
  void store_first(llvm::Value* vector, llvm::Value* pointer, llvm::Value* count);
  /// for (i = first; i < last; i += step) body(i)
  void repeat(llvm::Value* first, llvm::Value* last, uint64_t step,
              const std::function<void(llvm::Value*)>& body);
  llvm::Value* load_strided(llvm::Type* scalar, const Place& place, uint64_t skip, Limit limit);
  void store_strided(llvm::Value* vector, const Place& place, uint64_t skip, Limit limit);
  void store_each(llvm::Value* vector, llvm::Value* pointer, llvm::Value* stride, Limit limit,
                  uint64_t skip = 0);
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
