// What the files of capi/ share: handles as what they are inside, and the one door through which
// errors leave.
#pragma once

#include <memory>
#include <string>

#include "core/error.h"
#include "core/tensor.h"
#include "include/lathe/lathe.h"
#include "jit/function.h"
#include "jit/saved_program.h"

namespace lathe::c {

/// A lathe_tensor is a TensorImpl, so a handle costs nothing over the tensor itself.
inline lathe_tensor* handle(Tensor t) { return reinterpret_cast<lathe_tensor*>(t.release()); }
/// Borrowed. TypeError for NULL: `what` names the argument.
Tensor tensor(const lathe_tensor* t, const char* what = "tensor");
inline Tensor optional(const lathe_tensor* t) {
  return t == nullptr ? Tensor()
                      : Tensor::borrow(reinterpret_cast<TensorImpl*>(const_cast<lathe_tensor*>(t)));
}
/// TypeError for NULL where a place for a result is needed.
void require_place(const void* place, const char* what);

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

template <class F>
lathe_status guarded(F f) noexcept {
  try {
    wire_up();
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
