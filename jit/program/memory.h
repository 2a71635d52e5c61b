// What a run will take of the allocator, known before it.
#pragma once

#include "jit/program/steps.h"

namespace lathe::jit {

class Footprint {
 public:
  /// Of a first run on inputs like these, of which nothing but sizes is read: intermediates,
  /// results, what operands that last are packed into, and what kernels take for themselves where
  /// the table's entry tells (Entry::room, Entry::call_room). UnsupportedError where only running
  /// tells a size.
  static size_t peak(const Program& p, const ir::Data& inputs);

 private:
  struct Shared;
  class Call;
};

}  // namespace lathe::jit
