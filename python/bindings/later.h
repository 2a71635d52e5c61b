// Letting go of Python objects from any thread. A thread without the interpreter's lock must not
// wait for it: whoever holds the lock may be waiting for that very thread (a stream's, the pool's).
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

/// Calls release(object) now if this thread has the lock, else soon, on one that has it. After the
/// interpreter's end, never: the object is gone with it.
void release_later(void (*release)(void*), void* object) noexcept;

}  // namespace lathe::py
