// Scripts: each runs eagerly and as one graph, which must agree on every input; and what is refused
// says where.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/fn.h"
#include "graph/interpret.h"
#include "graph/script/compile.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "include/lathe/ops/math.h"
#include "kernels/executor.h"

namespace lathe::script {
namespace {

using ir::Data;
using ir::Datum;

Tensor floats(std::initializer_list<float> v, std::initializer_list<Int> shape = {}) {
  Shape s(shape.begin(), shape.end());
  if (shape.size() == 0) s.push_back(Int(v.size()));
  return from_host(v.begin(), DType::f32, s);
}

/// `lt.<op>` is the op, other functions of the same text are functions, `scale` is 2.5.
class Names : public Resolver {
 public:
  explicit Names(const SyntaxTree& tree) : tree_(tree) {}
  Binding resolve(const std::string& dotted) override {
    Binding b;
    if (dotted == "lt") {
      b.how = Binding::How::module;
    } else if (dotted == "scale") {
      b.how = Binding::How::value;
      b.value = Datum(Arg(2.5));
    } else if (DType d; dotted.starts_with("lt.") && parse_dtype(dotted.substr(3), d)) {
      b.how = Binding::How::value;
      b.is_dtype = true;
      b.dtype = d;
    } else if (dotted.starts_with("lt.") && find_op(dotted.substr(3)) != nullptr) {
      b.how = Binding::How::op;
      b.op = find_op(dotted.substr(3));
    } else if (int f = tree_.find(dotted); f >= 0) {
      b.how = Binding::How::function;
      b.tree = &tree_;
      b.function = f;
    } else if (dotted == "time.time") {
      b.how = Binding::How::refused;
      b.reason = "the clock is read once, and not at every call";
    }
    return b;
  }

 private:
  const SyntaxTree& tree_;
};

std::string bytes(const Datum& d) {
  if (!d.is_tensor()) return lathe::to_string(d.arg());
  Tensor c = math_ops<Tensor>::clone(d.tensor());
  return lathe::to_string(type_of(c)) +
         std::string(reinterpret_cast<const char*>(c.data()),
                     static_cast<size_t>(c.numel().value()) * size_of(c.dtype()));
}

class Script : public testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

/// The first function of the source, captured with the first call, agrees with eager on every call.
std::string same_as_eager(const char* source, const std::vector<Data>& calls) {
  SyntaxTree tree = parse_source(source, "script.py");
  Names names(tree);
  int f = tree.functions[0];
  std::vector<ir::InputSpec> specs;
  const Node& def = tree[f];
  for (size_t i = 0; i < calls[0].size(); ++i) {
    const Datum& d = calls[0][i];
    std::string name = tree[def.children[i]].text;
    if (d.is_tensor()) {
      specs.push_back(ir::spec_of(d.tensor(), name));
    } else {
      specs.push_back({.name = name, .type = ir::integer_type(d.integer())});
    }
  }
  ir::Host host;
  ir::Traced t = compile(tree, f, names, specs, host);
  std::string text = ir::print(t.graph);
  EXPECT_NO_THROW(ir::verify(t.graph)) << text;
  EXPECT_EQ(ir::print(ir::parse(text, t.graph.constants())), text);
  for (const Data& call : calls) {
    auto copy = [&] {
      Data out;
      for (const Datum& d : call)
        out.push_back(d.is_tensor() ? Datum(math_ops<Tensor>::clone(d.tensor())) : d);
      return out;
    };
    Data in = copy(), graph_in = copy();
    Data eager = run(tree, f, names, in);
    Data got = ir::returned(t, graph_in, ir::interpret(t.graph, graph_in));
    EXPECT_EQ(eager.size(), got.size()) << text;
    for (size_t i = 0; i < std::min(eager.size(), got.size()); ++i)
      EXPECT_EQ(bytes(eager[i]), bytes(got[i])) << "result " << i << "\n" << text;
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(bytes(in[i]), bytes(graph_in[i])) << "input " << i;
  }
  return text;
}

TEST_F(Script, ArithmeticCallsAndMethods) {
  same_as_eager(R"(
def f(x, y):
    """A doc string."""
    h = lt.tanh(x @ y) * scale + 1  # a comment
    h += -x.sum(dim=1, keepdim=True) / 2 ** 2
    return h.sum(0), (h > 0.5) & (h < 2), x.shape[0] * 3 + x.size(1) // 2
)",
                {{floats({1, 2, 3, 4}, {2, 2}), floats({1, 0, 0.5, 1}, {2, 2})},
                 {floats({1, 2, 3, 4, 5, 6}, {3, 2}), floats({1, 0, 0.5, 1}, {2, 2})}});
}

TEST_F(Script, TensorConditionsBecomeStructures) {
  std::string text = same_as_eager(
      R"(
def f(x, y):
    if x.sum() > y.sum():
        r = x * 10
        n = 1
    elif x.sum() > 0:
        r = y
        n = 2
    else:
        r = x - y
        n = 3
    return r, n
)",
      {{floats({1}), floats({2})}, {floats({3}), floats({2})}, {floats({-3}), floats({2})}});
  EXPECT_NE(text.find("if %"), std::string::npos) << text;
}

