// The parser of graph text. A statement is `results = head`; structures hold blocks of statements.
// Names live in the block they are made in, so what parses is in SSA form with uses after
// definitions.
//
// `Parser::graph` reads one definition and `statement` one line; `arguments` and `item` read what
// an op is given. Nothing here knows any op: names go through find_op, arguments through the op's
// own signature.
#include <absl/strings/str_cat.h>

#include <charconv>

#include "core/base/error.h"
#include "core/dispatch/callback.h"
#include "core/dispatch/printing.h"
#include "graph/ir/arguments.h"
#include "graph/ir/literal.h"
#include "graph/text/reader.h"
#include "graph/text/upgrade.h"

namespace lathe::ir {
namespace {

constexpr std::string_view kGradient = "gradient";  // not an op: what begins a declaration

struct ResultName {
  Token token;
  std::optional<Type> type;
};

/// "%h.2" is the third value the user called h; "%12" one that nobody named.
std::string base_name(std::string_view text) {
  size_t dot = text.rfind('.');
  std::string_view base = dot == std::string_view::npos ? text : text.substr(0, dot);
  bool digits = base.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? "" : std::string(base);
}

class Parser : Reader {
 public:
  Parser(std::string_view text, absl::Span<const Tensor> constants, const Limits& limits,
         std::string_view file)
      : Reader(text, limits, file), constants_(constants) {}

  Graph run() {
    Graph main = graph();
    while (!is_end()) {
      if (is(kGradient)) {
        main.gradients().push_back(gradient());
      } else {
        auto f = std::make_unique<Graph>(graph());
        main.add_function(std::move(f));
      }
    }
    return main;
  }

 private:
  bool is_end() const { return peek().kind == TokenKind::end; }

  // ── one definition ──
  Graph graph() {
    expect("graph");
    Graph g(std::string(name("the graph's name")));
    g_ = &g;
    names_.clear();
    undo_.clear();
    declare_symbols();
    for (const Tensor& t : constants_) g.add_large_constant(t);
    expect("(");
    while (!take(")")) {
      if (!g.inputs().empty()) expect(",");
      Token at = value_token();
      expect(":");
      Type t = type();
      define(at, g.add_input(std::move(t), base_name(at.text)));
    }
    TypeList results;
    const Token arrow = peek();
    bool has_results = take("->");
    if (has_results) {
      expect("(");
      while (!take(")")) {
        if (!results.empty()) expect(",");
        results.push_back(type());
      }
    }
    expect("{");
    facts();
    statements(g.body());
    finish();
    if (has_results) compare_results(arrow, results);
    expect("}");
    g_ = nullptr;
    return g;
  }

  /// `gradient @g of @f wrt 1, 2 from 0 keeping 0 seeded -> (f32[2])`
  GradientDeclaration gradient() {
    GradientDeclaration d;
    d.site = site_of_line(peek().line);
    expect(kGradient);
    d.name = function_name();
    expect("of");
    d.of = function_name();
    expect("wrt");
    d.wrt = places();
    if (take("from")) d.from = place();
    if (take("keeping")) d.keeping = places();
    d.seeded = take("seeded");
    if (!take("->")) return d;
    symbol_count_ = limits_.symbols;  // those of f
    expect("(");
    while (!take(")")) {
      if (!d.results.empty()) expect(",");
      if (d.results.size() >= limits_.items) fail("too many results");
      d.results.push_back(type());
    }
    return d;
  }
  std::string function_name() {
    expect("@");
    return std::string(name("a function"));
  }
  int place() {
    if (peek().kind != TokenKind::integer || peek().integer >= limits_.items)
      fail("the number of an argument or result is wanted here");
    return static_cast<int>(next().integer);
  }
  std::vector<int> places() {
    std::vector<int> out{place()};
    while (take(",")) {
      if (out.size() >= limits_.items) fail("too many of them");
      out.push_back(place());
    }
    return out;
  }

