// A row group as one kernel, ready to run: machine code only. Where there is none, who runs the
// group lets its members take turns (jit/program/row_part.h): the same bits.
#pragma once

#include "jit/kernel/lower_rows.h"
#include "jit/kernel/machine_code.h"

namespace lathe::jit {

/// What the generator takes: every function in primitives that machines have.
Kernel with_lowered_functions(Kernel kernel);

class RowKernel {
 public:
  explicit RowKernel(LoweredRows lowered);

  const Kernel& loops() const { return lowered_.kernel; }
  const MachineCode& code() const { return code_; }
  const std::vector<const ir::Value*>& inputs() const { return lowered_.inputs; }
  const std::vector<const ir::Value*>& outputs() const { return lowered_.outputs; }
  const std::vector<Number>& numbers() const { return lowered_.numbers; }

  /// Its Ints as numbers, for one set of sizes.
  struct Bound {
    int64_t rows = 0;
    absl::InlinedVector<int64_t, 4> extents;
    std::vector<int64_t> strides;  // bytes; one an axis for each operand
    std::vector<int64_t> offsets;  // bytes into its buffer, by operand
    std::vector<int64_t> locals;   // by buffer: where it begins in scratch memory
    size_t scratch_bytes = 0;
    int64_t row_work = 1;  // operations, about
  };
  Bound bind(const std::function<int64_t(Int)>& value) const;

  /// Whether a run would be by machine code, as far as is known before one.
  bool may_run(Wanted wanted) const;
  /// Bytes that a run takes for itself.
  size_t room(const Bound& bound) const;
  /// `buffers`: inputs then outputs; `uniforms`: bits. Any number of threads at once.
  void run(KernelFn fn, const Bound& bound, absl::Span<std::byte* const> buffers,
           absl::Span<const uint64_t> uniforms) const;
  /// The generator's instructions, for people; or why there are none.
  std::string vectors() const;

 private:
  LoweredRows lowered_;
  struct Place {
    int buffer = -1, uniform = -1;  // one of them
    int64_t item = 1;               // bytes an element
    const Access* access = nullptr;
  };
  int64_t grain(const Bound& bound) const;

  std::vector<Place> places_;  // by operand
  MachineCode code_;
};

}  // namespace lathe::jit
