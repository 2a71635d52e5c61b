#include "core/op/args.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

TEST(Args, TypedAccess) {
  Tensor t = scalar_tensor(1.0, DType::f32);
  Arg items[] = {1, symbol(0)};
  ArgList list{items, 2};
  Arg raw[] = {t, 3, 2.5, true, DType::f16, Device{}, "mean", list, Tensor()};
  Args args(raw, std::size(raw));
  EXPECT_TRUE(same(args.tensor(0), t));
  EXPECT_EQ(args.integer(1).value(), 3);
  EXPECT_EQ(args.integer(3).value(), 1);
  EXPECT_EQ(args.real(1), 3.0);
  EXPECT_EQ(args.real(2), 2.5);
  EXPECT_TRUE(args.flag(3));
  EXPECT_EQ(args.dtype(4), DType::f16);
  EXPECT_EQ(args.device(5), Device{});
  EXPECT_EQ(args.text(6), "mean");
  EXPECT_EQ(to_string(IntSpan(args.ints(7))), "[1, s0]");
  EXPECT_EQ(args.ints(1).size(), 1u);
  EXPECT_TRUE(args.none(8));
  EXPECT_FALSE(args.optional_tensor(8).defined());
  EXPECT_EQ(args.shape(0).size(), 0u);
  EXPECT_THROW(args.tensor(8), TypeError);
  EXPECT_THROW(args.flag(1), InternalError);
  EXPECT_THROW(args.text(1), InternalError);
  EXPECT_THROW(args.integer(2), InternalError);
}

TEST(Args, Print) {
  Arg items[] = {1, symbol(0)};
  ArgList list{items, 2};
  EXPECT_EQ(to_string(Arg(2)), "2");
  EXPECT_EQ(to_string(Arg(0.5)), "0.5");
  EXPECT_EQ(to_string(Arg(1.0)), "1.0");
  EXPECT_EQ(to_string(Arg(1e-5)), "1e-05");
  EXPECT_EQ(to_string(Arg(-INFINITY)), "-inf");
  EXPECT_EQ(to_string(Arg(0.1f + 0.0)), "0.10000000149011612");
  EXPECT_EQ(to_string(Arg(true)), "True");
  EXPECT_EQ(to_string(Arg(DType::f32)), "f32");
  EXPECT_EQ(to_string(Arg("it's\n")), "'it\\'s\\n'");
  EXPECT_EQ(to_string(Arg(list)), "[1, s0]");
  EXPECT_EQ(to_string(Arg()), "None");
  EXPECT_EQ(to_string(Arg(scalar_tensor(1, DType::i64))), "i64[]");
}

TEST(Args, EqualityIsByValueAndByBits) {
  EXPECT_TRUE(equal(1, 1));
  EXPECT_FALSE(equal(1, 1.0));
  EXPECT_FALSE(equal(1, true));
  EXPECT_TRUE(equal(NAN, NAN));
  EXPECT_FALSE(equal(0.0, -0.0));
  EXPECT_TRUE(equal("ab", std::string("ab").c_str()));
  EXPECT_TRUE(equal(symbol(0) + 1, 1 + symbol(0)));
  Arg a[] = {1, 2}, b[] = {1, 2}, c[] = {1, 3};
  ArgList la{a, 2}, lb{b, 2}, lc{c, 2}, ld{c, 1};
  EXPECT_TRUE(equal(la, lb));
  EXPECT_FALSE(equal(la, lc));
  EXPECT_FALSE(equal(lc, ld));
  Tensor t = scalar_tensor(1, DType::i64);
  EXPECT_TRUE(equal(t, Tensor(t)));
  EXPECT_FALSE(equal(t, scalar_tensor(1, DType::i64)));
}

TEST(ArgVec, OwnsDeeply) {
  Tensor t = scalar_tensor(4, DType::i64);
  ArgVec kept;
  {
    std::string text = "a text that is longer than any small buffer";
    Arg inner[] = {t, text.c_str()};
    ArgList inner_list{inner, 2};
    Arg outer[] = {inner_list, 7};
    ArgList outer_list{outer, 2};
    Arg raw[] = {outer_list, t, text.c_str()};
    kept = ArgVec(Args(raw, 3));
    text.assign(text.size(), 'x');
    std::fill(std::begin(inner), std::end(inner), Arg());
  }
  ArgVec copy = kept, moved = std::move(kept);
  kept = ArgVec();
  EXPECT_EQ(to_string(moved[0]), "[[i64[], 'a text that is longer than any small buffer'], 7]");
  for (size_t i = 0; i < 3; i++) EXPECT_TRUE(equal(copy[i], moved[i]));
  EXPECT_EQ(t.impl()->refs.load(), 5u);
  copy.set(1, 3);
  copy.push("more");
  EXPECT_EQ(copy.size(), 4u);
  EXPECT_EQ(copy.view().integer(1).value(), 3);
  moved = ArgVec();
  copy = ArgVec();
  EXPECT_EQ(t.impl()->refs.load(), 1u);
}

}  // namespace
}  // namespace lathe
