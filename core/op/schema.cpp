#include "core/op/schema.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"

namespace lathe {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(absl::StrCat("'", token, "' expected"));
  }
  /// A name of an op: an identifier, and that of the overload behind a dot.
  std::string op_name() {
    std::string name = identifier();
    while (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      absl::StrAppend(&name, ".", identifier());
    }
    return name;
  }
  std::string identifier() {
    skip();
    size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (start == at_) fail("a name expected");
    return std::string(text_.substr(start, at_ - start));
  }
  /// Up to a top-level ',' or ')'.
  std::string_view literal() {
    skip();
    size_t start = at_;
    int depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      quoted ^= c == '\'';
      if (quoted) continue;
      if (depth == 0 && (c == ',' || c == ')')) break;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
    }
    return text_.substr(start, at_ - start);
  }
  /// A number in a list: up to ',' or ']'.
  std::string_view item() {
    skip();
    const size_t start = at_;
    at_ = std::min(text_.find_first_of(",] ", at_), text_.size());
    return text_.substr(start, at_ - start);
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  [[noreturn]] void fail(std::string_view what) {
    throw ValueError({.op = "schema",
                      .problem = std::string(what),
                      .got = absl::StrCat("'", text_, "', at column ", at_ + 1),
                      .expected = "a schema such as f(Tensor x, int n=1) -> Tensor",
                      .next = "mend the text at that column"});
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct TypeName {
  std::string_view text;
  ArgType type;
};
constexpr TypeName kTypes[] = {
    {"Tensor", ArgType::tensor}, {"int", ArgType::integer}, {"float", ArgType::real},
    {"Scalar", ArgType::scalar}, {"bool", ArgType::flag},   {"dtype", ArgType::dtype},
    {"device", ArgType::device}, {"str", ArgType::text},    {"Function", ArgType::function},
};
constexpr std::string_view kSymbolic = "SymInt";  // an integer that says Param::symbolic

std::string_view type_name(ArgType type) {
  for (const TypeName& t : kTypes)
    if (t.type == type) return t.text;
  LATHE_INTERNAL("unnamed argument type");
}

constexpr std::string_view kLiterals[] = {"", "True", "False", "None"};  // by Literal

Literal literal_of(std::string_view type) {
  const auto* found = std::find(std::begin(kLiterals), std::end(kLiterals), type);
  return found == std::end(kLiterals) ? Literal::any
                                      : static_cast<Literal>(found - std::begin(kLiterals));
}

std::string_view type_name(const Param& p) {
  if (p.symbolic) return kSymbolic;
  return p.literal == Literal::any ? type_name(p.type) : kLiterals[static_cast<size_t>(p.literal)];
}

Arg parse_number(Scanner& in, std::string_view text) {
  int64_t i;
  double d;
  if (absl::SimpleAtoi(text, &i)) return Arg(Int(i));
  if (absl::SimpleAtod(text, &d)) return Arg(d);
  in.fail(absl::StrCat("a default expected, got '", text, "'"));
}

ArgVec parse_default(Scanner& in, const Param& param, std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  ArgVec out;
  if (text == "None") {
    out.push(Arg());
  } else if (text == "True" || text == "False") {
    out.push(Arg(text == "True"));
  } else if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    std::string value(text.substr(1, text.size() - 2));
    out.push(Arg(value.c_str()));
  } else if (!text.empty() && text.front() == '[') {
    std::vector<Arg> items;
    Scanner list(text.substr(1));
    while (!list.take("]")) {
      if (!items.empty()) list.expect(",");
      if (list.take("]")) break;
      items.push_back(parse_number(in, list.item()));
    }
    out.push(Arg(ArgList{items.data(), items.size()}));
  } else if (DType d; param.type == ArgType::dtype && parse_dtype(text, d)) {
    out.push(Arg(d));
  } else {
    Arg number = parse_number(in, text);
    if (param.type == ArgType::real && number.tag == Tag::integer)
      number = Arg(static_cast<double>(number.integer().value()));
    out.push(number);
  }
  return out;
}

Param parse_param(Scanner& in) {
  Param p;
  std::string type = in.identifier();
  p.literal = literal_of(type);
  bool found = p.literal != Literal::any;
  if (found) p.type = ArgType::flag;
  p.optional = p.literal == Literal::none;
  p.symbolic = type == kSymbolic;
  if (p.symbolic) type = type_name(ArgType::integer);
  for (const TypeName& t : kTypes) {
    if (t.text != type) continue;
    p.type = t.type;
    found = true;
  }
  if (!found) in.fail(absl::StrCat("unknown type '", type, "'"));
  if (in.take("|")) {
    in.expect("Scalar");
    if (p.type != ArgType::tensor) in.fail("only a Tensor may be a Scalar instead");
    p.number = true;
  }
  if (in.take("(!)")) p.written = true;
  if (in.take("...")) {
    p.list = true;  // or all arguments by place from here on
    p.fixed_size = -1;
  } else if (in.take("[")) {
    p.list = true;
    if (!in.take("]")) {
      std::string size = in.identifier();
      if (!absl::SimpleAtoi(size, &p.fixed_size)) in.fail("a list size expected");
      p.optional_items = in.take("?");
      in.expect("]");
    }
  }
  if (in.take("?")) p.optional = true;
  p.name = in.identifier();
  if (in.take("=")) {
    p.has_default = true;
    p.default_value = parse_default(in, p, in.literal());
  }
  return p;
}

std::string print_param(const Param& p) {
  std::string out(type_name(p));
  if (p.number) out += "|Scalar";
  if (p.written) out += "(!)";
  if (p.fixed_size < 0)
    out += "...";
  else if (p.list)
    absl::StrAppend(&out, "[", p.fixed_size > 0 ? absl::StrCat(p.fixed_size) : "",
                    p.optional_items ? "?" : "", "]");
  if (p.optional && p.literal != Literal::none) out += "?";
  absl::StrAppend(&out, " ", p.name);
  if (p.has_default) absl::StrAppend(&out, "=", to_string(p.default_value[0]));
  return out;
}

[[noreturn]] void wrong_argument(const Schema& schema, const Param& p, const Arg& got) {
  std::string want(type_name(p));
  if (p.number) want += " or number";
  if (p.list) want += "[]";
  if (p.optional && p.literal != Literal::none) want += " or None";
  throw TypeError(
      {.op = schema.name,
       .problem = absl::StrCat("argument '", p.name, "' has the wrong type"),
       .got = absl::StrCat(tag_name(got.tag), got.tag == Tag::tensor ? "" : " " + to_string(got)),
       .expected = want,
       .next = absl::StrCat("the signature is ", schema.text)});
}

bool fits_item(const Param& p, const Arg& a, Caller caller) {
  const bool user = caller != Caller::library;
  if (p.literal != Literal::any)
    return a.tag == Tag::flag && p.literal == (a.flag_ ? Literal::yes : Literal::no);
  switch (p.type) {
    case ArgType::tensor:
      return a.tag == Tag::tensor || (a.scalar() && (p.number || !user));
    case ArgType::integer:
      return a.tag == Tag::integer || (a.tag == Tag::flag && !user);
    case ArgType::real:
      return a.scalar();
    case ArgType::scalar:
      return a.scalar();
    case ArgType::flag:
      return a.tag == Tag::flag;
    case ArgType::dtype:
      return a.tag == Tag::dtype;
    case ArgType::device:
      return a.tag == Tag::device;
    case ArgType::text:
      return a.tag == Tag::text;
    case ArgType::function:
      return a.tag == Tag::function;
  }
  return false;
}

Arg convert_item(ArgType type, const Arg& a) {
  if (type == ArgType::integer && a.tag == Tag::flag) return Arg(Int(a.flag_ ? 1 : 0));
  if (type == ArgType::real && a.tag == Tag::flag) return Arg(a.flag_ ? 1.0 : 0.0);
  // A symbolic size used as a float stays an integer: converting would need its value.
  if (type == ArgType::real && a.tag == Tag::integer && a.integer().known())
    return Arg(static_cast<double>(a.integer().value()));
  return a;
}

/// Whether the parameter takes `a`; nothing is made.
bool fits(const Param& p, const Arg& a, Caller caller) {
  if (a.none()) return p.optional;
  if (!p.list) {
    // A number may stand for a tensor, but not where the op writes.
    return fits_item(p, a, caller) && !(p.written && a.tag != Tag::tensor);
  }
  const bool tensors = p.type == ArgType::tensor;
  if (a.tag != Tag::list) return fits_item(p, a, caller) && (!tensors || a.tag == Tag::tensor);
  for (size_t i = 0; i < a.list_->size; ++i) {
    const Arg& item = a.list_->data[i];
    if (p.optional_items && item.none()) continue;
    if (tensors ? item.tag != Tag::tensor : !fits_item(p, item, caller)) return false;
  }
  return p.fixed_size <= 0 || a.list_->size == 1 ||
         a.list_->size == static_cast<size_t>(p.fixed_size);
}

/// `a`, which fits, as the parameter wants it; a list that has to be made lives in `pool`.
Arg converted(const Param& p, const Arg& a, ArgVec& pool) {
  if (a.none()) return a;
  if (!p.list) return convert_item(p.type, a);
  const bool is_list = a.tag == Tag::list;
  auto wanted = static_cast<size_t>(p.fixed_size > 0 ? p.fixed_size : 1);
  absl::Span<const Arg> given =
      is_list ? absl::MakeConstSpan(a.list_->data, a.list_->size) : absl::MakeConstSpan(&a, 1);
  const bool widen = p.fixed_size > 0 && given.size() == 1 && wanted != 1;
  auto as_it_is = [&](const Arg& item) { return equal(convert_item(p.type, item), item); };
  if (is_list && !widen && std::all_of(given.begin(), given.end(), as_it_is)) return a;
  std::vector<Arg> items;
  for (const Arg& item : given) items.push_back(convert_item(p.type, item));
  if (widen || !is_list) items.assign(wanted, items[0]);
  pool.push(Arg(ArgList{items.data(), items.size()}));
  return pool[pool.size() - 1];
}

}  // namespace

