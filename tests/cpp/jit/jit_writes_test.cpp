// Programs that write to their inputs: the last updates happen where the input lies, and a call
// that throws has written nothing.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "graph/trace/structure.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "jit/function.h"
#include "kernels/runtime/pool.h"
#include "tests/cpp/support/tensors.h"

namespace lathe {
namespace {

using testing::bytes;
using testing::normal;
using M = math_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;
using Body = absl::FunctionRef<Outputs(const Tensors&)>;

constexpr const char* kInPlace = "where the input lies that it replaces";

/// Two calls of `body`, traced and eager on copies: the same results, and the same in all inputs.
std::string same_as_eager(Body body, const Tensors& in) {
  Tensors copies;
  for (const Tensor& t : in) copies.push_back(M::clone(t));
  jit::Function f("body");
  for (int round = 0; round < 2; ++round) {
    Outputs eager = body(copies), traced = f(in, body);
    for (size_t k = 0; k < eager.size(); ++k)
      EXPECT_EQ(bytes(eager[k]), bytes(traced[k])) << "round " << round << ", result " << k;
    for (size_t k = 0; k < in.size(); ++k)
      EXPECT_EQ(bytes(copies[k]), bytes(in[k])) << "round " << round << ", input " << k;
  }
  EXPECT_EQ(f.counts().traces, 1);
  return f.explain(ir::Detail::verbose);
}

int places(std::string_view explained) {
  int n = 0;
  for (size_t at = 0; (at = explained.find(kInPlace, at)) != std::string_view::npos; ++at) ++n;
  return n;
}

Outputs update_two(const Tensors& x) {
  Tensor loss = R::sum(M::mul(x[0], x[2]));
  assign(x[0], M::sub(x[0], M::mul(x[2], 0.5)));
  assign(x[1], M::add(x[1], x[2]));
  return {loss};
}
Tensors three() { return {normal({4, 5}, 1), normal({4, 5}, 2), normal({4, 5}, 3)}; }

// One tensor for eager code and for programs: what goes in is read, seen and written where it lies.
TEST(JitWrites, AnEagerTensorGoesInWithoutACopy) {
  Tensors in = three();
  const std::byte* where[] = {in[0].data(), in[1].data()};
  jit::Function f("body");
  for (int round = 0; round < 3; ++round) {
    Outputs y = f(in, [](const Tensors& x) -> Outputs {
      assign(x[1], M::add(x[1], x[2]));
      return {S::reshape(x[0], {20}), S::select(x[0], 0, 2), S::permute(x[1], {1, 0})};
    });
    EXPECT_EQ(y[0].data(), where[0]);
    EXPECT_EQ(y[1].data(), where[0] + 2 * 5 * sizeof(float));
    EXPECT_EQ(y[2].data(), where[1]);
    EXPECT_EQ(in[1].data(), where[1]);
  }
  EXPECT_EQ(f.counts().traces, 1);
}

TEST(JitWrites, UpdatesHappenWhereTheInputLies) {
  Tensors in = three();
  const std::byte* before = in[0].data();
  uint32_t version = in[0].version();
  std::string explained = same_as_eager(update_two, in);
  EXPECT_EQ(places(explained), 1) << explained;  // of both, in one kernel
  EXPECT_EQ(in[0].data(), before);
  EXPECT_EQ(in[0].version(), version + 2);
}

TEST(JitWrites, AResultMayBeTheValueOfBefore) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor before = M::clone(x[0]);
    assign(x[0], M::mul(x[0], 2));
    return {before};
  };
  same_as_eager(body, {normal({7}, 1)});
}

TEST(JitWrites, WhatALaterUpdateReadsIsNotOverwritten) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor a = M::clone(x[0]);
    assign(x[0], M::mul(x[1], 2));
    assign(x[1], M::mul(a, 3));
    return {};
  };
  EXPECT_EQ(places(same_as_eager(body, {normal({7}, 1), normal({7}, 2)})), 1);
}

TEST(JitWrites, AnUpdateFromOtherPlacesOfItsInputIsCopied) {
  auto by_column = [](const Tensors& x) -> Outputs {
    assign(x[0], M::add(x[0], S::slice(x[0], 1, 0, 1, 1)));
    return {};
  };
  EXPECT_EQ(places(same_as_eager(by_column, {normal({6, 6}, 1)})), 0);
  auto turned = [](const Tensors& x) -> Outputs {
    assign(x[0], M::add(x[0], S::permute(x[0], {Int(1), Int(0)})));
    return {};
  };
  EXPECT_EQ(places(same_as_eager(turned, {normal({6, 6}, 1)})), 0);
  EXPECT_EQ(places(same_as_eager(turned, {normal({300, 300}, 1)})), 0);
}

TEST(JitWrites, AnUpdateThatIsAResultIsCopied) {
  auto both = [](const Tensors& x) -> Outputs {
    Tensor y = M::mul(x[0], 2);
    assign(x[0], y);
    return {y};
  };
  EXPECT_EQ(places(same_as_eager(both, {normal({6}, 1)})), 0);
}

