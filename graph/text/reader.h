// A cursor over tokens and what graphs and rules both read: names, sizes, types, literals.
#pragma once

#include "graph/text/lexer.h"

namespace lathe::ir {

class Reader {
 public:
  Reader(std::string_view text, const Limits& limits, std::string_view file)
      : lexed_(lex(text, limits, file)), limits_(limits), file_(file) {}

 protected:
  const Token& peek(size_t ahead = 0) const {
    return lexed_.tokens[std::min(at_ + ahead, lexed_.tokens.size() - 1)];
  }
  bool is(std::string_view text, size_t ahead = 0) const {
    const Token& t = peek(ahead);
    return (t.kind == TokenKind::punct || t.kind == TokenKind::name) && t.text == text;
  }
  const Token& next() {
    const Token& t = peek();
    if (at_ + 1 < lexed_.tokens.size()) ++at_;
    return t;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text);
  std::string_view name(std::string_view what);
  [[noreturn]] void fail(std::string_view problem) const { text_error(file_, peek(), problem); }
  [[noreturn]] void fail_at(const Token& at, std::string_view problem) const {
    text_error(file_, at, problem);
  }
  Site site_of_line(int line) const {
    auto it = lexed_.sites.find(line);
    return it == lexed_.sites.end() ? Site{} : it->second;
  }

  /// Counts what is open inside what.
  class Deeper {
   public:
    explicit Deeper(Reader& r) : reader_(r) {
      if (++r.depth_ > r.limits_.depth) {
        --r.depth_;
        r.fail("too many things inside each other");
      }
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;

   private:
    Reader& reader_;
  };

  /// Does a size expression start here?
  bool at_int(size_t ahead = 0) const;
  Int number(bool negative);  // the token here, after its sign
  Int int_expression();
  Int int_term();  // one of its summands, with its sign
  /// The number k of a symbol "s12", or -1.
  int64_t symbol_number(const Token& t) const;
  Type type();
  /// "s0 <= 2*s1"
  SymFact fact(Site site);
  /// "[1.0, 2.0]"
  Tensor elements(const TensorType& t);
  /// A literal that is no list; false if none starts here.
  bool literal(Arg& out);

  Lexed lexed_;
  const Limits& limits_;
  std::string_view file_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t symbol_count_ = 0;  // symbols from here on are not declared

 private:
  void element(DType dtype, std::vector<std::byte>& bytes);
  int64_t in_range(const Token& at, int64_t v, int64_t low, int64_t high);
  Int whole_sum();
  Int int_factor();
  Device device_suffix();
};

}  // namespace lathe::ir
