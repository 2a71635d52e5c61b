#include "core/sizes/int.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"
#include "core/tensor/tensor.h"

namespace lathe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Truth = SymScope::Truth;

const int64_t kTop = (int64_t{1} << 62) - 1;

TEST(Int, NumbersAreConstants) {
  constexpr Int three = 3;
  static_assert(three.known());
  EXPECT_EQ(three.value(), 3);
  EXPECT_EQ(Int(-5).value(), -5);
  EXPECT_EQ(Int(kTop).value(), kTop);
  EXPECT_EQ(Int(-kTop - 1).value(), -kTop - 1);
}

TEST(Int, ArithmeticIsChecked) {
  EXPECT_EQ((Int(7) + Int(-9)).value(), -2);
  EXPECT_EQ((Int(7) - Int(-9)).value(), 16);
  EXPECT_EQ((Int(7) * Int(-9)).value(), -63);
  EXPECT_THROW(Int(kTop) + Int(1), OverflowError);
  EXPECT_THROW(Int(-kTop - 1) - Int(1), OverflowError);
  EXPECT_THROW(Int(int64_t{1} << 40) * Int(int64_t{1} << 40), OverflowError);
  EXPECT_THROW(Int(kTop + 1), OverflowError);
  EXPECT_THROW(Int(SIZE_MAX), OverflowError);
  EXPECT_THROW(floor_div(Int(-kTop - 1), -1), OverflowError);
}

TEST(Int, DivisionRoundsDown) {
  for (int64_t a = -9; a <= 9; a++) {
    for (int64_t b = -4; b <= 4; b++) {
      if (b == 0) continue;
      int64_t q = floor_div(Int(a), Int(b)).value(), r = mod(Int(a), Int(b)).value();
      EXPECT_EQ(q * b + r, a);
      EXPECT_TRUE(b > 0 ? 0 <= r && r < b : b < r && r <= 0) << a << " " << b;
    }
  }
  EXPECT_EQ(ceil_div(Int(7), Int(2)).value(), 4);
  EXPECT_THROW(floor_div(Int(1), Int(0)), ValueError);
  EXPECT_THROW(mod(Int(1), Int(0)), ValueError);
}

TEST(Int, ProductsOfEmptyShapesDoNotOverflow) {
  Int big = int64_t{1} << 40;
  EXPECT_EQ(numel({big, big, 0}).value(), 0);
  EXPECT_THROW(numel({big, big, 1}), OverflowError);
  EXPECT_EQ(numel({}).value(), 1);
  EXPECT_EQ(to_string(IntSpan(row_major({2, 3, 4}))), "[12, 4, 1]");
}

TEST(SymExpr, NormalFormMakesEqualWordsEqual) {
  Int s0 = symbol(0), s1 = symbol(1);
  EXPECT_TRUE(identical(s0 + s1, s1 + s0));
  EXPECT_TRUE(identical((s0 + 1) * (s0 - 1), s0 * s0 - 1));
  EXPECT_TRUE(identical((s0 + s1) * (s0 + s1), s0 * s0 + 2 * s0 * s1 + s1 * s1));
  EXPECT_TRUE(identical(s0 - s0, 0));
  EXPECT_TRUE(identical(2 * s0 - s0, s0));
  EXPECT_TRUE(identical(s0 * 0, 0));
  EXPECT_FALSE(identical(s0, s1));
  EXPECT_TRUE(identical(Shape{s0, 2 * s1}, Shape{s0, s1 + s1}));
}

TEST(SymExpr, Prints) {
  Int s0 = symbol(0), s1 = symbol(1);
  EXPECT_EQ(to_string(2 * s0 + s1 - 1), "2*s0 + s1 - 1");
  EXPECT_EQ(to_string(floor_div(s0, 2)), "floor_div(s0, 2)");
  EXPECT_EQ(to_string(3 - s0), "-s0 + 3");
  EXPECT_EQ(to_string(s1 * s0 * s0 - 4 * s1), "s0*s0*s1 - 4*s1");
  EXPECT_EQ(to_string(max(s1, s0) + mod(s0, 3)), "s1 + mod(s0, 3) + max(s0 - s1, 0)");
  EXPECT_EQ(to_string(IntSpan(Shape{2, s0})), "[2, s0]");
}

