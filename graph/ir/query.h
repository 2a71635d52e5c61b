// Questions to a graph: what a value is made of, and parts of the graph as graphs of their own.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

/// The value that print() names so, or that the user did, with or without '%'. Parts of structures
/// have none. NameError.
Value* named_value(const Graph& graph, std::string_view name);

/// Nodes of the body that the value is made by, in program order.
std::vector<Node*> nodes_for(const Graph& graph, const Value* value);
/// Inputs and named constants among what the value is made of, in that order.
Values variables_of(const Graph& graph, const Value* value);

/// The graph that gives these values and writes to nothing.
Graph with_results(const Graph& graph, absl::Span<const Value* const> results);
/// The graph whose named constants these are inputs, behind the others.
Graph with_inputs(const Graph& graph, absl::Span<const std::string> constants);
/// One function of a module as the first, with the functions that it calls. NameError.
Graph module_of(const Graph& module, std::string_view function);

/// Lines of the user's code that the graph holds several times, all that they do, as a trace writes
/// out the rounds of a loop: by how much the graph has grown. The most first.
struct Repeated {
  Site site;
  size_t times, nodes;
};
std::vector<Repeated> repeated_lines(const Graph& graph);

}  // namespace lathe::ir