int Schema::find(std::string_view param) const {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == param) return static_cast<int>(i);
  return -1;
}

size_t Schema::positional() const {
  auto keyword_only = [](const Param& p) { return p.keyword_only; };
  return static_cast<size_t>(std::find_if(params.begin(), params.end(), keyword_only) -
                             params.begin());
}

bool Schema::writes() const {
  for (const Param& p : params)
    if (p.written) return true;
  return false;
}

Schema parse_schema(std::string_view text) {
  Scanner in(text);
  Schema s;
  s.name = in.op_name();
  s.public_name = s.name.substr(0, s.name.find('.'));
  in.expect("(");
  bool keyword_only = false, first = true;
  while (!in.take(")")) {
    if (!first) in.expect(",");
    first = false;
    if (!keyword_only && in.take("*")) {
      keyword_only = true;
      continue;
    }
    Param p = parse_param(in);
    p.keyword_only = keyword_only;
    if (s.find(p.name) >= 0) in.fail(absl::StrCat("two parameters named '", p.name, "'"));
    // Only an overload that a value tells from the others may ask for more behind a default.
    if (!keyword_only && !s.params.empty() && s.params.back().has_default && !p.has_default &&
        s.name == s.public_name)
      in.fail("a parameter without a default after one with");
    s.params.push_back(std::move(p));
  }
  in.expect("->");
  bool many = in.take("(");
  do {
    if (many && in.take(")")) break;
    in.expect("Tensor");
    Result r;
    if (in.take("[")) {
      in.expect("]");
      r.list = true;
    }
    if (many && !in.take(",")) {
      if (in.take(")")) {
        s.results.push_back(r);
        break;
      }
      r.name = in.identifier();
      s.results.push_back(r);
      if (in.take(")")) break;
      in.expect(",");
      continue;
    }
    s.results.push_back(r);
  } while (many);
  if (!in.done()) in.fail("end of the schema expected");
  s.text = print_schema(s);
  return s;
}

