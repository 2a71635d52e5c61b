// A plan in words: every step with the user's line, the primitive, its bits class, and why not the
// others.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "core/error.h"
#include "jit/steps.h"
#include "kernels/table.h"

namespace lathe::jit {
namespace {

std::string result_text(const ir::Node& n) {
  return absl::StrJoin(n.out(), ", ", [](std::string* s, const ir::Value* v) {
    absl::StrAppend(s, v->name().empty() ? "" : absl::StrCat("%", v->name(), ": "),
                    ir::to_string(v->type()));
  });
}

std::string head(const ir::Node& n, std::string_view what) {
  std::string line = absl::StrCat(what, " -> ", result_text(n));
  if (n.site().known()) absl::StrAppend(&line, "    # ", to_string(n.site()));
  return line;
}

/// Which entry of the table runs this op, and every other's reason.
std::string choice(const Step& s) {
  std::vector<Tensor> held;
  std::vector<Arg> values;
  held.reserve(s.node->in().size());
  for (const ir::Value* v : s.node->in()) {
    if (const TensorType* t = v->type().tensor()) {
      held.push_back(ir::stand_in(*t));
      values.push_back(Arg(held.back()));
    } else {
      values.push_back(Arg(v->type().scalar()->value.value_or(Int(0))));
    }
  }
  ir::Filled filled = ir::fill(s.node->attrs(), s.node->places(), values);
  return explain_text(make_query(*s.node->op(), filled.args(), s.types));
}

std::string indent(std::string_view text) {
  std::string out;
  for (std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    absl::StrAppend(&out, "      ", line, "\n");
  return out;
}

void explain_steps(const std::vector<Step>& steps, std::string& out, int& number) {
  for (const Step& s : steps) {
    const ir::Node& n = *s.node;
    ++number;
    if (s.kind == Step::Kind::kernel) {
      size_t ops = n.is(ir::Structure::group) ? n.block(0).nodes().size() : 1;
      absl::StrAppend(&out, "  ", number, ". ",
                      head(n, n.is(ir::Structure::op) ? n.op()->name()
                                                      : absl::StrCat("group of ", ops, " ops")),
                      "\n      ", s.kernel->compiled() ? "generated" : "own.strips",
                      " (defined): ", s.kernel->nest().axes.size(), " axes, about ",
                      s.kernel->nest().facts.flops_per_element, " operations an element\n");
      if (n.is(ir::Structure::group))
        for (const ir::Node* inner : n.block(0).nodes())
          absl::StrAppend(&out, "        ", head(*inner, inner->op()->name()), "\n");
    } else if (s.kind == Step::Kind::op) {
      absl::StrAppend(&out, "  ", number, ". ", head(n, n.op()->name()), "\n", indent(choice(s)));
    } else {
      absl::StrAppend(&out, "  ", number, ". ", head(n, name(n.structure())), "\n");
      for (const Step::Inner& inner : s.blocks) explain_steps(inner.steps, out, number);
    }
  }
}

}  // namespace

std::string Program::explain() const {
  ir::GraphScope scope(graph_);
  std::string out;
  int number = 0;
  explain_steps(steps_, out, number);
  return out;
}

}  // namespace lathe::jit
