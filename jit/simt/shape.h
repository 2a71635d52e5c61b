// How a grid does a kernel: what may be chosen freely.
#pragma once

namespace lathe::jit::simt {

struct Shape {
  int threads = 128;             // of a block: a multiple of a half-warp
  bool rows_in_scratch = false;  // what rows keep is in scratch memory: they are too long to share
};

}  // namespace lathe::jit::simt
