// The text of graphs: round trips, names, lines, and refusals that say where.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"

namespace lathe::ir {
namespace {

// What print() makes: every part of the format once.
constexpr const char* kEverything =
    R"(graph f(%x: f32[s0, 64], %w: f32[64, 32], %n: int(s1)) -> (f32[s0, 32], int(s1 + 1)) {
  size s0 = 5
  int s1 = -3
  int s2 = 1
  int s3 = 1
  assume s0 != 1                                            # model.py:3
  check s0 <= 4096                                          # model.py:4
  %0: f32[s0, 32] = mm(%x, %w)                              # model.py:7
  %c: f32[2] = constant [1.0, -2.5]
  %1: f32[s0, 1] = sum(%0, dim=[1], keepdim=True)           # model.py:8
  %big: bool[s0, 1] = gt(%1, 2.0)
  %2: bool[] = any(%big)
  %h: f32[s0, 32] = if %2 {
    %h.1: f32[s0, 32] = mul(%0, 0.5)                        # model.py:10
    yield %h.1
  } else {
    yield %0
  }
  %i: int(0) = constant 0
  %h.2: f32[s0, 32], %i.1: int(s3) = while (%h.3: f32[s0, 32] = %h, %i.2: int(s2) = %i) {
    %3: bool = lt(%i.2, 3)
    yield %3
  } do {
    %4: f32[s0, 32] = tanh(%h.3)
    %5: int(s2 + 1) = constant s2 + 1
    yield %4, %5
  }
  %6: f32[s0, 32] = group 'elementwise' (%a: f32[s0, 32] = %h.2) {
    %7: f32[s0, 32] = neg(%a)
    yield %7
  }
  %m: int(s1 + 1) = constant s1 + 1
  return %6, %m                                             # model.py:20
}
)";

TEST(GraphText, RoundTripIsExact) {
  Graph g = parse(kEverything);
  EXPECT_EQ(print(g), kEverything);
  EXPECT_NO_THROW(verify(g));
  EXPECT_EQ(print(g.clone()), kEverything);
}

TEST(GraphText, TypesMayBeLeftOutByHand) {
  Graph g = parse(R"(graph f(%x: f32[s0, 4], %b: f32[4]) {
    %y = tanh(add(mul(%x, 2.0), %b))  # model.py:3
    return %y
  })");
  verify(g);
  EXPECT_EQ(print(g), R"(graph f(%x: f32[s0, 4], %b: f32[4]) -> (f32[s0, 4]) {
  size s0 = 5
  %0: f32[s0, 4] = mul(%x, 2.0)
  %1: f32[s0, 4] = add(%0, %b)
  %y: f32[s0, 4] = tanh(%1)                                 # model.py:3
  return %y
}
)");
}

TEST(GraphText, LoopsAsPeopleWriteThem) {
  Graph g = parse(R"(graph f(%x: f32[s0], %n: int(s1)) {
    %i, %h = while (%i = 0, %h = %x) { %c = lt(%i, %n)  yield %c } do {
      %h1 = tanh(%h)
      yield add(%i, 1), %h1
    }
    %z = for %k in range(0, s1, 1) (%z = %h) { yield add(%z, %x) }
    return %h, %z
  })");
  verify(g);
  std::string text = print(g);
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_NE(text.find("for %k: int("), std::string::npos) << text;
}

TEST(GraphText, WritesAndCalls) {
  const char* text = R"(graph main(%x: f32[s0], %m: f32[s0]) -> (f32[s0]) {
  size s0 = 5
  %y: f32[s0] = call @half(%x)
  write %m = %y
  return %y
}

graph half(%x: f32[s0]) -> (f32[s0]) {
  size s0 = 5
  %0: f32[s0] = mul(%x, 0.5)
  return %0
}
)";
  Graph g = parse(text);
  verify(g);
  EXPECT_EQ(print(g), text);
  ASSERT_EQ(g.writes().size(), 1u);
  EXPECT_EQ(g.writes()[0].input, g.inputs()[1]);
}

TEST(GraphText, ConstantsKeepTheirBits) {
  const char* text = R"(graph main() -> () {
  %0: f32[4] = constant [0.1, -0.0, inf, 1e-45]
  %1: f16[2] = constant [0.099975586, 65504.0]
  %2: i8[2] = constant [-128, 127]
  %3: bool[1] = constant [True]
  %4: f64[] = constant [nan]
  %5: i64[0] = constant []
  %6: str = constant 'it\'s\n\x07'
  %7: float = constant 1e-07
  return
}
)";
  Graph g = parse(text);
  EXPECT_EQ(print(g), text);
  verify(g);
}

