#include "tests/cpp/jit/suite_kernels.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "graph/pipeline.h"
#include "jit/program/program.h"
#include "tests/fuzz/targets.h"

namespace lathe::jit {
namespace {

/// Softmax, and what its gradient takes of rows; a sum of everything; a mean and what is left.
constexpr const char* kRows[] = {
    R"(graph f(%x: f32[s0, s1]) {
  %0 = amax(%x, [1], True)
  %1 = exp(sub(%x, %0))
  %2 = div(%1, sum(%1, [1], True))
  return %2
})",
    R"(graph f(%x: f16[s0, s1], %y: f32[s0, s1], %n: float) {
  %0 = mul(mul(%x, %y), %n)
  %1 = sum(%0, [1], True)
  %2 = mul(sub(%y, %1), %x)
  %3 = sum(%2, [0])
  return %2, %3
})",
    R"(graph f(%x: f64[s0, s1, s2]) {
  %0 = mul(%x, add(%x, 1))
  %1 = sum(%0)
  return %0, %1
})",
    R"(graph f(%x: bf16[s0, s1, 64]) {
  %0 = mean(%x, [2], True)
  %1 = sub(%x, %0)
  %2 = mean(mul(%1, %1), [2], True)
  %3 = mul(%1, rsqrt(add(%2, 0.001)))
  return %3
})"};

}  // namespace

std::vector<std::string> kernels_of_graphs() {
  const std::filesystem::path folder(LATHE_SOURCE_DIR "/tests");
  std::vector<std::string> texts(std::begin(kRows), std::end(kRows));
  for (const char* corpus : {"fuzz/corpus/text", "ir", "plan"})
    for (const auto& entry : std::filesystem::directory_iterator(folder / corpus)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(in), {}};
      for (std::string_view part : absl::StrSplit(all, "\n====\n"))
        texts.emplace_back(part.substr(0, part.find("\n---\n")));
    }
  std::set<std::string> kernels;
  for (const std::string& text : texts) {
    std::optional<ir::Graph> graph = fuzz::read(text);
    if (!graph) continue;
    ir::optimise(*graph);
    const Program program(std::move(*graph));
    const std::string loops = program.loops();
    for (std::string_view one : absl::StrSplit(loops, "\nkernel ", absl::SkipEmpty())) {
      std::string kernel = absl::StrCat(one.starts_with("kernel") ? "" : "kernel ", one);
      if (kernel.back() != '\n') kernel += '\n';
      kernels.insert(std::move(kernel));
    }
  }
  return {kernels.begin(), kernels.end()};
}

}  // namespace lathe::jit
