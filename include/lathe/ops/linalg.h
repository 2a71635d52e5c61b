// Linear algebra: systems, decompositions, norms of matrices.
#pragma once
#include <tuple>

#include "fn.h"

namespace lathe {
template <class T>
struct linalg_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  using Text = typename B::Text;
  using Pair = std::tuple<T, T>;
  using Three = std::tuple<T, T, T>;
  using Four = std::tuple<T, T, T, T>;
  static inline const Fn<T, T(T A)> inv{"linalg_inv"};
  static inline const Fn<T, Pair(T A, bool check_errors)> inv_ex{"linalg_inv_ex"};
  static inline const Fn<T, T(T A)> det{"linalg_det"};
  static inline const Fn<T, Pair(T A)> slogdet{"linalg_slogdet"};
  static inline const Fn<T, T(T A)> off_singular{"linalg_off_singular"};
  static inline const Fn<T, T(T A, T B, bool left)> solve{"linalg_solve"};
  static inline const Fn<T, Pair(T A, T B, bool left, bool check_errors)> solve_ex{
      "linalg_solve_ex"};
  static inline const Fn<T, Pair(T A, T B, bool check_errors)> solve_matrices{
      "linalg_solve_matrices"};
  static inline const Fn<T, T(T A, T B, bool upper, bool left, bool unitriangular)> triangular{
      "linalg_triangular"};
  static inline const Fn<T, T(T A, T B, bool upper, bool left, bool unitriangular)>
      solve_triangular{"linalg_solve_triangular"};
  static inline const Fn<T, Three(T A, bool pivot, bool check_errors)> lu_factor_ex{
      "linalg_lu_factor_ex"};
  static inline const Fn<T, T(T pivots, Int rows, bool inverse)> lu_permutation{
      "linalg_lu_permutation"};
  static inline const Fn<T, Three(T data, T pivots, bool unpack_data, bool unpack_pivots)>
      lu_unpack{"lu_unpack"};
  static inline const Fn<T, T(T LU, T pivots, T B, bool left, bool adjoint)> lu_solve{
      "linalg_lu_solve"};
  static inline const Fn<T, Three(T A, bool hermitian, bool check_errors)> ldl_factor_ex{
      "linalg_ldl_factor_ex"};
  static inline const Fn<T, T(T LD, T pivots, T B, bool hermitian)> ldl_solve_matrices{
      "linalg_ldl_solve_matrices"};
  static inline const Fn<T, Pair(T A, bool upper, bool check_errors)> cholesky_ex{
      "linalg_cholesky_ex"};
  static inline const Fn<T, T(T A, bool upper)> cholesky{"linalg_cholesky"};
  static inline const Fn<T, T(T B, T L, bool upper)> cholesky_solve{"cholesky_solve"};
  static inline const Fn<T, Pair(T A, Text mode)> qr{"linalg_qr"};
  static inline const Fn<T, Pair(T A)> geqrf{"geqrf"};
  static inline const Fn<T, T(T A, T tau)> householder_product{"linalg_householder_product"};
  static inline const Fn<T, T(T A, T tau, T other, bool left, bool transpose)> reflect{
      "linalg_reflect"};
  static inline const Fn<T, Three(T A, bool full_matrices)> svd_parts{"linalg_svd_parts"};
  static inline const Fn<T, Three(T A, bool full_matrices, Any driver)> svd{"linalg_svd"};
  static inline const Fn<T, T(T A)> svd_values{"linalg_svd_values"};
  static inline const Fn<T, T(T x, T turn)> phase_free{"linalg_phase_free"};
  static inline const Fn<T, Pair(T A, Text UPLO)> eigh{"linalg_eigh"};
  static inline const Fn<T, T(T A, Text UPLO)> eigvalsh{"linalg_eigvalsh"};
  static inline const Fn<T, Pair(T A)> eig{"linalg_eig"};
  static inline const Fn<T, T(T A)> eigvals{"linalg_eigvals"};
  static inline const Fn<T, Four(T A, T B, Any rcond, Text driver)> least_squares{
      "linalg_least_squares"};
  static inline const Fn<T, T(T A, T value)> pinv_of{"linalg_pinv_of"};
  static inline const Fn<T, T(T A, Any atol, Any rtol, bool hermitian)> pinv{"linalg_pinv"};
  static inline const Fn<T, T(T A)> matrix_exp{"linalg_matrix_exp"};
  static inline const Fn<T, T(T A, Int n)> matrix_power{"linalg_matrix_power"};
  static inline const Fn<T, T(T x, Any ord, Any dim, bool keepdim, Any dtype)> vector_norm{
      "linalg_vector_norm"};
};
}  // namespace lathe
