// Gradients other than Tensor::backward.
#pragma once

#include <vector>

#include "lathe/cpp/ops.hpp"

namespace lathe {
inline namespace v1 {

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

}  // namespace v1
}  // namespace lathe
