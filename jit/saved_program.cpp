#include "jit/saved_program.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "autodiff/gradient_graph.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "core/op/host_function.h"
#include "graph/file/file.h"
#include "graph/ir/arguments.h"
#include "graph/ir/literal.h"
#include "graph/ir/query.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "include/lathe/ops/math.h"
#include "jit/build_lock.h"

namespace lathe::jit {
namespace {

std::string shown(const ir::Datum& d) {
  return d.is_tensor() ? lathe::to_string(type_of(d.tensor())) : lathe::to_string(d.arg());
}

std::shared_ptr<SavedProgram> of(ir::Loaded file) {
  auto made = std::make_shared<SavedProgram>(std::move(file.graph), std::move(file.note),
                                             file.tuple_of_one);
  made->hold_weights();
  return made;
}

}  // namespace

SavedProgram::SavedProgram(ir::Graph captured, std::string note, bool tuple_of_one)
    : captured_(std::move(captured)), note_(std::move(note)), tuple_of_one_(tuple_of_one) {
  ir::Graph g = captured_.clone();
  report_ = ir::optimise(g, {.rules = rules_});
  program_ = std::make_unique<Program>(std::move(g));
  plan_checks();
}

std::shared_ptr<SavedProgram> SavedProgram::load(const std::string& path) {
  return of(ir::read_file(path));
}

std::shared_ptr<SavedProgram> SavedProgram::parse(std::string_view bytes, std::string_view name) {
  return of(ir::from_bytes(bytes, {}, name));
}

std::shared_ptr<SavedProgram> SavedProgram::from_text(std::string_view text,
                                                      std::string_view function,
                                                      std::string_view file) {
  ir::Graph module = ir::parse(text, {}, {}, file);
  derive_gradients(module, [](std::string_view, const ir::Graph&) {});
  ir::verify(module);
  if (function.empty()) return std::make_shared<SavedProgram>(std::move(module));
  return std::make_shared<SavedProgram>(ir::module_of(module, function));
}

void SavedProgram::save(const std::string& path) const {
  ir::write_file(captured_, path, {.note = note_, .tuple_of_one = tuple_of_one_});
}

// ── what every call must satisfy ────────────────────────────────────────────────────────────────

void SavedProgram::plan_checks() {
  sources_ = captured_.sources();
  for (size_t i = 0; i < captured_.inputs().size(); ++i) {
    const TensorType* t = captured_.inputs()[i]->type().tensor();
    if (t == nullptr) continue;
    for (size_t axis = 0; axis < t->shape.size(); ++axis)
      if (t->shape[axis].known())
        fixed_.push_back({i, static_cast<int>(axis), t->shape[axis].value()});
  }
  auto answerable = [&](Int e) { return captured_.inputs_say(e, sources_); };
  for (const SymFact& f : captured_.assumptions())
    if (answerable(f.a) && answerable(f.b)) facts_.push_back(f);
}

ErrorParts SavedProgram::misfit(size_t i, const ir::Datum& given) const {
  const ir::Value* v = captured_.inputs()[i];
  return {.op = captured_.name(),
          .problem =
              absl::StrCat("input ", i, v->name().empty() ? "" : absl::StrCat(" (", v->name(), ")"),
                           " is not what the program was saved for"),
          .got = shown(given),
          .expected = ir::to_string(v->type()),
          .next = "convert it first, or save the function again for inputs like this one"};
}

void SavedProgram::check_input(size_t i, const ir::Datum& given) const {
  const ir::Type& want = captured_.inputs()[i]->type();
  if (const TensorType* t = want.tensor()) {
    if (!given.is_tensor()) throw TypeError(misfit(i, given));
    const Tensor& x = given.tensor();
    if (x.dtype() != t->dtype || x.rank() != static_cast<int>(t->shape.size()) ||
        !(x.device() == t->device))
      throw TypeError(misfit(i, given));
    return;
  }
  constexpr Tag kTags[] = {Tag::flag, Tag::integer, Tag::real};
  if (want.scalar() == nullptr || given.is_tensor() ||
      given.arg().tag != kTags[static_cast<int>(want.scalar()->kind)])
    throw TypeError(misfit(i, given));
}

void SavedProgram::check(const ir::Data& inputs) const {
  if (inputs.size() != captured_.inputs().size())
    throw TypeError({.op = captured_.name(),
                     .problem = "the number of inputs is wrong",
                     .got = absl::StrCat(inputs.size()),
                     .expected = absl::StrCat(captured_.inputs().size())});
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);
  check_sizes(inputs);
}

