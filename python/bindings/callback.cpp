// A program may run without the interpreter's lock, and end on another thread than it began: the
// lock is taken for each call, and for the function's own end.
#include "python/bindings/callback.h"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/callback.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/printing.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/math.h"
#include "python/bindings/print.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

using Ref = std::shared_ptr<const HostFunction>;

/// `call` gets a list of tensors and gives one. `own`: it may keep them and write to them.
class PythonFunction final : public HostFunction {
 public:
  PythonFunction(std::string name, std::vector<Declared> results, nb::object call, bool own,
                 Ref derivative, Ref data)
      : HostFunction(std::move(name), std::move(results)),
        call_(std::move(call)),
        own_(own),
        derivative_(std::move(derivative)),
        data_(std::move(data)) {}

  ~PythonFunction() override {
    if (!Py_IsInitialized()) {
      call_.release();
      return;
    }
    nb::gil_scoped_acquire lock;
    call_.reset();
  }

  Outputs run(const Tensors& xs, const Types& types) const override {
    nb::gil_scoped_acquire lock;
    // A program of its own: computed at once, and not part of any history.
    const BackendScope eager(nullptr);
    const GradMode off(false);
    const AutocastScope over(DType::f32);
    nb::list given;
    for (const Tensor& x : xs)
      given.append(owned(wrap(own_ ? math_ops<Tensor>::clone(detach(x)) : detach(x))));
    nb::object answer = owned(PyObject_CallOneArg(call_.ptr(), given.ptr()));
    Outputs out;
    for (nb::handle h : answer)
      out.push_back(checked_result(tensor_of(h.ptr()), out.size(), types));
    if (out.size() != types.size())
      throw ValueError({.op = "callback",
                        .problem = absl::StrCat(name,
                                                "() gives another number of tensors than "
                                                "was declared"),
                        .got = absl::StrCat(out.size()),
                        .expected = absl::StrCat(types.size()),
                        .next = "return what `result` says"});
    return out;
  }

  Ref derivative() const override { return derivative_; }
  Ref as_data() const override { return data_; }

 private:
  /// In memory of its own: whoever made it may go on writing to it.
  Tensor checked_result(const Tensor& t, size_t k, const Types& types) const {
    if (k < types.size()) {
      const TensorType &want = types[k], have = type_of(t);
      if (have.dtype != want.dtype || have.device != want.device ||
          !identical(IntSpan(have.shape), IntSpan(want.shape)))
        throw ShapeError(
            {.op = "callback",
             .problem = absl::StrCat("what ", name, "() gives is not what was declared"),
             .got = to_string(have),
             .expected = to_string(want),
             .next = "convert it in the function, or mend `result`"});
    }
    return math_ops<Tensor>::clone(t);
  }

  nb::object call_;
  bool own_;
  Ref derivative_, data_;
};

}  // namespace

std::shared_ptr<const HostFunction> python_function(std::string name,
                                                    std::vector<HostFunction::Declared> results,
                                                    nb::object call) {
  return std::make_shared<PythonFunction>(std::move(name), std::move(results), std::move(call),
                                          /*own=*/false, nullptr, nullptr);
}

namespace {

struct CallbackHandle {
  Ref function;
};

nb::list call_(const CallbackHandle& f, nb::list xs, nb::handle sizes, bool ordered) {
  Tensors given;
  for (nb::handle h : xs) given.push_back(tensor_of(h.ptr()));
  nb::list out;
  for (const Tensor& t : call_host(*f.function, given, to_shape(sizes.ptr()), ordered))
    out.append(owned(wrap(t)));
  return out;
}

/// What a tensor's text says of its history; None: only a run tells, as the tensor goes through a
/// loop or branch that is recorded as one.
nb::object history(const Tensor& t) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer != nullptr && tracer->may_have_history(t)) return nb::none();
  if (!t.requires_grad()) return nb::str("");
  const TapeMeta* m = meta(t);
  if (m != nullptr && m->edge.node != nullptr)
    for (ir::Structure s : {ir::Structure::if_, ir::Structure::for_, ir::Structure::while_})
      if (m->edge.node->name() == name(s)) return nb::none();
  return nb::str(history_text(t).c_str());
}

/// As print() does: to what sys.stdout is now.
void print_by_python(std::string_view text) {
  nb::gil_scoped_acquire lock;
  PyObject* out = PySys_GetObject("stdout");  // borrowed
  if (out == nullptr || out == Py_None) return;
  nb::object held = nb::borrow(out);
  owned(PyObject_CallMethod(held.ptr(), "write", "s#", text.data(),
                            static_cast<Py_ssize_t>(text.size())));
}

}  // namespace

void add_callback(nb::module_& m) {
  set_print_hook(print_by_python);
  nb::class_<CallbackHandle>(m, "_HostFunction", "A function that programs call.")
      .def(
          "__init__",
          [](CallbackHandle* at, std::string name, nb::list results, nb::callable call, bool own,
             nb::object derivative, nb::object format) {
            std::vector<HostFunction::Declared> declared;
            for (nb::handle h : results)
              declared.push_back({to_dtype(nb::object(h[0]).ptr()), nb::cast<int>(h[1]),
                                  py::to_device(nb::object(h[2]).ptr())});
            Ref rule;
            if (!derivative.is_none()) rule = nb::cast<CallbackHandle&>(derivative).function;
            Ref data = format.is_none() ? nullptr : printing(nb::cast<std::string>(format));
            new (at) CallbackHandle{std::make_shared<PythonFunction>(
                std::move(name), std::move(declared), std::move(call), own, std::move(rule),
                std::move(data))};
          },
          nb::arg("name"), nb::arg("results"), nb::arg("call"), nb::arg("own"),
          nb::arg("derivative").none(), nb::arg("format").none() = nb::none());
  m.def("_call_host", call_);
  m.def("_forget_ordered_call", forget_ordered_call);
  m.def("_history_text", history);
  m.def("_written", [] {
    nb::list out;
    if (const ir::Tracer* tracer = ir::Tracer::current())
      for (const Tensor& t : tracer->written()) out.append(owned(wrap(t)));
    return out;
  });
  m.def("_share_memory", [](const Tensor& a, const Tensor& b) { return may_share_memory(a, b); });
  m.def("_tensor_text", [](const Tensor& t, const std::string& history) {
    PrintOptions options = print_options();
    if (!history.empty()) options.suffixes.push_back(history);
    return print_tensor(t, options);
  });
}

}  // namespace lathe::py
