#include "core/base/error.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/site.h"

namespace lathe {
namespace {

TEST(Error, TextIsStable) {
  ShapeError e({.op = "mm",
                .problem = "the inner sizes differ",
                .got = "a[2, 3] @ b[4, 5]",
                .expected = "a[m, k] @ b[k, n]",
                .next = "transpose one of them",
                .site = make_site("train.py", 12)});
  EXPECT_STREQ(e.what(),
               "mm: the inner sizes differ\n"
               "  got:      a[2, 3] @ b[4, 5]\n"
               "  expected: a[m, k] @ b[k, n]\n"
               "  at:       train.py:12\n"
               "  next:     transpose one of them");
  EXPECT_EQ(e.kind(), ErrorKind::shape);
  EXPECT_STREQ(error_name(e.kind()), "ShapeError");
}

TEST(Error, AbsentPartsAreLeftOut) {
  EXPECT_STREQ(ValueError({.problem = "no"}).what(), "no");
  EXPECT_STREQ(ValueError({.op = "f", .problem = "no", .expected = "yes"}).what(),
               "f: no\n  expected: yes");
}

TEST(Error, LinesOfAPartAreAligned) {
  EXPECT_STREQ(TraceError({.problem = "p", .next = "one\ntwo"}).what(),
               "p\n  next:     one\n            two");
}

TEST(Error, UnknownSiteIsTheCurrentOne) {
  SiteScope scope(make_site("model.py", 3));
  ValueError e({.problem = "no"});
  EXPECT_EQ(to_string(e.parts().site), "model.py:3");
  EXPECT_STREQ(e.what(), "no\n  at:       model.py:3");
}

TEST(Error, InternalErrorsNameOurLineWithoutThePathBeforeIt) {
  try {
    internal_error("/somewhere/else/core/tensor/tensor.cpp", 7, "x");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::internal);
    EXPECT_EQ(e.parts().problem, "internal: x (core/tensor/tensor.cpp:7)");
  }
  try {
    internal_error("../../jit/function.cpp", 8, "y");
  } catch (const Error& e) {
    EXPECT_EQ(e.parts().problem, "internal: y (jit/function.cpp:8)");
  }
  EXPECT_THROW(LATHE_CHECK(1 + 1 == 3), InternalError);
}

TEST(Site, TheSameLineIsTheSameSite) {
  Site a = make_site("a.py", 1);
  EXPECT_TRUE(a.known());
  EXPECT_EQ(a, make_site(std::string("a.py"), 1));
  EXPECT_FALSE(a == make_site("a.py", 2));
  EXPECT_EQ(to_string(a), "a.py:1");
  EXPECT_EQ(to_string(Site{}), "");
}

TEST(Site, ScopesNestAndBeatTheHook) {
  static Site from_hook = make_site("hook.py", 9);
  set_site_hook([] { return from_hook; });
  EXPECT_EQ(here(), from_hook);
  {
    SiteScope outer(make_site("outer.py", 1));
    SiteScope inner(make_site("inner.py", 2));
    EXPECT_EQ(to_string(here()), "inner.py:2");
    std::thread([] { EXPECT_EQ(here(), from_hook); }).join();
  }
  EXPECT_EQ(here(), from_hook);
  set_site_hook(nullptr);
  EXPECT_FALSE(here().known());
}

}  // namespace
}  // namespace lathe
