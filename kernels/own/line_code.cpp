#include "kernels/own/line_code.h"

#include <algorithm>
#include <limits>

namespace lathe::own {
namespace {

/// So much work of the interpreter is one call of `fuse_after`: half a millisecond, and one at
/// least. A kernel is compiled in about twenty milliseconds.
constexpr int64_t kWorkOfACall = 5'000'000;

constinit std::atomic<LineCodeMaker> g_maker{nullptr};

}  // namespace

void set_line_code_maker(LineCodeMaker maker) { g_maker.store(maker, std::memory_order_release); }

bool LineCodes::serves(const ScalarFunction& body) {
  if (body.inputs.empty() || body.inputs.size() > LineCode::kMostInputs ||
      body.output_types.size() > LineCode::kMostOutputs)
    return false;
  for (DType d : body.inputs)
    if (is_complex(d)) return false;
  for (DType d : body.output_types)
    if (is_complex(d)) return false;
  return true;
}

void LineCodes::read_flags() {
  const uint64_t now = flags_revision();
  const int64_t after = flag_count(Flag::fuse_after);
  const bool never = after < 0 || g_maker.load(std::memory_order_acquire) == nullptr;
  for (auto& code : codes_) code.store(nullptr, std::memory_order_relaxed);
  due_.store(
      never ? std::numeric_limits<int64_t>::max() : std::max<int64_t>(1, after) * kWorkOfACall,
      std::memory_order_relaxed);
  revision_.store(now, std::memory_order_release);
}

bool LineCodes::run_due(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
                        int64_t count) {
  unsigned splat = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    if (in[k].stride == 0)
      splat |= 1u << k;
    else if (in[k].stride != 1)
      return false;
  }
  if (splat + 1 == 1u << in.size()) return false;  // computed once, then filled
  for (const LineOperand& o : out)
    if (o.stride != 1) return false;
  const LineCode* code = codes_[splat].load(std::memory_order_acquire);
  if (code == nullptr) [[unlikely]] {
    code = g_maker.load(std::memory_order_acquire)(body_, splat);
    if (code == nullptr) {
      due_.store(std::numeric_limits<int64_t>::max(), std::memory_order_relaxed);
      return false;
    }
    codes_[splat].store(code, std::memory_order_release);
  }
  return code->run(in, out, count);
}

}  // namespace lathe::own
