// What lathe.autograd.Function and the hooks of autograd.graph are made of: nodes whose derivative
// is a Python function, and saved tensors as Python objects.
#include <nanobind/stl/string.h>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/callback.h"
#include "python/bindings/autograd.h"
#include "python/bindings/later.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// A tensor that a Function has saved. Its own results are known by their number: the history of
/// one would be a cycle.
struct SavedTensor {
  Saved saved;
};

nb::object optional(const Tensor& t) { return t.defined() ? owned(wrap(t)) : nb::none(); }

Tensors tensors_or_none(nb::handle list) {
  Tensors out;
  for (nb::handle h : list) out.push_back(h.is_none() ? Tensor() : tensor_of(h.ptr()));
  return out;
}

/// Calls `derivative.run(node, cotangents)`, a list with None for zero, which gives such a list for
/// the inputs.
Tensors run_own(const nb::object& derivative, const std::shared_ptr<TapeNode>& node,
                const Tensors& dys) {
  nb::gil_scoped_acquire lock;
  nb::list given;
  for (const Tensor& dy : dys) given.append(optional(dy));
  return tensors_or_none(derivative.attr("run")(grad_fn_object(node), given));
}

nb::object record(const std::string& name, nb::handle inputs, nb::handle outputs,
                  nb::handle left_out, nb::object derivative) {
  std::shared_ptr<nb::object> kept = shared_object(std::move(derivative));
  OwnDerivative own{name,
                    [kept](const std::shared_ptr<TapeNode>& node, const Tensors& dys,
                           const Tensors&) { return run_own(*kept, node, dys); },
                    [kept] {
                      nb::gil_scoped_acquire lock;
                      kept->attr("forget")();
                    }};
  const Tensors given = tensors_or_none(outputs);
  Tensors ys = given;
  for (Tensor& y : ys) {
    if (!y.defined() || y.impl()->view == nullptr) continue;
    require_assignable(y);  // only what forward() wrote to comes as a view of another tensor
    y = detach(y);
  }
  absl::InlinedVector<bool, 4> plain;
  for (nb::handle h : left_out) plain.push_back(nb::cast<bool>(h));
  nb::object node =
      grad_fn_object(record_function(std::make_shared<const OwnDerivative>(std::move(own)),
                                     tensors_or_none(inputs), ys, absl::MakeConstSpan(plain)));
  for (size_t k = 0; k < ys.size(); ++k) {
    Tensor written = given[k];
    if (ys[k].defined() && ys[k].impl() != written.impl() && ys[k].requires_grad())
      tape()->wrote(written, ys[k]);  // the tensor that it is a view of gets a history, too
  }
  return node;
}

/// A tensor over the same memory that is no view of another and has no history.
nb::object apart(const Tensor& t) { return owned(wrap(detach(t))); }

std::function<Tensor()> packed_by(const std::shared_ptr<nb::object>& pack,
                                  const std::shared_ptr<nb::object>& unpack, const Tensor& t) {
  nb::gil_scoped_acquire lock;
  note_ordered_call();  // of the user's, which sees what was written until now
  std::shared_ptr<nb::object> kept = shared_object((*pack)(owned(wrap(t))));
  return [kept, unpack] {
    nb::gil_scoped_acquire lock;
    nb::object back = (*unpack)(*kept);
    if (!is_tensor(back.ptr()))
      throw TypeError({.op = "saved_tensors_hooks",
                       .problem = "what unpacks a saved tensor gives a tensor",
                       .got = Py_TYPE(back.ptr())->tp_name,
                       .expected = "the tensor that was packed",
                       .next = "return it from unpack_hook"});
    return tensor_of(back.ptr());
  };
}

/// The packers of this thread, innermost last.
thread_local std::vector<Packer>* t_outer = nullptr;

void push_packer(nb::object pack, nb::object unpack) {
  if (t_outer == nullptr) t_outer = new std::vector<Packer>;
  auto p = shared_object(std::move(pack)), u = shared_object(std::move(unpack));
  t_outer->push_back(set_packer([p, u](const Tensor& t) { return packed_by(p, u, t); }));
}

void pop_packer() {
  if (t_outer == nullptr || t_outer->empty())
    throw AutogradError({.op = "saved_tensors_hooks",
                         .problem = "a block is left that was not entered",
                         .got = "__exit__() with no block open on this thread",
                         .expected = "one __exit__() for each __enter__()",
                         .next = "use it by `with`"});
  set_packer(std::move(t_outer->back()));
  t_outer->pop_back();
}

}  // namespace

void add_autograd_function(nb::module_& m) {
  nb::class_<SavedTensor>(m, "SavedTensor", "A tensor kept for a derivative.")
      .def(
          "unpack",
          [](const SavedTensor& s, nb::handle node) {
            return optional(unpack(s.saved, node_of(node)));
          },
          nb::arg("node").none())
      .def("is_result", [](SavedTensor& s, uint32_t number) {
        s.saved.source = {nullptr, number};
        s.saved.own_output = true;
      });
  m.def("_save_tensor", [](const Tensor& t) { return SavedTensor{save_tensor(t)}; });
  m.def("_record_function", record);
  m.def("_apart", apart);
  m.def("_push_packer", push_packer);
  m.def("_pop_packer", pop_packer);
  m.def("_add_grown_hook", [](const Tensor& t, nb::object f) {
    std::shared_ptr<nb::object> kept = shared_object(std::move(f));
    register_grown_hook(t, [kept] {
      nb::gil_scoped_acquire lock;
      if (kept->is_valid()) (*kept)();
    });
    return hook_handle(kept);
  });
}

}  // namespace lathe::py
