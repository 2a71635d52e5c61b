#include "tests/cpp/support/samples.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/base/error.h"

namespace lathe::testing {
namespace {

std::vector<std::string> split_top(std::string_view text) {
  std::vector<std::string> out;
  std::string current;
  int depth = 0;
  bool quoted = false;
  for (char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    quoted ^= c == '\'';
    if (c == ',' && depth == 0 && !quoted) {
      out.push_back(current);
      current.clear();
    } else {
      current += c;
    }
  }
  out.push_back(current);
  for (std::string& s : out) s = std::string(absl::StripAsciiWhitespace(s));
  return out;
}

bool parse_tensor(std::string_view text, SampleTensor& out) {
  if (text.size() < 3 || text[1] != '[' ||
      std::string_view("fpguacibnsd").find(text[0]) == text.npos)
    return false;
  out.kind = text[0];
  size_t close = text.find(']');
  out.shape.clear();
  for (std::string_view n :
       absl::StrSplit(text.substr(2, close - 2), ',', absl::SkipWhitespace())) {
    int64_t v = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(n), &v)) return false;
    out.shape.push_back(Int(v));
  }
  std::string_view rest = text.substr(close + 1);
  if (!rest.empty() && rest[0] == '<' && !absl::SimpleAtoi(rest.substr(1), &out.below))
    return false;
  return true;
}

Sample parse_line(std::string_view line) {
  Sample s;
  if (line[0] == '!') {
    s.smooth = false;
    line.remove_prefix(1);
  }
  std::pair<std::string_view, std::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  s.op = std::string(absl::StripAsciiWhitespace(parts.first));
  for (std::string part : split_top(parts.second)) {
    SampleArg a;
    size_t equals = part.find('=');
    if (equals != std::string::npos && part.find('\'') > equals) {
      a.name = part.substr(0, equals);
      part = part.substr(equals + 1);
    }
    SampleTensor t;
    if (parse_tensor(part, t)) {
      a.tensors.push_back(t);
    } else if (part.size() > 2 && part[0] == '[' &&
               parse_tensor(split_top(part.substr(1, part.size() - 2))[0], t)) {
      a.tensor_list = true;
      for (const std::string& item : split_top(part.substr(1, part.size() - 2))) {
        parse_tensor(item, t);
        a.tensors.push_back(t);
      }
    } else {
      a.literal = part;
    }
    s.args.push_back(std::move(a));
  }
  return s;
}

void read_file(const std::string& path, std::vector<Sample>& out) {
  std::ifstream in(absl::StrCat(LATHE_SOURCE_DIR "/", path));
  std::map<std::string, int> lines_of;
  std::string line;
  for (int n = 1; std::getline(in, line); ++n) {
    if (line.empty() || line[0] == '#') continue;
    Sample& s = out.emplace_back(parse_line(line));
    s.name = absl::StrCat(s.op, "_", ++lines_of[s.op]);
    s.where = absl::StrCat(path, ":", n);
  }
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    const std::string folder = "tests/samples";
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(LATHE_SOURCE_DIR "/" + folder))
      if (entry.path().extension() == ".txt") files.insert(entry.path().filename().string());
    std::vector<Sample> out;
    for (const std::string& file : files) read_file(absl::StrCat(folder, "/", file), out);
    if (out.empty())
      throw ValueError({.op = "samples", .problem = "there are none", .got = folder});
    return out;
  }();
  return all;
}

namespace {

/// x x^T + n of each matrix along the last two axes.
void make_positive_definite(std::vector<double>& v, size_t n) {
  for (size_t begin = 0; begin < v.size(); begin += n * n) {
    const std::vector<double> x(v.begin() + static_cast<ptrdiff_t>(begin),
                                v.begin() + static_cast<ptrdiff_t>(begin + n * n));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        double sum = i == j ? static_cast<double>(n) : 0;
        for (size_t k = 0; k < n; ++k) sum += x[i * n + k] * x[j * n + k];
        v[begin + i * n + j] = sum;
      }
  }
}

}  // namespace

