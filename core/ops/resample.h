// What interpolate and grid_sample share.
#pragma once

#include <array>

#include "core/ops/families.h"

namespace lathe {

/// Weights of the four elements around a place: t is its distance from the second, in [0, 1); a is
/// the sharpness of the cubic (Keys 1981).
std::array<Tensor, 4> cubic_weights(const Tensor& t, double a);

}  // namespace lathe
