// F32 and F64 of core/scalar/math.h as 256-bit vectors: the instructions (simd_x86.h has the rest).
// Included only by the *_avx2.cpp files.
#pragma once

#include "kernels/simd/parts_avx2.h"
#include "kernels/simd/simd_x86.h"

namespace lathe {
namespace {

/// Once for all loops: what they have left over is a call.
#define LATHE_APART __attribute__((noinline))

template <>
struct Instructions<float> {
  using Word = uint32_t;
  using Values = __m256;
  using Ints = __m256i;
  using Mask = __m256;
  static constexpr size_t lanes = 8;

  LATHE_SIMD static Values all(float x) { return _mm256_set1_ps(x); }
  LATHE_SIMD static Ints all(Word w) { return _mm256_set1_epi32(static_cast<int>(w)); }
  LATHE_SIMD static Mask mask_and(Mask a, Mask b) { return _mm256_and_ps(a, b); }
  LATHE_SIMD static Mask mask_or(Mask a, Mask b) { return _mm256_or_ps(a, b); }
  LATHE_SIMD static Mask mask_xor(Mask a, Mask b) { return _mm256_xor_ps(a, b); }
  LATHE_SIMD static Mask mask_not(Mask a) { return _mm256_xor_ps(a, values(all(~Word{0}))); }
  LATHE_SIMD static unsigned lanes_of(Mask m) {
    return static_cast<unsigned>(_mm256_movemask_ps(m));
  }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  LATHE_SIMD static Ints sub(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  LATHE_SIMD static Ints shl(Ints a, int n) { return _mm256_slli_epi32(a, n); }
  LATHE_SIMD static Ints shr(Ints a, int n) { return _mm256_srli_epi32(a, n); }
  LATHE_SIMD static Values clear(Values a, Values sign) { return _mm256_andnot_ps(sign, a); }
  LATHE_SIMD static Values fma(Values a, Values b, Values c) { return _mm256_fmadd_ps(a, b, c); }
  LATHE_SIMD static Values sqrt(Values a) { return _mm256_sqrt_ps(a); }
  LATHE_SIMD static Values min(Values a, Values b) { return _mm256_min_ps(a, b); }
  LATHE_SIMD static Values max(Values a, Values b) { return _mm256_max_ps(a, b); }
  template <int How>
  LATHE_SIMD static Values round(Values a) {
    return _mm256_round_ps(a, How);
  }
  template <int Relation>
  LATHE_SIMD static Mask compare(Values a, Values b) {
    return _mm256_cmp_ps(a, b, Relation);
  }
  LATHE_SIMD static Mask less(Ints a, Ints b) { return values(_mm256_cmpgt_epi32(b, a)); }
  LATHE_SIMD static Mask equal(Ints a, Ints b) { return values(_mm256_cmpeq_epi32(a, b)); }
  LATHE_SIMD static Values choose(Mask m, Values yes, Values no) {
    return _mm256_blendv_ps(no, yes, m);
  }
  LATHE_SIMD static Ints choose(Mask m, Ints yes, Ints no) {
    return _mm256_blendv_epi8(no, yes, bits(m));
  }
  LATHE_SIMD static Ints bits(Values a) { return _mm256_castps_si256(a); }
  LATHE_SIMD static Values values(Ints a) { return _mm256_castsi256_ps(a); }
  LATHE_SIMD static Ints to_int(Values n) { return _mm256_cvtps_epi32(n); }
  LATHE_SIMD static Values from_int(Ints n) { return _mm256_cvtepi32_ps(n); }

  LATHE_SIMD static Values load(const float* p) { return _mm256_loadu_ps(p); }
  LATHE_SIMD static void store(float* p, Values x) { _mm256_storeu_ps(p, x); }
  LATHE_SIMD static void stream(float* p, Values x) { _mm256_stream_ps(p, x); }
  LATHE_SIMD static Ints first_lanes(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  LATHE_APART static Values load_some(const float* p, size_t n) {
    return load_part(p, first_lanes(n));
  }
  LATHE_APART static void store_some(float* p, Values x, size_t n) {
    store_first(p, x, static_cast<int>(n));
  }
  LATHE_SIMD static Mask load_mask(const uint8_t* p) {
    __m128i b = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return values(_mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(b), _mm256_setzero_si256()));
  }
  LATHE_SIMD static void store_mask(uint8_t* p, Mask m) {
    __m256i w = _mm256_srli_epi32(bits(m), 31);
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(h, h));
  }
  template <size_t K>
  LATHE_SIMD static Values lanes_down(Values x) {
    static_assert(K == 4 || K == 2 || K == 1);
    if constexpr (K == 4)
      return _mm256_permute2f128_ps(x, x, 1);
    else
      return _mm256_permute_ps(x, K == 2 ? 0x0e : 0x01);
  }
  LATHE_SIMD static float first(Values x) { return _mm256_cvtss_f32(x); }
};

template <>
struct Instructions<double> {
  using Word = uint64_t;
  using Values = __m256d;
  using Ints = __m256i;
  using Mask = __m256d;
  static constexpr size_t lanes = 4;

