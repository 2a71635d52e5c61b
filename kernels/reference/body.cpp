#include "kernels/reference/body.h"

#include <cstring>

namespace lathe::reference {
namespace {

State evaluated(const ScalarFunction& f, absl::Span<const uint64_t> inputs) {
  const auto parts = evaluate(f, {.inputs = inputs});
  return {parts.begin(), parts.end()};
}

}  // namespace

void write_bits(std::byte* at, size_t bytes, uint64_t bits) { std::memcpy(at, &bits, bytes); }

void read_element(DType dtype, const std::byte* at, State& out) {
  const size_t bytes = size_of(real_type(dtype));
  for (size_t part = 0; part < parts_of(dtype); ++part) {
    uint64_t bits = 0;
    std::memcpy(&bits, at + part * bytes, bytes);
    out.push_back(bits);
  }
}

const uint64_t* write_element(DType dtype, std::byte* at, const uint64_t* parts) {
  const size_t bytes = size_of(real_type(dtype));
  for (size_t part = 0; part < parts_of(dtype); ++part)
    write_bits(at + part * bytes, bytes, *parts++);
  return parts;
}

void run_line(const ScalarFunction& f, absl::Span<const LineOperand> in,
              absl::Span<const LineOperand> out, int64_t count, const LineContext& context) {
  absl::InlinedVector<int64_t, 6> index(context.index.begin(), context.index.end());
  State inputs;
  auto place = [](const LineOperand& operand, DType dtype, int64_t i) {
    return operand.data + i * operand.stride * static_cast<int64_t>(size_of(dtype));
  };
  for (int64_t i = 0; i < count; ++i) {
    inputs.clear();
    for (size_t k = 0; k < in.size(); ++k)
      read_element(f.inputs[k], place(in[k], f.inputs[k], i), inputs);
    uint32_t failed = 0;
    ScalarEnv env{.inputs = inputs,
                  .index = index,
                  .linear = context.linear + i,
                  .seed = context.seed,
                  .call = context.call,
                  .failed = &failed};
    const std::vector<uint64_t> results = evaluate(f, env);
    const uint64_t* at = results.data();
    for (size_t k = 0; k < out.size(); ++k)
      at = write_element(f.output_types[k], place(out[k], f.output_types[k], i), at);
    if (failed != 0 && context.checks != nullptr)
      context.checks->failed(context.linear + i, failed);
    if (context.axis >= 0) ++index[static_cast<size_t>(context.axis)];
  }
}

State unit(const ReduceBodies& fold) { return {fold.unit.begin(), fold.unit.end()}; }

State lift(const ReduceBodies& fold, State element, int64_t index) {
  element.push_back(static_cast<uint64_t>(index));
  return evaluated(fold.lift, element);
}

State combine(const ReduceBodies& fold, const State& a, const State& b) {
  State in = a;
  in.insert(in.end(), b.begin(), b.end());
  return evaluated(fold.combine, in);
}

State finish(const ReduceBodies& fold, const State& s, int64_t count) {
  State in = s;
  in.push_back(static_cast<uint64_t>(count));
  return evaluated(fold.finish, in);
}

}  // namespace lathe::reference
