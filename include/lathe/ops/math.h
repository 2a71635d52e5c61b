// Elementwise arithmetic, comparison and logic.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct math_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Unary = T(T x);
  using Binary = T(Any x, Any y);
  static inline const Fn<T, Binary> add{"add"};
  static inline const Fn<T, Binary> sub{"sub"};
  static inline const Fn<T, Binary> mul{"mul"};
  static inline const Fn<T, Binary> div{"div"};
  static inline const Fn<T, T(Any x, Any y, Any z)> fma{"fma"};
  static inline const Fn<T, T(Any x, Any y, Any weight)> lerp{"lerp"};
  static inline const Fn<T, Binary> floor_divide{"floor_divide"};
  static inline const Fn<T, Binary> div_floor{"div_floor"};
  static inline const Fn<T, Binary> div_trunc{"div_trunc"};
  static inline const Fn<T, Binary> remainder{"remainder"};
  static inline const Fn<T, Binary> fmod{"fmod"};
  static inline const Fn<T, Binary> pow{"pow"};
  static inline const Fn<T, Binary> atan2{"atan2"};
  static inline const Fn<T, Binary> maximum{"maximum"};
  static inline const Fn<T, Binary> minimum{"minimum"};
  static inline const Fn<T, Binary> clamp_min{"clamp_min"};
  static inline const Fn<T, Binary> clamp_max{"clamp_max"};
  static inline const Fn<T, T(T x, Any min, Any max)> clamp{"clamp"};
  static inline const Fn<T, Unary> neg{"neg"};
  static inline const Fn<T, Unary> abs{"abs"};
  static inline const Fn<T, Unary> sign{"sign"};
  static inline const Fn<T, Unary> sqrt{"sqrt"};
  static inline const Fn<T, Unary> rsqrt{"rsqrt"};
  static inline const Fn<T, Unary> square{"square"};
  static inline const Fn<T, Unary> reciprocal{"reciprocal"};
  static inline const Fn<T, Unary> exp{"exp"};
  static inline const Fn<T, Unary> exp2{"exp2"};
  static inline const Fn<T, Unary> expm1{"expm1"};
  static inline const Fn<T, Unary> log{"log"};
  static inline const Fn<T, Unary> log2{"log2"};
  static inline const Fn<T, Unary> log10{"log10"};
  static inline const Fn<T, Unary> log1p{"log1p"};
  static inline const Fn<T, Unary> tanh{"tanh"};
  static inline const Fn<T, Unary> sigmoid{"sigmoid"};
  static inline const Fn<T, Unary> erf{"erf"};
  static inline const Fn<T, Unary> erfc{"erfc"};
  static inline const Fn<T, Unary> sin{"sin"};
  static inline const Fn<T, Unary> cos{"cos"};
  static inline const Fn<T, Unary> tan{"tan"};
  static inline const Fn<T, Unary> asin{"asin"};
  static inline const Fn<T, Unary> acos{"acos"};
  static inline const Fn<T, Unary> atan{"atan"};
  static inline const Fn<T, Unary> sinh{"sinh"};
  static inline const Fn<T, Unary> cosh{"cosh"};
  static inline const Fn<T, Unary> floor{"floor"};
  static inline const Fn<T, Unary> ceil{"ceil"};
  static inline const Fn<T, Unary> trunc{"trunc"};
  static inline const Fn<T, Unary> round{"round"};
  static inline const Fn<T, Unary> clone{"clone"};
  static inline const Fn<T, T(T x, Any dtype)> cast{"cast"};
  static inline const Fn<T, T(T condition, Any x, Any y)> where{"where"};
  static inline const Fn<T, Binary> eq{"eq"};
  static inline const Fn<T, Binary> ne{"ne"};
  static inline const Fn<T, Binary> lt{"lt"};
  static inline const Fn<T, Binary> le{"le"};
  static inline const Fn<T, Binary> gt{"gt"};
  static inline const Fn<T, Binary> ge{"ge"};
  static inline const Fn<T, Binary> bitwise_and{"bitwise_and"};
  static inline const Fn<T, Binary> bitwise_or{"bitwise_or"};
  static inline const Fn<T, Binary> bitwise_xor{"bitwise_xor"};
  static inline const Fn<T, Unary> bitwise_not{"bitwise_not"};
  static inline const Fn<T, Binary> logical_and{"logical_and"};
  static inline const Fn<T, Binary> logical_or{"logical_or"};
  static inline const Fn<T, Unary> logical_not{"logical_not"};
  static inline const Fn<T, Unary> isnan{"isnan"};
  static inline const Fn<T, Unary> isfinite{"isfinite"};
  static inline const Fn<T, Unary> real{"real"};
  static inline const Fn<T, Unary> imag{"imag"};
  static inline const Fn<T, T(T re, T im)> complex{"complex"};
  static inline const Fn<T, Unary> conj{"conj"};
  static inline const Fn<T, Unary> probability{"probability"};
  static inline const Fn<T, Unary> weight{"weight"};
};
}  // namespace lathe
