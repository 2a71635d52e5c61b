// Programs that were saved, and functions that are traced here.
#include <absl/strings/str_cat.h>

#include "capi/handles.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "graph/ir/text.h"

namespace lathe::c {
namespace {

using jit::SavedProgram;

std::vector<lathe_program::Slot> slots_of(absl::Span<ir::Value* const> values) {
  std::vector<lathe_program::Slot> out;
  for (const ir::Value* v : values) {
    lathe_program::Slot slot{v->name()};
    if (const TensorType* t = v->type().tensor()) {
      slot.dtype = static_cast<lathe_dtype>(t->dtype);
      slot.rank = static_cast<int32_t>(t->shape.size());
      for (Int s : t->shape) slot.sizes.push_back(s.known() ? s.value() : -1);
    }
    out.push_back(std::move(slot));
  }
  return out;
}

lathe_program* new_program(std::shared_ptr<SavedProgram> program) {
  auto p = std::make_unique<lathe_program>();
  p->inputs = slots_of(program->graph().inputs());
  p->outputs = slots_of(program->graph().outputs());
  p->program = std::move(program);
  return p.release();
}

void fill(const std::vector<lathe_program::Slot>& slots, size_t index, lathe_slot* out) {
  if (out->size < sizeof(lathe_slot))
    throw ValueError({.problem = "lathe_slot.size is not set to sizeof(lathe_slot)",
                      .got = absl::StrCat(out->size),
                      .expected = absl::StrCat(sizeof(lathe_slot))});
  if (index >= slots.size())
    throw IndexError({.problem = "the program has fewer of them",
                      .got = absl::StrCat(index),
                      .expected = absl::StrCat("less than ", slots.size())});
  const lathe_program::Slot& s = slots[index];
  out->name = s.name.c_str();
  out->dtype = s.dtype;
  out->rank = s.rank;
  out->sizes = s.sizes.data();
}

ir::Data data_of(lathe_tensor* const* inputs, size_t count) {
  ir::Data out;
  for (size_t i = 0; i < count; ++i) {
    Tensor t = tensor(inputs[i]);
    if (t.impl()->view) refresh(t);
    out.emplace_back(std::move(t));
  }
  return out;
}

Tensors tensors_of(const ir::Data& data) {
  Tensors out;
  for (const ir::Datum& d : data) {
    if (!d.is_tensor())
      throw UnsupportedError({.problem = "a result is a number, and the C interface gives tensors",
                              .next = "save the function so that it returns tensors"});
    out.push_back(d.tensor());
  }
  return out;
}

/// Inside a trace a function's body runs as it stands, so one that calls itself does so on the
/// stack: this thread's bodies inside each other are counted.
class Nested {
 public:
  explicit Nested(const lathe_function& f) {
    constexpr int kMost = 100;
    if (depth_ >= kMost)
      throw TraceError({.op = f.name,
                        .problem = "the traced function calls itself without an end",
                        .got = absl::StrCat(kMost, " calls inside each other"),
                        .expected = absl::StrCat("at most ", kMost),
                        .next = "end the recursion by something that is known while it is traced, "
                                "such as a rank or a counter"});
    ++depth_;
  }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;

 private:
  static thread_local int depth_;
};
constinit thread_local int Nested::depth_ = 0;

/// Runs the caller's code, on symbolic tensors or on ordinary ones.
Tensors run_body(const lathe_function& f, const Tensors& inputs) {
  constexpr size_t kMostResults = 256;
  Nested nested(f);
  std::vector<lathe_tensor*> in(inputs.size()), out(kMostResults, nullptr);
  for (size_t i = 0; i < inputs.size(); ++i)
    in[i] = reinterpret_cast<lathe_tensor*>(inputs[i].impl());
  size_t count = 0;
  lathe_status status = f.body(f.user, in.data(), in.size(), out.data(), out.size(), &count);
  Tensors results;
  for (size_t i = 0; i < std::min(count, kMostResults); ++i)
    results.emplace_back(reinterpret_cast<TensorImpl*>(out[i]));  // the body's, and now ours
  if (status != LATHE_OK) raise_reported(status);
  if (count > kMostResults)
    throw ValueError({.op = f.name,
                      .problem = "a traced function gives too many results",
                      .got = absl::StrCat(count),
                      .expected = absl::StrCat("at most ", kMostResults)});
  for (const Tensor& t : results)
    if (!t.defined()) throw TypeError({.op = f.name, .problem = "a result is NULL"});
  return results;
}

/// Whatever the body captured becomes part of the program.
class Captured final : public ir::TraceCallbacks {
 public:
  Found find(const Tensor&) override {
    return {Found::How::path, {absl::StrCat("constant_", met_++)}};
  }

