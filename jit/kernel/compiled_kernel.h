// What every kernel that is ready to run has: its statements, its machine code or what makes it,
// and where its operands are.
#pragma once

#include <absl/container/inlined_vector.h>

#include <functional>
#include <string>
#include <vector>

#include "jit/kernel/machine_code.h"

namespace lathe::jit {

class CompiledKernel {
 public:
  CompiledKernel(const CompiledKernel&) = delete;

  const Kernel& loops() const { return loops_; }
  const MachineCode& code() const { return code_; }
  /// The generator's instructions, for people; or why there are none.
  std::string vectors() const;

  /// Its Ints as numbers, for one set of sizes.
  struct Bound {
    absl::InlinedVector<int64_t, 6> extents;
    std::vector<int64_t> strides;  // bytes; one an axis for each operand
    std::vector<int64_t> offsets;  // bytes into its buffer, by operand
  };

 protected:
  explicit CompiledKernel(Kernel kernel);
  ~CompiledKernel() = default;

  /// Operands and stores, as each_operand() counts them.
  struct Place {
    int buffer = -1, uniform = -1;  // one of them; none: it has pieces (piece_boxes.h)
    int64_t item = 1;               // bytes an element
    const Access* access = nullptr;
  };
  const std::vector<Place>& places() const { return places_; }
  bool is_local(const Place& p) const {
    return p.buffer >= 0 && loops_.buffers[static_cast<size_t>(p.buffer)].space == Space::local;
  }
  void bind(const std::function<int64_t(Int)>& value, Bound& bound) const;
  /// Where operand k of a run begins; null for what is the kernel's own.
  std::byte* place(size_t k, const Bound& bound, const KernelRun& run) const;

 private:
  Kernel loops_;
  std::vector<Place> places_;
  MachineCode code_;
};

}  // namespace lathe::jit
