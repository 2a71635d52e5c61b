// What the two files of SymScope share: numbers that may mean "no bound", and forms.
#pragma once

#include <limits>

#include "core/sizes/sympoly.h"

namespace lathe::bounded {

// Bounds saturate, and a saturated bound stays so: it means "no bound".
inline constexpr int64_t kInf = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMostInt = (int64_t{1} << 62) - 1;
using Wide = __int128;

inline int64_t bound(Wide v) {
  return v >= kInf ? kInf : v <= -kInf ? -kInf : static_cast<int64_t>(v);
}
inline bool infinite(int64_t v) { return v == kInf || v == -kInf; }
inline int64_t add(int64_t a, int64_t b) {
  return infinite(a) ? a : infinite(b) ? b : bound(Wide{a} + b);
}
inline int64_t multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kInf : -kInf;
  return bound(Wide{a} * b);
}
inline int64_t divide_down(int64_t a, int64_t b) {  // b > 0
  if (infinite(a)) return a;
  if (infinite(b)) return a < 0 ? -1 : 0;
  return a / b - (a % b < 0);
}
inline int64_t divide_up(int64_t a, int64_t b) { return infinite(a) ? a : -divide_down(-a, b); }

}  // namespace lathe::bounded

namespace lathe {

// e = scale * form + constant. Only for symbolic e.
struct SymScope::Form : poly::Scaled {
  int64_t up(int64_t v) const { return bounded::add(bounded::multiply(scale, v), constant); }
  Range up(const Range& r) const {
    Range out{up(r.low), up(r.high)};
    if (scale < 0) std::swap(out.low, out.high);
    for (int64_t v : r.not_these) out.not_these.push_back(up(v));
    return out;
  }
  Range down(const Range& r) const {
    int64_t low = bounded::add(r.low, -constant), high = bounded::add(r.high, -constant),
            by = scale;
    if (by < 0) {
      by = -by;
      std::swap(low, high);
      low = -low;
      high = -high;
    }
    Range out{bounded::divide_up(low, by), bounded::divide_down(high, by)};
    for (int64_t v : r.not_these)
      if ((v - constant) % scale == 0) out.not_these.push_back((v - constant) / scale);
    return out;
  }
};

}  // namespace lathe