std::string print_schema(const Schema& s) {
  bool starred = false;
  auto param = [&](std::string* o, const Param& p) {
    if (p.keyword_only && !starred) o->append("*, ");
    starred |= p.keyword_only;
    o->append(print_param(p));
  };
  std::string out = absl::StrCat(s.name, "(", absl::StrJoin(s.params, ", ", param), ") -> ");
  auto one = [](std::string* o, const Result& r) {
    absl::StrAppend(o, "Tensor", r.list ? "[]" : "", r.name.empty() ? "" : " ", r.name);
  };
  if (s.results.size() == 1 && s.results[0].name.empty()) {
    one(&out, s.results[0]);
  } else {
    absl::StrAppend(&out, "(", absl::StrJoin(s.results, ", ", one), ")");
  }
  return out;
}

namespace {

std::string parameters(const Schema& schema) {
  std::string out;
  for (const Param& p : schema.params) absl::StrAppend(&out, out.empty() ? "" : ", ", p.name);
  return out;
}

/// What is given for parameter i: by position, by name, or nothing (null).
const Arg* given_for(const Schema& schema, size_t i, absl::Span<const Arg> given,
                     absl::Span<const NamedArg> named) {
  if (i < given.size()) return &given[i];
  for (const NamedArg& n : named)
    if (n.name == schema.params[i].name) return &n.value;
  return nullptr;
}

/// Null where every name is that of a parameter which nothing else was given for.
const NamedArg* misnamed(const Schema& schema, size_t positional,
                         absl::Span<const NamedArg> named) {
  for (const NamedArg& n : named) {
    int i = schema.find(n.name);
    // A second spelling (dim and axis) arrives under the same name.
    bool again = std::any_of(named.data(), &n, [&](const NamedArg& m) { return m.name == n.name; });
    if (i < 0 || static_cast<size_t>(i) < positional || again) return &n;
  }
  return nullptr;
}

/// C and C++ have no keywords: they give all by position.
size_t most_positional(const Schema& schema, Caller caller) {
  return caller == Caller::python ? schema.positional() : schema.params.size();
}

[[noreturn]] void too_many(const Schema& schema, size_t given) {
  bool keywords = schema.positional() < schema.params.size();
  throw TypeError(
      {.op = schema.name,
       .problem = "too many arguments",
       .got = absl::StrCat(given),
       .expected = absl::StrCat("at most ", schema.positional(), keywords ? " by position" : ""),
       .next = absl::StrCat("the signature is ", schema.text)});
}

[[noreturn]] void wrong_name(const Schema& schema, const NamedArg& n) {
  bool unknown = schema.find(n.name) < 0;
  throw TypeError(
      {.op = schema.name,
       .problem = unknown ? absl::StrCat("there is no parameter '", n.name, "'")
                          : absl::StrCat("'", n.name, "' is given twice"),
       .got = absl::StrCat("'", n.name, "'"),
       .expected = unknown ? absl::StrCat("one of: ", parameters(schema)) : std::string("once"),
       .next = absl::StrCat("the signature is ", schema.text)});
}

/// Are all operands numbers, where a user must give one tensor at least?
bool lacks_tensor(const Schema& schema, absl::Span<const Arg> given,
                  absl::Span<const NamedArg> named, Caller caller) {
  if (!schema.wants_tensor || caller == Caller::library) return false;
  for (size_t i = 0; i < schema.params.size(); ++i) {
    const Arg* value = given_for(schema, i, given, named);
    if (value != nullptr && value->tag == Tag::tensor) return false;
  }
  return true;
}

[[noreturn]] void only_numbers(const Schema& schema, absl::Span<const Arg> given,
                               absl::Span<const NamedArg> named) {
  std::string names, got;
  for (size_t i = 0; i < schema.params.size(); ++i) {
    if (schema.params[i].type != ArgType::tensor) continue;
    absl::StrAppend(&names, names.empty() ? "'" : " and '", schema.params[i].name, "'");
    absl::StrAppend(&got, got.empty() ? "" : " and ",
                    to_string(*given_for(schema, i, given, named)));
  }
  throw TypeError({.op = schema.name,
                   .problem = absl::StrCat("arguments ", names, " are both numbers"),
                   .got = got,
                   .expected = "a tensor for one of them",
                   .next = "make one with lathe.tensor(...)"});
}

}  // namespace

