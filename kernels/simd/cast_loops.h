// Strips that move elements: conversion between stored dtypes, gathering from and scattering to
// strided memory, filling, index ramps, random words.
#pragma once

#include <utility>

#include "core/scalar/philox.h"
#include "kernels/simd/loops.h"

namespace lathe {
namespace {

// ── conversion between plain types ──────────────────────────────────────────────────────────────
template <class To>
struct CastTo {
  template <class From>
  LATHE_SIMD static To call(From x) {
    return scalar::cast<To>(x);
  }
};

template <DType From, DType To>
LATHE_SIMD void plain_cast(void* out, const void* const* in, size_t n) {
  using Target = std::conditional_t<To == DType::bool_, bool, Element<To>>;
  if constexpr (sizeof(Element<From>) == sizeof(Element<To>) && !scalar::is_float<Element<From>> &&
                !scalar::is_float<Element<To>> && To != DType::bool_)
    plain_strip<CastTo<Element<To>>, Element<To>, Element<From>, 1, 0>(out, in, n);
  else
    plain_strip<CastTo<Target>, Element<To>, Element<From>, 1, 0>(out, in, n);
}

// ── half types ↔ float ──────────────────────────────────────────────────────────────────────────
constexpr bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

template <DType Half>
[[gnu::noinline]] void widen_core(float* out, const void* const* in, size_t blocks) {
  const auto* from = as<uint16_t>(in[0]);
  for (size_t i = 0; i < blocks * width<F32>; i += width<F32>) {
    if constexpr (Half == DType::f16)
      store(out + i, load_f16(from + i));
    else
      store(out + i, load_bf16(from + i));
  }
}

/// To nearest even by integer arithmetic: the instruction for it flushes subnormals.
LATHE_SIMD F32::Bits to_bf16(F32 x) {
  using B = F32::Bits;
  B w = F32::bits(x), upper = F32::shr(w, 16);
  B rounded = F32::shr(w + B(0x7fffu) + (upper & B(1u)), 16);
  return F32::select(F32::ne(x, x), upper | B(0x40u), rounded);
}
template <DType Half>
[[gnu::noinline]] void narrow_core(uint16_t* out, const void* const* in, size_t blocks) {
  const auto* from = as<float>(in[0]);
  for (size_t i = 0; i < blocks * width<F32>; i += width<F32>) {
    if constexpr (Half == DType::f16)
      store_f16(out + i, load(from + i));
    else
      store_low_halves(out + i, to_bf16(load(from + i)));
  }
}

template <DType From, DType To>
void cast_strip(void* out, const void* const* in, size_t n);

/// By way of float, a piece at a time.
template <DType From, DType To>
LATHE_SIMD void cast_by_float(void* out, const void* const* in, size_t n) {
  constexpr size_t kPiece = 512;
  alignas(64) float between[kPiece];
  auto* to = static_cast<Element<To>*>(out);
  const auto* from = as<Element<From>>(in[0]);
  for (size_t i = 0; i < n; i += kPiece) {
    size_t count = n - i < kPiece ? n - i : kPiece;
    const void *first[] = {from + i}, *second[] = {between};
    cast_strip<From, DType::f32>(between, first, count);
    cast_strip<DType::f32, To>(to + i, second, count);
  }
}

template <DType From, DType To>
void cast_strip(void* out, const void* const* in, size_t n) {
  if constexpr (is_half(From) && To == DType::f32)
    in_blocks1<width<F32>, 0, float, uint16_t>(widen_core<From>, out, in, n);
  else if constexpr (From == DType::f32 && is_half(To))
    in_blocks1<width<F32>, 0, uint16_t, float>(narrow_core<To>, out, in, n);
  else if constexpr (is_half(From) || is_half(To))
    cast_by_float<From, To>(out, in, n);
  else
    plain_cast<From, To>(out, in, n);
}

template <DType From, DType To>
void add_cast_pair(SimdLoops& set) {
  if constexpr (From != To)
    set.cast[static_cast<int>(From)][static_cast<int>(To)] = cast_strip<From, To>;
}
template <DType From>
void add_casts_from(SimdLoops& set) {
  add_cast_pair<From, DType::bool_>(set);
  add_cast_pair<From, DType::u8>(set);
  add_cast_pair<From, DType::i8>(set);
  add_cast_pair<From, DType::i16>(set);
  add_cast_pair<From, DType::i32>(set);
  add_cast_pair<From, DType::i64>(set);
  add_cast_pair<From, DType::u16>(set);
  add_cast_pair<From, DType::u32>(set);
  add_cast_pair<From, DType::u64>(set);
  add_cast_pair<From, DType::f16>(set);
  add_cast_pair<From, DType::bf16>(set);
  add_cast_pair<From, DType::f32>(set);
  add_cast_pair<From, DType::f64>(set);
}

// ── strided memory ──────────────────────────────────────────────────────────────────────────────
template <class T>
void fill_strip(void* out, const void* element, size_t n) {
  const void* in[] = {element};
  struct All {
    LATHE_SIMD static T call(T x) { return x; }
  };
  plain_strip<All, T, T, 1, 1>(out, in, n);
}
/// Every second element: two loads and a permutation for a line of the cache.
template <class T, size_t... Lane>
void gather_second(unsigned char* to, const unsigned char* from, size_t n,
                   std::index_sequence<Lane...>) {
  constexpr size_t lanes = sizeof...(Lane), bytes = lanes * sizeof(T);
  using Line [[gnu::vector_size(bytes)]] = T;
  size_t i = 0;
  for (; i + lanes < n; i += lanes, to += bytes, from += 2 * bytes) {
    Line low, high;
    __builtin_memcpy(&low, from, bytes);
    __builtin_memcpy(&high, from + bytes, bytes);
    low = __builtin_shufflevector(low, high, (2 * Lane)...);
    __builtin_memcpy(to, &low, bytes);
  }
  for (; i < n; ++i, to += sizeof(T), from += 2 * sizeof(T)) __builtin_memcpy(to, from, sizeof(T));
}
template <class T>
void gather_strip(void* out, const void* in, ptrdiff_t stride, size_t n) {
  if (stride == sizeof(T)) return copy_few(out, in, n * sizeof(T));
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
    if (stride == 2 * sizeof(T))
      return gather_second<T>(static_cast<unsigned char*>(out),
                              static_cast<const unsigned char*>(in), n,
                              std::make_index_sequence<64 / sizeof(T)>());
  auto* to = static_cast<unsigned char*>(out);
  const auto* from = static_cast<const unsigned char*>(in);
#pragma GCC unroll 4
  for (size_t i = 0; i < n; ++i) {
    __builtin_memcpy(to, from, sizeof(T));
    to += sizeof(T), from += stride;
  }
}
template <class T>
void scatter_strip(void* out, ptrdiff_t stride, const void* in, size_t n) {
  auto* to = static_cast<unsigned char*>(out);
  const auto* from = static_cast<const unsigned char*>(in);
#pragma GCC unroll 4
  for (size_t i = 0; i < n; ++i) {
    __builtin_memcpy(to, from, sizeof(T));
    to += stride, from += sizeof(T);
  }
}
template <class T>
void add_moves(SimdLoops& set) {
  constexpr int c = size_class(sizeof(T));
  set.fill[c] = fill_strip<T>;
  set.gather[c] = gather_strip<T>;
  set.scatter[c] = scatter_strip<T>;
}

inline void stream_strip(void* out, const void* in, size_t bytes, bool last) {
  constexpr size_t step = width<F32> * sizeof(float);
  auto* to = static_cast<unsigned char*>(out);
  const auto* from = static_cast<const unsigned char*>(in);
  size_t head = (step - reinterpret_cast<uintptr_t>(to) % step) % step;
  head = head < bytes ? head : bytes;
  __builtin_memcpy(to, from, head);
  size_t at = head;
  for (; at + step <= bytes; at += step)
    stream(reinterpret_cast<float*>(to + at), load(reinterpret_cast<const float*>(from + at)));
  __builtin_memcpy(to + at, from + at, bytes - at);
  if (last) end_of_stream();
}

/// By the signs of v and last - v.
inline bool all_within_strip(const int64_t* values, size_t n, int64_t last) {
  constexpr size_t at_once = 16;
  const auto limit = static_cast<uint64_t>(last);
  uint64_t signs[at_once] = {};
  for (; n >= at_once; n -= at_once, values += at_once)
    for (size_t k = 0; k < at_once; ++k) {
      const auto v = static_cast<uint64_t>(values[k]);
      signs[k] |= v | (limit - v);
    }
  uint64_t any = 0;
  for (size_t k = 0; k < n; ++k) {
    const auto v = static_cast<uint64_t>(values[k]);
    any |= v | (limit - v);
  }
  for (uint64_t s : signs) any |= s;
  return any >> 63 == 0;
}

// ── made from nothing ───────────────────────────────────────────────────────────────────────────
inline void ramp_strip(int64_t* out, int64_t first, int64_t step, size_t n) {
  auto from = static_cast<uint64_t>(first), by = static_cast<uint64_t>(step);
  size_t i = 0;
  for (; i + 8 <= n; i += 8, from += 8 * by)
    for (size_t k = 0; k < 8; ++k) out[i + k] = static_cast<int64_t>(from + k * by);
  for (size_t k = 0; i < n; ++i, ++k) out[i] = static_cast<int64_t>(from + k * by);
}

struct RandomCounter {
  alignas(64) uint32_t low[Words::width], high[Words::width];
  LATHE_SIMD explicit RandomCounter(uint64_t linear) {
    for (size_t k = 0; k < Words::width; ++k) {
      low[k] = static_cast<uint32_t>(linear + k);
      high[k] = static_cast<uint32_t>((linear + k) >> 32);
    }
  }
};

inline void random_strip(uint32_t* const* out, uint64_t seed, uint64_t call, uint64_t linear,
                         uint32_t block, size_t n) {
  auto half = [](uint64_t x, int which) __attribute__((always_inline)) {
    return static_cast<uint32_t>(x >> (32 * which));
  };
  const PhiloxKey<Words> key{Words(half(seed, 0)), Words(half(seed, 1))};
  for (size_t i = 0; i < n; i += Words::width) {
    RandomCounter at(linear + i);
    auto words = philox4x32_10<Words>(
        philox_counter<Words>(Words::load(at.low), Words::load(at.high), Words(half(call, 0)),
                              Words(half(call, 1)), block),
        key);
    size_t count = n - i < Words::width ? n - i : Words::width;
    for (size_t w = 0; w < 4; ++w) {
      if (out[w] == nullptr) continue;
      if (count == Words::width) {
        words[w].store(out[w] + i);
      } else {
        alignas(64) uint32_t rest[Words::width];
        words[w].store(rest);
        copy_few(out[w] + i, rest, count * sizeof(uint32_t));
      }
    }
  }
}

/// First byte that is 0 (Wanted false) or not 0.
template <bool Wanted>
size_t find_strip(const uint8_t* bools, size_t n) {
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    uint64_t w[8], all = ~uint64_t{0}, any = 0;
    __builtin_memcpy(w, bools + i, 64);
    for (uint64_t x : w) {
      all &= x;
      any |= x;
    }
    if (Wanted ? any != 0 : all != 0x0101010101010101u) break;
  }
  for (; i < n; ++i)
    if ((bools[i] != 0) == Wanted) return i;
  return n;
}

inline void add_cast(SimdLoops& set) {
  add_casts_from<DType::bool_>(set);
  add_casts_from<DType::u8>(set);
  add_casts_from<DType::i8>(set);
  add_casts_from<DType::i16>(set);
  add_casts_from<DType::i32>(set);
  add_casts_from<DType::i64>(set);
  add_casts_from<DType::u16>(set);
  add_casts_from<DType::u32>(set);
  add_casts_from<DType::u64>(set);
  add_casts_from<DType::f16>(set);
  add_casts_from<DType::bf16>(set);
  add_casts_from<DType::f32>(set);
  add_casts_from<DType::f64>(set);
  add_moves<uint8_t>(set);
  add_moves<uint16_t>(set);
  add_moves<uint32_t>(set);
  add_moves<uint64_t>(set);
  add_moves<TwoWords>(set);
  set.stream = stream_strip;
  set.ramp = ramp_strip;
  set.random = random_strip;
  set.find_false = find_strip<false>;
  set.find_true = find_strip<true>;
  set.all_within = all_within_strip;
}

}  // namespace
}  // namespace lathe
