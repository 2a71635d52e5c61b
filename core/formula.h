// Index formulas: what a contract row is. One line of text is the shape rule, the reference loops,
// the order of summation, the adjoints and the documentation.
//
//   "O[..., m, n] += A[..., m, k] * B[..., k, n]"
//   "O[n, g o, y, x] += X[n, g c, y*stride0 + i*dilation0 - pad0, x*stride1 + j*dilation1 - pad1]
//                       * W[g o, c, i, j]  over i, j, c"
//
// Grammar of one axis: variables side by side ("g o") are one axis made of both, the first
// outermost; otherwise a sum of terms `var`, `var*attr`, `-attr`, where attr names an int (or int
// list element, "stride0") argument of the row's schema. Reads outside an operand are 0. Variables
// of the output run over its elements; the others are summed, in the order of `over` (default:
// order of appearance), first outermost; each sum is one FMA chain over each block of 512 terms,
// block sums added ascending.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/args.h"
#include "core/schema.h"

namespace lathe {

struct FormulaTerm {
  int var;         // index into Formula::vars
  int scale = -1;  // index into Formula::attrs; -1: one
};
struct FormulaAxis {
  std::vector<int> packed;         // "g o": variables that make up this axis; or
  std::vector<FormulaTerm> terms;  // an affine sum
  std::vector<int> minus;          // attrs subtracted
  bool plain() const { return packed.size() == 1; }
};
struct FormulaOperand {
  std::string name;
  bool batch = false;  // starts with "...": leading axes broadcast among operands
  std::vector<FormulaAxis> axes;
};
struct FormulaAttr {
  int param;        // schema position
  int element = 0;  // of an int list
};
struct Formula {
  std::string text;
  std::vector<std::string> vars;
  std::vector<FormulaAttr> attrs;
  FormulaOperand out, a, b;
  std::vector<int> reduced;  // variables summed over, outermost first

  bool empty() const { return text.empty(); }
};

/// Parses against the schema that the attributes refer to; ValueError points at the offending text.
Formula parse_formula(std::string_view text, const Schema& schema);

/// Extents of all variables and of the batch axes for these operands. `out_shape` is needed only
/// where an output axis is affine (adjoints of convolutions). ShapeError names what does not fit.
struct FormulaExtents {
  Shape batch;
  Shape vars;
  Shape attrs;
  Shape out;
};
FormulaExtents formula_extents(std::string_view op, const Formula& formula, Args args, IntSpan a,
                               IntSpan b, const Shape* out_shape = nullptr);

}  // namespace lathe
