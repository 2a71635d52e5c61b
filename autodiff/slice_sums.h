// Sums of gradients that slices of one tensor give.
//
// To the tape each is a tensor of the whole's size, +0.0 but for the slice, and n slices would take
// n passes over the whole. Added to a sum, +0.0 changes nothing but a -0.0, so it is as well to add
// to the slice alone where the rest of the sum has none: an element of a sum is -0.0 only if all
// that was added to it is. Where the first two slices have nothing in common, those of the first
// are the only ones that may be: +0.0 is added to them once, and from then on slices alone count.
#pragma once

#include <absl/functional/function_ref.h>

#include <optional>

#include "core/dispatch/slice_at.h"
#include "core/tensor/tensor.h"

namespace lathe {

/// `base` with `value` in the slice: another tensor.
Tensor put_slice(const Tensor& base, const Tensor& value, const SliceAt& at);
/// `sum` with `dy` added to the slice: another tensor.
Tensor add_to_slice(const Tensor& sum, const Tensor& dy, const SliceAt& at);

class SliceSum {
 public:
  /// Of one slice so far, or of what is dense and one slice.
  explicit SliceSum(SliceAt only) : only_(only) {}
  enum class Way : uint8_t {
    whole,     // as the tape says it
    the_slice  // to the slice alone, once 0.0 has been added to `tidied`
  };
  /// How one more is added, now.
  Way add(const SliceAt& at, std::optional<SliceAt>& tidied,
          absl::FunctionRef<bool(Int a, Int b)> proven);

 private:
  std::optional<SliceAt> only_;  // where elements may be -0.0; nothing: nowhere
};

}  // namespace lathe
