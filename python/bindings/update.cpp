#include "python/bindings/update.h"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/replay.h"
#include "jit/function.h"
#include "python/bindings/python.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

class Update {
 public:
  explicit Update(std::string name)
      : engine_(std::move(name), jit::Terms{ir::no_user_rules(), false}) {}
  Update(const Update&) = delete;

  /// The update of parameter p by its gradient g: `state` are the tensors that it remembers by
  /// name, `rates` floats and tensors. False: no program serves it, and nothing was done.
  bool serve(nb::handle p, nb::handle g, nb::dict state, nb::tuple rates) {
    ir::Data inputs;
    return inputs_of(p, g, state, rates, inputs) && serves(inputs);
  }

  /// The same with one more program: of body(list of p, g, the state and the rates), which writes
  /// to tensors among them. False also where that cannot be captured.
  bool run(nb::handle p, nb::handle g, nb::dict state, nb::tuple rates, nb::callable body) {
    ir::Data inputs;
    if (failed_ || !inputs_of(p, g, state, rates, inputs)) return false;
    failed_ = !capture(inputs, body);
    return !failed_ && serves(inputs);
  }

 private:
  static bool add(nb::handle h, ir::Data& inputs) {
    if (!is_tensor(h.ptr())) return false;
    const Tensor& t = tensor_of(h.ptr());
    if (t.impl()->view) refresh(t);
    inputs.emplace_back(t);
    return true;
  }
  static bool inputs_of(nb::handle p, nb::handle g, const nb::dict& state, const nb::tuple& rates,
                        ir::Data& inputs) {
    inputs.reserve(state.size() + rates.size() + 2);
    if (!add(p, inputs) || !add(g, inputs)) return false;
    for (auto [name, value] : state)
      if (!add(value, inputs)) return false;
    for (nb::handle rate : rates) {
      if (add(rate, inputs)) continue;
      Real number;
      if (!read_real(rate.ptr(), number)) return false;
      inputs.emplace_back(Arg(number));
    }
    return true;
  }
  bool serves(const ir::Data& inputs) {
    jit::FunctionCallbacks host;
    return engine_.serve(inputs, host).has_value();
  }
  bool capture(const ir::Data& inputs, nb::callable& body) {
    jit::FunctionCallbacks host;
    std::vector<std::string> names;
    while (names.size() < inputs.size())
      names.push_back(absl::StrCat("t", names.size()));  // not an op: a name of a value
    const auto traced = [&](const ir::Data& in) {
      nb::list values;
      for (const ir::Datum& d : in)
        values.append(owned(d.is_tensor() ? wrap(d.tensor()) : from_real(d.arg().real())));
      body(values);
      return ir::Data();
    };
    try {
      const auto c = engine_.capture(inputs, names, traced, host);
      return c->program != nullptr;
    } catch (const Error&) {  // eager code meets it in its own words
      return false;
    }
  }

  jit::Function engine_;
  bool failed_ = false;
};

}  // namespace

void add_update(nb::module_& m) {
  nb::class_<Update>(m, "Update")
      .def(nb::init<std::string>())
      .def("serve", &Update::serve, nb::arg("p"), nb::arg("g"), nb::arg("state"), nb::arg("rates"))
      .def("run", &Update::run, nb::arg("p"), nb::arg("g"), nb::arg("state"), nb::arg("rates"),
           nb::arg("body"));
  m.def("_fuse_after", [] { return flag_count(Flag::fuse_after); });
}

}  // namespace lathe::py
