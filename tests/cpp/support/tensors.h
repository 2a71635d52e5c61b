// Operands for tests, and results by their bytes.
#pragma once

#include <random>
#include <string>

#include "include/lathe/ops/math.h"
#include "tests/cpp/support/samples.h"

namespace lathe::testing {

/// Float32, the same for the same seed.
inline Tensor normal(Shape shape, uint64_t seed) {
  std::mt19937_64 rng(seed);
  return make_tensor({'f', shape, 0}, DType::f32, rng);
}

/// The elements in row-major order.
inline std::string bytes(const Tensor& t) {
  Tensor c = math_ops<Tensor>::clone(t);
  return {reinterpret_cast<const char*>(c.data()),
          static_cast<size_t>(c.numel().value()) * size_of(c.dtype())};
}

}  // namespace lathe::testing
