#include "python/bindings/rewrites.h"

#include <nanobind/stl/string.h>

#include "graph/rewrite/user_rules.h"

namespace lathe::py {
namespace {

int64_t add(std::string pattern, std::string replacement, std::string where, bool exact) {
  return ir::add_user_rule({.pattern = std::move(pattern),
                            .replacement = std::move(replacement),
                            .where = std::move(where),
                            .exactness = exact ? ir::Exactness::exact : ir::Exactness::approximate,
                            .site = here()});
}

/// (number, pattern, replacement, where, exact, "file:line") of each.
nb::list all() {
  nb::list out;
  for (const ir::UserRule& r : ir::user_rules()->rules())
    out.append(nb::make_tuple(r.id, r.pattern, r.replacement, r.where,
                              r.exactness == ir::Exactness::exact, to_string(r.site)));
  return out;
}

}  // namespace

void add_rewrites(nb::module_& m) {
  m.def("_add_rewrite", &add);
  m.def("_remove_rewrite", &ir::remove_user_rule);
  m.def("_rewrites", &all);
}

}  // namespace lathe::py
