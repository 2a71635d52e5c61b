// What a well-formed graph is. Passes and the tracer keep it so; files and hand-written text must
// prove it.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

/// Throws ValueError that quotes the offending line:
///   every value is made before it is used, in the same block or one around it (a group uses only
///   its own); uses and owners agree in both directions; results have the types Op::infer gives,
///   blocks the arity and types their structure asks for; every symbol is declared, and known where
///   it is used; writes go to inputs of that type.
void verify(const Graph& graph);

/// The same for a graph that passes rewrote. Two sizes that cannot be proven equal nor unequal are
/// compared at sample values: a rewrite may have come to a size another way than inference does,
/// and the normal form of sizes does not decide equality of all. Not for graphs of others, who
/// could choose sizes that differ elsewhere.
void verify_rewritten(const Graph& graph);

/// The same for a graph that someone else wrote: what the samples say becomes a check of every
/// call. A size that no input tells is refused if it is not proven.
void verify_loaded(Graph& graph);

}  // namespace lathe::ir
