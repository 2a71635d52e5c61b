#include "core/ops/moments.h"

#include "core/dispatch/fn.h"
#include "core/ops/names.h"

namespace lathe {

using namespace names;

Tensor centred(const Tensor& x, const Tensor& mean,
               absl::FunctionRef<Tensor(const Tensor&)> again) {
  const Tensor apart = M::sub(x, mean);
  Tensor left;
  {
    GradMode no_grad(false);
    left = again(apart);
  }
  return M::sub(apart, left);
}

Tensor centred(const Tensor& x, absl::FunctionRef<Tensor(const Tensor&)> mean) {
  return centred(x, mean(x), mean);
}

}  // namespace lathe
