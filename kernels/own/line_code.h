// Machine code in the place of the SIMD interpreter, for bodies that take it several steps and that
// eager code runs again and again. What compiles stands further up (jit/kernel/line_code.h); the
// bits are the same.
#pragma once

#include <array>
#include <atomic>

#include "core/base/flags.h"
#include "core/expr/expr.h"
#include "kernels/problem/line.h"

namespace lathe::own {

/// Of one body, for lines on which some inputs are one element and all other operands contiguous.
class LineCode {
 public:
  static constexpr size_t kMostInputs = 4, kMostOutputs = 4;
  virtual ~LineCode() = default;
  /// False, and nothing done, while there is none. Any thread.
  virtual bool run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
                   int64_t count) const = 0;
};

/// Gives it, for good; bit k of `splat`: input k is one element. Null where the flags want none.
using LineCodeMaker = const LineCode* (*)(const ScalarFunction& body, unsigned splat);
/// Set once at start-up by jit/.
void set_line_code_maker(LineCodeMaker maker);

/// What one body has of it, for each pattern of its operands: asked for once the interpreter has
/// worked on the body for as long as the flag `fuse_after` says.
class LineCodes {
 public:
  /// `cost`: of an element, `each_line`: of what a line takes besides; in tenths of a nanosecond.
  LineCodes(const ScalarFunction& body, int cost, int64_t each_line)
      : body_(body), cost_(cost), each_line_(each_line) {}

  /// Whether lines of this body may run so.
  static bool serves(const ScalarFunction& body);
  /// False, and nothing done, where the line is the interpreter's.
  bool run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out, int64_t count) {
    if (revision_.load(std::memory_order_acquire) != flags_revision()) [[unlikely]]
      read_flags();
    if (work_.load(std::memory_order_relaxed) < due_.load(std::memory_order_relaxed)) {
      work_.fetch_add(each_line_ + count * cost_, std::memory_order_relaxed);
      return false;
    }
    return run_due(in, out, count);
  }

 private:
  void read_flags();
  bool run_due(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out, int64_t count);

  const ScalarFunction& body_;
  const int64_t cost_, each_line_;
  std::atomic<uint64_t> revision_{~uint64_t{0}};  // of the flags that the rest was found under
  std::atomic<int64_t> work_{0}, due_{0};
  std::array<std::atomic<const LineCode*>, size_t{1} << LineCode::kMostInputs>
      codes_{};  // by splat
};

}  // namespace lathe::own