TEST(SymExpr, DivisionSimplifiesWhereItIsExact) {
  Int s0 = symbol(0), s1 = symbol(1);
  EXPECT_EQ(to_string(floor_div(4 * s0, 4)), "s0");
  EXPECT_EQ(to_string(floor_div(4 * s0 + 3, 2)), "2*s0 + 1");
  EXPECT_EQ(to_string(floor_div(4 * s0 + 3, 8)), "floor_div(s0, 2)");
  EXPECT_EQ(to_string(mod(4 * s0 + 3, 8)), "4*mod(s0, 2) + 3");
  EXPECT_EQ(to_string(mod(6 * s0, 3)), "0");
  EXPECT_EQ(to_string(mod(7 * s0 + 5, 3)), "mod(s0 + 2, 3)");
  EXPECT_EQ(to_string(floor_div(s0, 1)), "s0");
  EXPECT_EQ(to_string(mod(s0, 1)), "0");
  EXPECT_EQ(to_string(floor_div(s0 * s1, s1)), "s0");
  EXPECT_EQ(to_string(floor_div(s0 * s1 + s0, s1 + 1)), "s0");
  EXPECT_EQ(to_string(floor_div(floor_div(s0, 2), 3)), "floor_div(s0, 6)");
  EXPECT_EQ(to_string(floor_div(floor_div(s0 + 1, 2) + 1, 2)), "floor_div(s0 + 3, 4)");
  EXPECT_EQ(to_string(floor_div(s0 * s1, 2 * s1)), "floor_div(s0, 2)");
  EXPECT_THROW(floor_div(s0, 0), ValueError);
  Int q;
  EXPECT_TRUE(divides(s0 + 1, s0 * s0 - 1, &q));
  EXPECT_EQ(to_string(q), "s0 - 1");
  EXPECT_FALSE(divides(2, s0 + 1));
}

TEST(SymExpr, MinAndMaxOfKnownDifferenceFold) {
  Int s0 = symbol(0), s1 = symbol(1);
  EXPECT_TRUE(identical(min(s0, s0 + 2), s0));
  EXPECT_TRUE(identical(max(s0, s0 + 2), s0 + 2));
  EXPECT_TRUE(identical(min(s0, s1), min(s1, s0)));
  EXPECT_TRUE(identical(max(s0, s0), s0));
}

