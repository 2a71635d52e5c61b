// OpenBLAS: matrix products of f32, f64 and c64, and LAPACK (lapack.cpp).
#include <cblas.h>

#include "kernels/openblas/library.h"
#include "kernels/vendor/gemm.h"

namespace lathe {
namespace {

struct Products {
  decltype(&scipy_cblas_sgemm) sgemm;
  decltype(&scipy_cblas_dgemm) dgemm;
  decltype(&scipy_cblas_cgemm) cgemm;
};
Products g_products;

template <class F>
bool find(const char* name, F& to) {
  to = reinterpret_cast<F>(openblas::library_symbol(name));
  return to != nullptr;
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
  real_product<float>(g_products.sgemm, g);
}
template <>
void product<double>(const VendorGemm& g) {
  real_product<double>(g_products.dgemm, g);
}
template <>
void product<std::complex<float>>(const VendorGemm& g) {
  const float one[] = {1, 0}, zero[] = {0, 0};
  g_products.cgemm(CblasRowMajor, turned(g.a), turned(g.b), static_cast<blasint>(g.m),
                   static_cast<blasint>(g.n), static_cast<blasint>(g.k), one, g.a.data,
                   static_cast<blasint>(g.a.ld), g.b.data, static_cast<blasint>(g.b.ld), zero, g.c,
                   static_cast<blasint>(g.n));
}

Verdict gemm_accepts(const Query& query) { return accepts_typed_gemm(query, "mm"); }

void gemm_run(const Prepared& prepared, const Launch& launch) {
  run_typed_gemm(prepared, launch, openblas::host(),
                 []<class T>(const VendorGemm& g) { product<T>(g); });
}

constexpr PluginEntry kEntries[] = {
    {"openblas.gemm", gemm_accepts, prepare_vendor_gemm, gemm_run},
    {"openblas.lapack", openblas::lapack_accepts, nullptr, nullptr, openblas::lapack_call}};
PluginApi g_api{kPluginAbi, "", kEntries, std::size(kEntries)};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict& refusal) {
  if (!openblas::open_library(host, refusal)) return nullptr;
  if (!find("cblas_sgemm", g_products.sgemm) || !find("cblas_dgemm", g_products.dgemm) ||
      !find("cblas_cgemm", g_products.cgemm)) {
    refusal = Verdict::no(Reason::not_loadable, "a symbol is missing");
    return nullptr;
  }
  g_api.version = openblas::library_version();
  return &g_api;
}

}  // namespace lathe