  LATHE_SIMD static Values all(double x) { return _mm256_set1_pd(x); }
  LATHE_SIMD static Ints all(Word w) { return _mm256_set1_epi64x(static_cast<long long>(w)); }
  LATHE_SIMD static Mask mask_and(Mask a, Mask b) { return _mm256_and_pd(a, b); }
  LATHE_SIMD static Mask mask_or(Mask a, Mask b) { return _mm256_or_pd(a, b); }
  LATHE_SIMD static Mask mask_xor(Mask a, Mask b) { return _mm256_xor_pd(a, b); }
  LATHE_SIMD static Mask mask_not(Mask a) { return _mm256_xor_pd(a, values(all(~Word{0}))); }
  LATHE_SIMD static unsigned lanes_of(Mask m) {
    return static_cast<unsigned>(_mm256_movemask_pd(m));
  }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm256_add_epi64(a, b); }
  LATHE_SIMD static Ints sub(Ints a, Ints b) { return _mm256_sub_epi64(a, b); }
  LATHE_SIMD static Ints shl(Ints a, int n) { return _mm256_slli_epi64(a, n); }
  LATHE_SIMD static Ints shr(Ints a, int n) { return _mm256_srli_epi64(a, n); }
  LATHE_SIMD static Values clear(Values a, Values sign) { return _mm256_andnot_pd(sign, a); }
  LATHE_SIMD static Values fma(Values a, Values b, Values c) { return _mm256_fmadd_pd(a, b, c); }
  LATHE_SIMD static Values sqrt(Values a) { return _mm256_sqrt_pd(a); }
  LATHE_SIMD static Values min(Values a, Values b) { return _mm256_min_pd(a, b); }
  LATHE_SIMD static Values max(Values a, Values b) { return _mm256_max_pd(a, b); }
  template <int How>
  LATHE_SIMD static Values round(Values a) {
    return _mm256_round_pd(a, How);
  }
  template <int Relation>
  LATHE_SIMD static Mask compare(Values a, Values b) {
    return _mm256_cmp_pd(a, b, Relation);
  }
  LATHE_SIMD static Mask less(Ints a, Ints b) { return values(_mm256_cmpgt_epi64(b, a)); }
  LATHE_SIMD static Mask equal(Ints a, Ints b) { return values(_mm256_cmpeq_epi64(a, b)); }
  LATHE_SIMD static Values choose(Mask m, Values yes, Values no) {
    return _mm256_blendv_pd(no, yes, m);
  }
  LATHE_SIMD static Ints choose(Mask m, Ints yes, Ints no) {
    return _mm256_blendv_epi8(no, yes, bits(m));
  }
  LATHE_SIMD static Ints bits(Values a) { return _mm256_castpd_si256(a); }
  LATHE_SIMD static Values values(Ints a) { return _mm256_castsi256_pd(a); }
  // There is no instruction for 64-bit integers: kRounder's own bits are what is too much.
  LATHE_SIMD static Ints to_int(Values n) {
    return sub(bits(n + all(kRounder<double>)), all(Word{0x4338000000000000}));
  }
  LATHE_SIMD static Values from_int(Ints n) {
    return values(add(n, all(Word{0x4338000000000000}))) - all(kRounder<double>);
  }

  LATHE_SIMD static Values load(const double* p) { return _mm256_loadu_pd(p); }
  LATHE_SIMD static void store(double* p, Values x) { _mm256_storeu_pd(p, x); }
  LATHE_SIMD static void stream(double* p, Values x) { _mm256_stream_pd(p, x); }
  LATHE_SIMD static Ints first_lanes(size_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)),
                              _mm256_setr_epi64x(0, 1, 2, 3));
  }
  LATHE_APART static Values load_some(const double* p, size_t n) {
    return load_part(p, first_lanes(n));
  }
  LATHE_APART static void store_some(double* p, Values x, size_t n) {
    store_first(p, x, static_cast<int>(n));
  }
  LATHE_SIMD static Mask load_mask(const uint8_t* p) {
    int four;
    __builtin_memcpy(&four, p, sizeof four);
    __m256i w = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
    return values(_mm256_cmpgt_epi64(w, _mm256_setzero_si256()));
  }
  LATHE_SIMD static void store_mask(uint8_t* p, Mask m) {
    // The low word of each lane, then bytes as those of floats.
    __m128 h = _mm_shuffle_ps(_mm_castpd_ps(_mm256_castpd256_pd128(m)),
                              _mm_castpd_ps(_mm256_extractf128_pd(m, 1)), 0x88);
    __m128i w = _mm_srli_epi32(_mm_castps_si128(h), 31);
    w = _mm_packs_epi32(w, w);
    int four = _mm_cvtsi128_si32(_mm_packus_epi16(w, w));
    __builtin_memcpy(p, &four, sizeof four);
  }
  template <size_t K>
  LATHE_SIMD static Values lanes_down(Values x) {
    static_assert(K == 2 || K == 1);
    if constexpr (K == 2)
      return _mm256_permute2f128_pd(x, x, 1);
    else
      return _mm256_permute_pd(x, 1);
  }
  LATHE_SIMD static double first(Values x) { return _mm256_cvtsd_f64(x); }
};

template <>
struct Instructions<uint32_t> {
  using Ints = __m256i;
  static constexpr size_t lanes = 8;

  LATHE_SIMD static Ints all(uint32_t w) { return Instructions<float>::all(w); }
  LATHE_SIMD static Ints load(const uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  LATHE_SIMD static void store(uint32_t* p, Ints x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
  }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  LATHE_SIMD static Ints mul(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
  LATHE_SIMD static Ints mulhi(Ints a, Ints b) {
    __m256i even = _mm256_mul_epu32(a, b);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  }
};

/// Eight halves ↔ floats, as f32_to_f16 of core/scalar/dtype.h but for the payload of NaNs.
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
