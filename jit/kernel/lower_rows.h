// From kernels and reductions over the same rows to one kernel.
#pragma once

#include <absl/container/flat_hash_set.h>

#include "jit/kernel/lower.h"

namespace lathe::jit {

using Geometries = absl::flat_hash_map<const ir::Value*, Geometry>;

/// What is to become one kernel: nodes in order, each pointwise, a group of pointwise ones, or a
/// reduction of one tensor over all axes but the first `lead` ones. Without leading axes all is one
/// line: the nodes are pointwise, over all of it, and `sums` reduce all of it.
struct Rows {
  std::vector<const ir::Node*> nodes;
  std::vector<const ir::Node*> views;  // of one value a row, repeated along it
  /// Reductions of one tensor over the first `lead` axes, whose results no node reads.
  std::vector<const ir::Node*> sums;
  size_t lead = 0;
  Shape domain;                                // of what is reduced
  absl::flat_hash_set<const ir::Value*> kept;  // results that somebody else reads
};

struct LoweredRows {
  Kernel kernel;
  std::vector<const ir::Value*> inputs;   // tensors by argument, then the numbers
  std::vector<const ir::Value*> outputs;  // by argument
  std::vector<Number> numbers;            // `input`: of `inputs`
  /// Reductions of a line, by statement, whose states the kernel gives for each piece of it in
  /// place of their results.
  std::vector<ReduceBodies> of_line;
};

/// Whether one axis is enough for what goes along axes `lead` and up of a domain: the elements of
/// all of them lie one distance apart.
bool along_rows(const IndexMap& map, const Shape& domain, size_t lead);

/// Whether a pointwise kernel may be part of one over rows: nothing complex, and no function of
/// positions, random words or checks.
bool may_be_in_rows(const Kernel& pointwise);

/// The parallel axes are the rows, or pieces of the line (Kernel::line), and one more axis goes
/// along each. What is read by several statements and costs much is kept in a local buffer; the
/// rest is computed anew by each. Empty where a value is given twice, or is an operand. Needs the
/// graph's SymScope.
std::optional<LoweredRows> lower_rows(const Rows& rows, const Geometries& geometry);

}  // namespace lathe::jit