void SavedProgram::check_sizes(const ir::Data& inputs) const {
  for (const FixedSize& f : fixed_) {
    Int got = inputs[f.input].tensor().size(f.axis);
    if (!got.known() || got.value() != f.size) throw ShapeError(misfit(f.input, inputs[f.input]));
  }
  auto value = [&](Int e) {
    return e.known() ? e : substitute(e, [&](uint32_t k) { return ir::said(sources_[k], inputs); });
  };
  for (const SymFact& f : facts_) {
    Int a = value(f.a), b = value(f.b);
    if (lathe::decide(f.relation, a, b) == f.holds) continue;
    throw ShapeError({.op = captured_.name(),
                      .problem = "the program was saved for inputs of other sizes",
                      .got = absl::StrCat(to_string(a), " and ", to_string(b)),
                      .expected = ir::to_string(f),
                      .next = "save the function again for sizes like these",
                      .site = f.site});
  }
}

/// What the function writes with gradients on it refuses to write to a leaf. (What a branch or a
/// loop wrote may have been written with gradients off.)
void SavedProgram::check_writes(const ir::Data& inputs) const {
  for (const ir::Write& w : captured_.writes()) {
    const ir::Node* by = w.value->node();
    if (by == nullptr || (by->is(ir::Structure::op) && !by->detached()))
      require_assignable(inputs[w.input->index()].tensor());
  }
}

// ── running ─────────────────────────────────────────────────────────────────────────────────────

ir::Data SavedProgram::run(const ir::Data& inputs) const {
  auto is_symbolic = [](const ir::Datum& d) { return d.is_tensor() && d.tensor().symbolic(); };
  if (thread_state().trace_epoch != 0 || absl::c_any_of(inputs, is_symbolic))
    throw TraceError({.op = captured_.name(),
                      .problem = "a program is called inside of a captured function, or of vmap",
                      .got = "tensors that stand for those of later calls",
                      .expected = "tensors with elements",
                      .next = "call the function that the program was made of, or call the program "
                              "outside"});
  check(inputs);
  const std::vector<int> wrt =
      thread_state().grad_enabled ? tracked_inputs(inputs) : std::vector<int>();
  if (!wrt.empty()) check_writes(inputs);
  return wrt.empty() ? program_->run(inputs) : tracked(wrt, inputs)->run(inputs);
}

std::shared_ptr<Differentiable> SavedProgram::tracked(const std::vector<int>& wrt,
                                                      const ir::Data& inputs) const {
  const BuildLock hold(mutex_);
  return Differentiable::fitting(tracked_[wrt], inputs, captured_, wrt, Terms{.rules = rules_});
}

size_t SavedProgram::peak_bytes(absl::Span<const Sizes> sizes) const {
  const ir::Values& inputs = captured_.inputs();
  if (sizes.size() != inputs.size())
    throw TypeError({.op = captured_.name(),
                     .problem = "the number of shapes is not that of the inputs",
                     .got = absl::StrCat(sizes.size()),
                     .expected = absl::StrCat(inputs.size())});
  ir::Data stand_ins;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const TensorType* t = inputs[i]->type().tensor();
    if (t == nullptr)
      throw UnsupportedError({.op = captured_.name(),
                              .problem = "the memory of a program that takes numbers",
                              .got = ir::to_string(inputs[i]->type()),
                              .next = "run it, and ask counts for peak_bytes"});
    Shape shape;
    for (int64_t n : sizes[i]) shape.push_back(Int(n));
    stand_ins.emplace_back(ir::stand_in(TensorType{t->dtype, shape, t->device}));
    if (shape.size() != t->shape.size()) throw ShapeError(misfit(i, stand_ins.back()));
  }
  check_sizes(stand_ins);
  return program_->peak_bytes(stand_ins);
}

std::string SavedProgram::explain(ir::Detail detail) const {
  return absl::StrCat(captured_.name(), ": ", captured_.inputs().size(), " inputs, ",
                      captured_.outputs().size(), " outputs", note_.empty() ? "" : "; ", note_,
                      "\n", report_.print(detail), program_->explain(detail));
}

// ── making them ─────────────────────────────────────────────────────────────────────────────────

