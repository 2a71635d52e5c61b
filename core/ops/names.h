// What definitions are written with: the families of ops by one letter each, and two numbers.
#pragma once

#include <limits>

#include "core/tensor/tensor.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/linalg.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"

namespace lathe::names {

using C = create_ops<Tensor>;
using I = index_ops<Tensor>;
using L = linalg_ops<Tensor>;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace lathe::names
