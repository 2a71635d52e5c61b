// The syntax tree of scripts: the part of Python that can become a graph. Our own parser fills it
// from text, and Python fills it from its own `ast`; what has no kind here is `unsupported`, with
// the reason in `text`, and is refused only if it is reached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/args.h"

namespace lathe::script {

enum class Kind : uint8_t {
  unsupported,  // text: why
  // Statements.
  function,    // text: name; children: parameters, then body (a block)
  parameter,   // text: name; children: annotation (a name, or `none`), default (or `none`)
  block,       // children: statements
  assign,      // children: targets, then the value
  augmented,   // text: "+"; children: target, value
  expression,  // children: value (docstrings too)
  return_,     // children: value, or nothing
  if_,         // children: test, block, block (perhaps empty)
  while_,      // children: test, block
  for_,        // children: target, iterable, block
  break_,
  continue_,
  pass_,
  // Expressions.
  name,       // text
  constant,   // literal
  binary,     // text: "+ - * / // % ** @ & | ^"; children: left, right
  unary,      // text: "- + not ~"
  boolean,    // text: "and", "or"; children: two or more
  compare,    // text: operators separated by spaces, "< <="; children: one more than operators
  call,       // children: function, then arguments
  keyword,    // of a call. text: name; children: value
  attribute,  // text: name; children: object
  subscript,  // children: object, index (slice, tuple or expression)
  slice,      // children: start, stop, step, each perhaps `none`
  tuple,
  list,         // children
  conditional,  // children: test, yes, no
  none,         // nothing stands here
};

struct Node {
  Kind kind = Kind::none;
  std::string text = {};
  int line = 0;
  std::vector<int> children = {};
  ArgVec literal = {};  // one Arg: constant
};

struct SyntaxTree {
  std::string file;
  std::vector<Node> nodes;
  std::vector<int> functions;  // the top level, in order
  const Node& operator[](int i) const { return nodes[static_cast<size_t>(i)]; }
  /// The function of this name, or -1.
  int find(std::string_view name) const;
};

struct ScriptLimits {
  size_t bytes = size_t{4} << 20;
  size_t nodes = size_t{1} << 18;
  int depth = 100;
};

/// Parses function definitions. ScriptError with the user's line for anything that is no Python of
/// this part. `first_line`: of the text in the file it comes from.
SyntaxTree parse_source(std::string_view python, std::string_view file, int first_line = 1,
                        const ScriptLimits& limits = {});

/// One node a line, indented: for tests.
std::string print(const SyntaxTree& tree);

[[noreturn]] void refuse(std::string_view file, int line, std::string_view problem,
                         std::string_view got = {}, std::string_view next = {});

}  // namespace lathe::script
