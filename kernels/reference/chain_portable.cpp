#include "kernels/reference/chain.h"

namespace lathe::reference {

float chain(const float* a, const float* b, int64_t n, float acc) {
  for (int64_t i = 0; i < n; ++i) acc = __builtin_fmaf(a[i], b[i], acc);
  return acc;
}

double chain(const double* a, const double* b, int64_t n, double acc) {
  for (int64_t i = 0; i < n; ++i) acc = __builtin_fma(a[i], b[i], acc);
  return acc;
}

double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

}  // namespace lathe::reference
