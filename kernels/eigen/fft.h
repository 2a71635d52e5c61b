// Fourier transforms along axes, for the definitions fft_c2c, fft_r2c and fft_c2r.
#pragma once

#include "kernels/table/plugin.h"

namespace lathe::eigen {

Verdict fft_accepts(const Query& query);
Fault fft_call(const PluginHost& host, const PluginCall& call);

}  // namespace lathe::eigen