// Every simplification must be exact for all integers: random expressions are evaluated on numbers
// directly and through their normal form.
class RandomExpressions {
 public:
  struct Pair {
    Int symbolic, number;
  };
  explicit RandomExpressions(unsigned seed) : random_(seed) {
    for (Int& v : values_) v = pick(-7, 7);
  }
  Pair make(int depth) {
    int kind = depth == 0 ? pick(0, 1) : pick(0, 8);
    if (kind == 0) {
      Int c = pick(-4, 4);
      return {c, c};
    }
    if (kind == 1) {
      auto k = static_cast<uint32_t>(pick(0, 2));
      return {symbol(k), values_[k]};
    }
    Pair a = make(depth - 1), b = make(depth - 1);
    if (kind == 6 || kind == 7) {
      if (identical(b.number, 0)) b = {3, 3};
      if (kind == 6) return {floor_div(a.symbolic, b.symbolic), floor_div(a.number, b.number)};
      return {mod(a.symbolic, b.symbolic), mod(a.number, b.number)};
    }
    switch (kind) {
      case 2:
        return {a.symbolic + b.symbolic, a.number + b.number};
      case 3:
        return {a.symbolic - b.symbolic, a.number - b.number};
      case 4:
        return {min(a.symbolic, b.symbolic), min(a.number, b.number)};
      case 5:
        return {max(a.symbolic, b.symbolic), max(a.number, b.number)};
      default:
        return {a.symbolic * b.symbolic, a.number * b.number};
    }
  }
  Int value(Int e) const {
    return substitute(e, [&](uint32_t k) { return values_[k]; });
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::mt19937 random_;
  Int values_[3];
};

TEST(SymExpr, SimplificationIsExact) {
  for (unsigned seed = 0; seed < 3000; seed++) {
    RandomExpressions random(seed);
    auto [e, number] = random.make(4);
    ASSERT_EQ(random.value(e).value(), number.value()) << "seed " << seed << ": " << to_string(e);
  }
}

// Writing an expression anew, from its normal form, gives the same one.
TEST(SymExpr, NormalisingIsIdempotent) {
  for (unsigned seed = 0; seed < 3000; seed++) {
    RandomExpressions random(seed);
    Int e = random.make(4).symbolic;
    ASSERT_TRUE(identical(substitute(e, symbol), e))
        << "seed " << seed << ": " << to_string(e) << " and " << to_string(substitute(e, symbol));
  }
}

TEST(SymExpr, LeastAndGreatestAreOneAtom) {
  Int s0 = symbol(0), s1 = symbol(1);
  EXPECT_TRUE(identical(min(s0, s1) + max(s0, s1), s0 + s1));
  EXPECT_TRUE(identical(min(s0, 1) + max(0, s0 - min(s0, 1)), s0));
  EXPECT_TRUE(identical(min(min(s0, 5), 3), min(s0, 3)));
  EXPECT_TRUE(identical(max(max(s0, s1), s0), max(s0, s1)));
  EXPECT_TRUE(identical(max(2 * s0, 2 * s1), 2 * max(s0, s1)));
  EXPECT_TRUE(identical(-max(-s0, -s1), min(s0, s1)));
  EXPECT_EQ(to_string(max(max(s0 - 3, 0) - 4, 0)), "max(s0 - 7, 0)");
  EXPECT_EQ(to_string(max(max(s0 - s1, 0) - 4, 0)), "max(s0 - s1 - 4, 0)");
  EXPECT_EQ(to_string(max(2 * s0 - 3, 0)), "max(s0 - 1, 0) + max(s0 - 2, 0)");
}

TEST(SymExpr, QuotientsOfEveryRestAddUp) {
  Int s0 = symbol(0), sum = 0;
  for (int i = 0; i < 5; ++i) sum += floor_div(s0 + i, 5);
  EXPECT_TRUE(identical(sum, s0));
  EXPECT_TRUE(identical(ceil_div(s0, 2) + floor_div(s0, 2), s0));
  EXPECT_TRUE(identical(ceil_div(ceil_div(s0, 2), 2), ceil_div(s0, 4)));
}

TEST(SymExpr, SymbolsOf) {
  EXPECT_THAT(symbols_of(symbol(4) * floor_div(symbol(1), 2) + symbol(4)), ElementsAre(1, 4));
  EXPECT_THAT(symbols_of(7), ElementsAre());
}

TEST(SymScope, NoScopeIsATraceError) {
  try {
    symbol(0).value();
    FAIL();
  } catch (const TraceError& e) {
    EXPECT_THAT(e.what(), HasSubstr("outside its trace"));
    EXPECT_THAT(e.what(), HasSubstr("s0"));
  }
  EXPECT_THROW((void)(symbol(0) == 3), TraceError);
  EXPECT_THROW(symbol(0).hint(), TraceError);
}

struct Scoped : testing::Test {
  Scoped() { scope.enter(); }
  SymScope scope;
};
using SymScopeTest = Scoped;

TEST_F(SymScopeTest, DecidesByHintAndRecordsOnce) {
  Int s0 = scope.fresh(5);
  SiteScope line(make_site("train.py", 12));
  EXPECT_FALSE(s0 == 1);
  EXPECT_FALSE(s0 == 1);
  EXPECT_TRUE(s0 == 5 || true);
  ASSERT_EQ(scope.guards().size(), 2u);
  EXPECT_FALSE(scope.guards()[0].holds);
  EXPECT_EQ(to_string(scope.guards()[0].site), "train.py:12");
  EXPECT_TRUE(s0 == 5);
  EXPECT_EQ(s0.value(), 5);
  EXPECT_EQ(scope.guards().size(), 2u);
}

TEST_F(SymScopeTest, ValueSpecialises) {
  Int s0 = scope.fresh(5);
  EXPECT_EQ((2 * s0 + 1).value(), 11);
  ASSERT_EQ(scope.guards().size(), 1u);
  EXPECT_EQ(scope.prove(Relation::eq, s0, 5), Truth::yes);
}

TEST_F(SymScopeTest, SizesAreNotNegative) {
  Int s0 = scope.fresh(3), n = scope.fresh(-2, /*is_size=*/false);
  EXPECT_TRUE(s0 >= 0);
  EXPECT_TRUE(2 * s0 + 1 > 0);
  EXPECT_FALSE(s0 * s0 + 1 == 0);
  EXPECT_TRUE(identical(max(s0, 0), s0));
  EXPECT_TRUE(scope.guards().empty());
  EXPECT_EQ(scope.prove(Relation::lt, n, 0), Truth::unknown);
  EXPECT_TRUE(n < 0);
  EXPECT_EQ(scope.guards().size(), 1u);
}

TEST_F(SymScopeTest, EqualitiesUnify) {
  Int s0 = scope.fresh(4), s1 = scope.fresh(4), s2 = scope.fresh(8);
  EXPECT_TRUE(s0 == s1);
  EXPECT_EQ(scope.prove(Relation::eq, s0, s1), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::eq, 2 * s0, s0 + s1), Truth::yes);
  EXPECT_TRUE(scope.require(Relation::eq, s2, 2 * s0));
  EXPECT_EQ(scope.prove(Relation::eq, s2, s0 + s1), Truth::yes);
  EXPECT_TRUE(identical(scope.simplify(s2 + s1), 3 * s0));
  EXPECT_EQ(scope.guards().size(), 1u);
  EXPECT_EQ(scope.checks().size(), 1u);
}

