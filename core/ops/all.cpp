#include "core/ops/families.h"

namespace lathe {

void add_all_definitions(Definitions& r) {
  add_math_definitions(r);
  add_arithmetic_definitions(r);
  add_special_definitions(r);
  add_bessel_definitions(r);
  add_incomplete_gamma_definitions(r);
  add_polynomial_definitions(r);
  add_power_definitions(r);
  add_checked_definitions(r);
  add_compare_definitions(r);
  add_reduce_definitions(r);
  add_scan_definitions(r);
  add_statistics_definitions(r);
  add_order_definitions(r);
  add_shape_definitions(r);
  add_index_definitions(r);
  add_scatter_definitions(r);
  add_position_definitions(r);
  add_data_size_definitions(r);
  add_set_definitions(r);
  add_masked_definitions(r);
  add_create_definitions(r);
  add_linear_definitions(r);
  add_convolution_definitions(r);
  add_nn_definitions(r);
  add_activation_definitions(r);
  add_dropout_definitions(r);
  add_window_definitions(r);
  add_padding_definitions(r);
  add_pooling_definitions(r);
  add_adaptive_definitions(r);
  add_interpolate_definitions(r);
  add_grid_definitions(r);
  add_normalisation_definitions(r);
  add_embedding_definitions(r);
  add_distance_definitions(r);
  add_recurrent_definitions(r);
  add_loss_definitions(r);
  add_regression_loss_definitions(r);
  add_margin_loss_definitions(r);
  add_ctc_definitions(r);
  add_norm_definitions(r);
  add_split_definitions(r);
  add_strided_definitions(r);
  add_rearrange_definitions(r);
  add_join_definitions(r);
  add_diagonal_definitions(r);
  add_patches_definitions(r);
  add_products_definitions(r);
  add_einsum_definitions(r);
  add_correlation_definitions(r);
  add_create_forms_definitions(r);
  add_attention_definitions(r);
  add_form_definitions(r);
  add_copy_definitions(r);
  add_random_definitions(r);
  add_linalg_definitions(r);
  add_fft_definitions(r);
  add_signal_window_definitions(r);
}

}  // namespace lathe
