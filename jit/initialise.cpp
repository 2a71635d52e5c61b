#include "jit/initialise.h"

#include <mutex>

#include "autodiff/tape.h"
#include "core/base/flags.h"
#include "graph/pipeline.h"
#include "jit/composites.h"
#include "jit/gradients.h"
#include "jit/kernel/line_code.h"
#include "kernels/executor.h"

namespace lathe {

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    install_executor();
    install_tape();
    set_composite_runner(jit::run_composite);
    set_gradient_runner(jit::run_gradient_program);
    own::set_line_code_maker(jit::line_code);
    set_item_names(Flag::rewrites_off, ir::rewrite_names);
  });
}

}  // namespace lathe
