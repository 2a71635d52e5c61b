#include "python/bindings/generator.h"

#include "core/base/error.h"
#include "core/dispatch/backend.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

struct Generator {
  RandomState state;
};

}  // namespace

RandomState* generator_state(const std::string& op, PyObject* value) {
  if (value == Py_None || nb::hasattr(value, "is_default")) return nullptr;
  if (!nb::isinstance<Generator>(value))
    throw TypeError({.op = op,
                     .problem = "argument 'generator' has the wrong type",
                     .got = Py_TYPE(value)->tp_name,
                     .expected = "a lathe.Generator or None",
                     .next = "make one: lt.Generator().manual_seed(seed)"});
  if (thread_state().trace_epoch != 0)
    throw TraceError({.op = op,
                      .problem = "a generator of its own would be drawn from while tracing only",
                      .got = "generator=",
                      .expected = "the process's stream, which lt.manual_seed sets",
                      .next = "draw before the traced function and pass the numbers in"});
  return &nb::cast<Generator&>(nb::handle(value)).state;
}

void add_generator(nb::module_& m) {
  nb::class_<Generator>(m, "_Generator", "What lathe/random.py makes lathe.Generator of.")
      .def(
          "__init__",
          [](Generator* made, nb::handle device) {
            if (!device.is_none()) to_device(device.ptr());
            new (made) Generator;
          },
          nb::arg("device") = nb::none())
      .def(
          "manual_seed",
          [](nb::handle self, int64_t seed) {
            nb::cast<Generator&>(self).state = {static_cast<uint64_t>(seed), 0};
            return nb::borrow(self);
          },
          nb::arg("seed"), "Starts the stream anew; gives the generator.")
      .def(
          "initial_seed", [](const Generator& g) { return g.state.seed; },
          "The seed that the stream began with.")
      .def("_state", [](const Generator& g) { return nb::make_tuple(g.state.seed, g.state.call); })
      .def("_set_state",
           [](Generator& g, uint64_t seed, uint64_t call) {
             g.state = {seed, call};
           })
      .def_prop_ro("device", [](const Generator&) { return owned(device_object({})); });
  m.def("_random_state", [] {
    const RandomState s = random_state();
    return nb::make_tuple(s.seed, s.call);
  });
  m.def("_set_random_state", [](uint64_t seed, uint64_t call) { set_random_state({seed, call}); });
}

}  // namespace lathe::py
