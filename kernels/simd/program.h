// A scalar function on lines of elements, by the SIMD interpreter: node by node over short runs
// that stay in the first-level cache.
//
// Built once from a ScalarFunction. Nodes become steps, each one call of a kernel of a SimdLoops on
// a whole strip; what is no work (an input, a constant, a reinterpretation, the part of a complex
// number) becomes a place to read from. A place is a temporary strip, the user's memory where it is
// contiguous, or a single element where the operand has stride 0; what depends only on single
// elements is computed once per run. Temporaries share few strips, by their lifetimes. A body of
// one step is one call on the user's memory for the whole line.
//
// Every set of kernels gives the same bits, and so does any way of cutting a line.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include "core/expr/expr.h"
#include "kernels/problem/line.h"
#include "kernels/simd/choose_loops.h"

namespace lathe {

class SimdProgram {
 public:
  static constexpr uint8_t kMostArgs = 4;  // operands of a step

  /// The one kernel of a program that is one step, for lines whose operands lie alike.
  class Direct {
   public:
    explicit operator bool() const { return kernel_ != nullptr; }
    void run(absl::Span<const LineOperand> in, std::byte* out, int64_t count) const {
      const void* from[kMostArgs];
      for (uint8_t k = 0; k < arity_; ++k)
        from[k] = constant_[k] != nullptr ? constant_[k] : in[which_[k]].data + part_[k];
      kernel_(out, from, static_cast<size_t>(count));
    }

   private:
    friend class SimdProgram;
    StripFn kernel_ = nullptr;
    uint8_t arity_ = 0;
    const void* constant_[kMostArgs];
    uint32_t which_[kMostArgs];
    uint8_t part_[kMostArgs];
  };
  /// For lines of `count` elements that lie as these do; empty where they take more than a kernel.
  Direct direct(absl::Span<const LineOperand> in, const LineOperand& out, int64_t count,
                const SimdLoops& set) const {
    return direct_ ? find_direct(in, out, count, set, false) : Direct();
  }

  explicit SimdProgram(const ScalarFunction& f);

  /// Operands have f.inputs' and f.output_types' dtypes. An output may lie exactly on an input
  /// (same first element, stride and element size); no other overlap is allowed. Any thread.
  void run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out, int64_t count,
           const LineContext& context, const SimdLoops& set) const;
  void run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out, int64_t count,
           const LineContext& context) const {
    run(in, out, count, context, simd_loops());
  }

  /// One output past the caches. False, and nothing done, unless the program is one kernel that has
  /// such a form and the output is aligned to 64 bytes.
  bool run_streamed(absl::Span<const LineOperand> in, const LineOperand& out, int64_t count,
                    const SimdLoops& set) const;

  /// "2 steps, 1 strip of 1024": for tests and explain().
  std::string summary() const;
  size_t steps() const { return steps_.size(); }
  /// One step to one output, which may be one call of its kernel.
  bool is_direct() const { return direct_; }
  /// The kernel of a body that is one step on the inputs in their order; null if it is not.
  StripFn whole(unsigned splat, const SimdLoops& set) const;

 private:
  friend class StripRun;
  friend class StripCompiler;

  enum class From : uint8_t { constant, input, step };
  struct Value {
    From from;
    uint8_t bytes;          // of an element
    uint8_t part = 0;       // inputs: byte offset of a complex number's part
    uint8_t scale = 1;      // inputs: 2 where a stride counts complex numbers
    uint32_t which = 0;     // input: which; step: its temporary strip
    uint64_t bits = 0;      // constant
    uint32_t last_use = 0;  // the last step that reads it; past the end for outputs that are copied
  };
  /// A step is one call of a kernel. A comparison of four operands is also the choice that it
  /// decides: SimdLoops::choose.
  struct Step {
    Prim prim;
    DType key;                // row of the table; cast: to
    DType from = DType::f32;  // cast
    uint8_t arity;
    uint32_t args[kMostArgs] = {};       // values
    uint32_t results[4] = {0, 0, 0, 0};  // values; more than one only for random words
    uint32_t payload = 0;  // index: axis; random: block; check: code; pmin, pmax: 1 for NaN first
    uint8_t words = 0;     // random: which results are wanted
  };
  struct Output {
    uint32_t value;
    uint32_t operand;
    uint8_t part = 0, scale = 1;
    uint32_t step;  // that makes it, or none
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A step's kernel where those operands are single elements; null where there is none.
  static StripFn kernel_of(const Step& s, unsigned splat, const SimdLoops& set);
  Direct find_direct(absl::Span<const LineOperand> in, const LineOperand& to, int64_t count,
                     const SimdLoops& set, bool streamed) const;

  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<Output> outputs_;
  uint32_t simd_ = 0;    // temporaries alive at once
  uint32_t inputs_ = 0;  // places that read an input
  size_t length_ = 0;    // elements a strip
  bool direct_ = false;  // one step, one output: may be one call
};

}  // namespace lathe
