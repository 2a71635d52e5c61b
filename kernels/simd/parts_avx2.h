// The first elements of a vector, with AVX2: its masked loads and stores take some processors
// twenty times as long as plain ones. The rules of simd_loops.h hold: each file that includes it
// gets a copy of its own.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace lathe {
namespace {

/// Whether so many bytes, a page at most, are in one: a page may be read or not as a whole, so that
/// where one of them may be read all can, whatever is there.
inline bool in_one_page(const void* p, size_t bytes) {
  constexpr uintptr_t kLeastPage = 4096;
  return reinterpret_cast<uintptr_t>(p) % kLeastPage + bytes <= kLeastPage;
}

/// A vector of which not all bytes are an object's, as those of an intrinsic would have to be.
template <class Vector>
__attribute__((always_inline)) inline Vector load_unchecked(const void* p) {
  Vector x;
  asm("vmovups %1, %0" : "=x"(x) : "m"(*static_cast<const char(*)[sizeof(Vector)]>(p)));
  return x;
}

/// Some lanes of a vector at p, the others 0.
template <class Vector, class T, class Masked, class And>
__attribute__((always_inline)) inline Vector load_part(const T* p, __m256i lanes, Masked masked,
                                                       And and_) {
  if (!in_one_page(p, sizeof(Vector)) || _mm256_testz_si256(lanes, lanes) != 0)
    return masked(p, lanes);
  return and_(load_unchecked<Vector>(p), lanes);
}
__attribute__((always_inline)) inline __m256 load_part(const float* p, __m256i lanes) {
  return load_part<__m256>(
      p, lanes, [](const float* from, __m256i some) { return _mm256_maskload_ps(from, some); },
      [](__m256 x, __m256i some) { return _mm256_and_ps(x, _mm256_castsi256_ps(some)); });
}
__attribute__((always_inline)) inline __m256d load_part(const double* p, __m256i lanes) {
  return load_part<__m256d>(
      p, lanes, [](const double* from, __m256i some) { return _mm256_maskload_pd(from, some); },
      [](__m256d x, __m256i some) { return _mm256_and_pd(x, _mm256_castsi256_pd(some)); });
}

/// The first n lanes, n < 8.
inline void store_first(float* p, __m256 x, int n) {
  __m128 part = _mm256_castps256_ps128(x);
  if ((n & 4) != 0) {
    _mm_storeu_ps(p, part);
    part = _mm256_extractf128_ps(x, 1);
    p += 4;
  }
  if ((n & 2) != 0) {
    _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
    part = _mm_movehl_ps(part, part);
    p += 2;
  }
  if ((n & 1) != 0) _mm_store_ss(p, part);
}
/// The first n lanes, n < 4.
inline void store_first(double* p, __m256d x, int n) {
  __m128d part = _mm256_castpd256_pd128(x);
  if ((n & 2) != 0) {
    _mm_storeu_pd(p, part);
    part = _mm256_extractf128_pd(x, 1);
    p += 2;
  }
  if ((n & 1) != 0) _mm_store_sd(p, part);
}

}  // namespace
}  // namespace lathe
