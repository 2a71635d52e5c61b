// Matrix tiles for AVX-512: 14 rows by two vectors keep 28 sums, two columns and one row value in
// registers.
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "kernels/own/floats_256.h"
#include "kernels/own/tile_body.h"

namespace lathe::own {
namespace {

struct F32 {
  using T = float;
  using Reg = __m512;
  using Mask = __mmask16;
  static constexpr int lanes = 16, rows = 14, vectors = 2, direct_rows = 8;
  static constexpr bool fast_parts = true;
  static void keep(Reg& x) { asm("" : "+v"(x)); }
  static Reg zero() { return _mm512_setzero_ps(); }
  static Reg all(T x) { return _mm512_set1_ps(x); }
  static Reg load(const T* p) { return _mm512_loadu_ps(p); }
  static void store(T* p, Reg x) { _mm512_storeu_ps(p, x); }
  static Mask first(int n) {
    return n >= 16 ? Mask{0xffff} : n <= 0 ? Mask{0} : static_cast<Mask>((1u << n) - 1);
  }
  static Mask range(int lo, int hi) { return first(hi) & static_cast<Mask>(~first(lo)); }
  static Reg load_some(const T* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
  static Reg merge(Reg x, const T* p, Mask m) { return _mm512_mask_loadu_ps(x, m, p); }
  static void store_some(T* p, Reg x, Mask m) { _mm512_mask_storeu_ps(p, m, x); }
  static Reg merge_strided(Reg x, const T* p, int64_t step, Mask m, int lo, int hi) {
    if (step == 2) {  // two loads and a permutation are far cheaper than a gather
      const __m512i even =
          _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
      Reg low = _mm512_maskz_loadu_ps(range(2 * lo, 2 * hi - 1), p);
      Reg high = _mm512_maskz_loadu_ps(range(2 * lo - 16, 2 * hi - 17), p + 16);
      return _mm512_mask_mov_ps(x, m, _mm512_permutex2var_ps(low, even, high));
    }
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i at = _mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int>(step)));
    if (step > 1 << 20) return slow_strided(x, p, step, lo, hi);
    return _mm512_mask_i32gather_ps(x, m, at, p, 4);
  }
  static Reg slow_strided(Reg x, const T* p, int64_t step, int lo, int hi) {
    alignas(64) T lanes_of[16];
    store(lanes_of, x);
    for (int i = lo; i < hi; ++i) lanes_of[i] = p[i * step];
    return load(lanes_of);
  }
  static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static void unzip(Reg a, Reg b, Reg& even, Reg& odd) {
    const __m512i evens =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    even = _mm512_permutex2var_ps(a, evens, b);
    odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), b);
  }
  static void zip(Reg even, Reg odd, Reg& a, Reg& b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    a = _mm512_permutex2var_ps(even, low, odd);
    b = _mm512_permutex2var_ps(even, _mm512_add_epi32(low, _mm512_set1_epi32(8)), odd);
  }
  static void transpose(Reg* r) {
    Reg t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i += 4) {
      Reg a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
      Reg c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
      t[i] = _mm512_shuffle_ps(a, c, 0x44);
      t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
      t[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
      t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
    }
    // t[4g + j], 128-bit lane q: rows 4g .. 4g+3 of column 4q + j.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Reg a = _mm512_shuffle_f32x4(t[j], t[4 + j], 0x88),
          b = _mm512_shuffle_f32x4(t[8 + j], t[12 + j], 0x88);
      Reg c = _mm512_shuffle_f32x4(t[j], t[4 + j], 0xdd),
          d = _mm512_shuffle_f32x4(t[8 + j], t[12 + j], 0xdd);
      r[j] = _mm512_shuffle_f32x4(a, b, 0x88);
      r[8 + j] = _mm512_shuffle_f32x4(a, b, 0xdd);
      r[4 + j] = _mm512_shuffle_f32x4(c, d, 0x88);
      r[12 + j] = _mm512_shuffle_f32x4(c, d, 0xdd);
    }
  }
};

/// Half of a vector, as far as windows ask: of lines of up to 8 outputs (planes of 7 x 7) a whole
/// one would leave most of its lanes empty.
struct HalfF32 : Floats256 {
  using Mask = __mmask8;
  static Mask first(int n) {
    return n >= 8 ? Mask{0xff} : n <= 0 ? Mask{0} : static_cast<Mask>((1u << n) - 1);
  }
  static Reg load_some(const T* p, Mask m) { return _mm256_maskz_loadu_ps(m, p); }
  static void store_some(T* p, Reg x, Mask m) { _mm256_mask_storeu_ps(p, m, x); }
};

