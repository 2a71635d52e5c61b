// One line an op, for every C++ user: the library's own sources and programs that embed it share
// the files of this folder. Each family is a template on the tensor type; OpBinding says how that
// type calls an op by name. C++17, and nothing but the standard library.
#pragma once

#include <atomic>
#include <cstddef>
#include <tuple>
#include <utility>

namespace lathe {

/// Specialised once for each tensor type: the argument types, `find(name)`, and
/// `call<Result>(op, args...)`.
template <class Tensor>
struct OpBinding;

namespace detail {

template <class... P>
struct TypeList {};

/// The first types of a list, picked by an index sequence.
template <class All, class Indices>
struct Pick;
template <class... P, size_t... I>
struct Pick<TypeList<P...>, std::index_sequence<I...>> {
  using type = TypeList<std::tuple_element_t<I, std::tuple<P...>>...>;
};
template <size_t N, class All>
using Take = typename Pick<All, std::make_index_sequence<N>>::type;

/// One call operator for each number of leading arguments: the rest come from the schema's
/// defaults.
template <class Self, class Result, size_t N, class All>
struct CallOperators;
template <class Self, class Result, class... P>
struct ExactCall;
template <class Self, class Result, class... P>
struct ExactCall<Self, Result, TypeList<P...>> {
  Result operator()(P... p) const { return static_cast<const Self*>(this)->invoke(p...); }
};
template <class Self, class Result, class All>
struct CallOperators<Self, Result, 0, All> : ExactCall<Self, Result, TypeList<>> {
  using ExactCall<Self, Result, TypeList<>>::operator();
};
template <class Self, class Result, size_t N, class All>
struct CallOperators : ExactCall<Self, Result, Take<N, All>>,
                       CallOperators<Self, Result, N - 1, All> {
  using ExactCall<Self, Result, Take<N, All>>::operator();
  using CallOperators<Self, Result, N - 1, All>::operator();
};

}  // namespace detail

template <class Tensor, class Signature>
class Fn;

/// An op by name. Looked up at the first call and remembered.
template <class Tensor, class Result, class... P>
class Fn<Tensor, Result(P...)>
    : public detail::CallOperators<Fn<Tensor, Result(P...)>, Result, sizeof...(P),
                                   detail::TypeList<P...>> {
 public:
  constexpr explicit Fn(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  typename OpBinding<Tensor>::OpRef op() const {
    auto* found = op_.load(std::memory_order_acquire);
    if (found == nullptr)
      op_.store(found = OpBinding<Tensor>::find(name_), std::memory_order_release);
    return found;
  }
  template <class... A>
  Result invoke(const A&... a) const {
    return OpBinding<Tensor>::template call<Result>(op(), a...);
  }

 private:
  const char* name_;
  mutable std::atomic<typename OpBinding<Tensor>::OpRef> op_{nullptr};
};

}  // namespace lathe
