// Custom ops written in Python. The three functions of an op arrive wrapped by lathe/library.py, so
// that here they have one form: `shape` gets arguments with (sizes, dtype, device) in place of each
// tensor and gives a list of such; `kernel` gets tensors and gives a list of them; `gradient` gets
// what Grad has, as lists, and gives a list with None where there is no gradient.
#include "python/bindings/library.h"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/custom.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "kernels/custom/custom.h"
#include "python/bindings/ops.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

nb::object described(const TensorType& t) {
  return nb::make_tuple(owned(from_shape(t.shape)), nb::borrow(dtype_object(t.dtype)),
                        owned(device_object(t.device)));
}

nb::object plain(const Arg& a) {
  switch (a.tag) {
    case Tag::none:
      return nb::none();
    case Tag::tensor:
      return described(type_of(a.tensor()));
    case Tag::integer:
      return owned(from_int(a.integer()));
    case Tag::real:
      return owned(from_real(a.real()));
    case Tag::flag:
      return nb::bool_(a.flag_);
    case Tag::dtype:
      return nb::borrow(dtype_object(a.dtype_));
    case Tag::device:
      return owned(device_object(a.device_));
    case Tag::text:
      return nb::str(a.text_);
    case Tag::list: {
      nb::list items;
      for (size_t i = 0; i < a.list_->size; ++i) items.append(plain(a.list_->data[i]));
      return nb::tuple(items);
    }
    case Tag::function:  // no custom op takes one
      break;
  }
  return nb::none();
}

std::string given(Args args) {
  std::string out;
  for (const Arg& a : args)
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    a.tag == Tag::tensor ? to_string(type_of(a.tensor())) : to_string(a));
  return out;
}

/// One result by the shape rule, as lathe/library.py hands it on: (sizes, dtype, device).
TensorType promised(const Op& op, nb::handle description) {
  const nb::object sizes(description[0]), dtype(description[1]), device(description[2]);
  try {
    return {to_dtype(dtype.ptr()), to_shape(sizes.ptr()), py::to_device(device.ptr())};
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::type && e.kind() != ErrorKind::value &&
        e.kind() != ErrorKind::device)
      throw;
    throw TypeError({.op = op.name(),
                     .problem = "the shape rule gives a TensorSpec that describes no tensor",
                     .got = e.parts().got,
                     .expected = "a tuple of integers, a dtype and a device",
                     .next = "return x.like(shape=..., dtype=...) of a tensor argument"});
  }
}

nb::object optional(const Tensor& t) { return t.defined() ? owned(wrap(t)) : nb::none(); }

class PythonOp final : public CustomOp {
 public:
  PythonOp(nb::object shape, nb::object kernel, nb::object gradient)
      : shape_(shape.release().ptr()),
        kernel_(kernel.release().ptr()),
        gradient_(gradient.release().ptr()) {}

  Types infer(const Op& op, Args args) const override {
    nb::gil_scoped_acquire lock;
    nb::list given_args;
    for (size_t i = 0; i < args.size(); ++i) {
      bool tensor = op.schema.params[i].type == ArgType::tensor;
      if (tensor && !args[i].none() && args[i].tag != Tag::tensor)
        throw TypeError({.op = op.name(),
                         .problem = "a custom op takes tensors where its schema says so",
                         .got = to_string(args[i]),
                         .expected = op.schema.text,
                         .next = "make a tensor of the number with lt.tensor()"});
      given_args.append(plain(args[i]));
    }
    nb::object answer = owned(PyObject_CallOneArg(shape_, given_args.ptr()));
    Types types;
    for (nb::handle h : answer) {
      TensorType t = promised(op, h);
      for (Int s : t.shape)
        if (!require(Relation::le, Int(0), s))
          throw ShapeError({.op = op.name(),
                            .problem = "the shape rule gives a negative size",
                            .got = given(args),
                            .expected = "sizes of 0 or more",
                            .next = "mend the shape rule, or check the arguments"});
      types.push_back(std::move(t));
    }
    if (types.size() != op.schema.results.size())
      throw ValueError({.op = op.name(),
                        .problem = "the shape rule gives another number of results",
                        .got = absl::StrCat(types.size()),
                        .expected = absl::StrCat(op.schema.results.size(), ", by ", op.schema.text),
                        .next = "return one description for each result"});
    return types;
  }

