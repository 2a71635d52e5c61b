// Ops of your own, in a shared object that Lathe opens when a program asks for it: from Python by
// lt.library.load("libmine.so"). C++17 and the standard library; nothing is linked, and the file
// below the line "C interface" does not change between minor versions.
//
//   #include <lathe/custom_op.h>
//
//   struct ZeroOut {
//     static constexpr const char* schema = "zero_out(Tensor x) -> Tensor";
//     static constexpr const char* doc = "x's first element; 0 elsewhere.";
//     static void infer(lathe::custom::Infer& c) { c.result(0, c.dtype(0), c.shape(0)); }
//     static void compute(lathe::custom::Compute& c) {
//       auto x = c.input<int32_t>(0);
//       auto y = c.output<int32_t>(0);
//       for (size_t i = 0; i < y.size(); ++i) y[i] = i == 0 ? x[i] : 0;
//     }
//   };
//
//   LATHE_OPS(ZeroOut)
//
// Build it with  g++ -std=c++17 -O2 -fPIC -shared -I<include> <source> -o libzero_out.so.
//
// `infer` is the shape rule: results from the types of the arguments alone. It is asked on every
// call and in a trace, where sizes are symbols: compute with Size, and ask by require(). `compute`
// is the kernel: inputs are row-major without gaps, outputs are allocated as `infer` said, and
// nothing else may be kept or written. It may run on any thread, and on several at once.
// `gradient`, where there is one, is written with Lathe's ops and saves what it names in `saves`.
// Any function may throw a std::exception, or call c.fail(): the caller gets a lathe.ValueError
// that names the op and the caller's own line.
#pragma once

#include <stdint.h>

// ── C interface ─────────────────────────────────────────────────────────────────────────────────

#define LATHE_OPS_ABI 1
#define LATHE_OPS_ENTRY "lathe_ops_v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lathe_op_call lathe_op_call; /* one call of one function of an op */
typedef uint64_t lathe_op_size;             /* a number, or an expression over symbols of a trace */
typedef uint32_t lathe_op_tensor;           /* a tensor of a gradient; 0: none */

/* An argument of an op that a gradient calls. */
enum {
  LATHE_OP_NONE,
  LATHE_OP_TENSOR,
  LATHE_OP_INT,
  LATHE_OP_REAL,
  LATHE_OP_BOOL,
  LATHE_OP_TEXT,
  LATHE_OP_INTS
};
typedef struct lathe_op_value {
  int32_t tag;
  uint32_t count; /* of LATHE_OP_INTS */
  union {
    lathe_op_tensor tensor;
    lathe_op_size integer;
    double real;
    int32_t flag;
    const char* text;
    const lathe_op_size* integers;
  } as;
} lathe_op_value;

/* What Lathe does for an op. Functions that can fail return 0 and the call is then over: return 1
   from the op's own function at once. */
typedef struct lathe_op_services {
  uint32_t bytes; /* sizeof this struct in the running library: later versions append */
  uint32_t abi;
  /* arguments, by position in the schema */
  int32_t (*is_none)(lathe_op_call*, int32_t argument);
  int32_t (*dtype)(lathe_op_call*, int32_t argument); /* -1: no tensor */
  int32_t (*rank)(lathe_op_call*, int32_t argument);  /* -1: no tensor */
  int32_t (*size)(lathe_op_call*, int32_t argument, int32_t axis, lathe_op_size* out);
  int32_t (*integer)(lathe_op_call*, int32_t argument, lathe_op_size* out);
  int32_t (*real)(lathe_op_call*, int32_t argument, double* out);
  int32_t (*text)(lathe_op_call*, int32_t argument, const char** out);
  /* sizes: operation is one of + - * / % (rounding down), relation one of = ! < [ (at most) */
  lathe_op_size (*from_number)(lathe_op_call*, int64_t);
  int32_t (*number)(lathe_op_call*, lathe_op_size, int64_t* out); /* in a trace: only this number */
  int32_t (*combine)(lathe_op_call*, char operation, lathe_op_size, lathe_op_size,
                     lathe_op_size* out);
  int32_t (*holds)(lathe_op_call*, char relation, lathe_op_size, lathe_op_size, int32_t* out);
  int32_t (*require)(lathe_op_call*, char relation, lathe_op_size, lathe_op_size);
  /* infer */
  int32_t (*result)(lathe_op_call*, int32_t index, int32_t dtype, int32_t rank,
                    const lathe_op_size* sizes);
  /* compute */
  const void* (*input)(lathe_op_call*, int32_t argument,
                       int64_t* count); /* null count: no tensor */
  void* (*output)(lathe_op_call*, int32_t index, int64_t* count);
  void* (*scratch)(lathe_op_call*, uint64_t bytes); /* until the call is over; 64-byte aligned */
  /* gradient */
  lathe_op_tensor (*dy)(lathe_op_call*, int32_t index);
  lathe_op_tensor (*x)(lathe_op_call*, int32_t argument); /* saved */
  lathe_op_tensor (*y)(lathe_op_call*, int32_t index);    /* saved */
  int32_t (*wants)(lathe_op_call*, int32_t argument);
  lathe_op_tensor (*call)(lathe_op_call*, const char* op, const lathe_op_value* arguments,
                          int32_t count, int32_t result);
  int32_t (*gradient)(lathe_op_call*, int32_t argument, lathe_op_tensor);
  /* the call fails with this text; returns 1 */
  int32_t (*fail)(lathe_op_call*, const char* problem);
} lathe_op_services;

