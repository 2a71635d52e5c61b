#include "core/sizes/piecewise.h"

#include <algorithm>
#include <limits>

namespace lathe::poly {
namespace {

using Wide = __int128;
constexpr int64_t kInf = std::numeric_limits<int64_t>::max();
constexpr int64_t kMost = int64_t{1} << 61;  // numbers beyond are not rewritten

bool moderate(int64_t v) { return -kMost < v && v < kMost; }
bool small(Wide v) { return -kMost < v && v < kMost; }
int64_t saturated(Wide v) {
  return v >= kInf ? kInf : v <= -kInf ? -kInf : static_cast<int64_t>(v);
}

/// From `at` on, up to the next piece, the function is value + slope * (f - at).
struct Piece {
  Wide at, value, slope;
};

/// The pieces from `low` on; kinks outside of [low, high] do not show.
std::vector<Piece> pieces_of(const Piecewise& g, Wide low, int64_t high) {
  Wide slope = g.slope, constant = g.constant;
  for (const Kink& k : g.kinks) {
    if (k.at > low) continue;
    slope += k.slope;
    constant -= Wide{k.slope} * k.at;
  }
  std::vector<Piece> out{{low, slope * low + constant, slope}};
  for (const Kink& k : g.kinks) {
    if (k.at <= low || k.at >= high) continue;
    const Piece& last = out.back();
    out.push_back({k.at, last.value + last.slope * (k.at - last.at), last.slope + k.slope});
  }
  return out;
}

/// Where the leftmost piece is met already by all that changes: a function of an unbounded form
/// goes on to the left as it begins here.
Wide beginning(const Piecewise& g) {
  Wide first = g.kinks.empty() ? Wide{g.slope == 0 ? 0 : kMost} : Wide{g.kinks[0].at};
  if (g.slope != 0) first = std::min(first, -Wide{g.constant} / g.slope - 1);
  return first - 1;
}

Wide floor_of(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Where the positive part of one piece, which ends before `end`, bends.
void positive_piece(const Piece& p, Wide end, bool last, std::vector<Piece>& out) {
  Wide at_end = p.value + p.slope * (end - p.at);
  bool begins = p.value > 0 || (p.value == 0 && p.slope >= 0);
  bool ends = last ? p.slope > 0 || (p.slope == 0 && p.value > 0) : at_end >= 0;
  if (begins && ends) return out.push_back(p);
  if (!begins && (last ? p.slope <= 0 : at_end <= 0)) return out.push_back({p.at, 0, 0});
  if (p.value < 0) {  // up through zero between `turn` and the integer after it
    Wide turn = p.at + floor_of(-p.value, p.slope), after = p.value + p.slope * (turn + 1 - p.at);
    if (turn > p.at) out.push_back({p.at, 0, 0});
    out.push_back({turn, 0, after});
    if (last || turn + 1 < end) out.push_back({turn + 1, after, p.slope});
    return;
  }
  if (p.value == 0) return out.push_back({p.at, 0, 0});
  Wide turn = p.at + floor_of(p.value, -p.slope), before = p.value + p.slope * (turn - p.at);
  if (turn > p.at) out.push_back(p);
  out.push_back({turn, before, -before});
  if (last || turn + 1 < end) out.push_back({turn + 1, 0, 0});
}

}  // namespace

const SymExpr* positive_part_in(const SymTerm& t) {
  return t.factors.size() == 1 && t.factors[0]->kind == SymKind::positive ? t.factors[0] : nullptr;
}

std::optional<Piecewise> piecewise_of(const Poly& p) {
  Piecewise g;
  Poly line;
  std::optional<Int> form;
  for (const SymTerm& t : p) {
    const SymExpr* part = positive_part_in(t);
    if (t.factors.empty()) {
      g.constant = t.coefficient;
    } else if (part == nullptr) {
      line.push_back(t);
    } else {
      Scaled of = scaled_form(part->a);
      if (of.scale != 1 || (form && !identical(*form, of.form))) return std::nullopt;
      form = of.form;
      g.kinks.push_back({-of.constant, t.coefficient});
    }
  }
  if (g.kinks.size() > kMostKinks) return std::nullopt;
  if (!form) {
    Scaled of = scaled_form(make(std::move(line)));
    g.form = of.form;
    g.slope = of.scale;
    return g;
  }
  g.form = *form;
  if (!line.empty()) {
    Poly f = expand(*form);
    if (line.size() != f.size() || line[0].coefficient % f[0].coefficient != 0) return std::nullopt;
    g.slope = line[0].coefficient / f[0].coefficient;
    for (size_t i = 0; i < f.size(); ++i)
      if (line[i].factors != f[i].factors ||
          Wide{line[i].coefficient} != Wide{g.slope} * f[i].coefficient)
        return std::nullopt;
  }
  std::sort(g.kinks.begin(), g.kinks.end(), [](Kink a, Kink b) { return a.at < b.at; });
  return g;
}

std::optional<Piecewise> positive(const Piecewise& g, Interval of) {
  Wide low = moderate(of.low) ? Wide{of.low} : beginning(g);
  int64_t high = moderate(of.high) ? of.high : kInf;
  std::vector<Piece> pieces = pieces_of(g, low, high), bent;
  for (size_t i = 0; i < pieces.size(); ++i) {
    bool last = i + 1 == pieces.size();
    positive_piece(pieces[i], last ? pieces[i].at : pieces[i + 1].at, last, bent);
  }
  Piecewise out{g.form};
  Wide slope = bent[0].slope, constant = bent[0].value - slope * bent[0].at;
  if (!small(slope) || !small(constant)) return std::nullopt;
  out.slope = static_cast<int64_t>(slope);
  out.constant = static_cast<int64_t>(constant);
  for (size_t i = 1; i < bent.size(); ++i) {
    Wide at = bent[i].at, by = bent[i].slope - bent[i - 1].slope;
    if (by == 0 || at >= high) continue;
    if (!small(at) || !small(by)) return std::nullopt;
    out.kinks.push_back({static_cast<int64_t>(at), static_cast<int64_t>(by)});
  }
  if (out.kinks.size() > kMostKinks) return std::nullopt;
  return out;
}

Interval bounds(const Piecewise& g, Interval of) {
  if (of.low > of.high) return {-kInf, kInf};
  bool from_left = of.low <= -kInf, to_right = of.high >= kInf;
  Wide low = from_left ? beginning(g) : Wide{of.low};
  if (!to_right && low > of.high) low = of.high;
  std::vector<Piece> pieces = pieces_of(g, low, of.high);
  Wide least = pieces[0].value, most = least;
  auto meet = [&](Wide v) {
    least = std::min(least, v);
    most = std::max(most, v);
  };
  for (const Piece& p : pieces) meet(p.value);
  const Piece& end = pieces.back();
  if (!to_right) meet(end.value + end.slope * (of.high - end.at));
  Interval out{saturated(least), saturated(most)};
  if (to_right && end.slope != 0)
    (end.slope > 0 ? out.high : out.low) = end.slope > 0 ? kInf : -kInf;
  if (from_left && g.slope != 0) (g.slope > 0 ? out.low : out.high) = g.slope > 0 ? -kInf : kInf;
  return out;
}

Int to_int(const Piecewise& g) {
  Poly p = expand(Int(g.slope) * g.form + Int(g.constant));
  for (const Kink& k : g.kinks)
    p.push_back({k.slope, {make_atom(SymKind::positive, g.form - Int(k.at), 0).expr()}});
  collect(p);
  return make(std::move(p));
}

}  // namespace lathe::poly
