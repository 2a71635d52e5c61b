// The types of a composite's results, by running its expansion on tensors without elements. Asked
// only where a backend takes the composite whole; its parts have rules of their own.
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/infer/rules.h"

namespace lathe {
namespace {

/// Gives every call results of the inferred types and computes nothing.
class Inference final : public Backend {
 public:
  void run(const Call& call, Outputs& outputs) override {
    pure &= call.op.kind != Kind::random;
    for (const TensorType& type : call.types) {
      auto* impl = new TensorImpl;
      outputs.push_back(Tensor(impl));
      impl->dtype = type.dtype;
      impl->device = type.device;
      impl->geometry = call.op.kind == Kind::view
                           ? call.op.geometry(call.args.tensor(0).geometry(), call.args)
                           : Geometry::contiguous(type.shape);
    }
  }
  bool claims(const Op&, Args, Types&) const override { return false; }
  void write(Tensor&, const Tensor&) override {}

  bool pure = true;  // no random numbers were drawn
};

struct Quiet {
  Quiet() : observers(thread_state().observers) { thread_state().observers = nullptr; }
  ~Quiet() { thread_state().observers = observers; }
  Quiet(const Quiet&) = delete;
  Observer* observers;
};

}  // namespace

CompositeTypes infer_composite(const Op& op, Args args) {
  Inference backend;
  const BackendScope scope(&backend);
  const GradMode no_grad(false);
  const Quiet quiet;
  CompositeTypes out;
  for (const Tensor& t : expand(op, args)) out.types.push_back(type_of(t));
  out.pure = backend.pure;
  return out;
}

}  // namespace lathe
