#include "python/bindings/profile.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "core/dispatch/profile.h"
#include "kernels/own/roofline.h"
#include "python/bindings/call.h"

namespace lathe::py {
namespace {

nb::tuple texts(const Types& types) {
  nb::list out;
  for (const TensorType& t : types) out.append(to_string(t));
  return nb::tuple(out);
}

/// (thread, parent or -1, kind, name, kernel, "file:line", types read, types written, bytes read,
/// bytes written, operations, start, duration) of each span; parents are places in this list.
nb::list end() {
  const Profile profile = end_profile();
  nb::list out;
  int first = 0;
  for (size_t thread = 0; thread < profile.size(); ++thread) {
    for (const SpanRecord& r : profile[thread])
      out.append(nb::make_tuple(thread, r.parent < 0 ? -1 : first + r.parent, name(r.kind), r.name,
                                r.kernel, to_string(r.site), texts(r.in), texts(r.out),
                                r.bytes_read, r.bytes_written, r.operations, r.start, r.duration));
    first += static_cast<int>(profile[thread].size());
  }
  return out;
}

}  // namespace

void add_profile(nb::module_& m) {
  m.def("_begin_profile", &begin_profile);
  m.def("_end_profile", &end);
  m.def("_measure_roofline", [] {
    const own::Roofline r = released([] { return own::measure_roofline(); });
    return nb::make_tuple(r.operations, r.bandwidth);
  });
}

}  // namespace lathe::py
