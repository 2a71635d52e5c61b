// What lathe.draw draws: a graph, and how each of its nodes runs, as plain Python objects.
#pragma once

#include "graph/ir/ir.h"
#include "jit/program/program.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// (name, block, writes as (input, value), functions as (name, block)). A block is (parameters,
/// nodes, numbers of the values it ends with); a parameter or result (number, name, type); a node
/// (title, text, numbers of its operands, results, blocks as (role, block), entry, what runs it
/// together with others, the number of that step or -1). Values are numbered from 0 on. `program`:
/// the plan of this very graph; null: there is none to tell of.
nb::tuple picture(const ir::Graph& graph, const jit::Program* program);

}  // namespace lathe::py
