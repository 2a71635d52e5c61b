#include "python/bindings/print.h"

#include <absl/strings/str_cat.h>

#include "autodiff/tape.h"

namespace lathe::py {

std::string history_text(const Tensor& t) {
  TapeMeta* m = meta(t);
  if (m == nullptr || m->is_leaf || !m->edge.node || m->edge.node->is_leaf())
    return "requires_grad=True";
  return absl::StrCat("grad_fn=<", m->edge.node->name(), ">");
}

}  // namespace lathe::py