bool accepts(const Schema& schema, absl::Span<const Arg> given, absl::Span<const NamedArg> named,
             Caller caller) {
  if (given.size() > most_positional(schema, caller)) return false;
  if (misnamed(schema, given.size(), named) != nullptr) return false;
  for (size_t i = 0; i < schema.params.size(); ++i) {
    const Arg* value = given_for(schema, i, given, named);
    if (value == nullptr ? !schema.params[i].has_default : !fits(schema.params[i], *value, caller))
      return false;
  }
  return !lacks_tensor(schema, given, named, caller);
}

void complete_call(const Schema& schema, absl::Span<const Arg> given,
                   absl::Span<const NamedArg> named, absl::InlinedVector<Arg, 8>& out, ArgVec& pool,
                   Caller caller) {
  if (given.size() > most_positional(schema, caller)) too_many(schema, given.size());
  if (const NamedArg* n = misnamed(schema, given.size(), named)) wrong_name(schema, *n);
  for (size_t i = 0; i < schema.params.size(); ++i) {
    const Param& p = schema.params[i];
    const Arg* value = given_for(schema, i, given, named);
    if (value == nullptr) {
      if (!p.has_default)
        throw TypeError(
            {.op = schema.name,
             .problem = absl::StrCat("argument '", p.name, "' is missing"),
             .got = absl::StrCat(given.size(), " by position, ", named.size(), " by name"),
             .expected = absl::StrCat("a value for '", p.name, "'"),
             .next = absl::StrCat("the signature is ", schema.text)});
      value = &p.default_value[0];
    }
    if (!fits(p, *value, caller)) wrong_argument(schema, p, *value);
    out.push_back(converted(p, *value, pool));
  }
  if (lacks_tensor(schema, given, named, caller)) only_numbers(schema, given, named);
}

}  // namespace lathe
