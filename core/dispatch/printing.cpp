#include "core/dispatch/printing.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "core/tensor/print.h"

namespace lathe {
namespace {

constexpr int kMostLevels = 64;
constinit std::atomic<PrintHook> print_hook{nullptr};

[[noreturn]] void misfit(std::string problem, std::string got, std::string expected) {
  throw ValueError({.op = "print",
                    .problem = std::move(problem),
                    .got = std::move(got),
                    .expected = std::move(expected),
                    .next = "mend the format of the print in the text of the graph"});
}

struct Part {
  enum class Kind : uint8_t { text, tensor, number, choice };
  Kind kind = Kind::text;
  std::string text = {};                        // or how the number is written
  std::vector<std::vector<Part>> choices = {};  // each a format
};
using Parts = std::vector<Part>;

size_t tensors_of(const Parts& parts) {
  size_t count = 0;
  for (const Part& p : parts) {
    count += p.kind != Part::Kind::text;
    for (const Parts& choice : p.choices) count += tensors_of(choice);
  }
  return count;
}

/// "8.3f" and the like, as both Python and printf() read it.
bool is_spec(std::string_view spec) {
  auto digits = [&] {
    size_t n = 0;
    while (n < spec.size() && absl::ascii_isdigit(static_cast<unsigned char>(spec[n]))) ++n;
    const bool well = n <= 3 && (n == 0 || spec[0] != '0' || n == 1);
    spec.remove_prefix(n);
    return well ? static_cast<int>(n) : -1;
  };
  if (digits() < 0) return false;
  if (!spec.empty() && spec[0] == '.') {
    spec.remove_prefix(1);
    if (digits() < 1) return false;
  }
  return spec == "d" || spec == "e" || spec == "f" || spec == "g";
}

class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : whole_(format), left_(format) {}

  Parts read() {
    Parts parts = format(0);
    if (!left_.empty()) fail();
    return parts;
  }

 private:
  [[noreturn]] void fail() const {
    misfit("this is no format", std::string(whole_.substr(0, 200)),
           "{t}, {n}, {n:.3f} or {?a|b} in a text");
  }
  bool take(std::string_view what) {
    if (left_.substr(0, what.size()) != what) return false;
    left_.remove_prefix(what.size());
    return true;
  }

  Parts format(int level) {
    if (level > kMostLevels) fail();
    Parts parts;
    std::string text;
    auto end_text = [&] {
      if (!text.empty()) parts.push_back({Part::Kind::text, std::exchange(text, {})});
    };
    while (!left_.empty() && left_[0] != '|' && left_[0] != '}') {
      if (take("{")) {
        end_text();
        parts.push_back(part(level));
        continue;
      }
      if (take("\\") && left_.empty()) fail();
      text += left_[0];
      left_.remove_prefix(1);
    }
    end_text();
    return parts;
  }

  Part part(int level) {
    if (take("t}")) return {Part::Kind::tensor};
    if (take("n}")) return {Part::Kind::number};
    if (take("n:")) {
      const size_t end = left_.find('}');
      if (end == std::string_view::npos || !is_spec(left_.substr(0, end))) fail();
      Part number{Part::Kind::number, std::string(left_.substr(0, end))};
      left_.remove_prefix(end + 1);
      return number;
    }
    if (!take("?")) fail();
    Part choice{Part::Kind::choice};
    do choice.choices.push_back(format(level + 1));
    while (take("|"));
    if (!take("}")) fail();
    return choice;
  }

