// A kernel of one computation, element by element, ready to run: by the SIMD interpreter at once,
// by machine code when that is ready. The same bits.
#pragma once

#include <atomic>
#include <memory>

#include "jit/kernel/compiled_kernel.h"
#include "jit/kernel/lower.h"
#include "jit/kernel/piece_boxes.h"
#include "jit/kernel/staging.h"
#include "kernels/own/program.h"
#include "kernels/problem/epilogue.h"
#include "kernels/problem/line.h"
#include "kernels/problem/operand.h"

namespace lathe::jit {

class ElementKernel : public CompiledKernel {
 public:
  explicit ElementKernel(const Lowered& lowered);

  const std::vector<int>& tensors() const { return tensors_; }
  const std::vector<Number>& numbers() const { return numbers_; }
  /// Whether a whole run only moves elements, by the code that copies tensors everywhere: it knows
  /// short rows and transposes, which a loop along the last axis is slow at.
  bool moves(Wanted wanted) const {
    return wanted == Wanted::either && simd_.copies() &&
           places()[0].buffer >= 0;  // not of a number, nor of pieces
  }
  /// Whether this result may lie on this tensor: where its elements are read is where the results
  /// of the same size are written.
  bool may_replace(size_t tensor, size_t result) const;

  struct Bound : CompiledKernel::Bound {
    int64_t elements = 1;
    Sizes box, boxes;  // of what its schedule cuts: positions of a box, and how many, by axis
    int64_t box_count = 1;
    Staging::Bound staged;
    PieceBoxes::Bound pieces;
  };
  Bound bind(const std::function<int64_t(Int)>& value) const;

  /// Does a run copy what lies in another order? Then it takes whole boxes only.
  bool stages() const { return staging_.any() || staging_.flat(); }
  /// Does it run box by box, and not from any position to any other?
  bool takes_boxes() const { return stages() || pieces_.any(); }
  /// Bytes that a run takes for itself.
  size_t room(const Bound& bound) const;

  using Run = KernelRun;
  /// Throws ValueError for a failed check. Any number of threads at once.
  Engine run(const Bound& bound, const Run& run) const;
  /// The same by this code; none: by the SIMD interpreter.
  void run(KernelFn fn, const Bound& bound, const Run& run) const;

  /// Does now what a run like this could fail at before it touches an element. Throws what it
  /// would.
  void make_ready(const Bound& bound, const Run& run) const {
    if (bound.elements > 0 && !moves(run.wanted)) code_for(run);
  }

  /// A run in pieces that the caller shares out: what a contraction has just finished.
  class Launch {
   public:
    Launch(const ElementKernel& kernel, const Bound& bound, const Run& run)
        : Launch(bound.elements == 0 ? nullptr : kernel.code_for(run), kernel, bound, run) {}
    Launch(KernelFn code, const ElementKernel& kernel, const Bound& bound, const Run& run);
    /// All positions, on all threads.
    void all();
    /// Row-major positions [begin, end), each once, from any thread. Of a kernel that takes no
    /// boxes.
    void piece(int64_t begin, int64_t end) { run(all_, begin, end); }
    /// The same of several lines: by one call of the code, where they are rows of its last axis.
    void lines(const Epilogue::Lines& lines);
    /// How many positions are worth handing to a thread.
    int64_t grain() const;
    /// Throws what a check found, the lowest position first.
    void finish() const;
    Engine engine() const {
      if (bound_.elements == 0) return Engine::none;
      return code_ != nullptr ? Engine::generated : Engine::simd;
    }

   private:
    /// Positions of some extents, and where the operands are.
    struct Area {
      absl::InlinedVector<std::byte*, 8> places;
      absl::InlinedVector<int64_t, 6> extents;
      absl::Span<const int64_t> strides;
    };
    void run(const Area& area, int64_t begin, int64_t end);
    void by_simd(const Area& area, int64_t begin, int64_t end);
    bool are_rows(const Epilogue::Lines& lines) const;
    /// So many positions an axis, from `first` on.
    Area area(const Sizes& first, const Sizes& count) const;
    /// How many positions it has. `most`: of the boxes before it that this thread ran.
    int64_t box(int64_t number, std::byte* room, int64_t most);
    void pieces();
    Area area(const PieceBoxes::Box& box) const;
    int64_t boxes_together() const;

    const ElementKernel& kernel_;
    const Bound& bound_;
    const Run& run_;
    KernelFn code_;  // null: the SIMD interpreter
    Area all_;
    std::atomic<uint64_t> error_{kNoError};
    CheckSlot checks_;
  };

  /// One run made again and again, with tensors elsewhere each time: only addresses change.
  class Repeated {
   public:
    /// `at(k)`: where buffer k begins now.
    template <class F>
    void run(F at) {
      for (Call& call : calls_) {
        for (const Place& p : call.tensors) call.places[p.operand] = at(p.buffer) + p.offset;
        code_(&call.args);
      }
    }
    Repeated(const Repeated&) = delete;

   private:
    friend class ElementKernel;
    Repeated(const ElementKernel& kernel, const Bound& bound, const Run& run, KernelFn code);
    struct Place {
      size_t operand, buffer;
      int64_t offset;  // bytes
    };
    /// Of all positions, or of a box.
    struct Call {
      absl::InlinedVector<int64_t, 6> extents;
      std::vector<int64_t> strides;
      absl::InlinedVector<Place, 8> tensors;
      absl::InlinedVector<std::byte*, 8> places;
      KernelArgs args;
    };
    void add(const ElementKernel& kernel, const Bound& bound, Call call,
             absl::Span<const int64_t> first, const PieceBoxes::Box* box);
    KernelFn code_;
    absl::InlinedVector<uint64_t, 4> uniforms_;
    std::vector<std::byte> lines_;  // of one value each
    std::vector<Call> calls_;       // whose arguments point into them
  };
  /// Null where that would do something else: no machine code yet, checks that may fail, work for
  /// several threads.
  std::unique_ptr<Repeated> repeated(const Bound& bound, const Run& run) const;

 private:
  KernelFn code_for(const Run& run) const { return code().for_run(run.wanted, run.op, run.site); }
  void cut(Bound& bound) const;
  Sizes staged_box(const Bound& bound) const;
  int64_t grain_of_code() const;  // positions that are worth a thread
  void move(const Bound& bound, const Run& run) const;
  bool moves_like(const Access& load, const Access& store) const;
  [[noreturn]] void check_failed(const Run& run, const Bound& bound, int64_t linear,
                                 uint32_t code) const;

  std::vector<int> tensors_;
  std::vector<Number> numbers_;
  own::Program simd_;
  size_t inputs_;   // operands before the stores
  bool positions_;  // does it ask where an element is?
  Staging staging_;
  PieceBoxes pieces_;
};

}  // namespace lathe::jit
