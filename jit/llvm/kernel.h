// From a kernel (jit/kernel_ir/kernel.h) to a module with one function, kKernelSymbol: a loop over
// the positions of its parallel axes that it is told to do. One computation and no axis inside:
// vectors go along the last parallel axis. Otherwise the loop takes a few rows at a time, and in it
// stands each statement for these rows, with vectors along the inner axis. A reduction takes the
// rows at once, so that it need not wait for itself; others one after the other.
//
// How many axes there are, dtypes and how operands move along the axis of the vectors are compiled
// in; extents, strides and the range are read from the arguments. Whether a step along that axis is
// a whole one is asked once before its loads and once before its stores, so that the function is
// there only once.
#pragma once

#include "jit/llvm/tree.h"

namespace lathe::jit {

class KernelEmitter {
 public:
  /// The kernel passed check_kernel.
  KernelEmitter(const Kernel& kernel, const Target& target);
  OwnedModule emit();

 private:
  /// Elements one after the other along an axis.
  struct Run {
    DType dtype = DType::f32;
    Movement movement = Movement::uniform;
    llvm::Value *base = nullptr, *stride = nullptr;  // stride: bytes, of strided ones
  };
  /// The operands of one statement in one row: what does not move along the axis of the vectors is
  /// read once, before the loop.
  class Operands {
   public:
    Operands(KernelEmitter& e, const std::vector<Operand>& operands, size_t first, llvm::Value* row,
             VectorOps& ops, Memory& memory, int axis);
    /// What moves, at position i of the axis: all parts of an operand, then the next one's.
    Values load(llvm::Value* i, Limit limit);
    /// `loaded`: what load() gave, or more.
    void give(StepContext& context, const Values& loaded) const;

   private:
    struct One {
      Run run;
      Parts hoisted = {};  // of one that does not move
    };
    void read(size_t number, const Access& access, llvm::Value* row, VectorOps& ops, int axis);
    void hoist(const Run& run);

    KernelEmitter& e_;
    Memory& memory_;
    std::vector<One> all_;
  };
  /// One function along an axis.
  struct Line {
    const void* statement;
    const ScalarFunction& f;
    const std::vector<Operand>& operands;
    size_t first;  // of the operands in the argument block
    int axis;
    std::function<std::vector<Run>(llvm::Value* row)> to;  // where the results go
    bool goes_on = false;  // f takes the row's number and what lies where the results go, too
    bool strided_results = false;
  };
  /// What a line's function is computed with.
  struct Lanes {
    Lanes(llvm::IRBuilder<>& b, unsigned lanes, const Target& target)
        : ops(b, target, lanes), memory(ops, target) {}
    VectorOps ops;
    Memory memory;
  };
  /// Several registers a step; and one, for what is left over, where that would cost as much as all
  /// of them.
  struct Widths {
    Widths(KernelEmitter& e, const Line& line);
    Lanes all;
    std::optional<Lanes> rest;
  };

  void rows();
  void elements(const Compute& c);
  void statement(const Compute& c);
  void statement(const For& f);
  void statement(const Reduce& r);
  void statement(const ReduceRows& r);
  Line computation(const Compute& c, int axis);
  void line(const Line& line);
  unsigned lanes_of(const Line& line) const;
  void along(const Line& line, Widths& with, llvm::Value* row, llvm::Value* length);
  void step(const Line& line, Lanes& with, Operands& in, const std::vector<Run>& to,
            llvm::Value* row, llvm::Value* i, llvm::Value* length, llvm::Value* whole);
  void reduce(const Reduce& r, llvm::Value* first_row, unsigned rows);
  void each_row(const std::function<void(llvm::Value*)>& body);
  /// How many positions the statements take at a time.
  unsigned together() const {
    return static_cast<unsigned>(count_of(k_.schedule, ScheduleKind::unroll, 1));
  }
  void choose_fetcher();
  /// Calls position i of the rows to come into a cache, if this is the statement that does so.
  void fetch_ahead(const void* statement, llvm::Value* row, llvm::Value* i, Memory& memory);
  /// Where an operand begins for this row.
  llvm::Value* base(size_t operand, const Access& access, llvm::Value* row);
  Run run(size_t operand, const Access& access, llvm::Value* row, int axis);
  Run result(size_t operand, const Access& access, llvm::Value* row, int axis);
  Place place(const Run& run, llvm::Value* i);
  /// The place of a local of one element, on the stack.
  llvm::Value* scalar(const Access& access, llvm::Value* row);
  void store(size_t operand, const std::vector<Access>& stores, const Values& results,
             llvm::Value* row);
  const Buf& buf(const Access& a) const { return k_.buffers[static_cast<size_t>(a.buf)]; }

  const Kernel& k_;
  const Target& target_;
  Frame frame_;
  llvm::IRBuilder<>& b_;
  VectorOps narrow_;
  Memory narrow_memory_;
  Values at_;                                       // the parallel axes at the first of the rows
  llvm::Value* rows_ = nullptr;                     // how many there are now
  llvm::Value* position_ = nullptr;                 // of the first
  absl::flat_hash_map<const void*, size_t> first_;  // operand in the argument block, by statement
  absl::flat_hash_map<const void*, size_t> lanes_;  // of states, likewise
  /// By buffer, locals of one element that no loop stores to: one a row.
  absl::flat_hash_map<int, llvm::Value*> scalars_;
  // The statement with the most arithmetic, behind which what the next rows read is fetched: by
  // operand.
  const void* fetcher_ = nullptr;
  std::vector<std::pair<size_t, const Access*>> fetched_;
};

/// Empty, or why no code can be made of this kernel, which verify() has passed.
std::string check_kernel(const Kernel& kernel);

}  // namespace lathe::jit
