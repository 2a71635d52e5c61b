// Every row is complete, and its shape rule holds for sizes nobody knows yet.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/grad.h"
#include "core/symexpr.h"
#include "tests/cpp/support/samples.h"

namespace lathe {
namespace {

using testing::Sample;
using testing::SampleTensor;

TEST(Rows, EveryRowHasWhatItsKindNeeds) {
  for (const Op* op : all_ops()) {
    EXPECT_FALSE(op->extra.doc.empty() && op->put_of == nullptr)
        << op->name() << " has no doc line";
    switch (op->kind) {
      case Kind::elementwise:
      case Kind::create:
      case Kind::random:
        EXPECT_TRUE(op->body) << op->name();
        break;
      case Kind::reduce:
      case Kind::scan:
        EXPECT_TRUE(op->monoid.combine) << op->name();
        break;
      case Kind::contract:
        EXPECT_FALSE(op->formula.empty()) << op->name();
        break;
      case Kind::view:
        EXPECT_NE(op->geometry, nullptr) << op->name();
        break;
      case Kind::composite:
        EXPECT_NE(op->expansion, nullptr) << op->name();
        break;
      case Kind::opaque:
        EXPECT_NE(op->extra.infer, nullptr) << op->name();
        break;
      case Kind::index:
      case Kind::sort:
        break;
    }
    // A composite's derivative is that of its parts.
    if (op->kind != Kind::composite) {
      EXPECT_NE(has_gradient(*op), op->extra.no_grad)
          << op->name() << ": a derivative, or .no_grad, but not both";
    }
  }
}

TEST(Rows, EveryKindHasARow) {
  std::set<Kind> kinds;
  for (const Op* op : all_ops()) kinds.insert(op->kind);
  EXPECT_EQ(kinds.size(), static_cast<size_t>(kKinds));
}

TEST(Rows, EveryRowHasASample) {
  std::set<std::string> have;
  for (const Sample& s : testing::samples()) have.insert(s.op);
  for (const Op* op : all_ops())
    EXPECT_TRUE(have.contains(op->name())) << op->name() << " has no line in tests/samples.txt";
}

TEST(Rows, SchemasRoundTrip) {
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

/// Shape rules never ask a symbol for its number: a value guard would be a silent specialisation.
TEST(Rows, ShapeRulesNeverSpecialise) {
  int inferred = 0;
  for (const Sample& s : testing::samples()) {
    SymScope scope;
    scope.enter();
    testing::PreparedCall call =
        testing::prepare(s, [&](const SampleTensor& t) { return symbolic(scope, t, DType::f32); });
    if (call.op->kind != Kind::composite) {
      Types types = call.op->infer(call.view());
      EXPECT_FALSE(types.empty()) << s.op;
      for (const SymFact& g : scope.guards())
        EXPECT_FALSE(g.relation == Relation::eq && g.holds && (g.a.known() || g.b.known()) &&
                     !(identical(g.a, Int(1)) || identical(g.b, Int(1))))
            << s.op << " guards " << to_string(g.a) << " == " << to_string(g.b);
      ++inferred;
    }
    scope.leave();
  }
  EXPECT_GT(inferred, 90);
}

TEST(Rows, UnknownNamesSuggestTheNearest) {
  try {
    get_op("sigmoidd");
    FAIL();
  } catch (const NameError& e) {
    EXPECT_NE(std::string(e.what()).find("sigmoid"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace lathe
