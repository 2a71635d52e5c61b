// The reference engine: one element at a time, in portable C++, on raw bits. Every other engine is
// tested against it, so it is written to be read, not to be fast. What each primitive means is in
// core/scalar/scalar.h.
//
// A value travels as uint64_t, zero-extended from its dtype's width. `with_type` turns a DType into
// a C++ type once; the functions below it are templates on that type.
#include <bit>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/float_mode.h"
#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"
#include "core/expr/math_call.h"
#include "core/scalar/lane.h"
#include "core/scalar/philox.h"
#include "core/scalar/scalar.h"

namespace lathe {

using namespace expr_detail;

namespace {

/// f16 and bf16 in C++: only their bits.
template <DType D>
struct Half {
  uint16_t bits;
};

template <class T>
struct Tag {
  using type = T;
};

template <class F>
auto with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::bool_:
      return f(Tag<bool>{});
    case DType::u8:
      return f(Tag<uint8_t>{});
    case DType::i8:
      return f(Tag<int8_t>{});
    case DType::i16:
      return f(Tag<int16_t>{});
    case DType::i32:
      return f(Tag<int32_t>{});
    case DType::i64:
      return f(Tag<int64_t>{});
    case DType::u16:
      return f(Tag<uint16_t>{});
    case DType::u32:
      return f(Tag<uint32_t>{});
    case DType::u64:
      return f(Tag<uint64_t>{});
    case DType::f16:
      return f(Tag<Half<DType::f16>>{});
    case DType::bf16:
      return f(Tag<Half<DType::bf16>>{});
    case DType::f32:
      return f(Tag<float>{});
    case DType::f64:
      return f(Tag<double>{});
    default:
      LATHE_INTERNAL("a scalar function on a reserved dtype");
  }
}

template <class T>
constexpr bool is_half =
    std::is_same_v<T, Half<DType::f16>> || std::is_same_v<T, Half<DType::bf16>>;

template <size_t Bytes>
using Unsigned = std::conditional_t<
    Bytes == 1, uint8_t,
    std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else
    return std::bit_cast<T>(static_cast<Unsigned<sizeof(T)>>(bits));
}

template <class T>
uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else
    return std::bit_cast<Unsigned<sizeof(T)>>(value);
}

template <class T>
T float_op(Prim prim, T a, T b, T c) {
  switch (prim) {
    case Prim::add:
      return scalar::add(a, b);
    case Prim::sub:
      return scalar::sub(a, b);
    case Prim::mul:
      return scalar::mul(a, b);
    case Prim::div:
      return a / b;
    case Prim::fma:
      return scalar::fma(a, b, c);
    case Prim::neg:
      return scalar::neg(a);
    case Prim::abs:
      return scalar::abs(a);
    case Prim::sqrt:
      return scalar::sqrt(a);
    case Prim::pmin:
      return scalar::pmin(a, b);
    case Prim::pmax:
      return scalar::pmax(a, b);
    case Prim::floor:
      return scalar::floor(a);
    case Prim::ceil:
      return scalar::ceil(a);
    case Prim::trunc:
      return scalar::trunc(a);
    case Prim::rint:
      return scalar::rint(a);
    case Prim::fmod:
      return scalar::fmod(a, b);
    case Prim::round_magic:
      return scalar::round_magic(a, b);
    case Prim::addexp:
      return scalar::addexp(a, b);
    default:
      return math_call(prim, Lane<T>(a), Lane<T>(b)).value();
  }
}

template <class T>
T integer_op(Prim prim, T a, T b, T c) {
  switch (prim) {
    case Prim::add:
      return scalar::add(a, b);
    case Prim::sub:
      return scalar::sub(a, b);
    case Prim::mul:
      return scalar::mul(a, b);
    case Prim::fma:
      return scalar::fma(a, b, c);
    case Prim::neg:
      return scalar::neg(a);
    case Prim::abs:
      return scalar::abs(a);
    case Prim::pmin:
      return scalar::pmin(a, b);
    case Prim::pmax:
      return scalar::pmax(a, b);
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint:
      return a;
    case Prim::floor_div:
      return scalar::floor_div(a, b);
    case Prim::mod:
      return scalar::mod(a, b);
    case Prim::mulhi:
      return static_cast<T>(scalar::mulhi(static_cast<uint32_t>(a), static_cast<uint32_t>(b)));
    case Prim::bit_and:
      return static_cast<T>(a & b);
    case Prim::bit_or:
      return static_cast<T>(a | b);
    case Prim::bit_xor:
      return static_cast<T>(a ^ b);
    case Prim::bit_not:
      return static_cast<T>(~a);
    case Prim::shl:
      return scalar::shl(a, b);
    case Prim::shr:
      return scalar::shr(a, b);
    default:
      LATHE_INTERNAL("no integer meaning");
  }
}

bool bool_op(Prim prim, bool a, bool b) {
  switch (prim) {
    case Prim::bit_and:
      return a && b;
    case Prim::bit_or:
      return a || b;
    case Prim::bit_xor:
      return a != b;
    case Prim::bit_not:
      return !a;
    default:
      LATHE_INTERNAL("no meaning on bool");
  }
}

