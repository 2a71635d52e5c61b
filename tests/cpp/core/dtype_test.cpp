#include "core/scalar/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

TEST(DType, CodesAreForEver) {
  EXPECT_EQ(static_cast<int>(DType::i64), 5);
  EXPECT_EQ(static_cast<int>(DType::f32), 8);
  EXPECT_EQ(static_cast<int>(DType::c64), 10);
  EXPECT_EQ(static_cast<int>(DType::i4), 17);
}

TEST(DType, NamesReadBack) {
  for (int i = 0; i < kDTypeCodes; i++) {
    auto d = static_cast<DType>(i);
    DType read{};
    ASSERT_TRUE(parse_dtype(info(d).name, read));
    EXPECT_EQ(read, d);
    ASSERT_TRUE(parse_dtype(info(d).short_name, read));
    EXPECT_EQ(read, d);
    EXPECT_EQ(info(d).tensor, all_dtypes.has(d));
  }
  DType read{};
  EXPECT_TRUE(parse_dtype("float", read));
  EXPECT_EQ(read, DType::f32);
  EXPECT_FALSE(parse_dtype("float33", read));
}

TEST(DType, PromotionIsALattice) {
  constexpr DType all[] = {DType::bool_, DType::u8,  DType::i8,   DType::i16, DType::i32,
                           DType::i64,   DType::f16, DType::bf16, DType::f32, DType::f64};
  for (DType a : all) {
    EXPECT_EQ(promote(a, a), a);
    EXPECT_EQ(promote(DType::bool_, a), a);
    for (DType b : all) {
      EXPECT_EQ(promote(a, b), promote(b, a));
      EXPECT_EQ(promote(a, promote(a, b)), promote(a, b));
      for (DType c : all) EXPECT_EQ(promote(promote(a, b), c), promote(a, promote(b, c)));
    }
  }
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::i64, DType::c64), DType::c64);
  EXPECT_EQ(promote(DType::c64, DType::f64), DType::c128);
  EXPECT_EQ(promote(DType::c64, DType::c128), DType::c128);
}

TEST(DType, TwoIntegersMeetInTheLeastThatHoldsBoth) {
  constexpr DType all[] = {DType::bool_, DType::u8,  DType::i8,  DType::i16, DType::i32,
                           DType::i64,   DType::u16, DType::u32, DType::u64};
  auto holds = [](DType wide, DType d) {
    return range_of(wide).low <= range_of(d).low && range_of(d).high <= range_of(wide).high;
  };
  for (DType a : all)
    for (DType b : all) {
      const DType* least = nullptr;
      for (const DType& c : all)
        if (holds(c, a) && holds(c, b) && (least == nullptr || holds(*least, c))) least = &c;
      if (least == nullptr)
        EXPECT_THROW(promote(a, b), DTypeError) << name(a) << " and " << name(b);
      else
        EXPECT_EQ(promote(a, b), *least) << name(a) << " and " << name(b);
    }
}

TEST(DType, WideUnsignedIntegersMeetFloatsInThem) {
  for (DType d : {DType::u16, DType::u32, DType::u64})
    for (DType other : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128}) {
      EXPECT_EQ(promote(d, other), other);
      EXPECT_EQ(promote(other, d), other);
    }
  EXPECT_THROW(promote(DType::f8e4m3, DType::f32), DTypeError);
}

TEST(DType, DefaultIsSettable) {
  EXPECT_EQ(default_dtype(), DType::f32);
  set_default_dtype(DType::f64);
  EXPECT_EQ(default_dtype(), DType::f64);
  set_default_dtype(DType::f32);
  EXPECT_THROW(set_default_dtype(DType::i32), DTypeError);
}

TEST(DType, HalfRoundTripsEveryValue) {
  for (uint32_t h = 0; h < 0x10000; h++) {
    float f = f16_to_f32(static_cast<uint16_t>(h));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(f))));
      continue;
    }
    ASSERT_EQ(f32_to_f16(f), h) << f;
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(static_cast<uint16_t>(h))) & 0x7fff,
              std::isnan(bf16_to_f32(static_cast<uint16_t>(h))) ? (h & 0x7fff) | 0x40 : h & 0x7fff);
  }
}

