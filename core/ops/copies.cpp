// Copies of what a view shows: PyTorch's <view>_copy, one for each signature of the view. And what
// a graph has in the place of a write with gradients off.
#include <absl/strings/str_cat.h>

#include "core/ops/families.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

/// Adds the signature `op` of a view as one of `<its public name>_copy`.
void add_copy_of(Definitions& r, const Op& op) {
  const std::string_view text = op.schema.text, view = op.public_name();
  std::string_view form = std::string_view(op.name()).substr(view.size());  // ".sizes" or nothing
  r.composite(absl::StrCat(view, "_copy", form, text.substr(text.find('('))),
              [&op](Args a) {
                Outputs out = call(op, a);
                for (Tensor& t : out) t = math_ops<Tensor>::clone(t);
                return out;
              },
              {.places = kFunction, .moves = true, .doc = "A copy of what the view shows."});
}

}  // namespace

void add_copy_definitions(Definitions& r) {
  // Signatures of one name in the order in which a call tries them.
  constexpr std::string_view kViews[] = {"as_strided", "diagonal",  "expand",          "permute",
                                         "select",     "split",     "split.sizes",     "squeeze",
                                         "t",          "unbind",    "transpose",       "unfold",
                                         "view",       "unsqueeze", "split_with_sizes"};
  for (std::string_view name : kViews) {
    const Op* op = r.find(name);
    LATHE_CHECK(op != nullptr);
    add_copy_of(r, *op);
  }
  r.composite("alias_copy(Tensor input) -> Tensor",
              [](Args a) -> Outputs { return {math_ops<Tensor>::clone(a.tensor(0))}; },
              {.places = kFunction, .moves = true, .doc = "A copy of input."});
  r.elementwise("overwritten(Tensor input, Tensor value) -> Tensor",
                [](Expr, Expr value) { return value; },
                {.grad =
                     [](Grad g) {
                       Grads out(2);
                       if (g.wants(0)) out[0] = g.dy();
                       return out;
                     },
                 .places = kNowhere,
                 .doc = "value, with the history of input: what is left by a write to a computed "
                        "tensor with gradients off."});
  r.elementwise("steps_with(Tensor input, Tensor other) -> Tensor", [](Expr x, Expr) { return x; },
                {.places = kNowhere,
                 .doc = "input, which depends on other, too, by a derivative of zero: a derivative "
                        "that asks on which side of a step other lies."});
}

}  // namespace lathe