template <class T>
bool comparison(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::lt:
      return a < b;
    case Prim::le:
      return a <= b;
    case Prim::eq:
      return a == b;
    default:
      return a != b;
  }
}

// ── conversion ──────────────────────────────────────────────────────────────────────────────────
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<From, Half<DType::f16>>)
    return convert<To>(f16_to_f32(x.bits));
  else if constexpr (std::is_same_v<From, Half<DType::bf16>>)
    return convert<To>(bf16_to_f32(x.bits));
  else if constexpr (std::is_same_v<To, Half<DType::f16>>)
    return {f32_to_f16(convert<float>(x))};
  else if constexpr (std::is_same_v<To, Half<DType::bf16>>)
    return {f32_to_bf16(convert<float>(x))};
  else
    return scalar::cast<To>(x);
}

uint64_t cast_bits(DType to, DType from, uint64_t bits) {
  return with_type(to, [&](auto target) {
    return with_type(from, [&](auto source) {
      using To = typename decltype(target)::type;
      using From = typename decltype(source)::type;
      return to_bits(convert<To>(from_bits<From>(bits)));
    });
  });
}

/// The bits of a float; a NaN as the positive quiet one unless the node asked for raw bits.
uint64_t bits_of_float(DType dtype, uint64_t bits, bool raw) {
  if (raw) return bits;
  if (dtype == DType::f32) return scalar::bits(from_bits<float>(bits));
  return scalar::bits(from_bits<double>(bits));
}

uint64_t typed_op(const ExprNode& node, DType type, absl::Span<const uint64_t> args) {
  return with_type(type, [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    const auto operand = [&](size_t i) { return from_bits<T>(i < args.size() ? args[i] : 0); };
    if constexpr (is_half<T>) {
      LATHE_INTERNAL("arithmetic on a storage type");
    } else {
      const T a = operand(0), b = operand(1), c = operand(2);
      if (node.prim >= Prim::lt && node.prim <= Prim::ne)
        return comparison(node.prim, a, b) ? 1 : 0;
      if constexpr (std::is_same_v<T, bool>)
        return bool_op(node.prim, a, b) ? 1 : 0;
      else if constexpr (std::is_floating_point_v<T>)
        return to_bits(float_op(node.prim, a, b, c));
      else
        return to_bits(integer_op(node.prim, a, b, c));
    }
  });
}

uint64_t leaf(const ExprNode& node, const ScalarEnv& env) {
  switch (node.prim) {
    case Prim::constant:
      return node.payload;
    case Prim::index:
      return static_cast<uint64_t>(env.index[node.payload]);
    case Prim::linear:
      return static_cast<uint64_t>(env.linear);
    default:
      return philox_word(env.seed, env.call, static_cast<uint64_t>(env.linear),
                         static_cast<uint32_t>(node.payload));
  }
}

}  // namespace

uint64_t evaluate_prim(const ExprNode& node, absl::Span<const DType> types,
                       absl::Span<const uint64_t> args) {
  switch (node.prim) {
    case Prim::select:
      return args[0] != 0 ? args[1] : args[2];
    case Prim::rare:
      return args[0] != 0 ? args[2] : args[1];
    case Prim::check:
      return args[1];
    case Prim::cast:
      return cast_bits(node.dtype, types[0], args[0]);
    case Prim::bits:
      return bits_of_float(types[0], args[0], node.payload != 0);
    case Prim::frombits:
      return args[0];
    default:
      return typed_op(node, types[0], args);
  }
}

std::vector<uint64_t> evaluate(const ScalarFunction& f, const ScalarEnv& env) {
  const DefaultFloatMode mode;  // what the reference says depends on nothing outside
  std::vector<uint64_t> values(f.graph.size());
  std::vector<size_t> first;  // of each input's parts
  size_t parts = 0;
  for (DType d : f.inputs) {
    first.push_back(parts);
    parts += parts_of(d);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ExprNode& node = f.graph[static_cast<uint32_t>(i)];
    if (node.prim == Prim::input) {
      values[i] = env.inputs[first[node.payload]];
      continue;
    }
    if (node.prim == Prim::real || node.prim == Prim::imag) {
      const ExprNode& whole = f.graph[node.args[0]];
      values[i] = env.inputs[first[whole.payload] + (node.prim == Prim::imag ? 1 : 0)];
      continue;
    }
    if (node.arity == 0) {
      values[i] = leaf(node, env);
      continue;
    }
    DType types[3];
    uint64_t args[3];
    for (size_t k = 0; k < node.arity; ++k) {
      types[k] = f.graph[node.args[k]].dtype;
      args[k] = values[node.args[k]];
    }
    if (node.prim == Prim::check && args[0] == 0 && env.failed != nullptr) {
      const auto code = static_cast<uint32_t>(node.payload);
      if (*env.failed == 0 || code < *env.failed) *env.failed = code;
    }
    values[i] = evaluate_prim(node, {types, node.arity}, {args, node.arity});
  }
  std::vector<uint64_t> result;
  for (uint32_t id : f.outputs) result.push_back(values[id]);
  return result;
}

}  // namespace lathe
