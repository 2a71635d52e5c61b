// Lathe for C++17: header-only over lathe.h, so any compiler and standard library will do.
//
//   #include <lathe/lathe.hpp>
//
//   lathe::Tensor x({1.f, 2.f, 3.f}, {3});
//   x.set_requires_grad();
//   (x * x).sum().backward();                         // x.grad(): [2, 4, 6]
//
//   lathe::Program digits = lathe::load("digits.lathe");
//   lathe::Tensor scores = digits(images);            // the bits that Python gets
//
//   auto layer = lathe::trace([](lathe::Tensor x, lathe::Tensor w) {
//     return lathe::ops::gelu(lathe::ops::matmul(x, w));
//   });
//   lathe::Tensor y = layer(x, w);                    // compiled at the first call
//
// Every op is in lathe::ops, by the name and with the defaults that it has in Python; the list is
// that of lathe/ops/*.h, which the library itself uses. An op that is not in those headers (one of
// a plug-in) is lathe::call("name", ...). Errors are thrown as lathe::Error.
#pragma once

#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lathe.h"
#include "lathe/ops/create.h"
#include "lathe/ops/fn.h"
#include "lathe/ops/index.h"
#include "lathe/ops/math.h"
#include "lathe/ops/nn.h"
#include "lathe/ops/reduce.h"
#include "lathe/ops/shape.h"

