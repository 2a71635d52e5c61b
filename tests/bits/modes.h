// A program in every mode, compared with eager byte for byte; NaN is one value.
//
// Eager, as the definitions stand, on one thread is what the others are held against: eager on 2, 3
// and 8 threads and on every instruction set; the traced graph node by node, as captured,
// rewritten, and after a way through text; the planned program on its own choice of engine, by the
// SIMD interpreter only, on generated code only, without passes over the plan and with some; the
// program read back from the bytes of a file; a traced function with its guards, on these sizes and
// on others; and the tape's gradients against those of `differentiate`. In every second program the
// composites are taken whole by a table entry, but for the first run.
#pragma once

#include <optional>

#include "tests/bits/program.h"

namespace lathe::bits_test {

struct Difference {
  std::string mode;    // "program, strips"
  std::string detail;  // which result, which element, or what was thrown
  std::string graph;   // the text of what ran, where there is one
};

struct Thorough {
  bool code_on_every_isa = false;  // compiles each kernel once more for each instruction set
  bool count = true;               // adds to coverage()
};

/// The first mode that is not equal; nothing if all are.
std::optional<Difference> compare(const Program& program, const Thorough& how = {});

}  // namespace lathe::bits_test
