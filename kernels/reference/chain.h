// The one arithmetic step the reference needs that plain C++ has not: a fused multiply-add, by the
// C library. Compiled apart (chain_portable.cpp), so that no other file calls it.
#pragma once

#include <cstdint>

namespace lathe::reference {

/// acc = fma(a[i], b[i], acc) for i in [0, n), ascending.
float chain(const float* a, const float* b, int64_t n, float acc);
double chain(const double* a, const double* b, int64_t n, double acc);
float fused(float a, float b, float c);
double fused(double a, double b, double c);

}  // namespace lathe::reference
