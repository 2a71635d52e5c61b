// einsum: a sum of products over named axes, "bij,bjk->bik".
//
// An equation names each axis of each operand by a letter; "..." stands for leading axes, which
// broadcast. A letter that the result lacks is summed. A letter twice in one operand takes its
// diagonal. Without "->" the result has the axes of "...", then the letters that appear once, in
// the order of the alphabet.
//
// Operands are joined two by two from the left. Of a pair, axes that nobody else reads are summed
// first; then the letters of both that stay are axes of a batch, those of both that go are summed
// by mm, and the others are rows and columns. Where none is summed, a product element by element
// does.
//
// Letters are numbers here: those of the text by their code, the axes of "..." from kEllipsis on,
// the last one first.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cctype>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

constexpr int kEllipsis = 256;
using Letters = std::vector<int>;

bool has(const Letters& letters, int l) {
  return std::find(letters.begin(), letters.end(), l) != letters.end();
}

[[noreturn]] void refuse(std::string_view problem, std::string_view got, std::string_view expected,
                         std::string_view next) {
  throw ValueError({.op = "einsum",
                    .problem = std::string(problem),
                    .got = std::string(got),
                    .expected = std::string(expected),
                    .next = std::string(next)});
}

std::string shown(int letter) {
  return letter >= kEllipsis ? "an axis of '...'"
                             : absl::StrCat("'", std::string(1, static_cast<char>(letter)), "'");
}

// ── the equation ────────────────────────────────────────────────────────────────────────────────

/// The letters of one operand, or of the result; kEllipsis where "..." stands.
struct Subscript {
  Letters letters;
  bool dots = false;
};

struct Equation {
  std::vector<Subscript> operands;
  Subscript result;
  bool explicit_result = false;
};

Subscript parse_subscript(std::string_view text) {
  Subscript out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isspace(c) != 0) continue;
    if (std::isalpha(c) != 0) {
      out.letters.push_back(c);
    } else if (text.substr(i, 3) == "..." && !out.dots) {
      out.letters.push_back(kEllipsis);
      out.dots = true;
      i += 2;
    } else {
      refuse("a subscript has a sign that means nothing there",
             absl::StrCat("'", text.substr(i, 1), "' in '", text, "'"),
             "letters, and '...' at most once", "name each axis by a letter: 'ij,jk->ik'");
    }
  }
  return out;
}

Equation parse_equation(std::string_view text) {
  Equation out;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (size_t at = 0; at <= left.size();) {
    const size_t comma = std::min(left.find(',', at), left.size());
    out.operands.push_back(parse_subscript(left.substr(at, comma - at)));
    at = comma + 1;
  }
  out.explicit_result = arrow != std::string_view::npos;
  if (out.explicit_result) out.result = parse_subscript(text.substr(arrow + 2));
  return out;
}

/// kEllipsis replaced by the letters of so many axes.
Letters without_dots(const Subscript& s, size_t axes) {
  Letters out;
  for (int l : s.letters) {
    if (l != kEllipsis) out.push_back(l);
    for (size_t k = axes; l == kEllipsis && k-- > 0;)
      out.push_back(kEllipsis + static_cast<int>(k));
  }
  return out;
}

/// The result's letters; `most`: axes that "..." stands for in the operand where it has most.
Letters result_letters(const Equation& e, const std::vector<Letters>& operands, size_t most) {
  Letters out, all;
  for (const Letters& letters : operands) all.insert(all.end(), letters.begin(), letters.end());
  if (e.explicit_result) {
    out = without_dots(e.result, most);
    for (size_t i = 0; i < out.size(); ++i) {
      if (std::count(out.begin(), out.end(), out[i]) > 1)
        refuse("the result names an axis twice", shown(out[i]), "each letter once",
               "diag_embed() puts a vector on a diagonal");
      if (!has(all, out[i]))
        refuse("the result names an axis that no operand has", shown(out[i]),
               "letters of the operands", "check the letters behind '->'");
    }
    return out;
  }
  for (size_t k = most; k-- > 0;) out.push_back(kEllipsis + static_cast<int>(k));
  for (int l = 0; l < kEllipsis; ++l)
    if (std::count(all.begin(), all.end(), l) == 1) out.push_back(l);
  return out;
}