struct F64 {
  using T = double;
  using Reg = __m512d;
  using Mask = __mmask8;
  static constexpr int lanes = 8, rows = 14, vectors = 2, direct_rows = 8;
  static constexpr bool fast_parts = true;
  static void keep(Reg& x) { asm("" : "+v"(x)); }
  static Reg zero() { return _mm512_setzero_pd(); }
  static Reg all(T x) { return _mm512_set1_pd(x); }
  static Reg load(const T* p) { return _mm512_loadu_pd(p); }
  static void store(T* p, Reg x) { _mm512_storeu_pd(p, x); }
  static Mask first(int n) {
    return n >= 8 ? Mask{0xff} : n <= 0 ? Mask{0} : static_cast<Mask>((1u << n) - 1);
  }
  static Mask range(int lo, int hi) { return first(hi) & static_cast<Mask>(~first(lo)); }
  static Reg load_some(const T* p, Mask m) { return _mm512_maskz_loadu_pd(m, p); }
  static Reg merge(Reg x, const T* p, Mask m) { return _mm512_mask_loadu_pd(x, m, p); }
  static void store_some(T* p, Reg x, Mask m) { _mm512_mask_storeu_pd(p, m, x); }
  static Reg merge_strided(Reg x, const T* p, int64_t step, Mask m, int, int) {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i at = _mm512_mullo_epi64(lane, _mm512_set1_epi64(step));
    return _mm512_mask_i64gather_pd(x, m, at, p, 8);
  }
  static Reg add(Reg a, Reg b) { return _mm512_add_pd(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_pd(a, b, c); }
  static void unzip(Reg a, Reg b, Reg& even, Reg& odd) {
    const __m512i evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    even = _mm512_permutex2var_pd(a, evens, b);
    odd = _mm512_permutex2var_pd(a, _mm512_add_epi64(evens, _mm512_set1_epi64(1)), b);
  }
  static void zip(Reg even, Reg odd, Reg& a, Reg& b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    a = _mm512_permutex2var_pd(even, low, odd);
    b = _mm512_permutex2var_pd(even, _mm512_add_epi64(low, _mm512_set1_epi64(4)), odd);
  }
  static void transpose(Reg* r) {
    Reg t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
    }
    // t[2g + j], lane q: rows 2g, 2g+1 of column 2q + j.
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      Reg a = _mm512_shuffle_f64x2(t[j], t[2 + j], 0x88),
          b = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0x88);
      Reg c = _mm512_shuffle_f64x2(t[j], t[2 + j], 0xdd),
          d = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0xdd);
      r[j] = _mm512_shuffle_f64x2(a, b, 0x88);
      r[4 + j] = _mm512_shuffle_f64x2(a, b, 0xdd);
      r[2 + j] = _mm512_shuffle_f64x2(c, d, 0x88);
      r[6 + j] = _mm512_shuffle_f64x2(c, d, 0xdd);
    }
  }
};

struct Arithmetic32 {
  static __m512 all(uint32_t x) {
    return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(x)));
  }
  static __m512 add(__m512 a, __m512 b) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  }
  static __m512 fma(__m512 a, __m512 b, __m512 c) {
    const __m512i ab = _mm512_mullo_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b));
    return _mm512_castsi512_ps(_mm512_add_epi32(ab, _mm512_castps_si512(c)));
  }
};

struct Arithmetic64 {
  static __m512d all(uint64_t x) {
    return _mm512_castsi512_pd(_mm512_set1_epi64(static_cast<long long>(x)));
  }
  static __m512d add(__m512d a, __m512d b) {
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  static __m512d fma(__m512d a, __m512d b, __m512d c) {
    const __m512i ab = _mm512_mullo_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b));
    return _mm512_castsi512_pd(_mm512_add_epi64(ab, _mm512_castpd_si512(c)));
  }
};

void lines_of_any_length(const WindowCall<float>& t) {
  t.cols <= HalfF32::lanes ? window_lines<HalfF32>(t) : window_lines<F32>(t);
}
constexpr Tiles<float> f32_tiles() {
  Tiles<float> tiles = tiles_of<F32>("avx512");
  tiles.window_lines = lines_of_any_length;
  return tiles;
}

constexpr TileSets kSets{f32_tiles(), tiles_of<F64>("avx512"),
                         tiles_of<Whole<F32, uint32_t, Arithmetic32>>("avx512"),
                         tiles_of<Whole<F64, uint64_t, Arithmetic64>>("avx512")};

}  // namespace

const TileSets& tiles_avx512() { return kSets; }

}  // namespace lathe::own
