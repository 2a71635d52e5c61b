#include "core/scalar/element.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace lathe {
namespace {

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

int64_t saturate(double v) {
  if (v != v) return 0;
  if (v >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (v <= -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

// Float to a narrower integer saturates at that type's own bounds.
template <class T>
T saturate_to(double v) {
  int64_t wide = saturate(v);
  if (wide > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  if (wide < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  return static_cast<T>(wide);
}

uint64_t saturate_unsigned(double v) {
  if (v >= 0x1p64) return std::numeric_limits<uint64_t>::max();
  return v > 0 ? static_cast<uint64_t>(v) : 0;
}

// double -> f16 or bf16 through f32 would round twice. Rounding the first step to odd makes the
// second exact: f32 keeps more than two bits beyond either.
float round_to_odd(double v) {
  auto f = static_cast<float>(v);
  if (static_cast<double>(f) == v || v != v || f - f != 0) return f;
  auto bits = std::bit_cast<uint32_t>(f);
  if ((bits & 1) != 0) return f;
  bool away = (f > v) == (v > 0);  // rounded away from zero: step back to the odd neighbour
  return std::bit_cast<float>(away ? bits - 1 : bits + 1);
}

[[noreturn]] void not_storable(DType dtype) {
  throw UnsupportedError(
      {.problem = "no tensor has this element type yet", .got = std::string(name(dtype))});
}

}  // namespace

double element_double(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::f16:
      return f16_to_f32(read<uint16_t>(at));
    case DType::bf16:
      return bf16_to_f32(read<uint16_t>(at));
    case DType::f32:
    case DType::c64:
      return read<float>(at);
    case DType::f64:
    case DType::c128:
      return read<double>(at);
    case DType::u64:
      return static_cast<double>(read<uint64_t>(at));
    default:
      return static_cast<double>(element_int(dtype, at));
  }
}

double element_imaginary(DType dtype, const std::byte* at) {
  if (!is_complex(dtype)) return 0;
  return element_double(real_type(dtype), at + size_of(real_type(dtype)));
}

int64_t element_int(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::bool_:
      return read<uint8_t>(at) != 0;
    case DType::u8:
      return read<uint8_t>(at);
    case DType::i8:
      return read<int8_t>(at);
    case DType::i16:
      return read<int16_t>(at);
    case DType::i32:
      return read<int32_t>(at);
    case DType::i64:
    case DType::u64:
      return read<int64_t>(at);
    case DType::u16:
      return read<uint16_t>(at);
    case DType::u32:
      return read<uint32_t>(at);
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128:
      return saturate(element_double(dtype, at));
    default:
      not_storable(dtype);
  }
}

uint64_t element_bits(DType dtype, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, std::min(size_of(dtype), sizeof bits));
  return bits;
}

void store_element(DType dtype, std::byte* at, double value) {
  switch (dtype) {
    case DType::bool_:
      return write<uint8_t>(at, value != 0);
    case DType::u8:
      return write(at, saturate_to<uint8_t>(value));
    case DType::i8:
      return write(at, saturate_to<int8_t>(value));
    case DType::i16:
      return write(at, saturate_to<int16_t>(value));
    case DType::i32:
      return write(at, saturate_to<int32_t>(value));
    case DType::i64:
      return write(at, saturate(value));
    case DType::u16:
      return write(at, saturate_to<uint16_t>(value));
    case DType::u32:
      return write(at, saturate_to<uint32_t>(value));
    case DType::u64:
      return write(at, saturate_unsigned(value));
    case DType::f16:
      return write(at, f32_to_f16(round_to_odd(value)));
    case DType::bf16:
      return write(at, f32_to_bf16(round_to_odd(value)));
    case DType::f32:
      return write(at, static_cast<float>(value));
    case DType::f64:
      return write(at, value);
    case DType::c64:
    case DType::c128:
      return store_complex(dtype, at, value, 0);
    default:
      not_storable(dtype);
  }
}

void store_complex(DType dtype, std::byte* at, double real, double imaginary) {
  const DType part = real_type(dtype);
  store_element(part, at, real);
  store_element(part, at + size_of(part), imaginary);
}

void store_element(DType dtype, std::byte* at, int64_t value) {
  switch (dtype) {
    case DType::bool_:
      return write<uint8_t>(at, value != 0);
    case DType::u8:
      return write(at, static_cast<uint8_t>(value));
    case DType::i8:
      return write(at, static_cast<int8_t>(value));
    case DType::i16:
      return write(at, static_cast<int16_t>(value));
    case DType::i32:
      return write(at, static_cast<int32_t>(value));
    case DType::i64:
    case DType::u64:
      return write(at, value);
    case DType::u16:
      return write(at, static_cast<uint16_t>(value));
    case DType::u32:
      return write(at, static_cast<uint32_t>(value));
    case DType::f32:
      return write(at, static_cast<float>(value));  // once, not through double
    case DType::f64:
      return write(at, static_cast<double>(value));
    case DType::c64:
    case DType::c128:
      store_element(real_type(dtype), at, value);
      return store_element(real_type(dtype), at + size_of(real_type(dtype)), int64_t{0});
    case DType::f16:
    case DType::bf16:
      // Exact to 2^53; larger values overflow f16, and for bf16 their low bits only need to be
      // sticky.
      if (value > (int64_t{1} << 53) || value < -(int64_t{1} << 53))
        value = (value >> 10 << 10) | ((value & 1023) != 0 ? 1024 : 0);
      return store_element(dtype, at, static_cast<double>(value));
    default:
      not_storable(dtype);
  }
}

}  // namespace lathe