// ── the sums ────────────────────────────────────────────────────────────────────────────────────

/// A tensor whose axes have letters, each once.
struct Named {
  Tensor x;
  Letters letters;

  int axis(int l) const {
    return static_cast<int>(std::find(letters.begin(), letters.end(), l) - letters.begin());
  }
  Int size(int l) const { return x.size(axis(l)); }
  Shape sizes(const Letters& of) const {
    Shape out;
    for (int l : of) out.push_back(size(l));
    return out;
  }
  /// With its axes in this order.
  Tensor in_order(const Letters& order) const {
    if (order == letters) return x;
    Shape axes;
    for (int l : order) axes.push_back(Int(axis(l)));
    return S::permute(x, axes);
  }
  /// Summed over the letters that `gone` says.
  template <class F>
  void sum_out(F gone) {
    Shape axes;
    Letters rest;
    for (size_t i = 0; i < letters.size(); ++i)
      if (gone(letters[i]))
        axes.push_back(Int(i));
      else
        rest.push_back(letters[i]);
    if (axes.empty()) return;
    x = R::sum(x, axes);
    letters = std::move(rest);
  }
};

/// An operand with a letter for each axis; the diagonal of those that share one.
Named name_axes(const Tensor& x, const Letters& letters) {
  Named out{x, {}};
  for (size_t i = 0; i < letters.size(); ++i) {
    const int l = letters[i];
    if (!has(out.letters, l)) {
      out.letters.push_back(l);
      continue;
    }
    const int first = out.axis(l), second = static_cast<int>(out.letters.size());
    if (!require(Relation::eq, out.x.size(first), out.x.size(second)))
      throw ShapeError({.op = "einsum",
                        .problem = absl::StrCat(shown(l),
                                                " stands for two axes of one operand "
                                                "that differ in size"),
                        .got = to_string(x.shape()),
                        .expected = "equal sizes, whose diagonal is taken",
                        .next = "give the axes letters of their own"});
    out.x = S::movedim(S::diagonal(out.x, 0, first, second), {Int(-1)}, {Int(first)});
  }
  return out;
}

/// Where one operand has a single element along a letter of both, that meets all of the other's: an
/// axis to be summed is summed at once, one that stays is broadcast by what follows.
void meet(Named& a, Named& b, const Letters& kept) {
  for (int l : Letters(a.letters)) {
    if (!has(b.letters, l) || identical(a.size(l), b.size(l))) continue;
    const bool a_one = a.size(l) == Int(1), b_one = b.size(l) == Int(1);
    if (!a_one && !b_one && !require(Relation::eq, a.size(l), b.size(l)))
      throw ShapeError({.op = "einsum",
                        .problem = absl::StrCat(shown(l), " has two sizes"),
                        .got = absl::StrCat(to_string(a.size(l)), " and ", to_string(b.size(l))),
                        .expected = "one size, or 1 where they differ",
                        .next = "check which letter names which axis"});
    if (a_one == b_one || has(kept, l)) continue;
    auto this_one = [l](int other) { return other == l; };
    a.sum_out(this_one);
    b.sum_out(this_one);
  }
}

