#include "python/bindings/table.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "core/base/error.h"
#include "core/infer/rules.h"
#include "core/op/op.h"
#include "kernels/table/table.h"
#include "python/bindings/arguments.h"
#include "python/bindings/build.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// The entries of the definition's kind in order, or their verdicts on these arguments.
std::string table(std::string_view name, nb::args arguments) {
  const Op& op = get_op(name);
  if (op.kind == Kind::composite && entries(op.kind).empty())
    throw UnsupportedError(
        {.op = op.name(),
         .problem = "nothing claims composites whole: what they call has entries",
         .got = "table(" + op.name() + ")",
         .expected = "an op of another kind",
         .next = "explain() of a traced call shows the steps it is made of"});
  if (arguments.size() > 0) {
    Arguments given(op.schema, true);
    PyObject* const* items = reinterpret_cast<PyTupleObject*>(arguments.ptr())->ob_item;
    given.positional(items, static_cast<Py_ssize_t>(arguments.size()),
                     gathering_parameter(op.schema));
    Args args = given.complete();
    Types types = op.infer(args);
    return explain_text(make_query(op, args, types));
  }
  std::string out;
  int place = 0;
  for (const Entry* e : entries(op.kind)) {
    const Verdict verdict = usable(*e);
    absl::StrAppend(&out, out.empty() ? "" : "\n", ++place, ". ", e->name, " (",
                    lathe::name(e->bits), ")",
                    verdict.accepted() ? "" : absl::StrCat(": ", verdict.text()));
  }
  return out;
}

}  // namespace

void add_table(nb::module_& m) {
  m.def("_promoted", [](nb::args given) {
    absl::InlinedVector<Arg, 4> args(given.size());
    Tensors made(given.size());
    for (size_t i = 0; i < given.size(); ++i)
      if (!operand(given[i].ptr(), args[i], made[i]))
        throw TypeError({.op = "result_type",
                         .problem = "a tensor or a number expected",
                         .got = Py_TYPE(given[i].ptr())->tp_name,
                         .expected = "a tensor or a number",
                         .next = "use lt.promote_types() for dtypes"});
    const bool numbers = absl::c_all_of(given, [](nb::handle h) { return !is_tensor(h.ptr()); });
    if (numbers && absl::c_any_of(given, [](nb::handle h) { return is_complex_number(h.ptr()); }))
      return nb::borrow(dtype_object(complex_type(default_dtype())));
    for (size_t i = 0; i < given.size(); ++i)
      if (made[i].defined() && is_complex_number(given[i].ptr()))
        fit_complex_numbers(absl::MakeSpan(args), absl::MakeSpan(&made[i], 1));
    return nb::borrow(dtype_object(result_type({args.data(), args.size()})));
  });
  m.def("table", table, nb::arg("op"), nb::arg("arguments"),
        "Which implementations can run an op, in order: the first that accepts does; and why one "
        "cannot\n"
        "be used at all (disabled by flag, not built). With the op's arguments: what each says to\n"
        "them, and which is chosen.");
  m.def(
      "use_table", [](std::string_view text) { use_table(text); }, nb::arg("text"),
      "Takes rules such as \"mm f32 1..64 eigen.gemm\", one a line: a product of this dtype whose\n"
      "summed extent lies in the range goes to that entry, if it accepts. The first rule that "
      "fits\n"
      "counts; '#' begins a comment. To be called before the first op; ValueError, "
      "UnsupportedError.");
}

}  // namespace lathe::py