TEST_F(SymScopeTest, FactsNarrowRanges) {
  Int s0 = scope.fresh(6), s1 = scope.fresh(2);
  EXPECT_TRUE(s0 != Int(0));
  EXPECT_TRUE(s0 > 0);
  EXPECT_TRUE(s0 >= 1);
  EXPECT_EQ(scope.guards().size(), 1u);
  EXPECT_TRUE(s1 < s0);
  EXPECT_TRUE(s1 + 1 <= s0);
  EXPECT_TRUE(2 * s1 < 2 * s0);
  EXPECT_FALSE(s1 == s0);
  EXPECT_EQ(scope.guards().size(), 2u);
  EXPECT_TRUE(s0 <= 6);
  EXPECT_TRUE(s0 >= 6);
  EXPECT_EQ(scope.prove(Relation::eq, s0, 6), Truth::yes);
}

// What is known of a sum says something of its terms, also where an equality replaced one of them.
TEST_F(SymScopeTest, SumsNarrowTheirTerms) {
  Int s0 = scope.fresh(9), s1 = scope.fresh(3), s2 = scope.fresh(4);
  EXPECT_TRUE(scope.require(Relation::eq, s0, s1 + s2 + 2));
  EXPECT_EQ(scope.prove(Relation::le, 2, s0), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, 3, s0), Truth::unknown);
  Int s3 = scope.fresh(3), s4 = scope.fresh(4);
  EXPECT_TRUE(scope.require(Relation::le, s3 + 2 * s4, 15));
  EXPECT_EQ(scope.prove(Relation::le, s4, 7), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s3, 15), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s3, 14), Truth::unknown);
}

