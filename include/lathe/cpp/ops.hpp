// Ops on tensors, and their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lathe/cpp/tensor.hpp"
#include "lathe/ops/activations.h"
#include "lathe/ops/arithmetic.h"
#include "lathe/ops/create.h"
#include "lathe/ops/fft.h"
#include "lathe/ops/fn.h"
#include "lathe/ops/index.h"
#include "lathe/ops/linalg.h"
#include "lathe/ops/loss.h"
#include "lathe/ops/math.h"
#include "lathe/ops/nn.h"
#include "lathe/ops/pool.h"
#include "lathe/ops/products.h"
#include "lathe/ops/random.h"
#include "lathe/ops/reduce.h"
#include "lathe/ops/shape.h"
#include "lathe/ops/special.h"

namespace lathe {
inline namespace v1 {

/// A list of sizes or axes: braces, a vector, or one number.
struct Ints {
  Sizes values;
  Ints(std::initializer_list<int64_t> list) : values(list) {}
  Ints(const Sizes& list) : values(list) {}
  Ints(int64_t one) : values{one} {}
  Ints(int one) : values{one} {}
};

/// An argument that may be None, a number, a dtype or a tensor.
class Any {
 public:
  Any() = default;
  Any(std::nullptr_t) {}
  Any(const Tensor& t) : tensor_(t) {
    if (t.defined()) set(LATHE_ARG_TENSOR).tensor = tensor_.get();
  }
  /// Numbers of any type; no pointer is taken for one.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Any(T v) {
    if constexpr (std::is_same_v<T, bool>) {
      set(LATHE_ARG_FLAG).flag = v ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      if (v > T{0} && static_cast<uint64_t>(v) > static_cast<uint64_t>(INT64_MAX))
        throw Error(LATHE_OVERFLOW_ERROR, "an integer above 2^63 - 1");
      set(LATHE_ARG_INTEGER).integer = static_cast<int64_t>(v);
    } else {
      set(LATHE_ARG_REAL).real = static_cast<double>(v);
    }
  }
  Any(DType v) { set(LATHE_ARG_DTYPE).dtype = static_cast<lathe_dtype>(v); }
  Any(const char* v) { set(LATHE_ARG_TEXT).text = v; }
  Any(const Ints& v) : ints_(v.values) {
    list(LATHE_ARG_INTEGERS, ints_.size()).integers = ints_.data();
  }
  Any(const Tensors& v) {
    for (const Tensor& t : v) handles_.push_back(t.get());
    list(LATHE_ARG_TENSORS, handles_.size()).tensors = handles_.data();
  }
  /// Valid while this lives.
  lathe_arg arg() const {
    lathe_arg a = arg_;
    if (a.kind == LATHE_ARG_INTEGERS) a.is.integers = ints_.data();
    if (a.kind == LATHE_ARG_TENSORS) a.is.tensors = handles_.data();
    return a;
  }

 private:
  decltype(lathe_arg::is)& set(lathe_kind kind) {
    arg_.kind = kind;
    return arg_.is;
  }
  decltype(lathe_arg::is)& list(lathe_kind kind, size_t count) {
    arg_.count = static_cast<uint32_t>(count);
    return set(kind);
  }
  lathe_arg arg_ = {nullptr, LATHE_ARG_NONE, 0, {}};
  Tensor tensor_;
  Sizes ints_;
  std::vector<lathe_tensor*> handles_;
};

namespace detail {
inline std::vector<lathe_tensor*> handles(const Tensors& tensors) {
  std::vector<lathe_tensor*> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(t.get());
  return out;
}
/// What an op or a function gives at most.
constexpr size_t kMostResults = 256;
/// Calls f(results, room, &count).
template <class F>
Tensors results(F f, size_t room = kMostResults) {
  std::vector<lathe_tensor*> out(room, nullptr);
  size_t count = 0;
  check(f(out.data(), room, &count));
  Tensors tensors;
  for (size_t i = 0; i < count; ++i) tensors.emplace_back(Tensor(out[i]));
  return tensors;
}
inline Tensors run(const lathe_op* op, const lathe_arg* args, size_t count) {
  return results([&](lathe_tensor** out, size_t room, size_t* n) {
    return lathe_call(op, args, count, out, room, n);
  });
}
}  // namespace detail

/// Calls an op by name: call("topk", x, 3). Its results, one or several.
template <class... A>
Tensors call(const char* name, const A&... a) {
  const lathe_op* op = nullptr;
  detail::check(lathe_find_op(name, &op));
  const Any values[] = {Any(a)..., Any()};
  lathe_arg args[sizeof...(A) + 1];
  for (size_t i = 0; i < sizeof...(A); ++i) args[i] = values[i].arg();
  return detail::run(op, args, sizeof...(A));
}

}  // namespace v1

/// How the ops of lathe/ops/*.h are called on lathe.hpp's tensors.
template <>
struct OpBinding<v1::Tensor> {
  using Int = int64_t;
  using Real = double;
  using Ints = v1::Ints;
  using Any = v1::Any;
  using List = v1::Tensors;
  using Text = const char*;
  using OpRef = const lathe_op*;
  static OpRef find(const char* name) {
    const lathe_op* op = nullptr;
    v1::detail::check(lathe_find_op(name, &op));
    return op;
  }
  template <class R, class... A>
  static R call(OpRef op, const A&... a) {
    const v1::Any values[] = {v1::Any(a)..., v1::Any()};
    lathe_arg args[sizeof...(A) + 1];
    for (size_t i = 0; i < sizeof...(A); ++i) args[i] = values[i].arg();
    v1::Tensors out = v1::detail::run(op, args, sizeof...(A));
    if constexpr (std::is_same_v<R, v1::Tensor>) {
      return std::move(out.at(0));
    } else if constexpr (std::is_same_v<R, v1::Tensors>) {
      return std::move(out);
    } else {
      R r;
      size_t i = 0;
      std::apply([&](auto&... t) { ((t = std::move(out.at(i++))), ...); }, r);
      return r;
    }
  }
};

inline namespace v1 {

/// Every op of the headers by its name: ops::relu(x), ops::sum(x, {0}, true).
struct ops : math_ops<Tensor>,
             arithmetic_ops<Tensor>,
             special_ops<Tensor>,
             activation_ops<Tensor>,
             linalg_ops<Tensor>,
             fft_ops<Tensor>,
             nn_ops<Tensor>,
             products_ops<Tensor>,
             pool_ops<Tensor>,
             loss_ops<Tensor>,
             reduce_ops<Tensor>,
             shape_ops<Tensor>,
             index_ops<Tensor>,
             create_ops<Tensor>,
             random_ops<Tensor> {};

inline Tensor Tensor::sum() const { return ops::sum(*this); }
inline Tensor Tensor::mean() const { return ops::mean(*this); }

// Of two tensors, and of a tensor and a number on either side.
#define LATHE_OPERATOR(sign, op)                                                          \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return ops::op(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Any& b) { return ops::op(a, b); }    \
  inline Tensor operator sign(const Any& a, const Tensor& b) { return ops::op(a, b); }
LATHE_OPERATOR(+, add)
LATHE_OPERATOR(-, sub)
LATHE_OPERATOR(*, mul)
LATHE_OPERATOR(/, div)
#undef LATHE_OPERATOR
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }

}  // namespace v1
}  // namespace lathe
