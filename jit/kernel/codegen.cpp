#include "jit/kernel/codegen.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include "generated/plugins_built.h"
#include "kernels/table/plugin.h"

namespace lathe::jit {
namespace {

constexpr std::string_view kPlugin = "llvm";

CodegenOrReason refused(std::string_view why) {
  return {nullptr, absl::StrCat("LLVM is not installed: ", why)};
}
CodegenOrReason broken(std::string_view why) {
  return {nullptr, absl::StrCat("LLVM's plug-in cannot be used: ", why), true};
}

CodegenOrReason open() {
  const BuiltPlugin* built = nullptr;
  for (const BuiltPlugin& plugin : built_plugins)
    if (kPlugin == plugin.name) built = &plugin;
  if (built == nullptr) return refused("this build knows no such plug-in");
  if (built->reason[0] != '\0') return refused(built->reason);
  const std::string path = plugin_path(built->file);
  if (path.empty()) return refused(absl::StrCat(built->file, " is not beside Lathe"));
  // Never closed: code and errors of its outlive any one user.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return broken(dlerror());
  const auto entry = reinterpret_cast<CodegenEntry>(dlsym(handle, kCodegenEntry));
  Codegen* codegen = entry == nullptr ? nullptr : entry(kCodegenAbi);
  if (codegen == nullptr) return broken(absl::StrCat(path, " belongs to another build"));
  return {codegen, {}};
}

}  // namespace

const CodegenOrReason& open_codegen() {
  static const CodegenOrReason opened = open();
  return opened;
}

}  // namespace lathe::jit
