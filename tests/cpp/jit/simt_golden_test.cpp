// The thread programs of some kernels: each file of simt_texts is a kernel, "---", and its program
// in blocks of 128 threads. LATHE_SIMT_WRITE=1 writes the programs anew.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "jit/kernel_ir/parse.h"
#include "jit/simt/lower.h"

namespace lathe::jit::simt {
namespace {

class SimtGolden : public testing::TestWithParam<std::string_view> {};

TEST_P(SimtGolden, Text) {
  const std::string path =
      absl::StrCat(LATHE_SOURCE_DIR "/tests/cpp/jit/simt_texts/", GetParam(), ".txt");
  std::ifstream in(path);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  constexpr std::string_view kBetween = "---\n";
  const size_t end = all.find(kBetween);
  ASSERT_NE(end, std::string::npos) << path;
  const std::string kernel = all.substr(0, end), program = all.substr(end + kBetween.size());
  const Kernel k = parse_kernel(kernel);
  ASSERT_EQ(jit::verify(k), "");
  ASSERT_EQ(k.print(), kernel);
  const Program made = threads_of(k);
  EXPECT_EQ(verify(made), "");
  if (std::getenv("LATHE_SIMT_WRITE") != nullptr)
    std::ofstream(path) << kernel << kBetween << made.print();
  else
    EXPECT_EQ(made.print(), program);
}

INSTANTIATE_TEST_SUITE_P(Kernels, SimtGolden,
                         testing::Values("elements", "softmax", "layer_norm_backward"));

}  // namespace
}  // namespace lathe::jit::simt
