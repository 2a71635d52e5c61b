// Reads the text of a scalar function, node by node in the order that it stands in. A constant has
// the dtype that its place implies, or the one that is written behind it.
#include "core/expr/parse.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/expr/expr_internal.h"

namespace lathe {

using namespace expr_detail;

namespace {

constexpr uint64_t kMostIndices = 64, kMostWords = 1024, kMostCodes = 1 << 16;

/// Whether engines take it: complex values are pairs there.
bool is_real(Prim prim) { return prim != Prim::complex && prim != Prim::conj; }

/// A primitive by the name that calls have in the text.
std::optional<Prim> find_prim(std::string_view word) {
  for (int p = static_cast<int>(Prim::index); p < kPrims; ++p)
    if (const auto prim = static_cast<Prim>(p); is_real(prim) && info(prim).name == word)
      return prim;
  return std::nullopt;
}

std::optional<uint64_t> integer_bits(std::string_view text, DType dtype) {
  const size_t width = 8 * size_of(dtype);
  if (dtype == DType::u32 || dtype == DType::u64) {
    uint64_t bits = 0;
    if (!text.starts_with("0x")) return std::nullopt;
    const auto [end, failed] = std::from_chars(text.begin() + 2, text.end(), bits, 16);
    const bool fits = failed == std::errc() && end == text.end() && bits <= mask_of(dtype);
    return fits ? std::optional(bits) : std::nullopt;
  }
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.begin(), text.end(), value);
  if (failed != std::errc() || end != text.end()) return std::nullopt;
  const int64_t half = int64_t{1} << (std::min<size_t>(width, 63) - 1);
  const bool fits = is_signed(dtype) ? width == 64 || (value >= -half && value < half)
                                     : value >= 0 && value < 2 * half;
  return fits ? std::optional(static_cast<uint64_t>(value) & mask_of(dtype)) : std::nullopt;
}

/// A number that is `T`'s to the bit, as the shortest digits that say which.
template <class T>
std::optional<T> float_value(std::string_view text) {
  using Limits = std::numeric_limits<T>;
  if (text == "nan") return Limits::quiet_NaN();
  if (text == "inf") return Limits::infinity();
  if (text == "-inf") return -Limits::infinity();
  if (text.find_first_not_of("0123456789+-.e") != std::string_view::npos) return std::nullopt;
  T value = 0;
  const auto [end, failed] = std::from_chars(text.begin(), text.end(), value);
  if (failed != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

std::optional<uint64_t> half_bits(std::string_view text, DType dtype) {
  const std::optional<float> value = float_value<float>(text);
  if (!value) return std::nullopt;
  const bool is_f16 = dtype == DType::f16;
  const uint16_t bits = is_f16 ? f32_to_f16(*value) : f32_to_bf16(*value);
  const float back = is_f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
  if (back != *value && !std::isnan(*value)) return std::nullopt;
  return bits;
}

/// The bits of a constant as append_constant() writes it; nothing if it is none of that dtype.
std::optional<uint64_t> constant_of(std::string_view text, DType dtype) {
  switch (dtype) {
    case DType::bool_:
      if (text != "true" && text != "false") return std::nullopt;
      return text == "true" ? 1 : 0;
    case DType::f16:
    case DType::bf16:
      return half_bits(text, dtype);
    case DType::f32: {
      const auto value = float_value<float>(text);
      return value ? std::optional<uint64_t>(std::bit_cast<uint32_t>(*value)) : std::nullopt;
    }
    case DType::f64: {
      const auto value = float_value<double>(text);
      return value ? std::optional(std::bit_cast<uint64_t>(*value)) : std::nullopt;
    }
    default:
      return is_integer(dtype) ? integer_bits(text, dtype) : std::nullopt;
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file, int line)
      : text_(text), file_(file), line_(line), scope_(f_.graph) {}

  ScalarFunction run() {
    head();
    while (!at_word("return")) node();
    results();
    skip();
    if (at_ < text_.size()) fail("the text of the function has ended");
    // The order in which build() leaves nodes, where the text has it: constants and inputs have no
    // line, and so no place of their own.
    Exprs outputs;
    for (uint32_t id : f_.outputs) outputs.push_back(Expr::node(id));
    ScalarFunction built = extract(f_.graph, outputs, f_.inputs);
    built.output_types = f_.output_types;
    return built.print() == f_.print() ? built : std::move(f_);
  }

 private:
  /// An operand as it is written: a value, or a constant whose dtype is not known yet.
  struct Operand {
    size_t at = 0;
    std::optional<Expr> value;
    std::string_view constant = {};
    std::optional<DType> dtype = {};
  };

  // ── characters ──
  [[noreturn]] void fail_at(size_t at, std::string_view problem) const {
    int line = line_, column = 1;
    for (char c : text_.substr(0, at)) {
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1 : 0;
    }
    std::string got(text_.substr(at, std::min<size_t>(text_.find_first_of("\r\n", at) - at, 60)));
    throw ValueError({.op = absl::StrCat(file_, ":", line, ":", column),
                      .problem = std::string(problem),
                      .got = got.empty() ? got : absl::StrCat("'", got, "'"),
                      .expected = "the text of a scalar function, as this version prints it",
                      .next = "mend the text there"});
  }
  [[noreturn]] void fail(std::string_view problem) const { fail_at(at_, problem); }

  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool take(std::string_view what) {
    skip();
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  void expect(std::string_view what) {
    if (!take(what)) fail(absl::StrCat("'", what, "' is wanted here"));
  }
  /// Up to what ends words; may be empty.
  std::string_view peek_word() {
    skip();
    const size_t end = std::min(text_.find_first_of(" \t\r\n,():%=", at_), text_.size());
    return text_.substr(at_, end - at_);
  }
  bool at_word(std::string_view what) { return peek_word() == what; }
  std::string_view word(std::string_view what) {
    const std::string_view found = peek_word();
    if (found.empty()) fail(absl::StrCat(what, " is wanted here"));
    at_ += found.size();
    return found;
  }
  uint64_t number(std::string_view what, uint64_t below) {
    const std::string_view found = peek_word();
    uint64_t n = 0;
    const auto [end, failed] = std::from_chars(found.begin(), found.end(), n);
    if (found.empty() || failed != std::errc() || end != found.end() || n >= below)
      fail(absl::StrCat(what, " is wanted here"));
    at_ += found.size();
    return n;
  }
  DType dtype() {
    skip();
    const size_t at = at_;
    DType d;
    if (!parse_dtype(word("a dtype"), d)) fail_at(at, "this is no dtype");
    if (!info(Prim::constant).domain.has(d)) fail_at(at, "this dtype is reserved");
    return d;
  }

  // ── the head: "(%0:f32, %1:i64) -> f32" ──
  void head() {
    expect("(");
    while (!take(")")) {
      if (!f_.inputs.empty()) expect(",");
      new_value(f_.inputs.size());
      f_.inputs.push_back(dtype());
    }
    expect("->");
    values_.resize(f_.inputs.size());
    if (skip(); at_word("return") || text_.substr(at_, 1) == "%") return;
    do f_.output_types.push_back(dtype());
    while (take(","));
  }
  /// "%3:" where value number 3 is the next one.
  void new_value(size_t which) {
    expect("%");
    const size_t at = at_;
    if (number("the number of a value", UINT32_MAX) != which)
      fail_at(at, absl::StrCat("the next value is %", which));
    expect(":");
  }

  // ── operands ──
  Operand operand() {
    skip();
    Operand o{at_, std::nullopt};
    if (take("%")) {
      const uint64_t n = number("the number of a value", UINT32_MAX);
      if (n >= values_.size()) fail_at(o.at, "this value is not defined yet");
      o.value = values_[n] ? *values_[n] : input(static_cast<int>(n), f_.inputs[n]);
      values_[n] = o.value;
      return o;
    }
    o.constant = word("a value or a constant");
    if (take(":")) o.dtype = dtype();
    return o;
  }
  Expr constant(const Operand& o, DType dtype) {
    const std::optional<uint64_t> bits = constant_of(o.constant, dtype);
    if (!bits) fail_at(o.at, absl::StrCat("this is no constant of ", name(dtype)));
    return constant_bits(dtype, *bits);
  }

  // ── nodes: "%3:f32 = fma(%2, %1, 0.5)" ──
  void node() {
    skip();
    if (at_ >= text_.size()) fail("the function does not end: 'return' is wanted here");
    const size_t begin = at_;
    new_value(values_.size());
    const DType type = dtype();
    expect("=");
    skip();
    const size_t at = at_;
    std::string_view called = word("a primitive");
    const bool raw = called == "raw_bits";
    if (raw) called.remove_prefix(4);
    const std::optional<Prim> prim = find_prim(called);
    if (!prim) fail_at(at, "there is no such primitive");
    expect("(");
    std::vector<Operand> operands;
    for (uint8_t i = 0; i < info(*prim).arity; ++i) {
      if (i > 0) expect(",");
      operands.push_back(operand());
    }
    const uint64_t payload = raw ? 1 : payload_of(*prim);
    expect(")");
    const std::vector<Expr> args = typed(*prim, type, operands);
    check(*prim, type, args, begin);
    ExprNode made{*prim, type, static_cast<uint8_t>(args.size()), {}, payload};
    for (size_t i = 0; i < args.size(); ++i) made.args[i] = args[i].id();
    values_.push_back(Expr::node(f_.graph.intern(made)));
  }

  uint64_t payload_of(Prim prim) {
    if (prim == Prim::index) return number("the number of an axis", kMostIndices);
    if (prim == Prim::random) return number("the number of a random word", kMostWords);
    if (prim != Prim::check) return 0;
    expect(",");
    return number("the code of a check", kMostCodes);
  }

  std::vector<Expr> typed(Prim prim, DType type, const std::vector<Operand>& operands) {
    std::optional<DType> known;
    for (const Operand& o : operands)
      if (o.value) known = o.value->dtype();
    std::vector<Expr> args;
    for (const Operand& o : operands) {
      if (o.value) {
        args.push_back(*o.value);
        continue;
      }
      const auto implied = implied_type(prim, type, static_cast<int>(args.size()), known);
      if (!o.dtype && !implied) fail_at(o.at, "this constant needs its dtype behind it: 1:i32");
      args.push_back(constant(o, o.dtype ? *o.dtype : *implied));
    }
    return args;
  }

  void check(Prim prim, DType type, absl::Span<const Expr> args, size_t at) const {
    const bool position = prim == Prim::index || prim == Prim::linear;
    if (position && type != DType::i64) fail_at(at, "a position is i64");
    if (prim == Prim::random && type != DType::u32) fail_at(at, "a random word is u32");
    if ((prim == Prim::real || prim == Prim::imag) && args[0].prim() != Prim::input)
      fail_at(at, "this is a part of an input");
    try {
      check_node(prim, type, args);
    } catch (const DTypeError& e) {
      const ErrorParts& p = e.parts();
      fail_at(at, absl::StrCat(p.problem, p.got.empty() ? "" : ": ", p.got, ": ", p.next));
    }
  }

  // ── "return %3, 0.5:f32" ──
  void results() {
    word("'return'");
    for (size_t k = 0; k < f_.output_types.size(); ++k) {
      const DType stored = f_.output_types[k];
      for (size_t part = 0; part < parts_of(stored); ++part) {
        if (!f_.outputs.empty()) expect(",");
        const Operand o = operand();
        if (!o.value && !o.dtype) fail("':' and the constant's dtype is wanted here");
        const Expr e = o.value ? *o.value : constant(o, *o.dtype);
        if (e.dtype() != real_type(stored))
          fail_at(o.at, absl::StrCat("result ", k, " is stated as ", name(real_type(stored)),
                                     " and returned as ", name(e.dtype())));
        f_.outputs.push_back(e.id());
      }
    }
  }

  std::string_view text_, file_;
  int line_;
  size_t at_ = 0;
  ScalarFunction f_;
  ExprScope scope_;
  std::vector<std::optional<Expr>> values_;  // by number; an input has a node where it is read
};

}  // namespace

ScalarFunction parse_function(std::string_view text, std::string_view file, int line) {
  return Parser(text, file, line).run();
}

}  // namespace lathe