// What is known of a quotient says something of what is divided, also where it is no number.
TEST_F(SymScopeTest, QuotientsNarrowWhatIsDivided) {
  Int s0 = scope.fresh(11), s1 = scope.fresh(9);
  EXPECT_EQ(floor_div(s0 + 1, 2).value(), 6);
  EXPECT_EQ(scope.prove(Relation::le, 11, s0), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s0, 12), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s0, 11), Truth::unknown);
  // Forms written before that are proven equal by it.
  Int d = floor_div(s1, 3) - floor_div(s0, 4);
  EXPECT_TRUE(floor_div(d, 2) < Int(1));
  EXPECT_EQ(scope.prove(Relation::le, d, 1), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::eq, max(d, 2), 2), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, d, 0), Truth::unknown);
}

// A length that is not 0 is what it would be if nothing kept it from being less.
TEST_F(SymScopeTest, SumsWithPositivePartsSayWhichCaseHolds) {
  Int s0 = scope.fresh(3), s1 = scope.fresh(14);
  const Int length = max(s1 - s0, 0);
  EXPECT_TRUE(Int(10) < length);
  EXPECT_TRUE(length <= Int(12));
  EXPECT_EQ(scope.prove(Relation::eq, length, s1 - s0), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s1 - s0, 12), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, s1 - s0, 11), Truth::unknown);
}

TEST_F(SymScopeTest, DivisibilityRefutesEquality) {
  Int s0 = scope.fresh(4);
  EXPECT_EQ(scope.prove(Relation::eq, 2 * s0, 7), Truth::no);
  EXPECT_EQ(scope.prove(Relation::lt, mod(s0, 8), 8), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, floor_div(s0, 2), s0), Truth::unknown);
  EXPECT_TRUE(scope.guards().empty());
}

TEST_F(SymScopeTest, RequireRecordsChecksAndRefusesKnownFailures) {
  Int s0 = scope.fresh(4), s1 = scope.fresh(5);
  EXPECT_FALSE(require(Relation::eq, s0, s1));
  EXPECT_TRUE(require(Relation::eq, s0, 4));
  EXPECT_TRUE(require(Relation::eq, s0, 4));
  EXPECT_FALSE(require(Relation::eq, s0, 5));
  EXPECT_EQ(scope.checks().size(), 1u);
  ASSERT_EQ(scope.guards().size(), 1u);  // whoever goes on does so for these sizes only
  EXPECT_TRUE(identical(scope.guards()[0].b, s1));
  EXPECT_FALSE(scope.guards()[0].holds);
}

TEST_F(SymScopeTest, ASymbolicDivisorIsChecked) {
  Int s0 = scope.fresh(4), s1 = scope.fresh(0);
  EXPECT_EQ(to_string(floor_div(s0 * s0, s0)), "s0");
  ASSERT_EQ(scope.checks().size(), 1u);
  EXPECT_EQ(scope.checks()[0].relation, Relation::ne);
  EXPECT_THROW(floor_div(s0, s1), ValueError);
  EXPECT_TRUE(s0 > 0);  // follows from the check
  ASSERT_EQ(scope.guards().size(), 1u);
  EXPECT_TRUE(identical(scope.guards()[0].a, s1));
}

// ── sizes of slices ──
// What core/ops/shape.cpp computes, on sizes alone.
Int slice_size(Int size, Int from, Int to, Int step = 1) {
  auto bound = [&](Int v) { return max(min(v < Int(0) ? v + size : v, size), Int(0)); };
  return ceil_div(max(bound(to) - bound(from), Int(0)), step);
}

TEST_F(SymScopeTest, SlicesOfOneSizeHaveOneForm) {
  Int s = scope.fresh(9);
  auto rest = [&](Int size, Int from) { return slice_size(size, from, size); };
  EXPECT_TRUE(identical(min(s, 1) + max(0, s - min(s, 1)), s));
  EXPECT_TRUE(identical(slice_size(s, 0, 3) + rest(s, 3), s));
  EXPECT_TRUE(identical(slice_size(s, 0, -3) + slice_size(s, -3, s), s));
  EXPECT_TRUE(identical(rest(rest(s, 2), 5), rest(s, 7)));
  EXPECT_TRUE(identical(slice_size(rest(s, 2), 0, 5), slice_size(s, 2, 7)));
  EXPECT_TRUE(identical(rest(slice_size(s, 0, 7), 2), slice_size(s, 2, 7)));
  EXPECT_TRUE(identical(slice_size(s, 0, s, 2) + slice_size(s, 1, s, 2), s));
  EXPECT_TRUE(
      identical(slice_size(slice_size(s, 0, 128) + 1, -128, 200), slice_size(s + 1, 0, 128)));
  EXPECT_EQ(to_string(slice_size(s, 1, 10)), "max(s0 - 1, 0) - max(s0 - 10, 0)");
  EXPECT_EQ(scope.prove(Relation::le, 0, slice_size(s, 1, 10)), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, slice_size(s, 1, 10), 9), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, slice_size(s, 1, 10), s), Truth::yes);
  EXPECT_TRUE(scope.guards().empty());
}

