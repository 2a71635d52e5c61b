// fmod: the exact remainder by one division where the quotient is small.
#pragma once

#include "core/scalar/math/base.h"

namespace lathe::math {

/// x - trunc(x / y) y with the sign of x, exactly (scalar::fmod); `slow` gives it where x / y is
/// 2^22 (2^51) or more, or an operand is no finite number.
///
/// The rounded quotient, cut, is the whole one or, where it was rounded up to an integer, one more.
/// What is left then lies within (-|y|, |y|) and is a multiple of y's last place, so that neither
/// the fma nor the correction rounds.
template <class S, class Slow>
[[gnu::always_inline]] inline S fmod(S x, S y, Slow slow) {
  const S ay = S::abs(y), whole = S::trunc(x / y);
  typename S::Mask near =
      S::lt(S::abs(whole), num<S>(single<S> ? 0x1p22 : 0x1p51)) & S::lt(ay, infinity<S>());
  S r = fma(-whole, y, x);
  typename S::Mask over = S::lt(r, num<S>(0)) ^ S::lt(x, num<S>(0));
  r = S::select(over & S::ne(r, num<S>(0)), r + with_sign_of(ay, x), r);
  return S::rare(~near, with_sign_of(S::abs(r), x), slow);
}

}  // namespace lathe::math
