// One public name as a Python callable: the overloads behind it, and what is common to their calls.
//
// A call tries the overloads in order and takes the first that its arguments fit. Beside the
// schema's own parameters it knows PyTorch's arguments that are the same for every definition of a
// sort: `out` of functions, `inplace` of some entries of nn.functional, and `requires_grad`,
// `layout`, `pin_memory` and `memory_format` of those that create tensors, `generator` of those
// that draw.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/op/op.h"
#include "python/bindings/python.h"

namespace lathe::py {

struct Overload {
  const Op* op;
  PyTypeObject* results;  // a named tuple where there are several results; else null
  int gather;             // see Arguments::positional
};

struct Callable {
  std::string name;  // as users call it: "add_" for the in-place form
  std::string path;  // the same from lathe on: "special.expit"
  Place place = kFunction;
  bool inplace = false;           // the in-place form
  bool creates = false;           // takes requires_grad and its like
  bool draws = false;             // takes generator=
  bool inplace_argument = false;  // takes inplace=False last
  bool taken_for_view = false;    // Extra::taken_for_view
  std::vector<Overload> overloads;

  /// Calls the overload that fits. TypeError names what does not; with several, all signatures.
  PyObject* call(PyObject* const* args, Py_ssize_t count, PyObject* names) const;
  /// Signatures and meanings, for help().
  std::string doc() const;

 private:
  struct Extras;
  PyObject* call_with(const Overload& overload, Args complete, const Extras& extras,
                      PyObject* first) const;
};

/// lathe.return_types.<name>: the named tuple of a definition with several results; null: none.
PyTypeObject* result_type(std::string_view public_name);

/// Where a name is looked up: the definitions with this place, and those that Extra::also puts into
/// this module of lathe ("" or none: no module).
struct Where {
  Place place = kNowhere;
  std::string_view module = {};
  bool anywhere() const { return place == kNowhere && module.empty(); }
};

/// The callable of a public name there, or (anywhere) of one overload by its full name; null where
/// no definition is found.
std::unique_ptr<Callable> find_callable(std::string_view name, Where where);
/// The names that find_callable() knows there, sorted; in-place forms of methods too.
std::set<std::string> names_at(Where where);

/// What Python does with a definition: for stubs, docs and tests.
bool is_method(const Op& op);
bool has_inplace_form(const Op& op);
bool is_inplace_method(const Op& op);
std::string doc_of(const Op& op);

}  // namespace lathe::py
