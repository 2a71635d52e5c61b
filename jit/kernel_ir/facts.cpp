#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

void count_facts(Kernel& kernel) {
  Facts& facts = kernel.facts = {};
  each_statement(kernel.body, [&](const auto& statement) {
    const auto all = functions(statement);
    for (size_t k = 0; k < std::min<size_t>(all.size(), 2); ++k)  // what ends a reduction runs once
      for (const ExprNode& n : all[k]->graph.nodes()) {
        facts.has_checks |= n.prim == Prim::check;
        facts.flops_per_element += info(n.prim).transcendental ? 15 : 1;
      }
  });
  const auto tensor = [&](const Access& a) {
    return kernel.buffers[static_cast<size_t>(a.buf)].space == Space::argument;
  };
  each_access(kernel.body, [&](const Access& a, bool store) {
    (store ? facts.stores : facts.loads) += tensor(a);
  });
}

}  // namespace lathe::jit
