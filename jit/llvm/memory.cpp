#include "jit/llvm/memory.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>

namespace lathe::jit {

using llvm::Value;

namespace {

/// Buffers promise no alignment, and on this machine it costs nothing.
llvm::Align any_alignment() { return llvm::Align(1); }

unsigned lanes_of(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}
uint64_t bytes_of(llvm::Type* scalar) { return scalar->getScalarSizeInBits() / 8; }

}  // namespace

llvm::Type* Memory::memory_type(DType dtype) const {
  return dtype == DType::bool_ ? b_.getInt8Ty() : ops_.scalar_type(real_type(dtype));
}

/// Whether there are instructions that read the first elements of a run of this type.
bool Memory::masks_loads(llvm::Type* scalar) const {
  return bytes_of(scalar) >= 4 ? target_.has("avx2") : target_.has("avx512bw");
}
/// Whether there are fast ones that write them. AVX2's is microcode on some machines, slower there
/// than an element at a time.
bool Memory::masks_stores(llvm::Type* scalar) const {
  return target_.has(bytes_of(scalar) >= 4 ? "avx512f" : "avx512bw");
}
bool Memory::gathers(llvm::Type* scalar) const {
  return ops_.lanes() > 1 && bytes_of(scalar) >= 4 && target_.has("avx512f");
}

Value* Memory::from_memory(DType dtype, Value* x) {
  if (dtype != DType::bool_) return x;
  return b_.CreateICmpNE(x, llvm::ConstantInt::get(x->getType(), 0));
}
Value* Memory::to_memory(DType dtype, Value* x) {
  return dtype == DType::bool_ ? b_.CreateZExt(x, ops_.widen(b_.getInt8Ty())) : x;
}

/// A slot on the stack for one vector, shared by all who need one of that type in turn.
Value* Memory::temporary(llvm::Type* vector) {
  Value*& slot = temporaries_[vector];
  if (slot == nullptr) {
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> top(&entry, entry.begin());
    auto* made = top.CreateAlloca(vector);
    made->setAlignment(llvm::Align(64));
    slot = made;
  }
  return slot;
}

// ── runs ────────────────────────────────────────────────────────────────────────────────────────
Value* Memory::bytes_in(llvm::Type* scalar, Value* lanes) {
  return b_.CreateMul(lanes, b_.getInt64(bytes_of(scalar)));
}

Value* Memory::load_run(llvm::Type* scalar, unsigned lanes, Value* pointer, Limit limit) {
  llvm::Type* type = lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
  if (!limit) return b_.CreateAlignedLoad(type, pointer, any_alignment());
  if (masks_loads(scalar))
    return b_.CreateMaskedLoad(type, pointer, any_alignment(),
                               ops_.mask_of(lanes, limit.first, limit.count),
                               llvm::Constant::getNullValue(type));
  // No byte but the elements' may be read: they are copied to where there is room.
  Value* room = temporary(type);
  b_.CreateAlignedStore(llvm::Constant::getNullValue(type), room, llvm::Align(64));
  Value* skip = limit.first == nullptr ? b_.getInt64(0) : bytes_in(scalar, limit.first);
  b_.CreateMemCpy(b_.CreateGEP(b_.getInt8Ty(), room, skip), any_alignment(),
                  b_.CreateGEP(b_.getInt8Ty(), pointer, skip), any_alignment(),
                  bytes_in(scalar, limit.count));
  return b_.CreateAlignedLoad(type, room, llvm::Align(64));
}

void Memory::store_run(Value* vector, Value* pointer, Limit limit) {
  llvm::Type* scalar = vector->getType()->getScalarType();
  if (!limit)
    b_.CreateAlignedStore(vector, pointer, any_alignment());
  else if (masks_stores(scalar))
    b_.CreateMaskedStore(vector, pointer, any_alignment(),
                         ops_.mask_of(lanes_of(vector->getType()), nullptr, limit.count));
  else
    store_first(vector, pointer, limit.count);
}

void Memory::repeat(Value* first, Value* last, uint64_t step,
                    const std::function<void(Value*)>& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b_.getContext(), "store_loop", before->getParent());
  auto* done = llvm::BasicBlock::Create(b_.getContext(), "stored", before->getParent());
  b_.CreateCondBr(b_.CreateICmpULT(first, last), loop, done);
  b_.SetInsertPoint(loop);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(first, before);
  body(i);
  Value* next = b_.CreateAdd(i, b_.getInt64(step));
  i->addIncoming(next, loop);
  b_.CreateCondBr(b_.CreateICmpULT(next, last), loop, done);
  b_.SetInsertPoint(done);
}

