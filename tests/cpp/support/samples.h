// tests/samples/*.txt for C++ tests: what every op is tried on.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/base/stable_hash.h"
#include "core/dispatch/fn.h"

namespace lathe::testing {

struct SampleTensor {
  char kind;  // f p g u a c i b n s, as tests/samples/README.md explains
  Shape shape;
  int64_t below = 0;
};
struct SampleArg {
  std::string name;  // "" when positional
  std::vector<SampleTensor> tensors;
  bool tensor_list = false;
  std::string literal;  // when there are no tensors
};
struct Sample {
  std::string op;
  std::vector<SampleArg> args;
  bool smooth = true;
  std::string name;   // "add_2": the second line of this op
  std::string where;  // "tests/samples/math.txt:12"
  /// The same in every build, and whatever other samples there are.
  uint64_t seed() const { return StableHash().add(name).value(); }
  /// All ops give something but one, which stops the program or does not.
  bool gives() const { return op != "check_size"; }
};

/// Family by family, each in the order of its file. Throws ValueError where the folder holds none.
const std::vector<Sample>& samples();

/// Is this a definition that a test made for itself? It has no sample.
inline bool scratch(const Op& op) { return op.name().compare(0, 8, "scratch_") == 0; }

/// A concrete tensor for one sample argument. `real` is the dtype of 'f'-like kinds.
Tensor make_tensor(const SampleTensor& t, DType real, std::mt19937_64& rng);

/// The complete call: arguments with defaults, ready for lathe::call.
struct PreparedCall {
  const Op* op;
  std::vector<Tensor> tensors;
  ArgVec pool;
  absl::InlinedVector<Arg, 8> args;
  Args view() const { return {args.data(), args.size()}; }
};
/// `make` supplies each tensor, so that symbolic ones can stand in.
PreparedCall prepare(const Sample& sample, const std::function<Tensor(const SampleTensor&)>& make);

}  // namespace lathe::testing