namespace lathe {
inline namespace v1 {  // apart from the library's own classes of these names

/// What a failed call throws. what() names the op, what it got, what it expected, and what to do.
class Error : public std::runtime_error {
 public:
  Error(lathe_status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  lathe_status status() const { return status_; }
  const char* name() const { return lathe_status_name(status_); }  // "ShapeError"

 private:
  lathe_status status_;
};

namespace detail {
inline void check(lathe_status status) {
  if (status != LATHE_OK) throw Error(status, lathe_last_error());
}
inline std::string taken(char* text) {
  std::string out(text);
  lathe_text_release(text);
  return out;
}
}  // namespace detail

/// The library that was loaded must be one that this header is for.
inline void check_version() {
  if (lathe_abi() != LATHE_ABI)
    throw Error(LATHE_UNSUPPORTED_ERROR, "liblathe.so and lathe.hpp are of different versions");
}

/// A flag of the process, as in Python's set_flag: set_flag("threads", "1").
inline void set_flag(const std::string& name, const std::string& value) {
  detail::check(lathe_set_flag(name.c_str(), value.c_str()));
}
inline std::string get_flag(const std::string& name) {
  char* value = nullptr;
  detail::check(lathe_get_flag(name.c_str(), &value));
  return detail::taken(value);
}
/// Starts the random stream anew: the same seed gives the same numbers as in Python.
inline void manual_seed(uint64_t seed) { lathe_manual_seed(seed); }
/// Errors and explain() name this line for what this thread does from here on.
inline void here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  lathe_at_line(file, line);
}

enum class DType : int {
  bool_ = LATHE_BOOL,
  u8 = LATHE_U8,
  i8 = LATHE_I8,
  i16 = LATHE_I16,
  i32 = LATHE_I32,
  i64 = LATHE_I64,
  f16 = LATHE_F16,
  bf16 = LATHE_BF16,
  f32 = LATHE_F32,
  f64 = LATHE_F64,
  c64 = LATHE_C64,
};

/// The dtype of a C++ type.
template <class T>
struct DTypeOf;
#define LATHE_DTYPE_OF(type, code)              \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::code; \
  }
LATHE_DTYPE_OF(bool, bool_);
LATHE_DTYPE_OF(uint8_t, u8);
LATHE_DTYPE_OF(int8_t, i8);
LATHE_DTYPE_OF(int16_t, i16);
LATHE_DTYPE_OF(int32_t, i32);
LATHE_DTYPE_OF(int64_t, i64);
LATHE_DTYPE_OF(float, f32);
LATHE_DTYPE_OF(double, f64);
#undef LATHE_DTYPE_OF

using Sizes = std::vector<int64_t>;

/// A handle to a tensor; copies share it. Empty where an op takes None.
class Tensor {
 public:
  Tensor() : p_(nullptr) {}
  explicit Tensor(lathe_tensor* adopted) : p_(adopted) {}
  /// A copy of row-major elements in host memory.
  template <class T>
  Tensor(const T* data, const Sizes& sizes) : p_(nullptr) {
    detail::check(lathe_tensor_copy(data, static_cast<lathe_dtype>(DTypeOf<T>::value), sizes.data(),
                                    static_cast<int>(sizes.size()), &p_));
  }
  template <class T>
  Tensor(std::initializer_list<T> values, const Sizes& sizes) : Tensor(values.begin(), sizes) {}
  template <class T>
  Tensor(const std::vector<T>& values, const Sizes& sizes) : Tensor(values.data(), sizes) {
    if (static_cast<int64_t>(values.size()) != numel())
      throw Error(LATHE_SHAPE_ERROR, "the values are not as many as the sizes say");
  }
  /// Over memory of the caller's, which must outlive every tensor that uses it.
  template <class T>
  static Tensor borrow(T* data, const Sizes& sizes) {
    Tensor t;
    detail::check(lathe_tensor_borrow(data, static_cast<lathe_dtype>(DTypeOf<T>::value),
                                      sizes.data(), static_cast<int>(sizes.size()), nullptr,
                                      nullptr, &t.p_));
    return t;
  }
  Tensor(const Tensor& o) : p_(lathe_tensor_retain(o.p_)) {}
  Tensor(Tensor&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() { lathe_tensor_release(p_); }

  bool defined() const { return p_ != nullptr; }
  lathe_tensor* get() const { return p_; }
  lathe_tensor* release() { return std::exchange(p_, nullptr); }

  DType dtype() const { return static_cast<DType>(lathe_tensor_dtype(p_)); }
  int rank() const { return lathe_tensor_rank(p_); }
  Sizes sizes() const {
    Sizes out(static_cast<size_t>(rank()));
    detail::check(lathe_tensor_sizes(p_, out.data()));
    return out;
  }
  int64_t size(int axis) const {
    Sizes all = sizes();
    size_t at = static_cast<size_t>(axis < 0 ? axis + rank() : axis);
    if (at >= all.size()) throw Error(LATHE_INDEX_ERROR, "size: there is no such axis");
    return all[at];
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes()) n *= s;
    return n;
  }
  /// The elements, row-major. DTypeError unless T is this tensor's type.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> out(static_cast<size_t>(numel()));
    expect<T>();
    detail::check(lathe_tensor_read(p_, out.data(), out.size() * sizeof(T)));
    return out;
  }
  /// The only element.
  template <class T>
  T item() const {
    T out{};
    expect<T>();
    detail::check(lathe_tensor_read(p_, &out, sizeof(T)));
    return out;
  }
  /// The elements where they lie; the tensor keeps them. ValueError if they are not row-major.
  template <class T>
  const T* data() const {
    const void* out = nullptr;
    expect<T>();
    detail::check(lathe_tensor_data(p_, &out));
    return static_cast<const T*>(out);
  }
  std::string text() const {
    char* out = nullptr;
    detail::check(lathe_tensor_print(p_, &out));
    return detail::taken(out);
  }
  /// this[...] = value.
  const Tensor& assign(const Tensor& value) const {
    detail::check(lathe_tensor_assign(p_, value.p_));
    return *this;
  }

  Tensor& set_requires_grad(bool on = true) {
    detail::check(lathe_set_requires_grad(p_, on ? 1 : 0));
    return *this;
  }
  bool requires_grad() const { return lathe_requires_grad(p_) != 0; }
  void backward(const Tensor& dy = Tensor(), bool retain = false) const {
    detail::check(lathe_backward(p_, dy.p_, retain ? 1 : 0));
  }
  /// What backward has gathered here; empty before.
  Tensor grad() const {
    lathe_tensor* out = nullptr;
    detail::check(lathe_tensor_grad(p_, &out));
    return Tensor(out);
  }
  void zero_grad() const { detail::check(lathe_clear_grad(p_)); }
  Tensor detach() const {
    lathe_tensor* out = nullptr;
    detail::check(lathe_detach(p_, &out));
    return Tensor(out);
  }
  Tensor sum() const;
  Tensor mean() const;

