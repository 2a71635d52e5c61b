// What the files of capi/ share: handles as what they are inside, and the one door through which
// errors leave.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "include/lathe/lathe.h"
#include "jit/function.h"
#include "jit/saved_program.h"

namespace lathe::c {

/// A lathe_tensor is a TensorImpl, so a handle costs nothing over the tensor itself.
inline lathe_tensor* handle(Tensor t) { return reinterpret_cast<lathe_tensor*>(t.release()); }
/// Borrowed.
inline Tensor tensor(const lathe_tensor* t) {
  return t == nullptr ? Tensor()
                      : Tensor::borrow(reinterpret_cast<TensorImpl*>(const_cast<lathe_tensor*>(t)));
}

/// An argument of an entry that must not be NULL; `name` is that of the header. What the header
/// marks as LATHE_NULLABLE is not listed.
struct Required {
  const char* name;
  const void* pointer;
  lathe_tensor* const* handles = nullptr;  // an array whose elements must not be NULL either
  size_t count = 1;                        // of 0 elements an array may be NULL
};
inline Required given(const char* name, const void* pointer, size_t count = 1) {
  return {name, pointer, nullptr, count};
}
inline Required each(const char* name, lathe_tensor* const* handles, size_t count) {
  return {name, handles, handles, count};
}
/// The same for entries that take a function.
template <class R, class... A>
Required given(const char* name, R (*function)(A...)) {
  return {name, reinterpret_cast<const void*>(function)};
}
/// TypeError that names the entry and the parameter, for the first that is NULL.
void require(const char* entry, std::initializer_list<Required> arguments);
[[noreturn]] void refuse_null(const char* entry, const std::string& parameter);

/// DTypeError for what is none of lathe_dtype.
DType dtype_of(lathe_dtype code);

/// Gives results to the caller: all of them or none.
void give(Tensors results, lathe_tensor** out, size_t room, size_t* count);
/// For lathe_text_release.
char* give_text(std::string_view text);

/// Notes what failed for lathe_last_error().
lathe_status note_failure(const Error& error) noexcept;
lathe_status note_failure(ErrorKind kind, const char* message) noexcept;
/// What a callback reported, as the error it stands for.
[[noreturn]] void raise_reported(lathe_status status);

/// Lathe is wired up before the first thing is asked of it.
void wire_up();

/// What every entry that can fail is: f(), if the arguments are there. No exception leaves it.
template <class F>
lathe_status guarded(const char* entry, std::initializer_list<Required> arguments, F f) noexcept {
  try {
    wire_up();
    require(entry, arguments);
    f();
    return LATHE_OK;
  } catch (const Error& e) {
    return note_failure(e);
  } catch (const std::bad_alloc&) {
    return note_failure(ErrorKind::memory, "out of memory");
  } catch (const std::exception& e) {
    return note_failure(ErrorKind::internal, e.what());
  } catch (...) {
    return note_failure(ErrorKind::internal, "an unknown exception");
  }
}

/// The same for entries that give what they were asked for instead of a status: `otherwise`, and
/// lathe_last_error(), if that cannot be had.
template <class T, class F>
T answer(const char* entry, T otherwise, std::initializer_list<Required> arguments, F f) noexcept {
  T out = otherwise;
  return guarded(entry, arguments, [&] { out = f(); }) == LATHE_OK ? out : otherwise;
}

}  // namespace lathe::c

struct lathe_program {
  std::atomic<int> refs{1};
  std::shared_ptr<lathe::jit::SavedProgram> program;
  /// What lathe_slot borrows.
  struct Slot {
    std::string name;
    lathe_dtype dtype = LATHE_F32;
    int32_t rank = -1;
    std::vector<int64_t> sizes;
  };
  std::vector<Slot> inputs, outputs;
};

struct lathe_function {
  lathe_function(std::string n, lathe_body b, void* u, void (*d)(void*))
      : name(std::move(n)), body(b), user(u), drop(d), engine(name) {}
  ~lathe_function() {
    if (drop != nullptr) drop(user);
  }
  lathe_function(const lathe_function&) = delete;

  std::atomic<int> refs{1};
  std::string name;
  lathe_body body;
  void* user;
  void (*drop)(void*);
  lathe::jit::Function engine;
};
