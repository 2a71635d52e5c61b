// Matrix tiles for AVX2 with FMA: 6 rows by two vectors keep 12 sums in 16 registers.
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "kernels/own/floats_256.h"
#include "kernels/own/tile_body.h"
#include "kernels/simd/parts_avx2.h"

namespace lathe::own {
namespace {

alignas(64) constexpr int32_t kMask32[24] = {-1, -1, -1, -1, -1, -1, -1, -1};
alignas(64) constexpr int64_t kMask64[12] = {-1, -1, -1, -1};

constexpr int clamp(int n, int lanes) { return n < 0 ? 0 : n > lanes ? lanes : n; }

struct F32 : Floats256 {
  using Mask = __m256i;
  static constexpr int rows = 6, direct_rows = 6;
  static constexpr bool fast_parts = false;
  static Mask first(int n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask32 + 8 - clamp(n, 8)));
  }
  static Mask range(int lo, int hi) { return _mm256_andnot_si256(first(lo), first(hi)); }
  static Reg load_any(const T* p) { return load_unchecked<Reg>(p); }
  static bool in_a_page(const T* p, size_t n) { return in_one_page(p, n * sizeof(T)); }
  static Reg load_some(const T* p, Mask m) { return load_part(p, m); }
  static Reg merge(Reg x, const T* p, Mask m) {
    return _mm256_blendv_ps(x, load_part(p, m), _mm256_castsi256_ps(m));
  }
  static void store_some(T* p, Reg x, Mask m) {
    const int some = _mm256_movemask_ps(_mm256_castsi256_ps(m));
    some == 0xff ? store(p, x) : store_first(p, x, __builtin_popcount(some));
  }
  static Reg merge_strided(Reg x, const T* p, int64_t step, Mask, int lo, int hi) {
    alignas(32) T lanes_of[8];
    store(lanes_of, x);
    for (int i = lo; i < hi; ++i) lanes_of[i] = p[i * step];
    return load(lanes_of);
  }
  static void unzip(Reg a, Reg b, Reg& even, Reg& odd) {
    auto in_order = [](Reg x) {
      return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
    };
    even = in_order(_mm256_shuffle_ps(a, b, 0x88));
    odd = in_order(_mm256_shuffle_ps(a, b, 0xdd));
  }
  static void zip(Reg even, Reg odd, Reg& a, Reg& b) {
    const Reg low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
    a = _mm256_permute2f128_ps(low, high, 0x20);
    b = _mm256_permute2f128_ps(low, high, 0x31);
  }
  static void transpose(Reg* r) {
    Reg t[8];
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      Reg a = _mm256_unpacklo_ps(r[i], r[i + 1]), b = _mm256_unpackhi_ps(r[i], r[i + 1]);
      Reg c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
      t[i] = _mm256_shuffle_ps(a, c, 0x44);
      t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
      t[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
      t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      r[j] = _mm256_permute2f128_ps(t[j], t[4 + j], 0x20);
      r[4 + j] = _mm256_permute2f128_ps(t[j], t[4 + j], 0x31);
    }
  }
  /// Four elements of eight rows. Rows four apart are put into one register as they are loaded: a
  /// third fewer shuffles.
  static constexpr int turned = 4;
  static void load_turned(const T* p, int64_t ld, Reg* r) {
    Reg of[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      of[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + i * ld)),
                                   _mm_loadu_ps(p + (i + 4) * ld), 1);
    const Reg a = _mm256_unpacklo_ps(of[0], of[1]), b = _mm256_unpackhi_ps(of[0], of[1]);
    const Reg c = _mm256_unpacklo_ps(of[2], of[3]), d = _mm256_unpackhi_ps(of[2], of[3]);
    const Reg ac = _mm256_shuffle_ps(a, c, 0x4e), bd = _mm256_shuffle_ps(b, d, 0x4e);
    r[0] = _mm256_blend_ps(a, ac, 0xcc);
    r[1] = _mm256_blend_ps(ac, c, 0xcc);
    r[2] = _mm256_blend_ps(b, bd, 0xcc);
    r[3] = _mm256_blend_ps(bd, d, 0xcc);
  }
};

