// What a loop carries: as it begins, inside of a round, and as it ends (the loop's result).
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

inline bool is_loop(const Node& n) { return n.is(Structure::for_) || n.is(Structure::while_); }

/// As a round finds what ends as result `k`: a parameter, of the condition's block in a `while`.
inline Value* carried_parameter(const Node& loop, size_t k) {
  return loop.block(0).parameters()[(loop.is(Structure::for_) ? 1 : 0) + k];
}
inline Value* carried_start(const Node& loop, size_t k) { return loop.in(loop.carried_from() + k); }
/// As a round leaves it.
inline Value* carried_next(const Node& loop, size_t k) { return loop.blocks().back()->yields()[k]; }

}  // namespace lathe::ir