Letters joined(const Letters& a, const Letters& b) {
  Letters out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

/// The product of a pair, with the axes that `kept` names.
Named pair_product(Named a, Named b, const Letters& kept) {
  a.sum_out([&](int l) { return !has(kept, l) && !has(b.letters, l); });
  b.sum_out([&](int l) { return !has(kept, l) && !has(a.letters, l); });
  meet(a, b, kept);
  Letters batch, summed, rows, columns;
  for (int l : a.letters) (!has(b.letters, l) ? rows : has(kept, l) ? batch : summed).push_back(l);
  for (int l : b.letters)
    if (!has(a.letters, l)) columns.push_back(l);
  Tensor left = a.in_order(joined(joined(batch, rows), summed));
  Tensor right = b.in_order(joined(joined(batch, summed), columns));
  const Shape row_sizes = a.sizes(rows), column_sizes = b.sizes(columns);
  auto shaped = [](const Shape& first, const Shape& second, const Shape& third) {
    Shape out = first;
    out.insert(out.end(), second.begin(), second.end());
    out.insert(out.end(), third.begin(), third.end());
    return out;
  };
  Named out{Tensor(), joined(joined(batch, rows), columns)};
  const Shape batch_a = a.sizes(batch), batch_b = b.sizes(batch);
  if (summed.empty()) {
    left = columns.empty()
               ? left
               : S::reshape(left, shaped(batch_a, row_sizes, Shape(columns.size(), Int(1))));
    right = rows.empty()
                ? right
                : S::reshape(right, shaped(batch_b, Shape(rows.size(), Int(1)), column_sizes));
    out.x = M::mul(left, right);
    return out;
  }
  const Int m = numel(row_sizes), n = numel(column_sizes), k = numel(a.sizes(summed));
  out.x = N::mm(S::reshape(left, shaped(batch_a, {m}, {k})),
                S::reshape(right, shaped(batch_b, {k}, {n})));
  const Shape lead(out.x.shape().begin(), out.x.shape().end() - 2);
  out.x = S::reshape(out.x, shaped(lead, row_sizes, column_sizes));
  return out;
}

Outputs einsum_expansion(Args a) {
  const Equation e = parse_equation(a.text(0));
  const Tensors xs = a.tensors(1);
  if (xs.empty() || xs.size() != e.operands.size())
    refuse("the equation has another number of subscripts than there are operands",
           absl::StrCat(e.operands.size(), " subscripts, ", xs.size(), " operands"),
           "one subscript for each operand", "separate subscripts by commas: 'ij,jk->ik'");
  size_t most = 0;
  std::vector<size_t> dotted;
  for (size_t i = 0; i < xs.size(); ++i) {
    const size_t named = e.operands[i].letters.size() - (e.operands[i].dots ? 1 : 0);
    const auto rank = static_cast<size_t>(xs[i].rank());
    if (e.operands[i].dots ? rank < named : rank != named)
      throw ShapeError(
          {.op = "einsum",
           .problem = absl::StrCat("the subscript of operand ", i, " names another number of axes"),
           .got = absl::StrCat(named, " letters for ", to_string(xs[i].shape())),
           .expected = absl::StrCat(rank, " letters"),
           .next = "'...' stands for axes without a letter"});
    dotted.push_back(rank - named);
    if (e.operands[i].dots) most = std::max(most, dotted.back());
  }
  std::vector<Letters> letters;
  for (size_t i = 0; i < xs.size(); ++i) letters.push_back(without_dots(e.operands[i], dotted[i]));
  const Letters result = result_letters(e, letters, most);
  Named all = name_axes(xs[0], letters[0]);
  for (size_t i = 1; i < xs.size(); ++i) {
    Letters kept = result;
    for (size_t k = i + 1; k < xs.size(); ++k) kept = joined(kept, letters[k]);
    all = pair_product(std::move(all), name_axes(xs[i], letters[i]), kept);
  }
  all.sum_out([&](int l) { return !has(result, l); });
  return {all.in_order(result)};
}

}  // namespace

void add_einsum_definitions(Definitions& r) {
  r.composite("einsum(str equation, Tensor... operands) -> Tensor", einsum_expansion,
              {.places = kFunction,
               .autocast = Autocast::narrow,
               .doc = "A sum of products over axes named by letters, as 'ij,jk->ik'; '...' stands "
                      "for leading axes, which broadcast."});
}

}  // namespace lathe