 private:
  template <class T>
  void expect() const {
    if (dtype() != DTypeOf<T>::value)
      throw Error(LATHE_DTYPE_ERROR,
                  std::string("the elements are ") +
                      lathe_dtype_name(static_cast<lathe_dtype>(dtype())) + ", not " +
                      lathe_dtype_name(static_cast<lathe_dtype>(DTypeOf<T>::value)));
  }
  lathe_tensor* p_;
};

using Tensors = std::vector<Tensor>;

inline std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.text(); }

// ── arguments of ops ────────────────────────────────────────────────────────────────────────────

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
  Any(int v) { set(LATHE_ARG_INTEGER).integer = v; }
  Any(int64_t v) { set(LATHE_ARG_INTEGER).integer = v; }
  Any(double v) { set(LATHE_ARG_REAL).real = v; }
  Any(float v) { set(LATHE_ARG_REAL).real = static_cast<double>(v); }
  Any(bool v) { set(LATHE_ARG_FLAG).flag = v ? 1 : 0; }
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
/// Calls f(results, room, &count), with more room if that was too little.
template <class F>
Tensors results(F f, size_t room = 8) {
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
  template <class... A>
  static v1::Tensors call(OpRef op, const A&... a) {
    const v1::Any values[] = {v1::Any(a)..., v1::Any()};
    lathe_arg args[sizeof...(A) + 1];
    for (size_t i = 0; i < sizeof...(A); ++i) args[i] = values[i].arg();
    return v1::detail::run(op, args, sizeof...(A));
  }
  template <class R>
  static R result(v1::Tensors&& out) {
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
             nn_ops<Tensor>,
             reduce_ops<Tensor>,
             shape_ops<Tensor>,
             index_ops<Tensor>,
             create_ops<Tensor> {};

inline Tensor Tensor::sum() const { return ops::sum(*this); }
inline Tensor Tensor::mean() const { return ops::mean(*this); }

inline Tensor operator+(const Tensor& a, const Any& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Any& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Any& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Any& b) { return ops::div(a, b); }
inline Tensor operator+(double a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(double a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(double a, const Tensor& b) { return ops::div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }

/// Gradients of the sum of ys by xs; no leaf changes.
inline Tensors grad(const Tensors& ys, const Tensors& xs, bool create = false) {
  auto y = detail::handles(ys), x = detail::handles(xs);
  std::vector<lathe_tensor*> out(xs.size(), nullptr);
  detail::check(
      lathe_grad(y.data(), nullptr, y.size(), x.data(), x.size(), create ? 1 : 0, out.data()));
  Tensors tensors;
  for (lathe_tensor* t : out) tensors.emplace_back(Tensor(t));
  return tensors;
}

/// Nothing is recorded for gradients while it lives.
class NoGrad {
 public:
  NoGrad() : before_(lathe_enable_grad(0)) {}
  ~NoGrad() { lathe_enable_grad(before_); }
  NoGrad(const NoGrad&) = delete;

 private:
  int before_;
};

// ── programs ────────────────────────────────────────────────────────────────────────────────────

/// A program that lathe.save wrote. Immutable: copies share it, and any number of threads may call
/// it at once.
class Program {
 public:
  struct Slot {
    std::string name;
    DType dtype;
    Sizes sizes;  // -1: any size
  };
  explicit Program(lathe_program* adopted) : p_(adopted, lathe_program_release) {}

  /// The results for these inputs. TypeError or ShapeError for inputs that it was not saved for.
  Tensors run(const Tensors& inputs) const {
    auto in = detail::handles(inputs);
    return detail::results(
        [&](lathe_tensor** out, size_t room, size_t* count) {
          return lathe_program_run(p_.get(), in.data(), in.size(), out, room, count);
        },
        lathe_program_output_count(p_.get()));
  }
  /// For programs of one result, which most are.
  template <class... T>
  Tensor operator()(const Tensor& first, const T&... rest) const {
    Tensors out = run({first, rest...});
    if (out.size() != 1)
      throw Error(LATHE_VALUE_ERROR, "the program has several results: use run()");
    return std::move(out[0]);
  }
  std::vector<Slot> inputs() const {
    return slots(lathe_program_input_count(p_.get()), lathe_program_input);
  }
  std::vector<Slot> outputs() const {
    return slots(lathe_program_output_count(p_.get()), lathe_program_output);
  }
  /// Generates all machine code now; what could not be, and why.
  std::string compile() const {
    char* why = nullptr;
    detail::check(lathe_program_compile(p_.get(), &why));
    return detail::taken(why);
  }
  void save(const std::string& path) const {
    detail::check(lathe_program_save(p_.get(), path.c_str()));
  }
  /// Every step with its source line, its primitive, its bits, and why not another.
  std::string explain() const { return text(LATHE_EXPLAIN); }
  std::string graph() const { return text(LATHE_GRAPH); }
  std::string optimised() const { return text(LATHE_OPTIMISED); }
  size_t peak_bytes() const { return lathe_program_peak_bytes(p_.get()); }

 private:
  template <class F>
  std::vector<Slot> slots(size_t count, F ask) const {
    std::vector<Slot> out;
    for (size_t i = 0; i < count; ++i) {
      lathe_slot s = {};
      s.size = sizeof s;
      detail::check(ask(p_.get(), i, &s));
      out.push_back({s.name, static_cast<DType>(s.dtype),
                     s.rank < 0 ? Sizes() : Sizes(s.sizes, s.sizes + s.rank)});
    }
    return out;
  }
  std::string text(lathe_view view) const {
    char* out = nullptr;
    detail::check(lathe_program_text(p_.get(), view, &out));
    return detail::taken(out);
  }
  std::shared_ptr<lathe_program> p_;
};

/// FileError for what is damaged, cut short or no program; nothing in a file is ever run.
inline Program load(const std::string& path) {
  check_version();
  lathe_program* p = nullptr;
  detail::check(lathe_program_load(path.c_str(), &p));
  return Program(p);
}

// ── tracing C++ ─────────────────────────────────────────────────────────────────────────────────

/// A function of tensors that is compiled at its first call; see trace().
class Function {
 public:
  using Body = std::function<Tensors(const Tensors&)>;
  Function(const std::string& name, Body body) : state_(new State{std::move(body), {}}) {
    lathe_function* f = nullptr;
    detail::check(lathe_function_create(name.c_str(), call_body, state_.get(), nullptr, &f));
    p_ = std::shared_ptr<lathe_function>(
        f, [keep = state_](lathe_function* q) { lathe_function_release(q); });
  }
  Tensors run(const Tensors& inputs) const {
    auto in = detail::handles(inputs);
    return thrown_by_body([&] {
      return detail::results(
          [&](lathe_tensor** out, size_t room, size_t* count) {
            return lathe_function_call(p_.get(), in.data(), in.size(), out, room, count);
          },
          kMostResults);
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
  std::string explain() const {
    char* out = nullptr;
    detail::check(lathe_function_text(p_.get(), LATHE_EXPLAIN, &out));
    return detail::taken(out);
  }

 private:
  static constexpr size_t kMostResults = 256;
  struct State {
    Body body;
    std::exception_ptr thrown;
  };
  static lathe_status call_body(void* user, lathe_tensor* const* in, size_t n, lathe_tensor** out,
                                size_t room, size_t* count) {
    auto* state = static_cast<State*>(user);
    try {
      Tensors inputs;
      for (size_t i = 0; i < n; ++i) inputs.emplace_back(Tensor(lathe_tensor_retain(in[i])));
      Tensors results = state->body(inputs);
      if (results.size() > room) return lathe_fail(LATHE_VALUE_ERROR, "too many results");
      for (size_t i = 0; i < results.size(); ++i) out[i] = results[i].release();
      *count = results.size();
      return LATHE_OK;
    } catch (const Error& e) {
      state->thrown = std::current_exception();
      return lathe_fail(e.status(), e.what());
    } catch (...) {
      state->thrown = std::current_exception();
      return lathe_fail(LATHE_INTERNAL_ERROR, "the traced function threw an exception");
    }
  }
  /// An exception of the body's own reaches the caller as what it was.
  template <class F>
  Tensors thrown_by_body(F f) const {
    state_->thrown = nullptr;
    try {
      return f();
    } catch (const Error&) {
      if (std::exception_ptr e = std::exchange(state_->thrown, nullptr)) std::rethrow_exception(e);
      throw;
    }
  }
  std::shared_ptr<State> state_;
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
