// Transforms of lines: the three that the definitions know, in one precision.
#pragma once

#include "kernels/table/plugin.h"

namespace lathe::ducc {

enum class Way : uint8_t { forward, backward, real_to_half, half_to_real };

/// Along `axis`, for every line of `n`: y = scale * transform(x). Rows of y are not those of x,
/// unless all of both is the same.
struct Lines {
  const Operand& x;
  const Operand& y;
  size_t axis;
  int64_t n;
  Way way;
  double scale;
};

template <class R>
void transform(const PluginHost& host, const Lines& lines);

extern template void transform<float>(const PluginHost& host, const Lines& lines);
extern template void transform<double>(const PluginHost& host, const Lines& lines);

}  // namespace lathe::ducc
