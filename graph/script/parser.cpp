// A recursive-descent parser of the part of Python that scripts are written in; depth is limited.
// Statements that are Python but no part of it (try, with, class ...) become `unsupported` nodes,
// so that a function that never reaches them compiles. Operators follow Python's precedence, one
// function a level.
#include <absl/strings/str_cat.h>

#include <set>

#include "graph/script/syntax.h"
#include "graph/script/tokenizer.h"

namespace lathe::script {
namespace {

class Parser {
 public:
  Parser(std::string_view source, std::string_view file, int first_line, const ScriptLimits& limits)
      : tokens_(tokenize(source, file, first_line, limits)), limits_(limits) {
    tree_.file = std::string(file);
  }

  SyntaxTree run() {
    bool indented = kind(TokenKind::indent);  // a method's source comes with its indentation
    if (indented) ++at_;
    while (!kind(TokenKind::end) && !(indented && kind(TokenKind::dedent))) {
      while (is("@")) decorator();
      if (!is("def")) fail("a script is made of functions: 'def' is wanted here");
      tree_.functions.push_back(function());
    }
    return std::move(tree_);
  }

 private:
  // ── tokens ──
  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool kind(TokenKind k) const { return peek().kind == k; }
  bool is(std::string_view text, size_t ahead = 0) const {
    const Token& t = peek(ahead);
    return (t.kind == TokenKind::name || t.kind == TokenKind::op) && t.text == text;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) fail(absl::StrCat("'", text, "' is wanted here"));
  }
  void end_line() {
    if (take(";")) return;
    if (!kind(TokenKind::newline)) fail("the end of the line is wanted here");
    ++at_;
  }
  [[noreturn]] void fail(std::string_view problem) const {
    refuse(tree_.file, peek().line, problem,
           peek().text.empty() ? "" : absl::StrCat("'", peek().text, "'"));
  }

  class Deeper {
   public:
    explicit Deeper(Parser& p) : p_(p) {
      if (++p.depth_ > p.limits_.depth) p.fail("too many things inside each other");
    }
    ~Deeper() { --p_.depth_; }
    Deeper(const Deeper&) = delete;

   private:
    Parser& p_;
  };

