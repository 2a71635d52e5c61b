// F32 and F64 of core/math.h as 256-bit vectors. Included only by the *_avx2.cpp files.
//
// Everything is in an unnamed namespace and always_inline: no symbol made with these instructions
// may be one that the linker could pick for code that must run elsewhere.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12's own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define LATHE_SIMD [[gnu::always_inline]] inline

namespace lathe {
namespace {

struct F32 {
  using Scalar = float;
  using Word = uint32_t;

  struct Mask {
    __m256 m;
    LATHE_SIMD friend Mask operator&(Mask a, Mask b) { return {_mm256_and_ps(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator|(Mask a, Mask b) { return {_mm256_or_ps(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator^(Mask a, Mask b) { return {_mm256_xor_ps(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator~(Mask a) {
      return {_mm256_xor_ps(a.m, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))};
    }
  };
  struct Bits {
    __m256i v;
    Bits() = default;
    LATHE_SIMD explicit Bits(Word w) : v(_mm256_set1_epi32(static_cast<int>(w))) {}
    LATHE_SIMD explicit Bits(__m256i x) : v(x) {}
    LATHE_SIMD friend Bits operator+(Bits a, Bits b) { return Bits(_mm256_add_epi32(a.v, b.v)); }
    LATHE_SIMD friend Bits operator-(Bits a, Bits b) { return Bits(_mm256_sub_epi32(a.v, b.v)); }
    LATHE_SIMD friend Bits operator&(Bits a, Bits b) { return Bits(_mm256_and_si256(a.v, b.v)); }
    LATHE_SIMD friend Bits operator|(Bits a, Bits b) { return Bits(_mm256_or_si256(a.v, b.v)); }
    LATHE_SIMD friend Bits operator^(Bits a, Bits b) { return Bits(_mm256_xor_si256(a.v, b.v)); }
  };

  __m256 v;
  F32() = default;
  LATHE_SIMD explicit F32(float x) : v(_mm256_set1_ps(x)) {}
  LATHE_SIMD explicit F32(__m256 x) : v(x) {}

  LATHE_SIMD friend F32 operator+(F32 a, F32 b) { return F32(_mm256_add_ps(a.v, b.v)); }
  LATHE_SIMD friend F32 operator-(F32 a, F32 b) { return F32(_mm256_sub_ps(a.v, b.v)); }
  LATHE_SIMD friend F32 operator*(F32 a, F32 b) { return F32(_mm256_mul_ps(a.v, b.v)); }
  LATHE_SIMD friend F32 operator/(F32 a, F32 b) { return F32(_mm256_div_ps(a.v, b.v)); }
  LATHE_SIMD friend F32 operator-(F32 a) { return F32(_mm256_xor_ps(a.v, _mm256_set1_ps(-0.f))); }

  LATHE_SIMD static F32 fma(F32 a, F32 b, F32 c) { return F32(_mm256_fmadd_ps(a.v, b.v, c.v)); }
  LATHE_SIMD static F32 sqrt(F32 a) { return F32(_mm256_sqrt_ps(a.v)); }
  LATHE_SIMD static F32 abs(F32 a) { return F32(_mm256_andnot_ps(_mm256_set1_ps(-0.f), a.v)); }
  LATHE_SIMD static F32 rint(F32 a) { return F32(_mm256_round_ps(a.v, 0x08)); }
  LATHE_SIMD static F32 floor(F32 a) { return F32(_mm256_round_ps(a.v, 0x09)); }
  LATHE_SIMD static F32 ceil(F32 a) { return F32(_mm256_round_ps(a.v, 0x0a)); }
  LATHE_SIMD static F32 trunc(F32 a) { return F32(_mm256_round_ps(a.v, 0x0b)); }
  LATHE_SIMD static F32 pmin(F32 a, F32 b) { return F32(_mm256_min_ps(a.v, b.v)); }
  LATHE_SIMD static F32 pmax(F32 a, F32 b) { return F32(_mm256_max_ps(a.v, b.v)); }

  LATHE_SIMD static Mask lt(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
  LATHE_SIMD static Mask le(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
  LATHE_SIMD static Mask eq(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
  LATHE_SIMD static Mask ne(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_NEQ_UQ)}; }
  LATHE_SIMD static Mask unordered(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_UNORD_Q)}; }
  LATHE_SIMD static bool any(Mask m) { return _mm256_movemask_ps(m.m) != 0; }
  LATHE_SIMD static Mask bits_lt(Bits a, Bits b) {
    return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.v, a.v))};
  }
  LATHE_SIMD static Mask bits_eq(Bits a, Bits b) {
    return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))};
  }
  LATHE_SIMD static F32 select(Mask m, F32 yes, F32 no) {
    return F32(_mm256_blendv_ps(no.v, yes.v, m.m));
  }
  LATHE_SIMD static Bits select(Mask m, Bits yes, Bits no) {
    return Bits(_mm256_blendv_epi8(no.v, yes.v, _mm256_castps_si256(m.m)));
  }

