// Eigen: matrix products of f32, f64 and c64.
//
// Compiled for any x86-64, so it is slower than the others by the width of the vectors; it is what
// is left where they are missing, and a third opinion for tests.
#include <Eigen/Core>

#include "kernels/table/plugin.h"
#include "kernels/vendor/gemm.h"

namespace lathe {
namespace {

const PluginHost* g_host;

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class M>
using View = Eigen::Map<const M, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T, class A, class B>
void multiply(const VendorGemm& g) {
  View<A> a(reinterpret_cast<const T*>(g.a.data), g.m, g.k, Eigen::OuterStride<>(g.a.ld));
  View<B> b(reinterpret_cast<const T*>(g.b.data), g.k, g.n, Eigen::OuterStride<>(g.b.ld));
  Eigen::Map<RowMajor<T>> c(reinterpret_cast<T*>(g.c), g.m, g.n);
  c.noalias() = a * b;
}

template <class T>
void product(const VendorGemm& g) {
  if (g.a.turned && g.b.turned) return multiply<T, ColMajor<T>, ColMajor<T>>(g);
  if (g.a.turned) return multiply<T, ColMajor<T>, RowMajor<T>>(g);
  if (g.b.turned) return multiply<T, RowMajor<T>, ColMajor<T>>(g);
  multiply<T, RowMajor<T>, RowMajor<T>>(g);
}

Verdict gemm_accepts(const Query& query) { return accepts_typed_gemm(query, "mm"); }

void gemm_run(const Prepared& prepared, const Launch& launch) {
  run_typed_gemm(prepared, launch, *g_host, []<class T>(const VendorGemm& g) { product<T>(g); });
}

#define LATHE_TEXT_OF(x) #x
#define LATHE_TEXT(x) LATHE_TEXT_OF(x)
constexpr PluginEntry kEntries[] = {{"eigen.gemm", gemm_accepts, prepare_vendor_gemm, gemm_run}};
constexpr PluginApi kApi{kPluginAbi,
                         LATHE_TEXT(EIGEN_WORLD_VERSION) "." LATHE_TEXT(
                             EIGEN_MAJOR_VERSION) "." LATHE_TEXT(EIGEN_MINOR_VERSION),
                         kEntries, std::size(kEntries)};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict&) {
  g_host = &host;
  return &kApi;
}

}  // namespace lathe
