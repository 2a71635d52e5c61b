#include "graph/text/lexer.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <charconv>

#include "core/base/error.h"

namespace lathe::ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
 public:
  Lexer(std::string_view text, const Limits& limits, std::string_view file)
      : text_(text), limits_(limits), file_(file) {}

  Lexed run() {
    if (text_.size() > limits_.bytes) fail("the text is too long");
    while (skip()) token();
    start();
    push(TokenKind::end, {});
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem) {
    start();
    text_error(file_, current_, problem);
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void start() {
    current_ = Token{};
    current_.line = line_;
    current_.column = static_cast<int>(at_ - line_start_) + 1;
  }
  void push(TokenKind kind, std::string_view text) {
    current_.kind = kind;
    current_.text = text;
    out_.tokens.push_back(current_);
  }

  /// Past blanks and comments; false at the end.
  bool skip() {
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c == '#') {
        comment();
        --at_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }

  /// "# file:12" is the user's line; anything else is for the reader only.
  void comment() {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    if (!body.empty() && body.front() == ' ') body.remove_prefix(1);
    size_t colon = body.rfind(':');
    int number = 0;
    if (colon != std::string_view::npos && colon > 0 &&
        absl::SimpleAtoi(body.substr(colon + 1), &number) && number > 0)
      out_.sites[line_] = make_site(body.substr(0, colon), number);
    at_ = end;
  }

  void token() {
    start();
    char c = peek();
    if (c == '%') {
      ++at_;
      size_t first = at_;
      while (is_word(peek()) || peek() == '.') ++at_;
      if (at_ == first) fail("a name is wanted after %");
      push(TokenKind::value, text_.substr(first, at_ - first));
    } else if (is_letter(c)) {
      size_t first = at_;
      // max.dim is one name: an overload of max.
      while (is_word(peek()) || (peek() == '.' && is_letter(peek(1)))) ++at_;
      std::string_view word = text_.substr(first, at_ - first);
      push(TokenKind::name, word);
      // `const#3`: the one place where # is no comment.
      if (word == "const" && peek() == '#') {
        start();
        ++at_;
        push(TokenKind::punct, text_.substr(at_ - 1, 1));
      }
    } else if (is_digit(c)) {
      number();
    } else if (c == '\'') {
      quoted();
    } else {
      punct();
    }
  }

  /// "0xff800000": bits, in the text of kernels.
  void bits() {
    const size_t first = at_;
    for (at_ += 2; is_word(peek());) ++at_;
    const std::string_view body = text_.substr(first, at_ - first);
    const auto [end, failed] =
        std::from_chars(body.data() + 2, body.data() + body.size(), current_.integer, 16);
    if (failed != std::errc() || end != body.data() + body.size())
      fail("up to sixteen hexadecimal digits are wanted behind 0x");
    push(TokenKind::integer, body);
  }

  void number() {
    if (peek() == '0' && peek(1) == 'x') return bits();
    size_t first = at_;
    bool real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    bool exponent = peek() == 'e' || peek() == 'E';
    size_t sign = exponent && (peek(1) == '+' || peek(1) == '-') ? 1 : 0;
    if (exponent && is_digit(peek(1 + sign))) {
      real = true;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    std::string_view body = text_.substr(first, at_ - first);
    if (is_word(peek())) fail("a number runs into a name");
    if (real) {
      auto result = std::from_chars(body.data(), body.data() + body.size(), current_.real);
      if (result.ec != std::errc() && result.ec != std::errc::result_out_of_range)
        fail("this is no number");
      if (result.ec == std::errc::result_out_of_range && !absl::SimpleAtod(body, &current_.real))
        fail("this number is out of range");
      push(TokenKind::real, body);
    } else {
      auto result = std::from_chars(body.data(), body.data() + body.size(), current_.integer);
      if (result.ec != std::errc()) fail("this number is out of range");
      push(TokenKind::integer, body);
    }
  }

  int hex() {
    char c = peek();
    int value = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) fail("two hexadecimal digits are wanted");
    ++at_;
    return value;
  }

  void quoted() {
    Token begin = current_;
    std::string value;
    for (++at_; peek() != '\''; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') fail("the text does not end on its line");
      if (peek() != '\\') {
        value += peek();
        continue;
      }
      char c = peek(1);
      if (c == 'x') {
        at_ += 2;
        int high = hex();
        value += static_cast<char>(high * 16 + hex());
        --at_;
        continue;
      }
      if (c != '\\' && c != '\'' && c != 'n') fail("an escape is one of \\\\ \\' \\n \\xNN");
      value += c == 'n' ? '\n' : c;
      ++at_;
    }
    ++at_;
    if (value.find('\0') != std::string::npos) fail("a text cannot hold a zero byte");
    current_ = begin;
    out_.texts.push_back(std::move(value));
    push(TokenKind::text, out_.texts.back());
  }

  void punct() {
    for (std::string_view two : {"->", "==", "!=", "<=", ">="}) {
      if (text_.substr(at_, 2) != two) continue;
      at_ += 2;
      push(TokenKind::punct, two);
      return;
    }
    if (std::string_view("(){}[],:=@+-*<>").find(peek()) == std::string_view::npos)
      fail("this character means nothing here");
    ++at_;
    push(TokenKind::punct, text_.substr(at_ - 1, 1));
  }

  std::string_view text_;
  const Limits& limits_;
  std::string_view file_;
  size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  Token current_;
  Lexed out_;
};

}  // namespace

void text_error(std::string_view file, const Token& at, std::string_view problem) {
  std::string got;
  if (!at.text.empty()) got = absl::StrCat("'", at.text.substr(0, 60), "'");
  throw ValueError({.op = absl::StrCat(file, ":", at.line, ":", at.column),
                    .problem = std::string(problem),
                    .got = got,
                    .expected = "the text of a graph, as this version prints it",
                    .next = "mend the text there; in a file: save it again with this version"});
}

Lexed lex(std::string_view text, const Limits& limits, std::string_view file) {
  return Lexer(text, limits, file).run();
}

}  // namespace lathe::ir