Tensor make_tensor(const SampleTensor& t, DType real, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0.05, 0.95);
  std::uniform_int_distribution<int64_t> small(-5, 5);
  auto count = static_cast<size_t>(numel(t.shape).value());
  if (t.kind == 'c') {
    std::vector<double> v(2 * count);
    for (double& x : v) x = normal(rng);
    const std::vector<float> narrow(v.begin(), v.end());
    if (complex_type(real) == DType::c128) return from_host(v.data(), DType::c128, t.shape);
    return from_host(narrow.data(), DType::c64, t.shape);
  }
  std::vector<double> v(count);
  for (double& x : v) {
    switch (t.kind) {
      case 'p':
        x = std::abs(normal(rng)) + 0.3;
        break;
      case 'g':
        x = std::abs(normal(rng)) + 1.3;
        break;
      case 'u':
        x = unit(rng);
        break;
      case 'a':
        x = 1.8 * (unit(rng) - 0.5);
        break;
      case 'i':
        x = static_cast<double>(small(rng));
        break;
      case 'b':
        x = normal(rng) > 0;
        break;
      case 'n':
        x = static_cast<double>(static_cast<int64_t>(unit(rng) * static_cast<double>(t.below)));
        break;
      default:
        x = normal(rng);
    }
  }
  if (t.kind == 's') std::sort(v.begin(), v.end());
  if (t.kind == 'd') make_positive_definite(v, static_cast<size_t>(t.shape.back().value()));
  Tensor wide = from_host(v.data(), DType::f64, t.shape);
  DType to = t.kind == 'i' || t.kind == 'n' ? DType::i64 : t.kind == 'b' ? DType::bool_ : real;
  if (to == DType::f64) return wide;
  const Op& cast = get_op("cast");
  return call(cast, CompletedArgs(cast, {Arg(wide), Arg(to)}))[0];
}

PreparedCall prepare(const Sample& sample, const std::function<Tensor(const SampleTensor&)>& make) {
  PreparedCall call;
  call.op = &get_op(sample.op);
  const Schema& schema = call.op->schema;
  // Literals are read by the schema parser itself, as defaults of a schema made for the purpose.
  std::vector<Arg> given;
  std::vector<NamedArg> named;
  std::deque<ArgVec> literals;
  std::deque<std::vector<Arg>> lists;
  std::deque<ArgList> list_refs;
  call.tensors.reserve(64);
  for (const SampleArg& a : sample.args) {
    Arg value;
    if (!a.tensors.empty()) {
      size_t first = call.tensors.size();
      for (const SampleTensor& t : a.tensors) call.tensors.push_back(make(t));
      if (a.tensor_list) {
        lists.emplace_back();
        for (size_t i = first; i < call.tensors.size(); ++i)
          lists.back().push_back(Arg(call.tensors[i]));
        list_refs.push_back({lists.back().data(), lists.back().size()});
        value = Arg(list_refs.back());
      } else {
        value = Arg(call.tensors[first]);
      }
    } else {
      int i = a.name.empty() ? static_cast<int>(given.size()) : schema.find(a.name);
      ArgType type = schema.params[static_cast<size_t>(i)].type;
      const char* shown = type == ArgType::dtype  ? "dtype"
                          : type == ArgType::text ? "str"
                                                  : "Scalar[]";
      Schema s = parse_schema(absl::StrCat("x(", shown, " v=", a.literal, ") -> Tensor"));
      literals.push_back(s.params[0].default_value);
      value = literals.back()[0];
    }
    if (a.name.empty()) {
      given.push_back(value);
    } else {
      named.push_back({a.name, value});
    }
  }
  absl::InlinedVector<Arg, 8> full;
  complete_call(schema, given, named, full, call.pool);
  // Own everything that lived in the locals above.
  for (const Arg& a : full) call.pool.push(a);
  size_t n = full.size();
  for (size_t i = 0; i < n; ++i) call.args.push_back(call.pool[call.pool.size() - n + i]);
  return call;
}

}  // namespace lathe::testing
