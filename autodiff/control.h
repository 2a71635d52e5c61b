// Control flow as functions of functions: cond, while_loop, fori_loop, scan and associative_scan.
// In eager they run what they are given, with the tape as usual. Where the condition or the number
// of rounds is symbolic, the tracer under way records one structure (structure.h), with the same
// values and gradients. Python's lt.cond and its kin, and those of include/lathe, call these.
//
// What branches and rounds hand on keeps its number of tensors, their dtypes, ranks and devices:
// TypeError where they differ, also in eager, so that what runs can be captured too. ValueError for
// a condition that has not one element.
#pragma once

#include <absl/functional/function_ref.h>

#include "core/tensor/tensor.h"

namespace lathe {

using BranchFunction = absl::FunctionRef<Tensors()>;
using RoundFunction = absl::FunctionRef<Tensors(const Tensors& carried)>;
using ConditionFunction = absl::FunctionRef<Tensor(const Tensors& carried)>;
using CountedFunction = absl::FunctionRef<Tensors(Int i, const Tensors& carried)>;

/// yes() if the one element of `condition` is not 0, else no(). In a trace both are recorded.
Tensors cond(const Tensor& condition, BranchFunction yes, BranchFunction no);

/// carried = body(carried) as long as condition(carried) holds; what is carried at the end.
Tensors while_loop(ConditionFunction condition, RoundFunction body, Tensors carried);

/// carried = body(i, carried) for i in range(lower, upper).
Tensors fori_loop(Int lower, Int upper, CountedFunction body, Tensors carried);

struct Scanned {
  Tensors carried;  // by the last round
  Tensors stacked;  // what the rounds gave besides, along a new first axis
};
/// One round of a scan: from what is carried and one row of each of the others what is carried on,
/// and what is stacked.
using ScanFunction = absl::FunctionRef<Scanned(const Tensors& carried, const Tensors& rows)>;

/// A round for each i in range(length), in falling order if `reverse`: it sees xs[i], and what it
/// gives besides is stacked at i. ShapeError where an x is not of that length, or rounds give
/// other sizes.
Scanned scan(ScanFunction round, Tensors carried, const Tensors& xs, Int length, bool reverse);

/// Every prefix along `dim` combined by an associative function, that of the last elements if
/// `reverse`. The order is fixed: for d = 1, 2, 4, ... below the size, all elements i >= d at once
/// become combine(element i - d, element i) (Hillis and Steele, "Data parallel algorithms", 1986).
/// A program is captured for each number of such passes.
using CombineFunction = absl::FunctionRef<Tensors(const Tensors& a, const Tensors& b)>;
Tensors associative_scan(CombineFunction combine, Tensors elems, int64_t dim, bool reverse);

}  // namespace lathe
