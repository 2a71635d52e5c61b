#include "kernels/own/line_fold.h"

#include <array>
#include <memory>
#include <mutex>

#include "core/base/error.h"
#include "kernels/problem/bodies.h"

namespace lathe::own {
namespace {

Expr folded(Fold fold, Expr a, Expr b) {
  switch (fold) {
    case Fold::sum:
      return a + b;
    case Fold::prod:
      return a * b;
    case Fold::max:
    case Fold::min: {
      // Of floats in the form that is one step: NaN stays.
      const bool most = fold == Fold::max;
      if (is_floating(a.dtype())) return select(isnan(a) | (most ? lt(b, a) : lt(a, b)), a, b);
      return most ? pmax(a, b) : pmin(a, b);
    }
    case Fold::last:
      return b;
  }
  LATHE_INTERNAL("no such fold");
}

}  // namespace

const SimdProgram* line_fold(DType dtype, Fold fold) {
  constexpr size_t kFolds = static_cast<size_t>(Fold::min) + 1;
  static auto& made = *new std::array<std::unique_ptr<SimdProgram>, kFolds * kDTypeCodes>;
  static auto& once = *new std::array<std::once_flag, kFolds * kDTypeCodes>;
  if (is_complex(dtype)) return nullptr;
  const size_t at = static_cast<size_t>(fold) * kDTypeCodes + static_cast<size_t>(dtype);
  std::call_once(once[at], [&] {
    const auto body = [&](absl::Span<const Expr> in) {
      const DType wide = compute_type(dtype);
      return Exprs{
          convert_to(folded(fold, convert_to(in[0], wide), convert_to(in[1], wide)), dtype)};
    };
    made[at] = std::make_unique<SimdProgram>(build(body, {dtype, dtype}));
  });
  return made[at].get();
}

}  // namespace lathe::own
