// Gradients from Python: backward, grad, grad mode, hooks, and grad_fn.
#pragma once

#include "python/bindings/tensor.h"

namespace lathe::py {

/// The node that made a tensor, as a Python object; None for leaves and constants.
nb::object grad_fn_of(const Tensor& t);
/// Calls a Python function with each gradient; remove() on the result stops that.
nb::object add_hook(const Tensor& t, nb::object function);
/// The functions that were registered on it and not removed, in order.
nb::list hooks_of(const Tensor& t);

void add_autograd(nb::module_& m);

}  // namespace lathe::py
