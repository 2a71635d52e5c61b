#include "graph/rewrite/commutative.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace lathe::ir {
namespace {

bool commutes(Prim p) {
  return p == Prim::add || p == Prim::mul || p == Prim::eq || p == Prim::ne || p == Prim::bit_and ||
         p == Prim::bit_or || p == Prim::bit_xor;
}

/// The body as text, operands of commutative primitives sorted, with inputs 0 and 1 exchanged on
/// request.
std::string body_text(const ScalarFunction& f, bool exchanged) {
  std::vector<std::string> text(f.graph.size());
  for (uint32_t id = 0; id < f.graph.size(); ++id) {
    const ExprNode& n = f.graph[id];
    uint64_t payload = n.payload;
    if (n.prim == Prim::input && exchanged && payload < 2) payload = 1 - payload;
    std::vector<std::string> args;
    for (int i = 0; i < n.arity; ++i) args.push_back(text[n.args[i]]);
    if (commutes(n.prim)) std::sort(args.begin(), args.end());
    text[id] = absl::StrCat("(", info(n.prim).name, ":", static_cast<int>(n.dtype), ":", payload);
    for (const std::string& a : args) absl::StrAppend(&text[id], " ", a);
    text[id] += ")";
    if (text[id].size() > 4096) return exchanged ? "large" : "";  // not worth the trouble
  }
  std::string out;
  for (uint32_t id : f.outputs) out += text[id];
  return out;
}

}  // namespace

bool commutative(const Op& op) {
  if (op.kind != Kind::elementwise || op.schema.params.size() != 2 || !op.extra.fixed.empty())
    return false;
  for (const Param& p : op.schema.params)
    if (p.type != ArgType::tensor || p.list) return false;
  for (DType d : {DType::f32, DType::f64, DType::i64, DType::bool_}) {
    if (!op.extra.domain.has(d)) continue;
    const ScalarFunction& f = op.scalar(d);
    return f.inputs.size() == 2 && body_text(f, false) == body_text(f, true);
  }
  return false;
}

}  // namespace lathe::ir
