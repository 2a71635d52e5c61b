#include "python/bindings/update.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/replay.h"
#include "jit/function.h"
#include "python/bindings/python.h"
#include "python/bindings/real.h"

namespace lathe::py {
namespace {

/// Inputs are what a call is given; that anything else is met on the way is noted.
class GivenInputs final : public jit::FunctionCallbacks {
 public:
  bool inputs(int64_t /*trace_id*/, absl::Span<const ir::Path> captured, const ir::Data& given,
              jit::FoundInputs& out) override {
    out.all = &given;
    return captured.empty();
  }
};

class Update {
 public:
  explicit Update(std::string name) : engine_(std::move(name), ir::no_user_rules()) {}
  Update(const Update&) = delete;

  /// Runs body(inputs), tensors and floats, which writes to some of the tensors, as a program. It
  /// is called with what stands for them where no program fits. False: it cannot be captured, and
  /// nothing was done.
  bool run(nb::list given, nb::callable body) {
    ir::Data inputs;
    std::vector<std::string> names;
    for (nb::handle h : given) {
      if (Real r; is_tensor(h.ptr()))
        inputs.emplace_back(tensor_of(h.ptr()));
      else if (read_real(h.ptr(), r))
        inputs.emplace_back(Arg(r));
      else
        return false;
      if (inputs.back().is_tensor() && inputs.back().tensor().impl()->view)
        refresh(inputs.back().tensor());
      names.push_back(absl::StrCat("t", names.size()));  // not an op: a name of a value
    }
    GivenInputs host;
    if (engine_.serve(inputs, host)) return true;
    if (failed_) return false;
    failed_ = !capture(inputs, names, body, host);
    return !failed_ && engine_.serve(inputs, host).has_value();
  }

 private:
  bool capture(const ir::Data& inputs, const std::vector<std::string>& names, nb::callable& body,
               GivenInputs& host) {
    const auto traced = [&](const ir::Data& in) {
      nb::list values;
      for (const ir::Datum& d : in)
        values.append(owned(d.is_tensor() ? wrap(d.tensor()) : from_real(d.arg().real())));
      body(values);
      return ir::Data();
    };
    try {
      const auto c = engine_.capture(inputs, names, traced, host);
      return c->program != nullptr && c->traced.captured.empty();
    } catch (const Error&) {  // eager code meets it in its own words
      return false;
    }
  }

  jit::Function engine_;
  bool failed_ = false;
};

}  // namespace

void add_update(nb::module_& m) {
  nb::class_<Update>(m, "Update").def(nb::init<std::string>()).def("run", &Update::run);
  m.def("_fuse_after", [] { return flag_count(Flag::fuse_after); });
}

}  // namespace lathe::py
