#include "jit/kernel/short_rows.h"

#include "jit/kernel_ir/unroll_rows.h"

namespace lathe::jit {
namespace {

/// Fewer elements gain less than a kernel costs to compile.
constexpr int64_t kFewElements = 2048;
constexpr size_t kMostLengths = 4;
/// Runs before it is compiled.
constexpr int kFirstRuns = 2;

}  // namespace

KernelFn ShortRows::OfLength::code(const KernelRun& run) const {
  if (run.wanted == Wanted::simd) return nullptr;
  if (run.wanted == Wanted::generated) return kernel_.code().for_run(run.wanted, run.op, run.site);
  if (runs_.load(std::memory_order_relaxed) < kFirstRuns) {
    runs_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return kernel_.code().when_ready();
}

std::shared_ptr<const ShortRows::OfLength> ShortRows::of(int64_t length, int64_t rows) const {
  if (length < 1 || length > kMostUnrolled || rows < kFewElements / length) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto it = made_.find(length);
  if (it != made_.end()) return it->second;
  if (made_.size() == kMostLengths) return nullptr;
  std::optional<Kernel> kernel = unroll_rows(rows_, length);
  return made_[length] = kernel ? std::make_shared<const OfLength>(*std::move(kernel)) : nullptr;
}

}  // namespace lathe::jit
