// What is the same of vectors of eight floats with AVX2 and with AVX-512, which differ in masks.
// The rules of tile_body.h hold: each file that includes it gets a copy of its own.
#pragma once

#include <immintrin.h>

namespace lathe::own {
namespace {

struct Floats256 {
  using T = float;
  using Reg = __m256;
  static constexpr int lanes = 8, vectors = 2;
  static void keep(Reg& x) { asm("" : "+v"(x)); }
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg all(T x) { return _mm256_set1_ps(x); }
  static Reg load(const T* p) { return _mm256_loadu_ps(p); }
  static void store(T* p, Reg x) { _mm256_storeu_ps(p, x); }
  static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace lathe::own
