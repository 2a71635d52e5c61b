// Work that may be done later, by one thread of the process, which the first job starts: machine
// code is compiled there while another engine runs.
#pragma once

#include <functional>

namespace lathe::jit {

/// Runs `job`, which must not throw, after the jobs before it. Any thread. At the end of the
/// process the job that runs is waited for, and those behind it are dropped. A fork waits for it
/// too; those behind it are then done in both processes. False: the system gives no thread, and the
/// job is not taken.
bool do_later(std::function<void()> job);
/// Until the jobs that there are have been done.
void wait_for_background();

}  // namespace lathe::jit
