// F32 and F64 of core/scalar/math.h as 512-bit vectors: the instructions (simd_x86.h has the rest).
// Included only by the *_avx512.cpp files.
#pragma once

#include "kernels/simd/simd_x86.h"

namespace lathe {
namespace {

template <>
struct Instructions<float> {
  using Word = uint32_t;
  using Values = __m512;
  using Ints = __m512i;
  using Mask = __mmask16;
  static constexpr size_t lanes = 16;

  LATHE_SIMD static Values all(float x) { return _mm512_set1_ps(x); }
  LATHE_SIMD static Ints all(Word w) { return _mm512_set1_epi32(static_cast<int>(w)); }
  LATHE_SIMD static Mask mask_and(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  LATHE_SIMD static Mask mask_or(Mask a, Mask b) { return static_cast<Mask>(a | b); }
  LATHE_SIMD static Mask mask_xor(Mask a, Mask b) { return static_cast<Mask>(a ^ b); }
  LATHE_SIMD static Mask mask_not(Mask a) { return static_cast<Mask>(~a); }
  LATHE_SIMD static unsigned lanes_of(Mask m) { return m; }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  LATHE_SIMD static Ints sub(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  LATHE_SIMD static Ints shl(Ints a, int n) {
    return _mm512_slli_epi32(a, static_cast<unsigned>(n));
  }
  LATHE_SIMD static Ints shr(Ints a, int n) {
    return _mm512_srli_epi32(a, static_cast<unsigned>(n));
  }
  LATHE_SIMD static Values clear(Values a, Values sign) { return _mm512_andnot_ps(sign, a); }
  LATHE_SIMD static Values fma(Values a, Values b, Values c) { return _mm512_fmadd_ps(a, b, c); }
  LATHE_SIMD static Values sqrt(Values a) { return _mm512_sqrt_ps(a); }
  LATHE_SIMD static Values min(Values a, Values b) { return _mm512_min_ps(a, b); }
  LATHE_SIMD static Values max(Values a, Values b) { return _mm512_max_ps(a, b); }
  template <int How>
  LATHE_SIMD static Values round(Values a) {
    return _mm512_roundscale_ps(a, How);
  }
  template <int Relation>
  LATHE_SIMD static Mask compare(Values a, Values b) {
    return _mm512_cmp_ps_mask(a, b, Relation);
  }
  LATHE_SIMD static Mask less(Ints a, Ints b) { return _mm512_cmplt_epi32_mask(a, b); }
  LATHE_SIMD static Mask equal(Ints a, Ints b) { return _mm512_cmpeq_epi32_mask(a, b); }
  LATHE_SIMD static Values choose(Mask m, Values yes, Values no) {
    return _mm512_mask_blend_ps(m, no, yes);
  }
  LATHE_SIMD static Ints choose(Mask m, Ints yes, Ints no) {
    return _mm512_mask_blend_epi32(m, no, yes);
  }
  LATHE_SIMD static Ints bits(Values a) { return _mm512_castps_si512(a); }
  LATHE_SIMD static Values values(Ints a) { return _mm512_castsi512_ps(a); }
  LATHE_SIMD static Ints to_int(Values n) { return _mm512_cvtps_epi32(n); }
  LATHE_SIMD static Values from_int(Ints n) { return _mm512_cvtepi32_ps(n); }

  LATHE_SIMD static Values load(const float* p) { return _mm512_loadu_ps(p); }
  LATHE_SIMD static void store(float* p, Values x) { _mm512_storeu_ps(p, x); }
  LATHE_SIMD static void stream(float* p, Values x) { _mm512_stream_ps(p, x); }
  LATHE_SIMD static Mask first_lanes(size_t n) { return static_cast<Mask>((1u << n) - 1); }
  LATHE_SIMD static Values load_some(const float* p, size_t n) {
    return _mm512_maskz_loadu_ps(first_lanes(n), p);
  }
  LATHE_SIMD static void store_some(float* p, Values x, size_t n) {
    _mm512_mask_storeu_ps(p, first_lanes(n), x);
  }
  LATHE_SIMD static Mask load_mask(const uint8_t* p) {
    __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm_test_epi8_mask(b, b);
  }
  LATHE_SIMD static void store_mask(uint8_t* p, Mask m) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(m, 1));
  }
  template <size_t K>
  LATHE_SIMD static Values lanes_down(Values x) {
    return values(_mm512_alignr_epi32(bits(x), bits(x), K));
  }
  LATHE_SIMD static float first(Values x) { return _mm512_cvtss_f32(x); }
};

template <>
struct Instructions<double> {
  using Word = uint64_t;
  using Values = __m512d;
  using Ints = __m512i;
  using Mask = __mmask8;
  static constexpr size_t lanes = 8;

