#include "jit/kernel/line_code.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <tuple>

#include "core/base/flags.h"
#include "core/base/fork.h"
#include "core/sizes/symexpr.h"
#include "jit/kernel/machine_code.h"

namespace lathe::jit {
namespace {

class CompiledLines final : public own::LineCode {
 public:
  CompiledLines(const ScalarFunction& body, unsigned splat)
      : code_([body, splat]() -> MachineCode::Get {
          return [kernel = kernel_of(body, splat)](Effort effort) {
            return get_kernel(kernel, effort);
          };
        }) {
    for (const Buf& b : kernel_of(body, splat).buffers)
      strides_.push_back(static_cast<int64_t>(size_of(b.dtype)));
    for (size_t k = 0; k < body.inputs.size(); ++k)
      if (is_one(splat, k)) strides_[k] = 0;
  }

  bool run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
           int64_t count) const override {
    const KernelFn fn = code_.when_ready();
    if (fn == nullptr) return false;
    std::array<std::byte*, kMostOperands> data;
    size_t k = 0;
    for (const LineOperand& o : in) data[k++] = o.data;
    for (const LineOperand& o : out) data[k++] = o.data;
    uint64_t error = kNoError;
    KernelArgs args;
    args.data = data.data();
    args.extents = &count;
    args.strides = strides_.data();
    args.end = count;
    args.error = &error;
    fn(&args);
    return true;
  }

 private:
  static constexpr size_t kMostOperands = kMostInputs + kMostOutputs;

  static bool is_one(unsigned splat, size_t k) { return (splat >> k & 1) != 0; }
  static Kernel kernel_of(const ScalarFunction& body, unsigned splat) {
    std::vector<Int> strides;
    for (size_t k = 0; k < body.inputs.size(); ++k) strides.push_back(is_one(splat, k) ? 0 : 1);
    return kernel_of_elements(body, symbol(0), strides);
  }

  absl::InlinedVector<int64_t, kMostOperands> strides_;
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