  int add(Kind kind, int line, std::vector<int> children = {}, std::string text = {}) {
    if (tree_.nodes.size() >= limits_.nodes) fail("the source is too long");
    tree_.nodes.push_back({kind, std::move(text), line, std::move(children)});
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  // ── statements ──
  void decorator() {
    while (!kind(TokenKind::newline) && !kind(TokenKind::end)) ++at_;
    end_line();
  }

  int function() {
    int line = peek().line;
    expect("def");
    std::string name = identifier();
    expect("(");
    std::vector<int> children;
    while (!take(")")) {
      if (!children.empty()) expect(",");
      if (take(")")) break;
      children.push_back(parameter());
    }
    if (take("->")) expression();
    children.push_back(suite());
    return add(Kind::function, line, std::move(children), std::move(name));
  }

  int parameter() {
    int line = peek().line;
    if (is("*") || is("**")) fail("a script has no * or ** parameters");
    std::string name = identifier();
    int annotation = take(":") ? expression() : add(Kind::none, line);
    int value = take("=") ? expression() : add(Kind::none, line);
    return add(Kind::parameter, line, {annotation, value}, std::move(name));
  }

  std::string identifier() {
    static const auto& keywords = *new std::set<std::string_view>{
        "and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
        "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",   "if",
        "import", "in",   "is",     "lambda", "nonlocal", "not",   "or",    "pass",     "raise",
        "return", "try",  "while",  "with",   "yield",    "None",  "True",  "False"};
    if (!kind(TokenKind::name) || keywords.contains(peek().text)) fail("a name is wanted here");
    return tokens_[at_++].text;
  }

  /// ": statements" on the same line or indented below.
  int suite() {
    Deeper deeper(*this);
    int line = peek().line;
    expect(":");
    std::vector<int> children;
    if (!kind(TokenKind::newline)) {
      do children.push_back(simple());
      while (!kind(TokenKind::newline) && !kind(TokenKind::end) && tokens_[at_ - 1].text == ";");
      return add(Kind::block, line, std::move(children));
    }
    ++at_;
    if (!kind(TokenKind::indent)) fail("an indented block is wanted here");
    ++at_;
    while (!kind(TokenKind::dedent) && !kind(TokenKind::end)) children.push_back(statement());
    if (kind(TokenKind::dedent)) ++at_;
    return add(Kind::block, line, std::move(children));
  }

  int statement() {
    int line = peek().line;
    if (kind(TokenKind::indent)) fail("this line is indented, and nothing above asks for a block");
    if (take("if")) return if_statement(line);
    if (take("while")) {
      int test = expression();
      int body = suite();
      if (is("else")) return skip_unsupported(line, "else after a loop");
      return add(Kind::while_, line, {test, body});
    }
    if (take("for")) {
      int target = target_list();
      expect("in");
      int iterable = expression_list();
      int body = suite();
      if (is("else")) return skip_unsupported(line, "else after a loop");
      return add(Kind::for_, line, {target, iterable, body});
    }
    for (std::string_view word : {"try", "with", "class", "def", "async", "match"})
      if (is(word) && (word != "match" || peek(1).kind == TokenKind::name))
        return skip_unsupported(line, absl::StrCat("'", word, "'"));
    return simple();
  }

  int if_statement(int line) {
    Deeper deeper(*this);
    int test = expression();
    int yes = suite();
    int no;
    int here = peek().line;
    if (take("elif")) {
      int nested = if_statement(here);
      no = add(Kind::block, here, {nested});
    } else if (take("else")) {
      no = suite();
    } else {
      no = add(Kind::block, here);
    }
    return add(Kind::if_, line, {test, yes, no});
  }

  /// Past the statement and the blocks that belong to it.
  int skip_unsupported(int line, std::string what) {
    for (;;) {
      while (!kind(TokenKind::newline) && !kind(TokenKind::end)) ++at_;
      if (kind(TokenKind::newline)) ++at_;
      if (kind(TokenKind::indent)) {
        int open = 0;
        do {
          open += kind(TokenKind::indent) ? 1 : kind(TokenKind::dedent) ? -1 : 0;
          ++at_;
        } while (open > 0 && !kind(TokenKind::end));
      }
      bool more = is("except") || is("finally") || is("else") || is("elif");
      if (!more) break;
    }
    return add(Kind::unsupported, line, {}, absl::StrCat(what, " cannot be part of a script"));
  }

  int simple() {
    int line = peek().line;
    int r;
    if (take("pass")) {
      r = add(Kind::pass_, line);
    } else if (take("break")) {
      r = add(Kind::break_, line);
    } else if (take("continue")) {
      r = add(Kind::continue_, line);
    } else if (take("return")) {
      bool empty = kind(TokenKind::newline) || is(";");
      r = empty ? add(Kind::return_, line) : add(Kind::return_, line, {expression_list()});
    } else {
      for (std::string_view word :
           {"raise", "assert", "del", "global", "nonlocal", "import", "from", "yield"})
        if (is(word)) return skip_unsupported(line, absl::StrCat("'", word, "'"));
      r = assignment(line);
    }
    end_line();
    return r;
  }

  int assignment(int line) {
    int first = expression_list();
    for (std::string_view op :
         {"+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^="}) {
      if (!take(op)) continue;
      int value = expression_list();
      return add(Kind::augmented, line, {first, value}, std::string(op.substr(0, op.size() - 1)));
    }
    if (take(":")) {
      expression();  // an annotation says nothing that is not inferred
      if (!is("=")) return add(Kind::pass_, line);
    }
    std::vector<int> parts{first};
    while (take("=")) parts.push_back(expression_list());
    if (parts.size() == 1) return add(Kind::expression, line, std::move(parts));
    for (size_t i = 0; i + 1 < parts.size(); ++i) check_target(parts[i]);
    return add(Kind::assign, line, std::move(parts));
  }

  void check_target(int node) {
    switch (tree_[node].kind) {
      case Kind::name:
      case Kind::subscript:
      case Kind::attribute:
        return;
      case Kind::tuple:
      case Kind::list:
        for (int c : std::vector<int>(tree_[node].children)) check_target(c);
        return;
      default:
        refuse(tree_.file, tree_[node].line, "this cannot be assigned to");
    }
  }

  int target_list() {
    int line = peek().line;
    std::vector<int> items{postfix()};
    while (take(",")) items.push_back(postfix());
    return items.size() == 1 ? items[0] : add(Kind::tuple, line, std::move(items));
  }

  // ── expressions ──
  int expression_list() {
    int line = peek().line;
    int first = expression();
    if (!is(",")) return first;
    std::vector<int> items{first};
    while (take(",")) {
      if (kind(TokenKind::newline) || is("=") || is(")") || is("]") || is(";")) break;
      items.push_back(expression());
    }
    return add(Kind::tuple, line, std::move(items));
  }

  int expression() {
    Deeper deeper(*this);
    int line = peek().line;
    if (is("lambda") || is("await") || is("yield")) fail("this cannot be part of a script");
    int value = or_();
    if (is(":=")) fail("':=' cannot be part of a script");
    if (!take("if")) return value;
    int test = or_();
    expect("else");
    int other = expression();
    return add(Kind::conditional, line, {test, value, other});
  }

  int or_() { return chain("or", &Parser::and_); }
  int and_() { return chain("and", &Parser::not_); }
  int chain(std::string_view word, int (Parser::*next)()) {
    int line = peek().line;
    int first = (this->*next)();
    if (!is(word)) return first;
    std::vector<int> items{first};
    while (take(word)) items.push_back((this->*next)());
    return add(Kind::boolean, line, std::move(items), std::string(word));
  }
  int not_() {
    Deeper deeper(*this);
    int line = peek().line;
    if (take("not")) return add(Kind::unary, line, {not_()}, "not");
    return comparison();
  }

  int comparison() {
    int line = peek().line;
    int first = bit_or();
    std::vector<int> items{first};
    std::string ops;
    for (;;) {
      std::string op;
      for (std::string_view o : {"<=", ">=", "==", "!=", "<", ">"})
        if (op.empty() && take(o)) op = o;
      if (op.empty() && take("is")) op = take("not") ? "is-not" : "is";
      if (op.empty() && is("not") && is("in", 1)) fail("'not in' cannot be part of a script");
      if (op.empty() && is("in")) break;  // of a for
      if (op.empty()) break;
      absl::StrAppend(&ops, ops.empty() ? "" : " ", op);
      items.push_back(bit_or());
    }
    return ops.empty() ? first : add(Kind::compare, line, std::move(items), std::move(ops));
  }

  int binary(absl::Span<const std::string_view> ops, int (Parser::*next)()) {
    int line = peek().line;
    int left = (this->*next)();
    for (;;) {
      std::string found;
      for (std::string_view op : ops)
        if (found.empty() && take(op)) found = op;
      if (found.empty()) return left;
      int right = (this->*next)();
      left = add(Kind::binary, line, {left, right}, std::move(found));
    }
  }
  int bit_or() {
    constexpr std::string_view ops[] = {"|"};
    return binary(ops, &Parser::bit_xor);
  }
  int bit_xor() {
    constexpr std::string_view ops[] = {"^"};
    return binary(ops, &Parser::bit_and);
  }
  int bit_and() {
    constexpr std::string_view ops[] = {"&"};
    return binary(ops, &Parser::shift);
  }
  int shift() {
    constexpr std::string_view ops[] = {"<<", ">>"};
    return binary(ops, &Parser::sum);
  }
  int sum() {
    constexpr std::string_view ops[] = {"+", "-"};
    return binary(ops, &Parser::product);
  }
  int product() {
    constexpr std::string_view ops[] = {"*", "//", "/", "%", "@"};
    return binary(ops, &Parser::factor);
  }
  int factor() {
    Deeper deeper(*this);
    int line = peek().line;
    for (std::string_view op : {"-", "+", "~"})
      if (take(op)) return add(Kind::unary, line, {factor()}, std::string(op));
    int base = postfix();
    if (!take("**")) return base;
    return add(Kind::binary, line, {base, factor()}, "**");
  }

  int postfix() {
    int value = atom();
    for (;;) {
      int line = peek().line;
      if (take(".")) {
        value = add(Kind::attribute, line, {value}, identifier());
      } else if (take("(")) {
        value = add(Kind::call, line, arguments(value));
      } else if (take("[")) {
        value = add(Kind::subscript, line, {value, index()});
        expect("]");
      } else {
        return value;
      }
    }
  }

  std::vector<int> arguments(int function) {
    std::vector<int> out{function};
    while (!take(")")) {
      if (out.size() > 1) expect(",");
      if (take(")")) break;
      int line = peek().line;
      if (is("*") || is("**")) fail("* and ** arguments cannot be part of a script");
      if (kind(TokenKind::name) && is("=", 1)) {
        std::string name = identifier();
        ++at_;
        out.push_back(add(Kind::keyword, line, {expression()}, std::move(name)));
      } else {
        out.push_back(expression());
        if (is("for")) fail("a comprehension cannot be part of a script");
      }
    }
    return out;
  }

  int index() {
    int line = peek().line;
    std::vector<int> items{index_item()};
    bool many = false;
    while (take(",")) {
      many = true;
      if (is("]")) break;
      items.push_back(index_item());
    }
    return many ? add(Kind::tuple, line, std::move(items)) : items[0];
  }
  int index_item() {
    int line = peek().line;
    if (take("...")) return add(Kind::unsupported, line, {}, "'...' cannot be part of a script");
    auto part = [&] {
      return is(":") || is("]") || is(",") ? add(Kind::none, line) : expression();
    };
    int start = part();
    if (!take(":")) {
      if (tree_[start].kind == Kind::none) fail("an index is wanted here");
      return start;
    }
    int stop = part();
    int step = take(":") ? part() : add(Kind::none, line);
    return add(Kind::slice, line, {start, stop, step});
  }

  int constant(int line, const Arg& a) {
    int n = add(Kind::constant, line);
    tree_.nodes.back().literal.push(a);
    return n;
  }

  int atom() {
    Deeper deeper(*this);
    const Token t = peek();
    if (t.kind == TokenKind::number) {
      ++at_;
      if (t.real) return constant(t.line, Arg(t.real_value));
      return constant(t.line, Arg(Int(t.integer)));
    }
    if (t.kind == TokenKind::text) {
      std::string value;
      while (kind(TokenKind::text)) value += tokens_[at_++].text;
      return constant(t.line, Arg(value.c_str()));
    }
    if (take("True")) return constant(t.line, Arg(true));
    if (take("False")) return constant(t.line, Arg(false));
    if (take("None")) return constant(t.line, Arg());
    if (take("(")) return bracketed(t.line, ")", Kind::tuple);
    if (take("[")) return bracketed(t.line, "]", Kind::list);
    if (is("{")) fail("dicts and sets cannot be part of a script");
    return add(Kind::name, t.line, {}, identifier());
  }

  int bracketed(int line, std::string_view close, Kind kind) {
    std::vector<int> items;
    bool comma = false;
    while (!take(close)) {
      if (!items.empty()) {
        expect(",");
        comma = true;
        if (take(close)) break;
      }
      items.push_back(expression());
      if (is("for")) fail("a comprehension cannot be part of a script");
    }
    if (kind == Kind::tuple && items.size() == 1 && !comma) return items[0];
    return add(kind, line, std::move(items));
  }

  std::vector<Token> tokens_;
  const ScriptLimits& limits_;
  SyntaxTree tree_;
  size_t at_ = 0;
  int depth_ = 0;
};

void print_node(const SyntaxTree& t, int node, int depth, std::string& out) {
  constexpr std::string_view kNames[] = {
      "unsupported", "function", "parameter", "block",       "assign",    "augmented",
      "expression",  "return",   "if",        "while",       "for",       "break",
      "continue",    "pass",     "name",      "constant",    "binary",    "unary",
      "boolean",     "compare",  "call",      "keyword",     "attribute", "subscript",
      "slice",       "tuple",    "list",      "conditional", "none"};  // not an op: syntax
  const Node& n = t[node];
  absl::StrAppend(&out, std::string(static_cast<size_t>(2 * depth), ' '),
                  kNames[static_cast<size_t>(n.kind)]);
  if (!n.text.empty()) absl::StrAppend(&out, " ", n.text);
  if (n.literal.size() > 0) absl::StrAppend(&out, " ", to_string(n.literal[0]));
  out += "\n";
  for (int c : n.children) print_node(t, c, depth + 1, out);
}

}  // namespace

int SyntaxTree::find(std::string_view name) const {
  for (int f : functions)
    if ((*this)[f].text == name) return f;
  return -1;
}

SyntaxTree parse_source(std::string_view python, std::string_view file, int first_line,
                        const ScriptLimits& limits) {
  return Parser(python, file, first_line, limits).run();
}

std::string print(const SyntaxTree& tree) {
  std::string out;
  for (int f : tree.functions) print_node(tree, f, 0, out);
  return out;
}

}  // namespace lathe::script
