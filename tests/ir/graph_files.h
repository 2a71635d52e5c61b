// Graphs as text in files of tests, and data to run them on.
#pragma once

#include <string>
#include <string_view>

#include "graph/ir/datum.h"
#include "graph/ir/ir.h"

namespace lathe::test {

/// The text of that name in a folder of the tests; empty if there is no such file.
std::string read_graphs(std::string_view folder, std::string_view name);
/// Without lines that are empty or begin with '#'.
std::string without_comments(std::string_view text);
/// Data for every input: each size as hinted; integers small, floats of both signs.
ir::Data inputs_for(const ir::Graph& g);
/// The elements of all results, one after the other.
std::string bytes_of(const ir::Data& results);

}  // namespace lathe::test
