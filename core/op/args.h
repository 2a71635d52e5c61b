// How arguments travel: tagged 16-byte values on the caller's stack (Arg, Args), and the owning
// form that graphs, tape nodes and caches keep (ArgVec). One representation for every front end.
#pragma once

#include <absl/types/span.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sizes/real.h"
#include "core/tensor/tensor.h"

namespace lathe {

enum class Tag : uint8_t {
  none,
  tensor,   // borrowed; never null
  integer,  // Int
  real,     // Real
  flag,     // bool
  dtype,
  device,
  text,      // borrowed, NUL-terminated
  list,      // borrowed span of Arg
  function,  // borrowed; never null
};
const char* tag_name(Tag tag);

struct HostFunction;
struct Arg;
struct ArgList {
  const Arg* data;
  size_t size;
};

struct Arg {
  Tag tag = Tag::none;
  union {
    TensorImpl* tensor_;
    uint64_t integer_;  // Int's word
    uint64_t real_;     // Real's word
    bool flag_;
    DType dtype_;
    Device device_;
    const char* text_;
    const ArgList* list_;
    const HostFunction* function_;
  };

  // NOLINTBEGIN(google-explicit-constructor): arguments are written as plain values.
  Arg() : integer_(0) {}
  Arg(const Tensor& t) : tag(t.defined() ? Tag::tensor : Tag::none), tensor_(t.impl()) {}
  Arg(Int v) : tag(Tag::integer), integer_(v.word()) {}
  Arg(int v) : Arg(Int(v)) {}
  Arg(int64_t v) : Arg(Int(v)) {}
  Arg(Real v) : tag(Tag::real), real_(v.word()) {}
  Arg(double v) : Arg(Real(v)) {}
  Arg(bool v) : tag(Tag::flag), flag_(v) {}
  Arg(DType v) : tag(Tag::dtype), dtype_(v) {}
  Arg(Device v) : tag(Tag::device), device_(v) {}
  Arg(const char* v) : tag(Tag::text), text_(v) {}
  Arg(const ArgList& v) : tag(Tag::list), list_(&v) {}
  Arg(const HostFunction& v) : tag(Tag::function), function_(&v) {}
  // NOLINTEND(google-explicit-constructor)

  bool none() const { return tag == Tag::none; }
  bool scalar() const { return tag == Tag::integer || tag == Tag::real || tag == Tag::flag; }
  Tensor tensor() const { return Tensor::borrow(tensor_); }
  Int integer() const { return Int::from_word(integer_); }
  Real real() const { return Real::from_word(real_); }
};
static_assert(sizeof(Arg) == 16);

/// A view of a call's arguments in schema order, complete: defaults are already filled in.
/// Accessors throw InternalError on a wrong tag, since the schema was checked at the door.
class Args {
 public:
  Args() = default;
  Args(const Arg* data, size_t size) : data_(data), size_(size) {}
  Args(absl::Span<const Arg> span) : Args(span.data(), span.size()) {}  // NOLINT
  size_t size() const { return size_; }
  const Arg& operator[](size_t i) const { return data_[i]; }
  const Arg* begin() const { return data_; }
  const Arg* end() const { return data_ + size_; }

  bool none(int i) const { return data_[i].none(); }
  Tensor tensor(int i) const;           // TypeError if None
  Tensor optional_tensor(int i) const;  // None → undefined
  Tensors tensors(int i) const;         // a Tensor[] argument
  Int integer(int i) const;
  Real real(int i) const;  // integers convert
  bool flag(int i) const;
  DType dtype(int i) const;
  Device device(int i) const;
  std::string_view text(int i) const;
  Shape ints(int i) const;          // an int[] argument; a single int is a list of one
  const Shape& shape(int i) const;  // of tensor i

 private:
  const Arg* data_ = nullptr;
  size_t size_ = 0;
};

/// Owns everything its arguments mention, deeply.
class ArgVec {
 public:
  ArgVec() = default;
  explicit ArgVec(Args args);
  ArgVec(const ArgVec& o) : ArgVec(o.view()) {}
  ArgVec(ArgVec&&) noexcept = default;
  ArgVec& operator=(ArgVec o) noexcept;
  Args view() const { return {args_.data(), args_.size()}; }
  operator Args() const { return view(); }  // NOLINT
  size_t size() const { return args_.size(); }
  const Arg& operator[](size_t i) const { return args_[i]; }
  void push(const Arg& arg) { keep(args_.emplace_back(arg)); }
  void push_none() { args_.emplace_back(); }
  void set(size_t i, const Arg& arg) { keep(args_[i] = arg); }

 private:
  void keep(Arg& arg) {
    if (arg.tag == Tag::tensor || arg.tag == Tag::text || arg.tag >= Tag::list) own(arg);
  }
  /// Keeps what an argument refers to; its text or list is a copy of ours from now on.
  void own(Arg& arg);
  absl::InlinedVector<Arg, 4> args_;
  Tensors tensors_;
  std::vector<std::shared_ptr<const void>> blocks_;  // texts, lists and functions
};

/// Equal in tag and value, lists element by element, tensors and functions by identity.
bool equal(const Arg& a, const Arg& b);
/// As the text IR writes it: "2", "0.5", "[1, s0]", "f32", "'mean'", "None".
std::string to_string(const Arg& arg);

}  // namespace lathe
