// oneDNN's entries, and which rows they know.
#include "kernels/onednn/library.h"

namespace lathe {
namespace onednn {

ConvRow conv_row(const Op& op) {
  if (op.name() == "conv2d") return ConvRow::forward;
  if (op.name() == "conv2d_input") return ConvRow::by_input;
  if (op.name() == "conv2d_weight") return ConvRow::by_weight;
  return ConvRow::none;
}

bool is_product_row(const Op& op) { return op.name() == "mm"; }

namespace {

constexpr PluginEntry kEntries[] = {
    {"onednn.matmul", matmul_accepts, matmul_prepare, matmul_run},
    {"onednn.conv", conv_accepts, conv_prepare, conv_run},
};
PluginApi g_api{kPluginAbi, "", kEntries, 2};
char g_version[32];

}  // namespace
}  // namespace onednn

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict&) {
  onednn::g_host = &host;
  const dnnl::version_t* v = dnnl::version();
  std::snprintf(onednn::g_version, sizeof onednn::g_version, "%d.%d.%d", v->major, v->minor,
                v->patch);
  onednn::g_api.version = onednn::g_version;
  return &onednn::g_api;
}

}  // namespace lathe
