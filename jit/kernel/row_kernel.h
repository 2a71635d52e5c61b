// A kernel of several statements over rows, ready to run: the SIMD interpreter, or machine code
// where there is some. The same bits.
#pragma once

#include <mutex>

#include "jit/kernel/compiled_kernel.h"
#include "jit/kernel/element_kernel.h"
#include "jit/kernel/lower_rows.h"
#include "jit/kernel/piece_states.h"
#include "jit/kernel/short_rows.h"
#include "jit/kernel/simd_kernel.h"
#include "jit/kernel/staging.h"

namespace lathe::jit {

class RowKernel : public CompiledKernel {
 public:
  explicit RowKernel(LoweredRows lowered);

  const std::vector<const ir::Value*>& inputs() const { return inputs_; }
  const std::vector<const ir::Value*>& outputs() const { return outputs_; }
  const std::vector<Number>& numbers() const { return numbers_; }

  struct Bound : CompiledKernel::Bound {
    int64_t rows = 1;
    int64_t line = 0;             // elements of all pieces, where the rows are pieces of a line
    std::vector<int64_t> locals;  // by buffer: where it begins in scratch memory
    size_t scratch_bytes = 0;     // of locals, then of what is staged
    size_t staged_at = 0;
    int64_t box = 0;  // rows that a call of the code takes; 0: as many as there are
    Staging::Bound staged;
    int64_t columns = 0;   // positions of the inner axis that reductions over rows take at a time
    int64_t row_work = 1;  // operations, about
    std::shared_ptr<const ShortRows::OfLength> unrolled;  // where rows are short
    ElementKernel::Bound of_unrolled;
  };
  Bound bind(const std::function<int64_t(Int)>& value) const;

  /// Bytes that a run takes for itself.
  size_t room(const Bound& bound) const;
  /// Any number of threads at once.
  Engine run(const Bound& bound, const KernelRun& run) const;
  /// Rows [begin, end) alone, on this thread; of a kernel whose rows have nothing in common.
  Engine run_some(const Bound& bound, const KernelRun& run, int64_t begin, int64_t end) const;
  bool rows_are_apart() const { return !sums_.any() && !loops().line; }
  /// The same by this code; none: by the SIMD interpreter.
  void run(KernelFn fn, const Bound& bound, const KernelRun& run) const;

 private:
  class Call;

  int64_t grain(const Bound& bound) const;
  void cut(Bound& b) const;
  struct Columns {
    int64_t first, length;
  };
  /// What a reduction over rows does apart: a block of rows, or the last ones, of some columns.
  struct Part {
    Columns columns;
    int64_t begin, end;
  };
  /// How many blocks and tiles of columns there are, and shares of each part: lanes that the
  /// threads divide among them where there are few parts.
  struct Shares {
    int64_t blocks, tiles, each;
  };
  Shares shares(const Bound& bound) const;
  static Columns columns(const Bound& bound, int64_t tile);
  void run_blocks(const Call& call) const;
  void run_pieces(KernelFn fn, const Bound& bound, const KernelRun& run) const;
  /// How many positions a call takes at a time.
  int64_t together() const { return count_of(loops().schedule, ScheduleKind::unroll, 1); }
  void run_part(const Call& call, const Part& part, absl::Span<std::byte* const> lanes,
                int64_t share, int64_t shares) const;

  const SimdKernel& simd() const;

  std::vector<const ir::Value*> inputs_, outputs_;
  std::vector<Number> numbers_;
  RowSums sums_;
  PieceStates states_;
  Staging staging_;
  ShortRows short_rows_;
  mutable std::once_flag simd_made_;  // by the first run that needs it
  mutable std::unique_ptr<SimdKernel> simd_;
};

}  // namespace lathe::jit
