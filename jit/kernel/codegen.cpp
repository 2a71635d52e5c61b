#include "jit/kernel/codegen.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include "kernels/table/plugin.h"

namespace lathe::jit {
namespace {

CodegenOrReason refused(std::string_view why) {
  return {nullptr, absl::StrCat("LLVM is not installed: ", why)};
}
CodegenOrReason broken(std::string_view why) {
  return {nullptr, absl::StrCat("LLVM's plug-in cannot be used: ", why), true};
}

CodegenOrReason open() {
  const OpenedLibrary library = open_library("llvm");
  if (library.handle == nullptr)
    return library.refusal.reason() == Reason::not_loadable ? broken(library.refusal.numbers())
                                                            : refused(library.refusal.text());
  const auto entry = reinterpret_cast<CodegenEntry>(dlsym(library.handle, kCodegenEntry));
  Codegen* codegen = entry == nullptr ? nullptr : entry(kCodegenAbi);
  if (codegen == nullptr) return broken("it belongs to another build");
  return {codegen, {}};
}

}  // namespace

const CodegenOrReason& open_codegen() {
  static const CodegenOrReason opened = open();
  return opened;
}

}  // namespace lathe::jit
