// What the files of the scalar language share among themselves. Nobody else includes this.
#pragma once

#include "core/expr/expr.h"

namespace lathe::expr_detail {

/// "add is not defined for f16": which operands came, and what to do.
[[noreturn]] void refuse(Prim prim, absl::Span<const Expr> args, std::string_view next);

inline bool is_constant(Expr e) { return e.prim() == Prim::constant; }
/// The bits of 0, 1, or -1 in a dtype.
uint64_t number_bits(DType dtype, double value);
uint64_t mask_of(DType dtype);  // all bits of the width

/// Gives bare numbers the dtype of the first operand that has one.
void settle(Prim prim, absl::Span<Expr> args);

/// DTypeError where the primitive is not defined for these operands or cannot give this dtype.
void check_node(Prim prim, DType dtype, absl::Span<const Expr> args);

/// The dtype that a constant has as operand i of a node, where its text need not say it. `other`:
/// of an operand that is no constant, if there is one.
std::optional<DType> implied_type(Prim prim, DType node, int i, std::optional<DType> other);

/// Every node of `f` rebuilt in the current graph on `inputs`; entry i is node i. Simplifies again.
std::vector<Expr> replay(const ScalarFunction& f, absl::Span<const Expr> inputs);
/// Nodes → values as the definition sees them: pairs become complex.
Exprs pack_outputs(const ScalarFunction& f, const std::vector<Expr>& nodes);
/// The nodes `outputs` need, in order, as a function of its own.
ScalarFunction extract(const ExprGraph& graph, absl::Span<const Expr> outputs,
                       absl::Span<const DType> inputs);

/// The template of core/scalar/math.h for a transcendental primitive, on nodes of the current
/// graph.
Expr expand(Prim prim, absl::Span<const Expr> args);
/// fmod by one division, and as it is where that is not exact.
Expr expand_remainder(Expr x, Expr y);

/// What the functions bodies call do when an operand is complex; `args` are settled.
Expr complex_arithmetic(Prim prim, absl::Span<const Expr> args);
Expr complex_select(Prim prim, Expr condition, Expr yes, Expr no);
Expr complex_check(Expr condition, Expr x, int code);
Expr complex_cast(Expr x, DType dtype);
/// A node of a function in which something is complex, anew in the current graph.
Expr replay_complex(const ExprNode& node, absl::Span<const Expr> args);

/// In a graph that keeps complex numbers: a node without check or simplification; a real number as
/// a complex constant, whose payload is the bits of a double.
Expr whole_node(Prim prim, DType dtype, absl::Span<const Expr> args, uint64_t payload = 0);
Expr whole_constant(DType dtype, double value);

}  // namespace lathe::expr_detail
