#include "kernels/reference/entry.h"

#include "kernels/reference/contract.h"

namespace lathe::reference {
namespace {

struct ContractPlan final : Prepared {
  Contraction contraction;
  DType accumulator = DType::f32;
  int64_t outputs = 0;
};

}  // namespace

Verdict contract_accepts(const Entry&, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  return Verdict::yes();
}

PreparedRef contract_prepare(const Entry&, const Problem& problem) {
  auto plan = std::make_unique<ContractPlan>();
  plan->contraction =
      make_contraction(problem.op, problem.args, problem.in[0], problem.in[1], problem.out);
  plan->accumulator = problem.accumulator;
  plan->outputs = problem.out.numel();
  return plan;
}

void contract_run(const Entry&, const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const ContractPlan&>(prepared);
  contract(plan.contraction, plan.accumulator, launch.a, launch.b, launch.out);
  if (launch.epilogue && plan.outputs > 0) launch.epilogue(0, plan.outputs);
}

}  // namespace lathe::reference
