// What a Program is made of: private to jit/plan.cpp, program.cpp and explain.cpp.
#pragma once

#include "jit/program.h"

namespace lathe::jit {

struct Step {
  enum class Kind : uint8_t { op, kernel, structure };
  Kind kind = Kind::op;
  const ir::Node* node = nullptr;
  std::vector<int> in, out;  // slots
  Types types;               // of the results, over symbols
  bool dynamic = false;      // mentions symbols that only running gives a value
  int arena = -1;            // index among arena blocks of result 0; -1: its own memory
  PointwiseKernel* kernel = nullptr;
  std::vector<std::pair<uint32_t, int>>
      symbols;  // results that say what a symbol is: (symbol, axis)
  // Structures: steps and result slots of each block, parameters first.
  struct Inner {
    const ir::Block* block = nullptr;
    std::vector<Step> steps;
    std::vector<int> parameters, yields;
  };
  std::vector<Inner> blocks;
  std::unique_ptr<Program> callee;
};

/// A stretch of the arena: who makes it and who needs it last.
struct ArenaBlock {
  TensorType type;
  int first = 0, last = 0;
};

struct Bound {
  std::vector<int64_t> symbols;
  struct OfStep {
    Types types;
    ArgVec attrs;  // symbolic Ints replaced
    PointwiseKernel::Bound kernel;
    int64_t arena_offset = -1;
  };
  std::vector<OfStep> steps;  // by position in the program's top level
  size_t arena_bytes = 0;
};

}  // namespace lathe::jit