  /// Symbols are numbered densely; those that no line declares are sizes with a made-up hint.
  void declare_symbols() {
    int64_t most = -1;
    for (size_t i = 0; peek(i).kind != TokenKind::end; ++i) {
      if (i > 0 && (is("graph", i) || is(kGradient, i)) && is("}", i - 1)) break;
      most = std::max(most, symbol_number(peek(i)));
    }
    if (most >= static_cast<int64_t>(limits_.symbols)) fail("too many symbols");
    symbol_count_ = static_cast<size_t>(most + 1);
    for (size_t k = 0; k < symbol_count_; ++k)
      g_->symbols().push_back({static_cast<int64_t>(k) + 5, true});
  }

  void facts() {
    for (;;) {
      const Token& start = peek();
      Site site = site_of_line(start.line);
      if ((is("size") || is("int")) && symbol_number(peek(1)) >= 0) {
        SymbolInfo info{.is_size = take("size")};
        if (!info.is_size) next();
        auto k = static_cast<size_t>(symbol_number(next()));
        info.hint = g_->symbols()[k].hint;
        if (take("=")) {
          bool negative = take("-");
          if (peek().kind != TokenKind::integer) fail("a number is wanted here");
          info.hint = number(negative).value();
        }
        if (info.is_size && info.hint < 0) fail_at(start, "a size cannot be negative");
        g_->symbols()[k] = info;
      } else if (is("assume") && at_int(1)) {
        next();
        g_->assumptions().push_back(fact(site));
      } else if (is("check") && at_int(1)) {
        next();
        g_->checks().push_back(fact(site));
      } else {
        return;
      }
    }
  }

  /// `write %x = %y` lines and `return ...`.
  void finish() {
    std::vector<Write> writes;
    while (take("write")) {
      Value* input = value();
      expect("=");
      writes.push_back({input, value()});
    }
    Site site = site_of_line(peek().line);
    expect("return");
    g_->set_results(value_list("}"), writes, site);
  }

  void compare_results(const Token& at, const TypeList& wanted) {
    absl::Span<Value* const> got = g_->outputs();
    if (got.size() != wanted.size()) fail_at(at, "the graph returns another number of values");
    for (size_t i = 0; i < got.size(); ++i)
      if (!same_type(got[i]->type(), wanted[i]))
        fail_at(at, absl::StrCat("result ", i, " is stated as ", to_string(wanted[i]),
                                 " and returned as ", to_string(got[i]->type())));
  }

  // ── names ──
  Token value_token() {
    if (peek().kind != TokenKind::value) fail("a value (%name) is wanted here");
    return next();
  }
  void define(const Token& at, Value* v) {
    if (!names_.emplace(at.text, v).second) fail_at(at, "this value is defined twice");
    undo_.push_back(at.text);
  }
  void leave(size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) names_.erase(undo_.back());
  }
  Value* named_value() {
    Token at = value_token();
    auto it = names_.find(at.text);
    if (it == names_.end()) fail_at(at, "this value is not defined here");
    return it->second;
  }

  // ── statements ──
  void statements(Block& block) {
    InsertAt inside(*g_, block);
    while (!is("yield") && !is("return") && !is("write") && !is("}")) statement();
  }

  void count_node() {
    if (++nodes_ > limits_.nodes) fail("too many nodes");
  }

