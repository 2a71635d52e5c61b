// Facts about sizes, and the elements of tensors that are written out.
#include <absl/strings/str_cat.h>

#include <charconv>

#include "core/base/error.h"
#include "graph/ir/literal.h"
#include "graph/text/reader.h"

namespace lathe::ir {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T v) {
  const auto* p = reinterpret_cast<const std::byte*>(&v);
  bytes.insert(bytes.end(), p, p + sizeof v);
}

}  // namespace

SymFact Reader::fact(Site site) {
  struct Between {
    std::string_view text;
    Relation relation;
    bool holds;
  };
  constexpr Between kBetween[] = {{"==", Relation::eq, true},  {"!=", Relation::ne, true},
                                  {"<=", Relation::le, true},  {"<", Relation::lt, true},
                                  {">=", Relation::lt, false}, {">", Relation::le, false}};
  Int a = int_expression();
  for (const Between& b : kBetween) {
    if (!take(b.text)) continue;
    Int right = int_expression();
    return {b.relation, b.holds, a, right, site};
  }
  fail("a comparison is wanted here");
}

Tensor Reader::elements(const TensorType& t) {
  for (Int size : t.shape)
    if (!size.known()) fail("a tensor written out has sizes that are numbers");
  const Token at = peek();
  std::vector<std::byte> bytes;
  int64_t count = 0;
  expect("[");
  while (!take("]")) {
    if (count > 0) expect(",");
    if (++count > kInlineElements) fail("too many elements: give them as const#k");
    element(t.dtype, bytes);
  }
  if (!identical(numel(t.shape), Int(count)))
    fail_at(at, absl::StrCat(count, " elements do not fill ", to_string(Type(t))));
  return from_host(bytes.data(), t.dtype, t.shape);
}

void Reader::element(DType dtype, std::vector<std::byte>& bytes) {
  const Token at = peek(is("-") ? 1 : 0);
  bool negative = is("-");
  if (dtype == DType::u64 && at.kind == TokenKind::integer && !negative)
    return append(bytes, next().integer);
  if (dtype == DType::i64 && at.kind == TokenKind::integer) {  // also those that are no sizes
    constexpr uint64_t kTop = uint64_t{1} << 63;
    if (at.integer > kTop - (negative ? 0 : 1)) fail_at(at, "this element does not fit the dtype");
    if (negative) next();
    return append(bytes, negative ? 0 - next().integer : next().integer);
  }
  Arg a;
  if (!literal(a) || !a.scalar()) fail("an element is wanted here");
  if (a.tag == Tag::integer && !a.integer().known()) fail_at(at, "an element is a number");
  if ((a.tag == Tag::flag) != (dtype == DType::bool_) || (a.tag == Tag::real) != is_floating(dtype))
    fail_at(at, "this element does not fit the dtype");
  switch (dtype) {
    case DType::bool_:
      return append<uint8_t>(bytes, a.flag_ ? 1 : 0);
    case DType::f64:
      return append<double>(bytes, a.real().value());
    case DType::f32:
    case DType::f16:
    case DType::bf16: {
      // From the digits again: through double it would be rounded twice.
      float f = static_cast<float>(a.real().value());
      if (at.kind == TokenKind::real) {
        float exact = 0;
        if (std::from_chars(at.text.data(), at.text.data() + at.text.size(), exact).ec ==
            std::errc())
          f = negative ? -exact : exact;
      }
      if (dtype == DType::f32) return append<float>(bytes, f);
      return append<uint16_t>(bytes, dtype == DType::f16 ? f32_to_f16(f) : f32_to_bf16(f));
    }
    default:
      break;
  }
  int64_t v = a.integer().value();
  switch (dtype) {
    case DType::u8:
      return append(bytes, static_cast<uint8_t>(in_range(at, v, 0, UINT8_MAX)));
    case DType::u16:
      return append(bytes, static_cast<uint16_t>(in_range(at, v, 0, UINT16_MAX)));
    case DType::u32:
      return append(bytes, static_cast<uint32_t>(in_range(at, v, 0, UINT32_MAX)));
    case DType::i8:
      return append(bytes, static_cast<int8_t>(in_range(at, v, INT8_MIN, INT8_MAX)));
    case DType::i16:
      return append(bytes, static_cast<int16_t>(in_range(at, v, INT16_MIN, INT16_MAX)));
    case DType::i32:
      return append(bytes, static_cast<int32_t>(in_range(at, v, INT32_MIN, INT32_MAX)));
    default:
      fail_at(at, "elements of this dtype cannot be written out");
  }
}
int64_t Reader::in_range(const Token& at, int64_t v, int64_t low, int64_t high) {
  if (v < low || v > high) fail_at(at, "this element does not fit the dtype");
  return v;
}

}  // namespace lathe::ir
