// One call of one of a custom op's three functions, behind the C interface of
// include/lathe/custom_op.h. No exception crosses that interface: what a service throws is kept in
// the call, and thrown again when the op's function has returned.
#pragma once

#include <deque>
#include <exception>

#include "core/dispatch/custom.h"
#include "include/lathe/custom_op.h"

struct lathe_op_call {
  const lathe::Op* op;
  lathe::Args args;
  lathe::Site site;
  lathe::Types types;                       // infer: what it gives
  const lathe::Tensors* inputs = nullptr;   // compute: by argument, packed
  const lathe::Outputs* outputs = nullptr;  // compute
  const lathe::Grad* grad = nullptr;        // gradient
  lathe::Grads grads;
  std::deque<lathe::Tensor> tensors;         // what handles name, from 1
  std::vector<lathe::StorageRef> scratches;  // compute
  std::exception_ptr error;
};

namespace lathe {

/// Runs it with the services there are; throws what went wrong.
void run_function(lathe_op_function f, lathe_op_call& c);

/// The op's own code does what its definition does not allow.
[[noreturn]] void misused(const lathe_op_call* c, std::string_view problem, std::string got);

}  // namespace lathe
