// Kernels for short rows of one length, made of one for rows of any: a row's loops are written out,
// and vectors go across rows (jit/kernel_ir/unroll_rows.h). They have the same bits.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "jit/kernel/element_kernel.h"

namespace lathe::jit {

class ShortRows {
 public:
  /// `rows`: it has to live as long as this.
  explicit ShortRows(const Kernel& rows) : rows_(rows) {}

  class OfLength {
   public:
    explicit OfLength(Kernel kernel) : kernel_(Lowered{std::move(kernel), {}, {}}) {}
    const ElementKernel& kernel() const { return kernel_; }
    /// Its machine code, or null while there is none, or until it has been wanted a few times: it
    /// is compiled in the background, behind the code for rows of any length.
    KernelFn code(const KernelRun& run) const;

   private:
    ElementKernel kernel_;
    mutable std::atomic<int> runs_{0};
  };

  /// The kernel for so many rows of this length; null where they are long or few, or where there
  /// are kernels for several lengths already.
  std::shared_ptr<const OfLength> of(int64_t length, int64_t rows) const;

 private:
  const Kernel& rows_;
  mutable std::mutex mutex_;
  mutable absl::flat_hash_map<int64_t, std::shared_ptr<const OfLength>> made_;  // null: none can be
};

}  // namespace lathe::jit
