// One pass, one verb, one file. Each changes the graph in place, asks Rewrites before every change,
// and says how many it made. All are exact (same bits) unless their line says otherwise.
#pragma once

#include "graph/ir/ir.h"
#include "graph/rewrite/rewrites.h"

namespace lathe::ir {

/// Erases pure nodes whose results nobody uses, and of branches and loops the results that nothing
/// needs.
int eliminate_dead(Graph& graph, Rewrites& rewrites);

/// Makes equal nodes one: same op, literals and inputs. What may fail merges too; what is ordered
/// does not.
int merge_common(Graph& graph, Rewrites& rewrites);

/// Computes what depends on constants only, by the kernels eager uses, unless the result is much
/// larger than what it is made from; takes the branch of an if whose condition is known.
int fold_constants(Graph& graph, Rewrites& rewrites);

/// Computes before a loop what all of its rounds would compute alike, as far as that is pure and
/// worth a load.
int move_invariants(Graph& graph, Rewrites& rewrites);

/// Writes sizes that the checks make equal with one symbol, so that equal shapes are seen to be
/// equal.
int unify_sizes(Graph& graph, Rewrites& rewrites);

/// Puts literals, then constants, last among the operands of ops whose body does not mind the
/// order.
int canonicalise(Graph& graph, Rewrites& rewrites);

/// The rules of graph/rules/: algebra, casts, views.
int simplify_algebra(Graph& graph, Rewrites& rewrites);
int clean_casts(Graph& graph, Rewrites& rewrites);
int clean_views(Graph& graph, Rewrites& rewrites);

/// Batch normalisation into the weights of a convolution. Approximate; not part of the exact
/// pipeline.
int fold_batch_norm(Graph& graph, Rewrites& rewrites);

/// Joins pointwise nodes over one index space into groups, which run as one kernel. Exact: a group
/// computes what its nodes do, rounding included.
int fuse_pointwise(Graph& graph, Rewrites& rewrites);

/// Makes nodes that only move elements, and whose result one group alone reads, part of it: their
/// elements are read where they come from. Exact. After groups are made.
int read_in_pieces(Graph& graph, Rewrites& rewrites);

/// Joins pointwise nodes and groups over one small index space that do not read each other. Exact.
/// After groups are made.
int join_siblings(Graph& graph, Rewrites& rewrites);

/// May this node be part of a pointwise group? By its definition's kind and body, never by its
/// name.
bool pointwise(const Node& node);

}  // namespace lathe::ir
