// The text of a kernel has two languages. Lines of scalar functions, from one that begins with "("
// to the one that begins with "return", go to parse_function(); the rest is made of the tokens and
// sizes that the text of graphs has, and is read with these lines left empty.
#include "jit/kernel_ir/parse.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include "core/expr/parse.h"
#include "graph/text/reader.h"

namespace lathe::jit {
namespace {

using ir::Token;
using ir::TokenKind;

struct FunctionText {
  int line;
  std::string text;
};

struct Split {
  std::string code;
  std::vector<FunctionText> functions;
};

Split split(std::string_view text) {
  Split out;
  bool inside = false;
  int number = 0;
  for (std::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::string_view words = absl::StripLeadingAsciiWhitespace(line);
    if (!inside && words.starts_with("(")) {
      inside = true;
      out.functions.push_back({number, ""});
    }
    absl::StrAppend(inside ? &out.functions.back().text : &out.code, line, "\n");
    if (inside) out.code += '\n';
    if (words.starts_with("return")) inside = false;
  }
  return out;
}

constexpr uint64_t kMostTogether = uint64_t{1} << 40;  // positions that a step speaks of

const ir::Limits& limits() {
  static const ir::Limits& the = *new ir::Limits;
  return the;
}

class Parser : ir::Reader {
 public:
  Parser(const Split& split, std::string_view file)
      : Reader(split.code, limits(), file), functions_(split.functions) {
    symbol_count_ = limits_.symbols;  // a kernel does not declare those of its graph
  }

  Kernel run() {
    expect("kernel");
    if (!is("(")) k_.name = label(TokenKind::name, "the kernel's name");
    expect("(");
    k_.inputs = arguments();
    expect("->");
    expect("(");
    k_.outputs = arguments();
    while (take("number")) uniform();
    while (take("local")) local();
    while (is("pieces") || is("parallel") || is("axis")) axis();
    if (take("schedule")) schedule();
    k_.body = block(peek().column);
    if (!is_end()) fail("this statement is indented like none before it");
    if (next_ < functions_.size()) stray(functions_[next_]);
    count_facts(k_);
    return std::move(k_);
  }

 private:
  bool is_end() const { return peek().kind == TokenKind::end; }

  // ── what there is ──
  std::string label(TokenKind plain, std::string_view what) {
    if (peek().kind != plain && peek().kind != TokenKind::text)
      fail(absl::StrCat(what, " is wanted here"));
    return std::string(next().text);
  }
  DType dtype() {
    const Token at = peek();
    DType d;
    if (!parse_dtype(name("a dtype"), d) || !info(d).tensor)
      fail_at(at, "no buffer has this dtype");
    return d;
  }
  /// "b12" where the letter is b and less than so many are known; the number.
  int numbered(char letter, size_t known, std::string_view what) {
    const Token& t = peek();
    uint32_t k = 0;
    if (t.kind != TokenKind::name || t.text[0] != letter || !absl::SimpleAtoi(t.text.substr(1), &k))
      fail(absl::StrCat(what, " (", std::string(1, letter), "0, ...) is wanted here"));
    if (k >= known) fail(absl::StrCat("there is no ", t.text));
    next();
    return static_cast<int>(k);
  }
  /// The same where the next one is made known.
  void introduce(char letter, size_t known, std::string_view what) {
    const Token at = peek();
    if (static_cast<size_t>(numbered(letter, known + 1, what)) != known)
      fail_at(at, absl::StrCat("the next one is ", std::string(1, letter), known));
  }

