#include "jit/contraction.h"

#include <algorithm>

#include "core/flags.h"
#include "kernels/launch.h"
#include "kernels/pool.h"

namespace lathe::jit {
namespace {

void prepare(const Step& step, Bound::OfStep& bound, std::array<const Tensor*, 2> tensors,
             absl::Span<const int64_t> symbols, PackedOperands& packed, const Tensor& out) {
  absl::InlinedVector<Tensor, 2> views;
  absl::InlinedVector<lathe::Operand, 2> in;
  for (size_t k = 0; k < 2; ++k) {
    const Tensor& from = *tensors[k];
    Geometry g = step.operands[k];
    for (Shape* sizes : {&g.shape, &g.strides})
      for (Int& i : *sizes) i = evaluate(i, symbols);
    g.offset = from.geometry().offset + evaluate(step.shifts[k], symbols);
    views.push_back(make_tensor(from.impl()->storage, from.dtype(), std::move(g)));
    in.push_back(operand(views.back()));
    *bound.holes[k] = Arg(views[k]);
  }
  bound.contraction =
      prepared_contraction({*step.node->op(), bound.filled->args(), bound.types}, in, operand(out));
  bound.revision = flags_revision();
  for (size_t k = 0; k < in.size(); ++k)
    bound.packed[k] = packed.find(step, k, bound.contraction, in[k].data);
}

}  // namespace

void run_contraction(const Step& step, Bound::OfStep& bound, std::array<const Tensor*, 2> in,
                     absl::Span<const int64_t> symbols, PackedOperands& packed, const Tensor& out,
                     Epilogue epilogue) {
  if (bound.contraction.entry == nullptr || bound.revision != flags_revision())
    prepare(step, bound, in, symbols, packed, out);
  const Entry& entry = *bound.contraction.entry;
  Launch launch{elements(*in[0]) + bound.shifts[0],
                elements(*in[1]) + bound.shifts[1],
                elements(out),
                {},
                {bound.packed[0].get(), bound.packed[1].get()}};
  if (entry.fuses) launch.epilogue = epilogue;
  entry.run(entry, *bound.contraction.plan, launch);
  if (epilogue && !entry.fuses)
    epilogue.at_the_end(numel(bound.types[0].shape).value(), parallel_for);
}

PackedRef PackedOperands::find(const Step& step, size_t operand, const PreparedCall& call,
                               const std::byte* data) {
  if (step.lasting.empty() || !step.lasting[operand] || call.entry->pack == nullptr) return nullptr;
  auto known = [&] {
    return std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
      return k.step == &step && k.operand == operand && k.entry == call.entry;
    });
  };
  PackedRef before;
  {
    std::lock_guard hold(mutex_);
    if (auto k = known(); k != known_.end()) before = k->packed;
  }
  PackedRef now =
      call.entry->pack(*call.entry, *call.plan, static_cast<int>(operand), data, before);
  if (now == nullptr || now == before) return now;
  std::lock_guard hold(mutex_);
  auto k = known();
  if (k == known_.end())
    known_.push_back({&step, operand, call.entry, now});
  else
    k->packed = now;
  return now;
}

}  // namespace lathe::jit
