// Words that definitions of linear algebra share. A matrix is the last two axes of a tensor, the
// axes before them are its batch.
#pragma once

#include "core/ops/families.h"

namespace lathe {

/// What LAPACK computes in.
inline constexpr DTypeSet lapack_dtypes = DTypeSet{DType::f32, DType::f64} | complexes;

/// ShapeError unless there are two axes at least; the second also, unless they are equal.
void require_matrix(std::string_view op, std::string_view what, const Tensor& x);
void require_square(std::string_view op, std::string_view what, const Tensor& x);
/// DTypeError unless the two have one dtype; DeviceError unless they are on one device.
void require_alike(std::string_view op, const Tensor& a, const Tensor& b);
/// ShapeError unless both have one batch, before their last axes.
void require_one_batch(std::string_view op, const Tensor& a, const Tensor& b, int a_axes = 2,
                       int b_axes = 2);
/// ShapeError, of two sizes that have to be equal.
void require_sizes(std::string_view op, std::string_view problem, Int a, Int b);

/// The shape without its last `axes` axes, and one with these behind it.
Shape batch_of(const Tensor& x, int axes = 2);
Shape with_axes(Shape batch, std::initializer_list<Int> axes);
/// x with its batch expanded to this one.
Tensor expand_batch(const Tensor& x, const Shape& batch, int axes = 2);
/// What two batches broadcast to.
Shape common_batch(std::string_view op, const Tensor& a, const Tensor& b, int a_axes = 2,
                   int b_axes = 2);
/// Whether B holds one vector a matrix: it is a vector, or has just the matrices' batch and rows.
bool holds_vectors(const Tensor& a, const Tensor& b);
TensorType result_like(const Tensor& x, Shape shape);
TensorType result_like(const Tensor& x, Shape shape, DType dtype);

Tensor transposed(const Tensor& x);
/// The conjugate transpose.
Tensor adjoint(const Tensor& x);
Tensor times(const Tensor& a, const Tensor& b);
/// The first or the rest of rows or columns.
Tensor rows(const Tensor& x, Int begin, Int end);
Tensor columns(const Tensor& x, Int begin, Int end);
Tensor upper(const Tensor& x, int diagonal = 0);
Tensor lower(const Tensor& x, int diagonal = 0);
/// x with `value` on the diagonal; of any two sizes.
Tensor with_diagonal(const Tensor& x, const Arg& value);
/// x with only the real part of its diagonal.
Tensor with_real_diagonal(const Tensor& x);
/// The diagonal as a vector, and a square matrix with that diagonal.
Tensor diagonal_of(const Tensor& x);
Tensor diagonal_matrix(const Tensor& v);
/// The unit matrix of this size, of x's dtype and device.
Tensor unit_like(const Tensor& x, Int n);
/// A vector as the column of a matrix, and back.
Tensor as_column(const Tensor& v);
Tensor from_column(const Tensor& x);

/// A definition found only as lathe.<also>, PyTorch's torch.<also>.
Extra in_module(std::string_view also, std::string_view doc, Autocast autocast = Autocast::wide);
/// Adds `schema`, PyTorch's second signature of `target`: the same parameters under other names.
void add_same(Definitions& r, std::string_view schema, std::string_view target, Extra extra = {});

// Derivatives that several definitions share.

/// Of the inverse y: -y^H g y^H.
Tensor inverse_cotangent(const Tensor& g, const Tensor& y);
/// Of a pseudoinverse y of x.
Tensor pseudoinverse_cotangent(const Tensor& g, const Tensor& x, const Tensor& y);

void add_linalg_solve_definitions(Definitions& r);
void add_linalg_factor_definitions(Definitions& r);
void add_linalg_spectral_definitions(Definitions& r);
void add_linalg_norm_definitions(Definitions& r);

}  // namespace lathe
