// Gradients from Python: backward, grad, grad mode, hooks, and grad_fn.
#pragma once

#include <memory>

#include "python/bindings/tensor.h"

namespace lathe {
struct TapeNode;
}

namespace lathe::py {

/// Destroys a Python object from wherever the tape drops what holds it.
std::shared_ptr<nb::object> shared_object(nb::object o);
/// A node as a Python object, and back; None is null.
nb::object grad_fn_object(std::shared_ptr<TapeNode> node);
std::shared_ptr<TapeNode> node_of(nb::handle grad_fn);
/// What takes a hook away: it empties `function`.
nb::object hook_handle(std::shared_ptr<nb::object> function);

/// The node that made a tensor, as a Python object; None for leaves and constants.
nb::object grad_fn_of(const Tensor& t);
/// Calls a Python function with each gradient; remove() on the result stops that.
nb::object add_hook(const Tensor& t, nb::object function);
/// The functions that were registered on it and not removed, in order.
nb::list hooks_of(const Tensor& t);
/// How many hooks any tensors have been given so far: while it is the same, no tensor has more.
uint64_t hooks_added();

void add_autograd(nb::module_& m);
void add_autograd_function(nb::module_& m);

}  // namespace lathe::py
