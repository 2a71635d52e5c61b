// Vectors of sixteen bytes, which every processor has, and how they turn.
#pragma once

#include <utility>

namespace lathe::own {

/// Sixteen bytes of elements.
template <class T>
struct Few {
  static constexpr int kCount = 16 / sizeof(T);
  typedef T Vector __attribute__((vector_size(16)));

  /// The elements of both in turn: of the first halves, or of the second.
  template <int First, size_t... I>
  static Vector in_turn(Vector a, Vector b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (First + static_cast<int>(I) / 2 + I % 2 * kCount)...);
  }
  template <size_t... I>
  static Vector reversed(Vector a, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, a, (kCount - 1 - static_cast<int>(I))...);
  }
  /// What was lane j of row i becomes lane i of row j.
  [[gnu::always_inline]] static void transpose(Vector (&rows)[kCount]) {
    constexpr std::make_index_sequence<kCount> all{};
#pragma GCC unroll 4
    for (int round = 1; round < kCount; round *= 2) {
      Vector next[kCount];
#pragma GCC unroll 8
      for (int i = 0; i < kCount / 2; ++i) {
        next[2 * i] = in_turn<0>(rows[i], rows[i + kCount / 2], all);
        next[2 * i + 1] = in_turn<kCount / 2>(rows[i], rows[i + kCount / 2], all);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) rows[i] = next[i];
    }
  }
};

}  // namespace lathe::own
