// What core/dispatch/shortcut.h remembers of elementwise definitions: the loop of the definition's
// one primitive, or its strip program.
#include "kernels/own/shortcut.h"

#include "kernels/own/implementations.h"
#include "kernels/own/program.h"
#include "kernels/simd/choose_loops.h"
#include "kernels/table/table.h"

namespace lathe::own {
namespace {

void run_loop(const Shortcut& self, std::byte* out, const std::byte* const* in, unsigned,
              size_t n) {
  reinterpret_cast<StripFn>(self.loop)(out, reinterpret_cast<const void* const*>(in), n);
}

void run_program(const Shortcut& self, std::byte* out, const std::byte* const* in, unsigned splat,
                 size_t n) {
  const auto& program = *static_cast<const Program*>(self.program);
  LineOperand operands[4];
  size_t count = program.function().inputs.size();
  for (size_t i = 0; i < count; ++i)
    operands[i] = {const_cast<std::byte*>(in[i]), (splat >> i & 1) != 0 ? 0 : 1};
  LineOperand to{out, 1};
  program.run(absl::MakeConstSpan(operands, count), absl::MakeConstSpan(&to, 1),
              static_cast<int64_t>(n), LineContext{}, Engine::simd);
}

/// Definitions whose result depends on nothing but the dtype of the operands and what they hold.
bool plain(const Op& op, DType dtype) {
  if (op.schema.results.size() != 1 || !op.extra.fixed.empty() || is_complex(dtype)) return false;
  if (op.extra.promote == Promote::attribute || op.extra.promote == Promote::first) return false;
  // Integers become the default dtype, which may change.
  if (op.extra.promote == Promote::to_float && !is_floating(dtype)) return false;
  for (const Param& p : op.schema.params)
    if (p.type != ArgType::tensor && p.type != ArgType::real && p.type != ArgType::scalar)
      return false;
  return true;
}

}  // namespace

bool find_shortcut(const Op& op, Args args, Shortcut& out) {
  absl::InlinedVector<BodyInput, 4> inputs;
  absl::InlinedVector<bool, 4> single;
  DType dtype = DType::f32;
  int rank = 0;
  for (const Arg& a : args)
    if (a.tag == Tag::tensor) {
      dtype = a.tensor_->dtype;
      rank = std::max(rank, a.tensor_->geometry.rank());
    }
  if (!plain(op, dtype) || body_params(op).size() != args.size()) return false;
  Types types = op.infer(args);  // throws as call() would
  const Entry& entry = choose_entry(make_query(op, args, types));
  if (entry.call != run_body) return false;
  ElementTypes element = element_types(op, args);
  unsigned splat = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    bool number = args[i].tag != Tag::tensor;
    if (number || args[i].tensor_->geometry.rank() < rank) splat |= 1u << i;
    inputs.push_back(
        {number ? number_dtype(op, static_cast<int>(i), element.compute) : dtype, number});
  }
  const Program& program = program_of(op, element, inputs);
  if (program.copies() || program.uses_index() || program.uses_position()) return false;
  out.entry = entry.name;
  out.result = element.results[0];
  out.number = element.compute;
  out.program = &program;
  out.run = run_program;
  if (StripFn loop = program.whole(splat)) {
    out.loop = reinterpret_cast<void (*)()>(loop);
    out.run = run_loop;
  }
  return true;
}

}  // namespace lathe::own