typedef int32_t (*lathe_op_function)(const lathe_op_services*, lathe_op_call*); /* 0: done */

typedef struct lathe_op_definition {
  uint32_t bytes; /* sizeof(lathe_op_definition) when the op was compiled */
  int32_t version;
  const char* schema;
  const char* doc;
  const char* saves; /* names of arguments and results that `gradient` reads, with blanks between */
  lathe_op_function infer, compute, gradient; /* gradient: null if there is none */
} lathe_op_definition;

/* A kernel for a whole composite of Lathe's (scaled_dot_product_attention), where it accepts. Its
   result may differ from the expansion's in the last bits; the gradient stays the expansion's. */
typedef struct lathe_op_claim {
  uint32_t bytes;            /* sizeof(lathe_op_claim) when it was compiled */
  const char* op;            /* the composite */
  const char* entry;         /* the name of the table entry: "mine.attention" */
  lathe_op_function accepts; /* 0: it takes this call; fail() says why not. Null: it takes all */
  lathe_op_function compute;
} lathe_op_claim;

typedef struct lathe_op_host {
  uint32_t bytes;
  uint32_t abi;
  void* state;
  int32_t (*define)(const struct lathe_op_host*, const lathe_op_definition*); /* 0: defined */
  int32_t (*claim)(const struct lathe_op_host*, const lathe_op_claim*);       /* 0: registered */
} lathe_op_host;

/* What the shared object exports under the name LATHE_OPS_ENTRY. 0: all ops are defined. */
typedef int32_t (*lathe_ops_entry)(const lathe_op_host*);

#ifdef __cplusplus
}  // extern "C"

// ── C++ over it ─────────────────────────────────────────────────────────────────────────────────

#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace lathe {
namespace custom {

enum class DType : int32_t {
  bool_ = 0,
  u8 = 1,
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  f16 = 6,
  bf16 = 7,
  f32 = 8,
  f64 = 9,
  c64 = 10,
  u16 = 11,
  u32 = 12,
  u64 = 13,
  c128 = 14
};

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::bool_;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::u64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else {
    static_assert(std::is_same_v<T, double>, "no such element type");
    return DType::f64;
  }
}

/// Thrown where Lathe has noted a failure already; it goes no further than the op's own function.
struct Failed {};

class Context;

/// A size: a number, or in a trace an expression over its symbols.
class Size {
 public:
  Size() = default;
  Size(const Context* context, lathe_op_size word) : context_(context), word_(word) {}
  lathe_op_size word() const { return word_; }
  /// The number. In a trace the program then holds for this number only.
  int64_t number() const;

 private:
  friend class Context;
  friend Size combine(char operation, const Size& a, const Size& b);
  const Context* context_ = nullptr;
  lathe_op_size word_ = 0;
};
using Shape = std::vector<Size>;

