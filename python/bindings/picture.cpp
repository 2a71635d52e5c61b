#include "python/bindings/picture.h"

#include <nanobind/stl/string.h>

#include "graph/ir/literal.h"
#include "graph/ir/text.h"

namespace lathe::py {
namespace {

class Picture {
 public:
  Picture(const ir::Graph& graph, const jit::Program* program) : text_(graph) {
    if (program != nullptr) runs_ = program->runs();
  }

  nb::tuple block(const ir::Block& b) {
    nb::list parameters, nodes;
    for (const ir::Value* v : b.parameters()) parameters.append(value(*v));
    for (const ir::Node* n : b.nodes()) nodes.append(node(*n));
    return nb::make_tuple(parameters, nodes, numbers(b.yields()));
  }
  int number(const ir::Value* v) {
    return numbers_.try_emplace(v, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  nb::tuple value(const ir::Value& v) {
    const std::string name = v.name().empty() ? "" : text_.name(v);
    return nb::make_tuple(number(&v), name, ir::to_string(v.type()));
  }
  nb::list numbers(absl::Span<ir::Value* const> values) {
    nb::list out;
    for (const ir::Value* v : values) out.append(number(v));
    return out;
  }
  nb::tuple node(const ir::Node& n) {
    nb::list results, blocks;
    for (size_t i = 0; i < n.blocks().size(); ++i)
      blocks.append(nb::make_tuple(role(n, i), block(n.block(i))));
    for (const ir::Value* v : n.out()) results.append(value(*v));
    auto run = runs_.find(&n);
    const jit::Program::HowItRuns how =
        run == runs_.end() ? jit::Program::HowItRuns{} : run->second;
    std::string text = text_.line(n);
    if (n.site().known()) text += "    # " + to_string(n.site());
    return nb::make_tuple(title(n), text, numbers(n.in()), results, blocks, how.entry, how.together,
                          how.unit);
  }
  static std::string title(const ir::Node& n) {
    switch (n.structure()) {
      case ir::Structure::op:
        return n.op()->name();
      case ir::Structure::constant:
        if (n.literal(0).tag != Tag::tensor) return ir::literal_text(n.literal(0));
        return ir::writes_inline(n.literal(0).tensor()) ? ir::elements_text(n.literal(0).tensor())
                                                        : "constant";
      case ir::Structure::call:
        return "call " + n.callee();
      default:
        return std::string(ir::name(n.structure()));
    }
  }
  static std::string role(const ir::Node& n, size_t block) {
    if (n.is(ir::Structure::if_)) return block == 0 ? "then" : "else";
    if (n.is(ir::Structure::while_)) return block == 0 ? "while" : "do";
    return "";
  }

  ir::GraphText text_;
  jit::Program::Runs runs_;
  absl::flat_hash_map<const ir::Value*, int> numbers_;
};

}  // namespace

nb::tuple picture(const ir::Graph& graph, const jit::Program* program) {
  Picture main(graph, program);
  nb::tuple body = main.block(graph.body());
  nb::list writes, functions;
  for (const ir::Write& w : graph.writes())
    writes.append(nb::make_tuple(main.number(w.input), main.number(w.value)));
  for (const auto& f : graph.functions()) {
    const jit::Program* planned = program == nullptr ? nullptr : program->planned(f->name());
    const ir::Graph& drawn = planned == nullptr ? *f : planned->graph();
    functions.append(nb::make_tuple(f->name(), Picture(drawn, planned).block(drawn.body())));
  }
  return nb::make_tuple(graph.name(), body, writes, functions);
}

}  // namespace lathe::py
