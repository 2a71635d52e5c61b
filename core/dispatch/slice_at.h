// Which elements a call of `slice` reads, or one of `slice_put` writes.
#pragma once

#include <absl/functional/function_ref.h>

#include <optional>

#include "core/op/op.h"

namespace lathe {

/// x[start:end] along an axis.
struct SliceAt {
  int axis;
  Int start, end;
};

/// Where slice_put has its arguments.
namespace slice_put {
inline constexpr size_t kBase = 0, kValue = 1, kAxis = 2, kStart = 3, kEnd = 4, kStep = 5;
}

/// What a call of `slice` or `slice_put` with these arguments, the first of them `of` and behind it
/// `skipped` more, reads or writes; nothing where it has a step or its places are not sure to be
/// inside. `proven`: whether a <= b is known.
std::optional<SliceAt> slice_at(Args args, size_t skipped, const Shape& of,
                                absl::FunctionRef<bool(Int a, Int b)> proven);

}  // namespace lathe
