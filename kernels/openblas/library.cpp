// Opening OpenBLAS.
//
// The library chooses its kernels once, as it is loaded, from what it believes the processor is;
// and a build that does not know a new processor falls back to kernels of fifteen years ago, at a
// fifth of the speed. So on a processor with AVX-512 it is told SkylakeX, whatever
// OPENBLAS_CORETYPE says (containers set it for other programs' sake); and if it still reports an
// old core, it is refused.
#include "kernels/openblas/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace lathe::openblas {
namespace {

void* g_handle;
const PluginHost* g_host;
const char* g_version = "";

template <class T>
Lapack<T> g_lapack;

bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

/// Kernels of before AVX2, on a processor that has it; of before AVX-512 likewise.
bool too_old(const std::string& core) {
  __builtin_cpu_init();
  if (has_avx512())
    return core != "SkylakeX" && core != "Cooperlake" && core != "SapphireRapids" && core != "Zen";
  if (__builtin_cpu_supports("avx2"))
    return core != "Haswell" && core != "Zen" && core != "Excavator";
  return false;
}

/// Opens it with the core type it should use in its environment, which is put back.
void* open_file() {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  const char* asked = std::getenv(kVariable);  // not ours: OpenBLAS reads it
  std::string before = asked == nullptr ? "" : asked;
  bool force = has_avx512() && (asked == nullptr || too_old(before));
  if (force) setenv(kVariable, "SkylakeX", 1);
  void* handle = dlopen("libscipy_openblas.so", RTLD_NOW | RTLD_LOCAL);
  if (force && asked != nullptr) setenv(kVariable, before.c_str(), 1);
  if (force && asked == nullptr) unsetenv(kVariable);
  return handle;
}

template <class F>
bool find(const std::string& name, F& to) {
  to = reinterpret_cast<F>(library_symbol(name));
  return to != nullptr;
}

/// Every routine of one element type, whose letter begins its name.
template <class T>
bool find_lapack(char letter) {
  Lapack<T>& l = g_lapack<T>;
  auto routine = [&](const char* name, auto& to) {
    return find(std::string("LAPACKE_") + letter + name, to);
  };
  auto product = [&](const char* name, auto& to) {
    return find(std::string("cblas_") + letter + name, to);
  };
  constexpr bool complex = kComplex<T>;
  bool own = false;
  if constexpr (complex)
    own = routine("geev", l.geev) && routine("hetrf", l.hetrf) && routine("hetrs", l.hetrs);
  else
    own = routine("geev", l.geev_real) && routine("sytrf", l.hetrf) && routine("sytrs", l.hetrs);
  // clang-format off
  return own && routine("getrf", l.getrf) && routine("getrs", l.getrs) &&
         routine("potrf", l.potrf) && routine("geqrf", l.geqrf) &&  // not an op: LAPACK's name
         routine(complex ? "ungqr" : "orgqr", l.orgqr) &&           // not an op: LAPACK's name
         routine(complex ? "unmqr" : "ormqr", l.ormqr) &&           // not an op: LAPACK's name
         routine(complex ? "heevd" : "syevd", l.syevd) && routine("gesdd", l.gesdd) &&
         routine("sytrf", l.sytrf) && routine("sytrs", l.sytrs) && routine("gels", l.gels) &&
         routine("gelsy", l.gelsy) && routine("gelsd", l.gelsd) && routine("gelss", l.gelss) &&
         product("trsm", l.trsm_any) && product("gemm", l.gemm_any);
  // clang-format on
}

}  // namespace

template <class T>
const Lapack<T>& lapack() {
  return g_lapack<T>;
}
template const Lapack<float>& lapack();
template const Lapack<double>& lapack();
template const Lapack<std::complex<float>>& lapack();
template const Lapack<std::complex<double>>& lapack();

const PluginHost& host() { return *g_host; }
const char* library_version() { return g_version; }
void* library_symbol(const std::string& name) { return dlsym(g_handle, ("scipy_" + name).c_str()); }

bool open_library(const PluginHost& host, Verdict& refusal) {
  g_host = &host;
  g_handle = open_file();
  if (g_handle == nullptr) {
    refusal = Verdict::no(Reason::not_found, dlerror());
    return false;
  }
  void (*set_threads)(int) = nullptr;
  const char* (*core_name)() = nullptr;
  const char* (*config)() = nullptr;
  int (*set_nancheck)(int) = nullptr;
  if (!find("openblas_set_num_threads", set_threads) || !find("openblas_get_corename", core_name) ||
      !find("openblas_get_config", config)) {
    refusal = Verdict::no(Reason::not_loadable, "a symbol is missing");
    return false;
  }
  set_threads(1);
  const std::string core = core_name();
  if (too_old(core)) {
    refusal = Verdict::no(Reason::core_type, core);
    return false;
  }
  if (!find("LAPACKE_set_nancheck", set_nancheck) || !find_lapack<float>('s') ||
      !find_lapack<double>('d') || !find_lapack<std::complex<float>>('c') ||
      !find_lapack<std::complex<double>>('z')) {
    refusal = Verdict::no(Reason::not_loadable, "a symbol is missing");
    return false;
  }
  set_nancheck(0);  // NaN goes through a factorisation as through any arithmetic
  g_version = config();
  return true;
}

}  // namespace lathe::openblas
