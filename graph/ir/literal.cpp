#include "graph/ir/literal.h"

#include <absl/strings/str_cat.h>

#include <charconv>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/op/host_function.h"

namespace lathe::ir {
namespace {

/// "2.0", "1e-07", "inf", "nan": the shortest text that reads back as the same number, never an
/// integer's.
template <class T>
std::string shortest(T value) {
  if (value != value) return "nan";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

template <class T>
T element(const std::byte* data, int64_t i) {
  T v;
  std::memcpy(&v, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

std::string element_text(DType dtype, const std::byte* data, int64_t i) {
  switch (dtype) {
    case DType::bool_:
      return element<uint8_t>(data, i) != 0 ? "True" : "False";
    case DType::u8:
      return absl::StrCat(element<uint8_t>(data, i));
    case DType::i8:
      return absl::StrCat(static_cast<int>(element<int8_t>(data, i)));
    case DType::i16:
      return absl::StrCat(element<int16_t>(data, i));
    case DType::i32:
      return absl::StrCat(element<int32_t>(data, i));
    case DType::i64:
      return absl::StrCat(element<int64_t>(data, i));
    case DType::u16:
      return absl::StrCat(element<uint16_t>(data, i));
    case DType::u32:
      return absl::StrCat(element<uint32_t>(data, i));
    case DType::u64:
      return absl::StrCat(element<uint64_t>(data, i));
    case DType::f16:
      return shortest(f16_to_f32(element<uint16_t>(data, i)));
    case DType::bf16:
      return shortest(bf16_to_f32(element<uint16_t>(data, i)));
    case DType::f32:
      return shortest(element<float>(data, i));
    case DType::f64:
      return shortest(element<double>(data, i));
    default:
      LATHE_INTERNAL("this dtype is not written out");
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr const char* kHex = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string literal_text(const Arg& a) {
  switch (a.tag) {
    case Tag::none:
      return "None";
    case Tag::integer:
      return lathe::to_string(a.integer());
    case Tag::real:
      return lathe::to_string(a.real());
    case Tag::flag:
      return a.flag_ ? "True" : "False";
    case Tag::dtype:
      return std::string(info(a.dtype_).short_name);
    case Tag::device:
      return absl::StrCat("@", lathe::to_string(a.device_));
    case Tag::text:
      return quoted(a.text_);
    case Tag::tensor:
      return "<tensor>";  // verify() refuses it
    case Tag::list: {
      std::string out = "[";
      for (size_t i = 0; i < a.list_->size; ++i)
        absl::StrAppend(&out, i == 0 ? "" : ", ", literal_text(a.list_->data[i]));
      return out + "]";
    }
    case Tag::function:
      if (a.function_->is_data())
        return absl::StrCat("say(", ir::quoted(a.function_->literal()), ")");
      return lathe::to_string(a);
  }
  return "?";
}

bool writes_inline(const Tensor& t) {
  return !t.symbolic() && t.device() == Device{} && !is_complex(t.dtype()) &&
         info(t.dtype()).tensor && t.numel().value() <= kInlineElements;
}

std::string elements_text(const Tensor& t) {
  Tensor p = packed(t);
  const std::byte* data = p.data();
  std::string out = "[";
  int64_t count = t.numel().value();
  for (int64_t i = 0; i < count; ++i)
    absl::StrAppend(&out, i == 0 ? "" : ", ", element_text(t.dtype(), data, i));
  return out + "]";
}

Tensor packed(const Tensor& t) {
  // Copied by hand: constants must be printable in programs without kernels.
  if (!(t.device() == Device{}))
    throw DeviceError({.op = "constant",
                       .problem = "the elements of a constant are on another device",
                       .got = lathe::to_string(t.device()),
                       .next = "move it to the cpu first"});
  if (t.geometry().is_contiguous()) return t;
  const Geometry& g = t.geometry();
  size_t bytes = size_of(t.dtype());
  int64_t count = t.numel().value();
  std::vector<std::byte> out(static_cast<size_t>(count) * bytes);
  // data() is the first element; strides count from there.
  const std::byte* base = t.data();
  std::vector<int64_t> index(g.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < index.size(); ++k) at += index[k] * g.strides[k].value();
    std::memcpy(out.data() + static_cast<size_t>(i) * bytes,
                base + at * static_cast<int64_t>(bytes), bytes);
    for (size_t k = index.size(); k-- > 0;) {
      if (++index[k] < g.shape[k].value()) break;
      index[k] = 0;
    }
  }
  return from_host(out.data(), t.dtype(), g.shape);
}

}  // namespace lathe::ir
