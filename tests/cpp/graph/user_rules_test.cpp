// Rules that a program adds: which texts are taken, what fits, and who keeps which set.
#include "graph/rewrite/user_rules.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "graph/ir/text.h"
#include "graph/pipeline.h"

namespace lathe::ir {
namespace {

class UserRulesTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const UserRule& r : std::vector(user_rules()->rules())) remove_user_rule(r.id);
  }
  static std::string rewritten(std::string_view body, const UserRulesRef& rules) {
    Graph g = parse(std::string("graph f(%x: f32[2, 3], %y: f32[2, 3]) -> (f32[2, 3]) {\n")
                        .append(body)
                        .append("\n}\n"));
    optimise(g, {.rules = rules});
    return print(g);
  }
};

TEST_F(UserRulesTest, EveryOrderOfCommutativeOperandsFits) {
  add_user_rule({.pattern = "add(mul(x, y), neg(y))", .replacement = "mul(y, sub(x, 1))"});
  for (const char* sum : {"add(mul(%x, %y), neg(%y))", "add(neg(%y), mul(%x, %y))",
                          "add(mul(%y, %x), neg(%y))", "add(neg(%y), mul(%y, %x))"}) {
    const std::string text = rewritten(std::string("%r = ") + sum + "\nreturn %r", user_rules());
    EXPECT_NE(text.find("sub(%x"), std::string::npos) << sum << "\n" << text;
  }
  const std::string other = rewritten("%r = add(mul(%x, %y), neg(%x))\nreturn %r", user_rules());
  EXPECT_NE(other.find("sub(%y"), std::string::npos) << other;
}

TEST_F(UserRulesTest, ASetIsKeptAsItWas) {
  const UserRulesRef before = user_rules();
  const int64_t id =
      add_user_rule({.pattern = "log(exp(x))", .replacement = "x", .where = "rank(x) == 2"});
  const UserRulesRef with = user_rules();
  EXPECT_TRUE(remove_user_rule(id));
  EXPECT_FALSE(remove_user_rule(id));
  const char* body = "%r = log(exp(%x))\nreturn %r";
  EXPECT_NE(rewritten(body, before).find("log("), std::string::npos);
  EXPECT_EQ(rewritten(body, with).find("log("), std::string::npos);
  EXPECT_NE(rewritten(body, user_rules()).find("log("), std::string::npos);
}

TEST_F(UserRulesTest, WrongTextsNameTheColumn) {
  auto said = [](UserRule rule) -> std::string {
    try {
      add_user_rule(std::move(rule));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  auto names = [&](UserRule rule, std::string_view where) {
    const std::string text = said(rule);
    EXPECT_NE(text.find(where), std::string::npos) << rule.pattern << ": " << text;
  };
  names({.pattern = "log(exq(x))", .replacement = "x"}, "pattern:1:5");
  names({.pattern = "neg(x)", .replacement = "abs(y)"}, "replacement:1:5");
  names({.pattern = "neg(x)", .replacement = "x", .where = "rank(y) == 1"}, "where:1:6");
  names({.pattern = "neg(x)", .replacement = "abs(neg(x))"}, "feeds itself");
  const char* deep = "add(add(add(add(add(add(add(a, b), c), d), e), f), g), h)";
  names({.pattern = deep, .replacement = "a"}, "either order");
  EXPECT_TRUE(user_rules()->rules().empty());
}

}  // namespace
}  // namespace lathe::ir
