// Programs that were saved, and functions that are traced here.
#include <absl/strings/str_cat.h>

#include "capi/handles.h"
#include "core/inplace.h"
#include "graph/text.h"

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

const SavedProgram& program(const lathe_program* p) {
  if (p == nullptr) throw TypeError({.problem = "the program is NULL"});
  return *p->program;
}

lathe_function& function(lathe_function* f) {
  if (f == nullptr) throw TypeError({.problem = "the function is NULL"});
  return *f;
}

void fill(const std::vector<lathe_program::Slot>& slots, size_t index, lathe_slot* out) {
  require_place(out, "the slot");
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
  if (count > 0) require_place(inputs, "the inputs");
  ir::Data out;
  for (size_t i = 0; i < count; ++i) {
    Tensor t = tensor(inputs[i], "input");
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

/// Runs the caller's code, on symbolic tensors or on ordinary ones.
Tensors run_body(const lathe_function& f, const Tensors& inputs) {
  constexpr size_t kMostResults = 256;
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
class Captured final : public ir::Host {
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

std::string text_of(const SavedProgram& p, lathe_view view) {
  switch (view) {
    case LATHE_EXPLAIN:
      return p.explain();
    case LATHE_GRAPH:
      return ir::print(p.graph());
    case LATHE_OPTIMISED:
      return ir::print(p.optimised());
    case LATHE_NOTE:
      return p.note();
  }
  throw ValueError({.problem = "there is no such view", .expected = "one of lathe_view"});
}

std::string text_of(const jit::Function& f, lathe_view view) {
  if (view == LATHE_EXPLAIN) return f.explain();
  if (view == LATHE_NOTE) return "";
  std::string out;
  for (const auto& c : f.compiled())
    out += ir::print(view == LATHE_GRAPH ? c->traced.graph : c->program->graph());
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
  return guarded([&] {
    require_place(path, "the path");
    require_place(out, "the program");
    *out = new_program(SavedProgram::load(path));
  });
}

lathe_status lathe_program_parse(const void* data, size_t bytes, const char* name,
                                 lathe_program** out) {
  return guarded([&] {
    require_place(data, "the program's bytes");
    require_place(out, "the program");
    std::string_view text(static_cast<const char*>(data), bytes);
    *out = new_program(SavedProgram::parse(text, name == nullptr ? "memory" : name));
  });
}

lathe_program* lathe_program_retain(lathe_program* p) { return retained(p); }
void lathe_program_release(lathe_program* p) { released(p); }

lathe_status lathe_program_save(const lathe_program* p, const char* path) {
  return guarded([&] {
    require_place(path, "the path");
    program(p).save(path);
  });
}

size_t lathe_program_input_count(const lathe_program* p) { return p ? p->inputs.size() : 0; }
size_t lathe_program_output_count(const lathe_program* p) { return p ? p->outputs.size() : 0; }

lathe_status lathe_program_input(const lathe_program* p, size_t index, lathe_slot* slot) {
  return guarded([&] {
    program(p);
    fill(p->inputs, index, slot);
  });
}

lathe_status lathe_program_output(const lathe_program* p, size_t index, lathe_slot* slot) {
  return guarded([&] {
    program(p);
    fill(p->outputs, index, slot);
  });
}

lathe_status lathe_program_run(const lathe_program* p, lathe_tensor* const* inputs,
                               size_t input_count, lathe_tensor** results, size_t room,
                               size_t* count) {
  return guarded([&] {
    ir::Data out = program(p).run(data_of(inputs, input_count));
    give(tensors_of(out), results, room, count);
  });
}

lathe_status lathe_program_compile(const lathe_program* p, char** why) {
  return guarded([&] {
    std::string reasons = program(p).compile();
    if (why != nullptr) *why = give_text(reasons);
  });
}

size_t lathe_program_peak_bytes(const lathe_program* p) {
  return p == nullptr ? 0 : p->program->peak_bytes();
}

lathe_status lathe_program_text(const lathe_program* p, lathe_view view, char** text) {
  return guarded([&] {
    require_place(text, "the text");
    *text = give_text(text_of(program(p), view));
  });
}

// ── functions ──

lathe_status lathe_function_create(const char* name, lathe_body body, void* user,
                                   void (*drop)(void* user), lathe_function** out) {
  return guarded([&] {
    require_place(out, "the function");
    if (body == nullptr) throw TypeError({.problem = "the body is NULL"});
    *out = new lathe_function(name == nullptr ? "function" : name, body, user, drop);
  });
}

lathe_function* lathe_function_retain(lathe_function* f) { return retained(f); }
void lathe_function_release(lathe_function* f) { released(f); }

lathe_status lathe_function_call(lathe_function* f, lathe_tensor* const* inputs, size_t input_count,
                                 lathe_tensor** results, size_t room, size_t* count) {
  return guarded([&] {
    lathe_function& fn = function(f);
    Tensors in = tensors_of(data_of(inputs, input_count));
    auto body = [&](const Tensors& xs) { return run_body(fn, xs); };
    if (thread_state().trace_epoch != 0) {  // part of an outer trace
      give(body(in), results, room, count);
      return;
    }
    give(fn.engine(in, body), results, room, count);
  });
}

void lathe_function_counts(const lathe_function* f, int64_t* calls, int64_t* traces) {
  if (f == nullptr) return;
  const lathe::jit::FunctionCounts n = f->engine.counts();
  if (calls != nullptr) *calls = n.calls;
  if (traces != nullptr) *traces = n.traces;
}

lathe_status lathe_function_capture(lathe_function* f, lathe_tensor* const* inputs,
                                    size_t input_count, lathe_program** out) {
  return guarded([&] {
    require_place(out, "the program");
    *out = new_program(captured(function(f), data_of(inputs, input_count)));
  });
}

lathe_status lathe_function_text(const lathe_function* f, lathe_view view, char** text) {
  return guarded([&] {
    require_place(text, "the text");
    *text = give_text(text_of(function(const_cast<lathe_function*>(f)).engine, view));
  });
}

}  // extern "C"
