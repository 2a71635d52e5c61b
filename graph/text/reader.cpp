#include "graph/text/reader.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <limits>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"

namespace lathe::ir {

void Reader::expect(std::string_view text) {
  if (!take(text)) fail(absl::StrCat("'", text, "' is wanted here"));
}

std::string_view Reader::name(std::string_view what) {
  if (peek().kind != TokenKind::name) fail(absl::StrCat(what, " is wanted here"));
  return next().text;
}

// ── sizes ───────────────────────────────────────────────────────────────────────────────────────
namespace {

bool is_int_function(std::string_view name) {
  bool of_two = name == "min" || name == "max";  // not an op: of sizes
  return of_two || name == "floor_div" || name == "mod";
}

}  // namespace

int64_t Reader::symbol_number(const Token& t) const {
  int64_t k = 0;
  if (t.kind != TokenKind::name || t.text.size() < 2 || t.text[0] != 's') return -1;
  std::string_view digits = t.text.substr(1);
  if (digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return -1;
  for (char c : digits)
    if (c < '0' || c > '9') return -1;
  return absl::SimpleAtoi(digits, &k) ? k : -1;
}

bool Reader::at_int(size_t ahead) const {
  for (int step = 0; step < 64; ++step) {
    const Token& t = peek(ahead);
    if (t.kind == TokenKind::integer || symbol_number(t) >= 0) return true;
    if (is("-", ahead)) {
      ++ahead;
    } else if (t.kind == TokenKind::name && is_int_function(t.text) && is("(", ahead + 1)) {
      ahead += 2;
    } else {
      return false;
    }
  }
  return false;
}

Int Reader::number(bool negative) {
  constexpr uint64_t kLimit = uint64_t{1} << 62;  // -2^62 is a size, 2^62 is none
  if (peek().integer > kLimit - (negative ? 0 : 1)) fail("this number is out of range");
  auto magnitude = static_cast<int64_t>(next().integer);
  return Int(negative ? -magnitude : magnitude);
}

/// A long sum that is one atom. A short one is none, and could multiply out.
Int Reader::whole_sum() {
  const Token at = next();
  const Int sum = sym_add_whole(int_expression(), 0);
  if (sum.known() || sum.expr()->kind != SymKind::whole)
    fail_at(at, "parentheses are for sums of many terms alone");
  expect(")");
  return sum;
}

Int Reader::int_factor() {
  const Token& t = peek();
  if (t.kind == TokenKind::integer) return number(false);
  if (int64_t k = symbol_number(t); k >= 0) {
    if (static_cast<size_t>(k) >= symbol_count_) fail("this symbol is not declared");
    next();
    return symbol(static_cast<uint32_t>(k));
  }
  if (is("(")) return whole_sum();
  if (t.kind != TokenKind::name || !is_int_function(t.text)) fail("a size is wanted here");
  std::string_view function = next().text;
  expect("(");
  Int a = int_expression();
  expect(",");
  Int b = int_expression();
  expect(")");
  if (function == "floor_div") return floor_div(a, b);
  if (function == "mod") return mod(a, b);
  return function == "min" ? lathe::min(a, b) : lathe::max(a, b);  // not an op: of sizes
}

Int Reader::int_term() {
  bool negative = take("-");
  bool whole = negative && peek().kind == TokenKind::integer;
  Int product = whole ? number(true) : int_factor();
  // Products are of atoms only, as printed, so a short text cannot multiply out to a huge sum.
  for (int count = 1; take("*"); ++count) {
    if (count > 32) fail("too many factors in one size");
    product *= int_factor();
  }
  return negative && !whole ? -product : product;
}

Int Reader::int_expression() {
  Deeper deeper(*this);
  Int sum = int_term();
  for (int count = 1;; ++count) {
    if (count > 256) fail("too many terms in one size");
    if (take("+"))
      sum += int_term();
    else if (take("-"))
      sum -= int_term();
    else
      return sum;
  }
}

// ── types ───────────────────────────────────────────────────────────────────────────────────────

Device Reader::device_suffix() {
  std::string text(name("a device"));
  if (is(":") && peek(1).kind == TokenKind::integer) {
    next();
    absl::StrAppend(&text, ":", next().integer);
  }
  return parse_device(text);
}

Type Reader::type() {
  const Token& start = peek();
  std::string_view word = name("a type");
  if (is("[")) {
    TensorType t;
    if (!parse_dtype(word, t.dtype) || !info(t.dtype).tensor)
      fail_at(start, "no tensor has this dtype");
    expect("[");
    while (!take("]")) {
      if (!t.shape.empty()) expect(",");
      if (t.shape.size() >= 64) fail("a tensor of more than 64 axes");
      Int size = int_expression();
      if (size.known() && size.value() < 0) fail("a size cannot be negative");
      t.shape.push_back(size);
    }
    if (take("@")) t.device = device_suffix();
    return t;
  }
  if (word == "int") {
    if (!take("(")) return integer_type();
    Int value = int_expression();
    expect(")");
    return integer_type(value);
  }
  if (word == "float") return float_type();
  if (word == "bool") return flag_type();
  if (word == "str") return Text{};
  if (word == "None") return None{};
  fail_at(start, "this is no type");
}

// ── literals ────────────────────────────────────────────────────────────────────────────────────

bool Reader::literal(Arg& out) {
  size_t ahead = is("-") ? 1 : 0;
  double sign = ahead != 0 ? -1.0 : 1.0;
  const Token& t = peek(ahead);
  if (t.kind == TokenKind::real) {
    out = Arg(sign * t.real);
  } else if (t.kind == TokenKind::name && t.text == "inf") {
    out = Arg(sign * std::numeric_limits<double>::infinity());
  } else if (t.kind == TokenKind::name && t.text == "nan") {
    out = Arg(std::numeric_limits<double>::quiet_NaN());
  } else if (at_int()) {
    out = Arg(int_expression());
    return true;
  } else if (ahead != 0) {
    return false;
  } else if (t.kind == TokenKind::text) {
    out = Arg(t.text.data());  // of a std::string: it ends with a zero
  } else if (is("True") || is("False")) {
    out = Arg(is("True"));
  } else if (is("None")) {
    out = Arg();
  } else if (take("@")) {
    out = Arg(device_suffix());
    return true;
  } else if (DType d; t.kind == TokenKind::name && !is("(", 1) && parse_dtype(t.text, d)) {
    out = Arg(d);
  } else {
    return false;
  }
  next();
  if (ahead != 0) next();
  return true;
}

}  // namespace lathe::ir