 private:
  int met_ = 0;
};

std::shared_ptr<SavedProgram> captured(lathe_function& f, const ir::Data& inputs) {
  std::vector<ir::InputSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    specs.push_back(ir::spec_of(inputs[i].tensor(), absl::StrCat("x", i)));
    specs.back().strides.clear();
  }
  Captured host;
  auto body = [&](const ir::Data& in) {
    ir::Data out;
    for (Tensor& t : run_body(f, tensors_of(in))) out.emplace_back(std::move(t));
    return out;
  };
  return std::make_shared<SavedProgram>(jit::capture(body, specs, host, f.name));
}

[[noreturn]] void no_such_view(lathe_view view) {
  throw ValueError({.problem = "there is no such view",
                    .got = absl::StrCat(static_cast<int>(view)),
                    .expected = "one of lathe_view"});
}

std::string kernels_text(const jit::Program& p) {
  std::string out;
  for (const jit::Program::NodeKernel& n : p.node_kernels())
    absl::StrAppend(&out, n.op, "\t", n.kernel, "\t", n.site.known() ? to_string(n.site) : "",
                    "\n");
  return out;
}

std::string text_of(const SavedProgram& p, lathe_view view) {
  switch (view) {
    case LATHE_EXPLAIN:
      return p.explain(ir::Detail::brief);
    case LATHE_GRAPH:
      return ir::print(p.graph());
    case LATHE_OPTIMISED:
      return ir::print(p.optimised());
    case LATHE_NOTE:
      return p.note();
    case LATHE_KERNELS:
      return kernels_text(p.program());
    case LATHE_VERBOSE:
      return p.explain(ir::Detail::verbose);
  }
  no_such_view(view);
}

std::string text_of(const jit::Function& f, lathe_view view) {
  if (view == LATHE_EXPLAIN) return f.explain(ir::Detail::brief);
  if (view == LATHE_VERBOSE) return f.explain(ir::Detail::verbose);
  if (view == LATHE_NOTE) return "";
  if (view != LATHE_GRAPH && view != LATHE_OPTIMISED && view != LATHE_KERNELS) no_such_view(view);
  std::string out;
  for (const auto& c : f.compiled()) {
    if (view == LATHE_GRAPH) {
      out += ir::print(c->traced.graph);
      continue;
    }
    for (const jit::Program* p : c->programs())
      out += view == LATHE_KERNELS ? kernels_text(*p) : ir::print(p->graph());
  }
  return out;
}

template <class Handle>
Handle* retained(Handle* h) {
  if (h != nullptr) h->refs.fetch_add(1, std::memory_order_relaxed);
  return h;
}
template <class Handle>
void released(Handle* h) {
  if (h != nullptr && h->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete h;
}

}  // namespace
}  // namespace lathe::c

using namespace lathe;     // NOLINT: this file is the C face of that namespace
using namespace lathe::c;  // NOLINT