  LATHE_SIMD static Bits shl(Bits a, int n) { return Bits(_mm256_slli_epi32(a.v, n)); }
  LATHE_SIMD static Bits shr(Bits a, int n) { return Bits(_mm256_srli_epi32(a.v, n)); }
  LATHE_SIMD static Bits bits(F32 a) { return Bits(_mm256_castps_si256(a.v)); }
  LATHE_SIMD static F32 frombits(Bits a) { return F32(_mm256_castsi256_ps(a.v)); }
  LATHE_SIMD static F32 round_magic(F32 x, F32 c) {
    F32 m(12582912.f);
    return fma(x, c, m) - m;
  }
  LATHE_SIMD static F32 addexp(F32 x, F32 n) {
    return frombits(bits(x) + shl(bits(n + F32(12582912.f)), 23));
  }
  LATHE_SIMD static Bits to_int(F32 n) { return Bits(_mm256_cvtps_epi32(n.v)); }
  LATHE_SIMD static F32 from_int(Bits n) { return F32(_mm256_cvtepi32_ps(n.v)); }
  template <class Slow>
  LATHE_SIMD static F32 rare(Mask m, F32 fast, Slow slow) {
    if (any(m)) [[unlikely]]
      return select(m, slow(), fast);
    return fast;
  }
};

struct F64 {
  using Scalar = double;
  using Word = uint64_t;

  struct Mask {
    __m256d m;
    LATHE_SIMD friend Mask operator&(Mask a, Mask b) { return {_mm256_and_pd(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator|(Mask a, Mask b) { return {_mm256_or_pd(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator^(Mask a, Mask b) { return {_mm256_xor_pd(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator~(Mask a) {
      return {_mm256_xor_pd(a.m, _mm256_castsi256_pd(_mm256_set1_epi32(-1)))};
    }
  };
  struct Bits {
    __m256i v;
    Bits() = default;
    LATHE_SIMD explicit Bits(Word w) : v(_mm256_set1_epi64x(static_cast<long long>(w))) {}
    LATHE_SIMD explicit Bits(__m256i x) : v(x) {}
    LATHE_SIMD friend Bits operator+(Bits a, Bits b) { return Bits(_mm256_add_epi64(a.v, b.v)); }
    LATHE_SIMD friend Bits operator-(Bits a, Bits b) { return Bits(_mm256_sub_epi64(a.v, b.v)); }
    LATHE_SIMD friend Bits operator&(Bits a, Bits b) { return Bits(_mm256_and_si256(a.v, b.v)); }
    LATHE_SIMD friend Bits operator|(Bits a, Bits b) { return Bits(_mm256_or_si256(a.v, b.v)); }
    LATHE_SIMD friend Bits operator^(Bits a, Bits b) { return Bits(_mm256_xor_si256(a.v, b.v)); }
  };

  __m256d v;
  F64() = default;
  LATHE_SIMD explicit F64(double x) : v(_mm256_set1_pd(x)) {}
  LATHE_SIMD explicit F64(__m256d x) : v(x) {}

  LATHE_SIMD friend F64 operator+(F64 a, F64 b) { return F64(_mm256_add_pd(a.v, b.v)); }
  LATHE_SIMD friend F64 operator-(F64 a, F64 b) { return F64(_mm256_sub_pd(a.v, b.v)); }
  LATHE_SIMD friend F64 operator*(F64 a, F64 b) { return F64(_mm256_mul_pd(a.v, b.v)); }
  LATHE_SIMD friend F64 operator/(F64 a, F64 b) { return F64(_mm256_div_pd(a.v, b.v)); }
  LATHE_SIMD friend F64 operator-(F64 a) { return F64(_mm256_xor_pd(a.v, _mm256_set1_pd(-0.))); }

  LATHE_SIMD static F64 fma(F64 a, F64 b, F64 c) { return F64(_mm256_fmadd_pd(a.v, b.v, c.v)); }
  LATHE_SIMD static F64 sqrt(F64 a) { return F64(_mm256_sqrt_pd(a.v)); }
  LATHE_SIMD static F64 abs(F64 a) { return F64(_mm256_andnot_pd(_mm256_set1_pd(-0.), a.v)); }
  LATHE_SIMD static F64 rint(F64 a) { return F64(_mm256_round_pd(a.v, 0x08)); }
  LATHE_SIMD static F64 floor(F64 a) { return F64(_mm256_round_pd(a.v, 0x09)); }
  LATHE_SIMD static F64 ceil(F64 a) { return F64(_mm256_round_pd(a.v, 0x0a)); }
  LATHE_SIMD static F64 trunc(F64 a) { return F64(_mm256_round_pd(a.v, 0x0b)); }
  LATHE_SIMD static F64 pmin(F64 a, F64 b) { return F64(_mm256_min_pd(a.v, b.v)); }
  LATHE_SIMD static F64 pmax(F64 a, F64 b) { return F64(_mm256_max_pd(a.v, b.v)); }

  LATHE_SIMD static Mask lt(F64 a, F64 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)}; }
  LATHE_SIMD static Mask le(F64 a, F64 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LE_OQ)}; }
  LATHE_SIMD static Mask eq(F64 a, F64 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_EQ_OQ)}; }
  LATHE_SIMD static Mask ne(F64 a, F64 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_NEQ_UQ)}; }
  LATHE_SIMD static Mask unordered(F64 a, F64 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_UNORD_Q)}; }
  LATHE_SIMD static bool any(Mask m) { return _mm256_movemask_pd(m.m) != 0; }
  LATHE_SIMD static Mask bits_lt(Bits a, Bits b) {
    return {_mm256_castsi256_pd(_mm256_cmpgt_epi64(b.v, a.v))};
  }
  LATHE_SIMD static Mask bits_eq(Bits a, Bits b) {
    return {_mm256_castsi256_pd(_mm256_cmpeq_epi64(a.v, b.v))};
  }
  LATHE_SIMD static F64 select(Mask m, F64 yes, F64 no) {
    return F64(_mm256_blendv_pd(no.v, yes.v, m.m));
  }
  LATHE_SIMD static Bits select(Mask m, Bits yes, Bits no) {
    return Bits(_mm256_blendv_epi8(no.v, yes.v, _mm256_castpd_si256(m.m)));
  }

