#include "jit/kernel/simulated.h"

namespace lathe::jit {
namespace {

Simulator g_simulator = nullptr;

}  // namespace

void set_simulator(Simulator simulator) { g_simulator = simulator; }
Simulator simulator() { return g_simulator; }

}  // namespace lathe::jit
