// Ctrl-C while C++ computes: long work asks now and then, stops, and Python gets its own
// KeyboardInterrupt (or whatever the program's signal handler raised).
#pragma once

namespace lathe::py {

/// Makes the thread pool ask.
void watch_signals();

/// Whether the running work should stop: a signal handler has raised. Looks at most every few
/// milliseconds, so it may be asked often. With or without the interpreter's lock; only the main
/// thread is ever told.
bool interrupted() noexcept;

/// Sets what the handler raised as Python's error again; false if nothing did on this thread.
bool restore_interrupt() noexcept;

}  // namespace lathe::py
