// Products of matrices. What oneDNN is given does not depend on how the operands lie: the right
// side is brought into the layout that it wants, once for all pieces, and a left side that lies
// column by column into rows. So a product has the same bits wherever a graph lets its operands
// lie.
#include "kernels/onednn/library.h"
#include "kernels/vendor/gemm.h"

namespace lathe::onednn {
namespace {

using Desc = dnnl::memory::desc;

Desc desc(const VendorMatrix& x, int64_t rows, int64_t cols, DType dtype) {
  const auto type = type_of(dtype);
  return x.turned ? Desc({rows, cols}, type, {1, x.ld}) : Desc({rows, cols}, type, {x.ld, 1});
}

std::byte* plain(const std::byte* p) { return const_cast<std::byte*>(p); }

/// From one layout to another; nothing to do if they are one.
class Rearranged {
 public:
  Rearranged() = default;
  Rearranged(const Desc& from, const Desc& to) : from_(from), to_(to), needed_(from != to) {
    if (!needed_) return;
    const dnnl::reorder::primitive_desc pd(cpu(), from, cpu(), to, attributes());
    scratch_ = pd.scratchpad_desc();
    primitive_ = dnnl::reorder(pd);
  }
  bool needed() const { return needed_; }
  size_t bytes() const { return to_.get_size(); }
  void run(const std::byte* from, std::byte* to) const {
    OneThread one;
    const Room scratch(scratch_);
    dnnl::stream stream(cpu());
    primitive_.execute(stream, {{DNNL_ARG_FROM, dnnl::memory(from_, cpu(), plain(from))},
                                {DNNL_ARG_TO, dnnl::memory(to_, cpu(), to)},
                                {DNNL_ARG_SCRATCHPAD, scratch.memory()}});
    stream.wait();
  }

 private:
  Desc from_, to_, scratch_;
  dnnl::reorder primitive_;
  bool needed_ = false;
};

/// A product of so many rows, made once: oneDNN takes longer to look one up than a small product
/// takes.
struct Product {
  Desc a, b, c, scratch;
  Rearranged left;
  dnnl::primitive primitive;
};

/// `b`: how the right side lies, or any layout.
Product make_product(const VendorGemmPlan& p, int64_t rows, const Desc& b) {
  OneThread one;
  Product made;
  const VendorMatrix a = vendor_operand(p.a, rows, p.k);
  // Terms of bf16 are taken in pairs: of an odd number of them in rows that lie apart, what lies
  // behind a row meets a zero, which of an infinity or a NaN makes a NaN.
  const bool rearranged = a.turned || (p.dtype == DType::bf16 && p.k % 2 != 0 && a.ld != p.k);
  made.a = desc(rearranged ? VendorMatrix{nullptr, p.k, false} : a, rows, p.k, p.dtype);
  made.left = Rearranged(desc(a, rows, p.k, p.dtype), made.a);
  made.c = Desc({rows, p.n}, type_of(p.out_dtype), {p.n, 1});
  const dnnl::matmul::primitive_desc pd(cpu(), made.a, b, made.c, attributes());
  made.b = pd.weights_desc();
  made.scratch = pd.scratchpad_desc();
  made.primitive = dnnl::matmul(pd);
  return made;
}

struct Plan final : VendorGemmPlan {
  Product whole, last;  // of `rows_each` rows, and of those of the last piece
  Rearranged right;
  int64_t right_sides = 1;  // one for all products, or one for each
};

void multiply(const Product& product, const std::byte* a, const std::byte* b, std::byte* c) {
  const VendorScratch rows(*g_host, product.left.needed() ? product.left.bytes() : 0);
  if (product.left.needed()) product.left.run(a, rows.data());
  OneThread one;
  const Room scratch(product.scratch);
  dnnl::stream stream(cpu());
  const std::byte* left = product.left.needed() ? rows.data() : a;
  product.primitive.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(product.a, cpu(), plain(left))},
                                     {DNNL_ARG_WEIGHTS, dnnl::memory(product.b, cpu(), plain(b))},
                                     {DNNL_ARG_DST, dnnl::memory(product.c, cpu(), c)},
                                     {DNNL_ARG_SCRATCHPAD, scratch.memory()}});
  stream.wait();
}

/// All right sides in the layout that products want, one behind the other.
void arrange_right_sides(const Plan& plan, const std::byte* b, std::byte* to) {
  const auto item = static_cast<int64_t>(plan.bytes);
  const auto each = static_cast<int64_t>(plan.right.bytes());
  const bool copied = !vendor_readable(plan.b, plan.k, plan.n);
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, plan.k * plan.n));
  g_host->parallel_for(plan.right_sides, grain, [&](int64_t begin, int64_t end) {
    const VendorScratch copy(*g_host, copied ? static_cast<size_t>(plan.k * plan.n * item) : 0);
    for (int64_t i = begin; i < end; ++i) {
      const std::byte* from = b + vendor_offsets(plan, i).b * item;
      if (copied) copy_matrix(from, plan.b, plan.k, plan.n, plan.bytes, copy.data());
      plan.right.run(copied ? copy.data() : from, to + i * each);
    }
  });
}

}  // namespace

Verdict matmul_accepts(const Query& query) {
  if (!is_product_row(query.op)) return Verdict::no(Reason::op, query.op.name());
  if (Verdict types = accepts_dtypes(query); !types.accepted()) return types;
  return accepts_vendor_gemm(query, query.op.name(), {DType::f32, DType::bf16}, 16, true);
}

PreparedRef matmul_prepare(const Problem& problem) {
  auto plan = std::make_unique<Plan>();
  plan_vendor_gemm(problem, *plan);
  if (!plan->runs_a_product()) return plan;
  return if_possible([&]() -> PreparedRef {
    Plan& p = *plan;
    const Desc any({p.k, p.n}, type_of(p.dtype), dnnl::memory::format_tag::any);
    p.whole = make_product(p, std::min(p.m, p.rows_each), any);
    const int64_t rest = p.m % p.rows_each;
    p.last = rest == 0 || p.m < p.rows_each ? p.whole : make_product(p, rest, p.whole.b);
    p.right = Rearranged(desc(vendor_operand(p.b, p.k, p.n), p.k, p.n, p.dtype), p.whole.b);
    for (size_t i = 0; i < p.batch.size(); ++i)
      if (p.batch[i] > 1 && p.b_batch[i] != 0) p.right_sides = p.products;
    return std::move(plan);
  });
}

void matmul_run(const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const Plan&>(prepared);
  const bool packs = plan.runs_a_product() && plan.right.needed();
  const size_t each = packs ? plan.right.bytes() : 0;
  const VendorScratch right(*g_host, static_cast<size_t>(plan.right_sides) * each);
  if (packs) arrange_right_sides(plan, launch.b, right.data());
  const int64_t whole = std::min(plan.m, plan.rows_each);
  run_vendor_gemm(plan, launch, *g_host, [&](const VendorGemm& g, int64_t product) {
    const int64_t side = plan.right_sides == 1 ? 0 : product;
    const std::byte* b = packs ? right.data() + static_cast<size_t>(side) * each : g.b.data;
    multiply(g.m == whole ? plan.whole : plan.last, g.a.data, b, g.c);
  });
}

}  // namespace lathe::onednn