  LATHE_SIMD static Bits shl(Bits a, int n) { return Bits(_mm256_slli_epi64(a.v, n)); }
  LATHE_SIMD static Bits shr(Bits a, int n) { return Bits(_mm256_srli_epi64(a.v, n)); }
  LATHE_SIMD static Bits bits(F64 a) { return Bits(_mm256_castpd_si256(a.v)); }
  LATHE_SIMD static F64 frombits(Bits a) { return F64(_mm256_castsi256_pd(a.v)); }
  LATHE_SIMD static F64 round_magic(F64 x, F64 c) {
    F64 m(6755399441055744.);
    return fma(x, c, m) - m;
  }
  LATHE_SIMD static F64 addexp(F64 x, F64 n) {
    return frombits(bits(x) + shl(bits(n + F64(6755399441055744.)), 52));
  }
  LATHE_SIMD static Bits to_int(F64 n) {
    return bits(n + F64(6755399441055744.)) - Bits(Word{0x4338000000000000});
  }
  LATHE_SIMD static F64 from_int(Bits n) {
    return frombits(n + Bits(Word{0x4338000000000000})) - F64(6755399441055744.);
  }
  template <class Slow>
  LATHE_SIMD static F64 rare(Mask m, F64 fast, Slow slow) {
    if (any(m)) [[unlikely]]
      return select(m, slow(), fast);
    return fast;
  }
};

template <class S>
inline constexpr size_t width = 32 / sizeof(typename S::Scalar);

LATHE_SIMD F32 load(const float* p) { return F32(_mm256_loadu_ps(p)); }
LATHE_SIMD F64 load(const double* p) { return F64(_mm256_loadu_pd(p)); }
LATHE_SIMD void store(float* p, F32 x) { _mm256_storeu_ps(p, x.v); }
/// Past the caches; p on a boundary of the vector's size.
LATHE_SIMD void stream(float* p, F32 x) { _mm256_stream_ps(p, x.v); }
LATHE_SIMD void stream(double* p, F64 x) { _mm256_stream_pd(p, x.v); }
LATHE_SIMD void end_of_stream() { _mm_sfence(); }
LATHE_SIMD void store(double* p, F64 x) { _mm256_storeu_pd(p, x.v); }

/// The first n lanes, n < width; the others read as 0 and are not written.
LATHE_SIMD __m256i first_lanes32(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
LATHE_SIMD __m256i first_lanes64(size_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)),
                            _mm256_setr_epi64x(0, 1, 2, 3));
}
LATHE_SIMD F32 load_some(const float* p, size_t n) {
  return F32(_mm256_maskload_ps(p, first_lanes32(n)));
}
LATHE_SIMD F64 load_some(const double* p, size_t n) {
  return F64(_mm256_maskload_pd(p, first_lanes64(n)));
}
LATHE_SIMD void store_some(float* p, F32 x, size_t n) {
  _mm256_maskstore_ps(p, first_lanes32(n), x.v);
}
LATHE_SIMD void store_some(double* p, F64 x, size_t n) {
  _mm256_maskstore_pd(p, first_lanes64(n), x.v);
}

