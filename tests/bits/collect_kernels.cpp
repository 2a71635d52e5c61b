// LATHE_KERNEL_TEXTS=FILE: each kernel that the tests of this program ask code for is written into
// FILE, once, as text.
#include <absl/container/btree_map.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "jit/kernel/kernels.h"

namespace lathe::jit {
namespace {

class Collector final : public KernelCollector {
 public:
  void add(const Kernel& kernel) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    texts_.try_emplace(kernel_text(kernel), kernel.print());
  }
  bool looks_on() const override { return true; }
  void write(const char* file) {
    std::ofstream out(file);
    for (const auto& [key, text] : texts_) out << text;
    EXPECT_TRUE(out.flush()) << "cannot write " << file;
  }

 private:
  std::mutex mutex_;
  absl::btree_map<std::string, std::string> texts_;
};

class Collecting final : public testing::Environment {
 public:
  void SetUp() override {
    if (file_ != nullptr) set_kernel_collector(&collector_);
  }
  void TearDown() override {
    set_kernel_collector(nullptr);
    if (file_ != nullptr) collector_.write(file_);
  }

 private:
  const char* file_ = std::getenv("LATHE_KERNEL_TEXTS");
  Collector collector_;
};

[[maybe_unused]] const testing::Environment* const added =
    testing::AddGlobalTestEnvironment(new Collecting);

}  // namespace
}  // namespace lathe::jit
