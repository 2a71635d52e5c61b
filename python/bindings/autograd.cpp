#include "python/bindings/autograd.h"

#include <nanobind/stl/string.h>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "graph/trace/tracer.h"
#include "python/bindings/call.h"
#include "python/bindings/later.h"
#include "python/bindings/signals.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

uint64_t g_hooks_added = 0;  // under Python's lock

struct GradFn {
  std::shared_ptr<TapeNode> node;
};

/// What register_hook gives back. The hook itself stays with the node and asks whether it is
/// wanted.
struct HookHandle {
  std::shared_ptr<nb::object> function;  // empty: removed
};

/// What the tape calls for it.
struct PythonHook {
  std::shared_ptr<nb::object> function;

  Tensor operator()(const Tensor& g) const {
    nb::gil_scoped_acquire lock;
    if (!function->is_valid()) return {};
    nb::object result = (*function)(g);
    if (result.is_none()) return {};
    if (!is_tensor(result.ptr()))
      throw TypeError({.op = "register_hook",
                       .problem = "a hook gives a tensor or None",
                       .got = Py_TYPE(result.ptr())->tp_name,
                       .expected = "a tensor or None",
                       .next = "return the gradient to go on with, or nothing"});
    return tensor_of(result.ptr());
  }
};

Tensors tensors_of(nb::handle o, const char* what) {
  if (o.is_none()) return {};
  if (is_tensor(o.ptr())) return {tensor_of(o.ptr())};
  auto refuse = [what](PyObject* got) {
    throw TypeError({.op = what,
                     .problem = "a tensor expected",
                     .got = Py_TYPE(got)->tp_name,
                     .expected = "a tensor, or a list or tuple of tensors",
                     .next = "make a tensor of it with lathe.tensor()"});
  };
  Tensors out;
  auto take = [&](nb::handle item) {
    if (item.is_none()) {
      out.emplace_back();
    } else if (is_tensor(item.ptr())) {
      out.push_back(tensor_of(item.ptr()));
    } else {
      refuse(item.ptr());
    }
  };
  if (has_items(o.ptr())) {
    Items items(o.ptr());
    for (Py_ssize_t i = 0; i < items.size(); ++i) take(items.at(i));
  } else if (nb::hasattr(o, "__iter__")) {  // one by one: it may never end
    for (nb::handle item : nb::iter(o)) take(item);
  } else {
    refuse(o.ptr());
  }
  return out;
}

thread_local bool t_check_nan = false;

BackwardOptions options_of(nb::handle retain, bool create, bool allow_unused = false) {
  BackwardOptions o;
  o.check_nan = t_check_nan;
  o.create_graph = create;
  o.retain_graph = retain.is_none() ? create : nb::cast<bool>(retain);
  o.allow_unused = allow_unused;
  o.cancelled = interrupted;
  return o;
}

void run_backward(nb::handle ys, nb::handle dys, nb::handle retain, bool create) {
  Tensors outputs = tensors_of(ys, "backward"), gradients = tensors_of(dys, "backward");
  BackwardOptions o = options_of(retain, create);
  released([&] {
    backward(outputs, gradients, o);
    return 0;
  });
}

nb::object tuple_of(const Tensors& ts) {
  nb::object list = owned(wrap_list(ts));
  return owned(PyList_AsTuple(list.ptr()));
}

nb::object run_grad(nb::handle ys, nb::handle xs, nb::handle dys, nb::handle retain, bool create,
                    bool only_inputs, nb::handle allow_unused, bool batched, bool materialize) {
  if (!only_inputs)
    throw ValueError({.op = "grad",
                      .problem = "gradients of other leaves are not added up on the way",
                      .got = "only_inputs=False",
                      .expected = "only_inputs=True, the default",
                      .next = "call backward() for the .grad of every leaf"});
  const bool unused = !allow_unused.is_none() && nb::cast<bool>(allow_unused);
  if (materialize && !allow_unused.is_none() && !unused)
    throw ValueError({.op = "grad",
                      .problem = "zeros for what is unused are asked for, and an error",
                      .got = "materialize_grads=True, allow_unused=False",
                      .expected = "one of the two",
                      .next = "leave allow_unused out"});
  Tensors outputs = tensors_of(ys, "grad"), inputs = tensors_of(xs, "grad");
  Tensors gradients = tensors_of(dys, "grad");
  BackwardOptions o = options_of(retain, create, unused || materialize);
  o.zeros_for_unused = materialize;
  Tensors found = released([&] {
    return batched ? grad_of_rows(outputs, gradients, inputs, o)
                   : grad(outputs, gradients, inputs, o);
  });
  return tuple_of(found);
}

