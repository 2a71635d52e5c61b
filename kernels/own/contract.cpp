#include "kernels/own/contract.h"

#include "core/error.h"
#include "kernels/own/kinds.h"
#include "kernels/own/product.h"
#include "kernels/pool.h"
#include "kernels/scratch.h"

namespace lathe::own {
namespace {

struct ProductPlan final : Prepared {
  Product product;
  DType dtype;
  // f16 and bf16: operands are widened into contiguous f32 first, the result is rounded afterwards.
  Operand a, b, out;
};

bool narrow(DType d) { return d == DType::f16 || d == DType::bf16; }

Operand widened(const Operand& x) {
  Operand w = x;
  w.dtype = DType::f32;
  w.strides = contiguous_strides(x.shape);
  return w;
}

template <class T>
void run_plain(const ProductPlan& plan, const Launch& launch) {
  run_product(plan.product, reinterpret_cast<const T*>(launch.a),
              reinterpret_cast<const T*>(launch.b), reinterpret_cast<T*>(launch.out),
              launch.epilogue);
}

/// After the rounding: in pieces, so that threads share it.
void finish_pieces(const Epilogue& epilogue, int64_t n) {
  if (!epilogue) return;
  parallel_for(n, 16384, [&](int64_t begin, int64_t end) { epilogue(begin, end - begin); });
}

void run_complex(const ProductPlan& plan, const Launch& launch) {
  size_t bytes = static_cast<size_t>(plan.b.numel()) * 8;
  Scratch even(bytes), expanded(2 * bytes);
  Operand from = plan.b, to = plan.b;
  from.data = const_cast<std::byte*>(launch.b);
  to.data = even.data();
  to.strides = contiguous_strides(to.shape);
  copy_elements(from, to);
  expand_complex(even.as<float>(), plan.b.numel(), expanded.as<float>());
  run_product(plan.product, reinterpret_cast<const float*>(launch.a), expanded.as<float>(),
              reinterpret_cast<float*>(launch.out), {});
  finish_pieces(launch.epilogue, plan.out.numel());
}

void run_narrow(const ProductPlan& plan, const Launch& launch) {
  auto bytes = [](const Operand& o) { return static_cast<size_t>(o.numel()) * sizeof(float); };
  Scratch a(bytes(plan.a)), b(bytes(plan.b)), out(bytes(plan.out));
  auto widen = [](const Operand& x, const std::byte* data, const Scratch& to) {
    Operand from = x, target = widened(x);
    from.data = const_cast<std::byte*>(data);
    target.data = to.data();
    convert(from, target);
  };
  widen(plan.a, launch.a, a);
  widen(plan.b, launch.b, b);
  run_product(plan.product, a.as<float>(), b.as<float>(), out.as<float>(), {});
  Operand from = widened(plan.out), target = plan.out;
  from.data = out.data();
  target.data = launch.out;
  convert(from, target);
  finish_pieces(launch.epilogue, plan.out.numel());
}

}  // namespace

Verdict product_accepts(const Entry&, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  switch (query.common) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
      return Verdict::yes();
    default:
      return Verdict::no(Reason::dtype, std::string(name(query.common)));
  }
}

PreparedRef product_prepare(const Entry&, const Problem& problem) {
  auto plan = std::make_unique<ProductPlan>();
  plan->dtype = problem.out.dtype;
  plan->a = problem.in[0];
  plan->b = problem.in[1];
  plan->out = problem.out;
  if (plan->dtype == DType::c64) {
    plan->b.strides = contiguous_strides(plan->b.shape);
    plan->product = make_product(
        complex_as_real(make_contraction(problem.op, problem.args, plan->a, plan->b, plan->out)));
    plan->product.block = 2 * kSumBlock;
    plan->b.strides = problem.in[1].strides;
    return plan;
  }
  bool wide = !narrow(plan->dtype);
  plan->product = make_product(
      make_contraction(problem.op, problem.args, wide ? plan->a : widened(plan->a),
                       wide ? plan->b : widened(plan->b), wide ? plan->out : widened(plan->out)));
  return plan;
}

void product_run(const Entry&, const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  if (narrow(plan.dtype)) return run_narrow(plan, launch);
  if (plan.dtype == DType::c64) return run_complex(plan, launch);
  plan.dtype == DType::f64 ? run_plain<double>(plan, launch) : run_plain<float>(plan, launch);
}

}  // namespace lathe::own
