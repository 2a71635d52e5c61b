// Every recorded op asks for the user's line, so the answer is kept by (code object, instruction):
// a table of fixed size whose entries hold their code object, so that its address cannot come to
// mean another. A hit costs a look at the frame and one comparison.
#include "python/bindings/frames.h"

#include <string>
#include <utility>
#include <vector>

namespace lathe::py {
namespace {

struct Entry {
  PyCodeObject* code = nullptr;  // owned
  int instruction = 0;
  Site site;
  bool own = false;  // a frame of the package itself
};
constexpr size_t kEntries = 4096;  // a power of two
constinit Entry* entries = nullptr;
constinit std::string* own_files = nullptr;

#if PY_VERSION_HEX >= 0x030b0000
int instruction_of(PyFrameObject* f) { return PyFrame_GetLasti(f); }
#else
int instruction_of(PyFrameObject* f) { return f->f_lasti; }
#endif

void fill(Entry& e, PyFrameObject* frame, PyCodeObject* code, int instruction) {
  Py_ssize_t size = 0;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (file == nullptr) {
    PyErr_Clear();
    file = "?";
    size = 1;
  }
  std::string_view name(file, static_cast<size_t>(size));
  Py_INCREF(code);
  Py_XDECREF(e.code);
  e.code = code;
  e.instruction = instruction;
  e.own = name.starts_with(*own_files);
  e.site = e.own ? Site{} : make_site(name, PyFrame_GetLineNumber(frame));
}

Entry& entry_of(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  int instruction = instruction_of(frame);
  size_t at = (reinterpret_cast<uintptr_t>(code) >> 4) * 31 + static_cast<size_t>(instruction);
  Entry& e = entries[at & (kEntries - 1)];
  if (e.code != code || e.instruction != instruction) [[unlikely]]
    fill(e, frame, code, instruction);
  Py_DECREF(code);
  return e;
}

/// core's hook. Threads that run no Python, and those that have given the lock away, have no line.
Site hook() { return PyGILState_Check() != 0 ? user_line() : Site{}; }

}  // namespace

Site user_line() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    const Entry& e = entry_of(frame);
    if (!e.own) {
      Py_DECREF(frame);
      return e.site;
    }
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return {};
}

void forget_lines() {
  if (entries == nullptr) return;
  std::vector<PyCodeObject*> codes;  // what goes with the last one may ask for a line
  for (Entry* e = entries; e != entries + kEntries; ++e)
    if (e->code != nullptr) codes.push_back(std::exchange(e->code, nullptr));
  for (PyCodeObject* code : codes) Py_DECREF(code);
}

void install_site_hook(std::string_view package) {
  if (entries == nullptr) {
    entries = new Entry[kEntries];
    own_files = new std::string;
  }
  *own_files = package;
  set_site_hook(hook);
}

}  // namespace lathe::py
