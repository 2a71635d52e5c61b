#include "kernels/custom/custom.h"

#include "core/dispatch/custom.h"

namespace lathe {

Verdict custom_accepts(const Entry&, const Query& query) {
  const CustomOp* custom = custom_of(query.op);
  if (custom == nullptr) return Verdict::no(Reason::op, query.op.name());
  if (!custom->runs_on(query.device)) return Verdict::no(Reason::device, to_string(query.device));
  return Verdict::yes();
}

void run_custom(const Call& call, Outputs& outputs) { custom_of(call.op)->run(call, outputs); }

}  // namespace lathe
