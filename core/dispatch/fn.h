// Binds include/lathe/ops/<family>.h to this library's own Tensor: `ops::sum(x, {0}, true)`.
#pragma once

#include <forward_list>
#include <tuple>
#include <vector>

#include "core/dispatch/call.h"
#include "include/lathe/ops/fn.h"

namespace lathe {

/// Converts C++ values to Args, keeping lists alive for the length of a call.
class ArgBuilder {
 public:
  void push(const Tensor& t) { args_.push_back(Arg(t)); }
  void push(Int v) { args_.push_back(Arg(v)); }
  void push(int v) { args_.push_back(Arg(Int(v))); }
  void push(int64_t v) { args_.push_back(Arg(Int(v))); }
  void push(size_t v) { args_.push_back(Arg(Int(v))); }
  void push(Real v) { args_.push_back(Arg(v)); }
  void push(double v) { args_.push_back(Arg(v)); }
  void push(float v) { args_.push_back(Arg(static_cast<double>(v))); }
  void push(bool v) { args_.push_back(Arg(v)); }
  void push(DType v) { args_.push_back(Arg(v)); }
  void push(Device v) { args_.push_back(Arg(v)); }
  void push(const char* v) { args_.push_back(Arg(v)); }
  void push(std::nullopt_t) { args_.push_back(Arg()); }
  void push(const Arg& v) { args_.push_back(v); }
  void push(IntSpan list);
  void push(const struct Ints& list);
  void push(const Shape& list) { push(IntSpan(list)); }
  void push(absl::Span<const Tensor> list);
  void push(const Tensors& list) { push(absl::Span<const Tensor>(list)); }
  absl::Span<const Arg> args() const { return args_; }

 private:
  struct Items {
    std::vector<Arg> items;
    ArgList list;
  };
  template <class T>
  void push_list(absl::Span<const T> items);
  absl::InlinedVector<Arg, 8> args_;
  std::forward_list<Items> lists_;  // stay where they are, and cost nothing where there are none
};

/// A call's arguments with the schema's defaults filled in. TypeError where they do not fit it.
class CompletedArgs {
 public:
  CompletedArgs(const Op& op, absl::Span<const Arg> given);
  operator Args() const { return {full_.data(), full_.size()}; }  // NOLINT(google-explicit-*)

 private:
  absl::InlinedVector<Arg, 8> full_;
  ArgVec pool_;
};

/// A list of sizes or axes as an argument: braces, a Shape, or one number.
struct Ints {
  Shape values;
  // NOLINTBEGIN(google-explicit-constructor)
  Ints(std::initializer_list<Int> list) : values(list.begin(), list.end()) {}
  Ints(const Shape& shape) : values(shape) {}
  Ints(IntSpan span) : values(span.begin(), span.end()) {}
  // NOLINTEND(google-explicit-constructor)
};

/// An argument that may be None, a number or a tensor; plain values convert.
using AnyArg = Arg;

template <>
struct OpBinding<Tensor> {
  using Int = lathe::Int;
  using Real = lathe::Real;
  using Ints = lathe::Ints;
  using Any = AnyArg;  // optional or scalar
  using List = absl::Span<const Tensor>;
  using Text = const char*;
  using OpRef = const Op*;
  static OpRef find(const char* name) { return &get_op(name); }
  template <class R, class... A>
  static R call(OpRef op, const A&... a) {
    ArgBuilder b;
    (b.push(a), ...);
    const CompletedArgs args(*op, b.args());
    if constexpr (std::is_same_v<R, Tensor>) {
      return call_one(*op, args);
    } else if constexpr (std::is_same_v<R, Outputs>) {
      return lathe::call(*op, args);
    } else {
      Outputs out = lathe::call(*op, args);
      R r;
      size_t i = 0;
      std::apply([&](auto&... t) { ((t = std::move(out[i++])), ...); }, r);
      return r;
    }
  }
};

}  // namespace lathe
