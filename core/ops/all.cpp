#include "core/ops/families.h"

namespace lathe {

void add_all_rows(Rows& r) {
  add_math_rows(r);
  add_power_rows(r);
  add_checked_rows(r);
  add_compare_rows(r);
  add_reduce_rows(r);
  add_scan_rows(r);
  add_shape_rows(r);
  add_index_rows(r);
  add_create_rows(r);
  add_linear_rows(r);
  add_convolution_rows(r);
  add_nn_rows(r);
  add_loss_rows(r);
  add_norm_rows(r);
  add_split_rows(r);
  add_attention_rows(r);
  add_form_rows(r);
}

}  // namespace lathe
