#include "jit/kernel/line_code.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <tuple>

#include "core/base/flags.h"
#include "core/base/fork.h"
#include "jit/kernel/machine_code.h"

namespace lathe::jit {
namespace {

class CompiledLines final : public own::LineCode {
 public:
  CompiledLines(const ScalarFunction& body, unsigned splat)
      : code_([body, splat]() -> MachineCode::Get {
          return [spec = spec_of(body, splat)](Effort effort) { return get_kernel(spec, effort); };
        }) {
    for (const OperandSpec& o : operands_of(body, splat))
      strides_.push_back(o.stride == Stride::uniform ? 0 : static_cast<int64_t>(size_of(o.dtype)));
    strides_.push_back(1);  // of positions
  }

  bool run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
           int64_t count) const override {
    const KernelFn fn = code_.when_ready();
    if (fn == nullptr) return false;
    std::array<std::byte*, kMostOperands> data;
    size_t k = 0;
    for (const LineOperand& o : in) data[k++] = o.data;
    for (const LineOperand& o : out) data[k++] = o.data;
    const int64_t origin = 0;
    uint64_t error = kNoError;
    KernelArgs args;
    args.data = data.data();
    args.extents = &count;
    args.strides = strides_.data();
    args.origins = &origin;
    args.end = count;
    args.error = &error;
    fn(&args);
    return true;
  }

 private:
  static constexpr size_t kMostOperands = kMostInputs + kMostOutputs;

  static std::vector<OperandSpec> operands_of(const ScalarFunction& body, unsigned splat) {
    std::vector<OperandSpec> operands;
    for (size_t k = 0; k < body.inputs.size(); ++k)
      operands.push_back(
          {body.inputs[k], (splat >> k & 1) != 0 ? Stride::uniform : Stride::contiguous});
    for (DType d : body.output_types) operands.push_back({d, Stride::contiguous});
    return operands;
  }
  static ElementwiseSpec spec_of(const ScalarFunction& body, unsigned splat) {
    return {.body = body, .operands = operands_of(body, splat)};
  }

  absl::InlinedVector<int64_t, kMostOperands + 1> strides_;
  MachineCode code_;
};

/// All that decides the code: the body, which operands are one element, and the flags.
using Key = std::tuple<std::string, unsigned, std::string, std::string>;

}  // namespace

const own::LineCode* line_code(const ScalarFunction& body, unsigned splat) {
  if (wanted_engine() == Wanted::simd) return nullptr;
  static auto& mutex = *new ForkSafeMutex;
  static auto& made = *new absl::flat_hash_map<Key, std::unique_ptr<CompiledLines>>;
  Key key(body.print(), splat, flag_text(Flag::isa), flag_text(Flag::engine));
  const std::lock_guard<ForkSafeMutex> hold(mutex);
  std::unique_ptr<CompiledLines>& code = made[std::move(key)];
  if (code == nullptr) code = std::make_unique<CompiledLines>(body, splat);
  return code.get();
}

}  // namespace lathe::jit
