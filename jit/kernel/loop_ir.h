// The loop IR: what one fused group becomes before it is machine code.
//
// A LoopNest is a set of buffers, a set of axes, and a tree of statements over them. Scalars are
// computed by ScalarFunctions (core/expr/expr.h), whose input k is load k of the statement: the
// same DAG that the SIMD interpreter runs, so a fused value has the bits of the unfused one.
// Rounding to a storage dtype between fused ops is in the DAG as casts, put there by `lower`.
//
// Extents, strides and offsets are Ints over the graph's symbols: one loop nest serves every shape,
// and a kernel gets them as numbers in its argument block (jit/kernel/codegen.h). What may be
// specialised (a stride known to be 0 or 1, an extent known to be small) is visible in the loop
// nest, so it is part of its hash.
//
// Engines: jit/llvm turns a scheduled nest into machine code; the strip kernels interpret the same
// nest (jit/kernel/pointwise.h). Same nest, same bits.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/expr/expr.h"
#include "core/op/op.h"
#include "core/sizes/int.h"

namespace lathe::jit {

enum class Role : uint8_t { parallel, sequential, reduce, scan };

struct Axis {
  Int extent;
  Role role = Role::parallel;
};

enum class Space : uint8_t {
  argument,  // passed by the caller: inputs, outputs, arena slices
  local,     // the loop nest's own, reused for each iteration of the axes outside its declaration
};

struct Buf {
  DType dtype;
  Space space = Space::argument;
  Int elements = 0;  // local: how many
  std::string name;  // for people
};

/// Element index = offset + sum(strides[k] * axis k); axes as numbered in the loop nest.
struct IndexMap {
  Int offset = 0;
  absl::InlinedVector<Int, 6> strides;  // one an axis of the loop nest; missing ones are 0
};

struct Load {
  int buf;
  IndexMap map;
};
/// A number passed at run time (an Int over symbols, or a float argument): uniform over the loop
/// nest.
struct Uniform {
  int slot;  // of LoopNest::uniforms
  DType dtype;
};
using Operand = std::variant<Load, Uniform>;

struct Statement;
using Block = std::vector<Statement>;

/// for axis in [0, extent): body
struct For {
  int axis;
  Block body;
};

/// stores[k] = output k of f(operands)
struct Compute {
  ScalarFunction f;
  std::vector<Operand> operands;
  std::vector<Load> stores;
};

/// Reductions over the reduce axes in the defined order (fixed tree: blocks of 512, 16 lanes,
/// halving, binary counter), then stores finish(state). `lift` takes the operands, then the
/// element's index in the reduced space (i64); `combine` two states; `finish` a state, then the
/// count (i64).
struct Accumulate {
  std::vector<int> axes;  // reduced axes of the loop nest, outermost first
  std::vector<DType> state;
  std::vector<uint64_t> unit;  // bits of the unit, one a state
  ScalarFunction lift, combine, finish;
  std::vector<Operand> operands;
  std::vector<Load> stores;
};

/// The same, keeping every prefix: an ascending left fold along one axis.
struct Scan {
  int axis;
  Accumulate fold;
};

/// A vendor primitive or a packed GEMM tile loop, with what follows it while the tile is hot.
struct PrimitiveCall {
  std::string entry;              // of kernels/table
  int op_slot;                    // which call of the group
  std::vector<int> in, out;       // buffers
  ScalarFunction epilogue;        // input 0 is the accumulated element
  std::vector<Operand> operands;  // inputs 1.. of the epilogue
};

struct Statement {
  std::variant<For, Compute, Accumulate, Scan, PrimitiveCall> node;
};

/// What calls need to know, worked out once by `schedule`.
struct Facts {
  int64_t flops_per_element = 0;
  int loads = 0, stores = 0;  // of an element, from and to tensors
  int vector_axis = -1;
  bool has_checks = false;  // a ScalarFunction has a `check`: the error slot may be written
  bool has_random = false;
};

struct LoopNest {
  std::string name;          // for people: "gelu_3"
  std::vector<Buf> buffers;  // arguments first, in call order: inputs then outputs; then locals
  int inputs = 0, outputs = 0;
  std::vector<DType> uniforms;
  std::vector<Axis> axes;
  Block body;
  Facts facts;

  std::string print() const;
  uint64_t hash() const;  // of all that machine code depends on; names do not count
};

}  // namespace lathe::jit
