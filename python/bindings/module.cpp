// The extension module lathe._lathe. What it holds is listed here; each part is in the file named
// after it. The package around it (python/lathe) gives users their names.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/base/temporary_file.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/tensor/random.h"
#include "jit/initialise.h"
#include "kernels/runtime/pool.h"
#include "python/bindings/arguments.h"
#include "python/bindings/autograd.h"
#include "python/bindings/batch.h"
#include "python/bindings/build.h"
#include "python/bindings/callable.h"
#include "python/bindings/callback.h"
#include "python/bindings/errors.h"
#include "python/bindings/frames.h"
#include "python/bindings/generator.h"
#include "python/bindings/jit.h"
#include "python/bindings/library.h"
#include "python/bindings/ops.h"
#include "python/bindings/print.h"
#include "python/bindings/profile.h"
#include "python/bindings/programs.h"
#include "python/bindings/reshaped.h"
#include "python/bindings/rewrites.h"
#include "python/bindings/script.h"
#include "python/bindings/signals.h"
#include "python/bindings/structures.h"
#include "python/bindings/table.h"
#include "python/bindings/tensor.h"
#include "python/bindings/update.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

PrintOptions profile_of(nb::handle name) {
  const std::string text = nb::cast<std::string>(nb::str(name));
  PrintOptions o;
  if (text == "short") {
    o.precision = 2;
    o.edge_items = 2;
  } else if (text == "full") {
    o.threshold = std::numeric_limits<int64_t>::max();
  } else if (text != "default") {
    throw ValueError({.op = "set_printoptions",
                      .problem = "an unknown profile",
                      .got = absl::StrCat("'", text, "'"),
                      .expected = "'default', 'short' or 'full'",
                      .next = "set precision, threshold and edgeitems one by one"});
  }
  return o;
}

/// A number of elements; an infinite one is the largest.
int64_t count_of(nb::handle number) {
  if (PyFloat_Check(number.ptr()) && std::isinf(PyFloat_AS_DOUBLE(number.ptr())))
    return std::numeric_limits<int64_t>::max();
  return nb::cast<int64_t>(number);
}

void set_print_options(nb::handle precision, nb::handle threshold, nb::handle edgeitems,
                       nb::handle linewidth, nb::handle profile, nb::handle sci_mode) {
  PrintOptions o = print_options();
  if (!profile.is_none()) o = profile_of(profile);
  if (!precision.is_none()) o.precision = nb::cast<int>(precision);
  if (!threshold.is_none()) o.threshold = count_of(threshold);
  if (!edgeitems.is_none()) o.edge_items = count_of(edgeitems);
  if (!linewidth.is_none()) o.line_width = nb::cast<int>(linewidth);
  o.scientific.reset();
  if (!sci_mode.is_none()) o.scientific = nb::cast<bool>(sci_mode);
  print_options() = std::move(o);
}

std::string flag_value(nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.is(Py_True) ? "1" : "0";
  return std::string(text_of(owned(PyObject_Str(value.ptr())).ptr()));
}

void add_settings(nb::module_& m) {
  m.def(
      "get_default_dtype", [] { return nb::borrow(dtype_object(default_dtype())); },
      "The dtype of float tensors where none is asked for.");
  m.def(
      "set_default_dtype", [](nb::handle d) { set_default_dtype(to_dtype(d.ptr())); },
      nb::arg("dtype"), "Makes Python floats, zeros(), rand() and so on give this float dtype.");
  m.def(
      "manual_seed",
      [](int64_t seed) {
        if (thread_state().trace_epoch != 0)
          throw TraceError({.op = "manual_seed",
                            .problem = "the seed would be set while tracing only",
                            .next = "set it before the traced function is called"});
        manual_seed(static_cast<uint64_t>(seed));
        return nb::module_::import_("lathe.random").attr("default_generator");
      },
      nb::arg("seed"),
      "Starts the random stream anew: the same seed gives the same numbers, in every mode and for\n"
      "any number of threads. Gives default_generator, which stands for that stream.");
  m.def(
      "get_flag", [](std::string_view name) { return flag_text(flag_row(name).flag); },
      nb::arg("name"), "The value of a flag, as text. AttributeError for an unknown one.");
  m.def(
      "set_flag",
      [](std::string_view name, nb::handle value) { set_flag(name, flag_value(value)); },
      nb::arg("name"), nb::arg("value"), "Sets a flag of the process. ValueError says what fits.");
  m.def("_threads", [] { return nb::make_tuple(pool_threads(), threads_text()); });
  m.def(
      "flags",
      [] {
        nb::list rows;
        for (const FlagDefinition& f : flags_table())
          rows.append(nb::make_tuple(f.name, f.env, f.default_text, f.doc));
        return rows;
      },
      "All flags: (name, environment variable, default, meaning).");
  m.def("set_printoptions", set_print_options, nb::arg("precision") = nb::none(),
        nb::arg("threshold") = nb::none(),  // not an op: a setting
        nb::arg("edgeitems") = nb::none(), nb::arg("linewidth") = nb::none(),
        nb::arg("profile") = nb::none(), nb::arg("sci_mode") = nb::none(),
        "How tensors are printed. profile: 'default', 'short' or 'full', the settings to begin "
        "with.\n"
        "threshold: more elements than this are summarised, edgeitems at each end of an axis;\n"
        "infinite: never. sci_mode: scientific notation always (True), never (False), or where "
        "fixed\n"
        "digits would hide some (None, which a call that leaves it out sets again).");
}

