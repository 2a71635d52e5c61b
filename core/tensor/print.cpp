#include "core/tensor/print.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

// A tensor's numbers on the host, addressed by plain integers.
struct View {
  const std::byte* data;  // of element (0, 0, ...)
  DType dtype;
  std::vector<int64_t> sizes, strides;
  std::unique_ptr<std::byte[]> copy = {};
};

View view_of(const Tensor& t) {
  if (t.symbolic()) {
    throw TraceError({.op = "str",
                      .problem = "a trace sees types and sizes, never the data of a tensor",
                      .got = absl::StrCat("a symbolic tensor ", to_string(type_of(t))),
                      .next = "print the result after the traced function has returned"});
  }
  View v{nullptr, t.dtype(), {}, {}};
  for (Int size : t.shape()) v.sizes.push_back(size.value());
  for (Int stride : t.geometry().strides) v.strides.push_back(stride.value());
  if (device_api(t.device()).facts().host_readable) {
    v.data = t.data();
    return v;
  }
  const StorageRef& storage = t.impl()->storage;
  v.copy.reset(new std::byte[storage->bytes]);
  Stream& stream = current_stream(t.device());
  stream.wait(storage->ready);
  stream.copy(v.copy.get(), storage->data, storage->bytes);
  stream.synchronize();
  v.data = v.copy.get() + (t.address() - storage->data);
  return v;
}

/// How one real number is written, so that all of a tensor's have the same width.
class RealFormat {
 public:
  explicit RealFormat(const PrintOptions& o) : precision_(o.precision), asked_(o.scientific) {}

  void see(double value) {
    if (value == 0 || !std::isfinite(value)) return;
    double magnitude = std::abs(value);
    least_ = any_ ? std::min(least_, magnitude) : magnitude;
    most_ = std::max(most_, magnitude);
    any_ = true;
    whole_ = whole_ && value == std::ceil(value);
  }
  // Scientific where fixed would hide digits: PyTorch's bounds.
  void decide() {
    const bool hides = most_ / least_ > 1000.0 || most_ > 1e8 || (!whole_ && least_ < 1e-4);
    scientific_ = any_ && asked_.value_or(hides);
  }
  std::string write(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (scientific_) return absl::StrFormat("%.*e", precision_, value);
    if (whole_) return absl::StrFormat("%.0f.", value);
    return absl::StrFormat("%.*f", precision_, value);
  }

 private:
  int precision_;
  std::optional<bool> asked_;
  double least_ = 0, most_ = 0;
  bool any_ = false, whole_ = true, scientific_ = false;
};

class Printer {
 public:
  Printer(const View& view, const PrintOptions& options)
      : v_(view), o_(options), real_(options), imaginary_(options) {
    int64_t count = 1;
    for (int64_t size : v_.sizes) count *= size;
    summarise_ = count > o_.threshold;
    visit(0, v_.data, [&](const std::byte* at) {
      if (!floating()) return;
      real_.see(element_double(v_.dtype, at));
      imaginary_.see(element_imaginary(v_.dtype, at));
    });
    real_.decide();
    imaginary_.decide();
    visit(0, v_.data, [&](const std::byte* at) { width_ = std::max(width_, element(at).size()); });
  }

  std::string write(size_t axis, const std::byte* at, int indent) const {
    if (axis == v_.sizes.size()) return element(at);
    if (axis + 1 == v_.sizes.size()) return row(axis, at, indent);
    std::vector<std::string> parts;
    for_each(axis, [&](int64_t i) {
      parts.push_back(i < 0 ? "..." : write(axis + 1, step(axis, at, i), indent + 1));
    });
    std::string separator = ",";
    separator.append(v_.sizes.size() - axis - 1, '\n').append(static_cast<size_t>(indent) + 1, ' ');
    return absl::StrCat("[", absl::StrJoin(parts, separator), "]");
  }

 private:
  bool floating() const { return is_floating(v_.dtype) || is_complex(v_.dtype); }
  const std::byte* step(size_t axis, const std::byte* at, int64_t i) const {
    return at + i * v_.strides[axis] * static_cast<int64_t>(size_of(v_.dtype));
  }

