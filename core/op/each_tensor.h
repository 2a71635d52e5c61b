// The tensors among a call's arguments.
#pragma once

#include "core/op/args.h"

namespace lathe {

/// Calls f(argument) for every argument that is a tensor, in order, with lists laid out flat.
template <class F>
void each_tensor(Args args, F f) {
  for (const Arg& a : args) {
    if (a.tag == Tag::tensor) f(a);
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i)
      if (a.list_->data[i].tag == Tag::tensor) f(a.list_->data[i]);
  }
}

/// Does one of them require grad?
inline bool needs_grad(Args args) {
  bool any = false;
  each_tensor(args, [&](const Arg& a) { any |= a.tensor_->requires_grad; });
  return any;
}

}  // namespace lathe
