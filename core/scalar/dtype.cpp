#include "core/scalar/dtype.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace lathe {
namespace {

struct Alias {
  std::string_view text;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"float", DType::f32}, {"double", DType::f64},   {"half", DType::f16},   {"int", DType::i32},
    {"long", DType::i64},  {"short", DType::i16},    {"cfloat", DType::c64}, {"byte", DType::u8},
    {"char", DType::i8},   {"cdouble", DType::c128},
};

// The lattice: bool < {u8, i8} < i16 < i32 < i64 < {f16, bf16} < f32 < f64 < c128, and c64 between
// f32 and c128. Any integer meets a float in that float; the two halves meet in f32. Two integers
// meet in the least dtype that holds the values of both, and u64 and a signed one have none.
constexpr int kTensorTypes = 15;
constexpr auto promotions = [] {
  using enum DType;
  constexpr DType B = bool_, U = u8, H = f16, Q = bf16, F = f32, D = f64, C = c64, Z = c128;
  constexpr DType n = i4;  // no tensor has it: they do not meet
  return std::array<std::array<DType, kTensorTypes>, kTensorTypes>{{
      // bool  u8  i8   i16  i32  i64  f16 bf16 f32 f64 c64 u16 u32 u64 c128
      {B, U, i8, i16, i32, i64, H, Q, F, D, C, u16, u32, u64, Z},       // bool
      {U, U, i16, i16, i32, i64, H, Q, F, D, C, u16, u32, u64, Z},      // u8
      {i8, i16, i8, i16, i32, i64, H, Q, F, D, C, i32, i64, n, Z},      // i8
      {i16, i16, i16, i16, i32, i64, H, Q, F, D, C, i32, i64, n, Z},    // i16
      {i32, i32, i32, i32, i32, i64, H, Q, F, D, C, i32, i64, n, Z},    // i32
      {i64, i64, i64, i64, i64, i64, H, Q, F, D, C, i64, i64, n, Z},    // i64
      {H, H, H, H, H, H, H, F, F, D, C, H, H, H, Z},                    // f16
      {Q, Q, Q, Q, Q, Q, F, Q, F, D, C, Q, Q, Q, Z},                    // bf16
      {F, F, F, F, F, F, F, F, F, D, C, F, F, F, Z},                    // f32
      {D, D, D, D, D, D, D, D, D, D, Z, D, D, D, Z},                    // f64
      {C, C, C, C, C, C, C, C, C, Z, C, C, C, C, Z},                    // c64
      {u16, u16, i32, i32, i32, i64, H, Q, F, D, C, u16, u32, u64, Z},  // u16
      {u32, u32, i64, i64, i64, i64, H, Q, F, D, C, u32, u32, u64, Z},  // u32
      {u64, u64, n, n, n, n, H, Q, F, D, C, u64, u64, u64, Z},          // u64
      {Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z},                    // c128
  }};
}();

constinit std::atomic<DType> default_float{DType::f32};

}  // namespace

bool parse_dtype(std::string_view text, DType& out) {
  for (int i = 0; i < kDTypeCodes; i++) {
    if (text == kDTypeInfo[i].name || text == kDTypeInfo[i].short_name) {
      out = static_cast<DType>(i);
      return true;
    }
  }
  for (const Alias& alias : kAliases) {
    if (text == alias.text) {
      out = alias.dtype;
      return true;
    }
  }
  return false;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
  if (i < kTensorTypes && j < kTensorTypes && info(promotions[i][j]).tensor)
    return promotions[i][j];
  throw DTypeError({.problem = "two element types have no common type",
                    .got = absl::StrCat(name(a), " and ", name(b)),
                    .next = "cast one of them first"});
}

IntegerRange range_of(DType integer) {
  if (integer == DType::bool_) return {0, 1};
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * size_of(integer));
  if (!is_signed(integer)) return {0, all};
  return {-static_cast<int64_t>(all >> 1) - 1, all >> 1};
}

namespace {

[[noreturn]] void out_of_range(std::string_view op, DType dtype, std::string written) {
  IntegerRange r = range_of(dtype);
  throw OverflowError({.op = std::string(op),
                       .problem = absl::StrCat("a number is not in the range of ", name(dtype)),
                       .got = std::move(written),
                       .expected = absl::StrCat(r.low, " to ", r.high),
                       .next = "choose a wider dtype or a float one, for a tensor by .to(dtype)"});
}

}  // namespace

void require_in_range(std::string_view op, DType dtype, int64_t number) {
  if (!integers.has(dtype)) return;
  IntegerRange r = range_of(dtype);
  if (!r.has(number)) out_of_range(op, dtype, absl::StrCat(number));
}

void require_in_range(std::string_view op, DType dtype, double number) {
  if (!integers.has(dtype)) return;
  IntegerRange r = range_of(dtype);
  double whole = std::trunc(number);  // 2^63 itself is a double, and 2^63 - 1 is none
  if (!(whole >= static_cast<double>(r.low) && whole < static_cast<double>(r.high) + 1.0))
    out_of_range(op, dtype, absl::StrFormat("%.17g", number));
}

DType default_dtype() { return default_float.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  if (!is_floating(dtype)) {
    throw DTypeError({.op = "set_default_dtype",
                      .problem = "the default element type is a floating one",
                      .got = std::string(name(dtype)),
                      .expected = "float16, bfloat16, float32 or float64",
                      .next = "pass dtype= where a tensor of integers is wanted"});
  }
  default_float.store(dtype, std::memory_order_relaxed);
}

uint16_t f32_to_f16(float x) {
  auto u = std::bit_cast<uint32_t>(x);
  uint32_t sign = (u >> 16) & 0x8000u;
  uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u)  // NaN: quiet, upper payload kept, as vcvtps2ph does
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to >= 65520
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 leaves the value, rounded to a multiple of 2^-24, in the low bits.
    float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u));
  }
  uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

float f16_to_f32(uint16_t x) {
  uint32_t sign = static_cast<uint32_t>(x & 0x8000u) << 16;
  uint32_t magnitude = x & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity or NaN, made quiet
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13) |
                                (magnitude > 0x7c00u ? 0x400000u : 0u));
  if (magnitude < 0x400u) {  // zero or subnormal: exact in f32
    float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

}  // namespace lathe
