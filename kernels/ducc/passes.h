// ducc's one-dimensional transforms, with vectors of ours in place of its own.
//
// A vector holds one element of each of several lines, so a lane goes through the same operations
// as a line alone, and has its bits. ducc's header of vectors is left out by its guard: it takes
// the standard library's, in four widths where one is wanted, and three times as long to compile.
#pragma once

#include <cstddef>

#define DUCC0_SIMD_H
#define DUCC0_NO_LOWLEVEL_THREADING  // a transform is one thread's; lines go to the pool of Lathe

namespace ducc0 {

// As wide as the registers that this copy is compiled for.
#if defined(__AVX512F__)
inline constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr size_t kVectorBytes = 32;
#else
inline constexpr size_t kVectorBytes = 16;
#endif

template <class T>
struct RawVector;
template <>
struct RawVector<float> {
  typedef float type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct RawVector<double> {
  typedef double type __attribute__((vector_size(kVectorBytes)));
};

template <class T>
struct Vector {
  using value_type = T;
  using Raw = typename RawVector<T>::type;
  Raw raw;

  static constexpr size_t size() { return kVectorBytes / sizeof(T); }
  Vector() = default;
  Vector(Raw other) : raw(other) {}
  Vector(T all) : raw(all - Raw{}) {}  // a difference: +0 - (+0) and -0 - (+0) keep their signs

  T& operator[](size_t i) { return reinterpret_cast<T*>(&raw)[i]; }
  T operator[](size_t i) const { return raw[i]; }
  Vector operator-() const { return -raw; }
  Vector operator+(Vector other) const { return raw + other.raw; }
  Vector operator-(Vector other) const { return raw - other.raw; }
  Vector operator*(Vector other) const { return raw * other.raw; }
  Vector operator*(T other) const { return raw * other; }
  friend Vector operator*(T a, Vector b) { return a * b.raw; }
  Vector& operator+=(Vector other) { return raw += other.raw, *this; }
  Vector& operator-=(Vector other) { return raw -= other.raw, *this; }
  Vector& operator*=(T other) { return raw *= other, *this; }
};

template <class T>
using native_simd = Vector<T>;
template <class T, size_t lanes>
inline constexpr bool simd_exists = lanes == Vector<T>::size();
template <class T, size_t lanes>
struct simd_select {
  using type = Vector<T>;
};

}  // namespace ducc0

// after the vectors they are made of
#include <ducc0/fft/fft1d_impl.h>
