// The arguments of a hand-written method, bound to its parameters as Python binds them.
#pragma once

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <array>

#include "core/base/error.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// One entry for each parameter, in order; null where it was left out. The first `by_place` may be
/// given by place, all by name. TypeError names the method and what it knows.
template <size_t N>
std::array<PyObject*, N> bind_arguments(const char* method,
                                        const std::array<std::string_view, N>& names,
                                        size_t by_place, PyObject* const* args, Py_ssize_t count,
                                        PyObject* keywords) {
  std::array<PyObject*, N> given{};
  if (count > static_cast<Py_ssize_t>(by_place))
    throw TypeError({.op = method,
                     .problem = "too many arguments",
                     .got = absl::StrCat(count),
                     .expected = absl::StrCat("at most ", by_place),
                     .next = absl::StrCat("help(lt.Tensor.", method, ") shows how to call it")});
  for (Py_ssize_t i = 0; i < count; ++i) given[static_cast<size_t>(i)] = args[i];
  Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    std::string_view name = text_of(PyTuple_GET_ITEM(keywords, i));
    size_t at = 0;
    while (at < N && names[at] != name) ++at;
    if (at == N || given[at] != nullptr)
      throw TypeError({.op = method,
                       .problem = absl::StrCat(
                           at == N ? "there is no parameter '" : "two values for '", name, "'"),
                       .got = absl::StrCat("'", name, "'"),
                       .expected = absl::StrJoin(names, ", "),
                       .next = absl::StrCat("help(lt.Tensor.", method, ") shows how to call it")});
    given[at] = args[count + i];
  }
  return given;
}

/// A flag that may have been left out. TypeError for what is no bool.
inline bool flag_or(const char* method, const char* name, PyObject* value, bool otherwise) {
  if (value == nullptr) return otherwise;
  if (!PyBool_Check(value))
    throw TypeError({.op = method,
                     .problem = absl::StrCat("argument '", name, "' has the wrong type"),
                     .got = Py_TYPE(value)->tp_name,
                     .expected = "bool",
                     .next = "give True or False"});
  return value == Py_True;
}

/// The name of a memory format; preserve_format where none is given. TypeError for what is no name.
inline std::string memory_format_name(const char* method, PyObject* format) {
  if (format == nullptr || format == Py_None) return "preserve_format";
  if (PyUnicode_Check(format)) return std::string(text_of(format));
  throw TypeError({.op = method,
                   .problem = "argument 'memory_format' has the wrong type",
                   .got = Py_TYPE(format)->tp_name,
                   .expected = "lathe.contiguous_format or its like",
                   .next = "leave memory_format out"});
}

}  // namespace lathe::py
