#include "graph/rewrite/pattern.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "graph/ir/literal.h"
#include "graph/rewrite/commutative.h"
#include "graph/text/reader.h"

namespace lathe::ir {
namespace {

const Limits kLimits{};

class PatternParser : Reader {
 public:
  PatternParser(std::string_view text, std::string_view rule) : Reader(text, kLimits, rule) {}

  Pattern run() {
    Pattern p = pattern();
    if (peek().kind != TokenKind::end) fail("the end of the pattern is wanted here");
    return p;
  }

 private:
  const Op* op_at(const Token& at) {
    if (const Op* op = find_op(at.text)) return op;
    try {
      return &get_op(at.text);
    } catch (const NameError& e) {  // it knows the nearest names
      ErrorParts parts = e.parts();
      parts.problem =
          absl::StrCat("there is no op of this name (", file_, ":", at.line, ":", at.column, ")");
      throw NameError(std::move(parts));
    }
  }

  Pattern pattern() {
    Deeper deeper(*this);
    const Token start = peek();
    Pattern p;
    p.column = start.column;
    if (take("[")) {
      std::vector<Arg> items;
      while (!take("]")) {
        if (!items.empty()) expect(",");
        Arg a;
        if (!literal(a)) fail("a literal is wanted here");
        items.push_back(a);
      }
      ArgList list{items.data(), items.size()};
      p.literal.push(Arg(list));
      return p;
    }
    bool call = peek().kind == TokenKind::name && is("(", 1);
    Arg a;
    if (!call && literal(a)) {
      p.literal.push(a);
      return p;
    }
    std::string name(this->name("a variable, a literal or an op"));
    if (!take("(")) {
      p.variable = name;
      return p;
    }
    p.op = op_at(start);
    p.slots.resize(p.op->schema.params.size());
    for (size_t next = 0; !take(")");) {
      if (next > 0) expect(",");
      size_t slot = next++;
      if (peek().kind == TokenKind::name && is("=", 1)) {
        int found = p.op->schema.find(peek().text);
        if (found < 0) fail("there is no such parameter");
        slot = static_cast<size_t>(found);
        this->next();
        this->next();
      }
      if (slot >= p.slots.size()) fail("too many arguments");
      p.slots[slot] = std::make_unique<Pattern>(pattern());
    }
    for (size_t i = 0; i < p.slots.size(); ++i)
      if (p.slots[i] == nullptr && !p.op->schema.params[i].has_default)
        fail(absl::StrCat("argument '", p.op->schema.params[i].name, "' is missing"));
    return p;
  }
};

/// Of every part of the pattern that takes two operands in either order: the places of those.
void collect_exchangeable(Pattern& p, std::vector<Pattern*>& out) {
  if (p.op != nullptr && commutative(*p.op)) out.push_back(&p);
  for (auto& slot : p.slots)
    if (slot) collect_exchangeable(*slot, out);
}

/// By variable of the rule: the part of the text that it stands for.
using Bound = std::map<std::string, const Pattern*, std::less<>>;

bool same_text(const Pattern& a, const Pattern& b) {
  if (a.op != b.op || a.variable != b.variable || a.literal.size() != b.literal.size())
    return false;
  if (a.literal.size() > 0 && !equal(a.literal[0], b.literal[0])) return false;
  for (size_t i = 0; i < a.slots.size(); ++i) {
    if ((a.slots[i] == nullptr) != (b.slots[i] == nullptr)) return false;
    if (a.slots[i] && !same_text(*a.slots[i], *b.slots[i])) return false;
  }
  return true;
}

bool fits(const Pattern& rule, const Pattern& text, Bound& bound) {
  if (!rule.variable.empty()) {
    auto [it, fresh] = bound.emplace(rule.variable, &text);
    return fresh || same_text(*it->second, text);
  }
  if (rule.op == nullptr) return same_text(rule, text);
  if (rule.op != text.op) return false;
  for (size_t i = 0; i < rule.slots.size(); ++i) {
    if ((rule.slots[i] == nullptr) != (text.slots[i] == nullptr)) return false;
    if (rule.slots[i] && !fits(*rule.slots[i], *text.slots[i], bound)) return false;
  }
  return true;
}

}  // namespace

Pattern parse_pattern(std::string_view text, std::string_view rule) {
  return PatternParser(text, rule).run();
}

Pattern Pattern::clone() const {
  Pattern out;
  out.variable = variable;
  out.op = op;
  out.column = column;
  if (literal.size() > 0) out.literal.push(literal[0]);
  for (const auto& slot : slots)
    out.slots.push_back(slot ? std::make_unique<Pattern>(slot->clone()) : nullptr);
  return out;
}

void for_each(const Pattern& pattern, absl::FunctionRef<void(const Pattern&)> visit) {
  visit(pattern);
  for (const auto& slot : pattern.slots)
    if (slot) for_each(*slot, visit);
}

std::vector<Pattern> orders(const Pattern& pattern, size_t most) {
  std::vector<Pattern> out;
  out.push_back(pattern.clone());
  std::vector<Pattern*> places;
  collect_exchangeable(out[0], places);
  size_t count = 1;
  for (size_t k = 0; k < places.size() && count <= most; ++k) count *= 2;
  if (count > most)
    throw ValueError({.op = "rewrite",
                      .problem = "too many ops whose operands may stand in either order",
                      .got = absl::StrCat(places.size()),
                      .expected = absl::StrCat("at most ", most, " orders together"),
                      .next = "split the rule into smaller ones"});
  for (size_t choice = 1; choice < count; ++choice) {
    Pattern next = pattern.clone();
    std::vector<Pattern*> exchanged;
    collect_exchangeable(next, exchanged);
    for (size_t k = 0; k < exchanged.size(); ++k)
      if ((choice >> k & 1) != 0) std::swap(exchanged[k]->slots[0], exchanged[k]->slots[1]);
    out.push_back(std::move(next));
  }
  return out;
}

bool occurs_in(const Pattern& rule, const Pattern& text) {
  bool found = false;
  for_each(text, [&](const Pattern& part) {
    Bound bound;
    found |= fits(rule, part, bound);
  });
  return found;
}

}  // namespace lathe::ir