TEST_F(Script, WhileOnData) {
  std::string text = same_as_eager(R"(
def f(x):
    steps = 0
    while x.sum() < 100:
        x = x * 2
        steps += 1
    return x, steps
)",
                                   {{floats({1, 2})}, {floats({101, 0})}, {floats({0.5F, 0.5F})}});
  EXPECT_NE(text.find("while ("), std::string::npos) << text;
}

TEST_F(Script, RangesOverSizes) {
  std::string text =
      same_as_eager(R"(
def f(x):
    s = lt.zeros([x.shape[1]])
    for i in range(x.shape[0]):
        s = s * 2 + x[i]
    return s, i
)",
                    {{floats({1, 2, 3, 4}, {2, 2})}, {floats({1, 2, 3, 4, 5, 6}, {3, 2})}});
  EXPECT_NE(text.find("for %"), std::string::npos) << text;
}

TEST_F(Script, EarlyReturn) {
  same_as_eager(R"(
def f(x):
    if x.sum() > 10:
        return x, 1
    y = x + 1
    if y.sum() > 5:
        if y.sum() > 8:
            return y * 2, 2
        y = y - 3
    return y, 3
)",
                {{floats({20, 1})}, {floats({3, 2})}, {floats({5, 2})}, {floats({0, 0})}});
}

TEST_F(Script, BreakAndContinueOnData) {
  same_as_eager(R"(
def f(x):
    s = x * 0
    for i in range(100):
        x = x * 1.5
        if x.sum() > 50:
            break
        if x.sum() < 3:
            continue
        s = s + x
    return s, x
)",
                {{floats({0.1F, 0.2F})}, {floats({40, 20})}, {floats({1, 1})}});
  same_as_eager(R"(
def f(x):
    n = 0
    while True:
        n = n + 1
        x = x * 2
        if x.sum() > 50 or n > 20:
            break
    return x, n
)",
                {{floats({1})}, {floats({0})}, {floats({60})}});
}

TEST_F(Script, NestedLoopsOfNumbers) {
  same_as_eager(
      R"(
def f(x, n):
    s = 0
    for i in range(n):
        for j in range(3):
            s += i * 10 + j
    return x * s
)",
      {{floats({1}), Datum(Arg(3))}, {floats({1}), Datum(Arg(7))}, {floats({1}), Datum(Arg(0))}});
}

TEST_F(Script, WritesAndViews) {
  same_as_eager(
      R"(
def f(x, y):
    x[0] = 5.0
    x[1:] += y[1:]
    v = x.view(-1)
    v.mul_(2)
    x += 1
    return v[0], x.T, y[None, :1]
)",
      {{floats({1, 2, 3, 4, 5, 6}, {3, 2}), floats({1, 2, 3, 4, 5, 6}, {3, 2})},
       {floats({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}), floats({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})}});
}

TEST_F(Script, FunctionsTuplesAndDefaults) {
  same_as_eager(R"(
def f(x, y):
    a, (b, c) = pair(x, k=3), (y, None)
    if c is None:
        a, b = b, a
    for t in (x, y, a[0] if len(x.shape) > 1 else a):
        b = b if isinstance_free(t) else b
    return a, b

def pair(x, k=2):
    return x * k

def isinstance_free(t):
    return True
)",
                {{floats({1, 2}), floats({3, 4})}});
}

TEST_F(Script, RecursionOnNumbers) {
  SyntaxTree tree = parse_source(R"(
def f(x, n):
    return x if n == 0 else f(x * 2, n - 1) + n
)",
                                 "script.py");
  Names names(tree);
  Data out = run(tree, tree.functions[0], names, {floats({1}), Datum(Arg(4))});
  EXPECT_EQ(bytes(out[0]), bytes(Datum(floats({26}))));
}

TEST_F(Script, BooleansShortCircuit) {
  same_as_eager(R"(
def f(x, n):
    k = n or 7
    if n < 2 and x.sum() > 0:
        k += 10
    if 0 < x.sum() < 5 and not x.sum() == 3:
        k += 100
    return x + k
)",
                {{floats({1, 1}), Datum(Arg(5))}});
}

