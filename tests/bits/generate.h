// Random programs over all definitions: which definitions there are and what they take is read from
// the definitions and from tests/samples/*.txt. The same seed gives the same program.
//
// A program grows by proposals: a definition, values made before or new inputs for its operands,
// sizes and dtypes drawn anew. A proposal that eager refuses is dropped for a tamer one; the tamest
// is the sample as it stands. Sizes come from a few that all inputs of the program share, 0 and 1
// among them, so that values fit together and so that the whole program has other sizes to run on.
#pragma once

#include "tests/bits/program.h"

namespace lathe::bits_test {

Program generate(uint64_t seed);

/// Other sizes for the same program; eager may refuse them.
std::vector<int64_t> other_sizes(const Program& program, uint64_t seed);

}  // namespace lathe::bits_test
