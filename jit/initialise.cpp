#include "jit/initialise.h"

#include <mutex>

#include "autodiff/tape.h"
#include "core/base/flags.h"
#include "graph/pipeline.h"
#include "jit/composites.h"
#include "jit/gradients.h"
#include "jit/kernel/line_code.h"
#include "jit/plan/plan.h"
#include "kernels/executor.h"

namespace lathe {
namespace {

/// All that the flag `rewrites_off` may name.
std::vector<std::string_view> names_of_rewrites() {
  std::vector<std::string_view> names = ir::rewrite_names();
  for (std::string_view name : jit::plan_rewrite_names()) names.push_back(name);
  return names;
}

}  // namespace

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    install_executor();
    install_tape();
    set_composite_runner(jit::run_composite);
    set_gradient_runner(jit::run_gradient_program);
    own::set_line_code_maker(jit::line_code);
    set_item_names(Flag::rewrites_off, names_of_rewrites);
  });
}

}  // namespace lathe
