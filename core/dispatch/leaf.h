// Whether a tensor is a leaf of the tape.
#pragma once

#include "core/tensor/tensor.h"

namespace lathe {

/// Was its gradient asked for by the user, rather than computed from that of others?
inline bool is_leaf(const Tensor& t) {
  return t.requires_grad() && t.impl()->autograd && t.impl()->autograd->leaf();
}

}  // namespace lathe
