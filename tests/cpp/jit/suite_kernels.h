// The kernels that the graphs of the tests ask for, as text.
#pragma once

#include <string>
#include <vector>

namespace lathe::jit {

/// Of every program that these graphs make, each kernel once: softmax and its gradient, norms, the
/// goldens of rewrites and plans, and the corpus of the fuzzers. Print as parse_kernel() reads.
std::vector<std::string> kernels_of_graphs();

}  // namespace lathe::jit
