// A value at run time, as interpreters and front ends pass them: a tensor (concrete or symbolic), a
// number, a text or None.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/op/args.h"

namespace lathe::ir {

class Datum {
 public:
  Datum() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  Datum(Tensor t) : tensor_(std::move(t)) {}
  /// Tensors and texts are kept; lists, dtypes and devices are no values.
  Datum(const Arg& a) : arg_(a) {
    if (a.tag == Tag::tensor) {
      tensor_ = a.tensor();
      arg_ = Arg();
    } else if (a.tag == Tag::text) {
      text_ = std::make_shared<std::string>(a.text_);
    }
  }
  // NOLINTEND(google-explicit-constructor)

  bool is_tensor() const { return tensor_.defined(); }
  bool is_integer() const { return !is_tensor() && arg_.tag == Tag::integer; }
  const Tensor& tensor() const { return tensor_; }
  /// Borrows from this datum.
  Arg arg() const {
    if (is_tensor()) return Arg(tensor_);
    return text_ != nullptr ? Arg(text_->c_str()) : arg_;
  }
  Int integer() const { return arg_.integer(); }

  /// A tensor that somebody else keeps alive, without being counted as an owner of it: it must be
  /// told give_back() before it is destroyed or assigned to. Copies of it are owners as any other.
  static Datum lent(TensorImpl* t) { return Datum(Tensor(t)); }
  void give_back() { (void)tensor_.release(); }

 private:
  Tensor tensor_;
  Arg arg_;
  std::shared_ptr<const std::string> text_;
};
using Data = std::vector<Datum>;

struct SymbolSource;
/// What a symbol is, by the argument for the parameter that says it; or by all of its block's.
Int said(const SymbolSource& source, const Datum& argument);
Int said(const SymbolSource& source, const Data& arguments);

}  // namespace lathe::ir
