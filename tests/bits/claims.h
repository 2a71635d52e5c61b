// A table entry that takes composites whole and computes what their expansion does: with it, every
// mode must still have the bits of the expansion, gradients too.
#pragma once

#include <cstdint>

namespace lathe::bits_test {

/// While it lives and `on`, the entry test.whole takes every composite that a backend may take.
class ClaimScope {
 public:
  explicit ClaimScope(bool on);
  ~ClaimScope();
  ClaimScope(const ClaimScope&) = delete;

 private:
  bool before_;
};

/// How often test.whole has run since the process began, on all threads.
int64_t composites_taken();

}  // namespace lathe::bits_test
