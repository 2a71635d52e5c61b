// The parsed form of a rule's `from` and `to`.
#pragma once

#include <optional>

#include "graph/rewrite/rule.h"

namespace lathe::ir {

struct Pattern {
  std::string variable;    // or
  const Op* op = nullptr;  // with one entry a parameter, absent: its default; or
  std::vector<std::unique_ptr<Pattern>> slots;
  ArgVec literal;  // one Arg
};

Pattern parse_pattern(std::string_view text, std::string_view rule);

}  // namespace lathe::ir
