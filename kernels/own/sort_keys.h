// The one total order of elements that sorting, searching and choosing by rank go by: each becomes
// an unsigned key that compares as the values do, with -0 equal to 0 and every NaN equal and
// largest.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/base/error.h"
#include "core/scalar/dtype.h"

namespace lathe::own {

/// Floats of any width by their bits: magnitude bits, then the sign decides the direction.
template <class U>
U float_key(U bits, U infinity) {
  constexpr U kSign = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  U magnitude = static_cast<U>(bits & static_cast<U>(~kSign));
  if (magnitude > infinity) return static_cast<U>(~U{0});
  if (magnitude == 0) return kSign;
  return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
}

template <class T, class U>
struct IntegerKey {
  using Stored = T;
  using Key = U;
  static Key key(T x) {
    constexpr U kFlip = std::is_signed_v<T> ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0};
    return static_cast<U>(static_cast<U>(x) ^ kFlip);
  }
  static T value(T x) { return x; }
};
template <class U, U Infinity>
struct FloatKey {
  using Stored = U;
  using Key = U;
  static Key key(U bits) { return float_key<U>(bits, Infinity); }
  /// What compares as the keys do, but for NaN.
  static auto value(U bits) {
    if constexpr (sizeof(U) == 4)
      return std::bit_cast<float>(bits);
    else if constexpr (sizeof(U) == 8)
      return std::bit_cast<double>(bits);
    else
      return key(bits);
  }
};

template <class F>
void by_key(DType d, F f) {
  switch (d) {
    case DType::bool_:
    case DType::u8:
      return f(IntegerKey<uint8_t, uint8_t>{});
    case DType::u16:
      return f(IntegerKey<uint16_t, uint16_t>{});
    case DType::u32:
      return f(IntegerKey<uint32_t, uint32_t>{});
    case DType::u64:
      return f(IntegerKey<uint64_t, uint64_t>{});
    case DType::i8:
      return f(IntegerKey<int8_t, uint8_t>{});
    case DType::i16:
      return f(IntegerKey<int16_t, uint16_t>{});
    case DType::i32:
      return f(IntegerKey<int32_t, uint32_t>{});
    case DType::i64:
      return f(IntegerKey<int64_t, uint64_t>{});
    case DType::f16:
      return f(FloatKey<uint16_t, 0x7c00>{});
    case DType::bf16:
      return f(FloatKey<uint16_t, 0x7f80>{});
    case DType::f32:
      return f(FloatKey<uint32_t, 0x7f800000u>{});
    case DType::f64:
      return f(FloatKey<uint64_t, 0x7ff0000000000000ull>{});
    default:
      LATHE_INTERNAL("no order is defined on this dtype");
  }
}

}  // namespace lathe::own