  Buf buffer(Space space) {
    introduce('b', k_.buffers.size(), "a buffer");
    expect(":");
    Buf b{dtype(), space, 0, ""};
    if (peek().kind == TokenKind::value || peek().kind == TokenKind::text)
      b.name = label(TokenKind::value, "a buffer's name");
    return b;
  }
  int arguments() {
    int count = 0;
    for (; !take(")"); ++count) {
      if (count > 0) expect(",");
      k_.buffers.push_back(buffer(Space::argument));
    }
    return count;
  }
  void uniform() {
    introduce('u', k_.uniforms.size(), "a number");
    expect(":");
    k_.uniforms.push_back(dtype());
  }
  void local() {
    Buf b = buffer(Space::local);
    expect("[");
    b.elements = size();
    expect("]");
    k_.buffers.push_back(std::move(b));
  }
  void axis() {
    const Token at = next();
    introduce('i', k_.axes.size(), "an axis");
    expect("<");
    k_.axes.push_back({size()});
    if (at.text == "axis") return;
    if (static_cast<size_t>(k_.parallel) + 1 != k_.axes.size())
      fail_at(at, "parallel axes come before the others");
    ++k_.parallel;
    if (at.text != "pieces") return;
    expect("of");
    const Int line = size();
    if (k_.line && !identical(*k_.line, line)) fail_at(at, "these are pieces of another line");
    k_.line = line;
  }

  void schedule() {
    do {
      const Token at = peek();
      ScheduleStep s{schedule_kind()};
      if (about(s.kind) == 'i') s.on = numbered('i', k_.axes.size(), "an axis");
      if (about(s.kind) == 'b') s.on = numbered('b', k_.buffers.size(), "a buffer");
      if (counts(s.kind)) {
        expect("by");
        if (peek().kind != TokenKind::integer || peek().integer > kMostTogether)
          fail("a number of positions is wanted here");
        s.by = static_cast<int64_t>(next().integer);
      }
      if (find(k_.schedule, s.kind, s.on) != nullptr)
        fail_at(at, absl::StrCat(to_string(s), " is said twice"));
      k_.schedule.push_back(s);
    } while (take(","));
  }
  ScheduleKind schedule_kind() {
    for (int k = 0; k < kScheduleKinds; ++k)
      if (take(name_of(static_cast<ScheduleKind>(k)))) return static_cast<ScheduleKind>(k);
    fail(
        "a step of a schedule (split, stage, parallel, unroll, vectorise, prefetch) is wanted "
        "here");
  }

  // ── sizes and places ──
  /// What `read` gives, with the place of the sizes that it cannot compute with.
  Int located(Int (Parser::*read)()) {
    const Token at = peek();
    try {
      return (this->*read)();
    } catch (const Error& e) {
      if (absl::StartsWith(e.parts().op, absl::StrCat(file_, ":"))) throw;
      fail_at(at, e.parts().problem);
    }
  }
  Int read_sum() { return int_expression(); }
  Int read_term() { return int_term(); }
  Int size() { return located(&Parser::read_sum); }

  Access access() {
    Access a{numbered('b', k_.buffers.size(), "a buffer"), {}};
    expect("[");
    bool negative = false;
    for (size_t terms = 0;; ++terms) {
      if (terms > 256) fail("too many terms in one index");
      if (peek().kind == TokenKind::name && peek().text[0] == 'i')
        stride(a.map, negative);
      else
        offset(a.map.offset, negative);
      negative = is("-");
      if (!take("+") && !take("-")) break;
    }
    expect("]");
    return a;
  }
  void offset(Int& sum, bool negative) {
    const Token at = peek();
    const Int term = located(&Parser::read_term);
    try {
      sum = negative ? sum - term : sum + term;
    } catch (const OverflowError& e) {
      fail_at(at, e.parts().problem);
    }
  }
  void stride(IndexMap& map, bool negative) {
    if (negative) fail("a stride below 0 is written behind its axis");
    const Token at = peek();
    const auto k = static_cast<size_t>(numbered('i', k_.axes.size(), "an axis"));
    Int step = 1;
    if (take("*")) {
      expect("(");
      step = size();
      expect(")");
    }
    if (!identical(map.along(k), Int(0))) fail_at(at, "this axis is there twice");
    if (map.strides.size() <= k) map.strides.resize(k + 1, Int(0));
    map.strides[k] = step;
  }

