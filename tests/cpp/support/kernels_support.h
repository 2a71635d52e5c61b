// What the tests of kernels/ share: calling ops by name, filling tensors, comparing bytes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "kernels/executor.h"
#include "kernels/table/table.h"

namespace lathe::test {

/// Numbers of mixed magnitude, with exact zeros among them; integers get small ones of both signs.
inline Tensor random_tensor(DType dtype, Shape shape, uint32_t seed) {
  install_executor();
  std::mt19937 rng(seed * 7919u + 17u);
  std::normal_distribution<double> normal;
  Tensor t = empty({dtype, shape, Device{}});
  int64_t n = t.numel().value();
  std::byte* to = t.mutable_data();
  for (int64_t i = 0; i < n; ++i) {
    double x = rng() % 29 == 0 ? 0 : normal(rng) * std::exp2(static_cast<int>(rng() % 9) - 4);
    float f = static_cast<float>(x);
    auto whole = static_cast<int64_t>(x * 7);
    uint16_t half;
    switch (dtype) {
      case DType::f32:
        std::memcpy(to + i * 4, &f, 4);
        break;
      case DType::f64:
        std::memcpy(to + i * 8, &x, 8);
        break;
      case DType::f16:
        half = f32_to_f16(f);
        std::memcpy(to + i * 2, &half, 2);
        break;
      case DType::bf16:
        half = f32_to_bf16(f);
        std::memcpy(to + i * 2, &half, 2);
        break;
      case DType::c64: {
        float im = static_cast<float>(normal(rng));
        std::memcpy(to + i * 8, &f, 4);
        std::memcpy(to + i * 8 + 4, &im, 4);
        break;
      }
      case DType::c128: {
        const double parts[] = {static_cast<double>(f), normal(rng)};
        std::memcpy(to + i * 16, parts, sizeof parts);
        break;
      }
      case DType::bool_:
        to[i] = static_cast<std::byte>(rng() & 1);
        break;
      default:
        std::memcpy(to + i * static_cast<int64_t>(size_of(dtype)), &whole, size_of(dtype));
    }
  }
  return t;
}

template <class... A>
Outputs run(const char* op, const A&... args) {
  install_executor();
  ArgBuilder b;
  (b.push(args), ...);
  const Op& called = get_op(op);
  return call(called, CompletedArgs(called, b.args()));
}
template <class... A>
Tensor run1(const char* op, const A&... args) {
  return std::move(run(op, args...)[0]);
}

/// The elements in row-major order, wherever they lie.
inline std::vector<std::byte> bytes_of(const Tensor& t) {
  Tensor c = t.geometry().is_contiguous() ? t : run1("clone", t);
  size_t n = static_cast<size_t>(c.numel().value()) * size_of(c.dtype());
  const std::byte* from = n > 0 ? c.data() : nullptr;
  return {from, from + n};
}

template <class T>
std::vector<T> values_of(const Tensor& t) {
  auto bytes = bytes_of(t);
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

template <class T>
Tensor tensor_of(const std::vector<T>& values, DType dtype, Shape shape) {
  install_executor();
  return from_host(values.data(), dtype, shape);
}

/// Bytes of a float tensor with every NaN the same: NaN is one value.
inline std::vector<std::byte> bits_of(const Tensor& t) {
  auto bytes = bytes_of(t);
  if (t.dtype() == DType::f32 || t.dtype() == DType::c64)
    for (size_t i = 0; i < bytes.size(); i += 4) {
      float x;
      std::memcpy(&x, &bytes[i], 4);
      if (std::isnan(x)) x = std::numeric_limits<float>::quiet_NaN();
      std::memcpy(&bytes[i], &x, 4);
    }
  if (t.dtype() == DType::f64 || t.dtype() == DType::c128)
    for (size_t i = 0; i < bytes.size(); i += 8) {
      double x;
      std::memcpy(&x, &bytes[i], 8);
      if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();
      std::memcpy(&bytes[i], &x, 8);
    }
  return bytes;
}

}  // namespace lathe::test