/// A structure may hand on the input itself.
TEST(JitWrites, WhatAStructureGivesIsNotOverwritten) {
  auto copy = [](const Tensors& x) { return M::mul(x[0], 1); };
  auto branch = [&](const Tensors& x) -> Outputs {
    ir::Datum y = ir::if_(
        ir::Datum(M::gt(R::sum(x[2]), 0)), [&] { return ir::Data{ir::Datum(copy(x))}; },
        [&] { return ir::Data{ir::Datum(M::mul(x[0], 2))}; })[0];
    assign(x[0], M::add(x[0], 1));
    assign(x[1], M::mul(x[1], y.tensor()));
    return {};
  };
  auto loop = [&](const Tensors& x) -> Outputs {
    ir::Data y =
        ir::while_([&](const ir::Data& c) { return ir::Datum(M::lt(R::sum(c[0].tensor()), -1e9)); },
                   [](const ir::Data& c) { return ir::Data{ir::Datum(M::mul(c[0].tensor(), 2))}; },
                   {ir::Datum(copy(x))});
    assign(x[0], M::add(x[0], 1));
    assign(x[1], y[0].tensor());
    return {};
  };
  Tensor some = from_host(std::vector<float>{1, 2}.data(), DType::f32, {Int(2)});
  same_as_eager(branch, {normal({5}, 1), normal({5}, 2), M::clone(some)});
  same_as_eager(branch, {normal({5}, 1), normal({5}, 2), M::neg(some)});
  same_as_eager(loop, {normal({5}, 1), normal({5}, 2), M::clone(some)});
}

TEST(JitWrites, InputsThatShareMemoryAreReadBeforeTheyAreWritten) {
  jit::Function f("update");
  f(three(), update_two);
  const jit::Program& program = *f.compiled()[0]->program;
  Tensor w = normal({4, 5}, 1), v = normal({4, 5}, 2);
  Tensor loss = R::sum(M::mul(w, w)), w2 = M::sub(w, M::mul(w, 0.5)), v2 = M::add(v, w);
  ir::Data out = program.run({w, v, make_tensor(w.impl()->storage, w.dtype(), w.geometry())});
  EXPECT_EQ(bytes(out[0].tensor()), bytes(loss));
  EXPECT_EQ(bytes(w), bytes(w2));
  EXPECT_EQ(bytes(v), bytes(v2));
}

TEST(JitWrites, AFailureLeavesEveryInputAsItWas) {
  auto body = [](const Tensors& x) -> Outputs {
    assign(x[0], M::mul(x[0], 2));
    return {index_ops<Tensor>::index_select(x[0], 0, x[1])};
  };
  Tensor w = normal({4}, 1), good = from_host(std::vector<int64_t>{3}.data(), DType::i64, {Int(1)}),
         bad = from_host(std::vector<int64_t>{4}.data(), DType::i64, {Int(1)});
  jit::Function f("body");
  f({w, good}, body);
  std::string before = bytes(w);
  EXPECT_THROW(f({w, bad}, body), Error);
  EXPECT_EQ(bytes(w), before);
}

constinit int asked = 0, allowed = 0;
bool after_some() noexcept { return asked++ >= allowed; }

/// The second by a copy of what is large enough to be shared among threads.
Outputs update_and_turn(const Tensors& x) {
  assign(x[1], S::permute(x[1], {Int(1), Int(0)}));
  assign(x[0], M::add(x[0], x[2]));
  return {};
}
Tensors large() { return {normal({4}, 1), normal({300, 300}, 2), normal({4}, 3)}; }

void cancel_everywhere(Body body, Tensors (*inputs)()) {
  jit::Function f("update");
  f(inputs(), body);
  bool done = false;
  for (allowed = 0; !done && allowed < 1000; ++allowed) {
    Tensors in = inputs();
    std::string first = bytes(in[0]), second = bytes(in[1]);
    asked = 0;
    set_cancel_hook(after_some);
    try {
      f(in, body);
      done = true;
    } catch (const CancelledError&) {
    }
    set_cancel_hook(nullptr);
    EXPECT_EQ(bytes(in[0]) == first, !done) << allowed;
    EXPECT_EQ(bytes(in[1]) == second, !done) << allowed;
  }
  EXPECT_TRUE(done);
  EXPECT_GT(allowed, 1) << "nothing was asked: the test shows nothing";
}

TEST(JitWrites, CancelledBeforeOrAfterAllIsWritten) {
  cancel_everywhere(update_two, three);
  cancel_everywhere(update_and_turn, large);
}

TEST(JitWrites, WhatCannotBeWrittenIsRefusedBeforeAnythingIs) {
  jit::Function f("update");
  f(three(), update_two);
  const jit::Program& program = *f.compiled()[0]->program;
  Tensors in = three();
  std::string before = bytes(in[0]);
  Tensor expanded = S::expand(normal({1, 5}, 2), {Int(4), Int(5)});
  EXPECT_THROW(program.run({in[0], expanded, in[2]}), AliasError);
  EXPECT_EQ(bytes(in[0]), before);
}

}  // namespace
}  // namespace lathe
