#include "python/bindings/batch.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/batch/batch.h"
#include "python/bindings/constants.h"
#include "python/bindings/tensor.h"

namespace lathe::py {

void add_batch(nb::module_& m) {
  nb::class_<Batch>(m, "_Batch", "A vmap under way on this thread, until leave().")
      .def(
          "__init__",
          [](Batch* at, const Tensor& like, int randomness) {
            new (at) Batch(like.size(0), static_cast<Randomness>(randomness));
          },
          "As many examples as `like` has along axis 0.")
      .def("leave", &Batch::leave)
      .def("stand_in", &Batch::stand_in)
      .def("is_stand_in", &Batch::is_stand_in)
      .def("whole", &Batch::all);
  m.def("_unrecorded", unrecorded,
        "The same elements without history; inside a vmap, what it maps over keeps its own.");
  m.def("_batching", [] { return Batch::current() != nullptr; });
  m.def("_batch_fallbacks", batch_fallbacks);
}

}  // namespace lathe::py