// Against the definition: the nearest half, ties to the even one, for values around every midpoint.
TEST(DType, HalfRoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x7c00; h++) {
    double low = f16_to_f32(static_cast<uint16_t>(h));
    double high = h + 1 == 0x7c00 ? 65536.0 : f16_to_f32(static_cast<uint16_t>(h + 1));
    auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(f32_to_f16(middle), (h & 1) ? h + 1 : h) << middle;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 0.0f)), h);
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 1e9f)), h + 1);
    ASSERT_EQ(f32_to_f16(-middle), ((h & 1) ? h + 1 : h) | 0x8000);
  }
  EXPECT_EQ(f32_to_f16(1e30f), 0x7c00);
  EXPECT_EQ(f32_to_f16(0x1p-30f), 0);
}

TEST(DType, BrainFloatRoundsToNearestEven) {
  for (uint32_t h = 1; h < 0x7f80; h++) {
    auto middle = std::bit_cast<float>((h << 16) | 0x8000u);
    ASSERT_EQ(f32_to_bf16(middle), (h & 1) ? h + 1 : h);
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>((h << 16) | 0x7fffu)), h);
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>((h << 16) | 0x8001u)), h + 1);
  }
}

template <class V>
std::byte* stored(DType d, V value) {
  static std::byte at[16];
  store_element(d, at, value);
  return at;
}

TEST(Element, StoresAndReads) {
  constexpr DType all[] = {DType::u8,  DType::i8,   DType::i16, DType::i32, DType::i64,
                           DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64,
                           DType::u16, DType::u32,  DType::u64, DType::c128};
  for (DType d : all) {
    EXPECT_EQ(element_double(d, stored(d, 5.0)), 5.0);
    EXPECT_EQ(element_int(d, stored(d, int64_t{5})), 5);
  }
  EXPECT_EQ(element_int(DType::bool_, stored(DType::bool_, 0.5)), 1);
  EXPECT_EQ(element_int(DType::u8, stored(DType::u8, int64_t{257})), 1);
  EXPECT_EQ(element_int(DType::u8, stored(DType::u8, 300.0)), 255);
  EXPECT_EQ(element_int(DType::i8, stored(DType::i8, -300.0)), -128);
  EXPECT_EQ(element_int(DType::u16, stored(DType::u16, int64_t{-1})), 65535);
  EXPECT_EQ(element_int(DType::u32, stored(DType::u32, 1e30)), 4294967295);
  EXPECT_EQ(element_bits(DType::u64, stored(DType::u64, int64_t{-1})), ~uint64_t{0});
  EXPECT_EQ(element_double(DType::u64, stored(DType::u64, 0x1p63)), 0x1p63);
  EXPECT_EQ(element_bits(DType::u64, stored(DType::u64, 1e30)), ~uint64_t{0});
  EXPECT_EQ(element_bits(DType::u64, stored(DType::u64, -1.0)), 0u);
  EXPECT_EQ(element_double(DType::c128, stored(DType::c128, 0.1)), 0.1);
  EXPECT_EQ(element_int(DType::i64, stored(DType::i64, std::nan(""))), 0);
  EXPECT_EQ(element_int(DType::f64, stored(DType::f64, 1e300)),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(element_bits(DType::f32, stored(DType::f32, 1.0)), 0x3f800000u);
  EXPECT_EQ(element_bits(DType::f16, stored(DType::f16, -2.0)), 0xc000u);
}

TEST(Element, DoubleToHalfRoundsOnce) {
  // Just above a midpoint of halves by less than f32 can see: through f32 it would tie to even.
  double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(element_double(DType::f16, stored(DType::f16, value)), 1.0 + 0x1p-10);
  EXPECT_EQ(element_double(DType::f16, stored(DType::f16, -value)), -1.0 - 0x1p-10);
  double below = 1.0 + 3 * 0x1p-11 - 0x1p-40;
  EXPECT_EQ(element_double(DType::f16, stored(DType::f16, below)), 1.0 + 0x1p-10);
  EXPECT_EQ(element_double(DType::bf16, stored(DType::bf16, 1.0 + 0x1p-8 + 0x1p-40)), 1.0 + 0x1p-7);
  int64_t big = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;  // just above a bf16 midpoint
  EXPECT_EQ(element_double(DType::bf16, stored(DType::bf16, big)), 0x1p60 + 0x1p53);
}

}  // namespace
}  // namespace lathe
