// Rules that a program adds to those of graph/rules/. Those there are when a graph is captured are
// what it is rewritten by, then and later: a program keeps the set it began with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/rewrite/rule.h"

namespace lathe::ir {

struct UserRule {
  std::string pattern, replacement, where;
  Exactness exactness = Exactness::exact;
  Site site;       // where it was added
  int64_t id = 0;  // given when it is
  /// "log(exp(x)) -> x (model.py:3)", as reports name it.
  std::string title() const;
};

/// A set that nobody changes any more.
class UserRules {
 public:
  explicit UserRules(std::vector<UserRule> rules);
  const std::vector<UserRule>& rules() const { return rules_; }
  /// One walk, the pass `user_rules`; how many fired.
  int apply(Graph& graph, Rewrites& rewrites) const;
  static constexpr std::string_view kPass = "user_rules";

 private:
  std::vector<UserRule> rules_;
  std::vector<std::string> titles_;
  std::unique_ptr<RuleSet> set_;
};
using UserRulesRef = std::shared_ptr<const UserRules>;

/// Adds a rule for what is captured from now on, and gives its number. ValueError or NameError that
/// names the column where a text is wrong: an op that there is not, that draws random numbers or is
/// recorded as its parts; a variable that the pattern does not bind; a rule that feeds itself.
int64_t add_user_rule(UserRule rule);
/// False if there is none of this number any more.
bool remove_user_rule(int64_t id);
/// Those there are now; never null.
UserRulesRef user_rules();
/// The set without any, for what the user does not capture.
const UserRulesRef& no_user_rules();

}  // namespace lathe::ir