struct F64 {
  using T = double;
  using Reg = __m256d;
  using Mask = __m256i;
  static constexpr int lanes = 4, rows = 6, vectors = 2, direct_rows = 6;
  static constexpr bool fast_parts = false;
  static void keep(Reg& x) { asm("" : "+x"(x)); }
  static Reg zero() { return _mm256_setzero_pd(); }
  static Reg all(T x) { return _mm256_set1_pd(x); }
  static Reg load(const T* p) { return _mm256_loadu_pd(p); }
  static void store(T* p, Reg x) { _mm256_storeu_pd(p, x); }
  static Mask first(int n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask64 + 4 - clamp(n, 4)));
  }
  static Mask range(int lo, int hi) { return _mm256_andnot_si256(first(lo), first(hi)); }
  static Reg load_any(const T* p) { return load_unchecked<Reg>(p); }
  static bool in_a_page(const T* p, size_t n) { return in_one_page(p, n * sizeof(T)); }
  static Reg load_some(const T* p, Mask m) { return load_part(p, m); }
  static Reg merge(Reg x, const T* p, Mask m) {
    return _mm256_blendv_pd(x, load_part(p, m), _mm256_castsi256_pd(m));
  }
  static void store_some(T* p, Reg x, Mask m) {
    const int some = _mm256_movemask_pd(_mm256_castsi256_pd(m));
    some == 0xf ? store(p, x) : store_first(p, x, __builtin_popcount(some));
  }
  static Reg merge_strided(Reg x, const T* p, int64_t step, Mask, int lo, int hi) {
    alignas(32) T lanes_of[4];
    store(lanes_of, x);
    for (int i = lo; i < hi; ++i) lanes_of[i] = p[i * step];
    return load(lanes_of);
  }
  static Reg add(Reg a, Reg b) { return _mm256_add_pd(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_pd(a, b, c); }
  static void unzip(Reg a, Reg b, Reg& even, Reg& odd) {
    even = _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8);
    odd = _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8);
  }
  static void zip(Reg even, Reg odd, Reg& a, Reg& b) {
    const Reg low = _mm256_unpacklo_pd(even, odd), high = _mm256_unpackhi_pd(even, odd);
    a = _mm256_permute2f128_pd(low, high, 0x20);
    b = _mm256_permute2f128_pd(low, high, 0x31);
  }
  static void transpose(Reg* r) {
    Reg a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
    Reg c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
    r[0] = _mm256_permute2f128_pd(a, c, 0x20);
    r[1] = _mm256_permute2f128_pd(b, d, 0x20);
    r[2] = _mm256_permute2f128_pd(a, c, 0x31);
    r[3] = _mm256_permute2f128_pd(b, d, 0x31);
  }
  static constexpr int turned = 2;
  static void load_turned(const T* p, int64_t ld, Reg* r) {
    Reg of[2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
      of[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + i * ld)),
                                   _mm_loadu_pd(p + (i + 2) * ld), 1);
    r[0] = _mm256_unpacklo_pd(of[0], of[1]);
    r[1] = _mm256_unpackhi_pd(of[0], of[1]);
  }
};

struct Arithmetic32 {
  static __m256 all(uint32_t x) {
    return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(x)));
  }
  static __m256 add(__m256 a, __m256 b) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
  }
  static __m256 fma(__m256 a, __m256 b, __m256 c) {
    const __m256i ab = _mm256_mullo_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
    return _mm256_castsi256_ps(_mm256_add_epi32(ab, _mm256_castps_si256(c)));
  }
};

struct Arithmetic64 {
  static __m256d all(uint64_t x) {
    return _mm256_castsi256_pd(_mm256_set1_epi64x(static_cast<long long>(x)));
  }
  static __m256d add(__m256d a, __m256d b) {
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b)));
  }
  /// The low half of the product from those of 32 bits: low * low + (low * high + high * low)
  /// << 32.
  static __m256d fma(__m256d a, __m256d b, __m256d c) {
    const __m256i x = _mm256_castpd_si256(a), y = _mm256_castpd_si256(b);
    const __m256i crossed = _mm256_mullo_epi32(x, _mm256_shuffle_epi32(y, 0xb1));
    const __m256i sums = _mm256_add_epi32(crossed, _mm256_srli_epi64(crossed, 32));
    const __m256i ab = _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64(sums, 32));
    return _mm256_castsi256_pd(_mm256_add_epi64(ab, _mm256_castpd_si256(c)));
  }
};

constexpr TileSets kSets{tiles_of<F32>("avx2"), tiles_of<F64>("avx2"),
                         tiles_of<Whole<F32, uint32_t, Arithmetic32>>("avx2"),
                         tiles_of<Whole<F64, uint64_t, Arithmetic64>>("avx2")};

}  // namespace

const TileSets& tiles_avx2() { return kSets; }

}  // namespace lathe::own
