// A random program as data, so that it can be run in any mode, printed, and made smaller.
//
// Inputs and results of steps have ids. A step calls a definition on values made before (call,
// inplace), writes one value into another (assign), or is a structure whose parts are chains of
// elementwise calls on one value, which they know as kCarried. What a step holds besides ids are
// the definition's own argument list with None where a value stands, and the places of the values
// in it, as graph nodes have them. So nothing here knows an op by its name: definitions and samples
// say what there is.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/datum.h"
#include "graph/ir/ir.h"
#include "tests/cpp/support/samples.h"

namespace lathe::bits_test {

inline constexpr int kCarried = -1;

struct Operand {
  ir::Place place;
  int id = 0;
  int axis = -1;  // not -1: the size of the value along this axis
};

struct Step {
  enum class Form : uint8_t { call, inplace, assign, branch, repeat, until };
  Form form = Form::call;
  const Op* op = nullptr;
  ArgVec attrs;
  std::vector<Operand> operands;  // assign: destination, value; structures: the value to begin with
  std::vector<int> out;
  std::vector<Step> first, second;  // branch: both sides; loops: the body
  int trips = 0;                    // of loops
  bool gradients = true;            // false: it runs with gradients off
};

/// How an input's elements lie.
enum class Layout : uint8_t { row_major, transposed, strided, offset, expanded };

struct Input {
  int id = 0;
  Tensor value;  // row-major
  Layout layout = Layout::row_major;
  bool tracked = false;  // gradients by it are taken
  // What it is made of, for other sizes. A kind of 0: nothing, it is as it is.
  testing::SampleTensor like{0, {}, 0};
  DType dtype = DType::f32;
  uint64_t seed = 0;
  bool special = false;    // zeros of both signs, infinities, NaN, subnormals among the elements
  std::vector<int> slots;  // by axis: which of Program::sizes it is; -1: none, it is fixed
};

enum class Gradient : uint8_t {
  none,
  inside,   // the program itself ends with a backward
  outside,  // taken by the tape and by `differentiate`
};

struct Program {
  uint64_t seed = 0;
  std::vector<int64_t> sizes;  // what inputs are made of
  std::vector<Input> inputs;
  std::vector<Step> steps;
  std::vector<int> outputs;
  Gradient gradient = Gradient::none;
  int ids = 0;
};

/// An input's elements for these sizes.
Tensor make_input(const Input& input, absl::Span<const int64_t> sizes);
/// The same program on inputs of other sizes.
Program resized(const Program& program, absl::Span<const int64_t> sizes);

/// Fresh copies of the inputs, each laid out as it says.
ir::Data inputs_of(const Program& program);
Tensor laid_out(const Tensor& value, Layout layout);

/// By id; what is not made yet is undefined.
using Pool = std::vector<Tensor>;
/// Runs one step on the values there are. Numbers or symbols.
void run_step(const Step& step, Pool& pool);
/// Outputs, then, with the gradient inside, the gradients there are. If `pool` is given, every
/// value as it is right after the step that made it (a copy).
ir::Data run(const Program& program, const ir::Data& inputs, Pool* copies = nullptr);
/// The cotangent that an output gets, in every mode: varies by element, needs no input.
Tensor cotangent(const Tensor& y);

std::string to_string(const Program& program);

}  // namespace lathe::bits_test
