#include "python/bindings/dict_version.h"

#if PY_VERSION_HEX >= 0x030c0000

#include <absl/container/flat_hash_map.h>

namespace lathe::py {

// All under Python's lock.
struct DictVersion::Watched {
  explicit Watched(PyObject* watched) : dict(watched) {}
  ~Watched();
  Watched(const Watched&) = delete;

  PyObject* dict;  // null: it is gone
  uint64_t writes = 0;
};

namespace {

using Watched = DictVersion::Watched;

uint64_t all_writes = 1;
bool one_is_unwatched = false;

/// By address. Whoever has a DictVersion of the dict owns it.
absl::flat_hash_map<PyObject*, std::weak_ptr<Watched>>& watched_dicts() {
  static auto* all = new absl::flat_hash_map<PyObject*, std::weak_ptr<Watched>>();
  return *all;
}

int was_written(PyDict_WatchEvent event, PyObject* dict, PyObject* /*key*/, PyObject* /*value*/) {
  const auto it = watched_dicts().find(dict);
  if (it == watched_dicts().end()) return 0;
  ++all_writes;
  const std::shared_ptr<Watched> watched = it->second.lock();
  ++watched->writes;
  if (event == PyDict_EVENT_DEALLOCATED) {
    watched->dict = nullptr;
    watched_dicts().erase(it);
  }
  return 0;
}

/// The interpreter's number for was_written(); below 0: it has no more.
int watcher() {
  static const int number = PyDict_AddWatcher(was_written);
  return number;
}

}  // namespace

DictVersion::Watched::~Watched() {
  if (dict == nullptr) return;
  watched_dicts().erase(dict);
  if (Py_IsInitialized() != 0 && PyDict_Unwatch(watcher(), dict) < 0) PyErr_Clear();
}

DictVersion::DictVersion(PyObject* dict) {
  std::weak_ptr<Watched>& place = watched_dicts()[dict];
  std::shared_ptr<Watched> watched = place.lock();
  if (watched == nullptr) {
    if (watcher() < 0 || PyDict_Watch(watcher(), dict) < 0) {
      PyErr_Clear();
      watched_dicts().erase(dict);
      one_is_unwatched = true;
      return;
    }
    watched = std::make_shared<Watched>(dict);
    watched_dicts()[dict] = watched;
  }
  now_ = watched->writes;
  watched_ = std::move(watched);
}

bool DictVersion::holds(PyObject* dict) const {
  return watched_ != nullptr && watched_->dict == dict && watched_->writes == now_;
}

// With a dict that could not be watched no number says that nothing was written.
uint64_t DictVersion::writes() { return one_is_unwatched ? 0 : all_writes; }

}  // namespace lathe::py

#endif
