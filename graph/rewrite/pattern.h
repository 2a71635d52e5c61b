// The parsed form of a rule's `from` and `to`.
#pragma once

#include <absl/functional/function_ref.h>

#include <optional>

#include "graph/rewrite/rule.h"

namespace lathe::ir {

struct Pattern {
  std::string variable;    // or
  const Op* op = nullptr;  // with one entry a parameter, absent: its default; or
  std::vector<std::unique_ptr<Pattern>> slots;
  ArgVec literal;  // one Arg
  int column = 0;  // where it stands in the text
  Pattern clone() const;
};

Pattern parse_pattern(std::string_view text, std::string_view rule);

/// Calls `visit` on a pattern and all that stands in it, from the outside in.
void for_each(const Pattern& pattern, absl::FunctionRef<void(const Pattern&)> visit);

/// The pattern with the operands of commutative ops in every order, itself first. ValueError if
/// there are more than `most`.
std::vector<Pattern> orders(const Pattern& pattern, size_t most);

/// Does `rule`, read as a pattern, fit `text` or a part of it?
bool occurs_in(const Pattern& rule, const Pattern& text);

}  // namespace lathe::ir
