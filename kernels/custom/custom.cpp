#include "kernels/custom/custom.h"

#include <optional>

#include "core/dispatch/callback.h"
#include "core/dispatch/custom.h"
#include "core/op/host_function.h"

namespace lathe {

Verdict custom_accepts(const Entry&, const Query& query) {
  const CustomOp* custom = custom_of(query.op);
  if (custom == nullptr) return Verdict::no(Reason::op, query.op.name());
  if (!custom->runs_on(query.device)) return Verdict::no(Reason::device, to_string(query.device));
  return Verdict::yes();
}

void run_custom(const Call& call, Outputs& outputs) { custom_of(call.op)->run(call, outputs); }

Verdict host_accepts(const Entry&, const Query& query) {
  if (query.op.extra.host != HostCall::none) return Verdict::yes();
  return Verdict::no(Reason::op, query.op.name());
}

void run_host(const Call& call, Outputs& outputs) {
  if (call.op.extra.host == HostCall::ordered) note_ordered_call();
  std::optional<UnseenCalls> unseen;
  if (call.op.extra.host == HostCall::pure) unseen.emplace();
  outputs = call.args[0].function_->run(call.args.tensors(1), call.types);
}

}  // namespace lathe
