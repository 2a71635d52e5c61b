#include "jit/llvm/engine.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "core/scalar/scalar.h"
#include "jit/llvm/target.h"
#include "jit/llvm/vector_ops.h"

namespace lathe::jit {
namespace {

namespace orc = llvm::orc;

// ── what generated code calls ───────────────────────────────────────────────────────────────────
float fmod32(float x, float y) { return scalar::fmod(x, y); }
double fmod64(double x, double y) { return scalar::fmod(x, y); }

struct RuntimeFunction {
  const char* name;
  void* address;
};

/// Everything an object may refer to. The C library's are what LLVM itself falls back on: fma where
/// the target has no such instruction, and copies.
const RuntimeFunction kRuntime[] = {
    {kFmod32, reinterpret_cast<void*>(&fmod32)},
    {kFmod64, reinterpret_cast<void*>(&fmod64)},
    {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&::fmaf))},
    {"fma",  // not an op: the C library's function
     reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&::fma))},
    {"memcpy", reinterpret_cast<void*>(&::memcpy)},
    {"memset", reinterpret_cast<void*>(&::memset)},
};

// ── the session ─────────────────────────────────────────────────────────────────────────────────
std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

/// One a process. A loaded object has a dylib of its own, so that they all may use the same names.
class Engine {
 public:
  /// Never destroyed: code may be in use until the process ends.
  static Engine& get() {
    static Engine* engine = new Engine;
    return *engine;
  }

  Result<LoadedCodeRef> load(std::string_view object);
  void* find(orc::JITDylib& dylib, std::string_view name);
  void unload(orc::JITDylib& dylib) {
    if (auto error = session_->removeJITDylib(dylib)) (void)text_of(std::move(error));
  }

 private:
  Engine() { error_ = start(); }
  std::string start();

  std::unique_ptr<orc::ExecutionSession> session_;
  std::unique_ptr<orc::ObjectLinkingLayer> layer_;
  orc::JITDylib* runtime_ = nullptr;
  std::atomic<uint64_t> loaded_{0};
  std::string error_;
};

class OrcCode final : public LoadedCode {
 public:
  OrcCode(Engine& engine, orc::JITDylib& dylib) : engine_(engine), dylib_(dylib) {}
  ~OrcCode() override { engine_.unload(dylib_); }
  void* symbol(std::string_view name) const override { return engine_.find(dylib_, name); }

 private:
  Engine& engine_;
  orc::JITDylib& dylib_;
};

std::string Engine::start() {
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control) return text_of(control.takeError());
  session_ = std::make_unique<orc::ExecutionSession>(std::move(*control));
  session_->setErrorReporter([](llvm::Error error) { (void)text_of(std::move(error)); });
  layer_ = std::make_unique<orc::ObjectLinkingLayer>(*session_);
  runtime_ = &session_->createBareJITDylib("runtime");
  orc::SymbolMap symbols;
  for (const RuntimeFunction& f : kRuntime)
    symbols[session_->intern(f.name)] = {
        orc::ExecutorAddr::fromPtr(f.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (auto error = runtime_->define(orc::absoluteSymbols(std::move(symbols))))
    return text_of(std::move(error));
  return {};
}

Result<LoadedCodeRef> Engine::load(std::string_view object) {
  if (!error_.empty()) return {nullptr, error_};
  auto& dylib = session_->createBareJITDylib("kernel" + std::to_string(loaded_.fetch_add(1)));
  dylib.addToLinkOrder(*runtime_);
  const auto give_up = [&](llvm::Error error) -> Result<LoadedCodeRef> {
    const std::string text = text_of(std::move(error));
    unload(dylib);
    return {nullptr, text};
  };
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()));
  if (auto error = layer_->add(dylib, std::move(buffer))) return give_up(std::move(error));
  // Linking happens at the first look-up: what is wrong with an object shows now, not at a call.
  auto symbol = session_->lookup({&dylib}, session_->intern(std::string(kKernelSymbol)));
  if (!symbol) return give_up(symbol.takeError());
  return {std::make_shared<OrcCode>(*this, dylib), {}};
}

void* Engine::find(orc::JITDylib& dylib, std::string_view name) {
  auto symbol = session_->lookup({&dylib}, session_->intern(std::string(name)));
  if (!symbol) {
    (void)text_of(symbol.takeError());
    return nullptr;
  }
  return symbol->getAddress().toPtr<void*>();
}

}  // namespace

Result<LoadedCodeRef> load_object(std::string_view object) {
  Result<LoadedCodeRef> result;
  const std::string error = guarded([&] { result = Engine::get().load(object); });
  if (!error.empty()) return {nullptr, error};
  return result;
}

}  // namespace lathe::jit
