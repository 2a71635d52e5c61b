// Index formulas: what a contraction's definition is. One line of text is the shape rule, the
// reference loops, the order of summation, the adjoints and the documentation.
//
//   "O[..., m, n] += A[..., m, k] * B[..., k, n]"
//   "O[n, g o, y, x] += X[n, g c, y*stride0 + i*dilation0 - padding0, x*stride1 + ...]
//                       * W[g o, c, i, j]  over i, j, c  where g = groups"
//
// Grammar of one axis: variables side by side ("g o") are one axis made of both, the first
// outermost; otherwise a window: a sum of terms `var` or `var*attr`, and `- attr`, where attr names
// an int (or int list element, "stride0") argument of the op's schema. Any operand, the output
// too, may have windows, any number of them. Reads outside an operand are 0; sums that would go
// outside the output are dropped. `- attr` is taken off both ends of an axis, and `(+ attr)` at the
// end of a window says that the axis goes on by so many elements behind what the window reaches.
//
// "..." stands for leading axes, which broadcast among the operands.
//
// Variables of the output's plain axes run over its elements; the others are summed: leading axes
// that the output does not have, then what `over` names, in its order, then the rest in order of
// appearance, first outermost. Each sum is one FMA chain over each block of 512 terms, block sums
// added ascending. `where` gives a variable's extent by an argument; the operands' shapes give the
// others.
//
// The formula is a trilinear form in three tensors, the roles: the output (0) and both operands (1,
// 2). An adjoint computes the cotangent of an operand: the same formula with that operand's role
// and the output's exchanged, so the adjoints of an adjoint are the other two of the three.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/op/args.h"
#include "core/op/schema.h"

namespace lathe {

struct FormulaTerm {
  int var;         // index into Formula::vars
  int scale = -1;  // index into Formula::attrs; -1: one
};
struct FormulaAxis {
  std::vector<int> packed;         // "g o": variables that make up this axis; or
  std::vector<FormulaTerm> terms;  // a window
  std::vector<int> minus;          // attrs subtracted
  std::vector<int> more;           // attrs that lengthen the axis at its end
  bool plain() const { return packed.size() == 1; }
  bool window() const { return packed.empty(); }
};
struct FormulaOperand {
  std::string name;
  bool batch = false;  // starts with "..."
  std::vector<FormulaAxis> axes;
  std::string text;  // of the axes, without "..."
};
struct FormulaAttr {
  int param;        // schema position
  int element = 0;  // of an int list
};
struct FormulaExtent {
  int var;
  int attr;
};
/// An adjoint that is the op itself: of the two other roles, in their order or swapped, with their
/// last axes permuted.
struct PermutedRoles {
  bool swapped = false;
  std::array<std::vector<int>, 2> axes;  // of the first and the second operand
};
struct Formula {
  std::string text;
  std::vector<std::string> vars;
  std::vector<FormulaAttr> attrs;
  FormulaOperand out, a, b;
  std::vector<int> over;     // as the text names them
  std::vector<int> reduced;  // variables summed over, outermost first
  std::vector<FormulaExtent> where;
  std::string where_text;
  /// Roles 1 and 2, where computing them is the formula itself.
  std::array<std::optional<PermutedRoles>, 2> itself;
  // Arguments that mean the same in every contraction; -1: it has none.
  int shape = -1;      // "shape": of the output, where operands do not determine it
  int out_dtype = -1;  // "out_dtype": of the sums and of the result

  bool empty() const { return text.empty(); }
  const FormulaOperand& role(int r) const { return r == 0 ? out : r == 1 ? a : b; }
};

/// The roles of the operands of what computes this role.
constexpr std::array<int, 2> operand_roles(int role) {
  return {role == 1 ? 0 : 1, role == 2 ? 0 : 2};
}

/// Parses against the schema that the attributes refer to; ValueError points at the offending text.
Formula parse_formula(std::string_view text, const Schema& schema);

/// The text of what computes role 1 or 2 from the other two, with its order of sums.
std::string adjoint_text(const Formula& formula, int role);
/// Do the operands' plain axes and `where` give every extent of the output? Else it takes a shape.
bool determines_output(const Formula& formula);
/// That adjoint as the formula itself, if it is one.
std::optional<PermutedRoles> adjoint_as_itself(const Formula& formula, int role);

/// Extents of all variables and of the batch axes for these operands. Without `out_shape` an output
/// window is as long as it reaches. ShapeError names what does not fit.
struct FormulaExtents {
  Shape batch;
  Shape vars;
  Shape attrs;
  Shape out;
};
struct Op;
FormulaExtents formula_extents(const Op& op, Args args, IntSpan a, IntSpan b,
                               const Shape* out_shape = nullptr);

}  // namespace lathe