/// before: hook(grad_outputs), else hook(grad_inputs, grad_outputs).
HookHandle add_node_hook(const GradFn& g, nb::object function, bool before) {
  const char* op = before ? "register_prehook" : "register_hook";
  const TapeNode& node = *g.node;
  if (node.is_leaf() || (!before && node.own() == nullptr && node.op->kind == Kind::composite))
    throw AutogradError({.op = op,
                         .problem = "this node's gradients are not seen together",
                         .got = node.name(),
                         .expected = "a node of one operation, not a leaf's",
                         .next = "call register_hook() of the tensors themselves"});
  if (ir::Tracer::current() != nullptr)
    throw TraceError({.op = op,
                      .problem = "a hook would run while tracing only",
                      .got = node.name(),
                      .next = "register it on the result of the traced function"});
  std::shared_ptr<nb::object> kept = shared_object(std::move(function));
  auto hook = [kept, before, op](const Tensors& xs, const Tensors& ys) -> Tensors {
    nb::gil_scoped_acquire lock;
    if (!kept->is_valid()) return {};
    return tensors_of(before ? (*kept)(tuple_of(ys)) : (*kept)(tuple_of(xs), tuple_of(ys)), op);
  };
  TapeNode::Rare& rare = g.node->rare_or_new();
  (before ? rare.before : rare.after).emplace_back(std::move(hook));
  return HookHandle{std::move(kept)};
}

void add_grad_fn(nb::module_& m) {
  nb::class_<GradFn> c(m, "GradFn", "A recorded operation: a node of history.");
  c.def("name", [](const GradFn& g) { return g.node->name(); });
  c.def_prop_ro(
      "site", [](const GradFn& g) { return to_string(g.node->site); },
      "The line of the program that computed it.");
  c.def_prop_ro("next_functions", [](const GradFn& g) {
    nb::list out;
    for (const Edge& e : g.node->next)
      if (e.node) out.append(nb::make_tuple(GradFn{e.node}, e.output));
    return nb::tuple(out);
  });
  c.def(
      "register_hook",
      [](const GradFn& g, nb::object fn) { return add_node_hook(g, std::move(fn), false); },
      nb::arg("fn"),
      "fn(grad_inputs, grad_outputs) in backward(), once the gradients of its inputs are there;\n"
      "a tuple that it gives replaces grad_inputs. None stands for what has no gradient.");
  c.def(
      "register_prehook",
      [](const GradFn& g, nb::object fn) { return add_node_hook(g, std::move(fn), true); },
      nb::arg("fn"),
      "fn(grad_outputs) in backward(), before the gradients of its inputs are computed; a tuple\n"
      "that it gives replaces grad_outputs.");
  c.def("__repr__", [](const GradFn& g) { return "<" + g.node->name() + ">"; });
  nb::class_<HookHandle>(m, "HookHandle", "remove() takes the hook away.")
      .def("remove", [](HookHandle& h) { h.function->reset(); });
}

}  // namespace

std::shared_ptr<nb::object> shared_object(nb::object o) {
  return {new nb::object(std::move(o)), [](nb::object* p) {
            release_later([](void* q) { delete static_cast<nb::object*>(q); }, p);
          }};
}

nb::object grad_fn_object(std::shared_ptr<TapeNode> node) {
  return nb::cast(GradFn{std::move(node)});
}

std::shared_ptr<TapeNode> node_of(nb::handle grad_fn) {
  return grad_fn.is_none() ? nullptr : nb::cast<GradFn&>(grad_fn).node;
}

nb::object hook_handle(std::shared_ptr<nb::object> function) {
  return nb::cast(HookHandle{std::move(function)});
}

