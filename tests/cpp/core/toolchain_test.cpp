// What the rest takes for granted about compiler, flags and Abseil. When this fails, nothing else
// is worth reading.
#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace {

TEST(Toolchain, AbseilUsesTheStandardTypes) {
  static_assert(std::is_same_v<absl::string_view, std::string_view>);
  absl::flat_hash_map<std::string, absl::InlinedVector<int, 6>> map;
  map["shape"] = {2, 3};
  EXPECT_EQ(map.find(std::string_view("shape"))->second.size(), 2u);
  EXPECT_EQ(absl::StrCat("f", 32), "f32");
}

// With contraction the compiler would fuse these into one FMA, and the residue would be exact
// instead of zero.
TEST(Toolchain, MultiplyAddIsNotContracted) {
  volatile float a = 1.0f + 0x1p-12f;
  const float product = a * a;
  const float residue = a * a - product;
  EXPECT_EQ(residue, 0.0f);
}

}  // namespace
