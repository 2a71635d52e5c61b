// Code generation as the rest of Lathe sees it: plain data in, object bytes and entry points out.
// What implements it is the plug-in liblathe_llvm.so (jit/llvm/), opened on first use; an inference
// build may lack it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/expr/expr.h"
#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

namespace simt {
struct Program;  // jit/simt/program.h
}

/// What instructions code may use. Two targets differ in speed, never in bits.
struct Target {
  std::string cpu;       // LLVM's name of the core it is tuned for
  std::string features;  // "+avx2,-avx512f,...": every feature said, in one order

  bool has(std::string_view feature) const {
    return ("," + features + ",").find(",+" + std::string(feature) + ",") != std::string::npos;
  }
  std::string key() const { return cpu + " " + features; }
};

/// Of the axes of a kernel.
inline constexpr int kMaxRank = 16;

/// What a kernel is called with. Its operands are counted as each_operand() does; those that are
/// its own have room for as many positions as are unrolled, one after the other. Behind them come
/// the states of reductions over rows: a line for each of 16 lanes, which hold what positions
/// before have left there.
struct KernelArgs {
  std::byte* const* data = nullptr;  // each operand's element at position 0 of every axis
  const int64_t* extents = nullptr;  // all positive
  const int64_t* strides = nullptr;  // bytes: by operand, one an axis
  int64_t begin = 0, end = 0;  // row-major positions of the parallel axes to do: how work is shared
  uint64_t seed = 0, call = 0;  // of random words
  uint64_t* error = nullptr;    // see kNoError; may be shared by all threads
};
using KernelFn = void (*)(const KernelArgs*);

/// Failed checks meet in one word: logical index << 16 | code, the least one wins, so that which
/// error is reported depends on nothing but the data.
inline constexpr uint64_t kNoError = ~uint64_t{0};
inline int64_t error_index(uint64_t word) { return static_cast<int64_t>(word >> 16); }
inline uint32_t error_code(uint64_t word) { return static_cast<uint32_t>(word & 0xffff); }

/// Machine code that may be called. It stays mapped as long as this lives.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  /// Null if the object has no such function.
  virtual void* symbol(std::string_view name) const = 0;
};
using LoadedCodeRef = std::shared_ptr<const LoadedCode>;

/// Either a value or why there is none.
template <class T>
struct Result {
  T value{};
  std::string error;
  explicit operator bool() const { return error.empty(); }
};

/// The generator. Thread-safe; nothing in it throws or aborts: LLVM's own fatal errors come back as
/// text.
class Codegen {
 public:
  virtual ~Codegen() = default;
  virtual Target host() const = 0;
  /// "host", "x86-64-v2", "avx2" or "avx512". One that this machine lacks is an error, unless the
  /// code is not to run here.
  virtual Result<Target> target(std::string_view name, bool to_run = true) const = 0;
  /// A relocatable object with one function, kKernelSymbol, of type KernelFn, of a kernel whose
  /// functions are lowered.
  virtual Result<std::string> compile(const Kernel& kernel, const Target& target) = 0;
  /// The intermediate representation of the same, for people.
  virtual Result<std::string> print(const Kernel& kernel, const Target& target) = 0;
  /// The text for NVIDIA's devices from sm_80 on of a thread program that simt::verify() passes and
  /// whose functions are lowered: an entry a phase.
  virtual Result<std::string> ptx(const simt::Program& program) = 0;
  /// The same instructions for this machine: an object with one function, kKernelSymbol, which is
  /// one thread (jit/simt/host.h).
  virtual Result<std::string> host_threads(const simt::Program& program, const Target& target) = 0;
  virtual Result<LoadedCodeRef> load(std::string_view object) = 0;
};
inline constexpr std::string_view kKernelSymbol = "lathe_kernel";

/// Changes whenever the same input may give other code: part of every cache key.
inline constexpr int kCodegenVersion = 19;
/// The plug-in's handshake: one of another build is refused.
inline constexpr uint32_t kCodegenAbi = 8;
inline constexpr const char* kCodegenEntry = "lathe_codegen";
using CodegenEntry = Codegen* (*)(uint32_t abi);  // null if it speaks another

struct CodegenOrReason {
  Codegen* codegen = nullptr;
  std::string reason;   // when there is none: "LLVM is not installed: ..."
  bool broken = false;  // it is there, but cannot be opened or belongs to another build
};
/// Opens the plug-in on the first call, from beside the program or library that holds this
/// function, or from ../lib of there. The answer never changes after that.
const CodegenOrReason& open_codegen();

}  // namespace lathe::jit