/// As `count` is the sum of powers of two, half of the vector at most: each by one store. Rows of
/// one length take the same way each time.
void Memory::store_first(Value* vector, Value* pointer, Value* count) {
  llvm::Type* scalar = vector->getType()->getScalarType();
  Value* room = temporary(vector->getType());
  b_.CreateAlignedStore(vector, room, llvm::Align(64));
  for (uint64_t several = lanes_of(vector->getType()) / 2; several > 0; several /= 2) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* some = llvm::BasicBlock::Create(b_.getContext(), "store_some", before->getParent());
    auto* done = llvm::BasicBlock::Create(b_.getContext(), "stored", before->getParent());
    b_.CreateCondBr(b_.CreateIsNotNull(b_.CreateAnd(count, b_.getInt64(several))), some, done);
    b_.SetInsertPoint(some);
    Value* lane = b_.CreateAnd(count, b_.getInt64(~(2 * several - 1)));
    llvm::Type* type = several == 1 ? scalar : llvm::FixedVectorType::get(scalar, several);
    b_.CreateAlignedStore(
        b_.CreateAlignedLoad(type, b_.CreateGEP(scalar, room, lane), any_alignment()),
        b_.CreateGEP(scalar, pointer, lane), any_alignment());
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
}

Value* Memory::gather_mask(Limit limit) {
  if (limit) return ops_.mask_of(ops_.lanes(), limit.first, limit.count);
  return llvm::Constant::getAllOnesValue(ops_.type(DType::bool_));
}

// ── strided ─────────────────────────────────────────────────────────────────────────────────────
Value* Memory::pointers(const Place& place, uint64_t skip) {
  Value* steps = b_.CreateMul(ops_.lane_numbers(), ops_.splat(place.stride));
  return b_.CreateGEP(b_.getInt8Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), place.pointer, skip),
                      steps);
}

Value* Memory::load_strided(llvm::Type* scalar, const Place& place, uint64_t skip, Limit limit) {
  llvm::Type* type = ops_.widen(scalar);
  if (gathers(scalar)) {
    Value* mask = gather_mask(limit);
    return b_.CreateMaskedGather(type, pointers(place, skip), any_alignment(), mask,
                                 llvm::Constant::getNullValue(type));
  }
  // Lanes that take no part read the nearest element that does.
  Value* first = limit.first == nullptr ? b_.getInt64(0) : limit.first;
  Value* last = limit ? b_.CreateAdd(first, b_.CreateSub(limit.count, b_.getInt64(1))) : nullptr;
  Value* result = llvm::PoisonValue::get(type);
  for (uint64_t i = 0; i < ops_.lanes(); ++i) {
    Value* lane = b_.getInt64(i);
    if (limit) lane = b_.CreateSelect(b_.CreateICmpSLT(lane, last), lane, last);
    if (limit.first != nullptr) lane = b_.CreateSelect(b_.CreateICmpSGT(lane, first), lane, first);
    Value* offset = b_.CreateAdd(b_.CreateMul(lane, place.stride), b_.getInt64(skip));
    Value* element = b_.CreateAlignedLoad(
        scalar, b_.CreateGEP(b_.getInt8Ty(), place.pointer, offset), any_alignment());
    result = ops_.lanes() == 1 ? element : b_.CreateInsertElement(result, element, i);
  }
  return result;
}

void Memory::store_strided(Value* vector, const Place& place, uint64_t skip, Limit limit) {
  llvm::Type* scalar = vector->getType()->getScalarType();
  if (gathers(scalar)) {
    b_.CreateMaskedScatter(vector, pointers(place, skip), any_alignment(), gather_mask(limit));
    return;
  }
  if (limit) return store_each(vector, place.pointer, place.stride, limit, skip);
  for (uint64_t i = 0; i < ops_.lanes(); ++i) {
    Value* offset = b_.CreateAdd(b_.CreateMul(b_.getInt64(i), place.stride), b_.getInt64(skip));
    b_.CreateAlignedStore(ops_.lanes() == 1 ? vector : b_.CreateExtractElement(vector, i),
                          b_.CreateGEP(b_.getInt8Ty(), place.pointer, offset), any_alignment());
  }
}

