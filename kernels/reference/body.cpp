#include "kernels/reference/body.h"

#include <cstring>

namespace lathe::reference {
namespace {

/// evaluate gives a complex result as its two parts: joined, as the row sees it.
State joined(const ScalarFunction& f, const std::vector<uint64_t>& parts) {
  State out;
  size_t at = 0;
  for (DType d : f.output_types) {
    if (is_complex(d)) {
      out.push_back((parts[at] & 0xffffffffu) | parts[at + 1] << 32);
      at += 2;
    } else {
      out.push_back(parts[at++]);
    }
  }
  return out;
}

State evaluated(const ScalarFunction& f, absl::Span<const uint64_t> inputs) {
  ScalarEnv env{.inputs = inputs};
  return joined(f, evaluate(f, env));
}

}  // namespace

uint64_t read_bits(const std::byte* at, size_t bytes) {
  uint64_t x = 0;
  std::memcpy(&x, at, bytes);
  return x;
}

void write_bits(std::byte* at, size_t bytes, uint64_t bits) { std::memcpy(at, &bits, bytes); }

void run_line(const ScalarFunction& f, absl::Span<const LineOperand> in,
              absl::Span<const LineOperand> out, int64_t count, const LineContext& context) {
  absl::InlinedVector<int64_t, 6> index(context.index.begin(), context.index.end());
  absl::InlinedVector<uint64_t, 4> inputs(in.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < in.size(); ++k) {
      auto bytes = static_cast<int64_t>(size_of(f.inputs[k]));
      inputs[k] = read_bits(in[k].data + i * in[k].stride * bytes, static_cast<size_t>(bytes));
    }
    uint32_t failed = 0;
    ScalarEnv env{.inputs = inputs,
                  .index = index,
                  .linear = context.linear + i,
                  .seed = context.seed,
                  .call = context.call,
                  .failed = &failed};
    State results = joined(f, evaluate(f, env));
    for (size_t k = 0; k < results.size(); ++k) {
      auto bytes = static_cast<int64_t>(size_of(f.output_types[k]));
      write_bits(out[k].data + i * out[k].stride * bytes, static_cast<size_t>(bytes), results[k]);
    }
    if (failed != 0 && context.checks != nullptr)
      context.checks->failed(context.linear + i, failed);
    if (context.axis >= 0) ++index[static_cast<size_t>(context.axis)];
  }
}

State unit(const ReduceBodies& fold) {
  State out;
  size_t at = 0;
  for (DType d : fold.state) {
    if (is_complex(d)) {
      out.push_back((fold.unit[at] & 0xffffffffu) | fold.unit[at + 1] << 32);
      at += 2;
    } else {
      out.push_back(fold.unit[at++]);
    }
  }
  return out;
}

State lift(const ReduceBodies& fold, uint64_t element, int64_t index) {
  uint64_t in[] = {element, static_cast<uint64_t>(index)};
  return evaluated(fold.lift, in);
}

State combine(const ReduceBodies& fold, const State& a, const State& b) {
  absl::InlinedVector<uint64_t, 6> in(a.begin(), a.end());
  in.insert(in.end(), b.begin(), b.end());
  return evaluated(fold.combine, in);
}

absl::InlinedVector<uint64_t, 2> finish(const ReduceBodies& fold, const State& s, int64_t count) {
  absl::InlinedVector<uint64_t, 4> in(s.begin(), s.end());
  in.push_back(static_cast<uint64_t>(count));
  State y = evaluated(fold.finish, in);
  return {y.begin(), y.end()};
}

}  // namespace lathe::reference
