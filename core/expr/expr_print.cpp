// The text of a scalar function: inputs are %0 .., one line a node, constants in place, with their
// dtype where the place does not imply it. parse.h reads it.
//
//   (%0:f32, %1:f32) -> f32
//   %2:f32 = mul(%0, %1)
//   %3:f32 = fma(%2, %1, 0.5)
//   return %3
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>

#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe {
namespace {

void append_shortest(std::string& text, auto value) {
  if (std::isnan(value)) {
    text += "nan";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-inf" : "inf";
  } else {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
}

void append_constant(std::string& text, DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::bool_:
      text += bits != 0 ? "true" : "false";
      return;
    case DType::f16:
      return append_shortest(text, f16_to_f32(static_cast<uint16_t>(bits)));
    case DType::bf16:
      return append_shortest(text, bf16_to_f32(static_cast<uint16_t>(bits)));
    case DType::f32:
      return append_shortest(text, std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DType::f64:
      return append_shortest(text, std::bit_cast<double>(bits));
    case DType::u32:
    case DType::u64:
      return absl::StrAppend(&text, "0x", absl::Hex(bits));
    default:
      break;
  }
  if (!is_signed(dtype)) return absl::StrAppend(&text, bits);
  const int unused = 64 - 8 * static_cast<int>(size_of(dtype));
  absl::StrAppend(&text, static_cast<int64_t>(bits << unused) >> unused);
}

/// Writes into one text: kernels are looked up by it.
class Printer {
 public:
  explicit Printer(const ScalarFunction& f) : f_(f) {
    size_t next = f.inputs.size();
    for (const ExprNode& node : f.graph.nodes())
      numbers_.push_back(node.prim == Prim::constant ? 0
                         : node.prim == Prim::input  ? node.payload
                                                     : next++);
  }

  std::string run() {
    text_ = "(";
    for (size_t i = 0; i < f_.inputs.size(); ++i)
      absl::StrAppend(&text_, i > 0 ? ", %" : "%", i, ":", info(f_.inputs[i]).short_name);
    text_ += ") -> ";
    for (size_t i = 0; i < f_.output_types.size(); ++i)
      absl::StrAppend(&text_, i > 0 ? ", " : "", info(f_.output_types[i]).short_name);
    text_ += "\n";
    for (uint32_t id = 0; id < f_.graph.size(); ++id) {
      const ExprNode& node = f_.graph[id];
      if (node.prim == Prim::constant || node.prim == Prim::input) continue;
      name(id);
      absl::StrAppend(&text_, ":", info(node.dtype).short_name, " = ");
      call(node);
      text_ += "\n";
    }
    text_ += "return ";
    for (size_t i = 0; i < f_.outputs.size(); ++i) {
      if (i > 0) text_ += ", ";
      name(f_.outputs[i]);
      const ExprNode& node = f_.graph[f_.outputs[i]];
      if (node.prim == Prim::constant) absl::StrAppend(&text_, ":", info(node.dtype).short_name);
    }
    text_ += "\n";
    return std::move(text_);
  }

 private:
  /// Inputs by position, constants by value, the rest numbered on from the inputs.
  void name(uint32_t id) {
    const ExprNode& node = f_.graph[id];
    if (node.prim == Prim::constant)
      append_constant(text_, node.dtype, node.payload);
    else
      absl::StrAppend(&text_, "%", numbers_[id]);
  }

  void call(const ExprNode& node) {
    const bool raw = node.prim == Prim::bits && node.payload != 0;
    absl::StrAppend(&text_, raw ? "raw_" : "", info(node.prim).name, "(");
    std::optional<DType> known;
    for (uint8_t i = 0; i < node.arity; ++i)
      if (const ExprNode& arg = f_.graph[node.args[i]]; arg.prim != Prim::constant)
        known = arg.dtype;
    for (uint8_t i = 0; i < node.arity; ++i) {
      if (i > 0) text_ += ", ";
      name(node.args[i]);
      const ExprNode& arg = f_.graph[node.args[i]];
      if (arg.prim == Prim::constant &&
          expr_detail::implied_type(node.prim, node.dtype, i, known) != arg.dtype)
        absl::StrAppend(&text_, ":", info(arg.dtype).short_name);
    }
    if (node.prim == Prim::index || node.prim == Prim::random || node.prim == Prim::check)
      absl::StrAppend(&text_, node.arity > 0 ? ", " : "", node.payload);
    text_ += ")";
  }

  const ScalarFunction& f_;
  std::vector<uint64_t> numbers_;  // by node
  std::string text_;
};

}  // namespace

std::string ScalarFunction::print() const { return Printer(*this).run(); }

}  // namespace lathe
