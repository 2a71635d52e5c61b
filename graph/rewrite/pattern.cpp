#include "graph/rewrite/pattern.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
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
  Pattern pattern() {
    Deeper deeper(*this);
    Pattern p;
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
    p.op = &get_op(name);
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

}  // namespace

Pattern parse_pattern(std::string_view text, std::string_view rule) {
  return PatternParser(text, rule).run();
}

}  // namespace lathe::ir