/// What every function of an op can ask.
class Context {
 public:
  Context(const lathe_op_services* services, lathe_op_call* call) : s_(services), call_(call) {}
  bool is_none(int argument) const { return s_->is_none(call_, argument) != 0; }
  DType dtype(int argument) const { return static_cast<DType>(s_->dtype(call_, argument)); }
  int rank(int argument) const { return s_->rank(call_, argument); }
  Size size(int argument, int axis) const {
    lathe_op_size word = 0;
    check(s_->size(call_, argument, axis, &word));
    return {this, word};
  }
  Shape shape(int argument) const {
    Shape out;
    for (int i = 0; i < rank(argument); ++i) out.push_back(size(argument, i));
    return out;
  }
  Size integer(int argument) const {
    lathe_op_size word = 0;
    check(s_->integer(call_, argument, &word));
    return {this, word};
  }
  double real(int argument) const {
    double value = 0;
    check(s_->real(call_, argument, &value));
    return value;
  }
  std::string text(int argument) const {
    const char* value = nullptr;
    check(s_->text(call_, argument, &value));
    return value;
  }
  Size size_of(int64_t number) const { return {this, s_->from_number(call_, number)}; }
  /// Must hold for the call to be valid at all; in a trace it is checked at every later call.
  void require_equal(const Size& a, const Size& b) const {
    check(s_->require(call_, '=', a.word(), b.word()));
  }
  void require_at_most(const Size& a, const Size& b) const {
    check(s_->require(call_, '[', a.word(), b.word()));
  }
  [[noreturn]] void fail(const std::string& problem) const {
    s_->fail(call_, problem.c_str());
    throw Failed();
  }

 protected:
  friend class Size;
  friend Size combine(char, const Size&, const Size&);
  static void check(int32_t done) {
    if (done == 0) throw Failed();
  }
  const lathe_op_services* s_;
  lathe_op_call* call_;
};

inline int64_t Size::number() const {
  int64_t value = 0;
  Context::check(context_->s_->number(context_->call_, word_, &value));
  return value;
}
inline Size combine(char operation, const Size& a, const Size& b) {
  lathe_op_size word = 0;
  const Context* c = a.context_;
  Context::check(c->s_->combine(c->call_, operation, a.word_, b.word_, &word));
  return {c, word};
}
inline Size operator+(const Size& a, const Size& b) { return combine('+', a, b); }
inline Size operator-(const Size& a, const Size& b) { return combine('-', a, b); }
inline Size operator*(const Size& a, const Size& b) { return combine('*', a, b); }
inline Size operator/(const Size& a, const Size& b) { return combine('/', a, b); }
inline Size operator%(const Size& a, const Size& b) { return combine('%', a, b); }

class Infer : public Context {
 public:
  using Context::Context;
  void result(int index, DType dtype, const Shape& shape) const {
    std::vector<lathe_op_size> words;
    for (const Size& s : shape) words.push_back(s.word());
    check(s_->result(call_, index, static_cast<int32_t>(dtype), static_cast<int32_t>(shape.size()),
                     words.data()));
  }
};

/// Elements in row-major order.
template <class T>
class Elements {
 public:
  Elements(T* data, size_t size) : data_(data), size_(size) {}
  size_t size() const { return size_; }
  T* data() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  size_t size_;
};

class Compute : public Context {
 public:
  using Context::Context;
  /// Of an argument with exactly this element type; anything else fails.
  template <class T>
  Elements<const T> input(int argument) const {
    if (dtype(argument) != dtype_of<T>()) fail("the kernel has no code for this dtype");
    int64_t count = 0;
    const void* data = s_->input(call_, argument, &count);
    if (count < 0) throw Failed();
    return {static_cast<const T*>(data), static_cast<size_t>(count)};
  }
  /// Of a result, whose element type `infer` gave.
  template <class T>
  Elements<T> output(int index) const {
    int64_t count = static_cast<int64_t>(dtype_of<T>());  // asked for; the count comes back
    void* data = s_->output(call_, index, &count);
    if (count < 0) throw Failed();
    return {static_cast<T*>(data), static_cast<size_t>(count)};
  }
  template <class T>
  Elements<T> scratch(size_t count) const {
    void* data = s_->scratch(call_, count * sizeof(T));
    if (data == nullptr) throw Failed();
    return {static_cast<T*>(data), count};
  }
};

/// A tensor inside a gradient.
struct Tensor {
  lathe_op_tensor handle = 0;
};

/// An argument of an op that a gradient calls.
class Value {
 public:
  Value(Tensor t) { v_.tag = LATHE_OP_TENSOR, v_.as.tensor = t.handle; }  // NOLINT
  Value(Size s) { v_.tag = LATHE_OP_INT, v_.as.integer = s.word(); }      // NOLINT
  Value(double r) { v_.tag = LATHE_OP_REAL, v_.as.real = r; }             // NOLINT
  Value(bool b) { v_.tag = LATHE_OP_BOOL, v_.as.flag = b; }               // NOLINT
  Value(const char* t) { v_.tag = LATHE_OP_TEXT, v_.as.text = t; }        // NOLINT
  const lathe_op_value& raw() const { return v_; }

