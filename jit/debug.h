// Which part of a compiled program does not give what its graph says: every value of the graph as
// it was captured, run node by node by the kernels that eager uses, beside the same value out of a
// program made with the same rules.
#pragma once

#include "graph/pipeline.h"
#include "jit/program/program.h"

namespace lathe::jit {

struct DebugReport {
  struct Value {
    std::string op;
    Site site;
    Tensor is;  // what the node gives, run by itself
  };
  std::vector<Value> values;  // in order of the captured graph
  int first = -1;             // the first of them that a program gives otherwise; -1: none
  Tensor got;                 // what it gives there
  std::string cause;          // the rule or pass without which it does not; else what is known
};

/// `program`: what a call runs. On copies of the inputs, and the random stream is put back.
DebugReport debug(const ir::Graph& captured, const Program& program, const ir::UserRulesRef& rules,
                  const ir::Data& inputs);

/// The same elements, NaNs counted as one?
bool same_elements(const Tensor& a, const Tensor& b);

}  // namespace lathe::jit
