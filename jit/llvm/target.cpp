#include "jit/llvm/target.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/base/fork.h"

namespace lathe::jit {
namespace {

using Features = std::map<std::string, bool>;  // sorted, so that the list is one text

/// Conversion to bf16 in hardware flushes subnormals, and half arithmetic is never asked for; tiles
/// are not generated. Without them there is one way to convert on every machine.
constexpr std::string_view kUnused[] = {"avx512bf16", "avx512fp16", "avxneconvert", "amx-tile",
                                        "amx-int8",   "amx-bf16",   "amx-fp16",     "amx-complex"};

constexpr std::string_view kV2[] = {"64bit", "cmov",  "cx8",    "fxsr",   "mmx",    "sse",  "sse2",
                                    "sse3",  "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf"};
constexpr std::string_view kV3[] = {
    "avx", "avx2",  "bmi",   "bmi2", "f16c",
    "fma", "lzcnt", "movbe", "xsave"};  // not an op: an instruction set
/// evex512 is LLVM 19's word for registers of 512 bits: without it the others are of 256.
constexpr std::string_view kV4[] = {"avx512f",  "avx512bw", "avx512cd",
                                    "avx512dq", "avx512vl", "evex512"};

Features host_features() {
  Features features;
  for (const auto& entry : llvm::sys::getHostCPUFeatures())
    features[entry.first().str()] = entry.second;
  for (std::string_view name : kUnused) features[std::string(name)] = false;
  return features;
}

std::string join(const Features& features) {
  std::string text;
  for (const auto& [name, on] : features) {
    if (!text.empty()) text += ',';
    text += (on ? '+' : '-') + name;
  }
  return text;
}

/// Passes that cost a compile a tenth of its time and these loops gain nothing from, by LLVM's
/// names for their switches: processors reorder by themselves, and the scheduler's own order keeps
/// more values alive than there are registers (a GELU by AVX2 takes a twelfth less without it).
constexpr std::pair<std::string_view, std::string_view> kSwitches[] = {
    {"enable-misched", "false"}, {"post-RA-scheduler", "false"}, {"disable-lsr", "true"}};

void set_switches() {
  auto& options = llvm::cl::getRegisteredOptions();
  for (auto [name, value] : kSwitches)  // an LLVM without one is as right without it
    if (auto found = options.find(name); found != options.end())
      found->second->addOccurrence(1, name, value);  // 0: as if by default
}

/// What a fatal error becomes on its way out of LLVM, whose frames it passes by.
struct FatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void throw_fatal(void*, const char* reason, bool) { throw FatalError(reason); }

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    llvm::install_fatal_error_handler(throw_fatal);
    set_switches();
  });
}

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target) {
  initialise();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (found == nullptr) return {nullptr, error};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a * b + c is never made an FMA
  options.UnsafeFPMath = false;
  // The JIT's own default is the large model: a 10-byte move for each constant.
  return {std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
              triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
              llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default)),
          {}};
}

/// Machines are dear to make and not thread-safe: each compile borrows one.
class Machines {
 public:
  Result<std::unique_ptr<llvm::TargetMachine>> borrow(const Target& target) {
    {
      const std::lock_guard<ForkSafeMutex> lock(mutex_);
      auto& free = free_[target.key()];
      if (!free.empty()) {
        auto machine = std::move(free.back());
        free.pop_back();
        return {std::move(machine), {}};
      }
    }
    return make_machine(target);
  }
  void give_back(const Target& target, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard<ForkSafeMutex> lock(mutex_);
    free_[target.key()].push_back(std::move(machine));
  }

 private:
  ForkSafeMutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> free_;
};

Machines& machines() {
  static Machines* all = new Machines;  // never destroyed: a compile may outlive main's statics
  return *all;
}

}  // namespace

Target host_target() { return {llvm::sys::getHostCPUName().str(), join(host_features())}; }

Result<Target> named_target(std::string_view name, bool to_run) {
  if (name == "host") return {host_target(), {}};
  const int level = name == "x86-64-v2" ? 2 : name == "avx2" ? 3 : name == "avx512" ? 4 : 0;
  if (level == 0) return {{}, "there is no target \"" + std::string(name) + "\""};
  const Features host = host_features();
  Features features;
  for (const auto& entry : host) features[entry.first] = false;
  std::string missing;
  const auto want = [&](auto& list) {
    for (std::string_view feature : list) {
      const auto found = host.find(std::string(feature));
      if (found == host.end() || !found->second) missing += " " + std::string(feature);
      features[std::string(feature)] = true;
    }
  };
  want(kV2);
  if (level >= 3) want(kV3);
  if (level >= 4) want(kV4);
  if (to_run && !missing.empty()) return {{}, "this machine lacks" + missing};
  return {{"x86-64-v" + std::to_string(level), join(features)}, {}};
}

std::string prepare_module(llvm::Module& module, const Target& target) {
  auto machine = machines().borrow(target);
  if (!machine) return machine.error;
  module.setTargetTriple(machine.value->getTargetTriple().str());
  module.setDataLayout(machine.value->createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setDoesNotThrow();
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("min-legal-vector-width", "512");
    function.addFnAttr("prefer-vector-width", "512");
  }
  machines().give_back(target, std::move(machine.value));
  return {};
}

std::string guarded(const std::function<void()>& f) {
  initialise();
  try {
    f();
    return {};
  } catch (const FatalError& e) {
    return std::string("LLVM gave up: ") + e.what();
  } catch (const std::exception& e) {
    return e.what();
  }
}

Result<std::string> compile_module(OwnedModule owned, const Target& target) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*owned.module, &stream))
    return {{}, "generated code is malformed: " + problem};
  auto machine = machines().borrow(target);
  if (!machine) return {{}, machine.error};
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  std::string error = guarded([&] {
    passes->add(llvm::createTargetTransformInfoWrapperPass(machine.value->getTargetIRAnalysis()));
    if (machine.value->addPassesToEmitFile(*passes, out, nullptr,
                                           llvm::CodeGenFileType::ObjectFile))
      throw FatalError("this target cannot write objects");
    passes->run(*owned.module);
  });
  if (!error.empty()) {
    // Half-done work of LLVM's cannot be taken down safely.
    (void)passes.release();
    (void)machine.value.release();
    (void)owned.module.release();
    (void)owned.context.release();
    return {{}, error};
  }
  passes.reset();
  machines().give_back(target, std::move(machine.value));
  return {std::string(bytes.begin(), bytes.end()), {}};
}

}  // namespace lathe::jit