 private:
  lathe_op_value v_{};
};

class Gradient : public Context {
 public:
  using Context::Context;
  Tensor dy(int index = 0) const { return checked(s_->dy(call_, index)); }
  Tensor x(int argument) const { return checked(s_->x(call_, argument)); }
  Tensor y(int index = 0) const { return checked(s_->y(call_, index)); }
  bool wants(int argument) const { return s_->wants(call_, argument) != 0; }
  /// Calls one of Lathe's ops, or a custom one, by name.
  Tensor call(const char* op, std::initializer_list<Value> arguments, int result = 0) const {
    std::vector<lathe_op_value> raw;
    for (const Value& v : arguments) raw.push_back(v.raw());
    return checked(s_->call(call_, op, raw.data(), static_cast<int32_t>(raw.size()), result));
  }
  /// The gradient of an argument.
  void gradient(int argument, Tensor g) const { check(s_->gradient(call_, argument, g.handle)); }

 private:
  static Tensor checked(lathe_op_tensor handle) {
    if (handle == 0) throw Failed();
    return {handle};
  }
};

namespace detail {

/// Runs a function of an op; nothing that C++ throws leaves it.
template <class C, class F>
int32_t guarded(const lathe_op_services* services, lathe_op_call* call, F f) noexcept {
  try {
    C context(services, call);
    f(context);
    return 0;
  } catch (const Failed&) {
    return 1;
  } catch (const std::exception& e) {
    return services->fail(call, e.what());
  } catch (...) {
    return services->fail(call, "it threw something that is no std::exception");
  }
}

template <class Op, class = void>
struct GradientOf {
  static constexpr lathe_op_function function = nullptr;
  static constexpr const char* saves = "";
};
template <class Op>
struct GradientOf<Op, std::void_t<decltype(&Op::gradient)>> {
  static int32_t function(const lathe_op_services* s, lathe_op_call* c) {
    return guarded<Gradient>(s, c, [](Gradient& g) { Op::gradient(g); });
  }
  static constexpr const char* saves = Op::saves;
};

template <class Op>
int32_t define(const lathe_op_host* host) {
  lathe_op_definition row{};
  row.bytes = sizeof row;
  row.version = 1;
  row.schema = Op::schema;
  row.doc = Op::doc;
  row.saves = GradientOf<Op>::saves;
  row.infer = [](const lathe_op_services* s, lathe_op_call* c) {
    return guarded<Infer>(s, c, [](Infer& i) { Op::infer(i); });
  };
  row.compute = [](const lathe_op_services* s, lathe_op_call* c) {
    return guarded<Compute>(s, c, [](Compute& k) { Op::compute(k); });
  };
  row.gradient = GradientOf<Op>::function;
  return host->define(host, &row);
}

/// An op of its own has a schema; one that claims a composite names it.
template <class Op, class = void>
struct Added {
  static int32_t to(const lathe_op_host* host) { return define<Op>(host); }
};
template <class Op>
struct Added<Op, std::void_t<decltype(Op::claims)>> {
  static int32_t to(const lathe_op_host* host) {
    lathe_op_claim claim{};
    claim.bytes = sizeof claim;
    claim.op = Op::claims;
    claim.entry = Op::entry;
    claim.accepts = [](const lathe_op_services* s, lathe_op_call* c) {
      return guarded<Infer>(s, c, [](Infer& i) { Op::accepts(i); });
    };
    claim.compute = [](const lathe_op_services* s, lathe_op_call* c) {
      return guarded<Compute>(s, c, [](Compute& k) { Op::compute(k); });
    };
    if (host->bytes < sizeof(lathe_op_host)) return 1;
    return host->claim(host, &claim);
  }
};

template <class... Ops>
int32_t define_all(const lathe_op_host* host) {
  if (host->abi != LATHE_OPS_ABI) return 1;
  int32_t failed = 0;
  (void)((failed = Added<Ops>::to(host), failed == 0) && ...);
  return failed;
}

}  // namespace detail
}  // namespace custom
}  // namespace lathe

/// Names the ops of a shared object; once in each.
#define LATHE_OPS(...)                                                    \
  extern "C" __attribute__((visibility("default"))) int32_t lathe_ops_v1( \
      const lathe_op_host* host) {                                        \
    return ::lathe::custom::detail::define_all<__VA_ARGS__>(host);        \
  }

#endif  // __cplusplus
