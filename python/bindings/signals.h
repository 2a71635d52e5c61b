// Ctrl-C while C++ computes: long work asks now and then, stops, and Python gets its own
// KeyboardInterrupt (or whatever the program's signal handler raised).
#pragma once

namespace lathe::py {

/// Makes the thread pool ask, and the process wait at its end until no other thread is in Lathe
/// that would come back for the interpreter's lock: one that is interrupted by the end of the
/// interpreter cannot be unwound through C++. What such threads compute is cancelled.
void watch_signals();

/// A thread that will want the interpreter's lock again.
class Away {
 public:
  Away();
  ~Away();
  Away(const Away&) = delete;
};

/// Whether the running work should stop: a signal handler has raised. Looks at most every few
/// milliseconds, so it may be asked often, and then lets other threads have the interpreter's lock
/// if this one has it. With or without the lock; only the main thread is ever told.
bool interrupted() noexcept;

/// Sets what the handler raised as Python's error again; false if nothing did on this thread.
bool restore_interrupt() noexcept;

}  // namespace lathe::py