nb::object grad_fn_of(const Tensor& t) {
  if (t.impl()->view) refresh(t);
  TapeMeta* m = meta(t);
  if (m == nullptr || !m->edge.node || m->edge.node->is_leaf()) return nb::none();
  return nb::cast(GradFn{m->edge.node});
}

nb::object add_hook(const Tensor& t, nb::object function) {
  if (t.symbolic())
    throw TraceError({.op = "register_hook",
                      .problem = "a hook would run while tracing only",
                      .got = to_string(type_of(t)),
                      .next = "register it on the result of the traced function"});
  std::shared_ptr<nb::object> kept = shared_object(std::move(function));
  register_hook(t, PythonHook{kept});
  ++g_hooks_added;
  return nb::cast(HookHandle{kept});
}

uint64_t hooks_added() { return g_hooks_added; }

nb::list hooks_of(const Tensor& t) {
  nb::list out;
  if (const TapeMeta* m = meta(t))
    for (const Hook& hook : hooks_on(*m))
      if (const auto* h = hook.target<PythonHook>(); h != nullptr && h->function->is_valid())
        out.append(*h->function);
  return out;
}

/// f is called when the backward that runs has ended.
void call_after_backward(const nb::callable& f) {
  const std::shared_ptr<PyObject> held(nb::borrow(f).release().ptr(), [](PyObject* object) {
    release_later([](void* o) { Py_DECREF(static_cast<PyObject*>(o)); }, object);
  });
  after_backward([held] {
    nb::gil_scoped_acquire lock;
    nb::borrow(held.get())();
  });
}

void add_autograd(nb::module_& m) {
  add_grad_fn(m);
  m.def("_current_backward", current_backward);
  m.def("_after_backward", call_after_backward);
  m.def("backward", run_backward, nb::arg("tensors"), nb::arg("grad_tensors") = nb::none(),
        nb::arg("retain_graph") = nb::none(), nb::arg("create_graph") = false,
        "Adds the gradients of the sum of `tensors` to the .grad of every leaf they depend on.\n"
        "grad_tensors: what each is multiplied by; may be left out for tensors of one element.\n"
        "AutogradError where there is no history, or a saved value has changed.");
  m.def(
      "grad", run_grad, nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs") = nb::none(),
      nb::arg("retain_graph") = nb::none(), nb::arg("create_graph") = false,
      nb::arg("only_inputs") = true, nb::arg("allow_unused") = nb::none(),
      nb::arg("is_grads_batched") = false, nb::arg("materialize_grads") = false,
      "The gradients of the sum of `outputs` by each of `inputs`, as a tuple; no .grad changes.\n"
      "grad_outputs: what each output is multiplied by; with is_grads_batched several of each,\n"
      "along a new first axis, and as many gradients. create_graph=True records the computation,\n"
      "for higher derivatives. An input that outputs do not depend on has the gradient None with\n"
      "allow_unused, zeros with materialize_grads; else it is an AutogradError.");
  m.def(
      "is_grad_enabled", [] { return thread_state().grad_enabled; },
      "Whether operations are recorded on this thread.");
  m.def("_history_beyond", [](nb::handle ys, nb::handle xs) {
    return history_beyond(tensors_of(ys, "grad"), tensors_of(xs, "grad"));
  });
  m.def("_may_have_history", [](nb::handle x) {
    ir::Tracer* tracer = ir::Tracer::current();
    return tracer != nullptr && tracer->may_have_history(tensor_of(x.ptr()));
  });
  m.def("_tracked_below", [](nb::handle ys) {
    for (const Tensor& y : tensors_of(ys, "grad"))
      for (Tensor t = y.impl()->symbol.batched; t.defined(); t = t.impl()->symbol.batched)
        if (t.requires_grad()) return true;
    return false;
  });
  m.def("_set_check_nan", [](bool on) { return std::exchange(t_check_nan, on); });
  m.def("_autocast", [] { return nb::borrow(dtype_object(thread_state().autocast)); });
  m.def("_set_autocast", [](nb::handle dtype) {
    return nb::borrow(dtype_object(std::exchange(thread_state().autocast, to_dtype(dtype.ptr()))));
  });
  m.def("_set_grad_enabled", [](bool on) {
    bool before = thread_state().grad_enabled;
    thread_state().grad_enabled = on;
    return before;
  });
}

}  // namespace lathe::py
