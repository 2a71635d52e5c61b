// The smallest program that still differs: fewer outputs, no gradient, fewer steps. A step that
// goes leaves its results behind as inputs, with the values they had.
#pragma once

#include "tests/bits/modes.h"

namespace lathe::bits_test {

struct Shrunk {
  Program program;
  Difference difference;
};
Shrunk shrink(Program program, Difference difference, const Thorough& how);

}  // namespace lathe::bits_test
