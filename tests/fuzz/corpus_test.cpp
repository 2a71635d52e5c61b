// Every file that the fuzzers keep, through the targets that read it: what was once found stays
// mended, and the targets themselves cannot rot.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/targets.h"

namespace lathe::fuzz {
namespace {

class Fuzz : public testing::TestWithParam<Target> {};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_P(Fuzz, Corpus) {
  for (const char* corpus : GetParam().corpora) {
    const std::filesystem::path folder(std::string(LATHE_SOURCE_DIR "/tests/fuzz/corpus/") +
                                       corpus);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    ASSERT_GT(files.size(), 10u) << folder;
    for (const auto& path : files) EXPECT_NO_THROW(GetParam().run(bytes_of(path))) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lathe::fuzz
