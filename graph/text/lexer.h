// Splits the text of graphs and rules into tokens. The whole text at once: it is short beside what
// it describes, and the user's lines (comments) are gathered on the way.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "graph/ir/text.h"

namespace lathe::ir {

enum class TokenKind : uint8_t { end, name, value, integer, real, text, punct };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view
      text;  // of a value without '%', of a text with its escapes undone (see Lexed::texts)
  uint64_t integer = 0;  // magnitude; the sign is a token of its own
  double real = 0;
  int line = 0, column = 0;
};

struct Lexed {
  std::vector<Token> tokens;             // ends with an `end`
  std::deque<std::string> texts;         // what Token::text of quoted texts points into
  absl::flat_hash_map<int, Site> sites;  // by line
};

Lexed lex(std::string_view text, const Limits& limits, std::string_view file);

/// ValueError "file:line:column: problem".
[[noreturn]] void text_error(std::string_view file, const Token& at, std::string_view problem);

}  // namespace lathe::ir
