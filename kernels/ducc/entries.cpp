// Fourier transforms of any length, by ducc0, for the definitions fft_c2c, fft_r2c and fft_c2r.
//
// Compiled as several plug-ins, one an instruction set (kernels/CMakeLists.txt), with the same
// bits: no operation is contracted, and the vectors go across lines.
#include <cmath>

#include "kernels/ducc/lines.h"

namespace lathe {
namespace {

using ducc::Lines;
using ducc::Way;

const PluginHost* g_host;

size_t axis_of(const Operand& x, Int axis) {
  return static_cast<size_t>(axis.value() < 0 ? axis.value() + x.rank() : axis.value());
}

/// As the definitions say: 0 nothing, 1 by the root of n, 2 by n.
double scale_of(int64_t mode, int64_t n) {
  const auto count = static_cast<double>(n);
  return mode == 0 ? 1.0 : mode == 1 ? 1.0 / std::sqrt(count) : 1.0 / count;
}

void along(const Operand& x, const Operand& y, size_t axis, int64_t n, Way way, int64_t norm) {
  const Lines lines{x, y, axis, n, way, scale_of(norm, n)};
  if (real_type(x.dtype) == DType::f64) return ducc::transform<double>(*g_host, lines);
  ducc::transform<float>(*g_host, lines);
}

Verdict accepts(const Query& query) {
  for (std::string_view name : {"fft_c2c", "fft_r2c", "fft_c2r"})
    if (query.op.name() == name) return Verdict::yes();
  return Verdict::no(Reason::op, query.op.name());
}

Fault call(const PluginCall& c) {
  const Operand& y = c.out[0];
  const Operand* x = &c.in[0];
  if (c.op == "fft_c2c") {  // (input, dim, norm, forward)
    for (Int d : c.args.ints(1)) {
      const size_t axis = axis_of(y, d);
      along(*x, y, axis, y.shape[axis], c.args.flag(3) ? Way::forward : Way::backward,
            c.args.integer(2).value());
      x = &y;
    }
    return {};
  }
  const size_t axis = axis_of(*x, c.args.integer(1));  // (input, dim, norm), (..., last)
  const bool real = c.op == "fft_r2c";
  along(*x, y, axis, real ? x->shape[axis] : y.shape[axis],
        real ? Way::real_to_half : Way::half_to_real, c.args.integer(2).value());
  return {};
}

constexpr PluginEntry kEntries[] = {{LATHE_PLUGIN_NAME ".fft", accepts, nullptr, nullptr, call}};
constexpr PluginApi kApi{kPluginAbi, LATHE_DUCC_VERSION, kEntries, std::size(kEntries)};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict&) {
  g_host = &host;
  return &kApi;
}

}  // namespace lathe
