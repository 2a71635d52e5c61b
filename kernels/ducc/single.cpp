#include "kernels/ducc/lines_inl.h"

namespace lathe::ducc {
template void transform<float>(const PluginHost& host, const Lines& lines);
}  // namespace lathe::ducc
