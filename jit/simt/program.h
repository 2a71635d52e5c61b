// Thread programs: what one thread of a grid does, which a simulator runs on the host (run.h) and
// LLVM turns into PTX (jit/llvm/threads.h). lower.h makes them from kernels.
//
// A program is a list of phases, which run one after the other. In a phase there are `grid` blocks
// of `threads` threads, in any order and side by side; the threads of a block share memory and meet
// at barriers, sixteen neighbours (half a warp) hand each other values by shuffles. Everything that
// a thread does is a structured statement:
//
//   let, set, copy, number   a register from an integer, a constant, a register, an argument
//   load, store              an element of memory: a register for each part of it
//   compute                  registers from registers, by a ScalarFunction (core/expr/expr.h)
//   shuffle                  a register of the lane so many further in the half-warp; where there
//                            is none, the thread's own
//   barrier                  all threads of the block meet; what each has written, all see
//   loop, when               over and under integers; `last` and `step` are read once, before
//
// Integers are trees (Ix) over the thread's number, its block's, the kernel's numbers and
// registers. They do not overflow, and what is divided is not negative. Registers may be written
// again and again.
//
// What a launch is given, in this order, is also the parameter list of each phase's entry in PTX
// (kEntry and the number of the phase): a pointer for each memory that is not shared, the numbers,
// the bits of the uniforms, seed and call of random words, a pointer to the error word. Shared
// memory is one piece of dynamic size: each buffer in turn, from a multiple of 16 bytes on.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/expr/expr.h"
#include "core/sizes/int.h"

namespace lathe::jit::simt {

inline constexpr int kHalfWarp = 16;
inline constexpr int kMostThreads = 1024;
/// Bytes of shared memory that a block may have where the text runs: those of sm_80.
inline constexpr int64_t kMostShared = int64_t{163} << 10;
inline constexpr int64_t kSharedAlignment = 16;
inline constexpr std::string_view kEntry = "lathe_threads_";

// clang-format off
enum class IxOp : uint8_t {
  constant, number, reg,  // `value`: itself, or which
  block, thread, grid,    // this block, this thread of it, how many blocks there are
  add, sub, mul, div, mod, least, most, shl, shr, band,
  zeros, ones, width,     // of a word: zeros below its lowest one, ones, bits up to its highest one
};
// clang-format on

struct IxNode;
/// An integer that a thread computes. Immutable; what is made of constants is one.
class Ix {
 public:
  Ix() = default;                        // none: what a leaf's operands are
  Ix(int64_t value);                     // NOLINT(google-explicit-constructor): a plain number
  Ix(int value) : Ix(int64_t{value}) {}  // NOLINT(google-explicit-constructor)
  Ix(IxOp op, int64_t value);
  Ix(IxOp op, const Ix& a, const Ix& b = {});
  const IxNode* operator->() const { return node_.get(); }
  const IxNode& operator*() const { return *node_; }
  bool is(int64_t value) const;

 private:
  std::shared_ptr<const IxNode> node_;
};
struct IxNode {
  IxOp op;
  int64_t value = 0;
  Ix a, b;
};

inline Ix this_block() { return {IxOp::block, int64_t{0}}; }
inline Ix this_thread() { return {IxOp::thread, int64_t{0}}; }
inline Ix grid_size() { return {IxOp::grid, int64_t{0}}; }
inline Ix value_of(int reg) { return {IxOp::reg, int64_t{reg}}; }
inline Ix operator+(const Ix& a, const Ix& b) { return {IxOp::add, a, b}; }
inline Ix operator-(const Ix& a, const Ix& b) { return {IxOp::sub, a, b}; }
inline Ix operator*(const Ix& a, const Ix& b) { return {IxOp::mul, a, b}; }
inline Ix operator/(const Ix& a, const Ix& b) { return {IxOp::div, a, b}; }
inline Ix operator%(const Ix& a, const Ix& b) { return {IxOp::mod, a, b}; }
inline Ix operator&(const Ix& a, const Ix& b) { return {IxOp::band, a, b}; }
inline Ix least(const Ix& a, const Ix& b) { return {IxOp::least, a, b}; }
inline Ix most(const Ix& a, const Ix& b) { return {IxOp::most, a, b}; }
/// What an operation gives; of numbers alone.
int64_t apply(IxOp op, int64_t a, int64_t b);

enum class Where : uint8_t {
  global,   // an argument of the kernel
  shared,   // a block's own
  scratch,  // memory of the device that holds nothing before the launch
};

struct Memory {
  DType dtype;
  Where where = Where::global;
  bool input = false;  // global: nobody writes it
  Ix elements;  // of numbers and, of scratch, the first phase's `grid`; global: the caller knows
  std::string name;
};

struct Step;
using Steps = std::vector<Step>;

struct Let {
  int reg;
  Ix value;
};
struct Set {
  int reg;
  uint64_t bits;
};
struct Copy {
  int reg, from;
};
/// The number passed for a uniform.
struct Fetch {
  int reg, uniform;
};
struct Load {
  std::vector<int> regs;
  int memory;
  Ix index;
};
struct Store {
  int memory;
  Ix index;
  std::vector<int> regs;
};
/// `regs` = function `f` of `inputs`, both by parts, read before any is written.
struct Call {
  std::vector<int> regs;
  int f;
  std::vector<int> inputs;
  Ix position = 0;  // what random words and checks go by
};
struct Shuffle {
  int reg, from;
  int distance;
};
struct Barrier {};
struct Loop {
  int reg;
  Ix first, last, step;
  Steps body;
};
/// a < b, or a == b.
enum class Compare : uint8_t { less, equal };
struct When {
  Ix a;
  Compare how;
  Ix b;
  Steps then, otherwise;
};

struct Step {
  std::variant<Let, Set, Copy, Fetch, Load, Store, Call, Shuffle, Barrier, Loop, When> node;
};

struct Phase {
  Ix work;  // of numbers: so many blocks have something to do; 0: it is not launched
  Steps body;
};

struct Program {
  std::string name;
  int threads = 128;         // of a block: a multiple of a half-warp
  std::vector<Int> numbers;  // the caller says what each is
  std::vector<DType> uniforms;
  std::vector<Memory> memories;  // global ones as the kernel's arguments are
  std::vector<ScalarFunction> functions;
  std::vector<DType> registers;  // none is complex
  std::vector<Phase> phases;

  std::string print() const;
};

/// One line, without what stands inside of it: "b1[r3] = r4".
std::string to_string(const Step& step, const Program& program);
std::string to_string(const Ix& ix);

/// Empty, or the first thing that is wrong: registers or parts that do not fit, a place outside of
/// shared memory of known size, a barrier or shuffle that not all threads need reach.
std::string verify(const Program& program);

/// Every function in primitives that machines have.
Program with_lowered_functions(Program program);

/// Calls f on each step, those inside of a step behind it.
template <class S, class F>
void each_step(S& steps, const F& f) {
  for (auto& s : steps) {
    f(s);
    if (auto* loop = std::get_if<Loop>(&s.node)) each_step(loop->body, f);
    if (auto* when = std::get_if<When>(&s.node)) {
      each_step(when->then, f);
      each_step(when->otherwise, f);
    }
  }
}

// ── inline: the generator's plug-in does not link what is in the .cpp files ─────────────────────

inline Ix::Ix(IxOp op, int64_t value) : node_(new IxNode{op, value, {}, {}}) {}
inline Ix::Ix(int64_t value) : Ix(IxOp::constant, value) {}
inline bool Ix::is(int64_t value) const {
  return node_ != nullptr && node_->op == IxOp::constant && node_->value == value;
}

}  // namespace lathe::jit::simt
