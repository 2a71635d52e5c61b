// Thread programs (jit/simt/program.h) as LLVM's instructions: a function for each phase, whose
// statements are those of kernels on plain scalars (VectorOps with one lane). ptx.cpp makes PTX of
// them, host_threads.cpp an object for this machine, which shows what the instructions do.
//
// The bits are those of the other engines: nothing is contracted, divisions and roots are rounded,
// denormals are kept. Remainders of floats, which are a call elsewhere, are a function of the
// module.
#pragma once

#include "jit/llvm/body.h"
#include "jit/llvm/target.h"
#include "jit/simt/program.h"

namespace lathe::jit {

/// The text, for the virtual machine of this GPU ("sm_80") and those after it. The error says what
/// LLVM could not do.
Result<std::string> ptx_of(const simt::Program& program, std::string_view gpu = "sm_80");

/// A relocatable object with one function, kKernelSymbol, of jit/simt/host.h.
Result<std::string> host_threads_of(const simt::Program& program, const Target& target);

/// Empty, or why there is no code of a program that simt::verify() passes.
std::string check_threads(const simt::Program& program);

/// Gives the remainders that a module calls a body.
void define_remainders(llvm::Module& module);

/// One phase as a function. Where a thread is, and how it meets others, is a device's.
class PhaseEmitter {
 public:
  PhaseEmitter(const simt::Program& program, llvm::Module& module, const Target& target)
      : p_(program), module_(module), b_(module.getContext()), ops_(b_, target, 1) {}
  virtual ~PhaseEmitter() = default;
  llvm::Function* emit(size_t phase);

 protected:
  /// What a thread knows.
  struct Known {
    llvm::Value *thread, *block, *grid;  // i64
    std::vector<llvm::Value*> memories;  // that are not shared
    llvm::Value* shared;                 // where that begins
    std::vector<llvm::Value*> numbers;   // i64
    std::vector<llvm::Value*> uniforms;  // i64: bits
    llvm::Value *seed, *call, *error;
  };

  /// Makes the function; what stands in its block `entry` already is the device's.
  virtual llvm::Function* begin(size_t phase) = 0;
  virtual Known known() = 0;
  virtual void barrier() = 0;
  /// The i32 of the lane so many further in the half-warp.
  virtual llvm::Value* down(llvm::Value* word, int distance) = 0;

  llvm::BasicBlock* block(const char* name);
  llvm::Value* i64(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  size_t separate_memories() const;

  const simt::Program& p_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  VectorOps ops_;
  llvm::Function* function_ = nullptr;
  Known k_ = {};

 private:
  class Context;
  struct Place {
    llvm::Value* pointer;
    DType part;
    llvm::Align alignment;
  };

  llvm::Type* type(int reg) { return ops_.type(p_.registers[static_cast<size_t>(reg)]); }
  llvm::Value* get(int reg);
  void put(int reg, llvm::Value* value);
  void place_memories();
  Place place(int memory, const simt::Ix& index, size_t part);
  llvm::Value* number(const simt::Ix& ix);
  llvm::Value* operation(simt::IxOp op, llvm::Value* x, llvm::Value* y);
  llvm::Value* counted(llvm::Intrinsic::ID id, llvm::Value* x);
  void steps(const simt::Steps& all);
  void step(const simt::Let& s);
  void step(const simt::Set& s);
  void step(const simt::Copy& s);
  void step(const simt::Fetch& s);
  void step(const simt::Load& s);
  void step(const simt::Store& s);
  void step(const simt::Call& s);
  void step(const simt::Shuffle& s);
  void step(const simt::Barrier&) { barrier(); }
  void step(const simt::Loop& s);
  void step(const simt::When& s);
  void report(llvm::Value* is, llvm::Value* position, uint32_t code);

  std::vector<llvm::Value*> registers_, begins_;
};

}  // namespace lathe::jit
