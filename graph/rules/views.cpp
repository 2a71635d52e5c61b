// Views of views, views that show everything, and reads of what was just written. Data is moved by
// none of them; that the result's type must be the same does most of the checking.
#include "graph/rewrite/rule.h"

namespace lathe::ir {
namespace {

/// Axes as numbers from 0; false if one is unknown.
bool axes(const Arg& a, int rank, absl::InlinedVector<int64_t, 6>& out) {
  if (a.tag != Tag::list) return false;
  for (size_t i = 0; i < a.list_->size; ++i) {
    Int v = a.list_->data[i].integer();
    if (!v.known()) return false;
    out.push_back(v.value() < 0 ? v.value() + rank : v.value());
  }
  return static_cast<int>(out.size()) == rank;
}

bool is_identity(Match& m) {
  absl::InlinedVector<int64_t, 6> p;
  if (!axes(m.literal("p"), m.rank("x"), p)) return false;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool compose(Match& m) {
  absl::InlinedVector<int64_t, 6> p, q;
  if (!axes(m.literal("p"), m.rank("x"), p) || !axes(m.literal("q"), m.rank("x"), q)) return false;
  std::vector<Arg> r;
  for (int64_t k : q) r.emplace_back(p[static_cast<size_t>(k)]);
  ArgList list{r.data(), r.size()};
  m.bind("r", Arg(list));
  return true;
}

/// A view of row-major data can be taken at once, whatever was in between.
bool packed_x(Match& m) { return m.is_tensor("x") && m.packed("x"); }

/// Axes that were kept only to be dropped. (That the types agree says which view it is; an axis of
/// size 1 that stays where another was kept has the same elements.)
bool sum_alone(Match& m) { return m.single_use("sum"); }
bool mean_alone(Match& m) { return m.single_use("mean"); }

bool same_shapes(Match& m) { return identical(m.type("x").shape, m.type("y").shape); }

/// Products of matrices that nobody reads but turned, by rows: where the order of terms is defined
/// both orders of the operands give the same bits. (Not of complex ones: a term is a sum itself.)
/// What another product reads may lie in any order.
bool is_read_turned(Match& m) {
  absl::InlinedVector<int64_t, 6> p;
  if (m.rank("x") != 2 || m.rank("y") != 2 || !axes(m.literal("p"), 2, p) || p[0] != 1)
    return false;
  const Node& product = *m.root()->in(0)->node();
  if (is_complex(product.out(0)->tensor().dtype)) return false;
  const auto by_rows = [](const Use& u) {
    return u.node->op() == nullptr || u.node->op()->kind != Kind::contract;
  };
  const std::vector<Use>& uses = m.root()->out(0)->uses();
  return m.single_use("mm") && std::any_of(uses.begin(), uses.end(), by_rows) &&
         promised(product) == Bits::defined;
}

/// r: the shape of the result.
bool bind_shape(Match& m) {
  const Shape& shape = m.root()->out(0)->tensor().shape;
  std::vector<Arg> r(shape.begin(), shape.end());
  m.bind("r", Arg(ArgList{r.data(), r.size()}));
  return true;
}

/// The same, where what is asked for may say -1 or leave a size as it is.
bool shape_of_result(Match& m) { return bind_shape(m) && !m.is_value("t"); }

/// What was written, [a, b), and what is read, [e, f), have no element in common. Only what is
/// known: places from 0 on, in an order that the graph states.
bool apart(Match& m) {
  const auto place = [&](std::string_view name) -> std::optional<Int> {
    if (m.is_value(name) || m.literal(name).tag != Tag::integer) return std::nullopt;
    return m.literal(name).integer();
  };
  const auto known = [](Int least, Int most) {
    return SymScope::current()->prove(Relation::le, least, most) == SymScope::Truth::yes;
  };
  const std::optional<Int> a = place("a"), b = place("b"), e = place("e"), f = place("f");
  if (!a || !b || !e || !f) return false;
  return known(0, *a) && known(0, *b) && known(0, *e) && known(0, *f) &&
         (known(*b, *e) || known(*f, *a));
}

/// One value everywhere, divided by a number (the gradient of a mean): made in the shape it is
/// wanted in, so that it is part of the loop that reads it.
bool by_number(Match& m) { return !m.is_tensor("n") && shape_of_result(m); }

/// A sum to more than half of x is a sum to all of x, of -0.0 elsewhere, which changes nothing:
/// then it is part of a group that reads the slice where it lies, and x is not gone through once
/// more. What holds more often than half is asked of the sizes there are: it is no matter of right
/// or wrong.
bool most_of_x(Match& m) {
  if (!m.is_tensor("v") || !m.is_tensor("x") || !is_floating(m.dtype("x"))) return false;
  const TensorType &x = m.type("x"), &v = m.type("v");
  const Shape& part = m.root()->in(1)->tensor().shape;
  const SymScope& sizes = *SymScope::current();
  if (v.dtype != x.dtype || v.shape.size() != part.size()) return false;
  for (size_t k = 0; k < part.size(); ++k)
    if (sizes.prove(Relation::eq, v.shape[k], part[k]) != SymScope::Truth::yes) return false;
  if (2 * sizes.hint(numel(v.shape)) <= sizes.hint(numel(x.shape))) return false;
  m.bind("t", Arg(x.dtype));
  m.bind("e", Arg(x.device));
  return bind_shape(m);
}

constexpr Rule kRules[] = {
    {"permute_to_nothing", Exactness::exact, "permute(x, p)", "x", is_identity},
    {"permute_of_permute", Exactness::exact, "permute(permute(x, p), q)", "permute(x, r)", compose},
    {"permute_of_product", Exactness::exact, "permute(mm(x, y), p)",
     "mm(permute(y, p), permute(x, p))", is_read_turned},
    {"add_of_permuted", Exactness::exact, "add(permute(x, p), permute(y, p))",
     "permute(add(x, y), p)", same_shapes},
    {"view_to_nothing", Exactness::exact, "view(x, s)", "x"},
    {"view_of_view", Exactness::exact, "view(view(x, s), t)", "view(x, t)", packed_x},
    {"view_of_kept_sum", Exactness::exact, "view(sum(x, dim=d, keepdim=True), s)",
     "sum(x, dim=d, keepdim=False)", sum_alone},
    {"view_of_kept_mean", Exactness::exact, "view(mean(x, dim=d, keepdim=True), s)",
     "mean(x, dim=d, keepdim=False)", mean_alone},
    {"expand_to_nothing", Exactness::exact, "expand(x, s)", "x"},
    {"expand_of_expand", Exactness::exact, "expand(expand(x, s), t)", "expand(x, t)"},
    {"view_of_full", Exactness::exact, "view(full(s, c, dtype=a, device=b), t)",
     "full(r, c, dtype=a, device=b)", shape_of_result},
    {"expand_of_full", Exactness::exact, "expand(full(s, c, dtype=a, device=b), t)",
     "full(r, c, dtype=a, device=b)", shape_of_result},
    {"expand_of_full_by_number", Exactness::exact,
     "expand(div(full(s, c, dtype=a, device=b), n), t)", "div(full(r, c, dtype=a, device=b), n)",
     by_number},
    {"squeeze_of_unsqueeze", Exactness::exact, "squeeze(unsqueeze(x, d), dim=e)", "x"},
    {"slice_of_full", Exactness::exact, "slice(full(s, c, dtype=a, device=b), d, start=e, end=f)",
     "full(r, c, dtype=a, device=b)", bind_shape},
    {"slice_to_nothing", Exactness::exact, "slice(x, d, start=a, end=b)", "x"},
    {"clone_of_packed", Exactness::exact, "clone(x)", "x", packed_x},
    {"slice_of_put", Exactness::exact,
     "slice(slice_put(x, v, d, start=a, end=b, step=c), d, start=a, end=b, step=c)", "v"},
    {"slice_beside_put", Exactness::exact,
     "slice(slice_put(x, v, d, start=a, end=b), d, start=e, end=f)", "slice(x, d, start=e, end=f)",
     apart},
    {"sum_to_most", Exactness::exact,
     "slice_put(x, add(slice(x, d, start=a, end=b), v), d, start=a, end=b)",
     "add(x, slice_put(full(r, -0.0, dtype=t, device=e), v, d, start=a, end=b))", most_of_x},
    {"put_of_own_slice", Exactness::exact,
     "slice_put(x, slice(x, d, start=a, end=b, step=c), d, start=a, end=b, step=c)", "x"},
    {"put_of_put", Exactness::exact,
     "slice_put(slice_put(x, v, d, start=a, end=b, step=c), w, d, start=a, end=b, step=c)",
     "slice_put(x, w, d, start=a, end=b, step=c)"},
    {"put_of_everything", Exactness::exact, "slice_put(x, v, d, start=a, end=b)", "v"},
    {"squeeze_of_put", Exactness::exact, "squeeze(squeeze_put(x, v, dim=d), dim=d)", "v"},
    {"squeeze_put_to_view", Exactness::exact, "squeeze_put(x, v, dim=[0])", "unsqueeze(v, 0)"},
    {"unsqueeze_of_put", Exactness::exact, "unsqueeze(unsqueeze_put(x, v, d), d)", "v"},
    {"view_of_put", Exactness::exact, "view(view_put(x, v, s), s)", "v"},
    {"permute_of_put", Exactness::exact, "permute(permute_put(x, v, p), p)", "v"},
};

}  // namespace

absl::Span<const Rule> view_rules() { return kRules; }

}  // namespace lathe::ir
