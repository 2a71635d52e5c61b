#include "core/int.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/error.h"
#include "core/symexpr.h"

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
  EXPECT_EQ(to_string(min(s1, s0) + mod(s0, 3)), "mod(s0, 3) + min(s0, s1)");
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
  for (int round = 0; round < 300; round++) {
    SymScope s;
    s.enter();
    Int x[3] = {s.fresh(pick(0, 4)), s.fresh(pick(0, 4)), s.fresh(pick(0, 4))};
    auto linear = [&] {
      return pick(-2, 2) * x[pick(0, 2)] + pick(-1, 1) * x[pick(0, 2)] + pick(-3, 3);
    };
    std::vector<SymFact> proven;
    for (int step = 0; step < 8; step++) {
      auto relation = static_cast<Relation>(pick(0, 3));
      Int a = linear(), b = linear();
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