  // The indices that are shown; -1 stands for those left out.
  template <class F>
  void for_each(size_t axis, const F& f) const {
    int64_t size = v_.sizes[axis], edge = o_.edge_items;
    bool cut = summarise_ && size > 2 * edge;
    for (int64_t i = 0; i < (cut ? edge : size); i++) f(i);
    if (!cut) return;
    f(int64_t{-1});
    for (int64_t i = size - edge; i < size; i++) f(i);
  }
  template <class F>
  void visit(size_t axis, const std::byte* at, const F& f) const {
    if (axis == v_.sizes.size()) {
      f(at);
      return;
    }
    for_each(axis, [&](int64_t i) {
      if (i >= 0) visit(axis + 1, step(axis, at, i), f);
    });
  }

  std::string element(const std::byte* at) const {
    if (v_.dtype == DType::bool_) return element_int(v_.dtype, at) ? "True" : "False";
    if (v_.dtype == DType::u64) return absl::StrCat(element_bits(v_.dtype, at));
    if (!floating()) return absl::StrCat(element_int(v_.dtype, at));
    std::string text = real_.write(element_double(v_.dtype, at));
    if (!is_complex(v_.dtype)) return text;
    std::string imaginary = imaginary_.write(element_imaginary(v_.dtype, at));
    return absl::StrCat(text, imaginary[0] == '-' ? "" : "+", imaginary, "j");
  }

  std::string row(size_t axis, const std::byte* at, int indent) const {
    auto per_line =
        static_cast<size_t>(std::max(1, (o_.line_width - indent) / (static_cast<int>(width_) + 2)));
    std::vector<std::string> items;
    for_each(axis, [&](int64_t i) {
      std::string text = i < 0 ? " ..." : element(step(axis, at, i));
      if (i >= 0 && text.size() < width_) text.insert(0, width_ - text.size(), ' ');
      items.push_back(std::move(text));
    });
    std::string out = "[";
    for (size_t i = 0; i < items.size(); i++) {
      if (i > 0)
        out += i % per_line == 0 ? ",\n" + std::string(static_cast<size_t>(indent) + 1, ' ') : ", ";
      out += items[i];
    }
    return out + "]";
  }

  const View& v_;
  const PrintOptions& o_;
  RealFormat real_, imaginary_;
  size_t width_ = 0;
  bool summarise_;
};

std::vector<std::string> suffixes_of(const Tensor& t, bool is_empty, const PrintOptions& options) {
  std::vector<std::string> out;
  if (t.device() != Device{}) out.push_back(absl::StrCat("device='", to_string(t.device()), "'"));
  if (is_empty && t.rank() != 1) {
    std::string sizes =
        absl::StrJoin(t.shape(), ", ", [](std::string* s, Int i) { s->append(to_string(i)); });
    out.push_back(absl::StrCat("size=(", sizes, ")"));
  }
  // What a literal of the same look would be made with anyway is not said.
  const DType d = t.dtype();
  bool usual =
      d == default_dtype() ||
      (!is_empty && (d == DType::i64 || d == DType::bool_ || d == complex_type(default_dtype())));
  if (!usual) out.push_back(absl::StrCat("dtype=lathe.", name(t.dtype())));
  if (options.suffixes.empty() && t.requires_grad()) out.push_back("requires_grad=True");
  out.insert(out.end(), options.suffixes.begin(), options.suffixes.end());
  return out;
}

}  // namespace

std::string print_tensor(const Tensor& t, const PrintOptions& options) {
  constexpr std::string_view kPrefix = "tensor(";
  View view = view_of(t);
  bool is_empty = std::find(view.sizes.begin(), view.sizes.end(), 0) != view.sizes.end();
  std::string body = "[]";
  if (!is_empty) body = Printer(view, options).write(0, view.data, kPrefix.size());
  size_t line = body.rfind('\n');
  size_t length = line == std::string::npos ? kPrefix.size() + body.size() : body.size() - line;
  std::string out = absl::StrCat(kPrefix, body);
  for (const std::string& suffix : suffixes_of(t, is_empty, options)) {
    if (length + suffix.size() + 2 > static_cast<size_t>(options.line_width)) {
      absl::StrAppend(&out, ",\n", std::string(kPrefix.size(), ' '), suffix);
      length = kPrefix.size() + suffix.size();
    } else {
      absl::StrAppend(&out, ", ", suffix);
      length += suffix.size() + 2;
    }
  }
  return out + ")";
}

PrintOptions& print_options() {
  static auto& options = *new PrintOptions;
  return options;
}

}  // namespace lathe
