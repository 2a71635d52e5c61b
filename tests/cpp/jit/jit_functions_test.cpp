// Functions that call each other or themselves, and loops that do not end, compiled and node by
// node.
#include <gtest/gtest.h>

#include "core/base/cancel.h"
#include "core/base/error.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "jit/saved_program.h"
#include "tests/cpp/support/tensors.h"

namespace lathe {
namespace {

using ir::Data;
using testing::bytes;
using testing::normal;

/// What both ways of running a text throw, or nothing where they agree.
template <class Expected>
void both_throw(std::string_view text, const Data& in, std::string_view problem) {
  ir::Graph g = ir::parse(text);
  ir::verify(g);
  const jit::SavedProgram compiled(g.clone());
  for (bool whole : {false, true}) {
    try {
      whole ? compiled.run(in) : ir::interpret(g, in);
      ADD_FAILURE() << "nothing is thrown";
    } catch (const Expected& e) {
      EXPECT_NE(e.parts().problem.find(problem), std::string::npos) << e.what();
    }
  }
}

TEST(JitFunctions, CallThemselvesAndEachOther) {
  ir::Graph g = ir::parse(R"(graph f(%x: f32[s0], %n: int) {
    %r: f32[s0] = call @g(%x, %n)
    return %r }
  graph g(%x: f32[s0], %n: int) {
    %c = eq(%n, 0)
    %r = if %c { yield %x } else {
      %d = mul(%x, 2.0)
      %m = sub(%n, 1)
      %e: f32[s0] = call @h(%d, %m)
      yield add(%e, %n)
    }
    return %r }
  graph h(%x: f32[s0], %n: int) {
    %r: f32[s0] = call @g(%x, %n)
    return tanh(%r) })");
  ir::verify(g);
  const jit::SavedProgram compiled(g.clone());
  for (int n : {0, 1, 5, 100}) {
    Data in{normal({3}, 1), Arg(Int(n))};
    EXPECT_EQ(bytes(compiled.run(in)[0].tensor()), bytes(ir::interpret(g, in)[0].tensor())) << n;
  }
}

TEST(JitFunctions, RecursionWithoutAnEnd) {
  both_throw<ValueError>("graph f(%x: f32[3]) { %y: f32[3] = call @f(%x) return %y }",
                         {normal({3}, 1)}, "the recursion is too deep");
  both_throw<ValueError>(R"(graph f(%x: f32[3]) { %y: f32[3] = call @g(%x) return %y }
    graph g(%x: f32[3]) { %y: f32[3] = call @f(%x) return %y })",
                         {normal({3}, 1)}, "the recursion is too deep");
}

TEST(JitFunctions, ARangeOfStepZero) {
  both_throw<ValueError>(R"(graph f(%x: f32[3], %n: int) {
    %y = for %i in range(0, 3, %n) (%h = %x) { yield tanh(%h) }
    return %y })",
                         {normal({3}, 1), Arg(Int(0))}, "the step of a range is zero");
}

TEST(JitFunctions, ALoopOfNumbersWithoutAnEndIsInterrupted) {
  set_cancel_hook([]() noexcept {
    thread_local int asked = 0;
    return ++asked % 1000 == 0;
  });
  both_throw<CancelledError>(R"(graph f(%n: int) -> (int) {
    %i: int = while (%i.1: int = %n) { %c: bool = lt(%i.1, 1000000000000) yield %c } do {
      %m: int = sub(%i.1, 1)
      yield %m }
    return %i })",
                             {Arg(Int(3))}, "cancelled");
  set_cancel_hook(nullptr);
}

}  // namespace
}  // namespace lathe
