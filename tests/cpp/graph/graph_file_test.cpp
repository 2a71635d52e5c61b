// The `.lathe` file: what is written is read, and nothing else is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "graph/file/file.h"
#include "graph/file/layout.h"
#include "graph/file/xxhash.h"
#include "graph/trace/interpret.h"
#include "kernels/executor.h"

namespace lathe::ir {
namespace {

Graph program() {
  std::vector<float> w(12), b(9);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i) * 0.5F;
  std::vector<Tensor> constants{from_host(w.data(), DType::f32, {3, 4}),
                                from_host(b.data(), DType::f32, {9})};
  return parse(R"(graph f(%x: f32[s0, 3]) -> (f32[s0, 4]) {
  size s0 = 2
  check s0 <= 100                                           # model.py:3
  %w: f32[3, 4] = const#0
  %unused: f32[9] = const#1
  %y: f32[s0, 4] = mm(%x, %w)                               # model.py:7
  return %y
}
)",
               constants);
}

class File : public testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

TEST_F(File, RoundTrip) {
  Graph g = program();
  Loaded read = from_bytes(to_bytes(g, {.note = "by a test"}));
  EXPECT_EQ(read.note, "by a test");
  EXPECT_EQ(print(read.graph), print(g));
  EXPECT_EQ(to_bytes(read.graph, {.note = "by a test"}), to_bytes(g, {.note = "by a test"}));
  std::vector<float> x(6, 1.0F);
  Data in{Datum(from_host(x.data(), DType::f32, {2, 3}))};
  Tensor a = interpret(g, in)[0].tensor(), b = interpret(read.graph, in)[0].tensor();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), 32), 0);
}

TEST_F(File, WeightsAreAligned) {
  std::string bytes = to_bytes(program());
  auto count = file::get<uint32_t>(bytes, 12);
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_EQ(file::get<uint64_t>(bytes, file::kHeader + file::kEntry * i + 8) % 64, 0u);
}

TEST_F(File, OnDiskAtOnceOrNotAtAll) {
  auto folder =
      std::filesystem::temp_directory_path() / ("lathe-file-test-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::string path = folder / "model.lathe";
  write_file(program(), path);
  EXPECT_EQ(print(read_file(path).graph), print(program()));
  write_file(program(), path);  // over an existing one
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 1u);
  EXPECT_THROW(write_file(program(), folder / "no-folder" / "model.lathe"), FileError);
  EXPECT_THROW(read_file(folder / "missing.lathe"), FileError);
  EXPECT_THROW(read_file(folder), FileError);
  std::ofstream(folder / "empty.lathe").close();
  EXPECT_THROW(read_file(folder / "empty.lathe"), FileError);
  std::filesystem::remove_all(folder);
}

void refused(const std::string& bytes, const std::string& what) {
  try {
    from_bytes(bytes);
    ADD_FAILURE() << "accepted " << what;
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::internal) << what << ": " << e.what();
  }
}

TEST_F(File, EveryByteCounts) {
  const std::string good = to_bytes(program(), {.note = "n"});
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      refused(bad, "a flipped bit at byte " + std::to_string(i));
    }
}

TEST_F(File, EveryLengthIsNoticed) {
  const std::string good = to_bytes(program());
  for (size_t n = 0; n < good.size(); ++n)
    refused(good.substr(0, n), "a cut at " + std::to_string(n));
  refused(good + '\0', "a byte more");
}

/// With hashes made right again, what is behind them must be checked all the same.
std::string resealed(std::string bytes) {
  using namespace file;
  if (bytes.size() < kHeader) return bytes;
  auto count = std::min<size_t>(get<uint32_t>(bytes, 12), (bytes.size() - kHeader) / kEntry);
  for (size_t i = 0; i < count; ++i) {
    size_t at = kHeader + kEntry * i;
    auto offset = get<uint64_t>(bytes, at + 8), size = get<uint64_t>(bytes, at + 16);
    if (offset > bytes.size() || size > bytes.size() - offset) continue;
    uint64_t hash = xxhash64(std::string_view(bytes).substr(offset, size));
    std::memcpy(bytes.data() + at + 24, &hash, 8);
  }
  std::memset(bytes.data() + kHashAt, 0, 8);
  uint64_t hash = xxhash64(std::string_view(bytes).substr(0, kHeader + kEntry * count));
  std::memcpy(bytes.data() + kHashAt, &hash, 8);
  return bytes;
}

TEST_F(File, HostileBytesUnderRightHashes) {
  const std::string good = to_bytes(program(), {.note = "n"});
  uint64_t random = 88172645463325252;
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bad = good;
    for (int k = 0; k < 1 + round % 3; ++k) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      size_t at = random % (round % 2 == 0 ? 640 : bad.size());
      bad[at] = static_cast<char>(round % 5 == 0 ? 0xff : random >> 40);
    }
    try {
      from_bytes(resealed(bad));
      ++accepted;
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::internal) << e.what();
    }
  }
  EXPECT_LT(accepted, 4000);
}

TEST_F(File, WhatIsRefusedIsNamed) {
  std::string bytes = to_bytes(program());
  auto says = [](const std::string& changed, std::string_view what) {
    try {
      from_bytes(resealed(changed));
      ADD_FAILURE() << "accepted";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  };
  std::string other = bytes;
  other[8] = 9;
  says(other, "another version");
  other = bytes;
  other[0] = 'X';
  says(other, "no .lathe file");
  other = bytes;
  size_t mm = other.find("mm(%x");
  other.replace(mm, 2, "zz");
  says(other, "zz");
}

TEST(XxHash, KnownValues) {
  EXPECT_EQ(xxhash64(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(xxhash64("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(xxhash64("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(xxhash64("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

}  // namespace
}  // namespace lathe::ir
