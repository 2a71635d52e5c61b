// Whether a dict was written to since somebody looked: its keys need not be looked up again if not.
//
// Until Python 3.11 a dict has a version, which each write changes. From 3.12 on the interpreter
// tells who asks for it of each write to a dict (PyDict_Watch), and there is one number for all
// dicts that are watched: while it is the same, none of them need be asked.
#pragma once

#include <cstdint>
#include <memory>

#include "python/bindings/python.h"

namespace lathe::py {

#if PY_VERSION_HEX < 0x030c0000

class DictVersion {
 public:
  /// Of now.
  explicit DictVersion(PyObject* dict) : now_(version_of(dict)) {}
  /// Is it still that of the dict?
  bool holds(PyObject* dict) const { return version_of(dict) == now_; }
  /// While it is the same and not 0, no dict that has a DictVersion was written to.
  static uint64_t writes() { return 0; }

 private:
  static uint64_t version_of(PyObject* dict) {
    return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  }
  uint64_t now_;
};

#else

class DictVersion {
 public:
  explicit DictVersion(PyObject* dict);
  bool holds(PyObject* dict) const;
  static uint64_t writes();

  struct Watched;  // a dict, and how often it was written to since it is

 private:
  std::shared_ptr<const Watched> watched_;  // null: the interpreter tells us nothing
  uint64_t now_ = 0;
};

#endif

}  // namespace lathe::py