TEST_F(SymScopeTest, SlicesOfSeveralSizes) {
  Int s = scope.fresh(9), n = scope.fresh(4), k = scope.fresh(2);
  EXPECT_TRUE(identical(slice_size(s, 0, k) + slice_size(s, k, s), s));
  EXPECT_TRUE(identical(slice_size(slice_size(s, k, s), k, s), slice_size(s, 2 * k, s)));
  EXPECT_EQ(scope.prove(Relation::le, 0, min(s, n)), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, min(s, n), s), Truth::yes);
  EXPECT_EQ(scope.prove(Relation::le, min(s, n), n), Truth::yes);
  EXPECT_TRUE(
      identical(slice_size(slice_size(s + n, -64, s + n) + n, -64, s + 2 * n), min(s + 2 * n, 64)));
  EXPECT_TRUE(identical(slice_size(s + n, 0, s), s));
  EXPECT_TRUE(identical(slice_size(s + n, s, s + n), n));
  EXPECT_TRUE(scope.guards().empty());
}

TEST_F(SymScopeTest, APositivePartThatIsPositiveSaysSoOfItsInside) {
  Int s = scope.fresh(9);
  EXPECT_TRUE(scope.require(Relation::ne, max(s - 3, 0), 0));
  EXPECT_EQ(scope.prove(Relation::le, 4, s), Truth::yes);
  EXPECT_TRUE(identical(max(s - 3, 0), s - 3));
}

// Functions of one size, made of all that slices, pads and joins do, are equal for every size
// exactly if they are the same word.
TEST_F(SymScopeTest, EqualFunctionsOfOneSizeAreOneForm) {
  Int s = scope.fresh(9);
  std::mt19937 random(3);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  auto make = [&] {
    Int e = s;
    for (int step = pick(1, 4); step > 0; --step) {
      int c = pick(0, 4);
      switch (pick(0, 5)) {
        case 0:
          e = slice_size(e, c, e);
          break;
        case 1:
          e = slice_size(e, 0, c + 1);
          break;
        case 2:
          e = slice_size(e, c, c + pick(0, 4));
          break;
        case 3:
          e = e + c;
          break;
        case 4:
          e = slice_size(e, -1 - c, e);
          break;
        default:
          e = slice_size(e, 0, -1 - c) + slice_size(e, 0, 2);
      }
    }
    return e;
  };
  std::map<std::vector<int64_t>, Int> by_values;
  int met_again = 0;
  for (int i = 0; i < 4000; ++i) {
    Int e = make();
    std::vector<int64_t> values;
    for (int64_t v = 0; v < 40; ++v)
      values.push_back(substitute(e, [&](uint32_t) { return Int(v); }).value());
    auto [it, fresh] = by_values.emplace(values, e);
    met_again += !fresh;
    ASSERT_TRUE(identical(it->second, e)) << to_string(it->second) << " and " << to_string(e);
  }
  EXPECT_GT(met_again, 1000);
  EXPECT_TRUE(scope.guards().empty());
}

