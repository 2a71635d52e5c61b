#include "core/formula.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "core/error.h"

namespace lathe {
namespace {

[[noreturn]] void fail(std::string_view text, std::string_view what, std::string_view where) {
  throw ValueError({.op = "formula",
                    .problem = absl::StrCat(what, " in '", where, "'"),
                    .got = std::string(text)});
}

class Parser {
 public:
  Parser(std::string_view text, const Schema& schema) : text_(text), schema_(schema) {
    f_.text = std::string(text);
  }

  Formula run() {
    std::pair<std::string_view, std::string_view> sides = absl::StrSplit(text_, "+=");
    std::string_view right = sides.second;
    std::string_view over;
    if (size_t at = right.find(" over "); at != std::string_view::npos) {
      over = right.substr(at + 6);
      right = right.substr(0, at);
    }
    size_t close = right.find(']');
    size_t star = close == std::string_view::npos ? close : right.find('*', close);
    if (star == std::string_view::npos) fail(text_, "two operands joined by '*' expected", right);
    f_.out = operand(sides.first);
    f_.a = operand(right.substr(0, star));
    f_.b = operand(right.substr(star + 1));
    reduced(over);
    return std::move(f_);
  }

 private:
  int var(std::string_view name) {
    auto it = std::find(f_.vars.begin(), f_.vars.end(), name);
    if (it != f_.vars.end()) return static_cast<int>(it - f_.vars.begin());
    f_.vars.emplace_back(name);
    return static_cast<int>(f_.vars.size()) - 1;
  }

  /// An attribute of the schema: "pad", or "pad0" for element 0 of a list. -1: not one.
  int attr(std::string_view name) {
    FormulaAttr a{schema_.find(name), 0};
    if (a.param < 0) {
      size_t digits = name.find_first_of("0123456789");
      if (digits == std::string_view::npos || digits == 0) return -1;
      a.param = schema_.find(name.substr(0, digits));
      if (a.param < 0 || !absl::SimpleAtoi(name.substr(digits), &a.element)) return -1;
    }
    if (schema_.params[static_cast<size_t>(a.param)].type != ArgType::integer) return -1;
    for (size_t i = 0; i < f_.attrs.size(); ++i)
      if (f_.attrs[i].param == a.param && f_.attrs[i].element == a.element)
        return static_cast<int>(i);
    f_.attrs.push_back(a);
    return static_cast<int>(f_.attrs.size()) - 1;
  }

  FormulaAxis axis(std::string_view text) {
    text = absl::StripAsciiWhitespace(text);
    FormulaAxis out;
    if (text.find_first_of("+-*") == std::string_view::npos) {
      for (std::string_view name : absl::StrSplit(text, ' ', absl::SkipEmpty()))
        out.packed.push_back(var(name));
      if (out.packed.empty()) fail(text_, "an empty axis", text);
      return out;
    }
    std::string spaced = absl::StrReplaceAll(text, {{"+", " + "}, {"-", " - "}});
    bool negative = false;
    for (std::string_view token : absl::StrSplit(spaced, ' ', absl::SkipEmpty())) {
      if (token == "+" || token == "-") {
        negative = token == "-";
        continue;
      }
      std::pair<std::string_view, std::string_view> parts =
          absl::StrSplit(token, absl::MaxSplits('*', 1));
      if (negative) {
        int a = attr(token);
        if (a < 0) fail(text_, "only attributes may be subtracted", token);
        out.minus.push_back(a);
        continue;
      }
      FormulaTerm term{var(parts.first), -1};
      if (!parts.second.empty() && (term.scale = attr(parts.second)) < 0)
        fail(text_, "an int argument of the op expected after '*'", token);
      out.terms.push_back(term);
    }
    return out;
  }

  FormulaOperand operand(std::string_view text) {
    text = absl::StripAsciiWhitespace(text);
    size_t open = text.find('[');
    if (open == std::string_view::npos || text.back() != ']')
      fail(text_, "name[axes] expected", text);
    FormulaOperand out;
    out.name = std::string(text.substr(0, open));
    for (std::string_view part :
         absl::StrSplit(text.substr(open + 1, text.size() - open - 2), ',')) {
      if (absl::StripAsciiWhitespace(part) == "...") {
        out.batch = true;
        continue;
      }
      out.axes.push_back(axis(part));
    }
    return out;
  }

  void reduced(std::string_view over) {
    std::vector<bool> outer(f_.vars.size(), false);
    auto mark = [&](const FormulaAxis& a) {
      for (int v : a.packed) outer[static_cast<size_t>(v)] = true;
    };
    for (const FormulaAxis& a : f_.out.axes) mark(a);
    for (std::string_view name : absl::StrSplit(over, ',', absl::SkipWhitespace())) {
      auto it = std::find(f_.vars.begin(), f_.vars.end(), absl::StripAsciiWhitespace(name));
      if (it == f_.vars.end()) fail(text_, "an unknown variable", name);
      f_.reduced.push_back(static_cast<int>(it - f_.vars.begin()));
      outer[static_cast<size_t>(f_.reduced.back())] = true;
    }
    // What an affine output axis does not fix is summed too, after what `over` names.
    for (size_t v = 0; v < f_.vars.size(); ++v)
      if (!outer[v]) f_.reduced.push_back(static_cast<int>(v));
  }

  std::string_view text_;
  const Schema& schema_;
  Formula f_;
};

}  // namespace

Formula parse_formula(std::string_view text, const Schema& schema) {
  return Parser(text, schema).run();
}

}  // namespace lathe
