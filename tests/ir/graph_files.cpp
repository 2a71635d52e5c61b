#include "tests/ir/graph_files.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace lathe::test {

std::string read_graphs(std::string_view folder, std::string_view name) {
  std::ifstream in(absl::StrCat(LATHE_SOURCE_DIR "/tests/", folder, "/", name, ".txt"));
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (std::string_view line : absl::StrSplit(text, '\n'))
    if (!absl::StartsWith(line, "#") && !absl::StripAsciiWhitespace(line).empty())
      absl::StrAppend(&out, line, "\n");
  return out;
}

ir::Data inputs_for(const ir::Graph& g) {
  ir::Data out;
  for (const ir::Value* v : g.inputs()) {
    const TensorType& t = v->tensor();
    Shape shape;
    for (Int size : t.shape)
      shape.push_back(substitute(size, [&](uint32_t k) { return Int(g.symbols()[k].hint); }));
    Tensor x = empty({t.dtype, shape, {}});
    auto bytes = static_cast<size_t>(x.numel().value()) * size_of(t.dtype);
    for (size_t i = 0; i < bytes / size_of(t.dtype); ++i) {
      double value = (static_cast<int>(i * 7 + 3) % 11 - 5) / (is_floating(t.dtype) ? 4.0 : 1.0);
      std::byte* at = x.mutable_data() + i * size_of(t.dtype);
      float f = static_cast<float>(value);
      uint16_t h = f32_to_f16(f);
      auto i64 = static_cast<int64_t>(value);
      auto i8 = static_cast<int8_t>(value);
      bool b = value > 0;
      switch (t.dtype) {
        case DType::f32:
          std::memcpy(at, &f, 4);
          break;
        case DType::f16:
          std::memcpy(at, &h, 2);
          break;
        case DType::i64:
          std::memcpy(at, &i64, 8);
          break;
        case DType::i8:
          std::memcpy(at, &i8, 1);
          break;
        case DType::bool_:
          std::memcpy(at, &b, 1);
          break;
        default:
          ADD_FAILURE() << "no data for " << ir::to_string(ir::Type(t));
      }
    }
    out.emplace_back(x);
  }
  return out;
}

std::string bytes_of(const ir::Data& results) {
  std::string out;
  for (const ir::Datum& d : results) {
    const Tensor& t = d.tensor();
    if (t.data() != nullptr)
      out.append(reinterpret_cast<const char*>(t.data()),
                 static_cast<size_t>(t.numel().value()) * size_of(t.dtype()));
  }
  return out;
}

}  // namespace lathe::test
