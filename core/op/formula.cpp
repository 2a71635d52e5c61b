#include "core/op/formula.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "core/base/error.h"

namespace lathe {
namespace {

[[noreturn]] void fail(std::string_view text, std::string_view what, std::string_view where) {
  throw ValueError({.op = "formula",
                    .problem = absl::StrCat(what, " in '", where, "'"),
                    .got = std::string(text),
                    .expected = "O[..., m, n] += A[..., m, k] * B[..., k, n] over k, and the like",
                    .next = "core/op/formula.h has the grammar"});
}

/// What stands before and behind the first `word`; nothing behind if it does not occur.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view word) {
  size_t at = text.find(word);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + word.size())};
}

bool contains(const std::vector<int>& list, int v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

bool in_plain_axes(const FormulaOperand& o, int var) {
  return std::any_of(o.axes.begin(), o.axes.end(),
                     [&](const FormulaAxis& a) { return contains(a.packed, var); });
}

/// What is summed where `out` is the output: those of `over`, then the others as they appear.
std::vector<int> summed(const Formula& f, const FormulaOperand& out) {
  std::vector<int> all;
  for (int v : f.over)
    if (!in_plain_axes(out, v)) all.push_back(v);
  for (int v = 0; v < static_cast<int>(f.vars.size()); ++v)
    if (!in_plain_axes(out, v) && !contains(all, v)) all.push_back(v);
  return all;
}

class Parser {
 public:
  Parser(std::string_view text, const Schema& schema) : text_(text), schema_(schema) {
    f_.text = std::string(text);
    f_.shape = schema.find("shape");
    f_.out_dtype = schema.find("out_dtype");
  }

  Formula run() {
    auto [sum, where] = cut(text_, " where ");
    auto [sides, over] = cut(sum, " over ");
    auto [left, right] = cut(sides, "+=");
    size_t close = right.find(']');
    size_t star = close == std::string_view::npos ? close : right.find('*', close);
    if (star == std::string_view::npos) fail(text_, "two operands joined by '*' expected", right);
    f_.out = operand(left);
    f_.a = operand(right.substr(0, star));
    f_.b = operand(right.substr(star + 1));
    for (std::string_view name : absl::StrSplit(over, ',', absl::SkipWhitespace())) {
      f_.over.push_back(known_var(name));
      if (in_plain_axes(f_.out, f_.over.back())) fail(text_, "a variable of the output", name);
    }
    f_.reduced = summed(f_, f_.out);
    extents(where);
    return std::move(f_);
  }

 private:
  int var(std::string_view name) {
    auto it = std::find(f_.vars.begin(), f_.vars.end(), name);
    if (it != f_.vars.end()) return static_cast<int>(it - f_.vars.begin());
    f_.vars.emplace_back(name);
    return static_cast<int>(f_.vars.size()) - 1;
  }
  int known_var(std::string_view name) {
    auto it = std::find(f_.vars.begin(), f_.vars.end(), absl::StripAsciiWhitespace(name));
    if (it == f_.vars.end()) fail(text_, "an unknown variable", name);
    return static_cast<int>(it - f_.vars.begin());
  }

  /// An attribute of the schema: "pad", or "pad0" for element 0 of a list. -1: not one.
  int attr(std::string_view name) {
    name = absl::StripAsciiWhitespace(name);
    FormulaAttr a{schema_.find(name), 0};
    const bool whole = a.param >= 0;
    if (!whole) {
      size_t digits = name.find_first_of("0123456789");
      if (digits == std::string_view::npos || digits == 0) return -1;
      a.param = schema_.find(name.substr(0, digits));
      if (a.param < 0 || !absl::SimpleAtoi(name.substr(digits), &a.element)) return -1;
    }
    const Param& p = schema_.params[static_cast<size_t>(a.param)];
    if (p.type != ArgType::integer || p.list == whole || (p.list && a.element >= p.fixed_size))
      return -1;
    for (size_t i = 0; i < f_.attrs.size(); ++i)
      if (f_.attrs[i].param == a.param && f_.attrs[i].element == a.element)
        return static_cast<int>(i);
    f_.attrs.push_back(a);
    return static_cast<int>(f_.attrs.size()) - 1;
  }
  int known_attr(std::string_view name) {
    int a = attr(name);
    if (a < 0) fail(text_, "an int argument of the op, or one of its int[n], expected", name);
    return a;
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
    if (auto [window, more] = cut(text, "("); !more.empty()) {
      if (!absl::ConsumePrefix(&more, "+") || !absl::ConsumeSuffix(&more, ")"))
        fail(text_, "(+ argument) expected at the end", text);
      for (std::string_view name : absl::StrSplit(more, '+')) out.more.push_back(known_attr(name));
      text = window;
    }
    std::string spaced = absl::StrReplaceAll(text, {{"+", " + "}, {"-", " - "}});
    bool negative = false;
    for (std::string_view token : absl::StrSplit(spaced, ' ', absl::SkipEmpty())) {
      if (token == "+" || token == "-") {
        negative = token == "-";
      } else if (negative) {
        out.minus.push_back(known_attr(token));
      } else {
        auto [name, scale] = cut(token, "*");
        int at = schema_.find(name);
        if (at >= 0 && schema_.params[static_cast<size_t>(at)].type == ArgType::integer)
          fail(text_, "an argument where a variable is wanted", token);
        out.terms.push_back({var(name), scale.empty() ? -1 : known_attr(scale)});
      }
    }
    if (out.terms.empty()) fail(text_, "a window without a variable", text);
    return out;
  }

  FormulaOperand operand(std::string_view text) {
    text = absl::StripAsciiWhitespace(text);
    size_t open = text.find('[');
    if (open == std::string_view::npos || text.back() != ']')
      fail(text_, "name[axes] expected", text);
    FormulaOperand out;
    out.name = std::string(text.substr(0, open));
    std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    if (absl::ConsumePrefix(&inside, "...")) {
      out.batch = true;
      absl::ConsumePrefix(&inside, ",");
    }
    out.text = std::string(absl::StripAsciiWhitespace(inside));
    for (std::string_view part : absl::StrSplit(inside, ',')) out.axes.push_back(axis(part));
    return out;
  }

  /// "g = groups, ..."
  void extents(std::string_view text) {
    f_.where_text = std::string(absl::StripAsciiWhitespace(text));
    for (std::string_view one : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
      auto [name, value] = cut(one, "=");
      f_.where.push_back({known_var(name), known_attr(value)});
    }
  }

  std::string_view text_;
  const Schema& schema_;
  Formula f_;
};

/// The axes' variables under `to`, found among those of `from`; false if they are others.
bool permutation(const FormulaOperand& axes, const std::vector<int>& to, const FormulaOperand& from,
                 std::vector<int>& out) {
  if (axes.axes.size() != from.axes.size() || axes.batch != from.batch) return false;
  for (const FormulaAxis& a : axes.axes) {
    auto it = std::find_if(from.axes.begin(), from.axes.end(), [&](const FormulaAxis& x) {
      return x.packed[0] == to[static_cast<size_t>(a.packed[0])];
    });
    if (it == from.axes.end()) return false;
    out.push_back(static_cast<int>(it - from.axes.begin()));
  }
  return true;
}

bool only_plain_axes(const Formula& f) {
  for (int r = 0; r < 3; ++r)
    for (const FormulaAxis& a : f.role(r).axes)
      if (!a.plain()) return false;
  return f.where.empty();
}

}  // namespace

