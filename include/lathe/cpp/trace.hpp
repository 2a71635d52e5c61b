// Tracing C++: functions of tensors that become programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "lathe/cpp/program.hpp"

namespace lathe {
inline namespace v1 {

/// A function of tensors that is compiled at its first call; see trace().
class Function {
 public:
  using Body = std::function<Tensors(const Tensors&)>;
  Function(const std::string& name, Body body) {
    auto kept = std::make_unique<Body>(std::move(body));
    lathe_function* f = nullptr;
    detail::check(lathe_function_create(name.c_str(), call_body, kept.get(), drop_body, &f));
    kept.release();  // the function's, from here on
    p_ = std::shared_ptr<lathe_function>(f, lathe_function_release);
  }
  Tensors run(const Tensors& inputs) const {
    auto in = detail::handles(inputs);
    return thrown_by_body([&] {
      return detail::results([&](lathe_tensor** out, size_t room, size_t* count) {
        return lathe_function_call(p_.get(), in.data(), in.size(), out, room, count);
      });
    });
  }
  /// The program for inputs like these, by itself: to be saved, or run without guards.
  Program capture(const Tensors& inputs) const {
    auto in = detail::handles(inputs);
    lathe_program* p = nullptr;
    thrown_by_body([&] {
      detail::check(lathe_function_capture(p_.get(), in.data(), in.size(), &p));
      return Tensors();
    });
    return Program(p);
  }
  int64_t traces() const {
    int64_t n = 0;
    lathe_function_counts(p_.get(), nullptr, &n);
    return n;
  }
  /// As Program::explain(), of each program that it is.
  std::string explain(bool verbose = false) const {
    char* out = nullptr;
    detail::check(lathe_function_text(p_.get(), verbose ? LATHE_VERBOSE : LATHE_EXPLAIN, &out));
    return detail::taken(out);
  }

 private:
  /// Where the innermost call that this thread is in finds what its body threw. Bodies of one
  /// function run on several threads at once, each on the thread that called, so what one throws is
  /// kept by thread and not by function.
  static std::exception_ptr*& thrown() {
    static thread_local std::exception_ptr* innermost = nullptr;
    return innermost;
  }
  static lathe_status failed(lathe_status status, const char* message) {
    if (thrown() != nullptr) *thrown() = std::current_exception();
    return lathe_fail(status, message);
  }
  static void drop_body(void* user) { delete static_cast<Body*>(user); }
  static lathe_status call_body(void* user, lathe_tensor* const* in, size_t n, lathe_tensor** out,
                                size_t room, size_t* count) {
    try {
      const Body& body = *static_cast<const Body*>(user);
      Tensors inputs;
      for (size_t i = 0; i < n; ++i) inputs.emplace_back(Tensor(lathe_tensor_retain(in[i])));
      Tensors results = body(inputs);
      if (results.size() > room) return lathe_fail(LATHE_VALUE_ERROR, "too many results");
      for (size_t i = 0; i < results.size(); ++i) out[i] = results[i].release();
      *count = results.size();
      return LATHE_OK;
    } catch (const Error& e) {
      return failed(e.status(), e.what());
    } catch (...) {
      return failed(LATHE_INTERNAL_ERROR, "the traced function threw an exception");
    }
  }
  /// An exception of the body's own reaches the caller as what it was.
  template <class F>
  static Tensors thrown_by_body(F f) {
    struct Catch {
      Catch() : outer(std::exchange(thrown(), &mine)) {}
      ~Catch() { thrown() = outer; }
      Catch(const Catch&) = delete;
      std::exception_ptr mine, *outer;
    } caught;
    try {
      return f();
    } catch (const Error&) {
      if (caught.mine) std::rethrow_exception(caught.mine);
      throw;
    }
  }
  std::shared_ptr<lathe_function> p_;
};

namespace detail {
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using Result = R;
  static constexpr size_t arity = sizeof...(A);
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (C::*)(A...) const> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  static constexpr size_t arity = sizeof...(A);
};

template <class F, size_t... I>
Tensors apply(F& f, const Tensors& in, std::index_sequence<I...>) {
  if constexpr (std::is_same_v<typename Signature<F>::Result, Tensor>)
    return {f(in[I]...)};
  else
    return f(in[I]...);
}

/// What trace() gives: called with as many tensors as the function takes.
template <class F>
class Traced : public Function {
 public:
  using Result = typename Signature<F>::Result;
  static constexpr size_t arity = Signature<F>::arity;
  Traced(const std::string& name, F f)
      : Function(name, [f = std::move(f)](const Tensors& in) mutable {
          if (in.size() != arity)
            throw Error(LATHE_TYPE_ERROR, "the traced function takes another number of tensors");
          return apply(f, in, std::make_index_sequence<arity>());
        }) {}
  template <class... T>
  Result operator()(const T&... x) const {
    static_assert(sizeof...(T) == arity, "the traced function takes another number of tensors");
    Tensors out = run({Tensor(x)...});
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(out.at(0));
    else
      return out;
  }
};
}  // namespace detail

/// Makes a function of tensors (a lambda or a function pointer that gives a Tensor or Tensors) run
/// as a compiled program: the first call records what it does to tensors that have sizes but no
/// elements, and later calls run that, with the same bits. Asking for elements is a TraceError.
template <class F>
detail::Traced<std::decay_t<F>> trace(F&& f, const std::string& name = "traced") {
  return {name, std::forward<F>(f)};
}

}  // namespace v1
}  // namespace lathe
