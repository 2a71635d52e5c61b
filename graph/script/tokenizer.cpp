#include "graph/script/tokenizer.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include "core/error.h"

namespace lathe::script {

void refuse(std::string_view file, int line, std::string_view problem, std::string_view got,
            std::string_view next) {
  throw ScriptError({.problem = std::string(problem),
                     .got = std::string(got),
                     .next = std::string(next),
                     .site = make_site(file, line)});
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Tokenizer {
 public:
  Tokenizer(std::string_view source, std::string_view file, int line, const ScriptLimits& limits)
      : s_(source), file_(file), line_(line), limits_(limits) {}

  std::vector<Token> run() {
    if (s_.size() > limits_.bytes) fail("the source is too long");
    indents_.push_back(0);
    while (at_ < s_.size()) line();
    if (!out_.empty() && out_.back().kind != TokenKind::newline) push(TokenKind::newline, "");
    while (indents_.size() > 1) {
      indents_.pop_back();
      push(TokenKind::dedent, "");
    }
    push(TokenKind::end, "");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const { refuse(file_, line_, problem); }
  char peek(size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  Token& push(TokenKind kind, std::string text) {
    if (out_.size() > limits_.nodes) fail("the source is too long");
    out_.push_back({kind, std::move(text), line_});
    return out_.back();
  }

  /// One logical line, with its indentation.
  void line() {
    int width = 0;
    for (; peek() == ' ' || peek() == '\t'; ++at_)
      width = peek() == '\t' ? (width / 8 + 1) * 8 : width + 1;
    if (peek() == '#' || peek() == '\n' || peek() == '\r' || peek() == '\0') {
      skip_rest();
      return;
    }
    indentation(width);
    int open = 0;
    while (at_ < s_.size()) {
      char c = peek();
      if (c == '\n') {
        if (open == 0) break;
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < s_.size() && peek() != '\n') ++at_;
      } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
        ++line_;
      } else {
        token(open);
      }
    }
    if (open > 0) {
      line_ = opened_;
      fail("a bracket is opened here and not closed");
    }
    push(TokenKind::newline, "");
    if (at_ < s_.size()) {
      ++at_;
      ++line_;
    }
  }

  void skip_rest() {
    while (at_ < s_.size() && peek() != '\n') ++at_;
    if (at_ < s_.size()) {
      ++at_;
      ++line_;
    }
  }

  void indentation(int width) {
    if (width > indents_.back()) {
      if (static_cast<int>(indents_.size()) > limits_.depth)
        fail("too many blocks inside each other");
      indents_.push_back(width);
      push(TokenKind::indent, "");
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      push(TokenKind::dedent, "");
    }
    if (width != indents_.back()) fail("this line is indented like no line above it");
  }

  void token(int& open) {
    char c = peek();
    if (is_letter(c)) {
      size_t first = at_;
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      std::string word(s_.substr(first, at_ - first));
      if (peek() == '\'' || peek() == '"') {
        if (word == "r" || word == "R") return quoted(true);
        fail(absl::StrCat("a ", word, "-string cannot be part of a script"));
      }
      push(TokenKind::name, std::move(word));
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '\'' || c == '"') {
      quoted(false);
    } else {
      op(open);
    }
  }

  void number() {
    size_t first = at_;
    bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    bool real = false;
    auto digits = [&] {
      while (is_digit(peek()) || peek() == '_') ++at_;
    };
    if (hex) {
      at_ += 2;
      while (is_digit(peek()) || is_letter(peek())) ++at_;
    } else {
      digits();
      if (peek() == '.') {
        real = true;
        ++at_;
        digits();
      }
      if (peek() == 'e' || peek() == 'E') {
        real = true;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        digits();
      }
    }
    std::string text = absl::StrReplaceAll(s_.substr(first, at_ - first), {{"_", ""}});
    Token& t = push(TokenKind::number, text);
    t.real = real;
    bool good = real  ? absl::SimpleAtod(text, &t.real_value)
                : hex ? absl::SimpleHexAtoi(text, &t.integer)
                      : absl::SimpleAtoi(text, &t.integer);
    if (!good || is_letter(peek())) fail("this number cannot be read");
  }

  void quoted(bool raw) {
    char quote = peek();
    int start = line_;
    bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    std::string value;
    for (;; ++at_) {
      if (at_ >= s_.size() || (!triple && peek() == '\n')) {
        line_ = start;
        fail("a text that does not end");
      }
      char c = peek();
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
      if (c == '\n') ++line_;
      if (c != '\\' || raw) {
        value += c;
        continue;
      }
      ++at_;
      switch (peek()) {
        case 'n':
          value += '\n';
          break;
        case 't':
          value += '\t';
          break;
        case '\\':
        case '\'':
        case '"':
          value += peek();
          break;
        case '\n':
          ++line_;
          break;
        default:
          fail("this escape cannot be part of a script");
      }
    }
    at_ += triple ? 3 : 1;
    if (value.find('\0') != std::string::npos) fail("a text cannot hold a zero byte");
    push(TokenKind::text, std::move(value));
  }

  void op(int& open) {
    for (std::string_view three : {"**=", "//=", "...", "<<=", ">>="})
      if (s_.substr(at_, 3) == three) return take(three);
    for (std::string_view two : {"**", "//", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=", "/=",
                                 "%=", "@=", "&=", "|=", "^=", ":=", "<<", ">>"})
      if (s_.substr(at_, 2) == two) return take(two);
    char c = peek();
    if (std::string_view("+-*/%@&|^~<>()[]{},:.;=").find(c) == std::string_view::npos)
      fail("this character is no part of Python");
    if ((c == '(' || c == '[' || c == '{') && open++ == 0) opened_ = line_;
    if (c == ')' || c == ']' || c == '}') --open;
    if (open < 0) fail("a bracket is closed that was not opened");
    take(s_.substr(at_, 1));
  }
  void take(std::string_view text) {
    at_ += text.size();
    push(TokenKind::op, std::string(text));
  }

  std::string_view s_, file_;
  int line_;
  int opened_ = 0;  // where the outermost open bracket stands
  const ScriptLimits& limits_;
  size_t at_ = 0;
  std::vector<int> indents_;
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::string_view file, int first_line,
                            const ScriptLimits& limits) {
  return Tokenizer(source, file, first_line, limits).run();
}

}  // namespace lathe::script
