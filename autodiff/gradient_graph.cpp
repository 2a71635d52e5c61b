#include "autodiff/gradient_graph.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "autodiff/backprop.h"
#include "autodiff/flatten.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "graph/ir/text.h"
#include "include/lathe/ops/create.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using C = create_ops<Tensor>;

Tensor filled(const Value* like, bool ones) {
  const TensorType& t = like->tensor();
  return ones ? C::ones(Ints(t.shape), t.dtype, t.device)
              : C::zeros(Ints(t.shape), t.dtype, t.device);
}

std::string listed(const TypeList& types) {
  return absl::StrCat(
      "(",
      absl::StrJoin(types, ", ", [](std::string* s, const Type& t) { *s += ir::to_string(t); }),
      ")");
}

}  // namespace

Graph gradient_graph(const Graph& graph, const Graph& module, std::string name,
                     const GradientOf& what, SeeStage see) {
  const TensorType* type = what.of->type().tensor();
  if (type == nullptr || !differentiable.has(type->dtype))
    throw AutogradError({.op = graph.name(),
                         .problem = "the gradient of what is no float tensor",
                         .got = ir::to_string(what.of->type())});
  Graph::ValueMap known;
  Graph copy = graph.clone(&known);
  copy.drop_functions();
  copy.gradients().clear();
  copy.set_name(std::move(name));
  Values results{known.at(what.of)}, wrt;
  for (const Value* v : what.keeping) results.push_back(known.at(v));
  for (const Value* v : what.wrt) wrt.push_back(known.at(v));
  copy.set_results(std::move(results), {}, copy.body().end()->site());
  see("copied", copy);

  GradMode on(true);  // so that what rules record is not marked as detached
  const AutocastScope over(DType::f32);
  RuleHost host;
  Tracer tracer(std::move(copy), host);
  Graph& g = tracer.graph();
  Flatten(tracer, module).block(g.body());
  Backprop backprop(tracer, true, false);
  for (Value* v : wrt) backprop.activate(v);
  backprop.spread(g.body());
  backprop.count_rounds(g.body());
  const Values yields = g.body().yields();
  Value* of = yields[0];
  Node* last = g.body().last();
  const std::string named = of->name().empty() ? "y" : absl::StrCat("_", of->name());
  const Tensor dy = what.seeded
                        ? tracer.tensor_for(g.add_input(of->type(), absl::StrCat("d", named)))
                        : filled(of, true);
  if (backprop.active(of)) {
    backprop.arrive(of, dy);
    backprop.walk(last);
  }
  Values given;
  for (Value* v : wrt) {
    const Tensor dx = backprop.sum(v);
    given.push_back(tracer.value_of(dx.defined() ? dx : filled(v, false)));
  }
  given.insert(given.end(), yields.begin() + 1, yields.end());
  Graph out = tracer.take();
  out.set_results(std::move(given), {}, out.body().end()->site());
  see("adjoints", out);
  return out;
}

namespace {

class Deriver {
 public:
  Deriver(Graph& module, SeeStage see) : module_(module), see_(see) {}

  void derive(const GradientDeclaration& d) {
    const Graph* f = d.of == module_.name() ? &module_ : module_.function(d.of);
    if (f == nullptr)
      throw NameError({.op = d.name,
                       .problem = "the gradient of a function that is not there",
                       .got = d.of,
                       .site = d.site});
    GradientOf what{.of = at(d, f->outputs(), d.from, "result"), .seeded = d.seeded};
    for (int i : d.wrt) what.wrt.push_back(at(d, f->inputs(), i, "argument"));
    for (int i : d.keeping) what.keeping.push_back(at(d, f->outputs(), i, "result"));
    Graph made = gradient_graph(*f, module_, d.name, what, see_);
    compare(d, made);
    module_.add_function(std::make_unique<Graph>(std::move(made)));
  }

 private:
  static Value* at(const GradientDeclaration& d, absl::Span<Value* const> values, int i,
                   std::string_view what) {
    if (static_cast<size_t>(i) < values.size()) return values[static_cast<size_t>(i)];
    throw IndexError({.op = d.name,
                      .problem = absl::StrCat("the function has no ", what, " of this number"),
                      .got = absl::StrCat(i),
                      .expected = absl::StrCat("less than ", values.size()),
                      .site = d.site});
  }

  static void compare(const GradientDeclaration& d, const Graph& made) {
    if (d.results.empty()) return;
    TypeList types;
    for (const Value* v : made.outputs()) types.push_back(v->type());
    bool same = types.size() == d.results.size();
    for (size_t i = 0; same && i < types.size(); ++i) same = same_type(types[i], d.results[i]);
    if (same) return;
    throw TypeError({.op = d.name,
                     .problem = "the gradient has other types than its declaration says",
                     .got = listed(d.results),
                     .expected = listed(types),
                     .next = "correct the declaration, or leave its types out",
                     .site = d.site});
  }

  Graph& module_;
  SeeStage see_;
};

}  // namespace

int derive_gradients(Graph& module, SeeStage see) {
  const std::vector<GradientDeclaration> declared = std::exchange(module.gradients(), {});
  for (const GradientDeclaration& d : declared) Deriver(module, see).derive(d);
  return static_cast<int>(declared.size());
}

}  // namespace lathe