TEST(GraphText, LargeConstantsAreReferences) {
  std::vector<float> data(20, 1.5F);
  Tensor w = from_host(data.data(), DType::f32, {4, 5});
  Graph g;
  g.add_large_constant(w);
  Value* v = g.add_constant(Arg(w));
  g.set_results({v});
  std::string text = print(g);
  EXPECT_NE(text.find("%0: f32[4, 5] = const#0"), std::string::npos) << text;
  EXPECT_EQ(print(parse(text, g.constants())), text);
  EXPECT_THROW(parse(text), ValueError);
}

TEST(GraphText, HashIgnoresNamesAndLines) {
  const char* a = "graph f(%x: f32[s0]) { size s0 = 5  %y = tanh(%x)  # a.py:1\n return %y }";
  const char* b = "graph f(%u: f32[s0]) { size s0 = 9  %v = tanh(%u)  # b.py:7\n return %v }";
  const char* c = "graph f(%u: f32[s0]) { size s0 = 9  %v = exp(%u) return %v }";
  EXPECT_EQ(parse(a).hash(), parse(b).hash());
  EXPECT_NE(parse(a).hash(), parse(c).hash());
}

struct Refusal {
  const char* text;
  const char* says;
};

TEST(GraphText, RefusalsSayWhere) {
  const Refusal refusals[] = {
      {"graph f() { return %x }", "graph:1:20: this value is not defined here"},
      {"graph f(%x: f32[2]) {\n  %y = tanh(%x\n  return %y }", "graph:3:3"},
      {"graph f(%x: f32[2]) { %y = no_such_op(%x) return %y }", "no_such_op"},
      {"graph f(%x: f32[2]) { %x = tanh(%x) return %x }", "defined twice"},
      {"graph f(%x: q7[2]) { return %x }", "no tensor has this dtype"},
      {"graph f(%x: f32[-1]) { return %x }", "a size cannot be negative"},
      {"graph f(%x: tuple(f32[2], int)) { return %x }", "graph:1:13: this is no type"},
      {"surface graph f(%x: f32[2]) { return %x }", "graph:1:1: 'graph' is wanted here"},
      {"graph f(%x: f32[2]) { assign %x = %x return %x }", "a statement is wanted here"},
      {"graph f(%x: f32[2]) { %y = tanh@7(%x) return %y }", "version 7"},
      {"graph f(%x: f32[2]) -> (f32[3]) { return %x }", "stated as f32[3]"},
      {"graph f() { %c: i8[1] = constant [300] return %c }", "does not fit the dtype"},
      {"graph f() { %c: i64[1] = constant [9223372036854775808] return %c }", "does not fit"},
      {"graph f(%x: f32[4611686018427387904]) { return %x }", "this number is out of range"},
      {"graph f() { %c: f32[2] = constant [1.0] return %c }", "1 elements do not fill"},
      {"graph f(%x: f32[s0, s999999999]) { return %x }", "too many symbols"},
      {"graph f(%x: f32[2]) { %y = sum(%x, dim='a') return %y }", "wrong type"},
      {"graph f", "'(' is wanted here"},
      {"", "'graph' is wanted here"},
      {"graph f() { %t: str = constant 'abc", "does not end on its line"},
      {"graph f() { if return }", "item"},
      {"graph f() -> (int) { return f32 }", "this cannot be a value"},
  };
  for (const Refusal& r : refusals) {
    try {
      parse(r.text);
      ADD_FAILURE() << "accepted: " << r.text;
    } catch (const Error& e) {
      if (std::string_view(r.says) == "item") continue;
      EXPECT_NE(std::string(e.what()).find(r.says), std::string::npos) << e.what();
    }
  }
}

TEST(GraphText, DepthIsLimited) {
  std::string text = "graph f(%x: f32[2]) { %y = ";
  for (int i = 0; i < 100000; ++i) text += "neg(";
  EXPECT_THROW(parse(text), ValueError);
  std::string blocks = "graph f(%c: bool[]) { ";
  for (int i = 0; i < 100000; ++i) blocks += "if %c { ";
  EXPECT_THROW(parse(blocks), ValueError);
  std::string minus = "graph f(%c: f32[";
  for (int i = 0; i < 100000; ++i) minus += "floor_div(";
  EXPECT_THROW(parse(minus), Error);
}

// Cutting and changing a valid text anywhere gives an Error or another graph, never a crash.
TEST(GraphText, HostileTexts) {
  std::string text = kEverything;
  for (size_t n = 0; n < text.size(); ++n) {
    try {
      verify(parse(std::string_view(text).substr(0, n)));
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::internal) << e.what();
    }
  }
  uint64_t random = 88172645463325252;
  constexpr std::string_view kBytes = "%#(){}[],:=@+-*<>'\\ \n0159sfx_.";
  for (int round = 0; round < 3000; ++round) {
    std::string changed = text;
    for (int k = 0; k < 1 + round % 3; ++k) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      changed[random % changed.size()] = kBytes[(random >> 32) % kBytes.size()];
    }
    try {
      verify(parse(changed));
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::internal) << e.what() << "\n" << changed;
    }
  }
}

}  // namespace
}  // namespace lathe::ir
