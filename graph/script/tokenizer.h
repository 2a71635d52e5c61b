// Python tokens, with indentation as tokens of its own.
#pragma once

#include "graph/script/syntax.h"

namespace lathe::script {

enum class TokenKind : uint8_t { end, newline, indent, dedent, name, number, text, op };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  // of a text: its value
  int line = 0;
  bool real = false;  // of a number
  double real_value = 0;
  int64_t integer = 0;
};

std::vector<Token> tokenize(std::string_view source, std::string_view file, int first_line,
                            const ScriptLimits& limits);

}  // namespace lathe::script
