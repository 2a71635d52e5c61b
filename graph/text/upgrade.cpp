#include "graph/text/upgrade.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "core/base/error.h"

namespace lathe::ir {
namespace {

// Newest last. The printer names only parameters that have a default, so that a new name for
// another one needs no line here. The adjoints of a convolution were written by hand, with the
// weight first; `pow` was what pow_real is; a `squeeze` of no axes was one of all, but a text has
// none: they were the default.
constexpr Upgrade kUpgrades[] = {
    {"conv2d", 1, "convolution2d", "x=input, w=weight, stride, pad=padding, dilation, groups"},
    {"conv2d_input", 1, "convolution2d_d0",
     "w=weight, dy, shape, stride, pad=padding, dilation, groups"},
    {"conv2d_weight", 1, "convolution2d_d1",
     "x=input, dy, shape, stride, pad=padding, dilation, groups"},
    {"bernoulli", 1, "bernoulli.size", "shape=size, p, dtype, device"},
    {"leaky_relu", 1, "leaky_relu", "x=input, slope=negative_slope"},
    {"max_dim", 1, "max.dim", "x=input, dim, keepdim"},
    {"min_dim", 1, "min.dim", "x=input, dim, keepdim"},
    {"pow", 1, "pow_real", "x=input, y=exponent"},
    {"squeeze", 1, "squeeze", "x=input, dim"},
};

struct ParamName {
  std::string_view then, now;
};

std::vector<ParamName> names(const Upgrade& upgrade) {
  std::vector<ParamName> out;
  for (std::string_view p : absl::StrSplit(upgrade.params, ", ")) {
    std::pair<std::string_view, std::string_view> pair = absl::StrSplit(p, '=');
    out.push_back({pair.first, pair.second.empty() ? pair.first : pair.second});
  }
  return out;
}

}  // namespace

const Upgrade* find_upgrade(std::string_view op, int version) {
  for (const Upgrade& u : kUpgrades)
    if (u.op == op && u.version == version) return &u;
  return nullptr;
}

void upgrade_arguments(const Upgrade& upgrade, std::vector<Given>& given) {
  const std::vector<ParamName> params = names(upgrade);
  for (size_t i = 0; i < given.size(); ++i) {
    const ParamName* found = given[i].name.empty() && i < params.size() ? &params[i] : nullptr;
    for (const ParamName& p : params)
      if (!given[i].name.empty() && (given[i].name == p.then || given[i].name == p.now)) found = &p;
    if (found == nullptr)
      throw TypeError({.op = std::string(upgrade.op),
                       .problem = "an argument that this op never had",
                       .got = given[i].name.empty() ? absl::StrCat("argument ", i) : given[i].name,
                       .expected = std::string(upgrade.params),
                       .next = absl::StrCat("write ", upgrade.to, ", its name today")});
    given[i].name = std::string(found->now);
  }
}

}  // namespace lathe::ir
