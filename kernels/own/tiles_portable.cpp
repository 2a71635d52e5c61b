// Matrix tiles for any machine: plain arrays, the fused multiply-add by the C library. Slow where
// the machine has no FMA, and the proof that the bits do not depend on vectors.
#include <cstdint>
#include <utility>

#include "kernels/own/tile_body.h"

namespace lathe::own {
namespace {

template <class Number, int Lanes>
struct Plain {
  using T = Number;
  struct Reg {
    T x[Lanes];
  };
  struct Mask {
    int lo, hi;
  };
  static constexpr int lanes = Lanes, rows = 4, vectors = 1, direct_rows = 4;
  static constexpr bool fast_parts = true;
  static Reg zero() { return {}; }
  static Reg all(T x) {
    Reg r;
    for (T& y : r.x) y = x;
    return r;
  }
  static Reg load(const T* p) { return load_some(p, {0, Lanes}); }
  static void store(T* p, Reg x) { store_some(p, x, {0, Lanes}); }
  static Mask first(int n) { return {0, n < 0 ? 0 : n > Lanes ? Lanes : n}; }
  static Mask range(int lo, int hi) { return {lo < 0 ? 0 : lo, hi > Lanes ? Lanes : hi}; }
  static Reg load_some(const T* p, Mask m) { return merge({}, p, m); }
  static Reg merge(Reg r, const T* p, Mask m) {
    for (int i = m.lo; i < m.hi; ++i) r.x[i] = p[i];
    return r;
  }
  static Reg merge_strided(Reg r, const T* p, int64_t step, Mask, int lo, int hi) {
    for (int i = lo; i < hi; ++i) r.x[i] = p[i * step];
    return r;
  }
  static void store_some(T* p, const Reg& r, Mask m) {
    for (int i = m.lo; i < m.hi; ++i) p[i] = r.x[i];
  }
  static Reg add(const Reg& a, const Reg& b) {
    Reg r;
    for (int i = 0; i < Lanes; ++i) r.x[i] = a.x[i] + b.x[i];
    return r;
  }
  static Reg fma(const Reg& a, const Reg& b, const Reg& c) {
    Reg r;
    for (int i = 0; i < Lanes; ++i) r.x[i] = multiply_add(a.x[i], b.x[i], c.x[i]);
    return r;
  }
  static void unzip(const Reg& a, const Reg& b, Reg& even, Reg& odd) {
    for (int i = 0; i < Lanes; ++i) {
      const Reg& from = 2 * i < Lanes ? a : b;
      const int at = 2 * i % Lanes;
      even.x[i] = from.x[at];
      odd.x[i] = from.x[at + 1];
    }
  }
  static void zip(const Reg& even, const Reg& odd, Reg& a, Reg& b) {
    for (int i = 0; i < Lanes; ++i) {
      Reg& to = 2 * i < Lanes ? a : b;
      const int at = 2 * i % Lanes;
      to.x[at] = even.x[i];
      to.x[at + 1] = odd.x[i];
    }
  }
  static void transpose(Reg* r) {
    for (int i = 0; i < Lanes; ++i)
      for (int j = 0; j < i; ++j) std::swap(r[i].x[j], r[j].x[i]);
  }
};

constexpr TileSets kSets{
    tiles_of<Plain<float, 8>>("portable"), tiles_of<Plain<double, 4>>("portable"),
    tiles_of<Plain<uint32_t, 8>>("portable"), tiles_of<Plain<uint64_t, 4>>("portable")};

}  // namespace

const TileSets& tiles_portable() { return kSets; }

}  // namespace lathe::own
