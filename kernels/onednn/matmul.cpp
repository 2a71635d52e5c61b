#include "kernels/onednn/library.h"
#include "kernels/vendor/gemm.h"

namespace lathe::onednn {
namespace {

using Desc = dnnl::memory::desc;

Desc desc(const VendorMatrix& x, int64_t rows, int64_t cols, dnnl::memory::data_type type) {
  return x.turned ? Desc({rows, cols}, type, {1, x.ld}) : Desc({rows, cols}, type, {x.ld, 1});
}

void multiply(const VendorGemm& g, DType dtype) {
  OneThread one;
  auto type = type_of(dtype);
  Desc a = desc(g.a, g.m, g.k, type), b = desc(g.b, g.k, g.n, type), c({g.m, g.n}, type, {g.n, 1});
  // From oneDNN's own cache after the first time.
  dnnl::matmul::primitive_desc pd(cpu(), a, b, c, attributes());
  dnnl::matmul primitive(pd);
  Room scratch(pd.scratchpad_desc());
  dnnl::stream stream(cpu());
  auto at = [](const std::byte* p) { return const_cast<std::byte*>(p); };
  primitive.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(a, cpu(), at(g.a.data))},
                             {DNNL_ARG_WEIGHTS, dnnl::memory(b, cpu(), at(g.b.data))},
                             {DNNL_ARG_DST, dnnl::memory(c, cpu(), g.c)},
                             {DNNL_ARG_SCRATCHPAD, scratch.memory()}});
  stream.wait();
}

}  // namespace

Verdict matmul_accepts(const Query& query) {
  if (!is_product_row(query.op)) return Verdict::no(Reason::op, query.op.name());
  return accepts_vendor_gemm(query, query.op.name(), {DType::f32, DType::bf16}, 16);
}

PreparedRef matmul_prepare(const Problem& problem) { return prepare_vendor_gemm(problem); }

void matmul_run(const Prepared& prepared, const Launch& launch) {
  run_vendor_gemm(prepared, launch, *g_host, multiply);
}

}  // namespace lathe::onednn