// As without a scope, for sizes: 0 and 1 above all.
TEST_F(SymScopeTest, SimplificationByFactsIsExact) {
  Int s[3] = {scope.fresh(0), scope.fresh(1), scope.fresh(5)};
  std::mt19937 random(5);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<std::array<int64_t, 3>> assignments;
  for (int64_t a : {0, 1, 2, 7})
    for (int64_t b : {0, 1, 3})
      for (int64_t c : {0, 1, 8}) assignments.push_back({a, b, c});
  struct Both {
    Int e;
    std::vector<Int> values;
  };
  std::function<Both(int)> make = [&](int depth) -> Both {
    int kind = depth == 0 ? pick(0, 1) : pick(0, 8);
    Both out;
    if (kind <= 1) {
      auto k = static_cast<size_t>(pick(0, 2));
      Int c = pick(-3, 3);
      out.e = kind == 0 ? c : s[k];
      for (const auto& v : assignments) out.values.push_back(kind == 0 ? c : Int(v[k]));
      return out;
    }
    Both a = make(depth - 1), b = make(depth - 1);
    Int divisor = pick(1, 4);
    auto apply = [&](Int x, Int y) -> Int {
      switch (kind) {
        case 2:
          return x + y;
        case 3:
          return x - y;
        case 4:
          return min(x, y);
        case 5:
          return max(x, y);
        case 6:
          return floor_div(x, divisor);
        case 7:
          return mod(x, divisor);
        default:
          return x * y;
      }
    };
    out.e = apply(a.e, b.e);
    for (size_t i = 0; i < assignments.size(); ++i)
      out.values.push_back(apply(a.values[i], b.values[i]));
    return out;
  };
  for (int round = 0; round < 2000; ++round) {
    Both x = make(4);
    for (size_t i = 0; i < assignments.size(); ++i) {
      auto at = [&](uint32_t k) { return Int(assignments[i][k]); };
      ASSERT_EQ(substitute(x.e, at).value(), x.values[i].value()) << to_string(x.e);
    }
    ASSERT_TRUE(identical(substitute(x.e, symbol), x.e)) << to_string(x.e);
  }
  EXPECT_TRUE(scope.guards().empty());
}

// ── cost ──
// The work of n steps, for n and for four times as many: linear up to what a chain's length adds
// to each step's terms.
using Step = Int (*)(Int size, SymScope& scope);
double growth(Step step) {
  auto work_of = [&](int n) {
    SymScope scope;
    scope.enter();
    Int size = scope.fresh(1 << 20);
    SymWork before = sym_work();
    for (int i = 0; i < n; ++i) size = step(size, scope);
    SymWork after = sym_work();
    scope.leave();
    return static_cast<double>(after.nodes - before.nodes + after.terms - before.terms);
  };
  work_of(8);  // what is interned once
  return work_of(800) / work_of(200);
}

TEST(SymCost, ChainsOfSlicesAreLinear) {
  const std::pair<const char*, Step> steps[] = {
      {"x[1:]", [](Int n, SymScope&) { return slice_size(n, 1, n); }},
      {"x[1:-1]", [](Int n, SymScope&) { return slice_size(n, 1, -1); }},
      {"x[:900]", [](Int n, SymScope&) { return slice_size(n, 0, 900); }},
      {"roll", [](Int n, SymScope&) { return slice_size(n, 1, n) + slice_size(n, 0, 1); }},
      {"pad", [](Int n, SymScope&) { return slice_size(n + 2, 1, n + 2); }},
      {"cache", [](Int n, SymScope&) { return slice_size(n + 1, -128, n + 1); }},
      {"free cache",
       [](Int n, SymScope&) { return slice_size(n + symbol(0), -64, n + symbol(0)); }},
      {"free join", [](Int n, SymScope& s) { return slice_size(n + s.fresh(3), 1, n); }},
      {"free clip", [](Int n, SymScope& s) { return slice_size(n + 1, 1, s.fresh(900)); }},
  };
  for (const auto& [name, step] : steps) EXPECT_LT(growth(step), 6) << name;
}

/// x[1:-1] of a row of x, n times; its offset is a sum of as many pieces.
Geometry chain_of_windows(Int size, int n) {
  Geometry g = Geometry::contiguous({size});
  for (int i = 0; i < n; ++i) {
    Int now = g.shape[0], start = min(Int(1), now);
    g = g.slice(0, start, max(max(now - 1, Int(0)) - start, Int(0)), 1);
  }
  return g;
}

