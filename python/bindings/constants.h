// Tensors that are part of a program: made from Python's numbers while it is traced.
#pragma once

#include "core/tensor/tensor.h"

namespace lathe::py {

/// Gathers what note_constant() notes on this thread, until it is destroyed: one for each trace.
class ConstantScope {
 public:
  ConstantScope();
  ~ConstantScope();
  ConstantScope(const ConstantScope&) = delete;

 private:
  friend void note_constant(const Tensor& t);
  friend bool is_constant(const Tensor& t);
  ConstantScope* outer_;
  Tensors noted_;
};

/// A tensor made from Python's numbers while a trace is under way: those are guarded with all that
/// the traced code reads, so its elements may be part of the program. Does nothing outside.
void note_constant(const Tensor& t);
/// Was it noted?
bool is_constant(const Tensor& t);
/// The same elements without history; in a trace, a value that may not be told apart by writes.
Tensor without_history(const Tensor& t);
/// The same where only the innermost vmap forgets it: what its stand-ins stand for keeps its own.
Tensor unrecorded(const Tensor& t);

}  // namespace lathe::py
