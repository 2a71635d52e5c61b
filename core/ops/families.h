// One function a family; core/ops/all.cpp calls them, once, so they are compiled for size. Plus the
// few words definitions of several families share.
#pragma once

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/op/op.h"

namespace lathe {

[[gnu::cold]] void add_math_definitions(Definitions& r);
[[gnu::cold]] void add_arithmetic_definitions(Definitions& r);
[[gnu::cold]] void add_special_definitions(Definitions& r);
[[gnu::cold]] void add_bessel_definitions(Definitions& r);
[[gnu::cold]] void add_incomplete_gamma_definitions(Definitions& r);
[[gnu::cold]] void add_polynomial_definitions(Definitions& r);
[[gnu::cold]] void add_power_definitions(Definitions& r);
[[gnu::cold]] void add_checked_definitions(Definitions& r);
[[gnu::cold]] void add_compare_definitions(Definitions& r);
[[gnu::cold]] void add_reduce_definitions(Definitions& r);
[[gnu::cold]] void add_scan_definitions(Definitions& r);
[[gnu::cold]] void add_statistics_definitions(Definitions& r);
[[gnu::cold]] void add_order_definitions(Definitions& r);
[[gnu::cold]] void add_shape_definitions(Definitions& r);
[[gnu::cold]] void add_copy_definitions(Definitions& r);
[[gnu::cold]] void add_index_definitions(Definitions& r);
[[gnu::cold]] void add_scatter_definitions(Definitions& r);
[[gnu::cold]] void add_position_definitions(Definitions& r);
[[gnu::cold]] void add_data_size_definitions(Definitions& r);
[[gnu::cold]] void add_set_definitions(Definitions& r);
[[gnu::cold]] void add_masked_definitions(Definitions& r);
[[gnu::cold]] void add_create_definitions(Definitions& r);
[[gnu::cold]] void add_random_definitions(Definitions& r);
[[gnu::cold]] void add_linear_definitions(Definitions& r);
[[gnu::cold]] void add_convolution_definitions(Definitions& r);
[[gnu::cold]] void add_nn_definitions(Definitions& r);
[[gnu::cold]] void add_activation_definitions(Definitions& r);
[[gnu::cold]] void add_dropout_definitions(Definitions& r);
[[gnu::cold]] void add_window_definitions(Definitions& r);
[[gnu::cold]] void add_padding_definitions(Definitions& r);
[[gnu::cold]] void add_pooling_definitions(Definitions& r);
[[gnu::cold]] void add_adaptive_definitions(Definitions& r);
[[gnu::cold]] void add_interpolate_definitions(Definitions& r);
[[gnu::cold]] void add_grid_definitions(Definitions& r);
[[gnu::cold]] void add_normalisation_definitions(Definitions& r);
[[gnu::cold]] void add_embedding_definitions(Definitions& r);
[[gnu::cold]] void add_distance_definitions(Definitions& r);
[[gnu::cold]] void add_recurrent_definitions(Definitions& r);
[[gnu::cold]] void add_regression_loss_definitions(Definitions& r);
[[gnu::cold]] void add_margin_loss_definitions(Definitions& r);
[[gnu::cold]] void add_ctc_definitions(Definitions& r);
[[gnu::cold]] void add_loss_definitions(Definitions& r);
[[gnu::cold]] void add_norm_definitions(Definitions& r);
[[gnu::cold]] void add_split_definitions(Definitions& r);
[[gnu::cold]] void add_strided_definitions(Definitions& r);
[[gnu::cold]] void add_rearrange_definitions(Definitions& r);
[[gnu::cold]] void add_join_definitions(Definitions& r);
[[gnu::cold]] void add_diagonal_definitions(Definitions& r);
[[gnu::cold]] void add_patches_definitions(Definitions& r);
[[gnu::cold]] void add_products_definitions(Definitions& r);
[[gnu::cold]] void add_einsum_definitions(Definitions& r);
[[gnu::cold]] void add_correlation_definitions(Definitions& r);
[[gnu::cold]] void add_create_forms_definitions(Definitions& r);
[[gnu::cold]] void add_attention_definitions(Definitions& r);
[[gnu::cold]] void add_form_definitions(Definitions& r);
[[gnu::cold]] void add_linalg_definitions(Definitions& r);
[[gnu::cold]] void add_fft_definitions(Definitions& r);
[[gnu::cold]] void add_signal_window_definitions(Definitions& r);

/// Of a composite that only moves elements.
inline Extra moving(std::string_view doc, uint8_t places = kFunction | kMethod) {
  Extra e{.places = places, .moves = true};
  e.doc = doc;
  return e;
}
inline Extra with_autocast(Autocast way, Extra e) {
  e.autocast = way;
  return e;
}
/// The same of one that makes a tensor.
inline Extra creating(std::string_view doc) {
  Extra e = moving(doc, kFunction);
  e.no_grad = true;
  return e;
}

/// 0, 1, ... rank - 1.
inline Shape all_axes(int rank) {
  Shape axes;
  for (int i = 0; i < rank; ++i) axes.push_back(Int(i));
  return axes;
}

/// Of the larger or smaller of two operands: ties share the gradient equally; beside a NaN both
/// have it, unless it loses.
Grads extremum_grad(Grad g, const Tensor& x_loses, const Tensor& y_loses);

/// Least and greatest value of a dtype, in the language; infinities for floats.
Expr lowest(DType dtype);
Expr highest(DType dtype);

/// Integers and bool in the default dtype, for sums and differences that their dtype would wrap;
/// floats as they are.
Tensor as_float(const Tensor& x);

/// Argument `at` of a creator that makes its result like argument 0: that tensor's dtype or device
/// where the argument is None.
Arg like_dtype(Args a, int at);
Arg like_device(Args a, int at);

/// `shape` with one -1 worked out from the element count. ShapeError unless the sizes multiply to
/// it.
Shape resolve_shape(std::string_view op, IntSpan shape, Int count);

/// ShapeError unless x has so many axes.
void require_rank(std::string_view op, const Tensor& x, int least, int most = 64);

/// UnsupportedError for an argument that PyTorch takes and that has a meaning here only if `holds`.
void require_default(std::string_view op, std::string_view param, const Arg& given, bool holds);
/// The same, of a flag that must be False.
inline void require_off(std::string_view op, std::string_view param, const Arg& flag) {
  require_default(op, param, flag, !flag.flag_);
}
/// The order of axes in which elements of this memory format lie row after row; empty for None,
/// contiguous_format and preserve_format, which are row-major.
absl::InlinedVector<int, 6> format_order(std::string_view op, std::string_view format, int rank);
/// The same elements, in that order: x itself where they lie so already, unless a copy is asked
/// for.
Tensor in_format(std::string_view op, const Tensor& x, const Arg& memory_format, bool copy);
/// ValueError unless `how` is mean, sum or none.
void check_reduction(std::string_view op, std::string_view how);

/// Where a tensor is not 0: an index tensor for each axis. Reads data, which a trace refuses.
Tensors positions_of(const Tensor& x);
/// The number that an integer tensor without axes holds, as a size; in a capture one that only
/// running tells. Where it is negative the program stops.
Int size_in(const Tensor& count);
/// Is a program being recorded? Elements cannot be read then.
bool captures();

/// Negative positions count from the end. (Out of range stays so, and is refused where it is used.)
Tensor from_the_end(const Tensor& index, Int size);

/// Further names of a table's row (Extra::also), without those left empty.
std::vector<std::string_view> without_empty(absl::Span<const std::string_view> names);

/// The complex conjugate in a derivative; a real tensor as it is, without a call.
Tensor conjugate(const Tensor& x);

/// |x|^2 without the modulus, whose derivative is taken as 0 at 0: that is right to first order and
/// would make the second derivative 0 too, where it is 2.
Tensor squared_modulus(const Tensor& x);
/// The sum over `dims` (none: all) of squared_modulus(x).
Tensor sum_of_squares(const Tensor& x, const Shape& dims, bool keep);

}  // namespace lathe
