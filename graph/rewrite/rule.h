// Rewrite rules: text in, text out.
//
//   {"cast_of_cast", Exactness::exact, "cast(cast(x, a), b)", "cast(x, b)", [](Match& m) { ... }}
//
// In `from`, a bare name is a variable: it stands for a value or a literal argument, and the same
// name for the same one. A parameter that is not mentioned must have its default. In `to`,
// variables are what they matched, or what `when` bound. Where the order of arguments does not
// matter, each order is a rule of its own or the literal goes last (the pass `canonicalise`),
// unless the set is asked to try every order.
//
// An exact rule keeps every bit, NaNs counted as one; an approximate one runs only where asked for.
// Whatever a rule says, it is applied only if the result has the type of what it replaces, and if
// it takes nothing for granted about sizes that the graph does not state.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "graph/ir/arguments.h"
#include "graph/rewrite/rewrites.h"

namespace lathe::ir {

enum class Exactness : uint8_t { exact, approximate };

/// What a rule's variables stand for, for its condition to look at.
class Match {
 public:
  Node* root() const { return root_; }
  bool is_value(std::string_view variable) const { return at(variable).value != nullptr; }
  bool is_tensor(std::string_view variable) const {
    return is_value(variable) && at(variable).value->type().tensor() != nullptr;
  }
  Value* value(std::string_view variable) const;        // InternalError if it is a literal
  const Arg& literal(std::string_view variable) const;  // InternalError if it is a value
  const TensorType& type(std::string_view variable) const { return value(variable)->tensor(); }
  DType dtype(std::string_view variable) const { return type(variable).dtype; }
  int rank(std::string_view variable) const {
    return static_cast<int>(type(variable).shape.size());
  }
  /// The tensor of a constant; undefined if it is none.
  Tensor constant(std::string_view variable) const;
  /// Laid out row-major, because what makes it always gives it so?
  bool packed(std::string_view variable) const;
  /// Has the node of this op that was matched below the root no other use?
  bool single_use(std::string_view op) const;
  /// Defines a variable for `to`.
  void bind(std::string_view variable, const Arg& literal);
  void bind(std::string_view variable, const Tensor& constant);

 private:
  friend class RuleSet;
  friend class Matcher;
  const Given& at(std::string_view variable) const;
  Node* root_ = nullptr;
  std::map<std::string, Given, std::less<>> variables_;
  std::map<std::string, Tensor, std::less<>> new_constants_;
  std::vector<Node*> nodes_;  // matched, the root first
  ArgVec owned_;
};

struct Rule {
  std::string_view name;
  Exactness exactness;
  std::string_view from, to;
  bool (*when)(Match&) = nullptr;
  std::string_view where = {};  // the same as text, for dtypes and ranks (condition.h)
};

struct Pattern;

/// Rules ready to be applied. Built from their texts; ValueError if one cannot be read.
class RuleSet {
 public:
  /// `most_orders`: each rule also fits where operands of commutative ops stand the other way
  /// round, in up to so many orders together; 1: as it is written.
  explicit RuleSet(absl::Span<const Rule> rules, size_t most_orders = 1);
  ~RuleSet();
  RuleSet(RuleSet&&) noexcept;
  /// One walk over the graph; how many rules fired. `pass` is the name they are switched off by
  /// together.
  int apply(Graph& graph, Rewrites& rewrites, std::string_view pass,
            Exactness most = Exactness::exact) const;
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  struct Ready;
  bool try_rule(Graph& graph, Node* node, const Ready& rule, Rewrites& rewrites,
                std::string_view pass, std::optional<GraphScope>& scope) const;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<Ready>> ready_;
  absl::flat_hash_map<const Op*, std::vector<const Ready*>> by_root_;
};

// The rules there are (graph/rules/).
absl::Span<const Rule> algebra_rules();
absl::Span<const Rule> cast_rules();
absl::Span<const Rule> view_rules();
absl::Span<const Rule> batch_norm_rules();

}  // namespace lathe::ir
