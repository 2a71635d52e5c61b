// What the families of losses share.
#pragma once

#include "core/ops/families.h"

namespace lathe {

/// `losses` as `how` says: their mean, their sum, or as they are. ValueError names `op`.
Tensor reduced(const Tensor& losses, std::string_view op, std::string_view how);

/// PyTorch's arguments before `reduction`: reduce=False is none, size_average=False is sum.
const char* legacy_reduction(const Arg& size_average, const Arg& reduce);

/// The word for PyTorch's number. ValueError names `op`.
const char* numbered_reduction(std::string_view op, Int number);
/// How to reduce, by the older arguments if one is given.
std::string_view reduction_of(const Arg& size_average, const Arg& reduce, const Arg& reduction);

/// ShapeError that names `op` where a weight is given that is not one number for each class.
void check_class_weight(std::string_view op, const Tensor& weight, Int classes);

/// Losses times what broadcasts to their shape; ShapeError that names `op` where it does not.
Tensor rescaled(std::string_view op, const Tensor& losses, const Shape& shape,
                const Tensor& weight);

/// A loss of each element, times a weight of each if one is given; the weighted mean divides by the
/// sum of the weights.
Tensor weighted(std::string_view op, Tensor losses, std::string_view how, const Tensor& weight);

}  // namespace lathe
