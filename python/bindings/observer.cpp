#include "python/bindings/observer.h"

#include <absl/container/flat_hash_set.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/errors.h"
#include "python/bindings/frames.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// Frames of code that nothing observes. Code objects are known by address: who adds one keeps it.
class Net {
 public:
  explicit Net(std::string own_folder) { trust(std::move(own_folder), false); }
  Net(const Net&) = delete;

  /// Code of this folder passes too, and is noted if it is to be.
  void trust(std::string folder, bool is_noted) {
    trusted_.push_back({std::move(folder), is_noted});
  }
  void trust_name(std::string name) { names_.push_back(std::move(name)); }
  void add(nb::handle code) { made_.insert(code.ptr()); }
  bool has(nb::handle code) const { return made_.contains(code.ptr()); }
  /// Frames pass while this is not 0: the observer's own work.
  int resting = 0;
  /// The first frame that was not made by the observer: its code object, or None.
  nb::object unseen = nb::none();
  /// Has code run that was to be noted?
  bool noted = false;
  /// The first TraceError that a call of the traced code raised, or None.
  nb::object refusal = nb::none();
  Net* outer = nullptr;  // that of the capture around this one

  void see(PyFrameObject* frame) {
    if (resting != 0 || !unseen.is_none()) return;
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    if (made_.contains(code.ptr())) return;
    std::string_view file = text_of(reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename);
    for (const Trusted& t : trusted_)
      if (file.starts_with(t.folder)) {
        noted |= t.noted;
        return;
      }
    std::string_view name = text_of(reinterpret_cast<PyCodeObject*>(code.ptr())->co_name);
    for (const std::string& trusted : names_)
      if (name == trusted) return;
    unseen = code;
  }

 private:
  struct Trusted {
    std::string folder;
    bool noted;
  };
  std::vector<Trusted> trusted_;
  std::vector<std::string> names_;
  absl::flat_hash_set<PyObject*> made_;
};

thread_local Net* active = nullptr;

int on_event(PyObject* self, PyFrameObject* frame, int what, PyObject*) {
  if (what == PyTrace_CALL && nb::inst_ready(self)) nb::inst_ptr<Net>(self)->see(frame);
  return 0;
}

void begin(nb::handle self) {
  Net* net = nb::inst_ptr<Net>(self);
  net->outer = std::exchange(active, net);
  PyEval_SetProfile(on_event, self.ptr());
}

void end(nb::handle self) {
  active = nb::inst_ptr<Net>(self)->outer;
  PyEval_SetProfile(nullptr, nullptr);
  forget_lines();
}

/// Which objects the collector knew at one moment, if it has not run since: all but its youngest
/// generation, which was empty then. That is looked through at each question, until so much was
/// looked at that it is cheaper to note the others, which stay alive then as long as this.
class Ages {
 public:
  /// `list`: gc.get_objects.
  explicit Ages(nb::callable list) : list_(std::move(list)) {}
  Ages(nb::callable list, nb::list objects) : Ages(std::move(list)) { note(objects); }

  /// Of what the collector does not track, as dicts of plain values: false.
  bool knows(nb::handle o) {
    if (PyObject_GC_IsTracked(o.ptr()) == 0) return false;
    if (noted_.empty()) {
      const nb::list young = listed(0);
      constexpr size_t kMostLooks = 600'000;
      looks_ += young.size();
      if (looks_ < kMostLooks) return !holds(young, o);
      for (int generation : {1, 2}) note(listed(generation));
    }
    return known_.contains(o.ptr());
  }

 private:
  nb::list listed(int generation) const {
    return nb::borrow<nb::list>(list_(nb::arg("generation") = generation));
  }
  static bool holds(const nb::list& objects, nb::handle o) {
    for (size_t i = objects.size(); i-- > 0;)  // what is asked about is often new
      if (objects[i].ptr() == o.ptr()) return true;
    return false;
  }
  void note(nb::list objects) {
    known_.reserve(known_.size() + objects.size());
    for (nb::handle o : objects) known_.insert(o.ptr());
    noted_.push_back(std::move(objects));
  }

  nb::callable list_;
  size_t looks_ = 0;
  std::vector<nb::list> noted_;
  absl::flat_hash_set<PyObject*> known_;
};

/// What a capture keeps of the errors that are raised while it is under way.
void note_refusal(PyObject* error) noexcept {
  if (active != nullptr && active->resting == 0 && active->refusal.is_none())
    active->refusal = nb::borrow(error);
}

}  // namespace

void add_observer(nb::module_& m) {
  when_refused(note_refusal);
  nb::class_<Net>(m, "_Net", "Notes Python frames that nothing observes.")
      .def(nb::init<std::string>())
      .def("made", &Net::add)
      .def("trust", &Net::trust, nb::arg("folder"), nb::arg("noted") = false)
      .def("trust_name", &Net::trust_name)
      .def("has", &Net::has)
      .def_rw("resting", &Net::resting)
      .def_ro("unseen", &Net::unseen)
      .def_ro("noted", &Net::noted)
      .def_rw("refusal", &Net::refusal, nb::arg().none())
      .def("begin", begin)
      .def("end", end);
  nb::class_<Ages>(m, "_Ages", "Which objects were there at one moment.")
      .def(nb::init<nb::callable>())
      .def(nb::init<nb::callable, nb::list>())
      .def("knows", &Ages::knows);
}

}  // namespace lathe::py