  Operand operand() {
    if (take("pieces")) return pieces();
    if (peek().kind != TokenKind::name || peek().text[0] != 'u') return access();
    const int slot = numbered('u', k_.uniforms.size(), "a number");
    return Uniform{slot, k_.uniforms[static_cast<size_t>(slot)]};
  }
  Pieces pieces() {
    Pieces out{dtype(), {}};
    expect("{");
    do {
      Piece piece;
      if (peek().kind == TokenKind::integer)
        piece.bits = next().integer;
      else
        piece.from = access();
      if (take("within")) do
          piece.within.push_back(range());
        while (take("and"));
      out.all.push_back(std::move(piece));
    } while (take(","));
    expect("}");
    return out;
  }
  Range range() {
    Range r{numbered('i', k_.axes.size(), "an axis"), 0, 0};
    expect("from");
    r.first = size();
    expect("to");
    r.last = size();
    return r;
  }
  std::vector<Operand> operands() {
    std::vector<Operand> all;
    expect("(");
    while (!take(")")) {
      if (!all.empty()) expect(",");
      all.push_back(operand());
    }
    return all;
  }
  std::vector<Access> stores() {
    std::vector<Access> all;
    if (is("=")) return all;
    do all.push_back(access());
    while (take(","));
    return all;
  }

  // ── statements ──
  Block block(int column) {
    const Deeper deeper(*this);
    Block out;
    while (!is_end() && peek().column == column) out.push_back({statement()});
    return out;
  }

  decltype(Statement::node) statement() {
    const Token begin = peek();
    if (take("for")) {
      For loop{numbered('i', k_.axes.size(), "an axis"), {}};
      if (!is_end() && peek().column > begin.column) loop.body = block(peek().column);
      return loop;
    }
    std::vector<Access> to = stores();
    expect("=");
    if (take("reduce")) {
      if (take("rows")) return reduction<ReduceRows>(std::move(to));  // not an op: of all rows
      return reduction<Reduce>(std::move(to));
    }
    if (!take("compute")) fail("'compute', 'reduce' or 'reduce rows' is wanted here");
    std::vector<Operand> in = operands();
    return Compute{function(), std::move(in), std::move(to)};
  }

  template <class R>
  R reduction(std::vector<Access> to) {
    R r{numbered('i', k_.axes.size(), "an axis"), {}, operands(), std::move(to)};
    while (peek().kind == TokenKind::name && is("from", 1)) {
      r.bodies.state.push_back(dtype());
      expect("from");
      if (peek().kind != TokenKind::integer) fail("the bits of a unit are wanted here");
      r.bodies.unit.push_back(next().integer);
      if (!take(",")) break;
    }
    r.bodies.lift = function();
    r.bodies.combine = function();
    r.bodies.finish = function();
    return r;
  }

  /// The function whose lines come between the last token and the next one.
  ScalarFunction function() {
    if (next_ >= functions_.size() || (!is_end() && functions_[next_].line > peek().line))
      fail("the lines of a function are wanted before this");
    const FunctionText& f = functions_[next_];
    if (f.line < lexed_.tokens[at_ - 1].line) stray(f);
    ++next_;
    return parse_function(f.text, file_, f.line);
  }
  [[noreturn]] void stray(const FunctionText& f) const {
    Token at;
    at.line = f.line;
    at.column = 1;
    fail_at(at, "no statement takes this function");
  }

  const std::vector<FunctionText>& functions_;
  size_t next_ = 0;  // of the functions
  Kernel k_;
};

}  // namespace

Kernel parse_kernel(std::string_view text, std::string_view file) {
  const Split parts = split(text);
  try {
    return Parser(parts, file).run();
  } catch (const ValueError& e) {
    ErrorParts told = e.parts();
    told.expected = "the text of a kernel, as this version prints it";
    told.next = "mend the text there";
    throw ValueError(told);
  }
}

}  // namespace lathe::jit
