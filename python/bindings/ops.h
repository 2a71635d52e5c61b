// Every row as a Python callable: lathe.<name>, Tensor.<name> where the first argument is a tensor,
// and Tensor.<name>_ where the row may work in place. All are made at import from all_ops(), by one
// type whose vectorcall reads the row's schema; no name is written anywhere else.
#pragma once

#include <string>

#include "core/op.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Adds the callables of every row to the module's `ops`, to lathe.Tensor, and of rows added later.
void add_ops(nb::module_& m);
/// One row, when custom ops are defined after start-up.
void publish(const Op& op);

/// What Python does with the row: for stubs, docs and tests.
bool is_method(const Op& op);
bool has_inplace_form(const Op& op);
std::string doc_of(const Op& op);

}  // namespace lathe::py
