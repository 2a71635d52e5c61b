// Programs as they are called: contexts, counts, what is packed once for all calls.
#include "jit/program/program.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/dispatch/profile.h"
#include "jit/program/held_packed.h"
#include "jit/program/memory.h"
#include "jit/program/runner.h"

namespace lathe::jit {

constexpr size_t kSmallArena = size_t{1} << 20;  // that every program keeps

ir::Data Program::run(const ir::Data& inputs, RunContext& context) const {
  Runner runner(*this, context);
  return profiling() ? runner.run_profiled(inputs) : runner.run(inputs);
}

ir::Data Program::run(const ir::Data& inputs) const {
  std::unique_ptr<RunContext> context;
  {
    std::lock_guard hold(mutex_);
    if (!idle_.empty()) {
      context = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!context) context = std::make_unique<RunContext>(*this);
  context->counts_ = {};
  ir::Data outputs = run(inputs, *context);  // one that throws is not used again
  std::lock_guard hold(mutex_);
  counts_ += context->counts_;
  const ArenaSize size = context->arena_size();
  if (size.bytes > peak_.bytes) peak_ = size;
  // To bind anew costs nothing beside the work on so much memory.
  if (keeps_arena_ || size.bytes <= kSmallArena) idle_.push_back(std::move(context));
  return outputs;
}

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  ops += other.ops;
  kernels_generated += other.kernels_generated;
  kernels_simd += other.kernels_simd;
  kernels_moved += other.kernels_moved;
  bindings += other.bindings;
  alike_rounds += other.alike_rounds;
  in_panels += other.in_panels;
  return *this;
}

RunCounts Program::counts() const {
  RunCounts all;
  for (const auto& [name, program] : functions_) all += program->counts();
  std::lock_guard hold(mutex_);
  return all += counts_;
}

ArenaSize Program::peak() const {
  ArenaSize all;
  const auto add = [&](ArenaSize one) {
    all.bytes += one.bytes;
    all.least += one.least;
  };
  for (const auto& [name, program] : functions_) add(program->peak());
  std::lock_guard hold(mutex_);
  add(peak_);
  return all;
}

size_t Program::peak_bytes(const ir::Data& inputs) const { return Footprint::peak(*this, inputs); }

const Program* Program::planned(const std::string& function) const {
  auto it = functions_.find(function);
  return it == functions_.end() ? nullptr : it->second.get();
}

int Program::kernels() const {
  int count = 0;
  each_kernel([&](const auto&) { ++count; });
  return count;
}

std::map<std::string, int, std::less<>> Program::changes() const {
  std::map<std::string, int, std::less<>> all = changes_;
  for (const auto& [name, program] : functions_)
    for (const auto& [pass, count] : program->changes_) all[pass] += count;
  return all;
}

int Program::launches() const {
  return static_cast<int>(std::count_if(steps_.begin(), steps_.end(), [](const Step& s) {
    const bool number = s.kind == Step::Kind::op && s.types.size() != s.node->out().size();
    return !s.elided && !s.view && !number;
  }));
}

void Program::hold_constants() {
  for (const auto& [slot, value] : constants_)
    if (packed_only_.contains(slot)) hold(*value.tensor().impl());
}

std::string Program::compile() const {
  std::string why;
  const auto compile = [&](const auto& kernel) {
    const std::string w = kernel.code().compile();
    if (!w.empty()) absl::StrAppend(&why, kernel.loops().name, ": ", w, "\n");
  };
  each_kernel(compile);
  return why;
}

RunContext::RunContext(const Program& program)
    : program_(&program),
      slots_(static_cast<size_t>(program.slots_)),
      addresses_(static_cast<size_t>(program.slots_)) {
  for (const auto& [slot, value] : program.constants_) slots_[static_cast<size_t>(slot)] = value;
}
RunContext::~RunContext() = default;
RunContext::RunContext(RunContext&&) noexcept = default;
ArenaSize RunContext::arena_size() const { return bound_ ? bound_->arena : ArenaSize(); }

}  // namespace lathe::jit