/// Masks as bool bytes.
LATHE_SIMD void load_mask(const uint8_t* p, F32::Mask& m) {
  __m128i b = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  __m256i w = _mm256_cvtepu8_epi32(b);
  m = {_mm256_castsi256_ps(_mm256_cmpgt_epi32(w, _mm256_setzero_si256()))};
}
LATHE_SIMD void load_mask(const uint8_t* p, F64::Mask& m) {
  int four;
  __builtin_memcpy(&four, p, sizeof four);
  __m256i w = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
  m = {_mm256_castsi256_pd(_mm256_cmpgt_epi64(w, _mm256_setzero_si256()))};
}
LATHE_SIMD void store_mask(uint8_t* p, F32::Mask m) {
  __m256i w = _mm256_srli_epi32(_mm256_castps_si256(m.m), 31);
  __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(h, h));
}
LATHE_SIMD void store_mask(uint8_t* p, F64::Mask m) {
  // The low word of each lane, then bytes as above.
  __m128 h = _mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(m.m)),
                            _mm_castpd_ps(_mm256_extractf128_pd(m.m, 1)), 0x88);
  __m128i w = _mm_srli_epi32(_mm_castps_si128(h), 31);
  w = _mm_packs_epi32(w, w);
  int four = _mm_cvtsi128_si32(_mm_packus_epi16(w, w));
  __builtin_memcpy(p, &four, sizeof four);
}

/// Lane l takes lane l + K; what the last K lanes take does not count.
template <size_t K>
LATHE_SIMD F32 lanes_down(F32 x) {
  static_assert(K == 4 || K == 2 || K == 1);
  if constexpr (K == 4)
    return F32(_mm256_permute2f128_ps(x.v, x.v, 1));
  else
    return F32(_mm256_permute_ps(x.v, K == 2 ? 0x0e : 0x01));
}
template <size_t K>
LATHE_SIMD F64 lanes_down(F64 x) {
  static_assert(K == 2 || K == 1);
  if constexpr (K == 2)
    return F64(_mm256_permute2f128_pd(x.v, x.v, 1));
  else
    return F64(_mm256_permute_pd(x.v, 1));
}
LATHE_SIMD float first(F32 x) { return _mm256_cvtss_f32(x.v); }
LATHE_SIMD double first(F64 x) { return _mm256_cvtsd_f64(x.v); }

/// 32-bit words for philox (core/philox.h): mulhi is the upper half of the product.
struct Words {
  static constexpr size_t width = 8;
  __m256i v;
  Words() = default;
  LATHE_SIMD explicit Words(uint32_t w) : v(_mm256_set1_epi32(static_cast<int>(w))) {}
  LATHE_SIMD explicit Words(__m256i x) : v(x) {}
  LATHE_SIMD static Words load(const uint32_t* p) {
    return Words(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  LATHE_SIMD void store(uint32_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  LATHE_SIMD friend Words operator+(Words a, Words b) { return Words(_mm256_add_epi32(a.v, b.v)); }
  LATHE_SIMD friend Words operator*(Words a, Words b) {
    return Words(_mm256_mullo_epi32(a.v, b.v));
  }
  LATHE_SIMD friend Words operator^(Words a, Words b) { return Words(_mm256_xor_si256(a.v, b.v)); }
  LATHE_SIMD friend Words mulhi(Words a, Words b) {
    __m256i even = _mm256_mul_epu32(a.v, b.v);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), _mm256_srli_epi64(b.v, 32));
    return Words(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa));
  }
};

/// Eight halves ↔ floats, as f32_to_f16 of core/dtype.h but for the payload of NaNs.
LATHE_SIMD F32 load_f16(const uint16_t* p) {
  return F32(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
LATHE_SIMD void store_f16(uint16_t* p, F32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x.v, 0));
}
/// bfloat16 lies in the upper half of a float's word.
LATHE_SIMD F32 load_bf16(const uint16_t* p) {
  __m256i w = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return F32(_mm256_castsi256_ps(_mm256_slli_epi32(w, 16)));
}
/// Stores the lower halves of words.
LATHE_SIMD void store_low_halves(uint16_t* p, F32::Bits w) {
  __m256i low = _mm256_and_si256(w.v, _mm256_set1_epi32(0xffff));
  __m128i h = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), h);
}

}  // namespace
}  // namespace lathe
