// The one text of graphs: for tests, rules, files and error excerpts. print(parse(t)) == t for
// every t that print made.
//
//   graph f(%x: f32[s0, 64], %w: f32[64, 32], %n: int(s1)) -> (f32[s0, 32]) {
//     size s0 = 5
//     int s1 = 3
//     assume s0 != 1                                         # model.py:7
//     %0: f32[s0, 32] = mm(%x, %w)                           # model.py:7
//     %i: int(0) = constant 0
//     %h: f32[s0, 32], %j: int = while (%h.1: f32[s0, 32] = %0, %j.1: int(s2) = %i) {
//       ...
//       yield %c
//     } do {
//       yield %h.2, %j.2
//     }
//     write %w = %h
//     return %h
//   }
//
// A name that occurs again gets a number: %h, %h.1. Values nobody named are %0, %1 ... in order.
// What is in the comment column is the user's line. Arguments of an op that have a default are
// written by name, and only where they differ from it. `mm@2(...)` is version 2 of mm's meaning.
// Small constants stand in the text, large ones are const#k: a tensor given beside the text.
// `tanh(%x) detached` was run with gradients off. Functions that are called follow, and gradients
// that are declared: "gradient @g of @f wrt 0, 1 -> (f32[s0, 64], f32[64, 32])" (derive_gradients()
// in autodiff/ writes them). "from 1" takes the gradient of result 1 of f, "keeping 0" gives result
// 0 too, behind the gradients, and a function that is "seeded" takes the cotangent as its last
// argument, which is ones otherwise.
//
// The parser also takes what people write by hand: types may be left out where they can be
// inferred, calls may nest, and numbers may stand where a structure wants a value.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

struct PrintOptions {
  bool names = true;  // the user's; else numbers only
  bool sites = true;  // the comment column
  bool hints = true;  // sizes at the first call
};
std::string print(const Graph& graph, PrintOptions options = {});
/// One node, without its blocks, for messages.
std::string print(const Node& node);
/// Lines and names of a graph as print() has them, one by one. The graph stays as it is.
class GraphText {
 public:
  explicit GraphText(const Graph& graph);
  ~GraphText();
  GraphText(const GraphText&) = delete;
  /// The line of one of its nodes, without its blocks and its site.
  std::string line(const Node& node) const;
  /// A value of the graph, without '%'.
  std::string name(const Value& value) const;

 private:
  struct Printed;
  std::unique_ptr<Printed> printed_;
};
/// Values as print() names them, without '%': the inputs, then what nodes give, in order.
std::vector<std::pair<std::string, Value*>> printed_names(const Graph& graph);
std::string to_string(const SymFact& fact);

/// What a text may ask for at most, so that a hostile one costs little.
struct Limits {
  size_t bytes = size_t{64} << 20;
  size_t nodes = size_t{1} << 20;
  size_t symbols = size_t{1} << 16;
  size_t items = size_t{1} << 16;  // in one list
  int depth = 48;                  // of blocks and calls inside each other
};

/// Throws ValueError with line and column, NameError for an op this program does not have,
/// TypeError for arguments that do not fit the op's signature. `file` is what messages call the
/// text. Check the result with verify() if the text comes from elsewhere.
Graph parse(std::string_view text, absl::Span<const Tensor> constants = {},
            const Limits& limits = {}, std::string_view file = "graph");

}  // namespace lathe::ir
