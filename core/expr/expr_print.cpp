// The text of a scalar function: inputs are %0 .., one line a node, constants in place.
//
//   (%0:f32, %1:f32) -> f32
//   %2:f32 = mul(%0, %1)
//   %3:f32 = fma(%2, %1, 0.5)
//   return %3
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <charconv>
#include <cmath>

#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe {
namespace {

std::string shortest(auto value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string print_constant(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::bool_:
      return bits != 0 ? "true" : "false";
    case DType::f16:
      return shortest(f16_to_f32(static_cast<uint16_t>(bits)));
    case DType::bf16:
      return shortest(bf16_to_f32(static_cast<uint16_t>(bits)));
    case DType::f32:
      return shortest(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DType::f64:
      return shortest(std::bit_cast<double>(bits));
    case DType::u32:
    case DType::u64:
      return absl::StrCat("0x", absl::Hex(bits));
    default:
      break;
  }
  if (!is_signed(dtype)) return absl::StrCat(bits);
  const int unused = 64 - 8 * static_cast<int>(size_of(dtype));
  return absl::StrCat(static_cast<int64_t>(bits << unused) >> unused);
}

/// Names of the nodes: inputs by position, constants by value, the rest numbered on from the
/// inputs.
std::vector<std::string> name_nodes(const ScalarFunction& f) {
  std::vector<std::string> names;
  size_t next = f.inputs.size();
  for (const ExprNode& node : f.graph.nodes()) {
    if (node.prim == Prim::constant)
      names.push_back(print_constant(node.dtype, node.payload));
    else if (node.prim == Prim::input)
      names.push_back(absl::StrCat("%", node.payload));
    else
      names.push_back(absl::StrCat("%", next++));
  }
  return names;
}

std::string print_call(const ExprNode& node, const std::vector<std::string>& names) {
  std::vector<std::string> args;
  for (uint8_t i = 0; i < node.arity; ++i) args.push_back(names[node.args[i]]);
  const bool counted =
      node.prim == Prim::index || node.prim == Prim::random || node.prim == Prim::check;
  if (counted) args.push_back(absl::StrCat(node.payload));
  const bool raw = node.prim == Prim::bits && node.payload != 0;
  return absl::StrCat(raw ? "raw_" : "", info(node.prim).name, "(", absl::StrJoin(args, ", "), ")");
}

}  // namespace

std::string ScalarFunction::print() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < inputs.size(); ++i)
    parts.push_back(absl::StrCat("%", i, ":", info(inputs[i]).short_name));
  std::vector<std::string_view> types;
  for (DType d : output_types) types.push_back(info(d).short_name);
  std::string text =
      absl::StrCat("(", absl::StrJoin(parts, ", "), ") -> ", absl::StrJoin(types, ", "), "\n");
  const std::vector<std::string> names = name_nodes(*this);
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const ExprNode& node = graph[id];
    if (node.prim == Prim::constant || node.prim == Prim::input) continue;
    absl::StrAppend(&text, names[id], ":", info(node.dtype).short_name, " = ",
                    print_call(node, names), "\n");
  }
  std::vector<std::string> results;
  for (uint32_t id : outputs) {
    const ExprNode& node = graph[id];
    const bool typed = node.prim == Prim::constant;
    results.push_back(typed ? absl::StrCat(names[id], ":", info(node.dtype).short_name)
                            : names[id]);
  }
  return absl::StrCat(text, "return ", absl::StrJoin(results, ", "), "\n");
}

}  // namespace lathe