/// for (lane = 0; lane < count; ++lane) *(pointer + skip + lane * stride) = vector[lane]
void Memory::store_each(Value* vector, Value* pointer, Value* stride, Limit limit, uint64_t skip) {
  llvm::Type* scalar = vector->getType()->getScalarType();
  Value* room = temporary(vector->getType());
  b_.CreateAlignedStore(vector, room, llvm::Align(64));
  repeat(b_.getInt64(0), limit.count, 1, [&](Value* lane) {
    Value* offset = b_.CreateAdd(b_.CreateMul(lane, stride), b_.getInt64(skip));
    b_.CreateAlignedStore(b_.CreateLoad(scalar, b_.CreateGEP(scalar, room, lane)),
                          b_.CreateGEP(b_.getInt8Ty(), pointer, offset), any_alignment());
  });
}

// ── both ────────────────────────────────────────────────────────────────────────────────────────
/// The same lanes where each has two elements.
Limit Memory::doubled(Limit limit) {
  if (limit) limit.count = b_.CreateShl(limit.count, 1);
  if (limit.first != nullptr) limit.first = b_.CreateShl(limit.first, 1);
  return limit;
}

Parts Memory::load(const Place& place, Limit limit) {
  llvm::Type* scalar = memory_type(place.dtype);
  const bool pair = is_complex(place.dtype);
  const uint64_t part_bytes = size_of(real_type(place.dtype));  // from one part to the next
  const uint64_t last = pair ? part_bytes : 0;
  Parts parts;
  switch (place.movement) {
    case Movement::uniform:
      for (uint64_t skip = 0; skip <= last; skip += part_bytes) {
        Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), place.pointer, skip);
        parts.push_back(ops_.splat(b_.CreateAlignedLoad(scalar, at, any_alignment())));
      }
      break;
    case Movement::strided:
      for (uint64_t skip = 0; skip <= last; skip += part_bytes)
        parts.push_back(load_strided(scalar, place, skip, limit));
      break;
    case Movement::contiguous: {
      const unsigned lanes = ops_.lanes();
      if (!pair) {
        parts.push_back(load_run(scalar, lanes, place.pointer, limit));
        break;
      }
      Value* both = load_run(scalar, 2 * lanes, place.pointer, doubled(limit));
      for (int part = 0; part < 2; ++part) {
        llvm::SmallVector<int, 64> pick;
        for (unsigned i = 0; i < lanes; ++i) pick.push_back(static_cast<int>(2 * i) + part);
        parts.push_back(lanes == 1 ? b_.CreateExtractElement(both, static_cast<uint64_t>(part))
                                   : b_.CreateShuffleVector(both, pick));
      }
      break;
    }
  }
  for (Value*& part : parts) part = from_memory(place.dtype, part);
  return parts;
}

void Memory::store(const Place& place, const Parts& values, Limit limit) {
  const uint64_t part_bytes = size_of(real_type(place.dtype));
  Parts parts = values;
  for (Value*& part : parts) part = to_memory(place.dtype, part);
  if (place.movement != Movement::contiguous) {
    for (size_t i = 0; i < parts.size(); ++i) store_strided(parts[i], place, part_bytes * i, limit);
    return;
  }
  if (parts.size() == 1) {
    store_run(parts[0], place.pointer, limit);
    return;
  }
  const unsigned lanes = ops_.lanes();
  if (lanes == 1) {
    store_run(parts[0], place.pointer, {});
    store_run(parts[1], b_.CreateConstGEP1_64(b_.getInt8Ty(), place.pointer, part_bytes), {});
    return;
  }
  llvm::SmallVector<int, 64> mix;
  for (unsigned i = 0; i < lanes; ++i) {
    mix.push_back(static_cast<int>(i));
    mix.push_back(static_cast<int>(i + lanes));
  }
  store_run(b_.CreateShuffleVector(parts[0], parts[1], mix), place.pointer, doubled(limit));
}

void Memory::fetch(const Place& place) {
  constexpr uint64_t kLine = 64;
  const uint64_t size = size_of(place.dtype);
  for (uint64_t at = 0; at < ops_.lanes() * size; at += kLine)
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {b_.CreateConstGEP1_64(b_.getInt8Ty(), place.pointer, at), b_.getInt32(0),
                        b_.getInt32(2), b_.getInt32(1)});  // to read, second level, data
}

}  // namespace lathe::jit