TEST(SymCost, OffsetsOfViewsOfViewsAreLinear) {
  auto work_of = [](int n) {
    SymScope scope;
    scope.enter();
    const Int size = scope.fresh(1 << 20);
    const SymWork before = sym_work();
    chain_of_windows(size, n);
    const SymWork after = sym_work();
    scope.leave();
    return static_cast<double>(after.nodes - before.nodes + after.terms - before.terms);
  };
  work_of(8);
  EXPECT_LT(work_of(800) / work_of(200), 6);
}

TEST_F(SymScopeTest, OffsetsThatAreKeptWholeHaveTheirValues) {
  const Int size = scope.fresh(500);
  const Int offset = chain_of_windows(size, 200).offset;
  for (int64_t n : {0, 1, 2, 3, 199, 200, 399, 400, 401, 500, 9000}) {
    const Int want = chain_of_windows(Int(n), 200).offset;
    EXPECT_TRUE(identical(substitute(offset, [&](uint32_t) { return Int(n); }), want)) << n;
  }
  EXPECT_EQ(scope.hint(offset), 200);
  EXPECT_EQ(scope.prove(Relation::le, 0, offset), Truth::yes) << to_string(offset);
  EXPECT_TRUE(identical(substitute(offset, symbol), offset));
  EXPECT_EQ(symbols_of(offset).size(), 1u);
}

TEST_F(SymScopeTest, ScopesNest) {
  Int outer = scope.fresh(4);
  {
    SymScope inner;
    inner.enter();
    EXPECT_THROW(outer.value(), TraceError);
    EXPECT_EQ(SymScope::current(), &inner);
  }
  EXPECT_EQ(SymScope::current(), &scope);
  EXPECT_EQ(outer.hint(), 4);
}

// What was proven must hold for every assignment that satisfies the recorded facts.
TEST_F(SymScopeTest, ProofsAreSound) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  auto holds = [](const SymFact& f, Int a, Int b) { return decide(f.relation, a, b) == f.holds; };
  int proofs = 0;
  for (int round = 0; round < 1000; round++) {
    SymScope s;
    s.enter();
    Int x[3] = {s.fresh(pick(0, 4)), s.fresh(pick(0, 4)), s.fresh(pick(0, 4))};
    auto linear = [&] {
      return pick(-2, 2) * x[pick(0, 2)] + pick(-1, 1) * x[pick(0, 2)] + pick(-3, 3);
    };
    auto bent = [&] {
      Int e = linear();
      if (pick(0, 2) == 0) e = pick(-2, 2) * max(e, 0) + pick(-1, 1) * x[pick(0, 2)];
      if (pick(0, 2) == 0) e = pick(-1, 2) * floor_div(e, pick(2, 3)) + linear();
      return e;
    };
    std::vector<SymFact> proven;
    for (int step = 0; step < 8; step++) {
      auto relation = static_cast<Relation>(pick(0, 3));
      Int a = bent(), b = bent();
      Truth t = s.prove(relation, a, b);
      if (t != Truth::unknown)
        proven.push_back({relation, t == Truth::yes, a, b, {}});
      else
        s.decide(relation, a, b);
    }
    proofs += static_cast<int>(proven.size());
    for (int v = 0; v < 125; v++) {
      int64_t values[3] = {v % 5, v / 5 % 5, v / 25};
      auto at = [&](Int e) { return substitute(e, [&](uint32_t k) { return Int(values[k]); }); };
      bool reachable = true;
      for (const SymFact& f : s.guards()) reachable &= holds(f, at(f.a), at(f.b));
      if (!reachable) continue;
      for (const SymFact& f : proven)
        ASSERT_TRUE(holds(f, at(f.a), at(f.b))) << to_string(f.a) << " ? " << to_string(f.b);
    }
  }
  EXPECT_GT(proofs, 100);
}

}  // namespace
}  // namespace lathe