namespace {

/// Prints as data, where they can be that, in place of the front end's functions.
void print_as_data(ir::Graph& graph) {
  for_each_node(graph.body(), [&](ir::Node* n) {
    if (!n->is(ir::Structure::op) || n->op()->extra.host == HostCall::none) return;
    const std::shared_ptr<const HostFunction> data = n->literal(0).function_->as_data();
    if (data == nullptr) return;
    absl::InlinedVector<Arg, 8> args(n->attrs().view().begin(), n->attrs().view().end());
    args[0] = Arg(*data);
    graph.set_attrs(n, ArgVec(absl::MakeConstSpan(args)));
  });
  for (const auto& f : graph.functions()) print_as_data(*f);
}

}  // namespace

ir::Graph capture(ir::TracedFunction body, absl::Span<const ir::InputSpec> inputs,
                  ir::TraceCallbacks& host, std::string name) {
  // With gradients off a leaf may be written to.
  std::vector<ir::InputSpec> specs(inputs.begin(), inputs.end());
  for (ir::InputSpec& spec : specs) spec.requires_grad &= thread_state().grad_enabled;
  const GradMode on(true);  // so that the graph says what is computed without
  // A graph has one result for one tensor, and a file does not say which are the same.
  const auto apart = [&](const ir::Data& in) {
    ir::Data out = body(in);
    for (size_t i = 0; i < out.size(); ++i)
      for (size_t k = 0; k < i && out[i].is_tensor(); ++k)
        if (same(out[k].tensor(), out[i].tensor())) {
          out[i] = ir::Datum(math_ops<Tensor>::clone(out[i].tensor()));
          break;
        }
    return out;
  };
  ir::Traced traced = ir::trace(apart, specs, host,
                                {.name = std::move(name), .aliases = false, .any_history = true});
  ir::Graph& g = traced.graph;
  print_as_data(g);
  for (const ir::Write& w : g.writes()) {
    if (w.input->index() < inputs.size()) continue;
    throw TraceError({.op = g.name(),
                      .problem = absl::StrCat(
                          "the function writes to '", w.input->name(),
                          "', which it was not given: a file has no place to keep the change"),
                      .got = ir::to_string(w.input->type()),
                      .next = "pass it as an argument, or save the function in evaluation mode"});
  }
  // From the last, so that the places of the others hold.
  for (size_t k = traced.captured_now.size(); k-- > 0;) {
    size_t index = inputs.size() + k;
    ir::Value* input = g.inputs()[index];
    Tensor now = traced.captured_now[k].tensor();
    if (!(now.device() == Device{}))
      throw DeviceError({.op = g.name(),
                         .problem = absl::StrCat("'", input->name(), "' is not in host memory"),
                         .got = lathe::to_string(now.device()),
                         .next = "move it to cpu before saving"});
    // A copy: the program keeps the elements of now, whatever is written to the tensor later.
    Tensor packed_now = ir::packed(now);
    Tensor kept = from_host(packed_now.data(), now.dtype(), now.shape());
    if (!ir::writes_inline(kept)) g.add_large_constant(kept);
    ir::Value* constant = nullptr;
    if (ir::Node* first = g.body().first()) {
      ir::InsertAt at(g, first);
      constant = g.add_constant(Arg(kept));
    } else {
      ir::InsertAt at(g, g.body());
      constant = g.add_constant(Arg(kept));
    }
    g.set_name(constant, input->name());
    g.replace(input, constant);
    g.erase_parameter(g.body(), index);
  }
  return std::move(traced.graph);
}

std::string freeze(ir::Graph& graph) {
  constexpr int kRounds = 8;
  ir::run_pass("unify_sizes", graph);
  int folded = 0;
  auto run = [&](std::string_view pass) { return ir::run_pass(pass, graph, ir::Histories::kept); };
  for (int round = 0; round < kRounds; ++round) {
    int changes = 0;
    for (std::string_view pass : {"eliminate_dead", "merge_common", "fold_constants",
                                  "canonicalise", "simplify_algebra", "clean_casts", "clean_views"})
      changes += run(pass);
    const int now = run("fold_batch_norm");
    folded += now;
    if (changes + now == 0) break;
  }
  graph.drop_unused_constants();
  return absl::StrCat("frozen: ", folded, " approximate rewrites of batch norm");
}

}  // namespace lathe::jit
