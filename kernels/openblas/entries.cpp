// OpenBLAS: matrix products of f32, f64 and c64.
//
// The library is opened from here rather than linked, because it chooses its kernels once, as it is
// loaded, from what it believes the processor is; and a build that does not know a new processor
// falls back to kernels of fifteen years ago, at a fifth of the speed. So on a processor with
// AVX-512 it is told SkylakeX, whatever OPENBLAS_CORETYPE says (containers set it for other
// programs' sake); and if it still reports an old core, it is refused.
#include <cblas.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "kernels/table/plugin.h"
#include "kernels/vendor/gemm.h"

namespace lathe {
namespace {

struct Library {
  decltype(&scipy_cblas_sgemm) sgemm;
  decltype(&scipy_cblas_dgemm) dgemm;
  decltype(&scipy_cblas_cgemm) cgemm;
  decltype(&scipy_openblas_set_num_threads) set_threads;
  decltype(&scipy_openblas_get_corename) core;
  decltype(&scipy_openblas_get_config) config;
};
Library g_library;
const PluginHost* g_host;

template <class F>
bool find(void* handle, const char* symbol, F& to) {
  to = reinterpret_cast<F>(dlsym(handle, symbol));
  return to != nullptr;
}

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
void* open_library() {
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

CBLAS_TRANSPOSE turned(const VendorMatrix& x) { return x.turned ? CblasTrans : CblasNoTrans; }
template <class T>
const T* of(const VendorMatrix& x) {
  return reinterpret_cast<const T*>(x.data);
}

template <class T, class F>
void real_product(F gemm, const VendorGemm& g) {
  gemm(CblasRowMajor, turned(g.a), turned(g.b), static_cast<blasint>(g.m),
       static_cast<blasint>(g.n), static_cast<blasint>(g.k), T{1}, of<T>(g.a),
       static_cast<blasint>(g.a.ld), of<T>(g.b), static_cast<blasint>(g.b.ld), T{0},
       reinterpret_cast<T*>(g.c), static_cast<blasint>(g.n));
}
template <class T>
void product(const VendorGemm& g);
template <>
void product<float>(const VendorGemm& g) {
  real_product<float>(g_library.sgemm, g);
}
template <>
void product<double>(const VendorGemm& g) {
  real_product<double>(g_library.dgemm, g);
}
template <>
void product<std::complex<float>>(const VendorGemm& g) {
  const float one[] = {1, 0}, zero[] = {0, 0};
  g_library.cgemm(CblasRowMajor, turned(g.a), turned(g.b), static_cast<blasint>(g.m),
                  static_cast<blasint>(g.n), static_cast<blasint>(g.k), one, g.a.data,
                  static_cast<blasint>(g.a.ld), g.b.data, static_cast<blasint>(g.b.ld), zero, g.c,
                  static_cast<blasint>(g.n));
}

Verdict gemm_accepts(const Query& query) { return accepts_typed_gemm(query, "mm"); }

void gemm_run(const Prepared& prepared, const Launch& launch) {
  run_typed_gemm(prepared, launch, *g_host, []<class T>(const VendorGemm& g) { product<T>(g); });
}

constexpr PluginEntry kEntries[] = {{"openblas.gemm", gemm_accepts, prepare_vendor_gemm, gemm_run}};
PluginApi g_api{kPluginAbi, "", kEntries, 1};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict& refusal) {
  g_host = &host;
  void* handle = open_library();
  if (handle == nullptr) {
    refusal = Verdict::no(Reason::not_found, dlerror());
    return nullptr;
  }
  Library& l = g_library;
  if (!find(handle, "scipy_cblas_sgemm", l.sgemm) || !find(handle, "scipy_cblas_dgemm", l.dgemm) ||
      !find(handle, "scipy_cblas_cgemm", l.cgemm) ||
      !find(handle, "scipy_openblas_set_num_threads", l.set_threads) ||
      !find(handle, "scipy_openblas_get_corename", l.core) ||
      !find(handle, "scipy_openblas_get_config", l.config)) {
    refusal = Verdict::no(Reason::not_loadable, "a symbol is missing");
    return nullptr;
  }
  l.set_threads(1);
  std::string core = l.core();
  if (too_old(core)) {
    refusal = Verdict::no(Reason::core_type, core);
    return nullptr;
  }
  g_api.version = l.config();
  return &g_api;
}

}  // namespace lathe
