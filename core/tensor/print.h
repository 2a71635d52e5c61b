// Tensors as text, the way PyTorch prints them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace lathe {

struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // more elements than this are summarised
  int64_t edge_items = 3;    // elements shown at each end of an axis then
  int line_width = 80;
  std::optional<bool> scientific = {};     // none: where fixed digits would hide some
  std::vector<std::string> suffixes = {};  // after the dtype: "requires_grad=True"
};

/// "tensor([[1., 2.], [3., 4.]])"; any strides, any device (the data is copied to the host).
/// Symbolic: TraceError.
std::string print_tensor(const Tensor& t, const PrintOptions& options = {});

/// What str() and print() use: of the process.
PrintOptions& print_options();

}  // namespace lathe