extern "C" {

lathe_status lathe_program_load(const char* path, lathe_program** out) {
  return guarded("lathe_program_load", {given("path", path), given("out", out)},
                 [&] { *out = new_program(SavedProgram::load(path)); });
}

lathe_status lathe_program_parse(const void* data, size_t bytes, const char* name,
                                 lathe_program** out) {
  return guarded("lathe_program_parse", {given("data", data, bytes), given("out", out)}, [&] {
    std::string_view text(static_cast<const char*>(data), bytes);
    *out = new_program(SavedProgram::parse(text, name == nullptr ? "memory" : name));
  });
}

lathe_status lathe_program_of_text(const char* text, const char* function, const char* name,
                                   lathe_program** out) {
  return guarded("lathe_program_of_text", {given("text", text), given("out", out)}, [&] {
    *out = new_program(SavedProgram::from_text(text, function == nullptr ? "" : function,
                                               name == nullptr ? "text" : name));
  });
}

lathe_program* lathe_program_retain(lathe_program* p) { return retained(p); }
void lathe_program_release(lathe_program* p) { released(p); }

lathe_status lathe_program_save(const lathe_program* p, const char* path) {
  return guarded("lathe_program_save", {given("p", p), given("path", path)},
                 [&] { p->program->save(path); });
}

size_t lathe_program_input_count(const lathe_program* p) {
  return answer("lathe_program_input_count", size_t{0}, {given("p", p)},
                [&] { return p->inputs.size(); });
}
size_t lathe_program_output_count(const lathe_program* p) {
  return answer("lathe_program_output_count", size_t{0}, {given("p", p)},
                [&] { return p->outputs.size(); });
}

lathe_status lathe_program_input(const lathe_program* p, size_t index, lathe_slot* slot) {
  return guarded("lathe_program_input", {given("p", p), given("slot", slot)},
                 [&] { fill(p->inputs, index, slot); });
}

lathe_status lathe_program_output(const lathe_program* p, size_t index, lathe_slot* slot) {
  return guarded("lathe_program_output", {given("p", p), given("slot", slot)},
                 [&] { fill(p->outputs, index, slot); });
}

lathe_status lathe_program_run(const lathe_program* p, lathe_tensor* const* inputs,
                               size_t input_count, lathe_tensor** results, size_t room,
                               size_t* count) {
  return guarded(
      "lathe_program_run",
      {given("p", p), each("inputs", inputs, input_count), given("results", results, room)}, [&] {
        ir::Data out = p->program->run(data_of(inputs, input_count));
        give(tensors_of(out), results, room, count);
      });
}

lathe_status lathe_program_compile(const lathe_program* p, char** why) {
  return guarded("lathe_program_compile", {given("p", p)}, [&] {
    std::string reasons = p->program->compile();
    if (why != nullptr) *why = give_text(reasons);
  });
}

size_t lathe_program_peak_bytes(const lathe_program* p) {
  return answer("lathe_program_peak_bytes", size_t{0}, {given("p", p)},
                [&] { return p->program->peak().bytes; });
}

lathe_status lathe_program_text(const lathe_program* p, lathe_view view, char** text) {
  return guarded("lathe_program_text", {given("p", p), given("text", text)},
                 [&] { *text = give_text(text_of(*p->program, view)); });
}

// ── functions ──

lathe_status lathe_function_create(const char* name, lathe_body body, void* user,
                                   void (*drop)(void* user), lathe_function** out) {
  return guarded("lathe_function_create", {given("body", body), given("out", out)}, [&] {
    *out = new lathe_function(name == nullptr ? "function" : name, body, user, drop);
  });
}

lathe_function* lathe_function_retain(lathe_function* f) { return retained(f); }
void lathe_function_release(lathe_function* f) { released(f); }

lathe_status lathe_function_call(lathe_function* f, lathe_tensor* const* inputs, size_t input_count,
                                 lathe_tensor** results, size_t room, size_t* count) {
  return guarded(
      "lathe_function_call",
      {given("f", f), each("inputs", inputs, input_count), given("results", results, room)}, [&] {
        Tensors in = tensors_of(data_of(inputs, input_count));
        auto body = [&](const Tensors& xs) { return run_body(*f, xs); };
        const bool inside = thread_state().backend != nullptr;  // part of an outer trace or vmap
        give(inside ? body(in) : f->engine(in, body), results, room, count);
      });
}

void lathe_function_counts(const lathe_function* f, int64_t* calls, int64_t* traces) {
  guarded("lathe_function_counts", {given("f", f)}, [&] {
    const lathe::jit::FunctionCounts n = f->engine.counts();
    if (calls != nullptr) *calls = n.calls;
    if (traces != nullptr) *traces = n.traces;
  });
}

lathe_status lathe_function_capture(lathe_function* f, lathe_tensor* const* inputs,
                                    size_t input_count, lathe_program** out) {
  return guarded("lathe_function_capture",
                 {given("f", f), each("inputs", inputs, input_count), given("out", out)},
                 [&] { *out = new_program(captured(*f, data_of(inputs, input_count))); });
}

lathe_status lathe_function_text(const lathe_function* f, lathe_view view, char** text) {
  return guarded("lathe_function_text", {given("f", f), given("text", text)},
                 [&] { *text = give_text(text_of(f->engine, view)); });
}

lathe_status lathe_rewrite_add(const char* pattern, const char* replacement, const char* where,
                               int exact, int64_t* id) {
  return guarded("lathe_rewrite_add",
                 {given("pattern", pattern), given("replacement", replacement), given("id", id)},
                 [&] {
                   *id = ir::add_user_rule(
                       {.pattern = pattern,
                        .replacement = replacement,
                        .where = where == nullptr ? "" : where,
                        .exactness = exact != 0 ? ir::Exactness::exact : ir::Exactness::approximate,
                        .site = here()});
                 });
}

lathe_status lathe_rewrite_remove(int64_t id) {
  return guarded("lathe_rewrite_remove", {}, [&] {
    if (!ir::remove_user_rule(id))
      throw ValueError({.op = "rewrite",
                        .problem = "there is no rule of this number",
                        .got = absl::StrCat(id),
                        .next = "remove a rule once"});
  });
}

}  // extern "C"