Formula parse_formula(std::string_view text, const Schema& schema) {
  return Parser(text, schema).run();
}

std::string adjoint_text(const Formula& f, int role) {
  const auto [p, q] = operand_roles(role);
  auto operand = [&](int r) {
    const FormulaOperand& o = f.role(r);
    return absl::StrCat(o.name, o.batch ? "[..., " : "[", o.text, "]");
  };
  std::string text = absl::StrCat(operand(role), " += ", operand(p), " * ", operand(q));
  std::string_view before = " over ";
  for (int v : summed(f, f.role(role))) {
    absl::StrAppend(&text, before, f.vars[static_cast<size_t>(v)]);
    before = ", ";
  }
  if (!f.where_text.empty()) absl::StrAppend(&text, " where ", f.where_text);
  return text;
}

bool determines_output(const Formula& f) {
  std::vector<int> known;
  for (const FormulaExtent& w : f.where) known.push_back(w.var);
  for (size_t round = 0; round < f.vars.size(); ++round)
    for (const FormulaOperand* o : {&f.a, &f.b})
      for (const FormulaAxis& a : o->axes) {
        std::vector<int> missing;
        for (int v : a.packed)
          if (!contains(known, v)) missing.push_back(v);
        if (missing.size() == 1) known.push_back(missing[0]);
      }
  return std::all_of(f.out.axes.begin(), f.out.axes.end(), [&](const FormulaAxis& a) {
    return !a.window() &&
           std::all_of(a.packed.begin(), a.packed.end(), [&](int v) { return contains(known, v); });
  });
}

std::optional<PermutedRoles> adjoint_as_itself(const Formula& f, int role) {
  if (!only_plain_axes(f)) return std::nullopt;
  const FormulaOperand& out = f.role(role);
  const std::vector<int> sums = summed(f, out);
  if (out.axes.size() != f.out.axes.size() || out.batch != f.out.batch ||
      sums.size() != f.reduced.size())
    return std::nullopt;
  std::vector<int> to(f.vars.size(), -1);  // what each variable of the formula is in the adjoint
  for (size_t i = 0; i < out.axes.size(); ++i)
    to[static_cast<size_t>(f.out.axes[i].packed[0])] = out.axes[i].packed[0];
  for (size_t i = 0; i < sums.size(); ++i) to[static_cast<size_t>(f.reduced[i])] = sums[i];
  const auto roles = operand_roles(role);
  for (bool swapped : {false, true}) {
    PermutedRoles found{swapped, {}};
    if (permutation(f.a, to, f.role(roles[swapped ? 1 : 0]), found.axes[0]) &&
        permutation(f.b, to, f.role(roles[swapped ? 0 : 1]), found.axes[1]))
      return found;
  }
  return std::nullopt;
}

}  // namespace lathe