  std::string_view whole_, left_;
};

/// The one element: an integer or bool, or a float.
struct Number {
  DType dtype;
  double real = 0;
  int64_t integer = 0;
  std::string text;
};

Number number_of(const Tensor& t) {
  if (t.numel().value() != 1 || is_complex(t.dtype()))
    misfit("a number is printed of what is none", to_string(type_of(t)),
           "a tensor of one real element");
  Number n{t.dtype(), t.item_double(), 0, {}};
  if (is_floating(n.dtype)) {
    n.text = float_text(n.real);
    return n;
  }
  n.integer = t.item_int();
  n.text = n.dtype == DType::bool_ ? (n.integer != 0 ? "True" : "False")
           : n.dtype == DType::u64 ? absl::StrCat(static_cast<uint64_t>(n.integer))
                                   : absl::StrCat(n.integer);
  return n;
}

std::string written(const Number& n, const std::string& spec) {
  if (spec.empty()) return n.text;
  std::array<char, 1400> room{};
  if (spec.back() == 'd') {
    if (is_floating(n.dtype))
      misfit("a float is printed as an integer", n.text, "a format for floats, such as .3f");
    const std::string as = absl::StrCat("%", spec.substr(0, spec.size() - 1), "lld");
    std::snprintf(room.data(), room.size(), as.c_str(), static_cast<long long>(n.integer));
  } else {
    std::snprintf(room.data(), room.size(), absl::StrCat("%", spec).c_str(), n.real);
  }
  return room.data();
}

class Printing final : public HostFunction {
 public:
  explicit Printing(std::string_view format)
      : HostFunction("print", {}), format_(format), parts_(FormatReader(format).read()) {}

  Outputs run(const Tensors& xs, const Types&) const override {
    if (const size_t wanted = tensors_of(parts_); wanted != xs.size())
      misfit("the format does not fit the tensors that are printed", absl::StrCat(xs.size()),
             absl::StrCat(wanted, " for ", format_));
    std::string text;
    size_t next = 0;
    write(parts_, xs, next, &text);
    if (text.empty()) return {};
    if (PrintHook hook = print_hook.load(std::memory_order_acquire)) {
      hook(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
    return {};
  }
  bool is_data() const override { return true; }
  std::string literal() const override { return format_; }

 private:
  /// `text`: null where the tensors are passed over.
  static void write(const Parts& parts, const Tensors& xs, size_t& next, std::string* text) {
    for (const Part& p : parts) {
      if (p.kind == Part::Kind::text) {
        if (text != nullptr) *text += p.text;
        continue;
      }
      const Tensor& x = xs[next++];
      std::optional<int64_t> which;
      if (text != nullptr) which = write_one(p, x, *text);
      for (size_t k = 0; k < p.choices.size(); ++k)
        write(p.choices[k], xs, next, which == static_cast<int64_t>(k) ? text : nullptr);
    }
  }
  /// Which choice is to be written, if it is one.
  static std::optional<int64_t> write_one(const Part& p, const Tensor& x, std::string& text) {
    if (p.kind == Part::Kind::tensor) {
      text += print_tensor(x, print_options());
      return std::nullopt;
    }
    const Number n = number_of(x);
    if (p.kind == Part::Kind::number) {
      text += written(n, p.text);
      return std::nullopt;
    }
    if (is_floating(n.dtype) || n.integer < 0 ||
        n.integer >= static_cast<int64_t>(p.choices.size()))
      misfit("a print has no text of this number", n.text,
             absl::StrCat("an integer from 0 to ", p.choices.size() - 1));
    return n.integer;
  }

  std::string format_;
  Parts parts_;
};

}  // namespace

std::shared_ptr<const HostFunction> printing(std::string_view format) {
  return std::make_shared<Printing>(format);
}

void set_print_hook(PrintHook hook) { print_hook.store(hook, std::memory_order_release); }

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  constexpr int kLeastFixed = -4, kMostFixed = 16;  // powers of ten that are written out
  std::array<char, 64> room{};
  auto in = [&](std::chars_format how) {
    return std::string(room.data(),
                       std::to_chars(room.data(), room.data() + room.size(), value, how).ptr);
  };
  std::string text = in(std::chars_format::scientific);
  int power = 0;
  LATHE_CHECK(absl::SimpleAtoi(text.substr(text.find('e') + 1), &power));
  if (power < kLeastFixed || power >= kMostFixed) return text;
  text = in(std::chars_format::fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

}  // namespace lathe
