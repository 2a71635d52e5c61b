#include "tests/fuzz/targets.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "graph/file/layout.h"
#include "graph/ir/verify.h"
#include "graph/pipeline.h"

namespace lathe::fuzz {

using namespace ir;  // NOLINT: graphs and their text

void allowed(const Error& e) {
  if (e.kind() == ErrorKind::internal) throw Finding(e.what());
}

namespace {

/// What `const#0` to `const#2` of a text are.
std::vector<Tensor> constants() {
  std::vector<float> floats(100);
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = 0.25F * static_cast<float>(i) - 3;
  constexpr int64_t kIntegers[] = {0, 1, -1, 7, int64_t{1} << 40, 2};
  return {from_host(floats.data(), DType::f32, {4}), from_host(floats.data(), DType::f32, {10, 10}),
          from_host(kIntegers, DType::i64, {2, 3})};
}

constexpr Limits kLimits{.bytes = 1 << 16, .nodes = 1 << 12, .symbols = 1 << 10, .items = 1 << 10};

}  // namespace

std::optional<Graph> read(std::string_view input) {
  try {
    std::optional<Graph> g = parse(input, constants(), kLimits, "fuzz");
    verify(*g);
    return g;
  } catch (const Error& e) {
    allowed(e);
    return std::nullopt;
  }
}

namespace {

/// The same graph, by its text.
void comes_back(const Graph& g, bool verified) {
  const std::string first = print(g);
  const std::vector<Tensor>& large = g.constants();
  try {
    Graph again = parse(first, large);
    if (verified) verify(again);
    if (const std::string second = print(again); second != first)
      throw Finding(absl::StrCat("read and printed again it is another text:\n", first, second));
  } catch (const Error& e) {
    throw Finding(absl::StrCat("what was printed is refused: ", e.what(), "\n", first));
  }
}

}  // namespace

void text(std::string_view input) {
  std::optional<Graph> g = read(input);
  if (!g) return;
  comes_back(*g, /*verified=*/true);
  const std::string before = print(*g);
  try {
    optimise(*g);
  } catch (const Error& e) {
    throw Finding(absl::StrCat("rewriting fails: ", e.what(), "\n", before, print(*g)));
  }
  comes_back(*g, /*verified=*/false);  // sizes may be written as inference does not write them
}

bool is_file(std::string_view input) { return input.starts_with(file::kMagic); }

std::optional<Loaded> load(std::string_view input) {
  try {
    return from_bytes(input, {.text = kLimits, .sections = 64}, "fuzz.lathe");
  } catch (const FileError&) {
    return std::nullopt;
  } catch (const Error& e) {
    allowed(e);
    throw Finding(
        absl::StrCat("a ", error_name(e.kind()), " where a FileError is due: ", e.what()));
  }
}

void file(std::string_view input) {
  const std::optional<Loaded> loaded = load(input);
  if (!loaded) return;
  const std::string bytes = to_bytes(loaded->graph, {.note = loaded->note});
  try {
    Loaded again = from_bytes(bytes, {}, "again.lathe");
    if (print(again.graph) != print(loaded->graph) || again.note != loaded->note)
      throw Finding("written and read again it is another program");
    if (to_bytes(again.graph, {.note = again.note}) != bytes)
      throw Finding("written again it has other bytes");
  } catch (const Error& e) {
    throw Finding(absl::StrCat("what was written is refused: ", e.what()));
  }
}

absl::Span<const Target> targets() {
  static const auto& all = *new std::vector<Target>{
      {"text", text, {"text"}}, {"file", file, {"file"}}, {"program", program, {"text", "file"}}};
  return all;
}

}  // namespace lathe::fuzz
