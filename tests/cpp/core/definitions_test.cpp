// Every definition is complete, and its shape rule holds for sizes nobody knows yet.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/dispatch/custom.h"
#include "core/dispatch/grad.h"
#include "core/sizes/symexpr.h"
#include "tests/cpp/support/samples.h"

namespace lathe {
namespace {

using testing::Sample;
using testing::SampleTensor;

/// What the definition lacks of what its kind needs.
std::vector<std::string> lacks(const Op& op) {
  std::vector<std::string> out;
  auto need = [&](bool there, const char* what) {
    if (!there) out.emplace_back(what);
  };
  const bool follows = op.put_of != nullptr || op.role != 0;  // from another definition
  need(!op.extra.doc.empty() || follows, "a doc line");
  switch (op.kind) {
    case Kind::elementwise:
    case Kind::create:
    case Kind::random:
      need(static_cast<bool>(op.body), "a body");
      break;
    case Kind::reduce:
    case Kind::scan:
      need(static_cast<bool>(op.monoid.combine), "a monoid");
      break;
    case Kind::contract:
      need(!op.formula.empty(), "a formula");
      break;
    case Kind::view:
      need(op.geometry != nullptr, "a geometry rule");
      break;
    case Kind::composite:
      need(op.expansion != nullptr, "an expansion");
      break;
    case Kind::opaque:
      need(op.extra.infer != nullptr || custom_of(op) != nullptr, "a shape rule");
      break;
    case Kind::index:
    case Kind::sort:
      break;
  }
  // A composite's derivative is that of its parts.
  if (op.kind != Kind::composite)
    need(has_gradient(op) != op.extra.no_grad, "a derivative or .no_grad, and not both");
  return out;
}

TEST(Definitions, EveryDefinitionHasWhatItsKindNeeds) {
  for (const Op* op : all_ops())
    for (const std::string& what : lacks(*op)) ADD_FAILURE() << op->name() << " lacks " << what;
}

TEST(Definitions, IncompleteDefinitionsAreFound) {
  auto first = [](Op op) {
    auto all = lacks(op);
    return all.empty() ? std::string() : all[0];
  };
  const Op& relu = get_op("relu");
  EXPECT_EQ(first(relu), "");
  Op bad = relu;
  bad.extra.doc = {};
  EXPECT_EQ(first(bad), "a doc line");
  bad = relu;
  bad.body = nullptr;
  EXPECT_EQ(first(bad), "a body");
  bad = relu;
  bad.extra.no_grad = true;
  bad.extra.grad = nullptr;
  EXPECT_EQ(first(bad), "");
  bad.kind = Kind::opaque;
  EXPECT_EQ(first(bad), "a shape rule");
  bad = get_op("sum");
  bad.extra.grad = nullptr;
  EXPECT_EQ(first(bad), "a derivative or .no_grad, and not both");
  bad = get_op("mm");
  bad.formula = {};
  EXPECT_EQ(first(bad), "a formula");
  bad = get_op("permute");
  bad.geometry = nullptr;
  EXPECT_EQ(first(bad), "a geometry rule");
}

TEST(Definitions, EveryKindHasARow) {
  std::set<Kind> kinds;
  for (const Op* op : all_ops()) kinds.insert(op->kind);
  EXPECT_EQ(kinds.size(), static_cast<size_t>(kKinds));
}

TEST(Definitions, EveryDefinitionHasASample) {
  std::set<std::string> have;
  for (const Sample& s : testing::samples()) have.insert(s.op);
  for (const Op* op : all_ops())
    EXPECT_TRUE(have.contains(op->name()) || custom_of(*op) != nullptr || testing::scratch(*op))
        << op->name() << " has no line in tests/samples/*.txt";
}

TEST(Definitions, SchemasRoundTrip) {
  for (const Op* op : all_ops()) EXPECT_EQ(parse_schema(op->schema.text).text, op->schema.text);
}

/// A symbolic tensor whose every size is a fresh symbol with the sample's size as its hint.
Tensor symbolic(SymScope& scope, const SampleTensor& t, DType real) {
  auto* impl = new TensorImpl;
  impl->dtype = t.kind == 'c'                    ? DType::c64
                : t.kind == 'b'                  ? DType::bool_
                : t.kind == 'i' || t.kind == 'n' ? DType::i64
                                                 : real;
  Shape shape;
  for (Int s : t.shape) shape.push_back(scope.fresh(s.value()));
  impl->geometry = Geometry::contiguous(shape);
  impl->symbol = {1, 1};
  return Tensor(impl);
}

/// Guards that bind a symbol to one number: a silent specialisation. 1 is what broadcasting asks.
std::vector<std::string> specialisations(const SymScope& scope) {
  std::vector<std::string> out;
  for (const SymFact& g : scope.guards())
    if (g.relation == Relation::eq && g.holds && (g.a.known() || g.b.known()) &&
        !(identical(g.a, Int(1)) || identical(g.b, Int(1))))
      out.push_back(absl::StrCat(to_string(g.a), " == ", to_string(g.b)));
  return out;
}

TEST(Definitions, ASpecialisingShapeRuleIsFound) {
  SymScope scope;
  scope.enter();
  Int size = scope.fresh(5);
  EXPECT_TRUE(specialisations(scope).empty());
  Shape later{Int(size.value() + 1)};  // "int64_t now, symbolic later"
  EXPECT_EQ(specialisations(scope).size(), 1u);
  scope.leave();
}

/// Shape rules never ask a symbol for its number.
TEST(Definitions, ShapeRulesNeverSpecialise) {
  int inferred = 0;
  for (const Sample& s : testing::samples()) {
    SymScope scope;
    scope.enter();
    testing::PreparedCall call =
        testing::prepare(s, [&](const SampleTensor& t) { return symbolic(scope, t, DType::f32); });
    if (call.op->kind != Kind::composite) {
      Types types = call.op->infer(call.view());
      EXPECT_NE(types.empty(), s.gives()) << s.op;
      for (const std::string& guard : specialisations(scope))
        ADD_FAILURE() << s.op << " guards " << guard;
      ++inferred;
    }
    scope.leave();
  }
  EXPECT_GT(inferred, 90);
}

TEST(Definitions, UnknownNamesSuggestTheNearest) {
  try {
    get_op("sigmoidd");
    FAIL();
  } catch (const NameError& e) {
    EXPECT_NE(std::string(e.what()).find("sigmoid"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace lathe