  void statement() {
    if (is_end()) fail("the graph does not end");
    count_node();
    Site site = site_of_line(peek().line);
    std::vector<ResultName> results;
    if (peek().kind == TokenKind::value) {
      do {
        ResultName r{value_token(), std::nullopt};
        if (take(":")) r.type = type();
        results.push_back(std::move(r));
        if (results.size() > limits_.items) fail("too many results");
      } while (take(","));
      expect("=");
    }
    const Token at = peek();
    Node* n = head(results, site);
    if (n->out().size() != results.size())
      fail_at(at, absl::StrCat("this gives ", n->out().size(), " results, not ", results.size()));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].type) g_->set_type(n->out(i), *results[i].type);
      g_->set_name(n->out(i), base_name(results[i].token.text));
      define(results[i].token, n->out(i));
    }
  }

  Node* head(const std::vector<ResultName>& results, Site site) {
    if (take("while")) return while_(results, site);
    if (is("(", 1) || (is("@", 1) && !is("call"))) return op_call(results, site);
    if (take("constant")) return constant(results, site);
    if (take("const")) return large_constant(site);
    if (take("if")) return if_(results, site);
    if (take("for")) return for_(results, site);
    if (take("group")) return group(site);
    if (take("call")) return call(results, site);
    fail("a statement is wanted here");
  }

  // ── ops ──
  Node* op_call(const std::vector<ResultName>& results, Site site) {
    const Token at = peek();
    std::string op_name(name("an op"));
    int version = 1;
    if (take("@")) {
      if (peek().kind != TokenKind::integer || peek().integer > 1000000)
        fail("a version is wanted here");
      version = static_cast<int>(next().integer);
    }
    const bool callback = callback_op(op_name) != nullptr;
    if (callback && !(is("(") && is("say", 1)))
      fail_at(at, "a callback is a function of the process that recorded it, which no text holds");
    const Upgrade* upgrade = find_upgrade(op_name, version);
    const Op& op = get_op(upgrade == nullptr ? op_name : upgrade->to);
    if (upgrade == nullptr && version != op.extra.version)
      fail_at(at, absl::StrCat("version ", version, " of '", op.name(), "' is not the one here, ",
                               op.extra.version));
    std::vector<Given> given = arguments();
    if (upgrade != nullptr) upgrade_arguments(*upgrade, given);
    Operands operands = complete(op, given);
    if (op.kind == Kind::composite) {
      GraphScope scope(*g_);
      if (!claimed(op, operands))
        fail_at(at, absl::StrCat(op_name, " is made of other ops, and a program names those"));
    }
    TypeList types;
    bool all = !results.empty() || op.schema.results.empty();
    for (const ResultName& r : results) {
      all &= r.type.has_value();
      if (r.type) types.push_back(*r.type);
    }
    if (!all) {
      GraphScope scope(*g_);
      types = infer(op, operands);
    }
    Node* n = g_->add(op, std::move(operands), std::move(types), site);
    if (take("detached")) g_->set_detached(n, true);
    return n;
  }

  std::vector<Given> arguments() {
    Deeper deeper(*this);
    std::vector<Given> out;
    expect("(");
    while (!take(")")) {
      if (!out.empty()) expect(",");
      if (out.size() > 64) fail("too many arguments");
      std::string by_name;
      if (peek().kind == TokenKind::name && is("=", 1)) {
        by_name = next().text;
        next();
      }
      Given g = item();
      g.name = std::move(by_name);
      out.push_back(std::move(g));
    }
    return out;
  }

  Given item() {
    Given g;
    if (take("[")) {
      Deeper deeper(*this);
      g.is_list = true;
      while (!take("]")) {
        if (!g.list.empty()) expect(",");
        if (g.list.size() >= limits_.items) fail("too many items in one list");
        g.list.push_back(item());
      }
      return g;
    }
    if (peek().kind == TokenKind::value) {
      g.value = named_value();
    } else if (peek().kind == TokenKind::name && is("say") && is("(", 1)) {
      g.literal = Arg(*said());
    } else if (!literal(g.literal)) {
      if (peek().kind != TokenKind::name || !is("(", 1)) fail("an argument is wanted here");
      count_node();
      Node* n = op_call({}, {});
      if (n->out().size() != 1) fail("a nested call must have one result");
      g.value = n->out(0);
    }
    return g;
  }

  /// say("format"): a print. It stays until the graph is read, and nodes keep what they are given.
  const HostFunction* said() {
    const Token at = next();
    expect("(");
    if (peek().kind != TokenKind::text) fail("the format of a print is wanted here");
    try {
      said_.push_back(printing(next().text));
    } catch (const ValueError& e) {
      fail_at(at, absl::StrCat(e.parts().problem, ": expected ", e.parts().expected));
    }
    expect(")");
    return said_.back().get();
  }

  /// Where only a value can stand: a name, a nested call, or a number, which becomes a constant.
  Value* value() {
    Given g = item();
    if (g.is_list) fail("a list cannot stand here");
    return g.value != nullptr ? g.value : constant_of(g.literal, {});
  }

  Values value_list(std::string_view end) {
    Values out;
    if (is(end)) return out;
    do {
      if (out.size() > limits_.items) fail("too many values");
      out.push_back(value());
    } while (take(","));
    return out;
  }

  // ── constants ──
  Node* constant(const std::vector<ResultName>& results, Site site) {
    if (is("[")) {
      const TensorType* t =
          results.size() == 1 && results[0].type ? results[0].type->tensor() : nullptr;
      if (t == nullptr) fail("a tensor written out needs its type before the '='");
      return g_->add_constant(Arg(elements(*t)), site)->node();
    }
    Arg a;
    if (!literal(a)) fail("a constant is wanted here");
    return constant_of(a, site)->node();
  }

  Value* constant_of(const Arg& a, Site site) {
    if (a.tag == Tag::dtype || a.tag == Tag::device) fail("this cannot be a value");
    return g_->add_constant(a, site);
  }

  Node* large_constant(Site site) {
    expect("#");
    if (peek().kind != TokenKind::integer) fail("the number of a constant is wanted here");
    if (peek().integer >= constants_.size())
      fail(absl::StrCat("there are only ", constants_.size(), " constants"));
    return g_->add_constant(Arg(constants_[next().integer]), site)->node();
  }

  // ── structures ──
  /// "{ ... yield ... }", with `close` false when more of the structure follows.
  void body(Block& block) {
    Deeper deeper(*this);
    size_t mark = undo_.size();
    expect("{");
    rest_of_body(block, mark);
  }
  void rest_of_body(Block& block, size_t mark) {
    statements(block);
    Site site = site_of_line(peek().line);
    expect("yield");
    {
      InsertAt inside(*g_, block);  // numbers and nested calls in the list belong to the block
      Values values = value_list("}");
      g_->set_yields(block, std::move(values), site);
    }
    expect("}");
    leave(mark);
  }

  struct Carried {
    Token token;
    std::optional<Type> type;
    Value* start;
  };
  std::vector<Carried> carried() {
    std::vector<Carried> out;
    expect("(");
    while (!take(")")) {
      if (!out.empty()) expect(",");
      if (out.size() > limits_.items) fail("too many carried values");
      Carried c{value_token(), std::nullopt, nullptr};
      if (take(":")) c.type = type();
      expect("=");
      c.start = value();
      out.push_back(std::move(c));
    }
    return out;
  }
  /// A carried number changes from round to round: a symbol of its own, unless the text says.
  Type carried_type(const Carried& c) {
    if (c.type) return *c.type;
    if (!c.start->type().is_scalar(ScalarKind::integer)) return c.start->type();
    return fresh_integer();
  }
  Type fresh_integer() {
    g_->symbols().push_back({1, false});
    symbol_count_ = g_->symbols().size();
    return integer_type(symbol(static_cast<uint32_t>(symbol_count_ - 1)));
  }
  void add_parameters(Block& block, const std::vector<Carried>& list) {
    for (const Carried& c : list)
      g_->add_parameter(block, carried_type(c), base_name(c.token.text));
  }
  void define_parameters(const Block& block, const std::vector<Carried>& list, size_t first) {
    for (size_t i = 0; i < list.size(); ++i) define(list[i].token, block.parameters()[first + i]);
  }
  void add_results(Node* n, const std::vector<ResultName>& results, const Values& like) {
    for (size_t i = 0; i < like.size(); ++i) {
      Type t = like[i]->type();
      if (i < results.size() && results[i].type)
        t = *results[i].type;
      else if (t.is_scalar(ScalarKind::integer))
        t = fresh_integer();
      g_->add_result(n, std::move(t));
    }
  }

  Node* if_(const std::vector<ResultName>& results, Site site) {
    Operands operands;
    operands.in = {value()};
    Node* n = g_->add_structure(Structure::if_, std::move(operands), {}, site);
    Block& yes = g_->add_block(n);
    body(yes);
    expect("else");
    body(g_->add_block(n));
    add_results(n, results, yes.yields());
    return n;
  }

  Node* while_(const std::vector<ResultName>& results, Site site) {
    std::vector<Carried> list = carried();
    Operands operands;
    for (const Carried& c : list) operands.in.push_back(c.start);
    Node* n = g_->add_structure(Structure::while_, std::move(operands), {}, site);
    Block& condition = g_->add_block(n);
    add_parameters(condition, list);
    size_t mark = undo_.size();
    define_parameters(condition, list, 0);
    body(condition);
    expect("do");
    body(g_->add_block(n));
    leave(mark);
    add_results(n, results, condition.parameters());
    return n;
  }

  Node* for_(const std::vector<ResultName>& results, Site site) {
    Token variable = value_token();
    std::optional<Type> variable_type;
    if (take(":")) variable_type = type();
    expect("in");
    expect("range");  // not an op: a word
    expect("(");
    Operands operands;
    for (int i = 0; i < 3; ++i) {
      if (i > 0) expect(",");
      Given g = item();
      if (g.is_list || (g.value == nullptr && g.literal.tag != Tag::integer))
        fail("an integer is wanted here");
      operands.push(g.value != nullptr ? Operands::Item(g.value) : Operands::Item(g.literal));
    }
    expect(")");
    std::vector<Carried> list = carried();
    for (const Carried& c : list) operands.in.push_back(c.start);
    Node* n = g_->add_structure(Structure::for_, std::move(operands), {}, site);
    Block& block = g_->add_block(n);
    g_->add_parameter(block, variable_type ? *variable_type : fresh_integer(),
                      base_name(variable.text));
    add_parameters(block, list);
    size_t mark = undo_.size();
    define(variable, block.parameters()[0]);
    define_parameters(block, list, 1);
    body(block);
    leave(mark);
    add_results(n, results, Values(block.parameters().begin() + 1, block.parameters().end()));
    return n;
  }

  Node* group(Site site) {
    Arg label;
    if (!literal(label) || label.tag != Tag::text) fail("a group has a label");
    std::vector<Carried> list = carried();
    Operands operands;
    operands.push(Operands::Item(label));
    for (const Carried& c : list) operands.in.push_back(c.start);
    Node* n = g_->add_structure(Structure::group, std::move(operands), {}, site);
    Block& block = g_->add_block(n);
    for (const Carried& c : list)
      g_->add_parameter(block, c.type ? *c.type : c.start->type(), base_name(c.token.text));
    auto outside = std::exchange(names_, {});  // it sees nothing but its inputs
    auto outside_undo = std::exchange(undo_, {});
    define_parameters(block, list, 0);
    body(block);
    names_ = std::move(outside);
    undo_ = std::move(outside_undo);
    for (Value* v : block.yields()) g_->add_result(n, v->type());
    return n;
  }

  Node* call(const std::vector<ResultName>& results, Site site) {
    expect("@");
    std::string callee(name("a function"));
    expect("(");
    Values in = value_list(")");
    expect(")");
    TypeList types;
    for (const ResultName& r : results) {
      if (!r.type) fail_at(r.token, "the results of a call need types");
      types.push_back(*r.type);
    }
    return g_->add_call(std::move(callee), std::move(in), std::move(types), site);
  }

  absl::Span<const Tensor> constants_;
  Graph* g_ = nullptr;
  absl::flat_hash_map<std::string_view, Value*> names_;
  std::vector<std::string_view> undo_;
  size_t nodes_ = 0;
  std::vector<std::shared_ptr<const HostFunction>> said_;
};

}  // namespace

Graph parse(std::string_view text, absl::Span<const Tensor> constants, const Limits& limits,
            std::string_view file) {
  return Parser(text, constants, limits, file).run();
}

}  // namespace lathe::ir
