// Gradients other than Tensor::backward.
#pragma once

#include <vector>

#include "lathe/cpp/ops.hpp"

namespace lathe {
inline namespace v1 {

/// Gradients of the sum of ys * dys by xs; no leaf changes. Without dys they are 1, of ys that have
/// one element each. create: the gradients have a history of their own, and what they went through
/// is kept for another call.
inline Tensors grad(const Tensors& ys, const Tensors& xs, bool create = false,
                    const Tensors& dys = {}) {
  if (!dys.empty() && dys.size() != ys.size())
    throw Error(LATHE_VALUE_ERROR, "grad: dys has not one tensor for each of ys");
  auto y = detail::handles(ys), x = detail::handles(xs), dy = detail::handles(dys);
  std::vector<lathe_tensor*> out(xs.size(), nullptr);
  detail::check(lathe_grad(y.data(), dys.empty() ? nullptr : dy.data(), y.size(), x.data(),
                           x.size(), create ? 1 : 0, out.data()));
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

/// Mixed precision while it lives: products of f32 operands are computed in `dtype`, DType::f16 or
/// DType::bf16, and losses and linear algebra in f32. lathe::Error for another dtype.
class Autocast {
 public:
  explicit Autocast(DType dtype) {
    detail::check(lathe_autocast(static_cast<lathe_dtype>(dtype), &before_));
  }
  ~Autocast() { lathe_autocast(before_, &before_); }
  Autocast(const Autocast&) = delete;

 private:
  lathe_dtype before_;
};

}  // namespace v1
}  // namespace lathe