struct Refused {
  const char* source;
  int line;
  const char* says;
};

TEST_F(Script, RefusalsNameTheLine) {
  const Refused cases[] = {
      {"def f(x):\n    y = 1\n    try:\n        y = 2\n    except E:\n        pass\n    return x\n",
       3, "'try'"},
      {"def f(x):\n    with g():\n        pass\n    return x\n", 2, "'with'"},
      {"def f(x):\n    return float(x.sum())\n", 2, "float()"},
      {"def f(x):\n    return x.item()\n", 2, "item"},
      {"def f(x):\n    if x.sum() > 0:\n        y = x\n    return y\n", 4, "may be undefined"},
      {"def f(x):\n    return unknown(x)\n", 2, "'unknown' is not defined"},
      {"def f(x):\n\n    return time.time()\n", 3, "clock"},
      {"def f(x):\n    x.shape = 3\n    return x\n", 2, "attribute is assigned"},
      {"def f(x):\n    return lambda: x\n", 2, "cannot be part of a script"},
      {"def f(x):\n    return [i for i in x]\n", 2, "comprehension"},
      {"def f(x)\n    return x\n", 1, "':' is wanted"},
      {"def f(x):\n  return x\n   return x\n", 3, "indented"},
      {"def f(x):\n    return (x\n", 2, "not closed"},
      {"def f(x):\n    a, b = x, x, x\n    return a\n", 2, "taken apart"},
      {"x = 3\n", 1, "'def' is wanted"},
      {"def f(x):\n    return f'{x}'\n", 2, "f-string"},
  };
  for (const Refused& c : cases) {
    try {
      SyntaxTree tree = parse_source(c.source, "script.py");
      Names names(tree);
      ir::InputSpec spec[] = {ir::spec_of(floats({1, 2}), "x")};
      ir::Host host;
      compile(tree, tree.functions[0], names, spec, host);
      ADD_FAILURE() << "accepted:\n" << c.source;
    } catch (const ScriptError& e) {
      std::string text = e.what();
      EXPECT_NE(text.find(c.says), std::string::npos) << text;
      EXPECT_NE(text.find("script.py:" + std::to_string(c.line)), std::string::npos) << text;
    }
  }
}

TEST_F(Script, WhatIsReadIsListed) {
  SyntaxTree tree = parse_source(
      "def f(x):\n    y = self.fc.weight @ x\n    return F.relu(y) * k + y.sum()\n", "s.py");
  std::vector<std::string> names;
  for (const Reference& r : reads(tree, tree.functions[0])) names.push_back(r.dotted);
  EXPECT_EQ(names, (std::vector<std::string>{"self.fc.weight", "F.relu", "k"}));
}

TEST_F(Script, TreesPrint) {
  SyntaxTree tree = parse_source("def f(x):\n    return -x ** 2 + 1 < 3 and x\n", "s.py");
  EXPECT_EQ(print(tree), R"(function f
  parameter x
    none
    none
  block
    return
      boolean and
        compare <
          binary +
            unary -
              binary **
                name x
                constant 2
            constant 1
          constant 3
        name x
)");
}

TEST_F(Script, HostileSources) {
  std::string good = R"(
def f(x, y=1):
    for i in range(3):
        if x[0, 1:2] > 0:
            x += i * (2 - y)
        else:
            continue
    return x, [1, 'a'], not x
)";
  for (size_t n = 0; n < good.size(); ++n) {
    try {
      parse_source(good.substr(0, n), "s.py");
    } catch (const ScriptError&) {
    }
  }
  uint64_t random = 88172645463325252;
  constexpr std::string_view kBytes = "()[]{}:,.+-*/=<>'\" \n\t\\#@0aixifdef";
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    bad[random % bad.size()] = kBytes[(random >> 32) % kBytes.size()];
    try {
      parse_source(bad, "s.py");
    } catch (const ScriptError&) {
    }
  }
  EXPECT_THROW(parse_source("def f(x):\n  return " + std::string(100000, '('), "s.py"),
               ScriptError);
  EXPECT_THROW(parse_source("def f(x):\n  return " + std::string(100000, '-') + "1", "s.py"),
               ScriptError);
  std::string nots = "def f(x):\n  return ";
  for (int i = 0; i < 50000; ++i) nots += "not ";
  EXPECT_THROW(parse_source(nots + "1", "s.py"), ScriptError);
}

}  // namespace
}  // namespace lathe::script
