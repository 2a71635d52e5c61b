#include "jit/initialise.h"

#include <mutex>

#include "autodiff/tape.h"
#include "kernels/executor.h"

namespace lathe {

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    install_executor();
    install_tape();
  });
}

}  // namespace lathe