void add_internals(nb::module_& m) {
  m.def("_make_subclass", [](nb::handle cls, const Tensor& data, bool requires_grad) {
    Tensor t = detach(data);
    if (requires_grad) set_requires_grad(t, true);
    auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
    if (PyType_Check(cls.ptr()) == 0 || PyType_IsSubtype(type, tensor_type) == 0)
      throw TypeError({.problem = "a subclass of lathe.Tensor expected"});
    return owned(wrap_as(type, std::move(t)));
  });
  m.def("_assign", [](const Tensor& dst, const Tensor& value) { return assign(dst, value); });
  m.def("_detach_here", [](const Tensor& t) {
    if (t.impl()->view)
      throw AutogradError({.op = "detach_",
                           .problem = "a view's history is its base's",
                           .got = to_string(type_of(t)),
                           .next = "use detach()"});
    t.impl()->autograd = nullptr;
    t.impl()->requires_grad = false;
  });
  m.def("_retain_grad", [](const Tensor& t) { retain_grad(t); });
  m.def("_add_hook", [](const Tensor& t, nb::object f) { return add_hook(t, std::move(f)); });
  m.def("_hooks", hooks_of);
  m.def("_print", [](const Tensor& t, nb::list suffixes) {
    reading(t, "repr");
    PrintOptions o = print_options();
    for (nb::handle s : suffixes) o.suffixes.push_back(nb::cast<std::string>(s));
    return print_tensor(t, o);
  });
  m.def(
      "_error_text",
      [](std::string op, std::string problem, std::string got, std::string expected,
         std::string next) {
        ValueError e({.op = std::move(op),
                      .problem = std::move(problem),
                      .got = std::move(got),
                      .expected = std::move(expected),
                      .next = std::move(next),
                      .site = user_line()});
        return nb::make_tuple(e.what(), to_string(e.parts().site));
      },
      nb::arg("op"), nb::arg("problem"), nb::arg("got"), nb::arg("expected"), nb::arg("next"));
  m.def("_temporary_path", [](nb::bytes target) {
    const std::string path = temporary_path({target.c_str(), target.size()});
    return nb::bytes(path.data(), path.size());
  });
  m.def("_lock_while_written", lock_while_written);
  m.def("_site", [] { return to_string(user_line()); });
  m.def("_install", [](std::string_view package) { install_site_hook(package); });
}

void add_rows(nb::module_& m) {
  m.def(
      "_definitions",
      [] {
        nb::list rows;
        for (const Op* op : all_ops()) {
          if (op->extra.host != HostCall::none) continue;  // what lathe.callback is made of
          nb::list params, results;
          for (const Param& p : op->schema.params) {
            nb::dict d;
            d["name"] = p.name;
            d["type"] = static_cast<int>(p.type);
            d["list"] = p.list;
            constexpr const char* kLiterals[] = {"", "True", "False", "None"};
            d["literal"] = kLiterals[static_cast<size_t>(p.literal)];
            d["optional"] = p.optional;
            d["number"] = p.number;
            d["keyword_only"] = p.keyword_only;
            d["default"] = p.has_default
                               ? nb::object(nb::str(to_string(p.default_value[0]).c_str()))
                               : nb::none();
            params.append(d);
          }
          for (const Result& r : op->schema.results) results.append(nb::make_tuple(r.name, r.list));
          nb::dict row;
          row["name"] = op->name();
          row["public_name"] = std::string(op->public_name());
          nb::list also;
          for (std::string_view other : op->extra.also) also.append(other);
          row["also"] = also;
          row["function"] = (op->extra.places & kFunction) != 0;
          row["functional"] = (op->extra.places & kFunctional) != 0;
          row["inplace_argument"] = op->extra.inplace_argument;
          row["kind"] = name(op->kind);
          row["schema"] = op->schema.text;
          row["doc"] = doc_of(*op);
          row["params"] = params;
          row["results"] = results;
          row["method"] = is_method(*op);
          row["inplace"] = has_inplace_form(*op);
          row["inplace_method"] = is_inplace_method(*op);
          row["no_grad"] = op->extra.no_grad;
          row["draws"] = op->kind == Kind::random || op->extra.draws;
          row["starred"] = gathering_parameter(op->schema);
          nb::list dtypes;
          for (int code = 0; code < kDTypeCodes; code++) {
            auto d = static_cast<DType>(code);
            if (info(d).tensor && op->extra.domain.has(d)) dtypes.append(name(d));
          }
          row["dtypes"] = dtypes;
          row["lone"] = op->extra.lone != nullptr;
          row["reads"] = !op->extra.instead_in_trace.empty();
          row["to_float"] = op->extra.promote == Promote::to_float;
          rows.append(row);
        }
        return rows;
      },
      "Every op definition, for stubs, docs and tests.");
}

}  // namespace

NB_MODULE(_lathe, m) {
  nb::set_leak_warnings(false);  // types and exceptions live as long as the process
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error&) {
      raise_active();
    }
  });
  initialise();
  add_errors(m);
  watch_signals();
  add_values(m);
  add_tensor_type(m);
  add_build(m);
  add_buffer(m);
  add_dlpack(m);
  add_generator(m);
  add_autograd(m);
  add_autograd_function(m);
  add_settings(m);
  add_internals(m);
  add_rows(m);
  add_jit(m);
  add_batch(m);
  add_update(m);
  add_script(m);
  add_structures(m);
  add_programs(m);
  add_rewrites(m);
  add_profile(m);
  add_table(m);
  add_reshaped(m);
  add_ops(m);
  add_library(m);
  add_callback(m);
}

}  // namespace lathe::py
