// Eigen: matrix products of f32, f64 and c64.
//
// Compiled for any x86-64, so it is slower than the others by the width of the vectors; it is what
// is left where they are missing, and a third opinion for tests.
#include <Eigen/Core>

#include "kernels/plugin.h"
#include "kernels/vendor_gemm.h"

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

struct GemmPlan final : VendorGemmPlan {
  DType dtype = DType::f32;
};

constexpr DTypeSet kDTypes{DType::f32, DType::f64, DType::c64};

Verdict gemm_accepts(const Query& query) { return accepts_vendor_gemm(query, "mm", kDTypes, 16); }

PreparedRef gemm_prepare(const Problem& problem) {
  auto plan = std::make_unique<GemmPlan>();
  plan_vendor_gemm(problem, *plan);
  plan->dtype = problem.out.dtype;
  return plan;
}

void gemm_run(const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const GemmPlan&>(prepared);
  run_vendor_gemm(plan, launch, *g_host, [&](const VendorGemm& g) {
    if (plan.dtype == DType::f32) return product<float>(g);
    if (plan.dtype == DType::f64) return product<double>(g);
    product<std::complex<float>>(g);
  });
}

#define LATHE_TEXT_OF(x) #x
#define LATHE_TEXT(x) LATHE_TEXT_OF(x)
constexpr PluginEntry kEntries[] = {{"eigen.gemm", gemm_accepts, gemm_prepare, gemm_run}};
constexpr PluginApi kApi{kPluginAbi,
                         LATHE_TEXT(EIGEN_WORLD_VERSION) "." LATHE_TEXT(
                             EIGEN_MAJOR_VERSION) "." LATHE_TEXT(EIGEN_MINOR_VERSION),
                         kEntries, 1};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginApi* lathe_plugin(
    const PluginHost& host, Verdict&) {
  g_host = &host;
  return &kApi;
}

}  // namespace lathe
