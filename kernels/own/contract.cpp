#include "kernels/own/contract.h"

#include <absl/algorithm/container.h>

#include "core/error.h"
#include "kernels/own/kinds.h"
#include "kernels/own/product.h"
#include "kernels/pool.h"
#include "kernels/scratch.h"

namespace lathe::own {
namespace {

/// One product for each part of the outputs; a single one writes them where they are.
struct Part {
  Product product;
  Operand target;      // without data: where its outputs belong; unused if there is one part
  int64_t offset = 0;  // in elements
};

struct ProductPlan final : Prepared {
  std::vector<Part> parts;
  DType dtype;
  // f16 and bf16: operands are widened into contiguous f32 first, the result is rounded afterwards.
  Operand a, b, out;
};

Product product_of(const Contraction& c) {
  if (c.dtype == DType::f64) return make_product(c, tiles<double>().rows, tiles<double>().cols);
  return make_product(c, tiles<float>().rows, tiles<float>().cols);
}

void add_parts(ProductPlan& plan, const Contraction& c, int64_t block) {
  auto divided = [](const Window& w) { return w.divisor != 1; };
  bool whole = absl::c_none_of(c.a.windows, divided) && absl::c_none_of(c.b.windows, divided);
  if (whole) {
    plan.parts.push_back({product_of(c), {}, 0});
  } else {
    for (Residue& r : residues(c)) {
      Operand target{nullptr, c.dtype, r.shape, r.strides};
      plan.parts.push_back({product_of(r.contraction), std::move(target), r.offset});
    }
  }
  for (Part& part : plan.parts) part.product.block = block;
}

/// The one product that writes the outputs where they are; null if there are several.
const Product* only_product(const ProductPlan& plan) {
  bool only = plan.parts.size() == 1 && plan.parts[0].target.shape.empty();
  return only ? &plan.parts[0].product : nullptr;
}

template <class T>
void run_parts(const ProductPlan& plan, const std::byte* a, const std::byte* b, std::byte* out,
               const Epilogue& epilogue, absl::Span<const PackedSide* const> packed = {}) {
  const T *left = reinterpret_cast<const T*>(a), *right = reinterpret_cast<const T*>(b);
  if (const Product* only = only_product(plan))
    return run_product(*only, left, right, reinterpret_cast<T*>(out), epilogue, packed);
  for (const Part& part : plan.parts) {
    Scratch own(static_cast<size_t>(part.target.numel()) * sizeof(T));
    run_product(part.product, left, right, own.as<T>(), {});
    Operand from = part.target, to = part.target;
    from.data = own.data();
    from.strides = contiguous_strides(from.shape);
    to.data = out + part.offset * static_cast<int64_t>(sizeof(T));
    copy_elements(from, to);
  }
  epilogue.at_the_end(plan.out.numel(), parallel_for);
}

bool narrow(DType d) { return d == DType::f16 || d == DType::bf16; }

Operand widened(const Operand& x) {
  Operand w = x;
  w.dtype = DType::f32;
  w.strides = contiguous_strides(x.shape);
  return w;
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
  run_parts<float>(plan, launch.a, expanded.data(), launch.out, {});
  launch.epilogue.at_the_end(plan.out.numel(), parallel_for);
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
  run_parts<float>(plan, a.data(), b.data(), out.data(), {});
  Operand from = widened(plan.out), target = plan.out;
  from.data = out.data();
  target.data = launch.out;
  convert(from, target);
  launch.epilogue.at_the_end(plan.out.numel(), parallel_for);
}

}  // namespace

Verdict product_accepts(const Entry&, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  if (!divisible_axes(query.op.formula)) return Verdict::no(Reason::op, query.op.name());
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
    auto c = make_contraction(problem.op, problem.args, plan->a, plan->b, plan->out);
    add_parts(*plan, complex_as_real(c), 2 * kSumBlock);
    plan->b.strides = problem.in[1].strides;
    return plan;
  }
  bool wide = !narrow(plan->dtype);
  Operand a = wide ? plan->a : widened(plan->a), b = wide ? plan->b : widened(plan->b);
  Operand out = wide ? plan->out : widened(plan->out);
  add_parts(*plan, make_contraction(problem.op, problem.args, a, b, out), kSumBlock);
  return plan;
}

void product_run(const Entry&, const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  if (narrow(plan.dtype)) return run_narrow(plan, launch);
  if (plan.dtype == DType::c64) return run_complex(plan, launch);
  const PackedSide* packed[] = {static_cast<const PackedSide*>(launch.packed[0]),
                                static_cast<const PackedSide*>(launch.packed[1])};
  plan.dtype == DType::f64
      ? run_parts<double>(plan, launch.a, launch.b, launch.out, launch.epilogue, packed)
      : run_parts<float>(plan, launch.a, launch.b, launch.out, launch.epilogue, packed);
}

PackedRef product_pack(const Entry&, const Prepared& prepared, int operand, const std::byte* data,
                       const PackedRef& known) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  const Product* product = only_product(plan);
  if (product == nullptr || narrow(plan.dtype) || plan.dtype == DType::c64) return nullptr;
  auto before = std::static_pointer_cast<const PackedSide>(known);
  return plan.dtype == DType::f64
             ? pack_side(*product, operand, reinterpret_cast<const double*>(data), before)
             : pack_side(*product, operand, reinterpret_cast<const float*>(data), before);
}

}  // namespace lathe::own