  void run(const Call& call, Outputs& outputs) const override {
    nb::gil_scoped_acquire lock;
    // The kernel is a program of its own: computed at once, and not part of any history.
    BackendScope eager(nullptr);
    GradMode no_grad(false);
    nb::list args;
    for (const Arg& a : call.args)
      args.append(a.tag == Tag::tensor ? owned(wrap(detach(a.tensor()))) : plain(a));
    nb::object answer = owned(PyObject_CallOneArg(kernel_, args.ptr()));
    for (nb::handle h : answer) outputs.push_back(tensor_of(h.ptr()));
    if (outputs.size() != call.types.size())
      throw ValueError({.op = call.op.name(),
                        .problem = "the kernel gives another number of results",
                        .got = absl::StrCat(outputs.size()),
                        .expected = absl::StrCat(call.types.size(), ", by ", call.op.schema.text),
                        .next = "return one tensor for each result"});
    for (size_t k = 0; k < outputs.size(); ++k) outputs[k] = fresh(call, k, outputs[k]);
  }

  bool runs_on(Device device) const override { return device.kind == DeviceKind::cpu; }

  Grads gradient(Grad g) const override {
    nb::gil_scoped_acquire lock;
    nb::list xs, ys, dys, types, wants;
    const Op& op = g.op();
    for (int i = 0; i < g.slots(); ++i) {
      bool tensor = op.schema.params[static_cast<size_t>(i)].type == ArgType::tensor;
      bool saved = op.extra.saves.inputs >> i & 1;
      bool there = tensor && g.wants(i);
      if (!tensor)
        xs.append(plain(g.arg(i)));
      else
        xs.append(saved ? optional(g.x(i)) : nb::none());
      types.append(tensor ? described(g.type(i)) : nb::none());
      wants.append(there);
    }
    for (size_t k = 0; k < op.schema.results.size(); ++k) {
      int i = static_cast<int>(k);
      ys.append(op.extra.saves.outputs >> k & 1 ? optional(g.y(i)) : nb::none());
      dys.append(optional(g.dy(i)));
    }
    nb::object answer = nb::borrow(gradient_)(xs, types, ys, wants, dys);
    Grads out(static_cast<size_t>(g.slots()));
    size_t i = 0;
    for (nb::handle h : answer) {
      if (i < out.size() && !h.is_none()) out[i] = tensor_of(h.ptr());
      ++i;
    }
    return out;
  }

 private:
  /// The result, checked against the shape rule, in memory of its own.
  static Tensor fresh(const Call& call, size_t k, const Tensor& t) {
    const TensorType& want = call.types[k];
    TensorType have = type_of(t);
    if (have.dtype != want.dtype || have.device != want.device ||
        !identical(IntSpan(have.shape), IntSpan(want.shape)))
      throw ShapeError({.op = call.op.name(),
                        .problem = "the kernel's result is not what the shape rule says",
                        .got = to_string(have),
                        .expected = to_string(want),
                        .next = "mend the kernel or the shape rule: they must agree"});
    bool shared = false;
    auto look = [&](const Arg& a) {
      shared = shared || (a.tag == Tag::tensor && may_share_memory(*a.tensor_, *t.impl()));
    };
    for (const Arg& a : call.args) {
      look(a);
      if (a.tag == Tag::list) std::for_each_n(a.list_->data, a.list_->size, look);
    }
    return shared || !t.geometry().is_contiguous() ? math_ops<Tensor>::clone(t) : t;
  }

  PyObject *shape_, *kernel_, *gradient_;  // owned for ever, as the definition is
};

nb::object published(const Op& op) {
  publish(op);
  return nb::module_::import_("lathe._lathe").attr("_find")(op.public_name(), "function");
}

}  // namespace

void add_library(nb::module_& m) {
  m.def(
      "_define_op",
      [](std::string schema, std::string doc, int version, std::string saves, nb::object shape,
         nb::object kernel, nb::object gradient) {
        CustomDefinition row{std::move(schema), std::move(doc), version, {}, !gradient.is_none()};
        Schema parsed = parse_schema(row.schema);
        if (row.has_gradient) row.saves = saves_named(parsed, saves);
        return published(define_custom(
            row,
            std::make_shared<PythonOp>(std::move(shape), std::move(kernel), std::move(gradient))));
      },
      nb::arg("schema"), nb::arg("doc"), nb::arg("version"), nb::arg("saves"), nb::arg("shape"),
      nb::arg("kernel"), nb::arg("gradient").none());  // not an op: an argument
  m.def("_load_ops", [](const std::string& path) {
    nb::list ops;
    for (const std::string& name : load_op_library(path)) ops.append(published(get_op(name)));
    return ops;
  });
  m.def("_op_name", [](const std::string& schema) { return parse_schema(schema).name; });
}

}  // namespace lathe::py
