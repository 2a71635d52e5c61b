// Element types, their codes (which files and the C interface store: never renumber), and
// promotion.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace lathe {

enum class DType : uint8_t {
  bool_ = 0,
  u8 = 1,
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  f16 = 6,
  bf16 = 7,
  f32 = 8,
  f64 = 9,
  c64 = 10,
  u16 = 11,
  u32 = 12,
  u64 = 13,
  c128 = 14,
  // Reserved codes: no tensor has them yet.
  f8e4m3 = 15,
  f8e5m2 = 16,
  i4 = 17,
};
inline constexpr int kDTypeCodes = 18;

struct DTypeInfo {
  std::string_view name;        // as users write it: "float32"
  std::string_view short_name;  // as the text IR writes it: "f32"
  uint8_t bytes;                // 0: not storable yet
  bool tensor;                  // a tensor may have it
};
/// Every type, by its code. In the header, as sizes are asked many times a call.
inline constexpr std::array<DTypeInfo, kDTypeCodes> kDTypeInfo = {{
    {"bool", "bool", 1, true},
    {"uint8", "u8", 1, true},
    {"int8", "i8", 1, true},
    {"int16", "i16", 2, true},
    {"int32", "i32", 4, true},
    {"int64", "i64", 8, true},
    {"float16", "f16", 2, true},
    {"bfloat16", "bf16", 2, true},
    {"float32", "f32", 4, true},
    {"float64", "f64", 8, true},
    {"complex64", "c64", 8, true},
    {"uint16", "u16", 2, true},
    {"uint32", "u32", 4, true},
    {"uint64", "u64", 8, true},
    {"complex128", "c128", 16, true},
    {"float8_e4m3", "f8e4m3", 1, false},
    {"float8_e5m2", "f8e5m2", 1, false},
    {"int4", "i4", 0, false},
}};
inline const DTypeInfo& info(DType dtype) { return kDTypeInfo[static_cast<size_t>(dtype)]; }
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline size_t size_of(DType dtype) { return info(dtype).bytes; }
/// Accepts long and short names ("float32", "f32", "float"); nullopt-like: returns false.
bool parse_dtype(std::string_view text, DType& out);

class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> list) {
    for (DType d : list) bits_ |= bit(d);
  }
  constexpr bool has(DType d) const { return (bits_ & bit(d)) != 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ | b.bits_);
  }

 private:
  constexpr explicit DTypeSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(DType d) { return 1u << static_cast<int>(d); }
  uint32_t bits_ = 0;
};

inline constexpr DTypeSet unsigned_integers{DType::u8, DType::u16, DType::u32, DType::u64};
inline constexpr DTypeSet integers =
    unsigned_integers | DTypeSet{DType::i8, DType::i16, DType::i32, DType::i64};
inline constexpr DTypeSet floating{DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr DTypeSet complexes{DType::c64, DType::c128};
inline constexpr DTypeSet differentiable = floating | complexes;
inline constexpr DTypeSet numbers = integers | floating | complexes;
inline constexpr DTypeSet real_numbers = integers | floating;
inline constexpr DTypeSet all_dtypes = numbers | DTypeSet{DType::bool_};
inline constexpr DTypeSet real_dtypes = real_numbers | DTypeSet{DType::bool_};

inline bool is_floating(DType d) { return floating.has(d); }
inline bool is_complex(DType d) { return complexes.has(d); }
inline bool is_integer(DType d) { return integers.has(d); }
/// Are there values below 0?
inline bool is_signed(DType d) { return d != DType::bool_ && !unsigned_integers.has(d); }

/// The least and the greatest value of bool or of an integer dtype.
struct IntegerRange {
  int64_t low = 0;
  uint64_t high = 0;
  bool has(int64_t n) const { return low <= n && (n < 0 || static_cast<uint64_t>(n) <= high); }
};
IntegerRange range_of(DType integer);
/// OverflowError, naming `op`, where a number that a program wrote out is not in an integer dtype's
/// range; of a real one the fraction goes. Other dtypes take any number.
void require_in_range(std::string_view op, DType dtype, int64_t number);
void require_in_range(std::string_view op, DType dtype, double number);

/// The type two tensors of equal standing meet in: the least type of the lattice above both.
/// PyTorch refuses u16, u32 and u64 with other integers, the array-API standard does not. u64 and a
/// signed integer have none: DTypeError.
DType promote(DType a, DType b);

/// The type arithmetic on `d` is done in: f32 for f16 and bf16, else `d`. Results are rounded back.
inline DType compute_type(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }
inline bool is_narrow(DType d) { return compute_type(d) != d; }
/// The real type of a complex type's parts; `d` itself if it is not complex.
inline DType real_type(DType d) {
  return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d;
}

/// The complex type with parts of a floating type, of f32 for the halves; a complex type itself.
inline DType complex_type(DType d) { return real_type(d) == DType::f64 ? DType::c128 : DType::c64; }
/// How many real numbers an element is.
inline size_t parts_of(DType d) { return is_complex(d) ? 2 : 1; }

/// bool < integer < floating < complex, as 0 to 3. A plain number or a 0-d tensor changes the dtype
/// that tensors have in common only where it is of a higher category.
inline int category(DType d) {
  return is_complex(d) ? 3 : is_floating(d) ? 2 : d == DType::bool_ ? 0 : 1;
}

/// What creates float tensors when nobody says: float32 unless set. Thread-safe.
DType default_dtype();
void set_default_dtype(DType dtype);

// Half-precision conversions: round to nearest even, subnormals kept. One definition, used by every
// scalar path; the SIMD interpreter and generated code are tested against these.
uint16_t f32_to_f16(float x);
float f16_to_f32(uint16_t x);
inline float bf16_to_f32(uint16_t x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
}
inline uint16_t f32_to_bf16(float x) {
  auto u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
  return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

}  // namespace lathe
