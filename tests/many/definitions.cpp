// A module lathe._lathe with a thousand definitions more, for measuring what an import costs as
// their number grows (tests/prove/parts/import_time.py, tests/python/test_import.py). This file
// takes the place of core/ops/all.cpp: its add_all_definitions adds the library's own definitions,
// then the generated ones: two in three elementwise, with methods, in-place forms and overloads,
// one in three composite.
#include <absl/strings/str_cat.h>

#define add_all_definitions add_own_definitions
#include "core/ops/all.cpp"
#undef add_all_definitions

#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

constexpr int kGenerated = 1000;

void add_generated_row(Definitions& r, int i) {
  const std::string name = absl::StrCat("generated_", i);
  if (i % 3 == 0)
    r.composite(absl::StrCat(name, "(Tensor input, int dim=0, *, float scale=1.0) -> Tensor"),
                [](Args a) -> Outputs { return {math_ops<Tensor>::clone(a.tensor(0))}; },
                {.doc = "input itself, copied."});
  else
    r.elementwise(absl::StrCat(name, i % 3 == 2 ? ".other" : "",
                               "(Tensor input, Tensor|Scalar other) -> Tensor"),
                  [](Expr x, Expr y) { return x + y; },
                  {.doc = "input + other, element by element."});
}

}  // namespace

void add_all_definitions(Definitions& r) {
  add_own_definitions(r);
  for (int i = 0; i < kGenerated; ++i) add_generated_row(r, i);
}

}  // namespace lathe
