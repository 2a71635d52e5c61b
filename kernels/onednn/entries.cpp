// oneDNN's entries, and which definitions they know.
#include "kernels/onednn/library.h"

namespace lathe {
namespace onednn {

ConvRow conv_row(const Op& op) {
  const std::string& name = op.roles[0] == nullptr ? op.name() : op.roles[0]->name();
  for (std::string_view known : {"convolution1d", "convolution2d", "convolution3d"})
    if (name == known)
      return {op.role == 0   ? ConvPass::forward
              : op.role == 1 ? ConvPass::by_input
                             : ConvPass::by_weight,
              false};
  for (std::string_view known :
       {"convolution_transpose1d", "convolution_transpose2d", "convolution_transpose3d"})
    if (name == known)
      return {op.role == 0   ? ConvPass::by_input
              : op.role == 1 ? ConvPass::forward
                             : ConvPass::by_weight,
              true};
  return {};
}

bool is_product_row(const Op& op) { return op.name() == "mm"; }

namespace {

constexpr PluginEntry kEntries[] = {
    {"onednn.matmul", matmul_accepts, matmul_prepare, matmul_run},
    {"onednn.conv", conv_accepts, conv_prepare, conv_run},
};
PluginApi g_api{kPluginAbi, "", kEntries, std::size(kEntries)};
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
