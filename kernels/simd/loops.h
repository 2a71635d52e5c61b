// The loops of strip kernels: whole blocks of a fixed number of elements, and a padded block for
// what is left over. Each kernel's text exists once, in a `core` that takes whole blocks; nothing
// has a scalar tail.
//
// Included after a simd_*.h, only by the files of an instruction set; hence the unnamed namespace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/expr/prim.h"
#include "core/scalar/dtype.h"
#include "core/scalar/scalar.h"
#include "kernels/simd/simd_loops.h"

namespace lathe {
namespace {

/// The C++ type of a dtype's elements: bool as the byte it is stored in, halves as their bits.
template <DType D>
struct ElementOf;
// clang-format off
template <> struct ElementOf<DType::bool_> { using type = uint8_t; };
template <> struct ElementOf<DType::u8> { using type = uint8_t; };
template <> struct ElementOf<DType::i8> { using type = int8_t; };
template <> struct ElementOf<DType::i16> { using type = int16_t; };
template <> struct ElementOf<DType::i32> { using type = int32_t; };
template <> struct ElementOf<DType::i64> { using type = int64_t; };
template <> struct ElementOf<DType::u16> { using type = uint16_t; };
template <> struct ElementOf<DType::u32> { using type = uint32_t; };
template <> struct ElementOf<DType::u64> { using type = uint64_t; };
template <> struct ElementOf<DType::f16> { using type = uint16_t; };
template <> struct ElementOf<DType::bf16> { using type = uint16_t; };
template <> struct ElementOf<DType::f32> { using type = float; };
template <> struct ElementOf<DType::f64> { using type = double; };
// clang-format on
template <DType D>
using Element = typename ElementOf<D>::type;

template <class T>
LATHE_SIMD const T* as(const void* p) {
  return static_cast<const T*>(p);
}

/// memcpy of a few bytes, without the call.
LATHE_SIMD void copy_few(void* to, const void* from, size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  for (; bytes >= 64; bytes -= 64, t += 64, f += 64) __builtin_memcpy(t, f, 64);
  if (bytes & 32) __builtin_memcpy(t, f, 32), t += 32, f += 32;
  if (bytes & 16) __builtin_memcpy(t, f, 16), t += 16, f += 16;
  if (bytes & 8) __builtin_memcpy(t, f, 8), t += 8, f += 8;
  if (bytes & 4) __builtin_memcpy(t, f, 4), t += 4, f += 4;
  if (bytes & 2) __builtin_memcpy(t, f, 2), t += 2, f += 2;
  if (bytes & 1) *t = *f;
}

/// The last elements of an input, filled up to a block with one of them, so that no lane does what
/// none asked for.
template <class T, size_t B>
struct Padded {
  alignas(64) T at[B];
  LATHE_SIMD Padded(const void* from, size_t count) {
    T first = *as<T>(from);
    for (size_t i = 0; i < B; ++i) at[i] = first;
    copy_few(at, from, count * sizeof(T));
  }
};

/// Where input J stands after the whole blocks; one element for all stays where it is.
template <class T, size_t B, bool Single>
struct Rest {
  Padded<T, B> padded;
  LATHE_SIMD Rest(const void* in, size_t done, size_t count) : padded(as<T>(in) + done, count) {}
  LATHE_SIMD const void* data(const void*) const { return padded.at; }
};
template <class T, size_t B>
struct Rest<T, B, true> {
  LATHE_SIMD Rest(const void*, size_t, size_t) {}
  LATHE_SIMD const void* data(const void* in) const { return in; }
};

/// core(out, in, blocks) over all n elements. R, A...: element types; bit j of Splat: in[j] is one
/// element.
template <size_t B, unsigned Splat, class R, class A, class Core>
LATHE_SIMD void in_blocks1(Core core, void* out, const void* const* in, size_t n) {
  size_t whole = n / B, done = whole * B;
  if (whole != 0) core(static_cast<R*>(out), in, whole);
  if constexpr (B > 1) {
    if (done == n) return;
    Rest<A, B, (Splat & 1) != 0> a(in[0], done, n - done);
    const void* rest[] = {a.data(in[0])};
    alignas(64) R to[B];
    core(to, rest, 1);
    copy_few(static_cast<R*>(out) + done, to, (n - done) * sizeof(R));
  }
}
template <size_t B, unsigned Splat, class R, class A0, class A1, class Core>
LATHE_SIMD void in_blocks2(Core core, void* out, const void* const* in, size_t n) {
  size_t whole = n / B, done = whole * B;
  if (whole != 0) core(static_cast<R*>(out), in, whole);
  if constexpr (B > 1) {
    if (done == n) return;
    Rest<A0, B, (Splat & 1) != 0> a(in[0], done, n - done);
    Rest<A1, B, (Splat & 2) != 0> b(in[1], done, n - done);
    const void* rest[] = {a.data(in[0]), b.data(in[1])};
    alignas(64) R to[B];
    core(to, rest, 1);
    copy_few(static_cast<R*>(out) + done, to, (n - done) * sizeof(R));
  }
}
template <size_t B, unsigned Splat, class R, class A0, class A1, class A2, class Core>
LATHE_SIMD void in_blocks3(Core core, void* out, const void* const* in, size_t n) {
  size_t whole = n / B, done = whole * B;
  if (whole != 0) core(static_cast<R*>(out), in, whole);
  if constexpr (B > 1) {
    if (done == n) return;
    Rest<A0, B, (Splat & 1) != 0> a(in[0], done, n - done);
    Rest<A1, B, (Splat & 2) != 0> b(in[1], done, n - done);
    Rest<A2, B, (Splat & 4) != 0> c(in[2], done, n - done);
    const void* rest[] = {a.data(in[0]), b.data(in[1]), c.data(in[2])};
    alignas(64) R to[B];
    core(to, rest, 1);
    copy_few(static_cast<R*>(out) + done, to, (n - done) * sizeof(R));
  }
}

// ── float vectors ───────────────────────────────────────────────────────────────────────────────
/// Input J as a vector: the element set in all lanes once, or a load at each step.
template <class S, bool Single>
struct Lanes {
  S all;
  const typename S::Scalar* p;
  LATHE_SIMD explicit Lanes(const void* in) : p(as<typename S::Scalar>(in)) {
    if constexpr (Single) all = S(*p);
  }
  LATHE_SIMD S at(size_t i) const {
    if constexpr (Single)
      return all;
    else
      return load(p + i);
  }
  LATHE_SIMD S some(size_t i, size_t n) const {
    if constexpr (Single)
      return all;
    else
      return load_some(p + i, n);
  }
};

template <bool Streamed, class S>
LATHE_SIMD void put(typename S::Scalar* p, S x) {
  if constexpr (Streamed)
    stream(p, x);
  else
    store(p, x);
}

/// F::call on vectors S, for an F of an instruction or two: what is left over is one masked vector.
/// Streamed: stores go past the caches; `out` is aligned to a vector.
template <class F, class S, int Arity, unsigned Splat, bool Streamed = false>
void short_strip(void* out, const void* const* in, size_t n) {
  auto* to = static_cast<typename S::Scalar*>(out);
  Lanes<S, (Splat & 1) != 0> a(in[0]);
  Lanes<S, (Splat & 2) != 0> b(in[Arity > 1 ? 1 : 0]);
  Lanes<S, (Splat & 4) != 0> c(in[Arity > 2 ? 2 : 0]);
  size_t i = 0;
  for (; i + width<S> <= n; i += width<S>) {
    if constexpr (Arity == 1)
      put<Streamed>(to + i, F::call(a.at(i)));
    else if constexpr (Arity == 2)
      put<Streamed>(to + i, F::call(a.at(i), b.at(i)));
    else
      put<Streamed>(to + i, F::call(a.at(i), b.at(i), c.at(i)));
  }
  if constexpr (Streamed) end_of_stream();
  if constexpr (width < S >> 1) {
    n -= i;
    if (n == 0) return;
    if constexpr (Arity == 1)
      store_some(to + i, F::call(a.some(i, n)), n);
    else if constexpr (Arity == 2)
      store_some(to + i, F::call(a.some(i, n), b.some(i, n)), n);
    else
      store_some(to + i, F::call(a.some(i, n), b.some(i, n), c.some(i, n)), n);
  }
}

/// F::call on vectors S, for an F of many instructions, whose text should not be there twice.
template <class F, class S, int Arity, unsigned Splat>
[[gnu::noinline]] void vector_core(typename S::Scalar* out, const void* const* in, size_t blocks) {
  Lanes<S, (Splat & 1) != 0> a(in[0]);
  Lanes<S, (Splat & 2) != 0> b(in[Arity > 1 ? 1 : 0]);
  Lanes<S, (Splat & 4) != 0> c(in[Arity > 2 ? 2 : 0]);
  for (size_t i = 0; i < blocks * width<S>; i += width<S>) {
    if constexpr (Arity == 1)
      store(out + i, F::call(a.at(i)));
    else if constexpr (Arity == 2)
      store(out + i, F::call(a.at(i), b.at(i)));
    else
      store(out + i, F::call(a.at(i), b.at(i), c.at(i)));
  }
}
template <class F, class S, int Arity, unsigned Splat>
void vector_strip(void* out, const void* const* in, size_t n) {
  using T = typename S::Scalar;
  constexpr auto core = vector_core<F, S, Arity, Splat>;
  if constexpr (Arity == 1)
    in_blocks1<width<S>, Splat, T, T>(core, out, in, n);
  else if constexpr (Arity == 2)
    in_blocks2<width<S>, Splat, T, T, T>(core, out, in, n);
  else
    in_blocks3<width<S>, Splat, T, T, T, T>(core, out, in, n);
}

/// F::call(S, S) giving a mask, stored as bools.
template <class F, class S, unsigned Splat>
[[gnu::noinline]] void compare_core(uint8_t* out, const void* const* in, size_t blocks) {
  Lanes<S, (Splat & 1) != 0> a(in[0]);
  Lanes<S, (Splat & 2) != 0> b(in[1]);
  for (size_t i = 0; i < blocks * width<S>; i += width<S>)
    store_mask(out + i, F::call(a.at(i), b.at(i)));
}
template <class F, class S, unsigned Splat>
void compare_strip(void* out, const void* const* in, size_t n) {
  using T = typename S::Scalar;
  in_blocks2<width<S>, Splat, uint8_t, T, T>(compare_core<F, S, Splat>, out, in, n);
}

/// F::call(S, S) giving a mask that chooses between two more.
template <class F, class S, unsigned Splat>
void choice_strip(void* out, const void* const* in, size_t n) {
  auto* to = static_cast<typename S::Scalar*>(out);
  Lanes<S, (Splat & 1) != 0> a(in[0]);
  Lanes<S, (Splat & 2) != 0> b(in[1]);
  Lanes<S, (Splat & 4) != 0> yes(in[2]);
  Lanes<S, (Splat & 8) != 0> no(in[3]);
  size_t i = 0;
  for (; i + width<S> <= n; i += width<S>)
    store(to + i, S::select(F::call(a.at(i), b.at(i)), yes.at(i), no.at(i)));
  if constexpr (width < S >> 1) {
    n -= i;
    if (n == 0) return;
    store_some(to + i,
               S::select(F::call(a.some(i, n), b.some(i, n)), yes.some(i, n), no.some(i, n)), n);
  }
}

/// select with a bool array as its condition.
template <class S, unsigned Splat>
[[gnu::noinline]] void select_core(typename S::Scalar* out, const void* const* in, size_t blocks) {
  const auto* condition = as<uint8_t>(in[0]);
  Lanes<S, (Splat & 2) != 0> yes(in[1]);
  Lanes<S, (Splat & 4) != 0> no(in[2]);
  for (size_t i = 0; i < blocks * width<S>; i += width<S>) {
    typename S::Mask m;
    load_mask(condition + i, m);
    store(out + i, S::select(m, yes.at(i), no.at(i)));
  }
}
template <class S, unsigned Splat>
void select_strip(void* out, const void* const* in, size_t n) {
  using T = typename S::Scalar;
  in_blocks3<width<S>, Splat, T, uint8_t, T, T>(select_core<S, Splat>, out, in, n);
}

// ── loops the compiler turns into vectors ───────────────────────────────────────────────────────
/// Elements a block: a whole number of vectors for every element size, in a loop from 0 to a
/// constant: g++ vectorises that shape at -O2, and hardly any other.
inline constexpr size_t kPlainBlock = 64;

template <class T, bool Single>
struct Plain {
  T all;
  const T* p;
  LATHE_SIMD explicit Plain(const void* in) : p(as<T>(in)) {
    if constexpr (Single) all = *p;
  }
  LATHE_SIMD T at(size_t i) const {
    if constexpr (Single)
      return all;
    else
      return p[i];
  }
  LATHE_SIMD void advance(size_t count) {
    if constexpr (!Single) p += count;
  }
};

/// out[i] = F::call(T ...) with B elements a block; B = 1 where a vector could not help.
template <class F, class R, class T, int Arity, unsigned Splat, size_t B>
[[gnu::noinline]] void plain_core(R* out, const void* const* in, size_t blocks) {
  Plain<T, (Splat & 1) != 0> a(in[0]);
  Plain<T, (Splat & 2) != 0> b(in[Arity > 1 ? 1 : 0]);
  Plain<T, (Splat & 4) != 0> c(in[Arity > 2 ? 2 : 0]);
  for (; blocks != 0; --blocks) {
#pragma GCC ivdep  // `out` may be an input, element by element
    for (size_t i = 0; i < B; ++i) {
      if constexpr (Arity == 1)
        out[i] = static_cast<R>(F::call(a.at(i)));
      else if constexpr (Arity == 2)
        out[i] = static_cast<R>(F::call(a.at(i), b.at(i)));
      else
        out[i] = static_cast<R>(F::call(a.at(i), b.at(i), c.at(i)));
    }
    out += B;
    a.advance(B), b.advance(B), c.advance(B);
  }
}
template <class F, class R, class T, int Arity, unsigned Splat, size_t B = kPlainBlock>
void plain_strip(void* out, const void* const* in, size_t n) {
  constexpr auto core = plain_core<F, R, T, Arity, Splat, B>;
  if constexpr (Arity == 1)
    in_blocks1<B, Splat, R, T>(core, out, in, n);
  else if constexpr (Arity == 2)
    in_blocks2<B, Splat, R, T, T>(core, out, in, n);
  else
    in_blocks3<B, Splat, R, T, T, T>(core, out, in, n);
}

/// select among elements of this size, whatever they are.
template <class T, unsigned Splat>
[[gnu::noinline]] void choose_core(T* out, const void* const* in, size_t blocks) {
  Plain<uint8_t, false> condition(in[0]);
  Plain<T, (Splat & 2) != 0> yes(in[1]);
  Plain<T, (Splat & 4) != 0> no(in[2]);
  constexpr size_t B = kPlainBlock;
  for (; blocks != 0; --blocks) {
#pragma GCC ivdep
    for (size_t i = 0; i < B; ++i) {
      T y = yes.at(i), x = no.at(i);
      out[i] = condition.at(i) != 0 ? y : x;
    }
    out += B;
    condition.advance(B), yes.advance(B), no.advance(B);
  }
}
template <class T, unsigned Splat>
void choose_strip(void* out, const void* const* in, size_t n) {
  in_blocks3<kPlainBlock, Splat, T, uint8_t, T, T>(choose_core<T, Splat>, out, in, n);
}

// ── the table ───────────────────────────────────────────────────────────────────────────────────
LATHE_SIMD StripFn& slot(SimdLoops& set, Prim prim, DType dtype, unsigned splat = 0) {
  return set.prim[splat][static_cast<int>(prim)][static_cast<int>(dtype)];
}

}  // namespace
}  // namespace lathe