  LATHE_SIMD static Values all(double x) { return _mm512_set1_pd(x); }
  LATHE_SIMD static Ints all(Word w) { return _mm512_set1_epi64(static_cast<long long>(w)); }
  LATHE_SIMD static Mask mask_and(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  LATHE_SIMD static Mask mask_or(Mask a, Mask b) { return static_cast<Mask>(a | b); }
  LATHE_SIMD static Mask mask_xor(Mask a, Mask b) { return static_cast<Mask>(a ^ b); }
  LATHE_SIMD static Mask mask_not(Mask a) { return static_cast<Mask>(~a); }
  LATHE_SIMD static unsigned lanes_of(Mask m) { return m; }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm512_add_epi64(a, b); }
  LATHE_SIMD static Ints sub(Ints a, Ints b) { return _mm512_sub_epi64(a, b); }
  LATHE_SIMD static Ints shl(Ints a, int n) {
    return _mm512_slli_epi64(a, static_cast<unsigned>(n));
  }
  LATHE_SIMD static Ints shr(Ints a, int n) {
    return _mm512_srli_epi64(a, static_cast<unsigned>(n));
  }
  LATHE_SIMD static Values clear(Values a, Values sign) { return _mm512_andnot_pd(sign, a); }
  LATHE_SIMD static Values fma(Values a, Values b, Values c) { return _mm512_fmadd_pd(a, b, c); }
  LATHE_SIMD static Values sqrt(Values a) { return _mm512_sqrt_pd(a); }
  LATHE_SIMD static Values min(Values a, Values b) { return _mm512_min_pd(a, b); }
  LATHE_SIMD static Values max(Values a, Values b) { return _mm512_max_pd(a, b); }
  template <int How>
  LATHE_SIMD static Values round(Values a) {
    return _mm512_roundscale_pd(a, How);
  }
  template <int Relation>
  LATHE_SIMD static Mask compare(Values a, Values b) {
    return _mm512_cmp_pd_mask(a, b, Relation);
  }
  LATHE_SIMD static Mask less(Ints a, Ints b) { return _mm512_cmplt_epi64_mask(a, b); }
  LATHE_SIMD static Mask equal(Ints a, Ints b) { return _mm512_cmpeq_epi64_mask(a, b); }
  LATHE_SIMD static Values choose(Mask m, Values yes, Values no) {
    return _mm512_mask_blend_pd(m, no, yes);
  }
  LATHE_SIMD static Ints choose(Mask m, Ints yes, Ints no) {
    return _mm512_mask_blend_epi64(m, no, yes);
  }
  LATHE_SIMD static Ints bits(Values a) { return _mm512_castpd_si512(a); }
  LATHE_SIMD static Values values(Ints a) { return _mm512_castsi512_pd(a); }
  LATHE_SIMD static Ints to_int(Values n) { return _mm512_cvtpd_epi64(n); }
  LATHE_SIMD static Values from_int(Ints n) { return _mm512_cvtepi64_pd(n); }

  LATHE_SIMD static Values load(const double* p) { return _mm512_loadu_pd(p); }
  LATHE_SIMD static void store(double* p, Values x) { _mm512_storeu_pd(p, x); }
  LATHE_SIMD static void stream(double* p, Values x) { _mm512_stream_pd(p, x); }
  LATHE_SIMD static Mask first_lanes(size_t n) { return static_cast<Mask>((1u << n) - 1); }
  LATHE_SIMD static Values load_some(const double* p, size_t n) {
    return _mm512_maskz_loadu_pd(first_lanes(n), p);
  }
  LATHE_SIMD static void store_some(double* p, Values x, size_t n) {
    _mm512_mask_storeu_pd(p, first_lanes(n), x);
  }
  LATHE_SIMD static Mask load_mask(const uint8_t* p) {
    __m128i b = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return static_cast<Mask>(_mm_test_epi8_mask(b, b));
  }
  LATHE_SIMD static void store_mask(uint8_t* p, Mask m) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(m, 1));
  }
  template <size_t K>
  LATHE_SIMD static Values lanes_down(Values x) {
    return values(_mm512_alignr_epi64(bits(x), bits(x), K));
  }
  LATHE_SIMD static double first(Values x) { return _mm512_cvtsd_f64(x); }
};

template <>
struct Instructions<uint32_t> {
  using Ints = __m512i;
  static constexpr size_t lanes = 16;

  LATHE_SIMD static Ints all(uint32_t w) { return Instructions<float>::all(w); }
  LATHE_SIMD static Ints load(const uint32_t* p) { return _mm512_loadu_si512(p); }
  LATHE_SIMD static void store(uint32_t* p, Ints x) { _mm512_storeu_si512(p, x); }
  LATHE_SIMD static Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  LATHE_SIMD static Ints mul(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
  LATHE_SIMD static Ints mulhi(Ints a, Ints b) {
    __m512i even = _mm512_mul_epu32(a, b);
    __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
  }
};

/// Sixteen halves ↔ floats, as f32_to_f16 of core/scalar/dtype.h but for the payload of NaNs.
LATHE_SIMD F32 load_f16(const uint16_t* p) {
  return F32(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
LATHE_SIMD void store_f16(uint16_t* p, F32 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x.v, 0x08));
}
/// bfloat16 lies in the upper half of a float's word.
LATHE_SIMD F32 load_bf16(const uint16_t* p) {
  __m512i w = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return F32(_mm512_castsi512_ps(_mm512_slli_epi32(w, 16)));
}
/// Stores the lower halves of words.
LATHE_SIMD void store_low_halves(uint16_t* p, F32::Bits w) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(w.v));
}

}  // namespace
}  // namespace lathe
