#include "jit/pointwise.h"

#include <absl/strings/str_cat.h>
#include <absl/synchronization/mutex.h>

#include "core/error.h"
#include "core/flags.h"
#include "jit/kernels.h"
#include "kernels/pool.h"

namespace lathe::jit {
namespace {

const Compute& only_statement(const Nest& nest) { return std::get<Compute>(nest.body[0].node); }

constexpr int64_t kGrainBytes = 1 << 16;

[[noreturn]] void check_failed(const PointwiseKernel::Run& run, const PointwiseKernel::Bound& bound,
                               int64_t linear, uint32_t code) {
  std::string at;
  for (size_t i = bound.extents.size(); i-- > 0;) {
    at = absl::StrCat(linear % bound.extents[i], at.empty() ? "" : ", ", at);
    linear /= bound.extents[i];
  }
  throw ValueError({.op = std::string(run.op),
                    .problem = std::string(check_message(code)),
                    .got = absl::StrCat("at element [", at, "]"),
                    .site = run.site});
}

}  // namespace

struct PointwiseKernel::Code {
  LoadedCodeRef held;  // keeps `fn` callable
  KernelFn fn;
};

PointwiseKernel::PointwiseKernel(const Lowered& lowered)
    : nest_(schedule(lowered.nest)),
      tensors_(lowered.tensors),
      numbers_(lowered.numbers),
      strips_(only_statement(nest_).f) {
  // Every nest has an axis to walk along.
  if (nest_.axes.empty()) {
    nest_.axes.push_back({Int(1), Role::parallel});
    auto& c = std::get<Compute>(nest_.body[0].node);
    for (Operand& o : c.operands)
      if (auto* load = std::get_if<Load>(&o)) load->map.strides.push_back(Int(0));
    for (Load& store : c.stores) store.map.strides.push_back(Int(1));
  }
}

PointwiseKernel::~PointwiseKernel() = default;

absl::InlinedVector<const Load*, 6> PointwiseKernel::loads() const {
  const Compute& c = only_statement(nest_);
  absl::InlinedVector<const Load*, 6> out;
  for (const Operand& o : c.operands) out.push_back(std::get_if<Load>(&o));
  for (const Load& store : c.stores) out.push_back(&store);
  return out;
}

PointwiseKernel::Bound PointwiseKernel::bind(const std::function<int64_t(Int)>& value) const {
  Bound b;
  b.elements = 1;
  for (const Axis& a : nest_.axes) {
    b.extents.push_back(value(a.extent));
    b.elements *= b.extents.back();
  }
  for (const Load* load : loads()) {
    if (load == nullptr) {
      b.offsets.push_back(0);
      b.strides.insert(b.strides.end(), nest_.axes.size(), 0);
      continue;
    }
    auto bytes = static_cast<int64_t>(size_of(nest_.buffers[static_cast<size_t>(load->buf)].dtype));
    b.offsets.push_back(value(load->map.offset) * bytes);
    for (Int s : load->map.strides) b.strides.push_back(value(s) * bytes);
  }
  int64_t step = 1;
  absl::InlinedVector<int64_t, 6> linear(b.extents.size());
  for (size_t k = b.extents.size(); k-- > 0;) {
    linear[k] = step;
    step *= b.extents[k];
  }
  b.strides.insert(b.strides.end(), linear.begin(), linear.end());
  return b;
}

Engine PointwiseKernel::run(const Bound& bound, const Run& run) const {
  if (bound.elements == 0) return compiled() ? Engine::generated : Engine::strips;
  const Compute& c = only_statement(nest_);
  absl::InlinedVector<std::byte*, 8> data;
  size_t k = 0;
  for (const Load* load : loads()) {
    if (load != nullptr) {
      data.push_back(run.buffers[static_cast<size_t>(load->buf)] + bound.offsets[k]);
    } else {
      const uint64_t* bits =
          &run.uniforms[static_cast<size_t>(std::get<Uniform>(c.operands[k]).slot)];
      data.push_back(reinterpret_cast<std::byte*>(const_cast<uint64_t*>(bits)));  // read only
    }
    ++k;
  }
  std::string engine = flag_text(Flag::engine);
  if (engine == "llvm" && !compiled()) {
    std::string why = compile();
    if (!why.empty())
      throw UnsupportedError({.op = std::string(run.op),
                              .problem = "no machine code",
                              .got = why,
                              .next = "set the flag engine to auto"});
  } else if (engine == "auto" && !asked_.exchange(true)) {
    compile();
  }
  const Code* code = engine == "strips" ? nullptr : code_.load(std::memory_order_acquire);
  if (code == nullptr) {
    run_strips(bound, run, data);
    return Engine::strips;
  }
  run_code(*code, bound, run, data);
  return Engine::generated;
}

void PointwiseKernel::run_strips(const Bound& bound, const Run& run,
                                 absl::Span<std::byte* const> data) const {
  size_t rank = bound.extents.size(), operands = data.size();
  size_t inputs = only_statement(nest_).operands.size();
  int64_t length = bound.extents[rank - 1], lines = bound.elements / length;
  absl::InlinedVector<int64_t, 8> bytes;
  for (const Load* load : loads())
    bytes.push_back(load == nullptr ? 1
                                    : static_cast<int64_t>(size_of(
                                          nest_.buffers[static_cast<size_t>(load->buf)].dtype)));
  int64_t piece = std::min<int64_t>(length, kGrainBytes / 4), pieces = (length + piece - 1) / piece;
  CheckSlot checks;
  parallel_for(lines * pieces, std::max<int64_t>(1, kGrainBytes / 4 / piece),
               [&](int64_t begin, int64_t end) {
                 absl::InlinedVector<LineOperand, 8> at(operands);
                 for (int64_t t = begin; t < end; ++t) {
                   int64_t line = t / pieces, start = t % pieces * piece;
                   for (size_t k = 0; k < operands; ++k) {
                     const int64_t* strides = &bound.strides[k * rank];
                     int64_t rest = line, offset = start * strides[rank - 1];
                     for (size_t axis = rank - 1; axis-- > 0;) {
                       offset += rest % bound.extents[axis] * strides[axis];
                       rest /= bound.extents[axis];
                     }
                     at[k] = {data[k] + offset, strides[rank - 1] / bytes[k]};
                   }
                   LineContext context;
                   context.seed = run.seed;
                   context.call = run.call;
                   context.linear = line * length + start;
                   context.checks = &checks;
                   auto all = absl::MakeConstSpan(at);
                   strips_.run(all.subspan(0, inputs), all.subspan(inputs),
                               std::min(piece, length - start), context, own::Engine::strips);
                 }
               });
  if (uint64_t slot = checks.lowest.load(); slot != UINT64_MAX)
    check_failed(run, bound, static_cast<int64_t>(slot >> 8), static_cast<uint32_t>(slot & 0xff));
}

void PointwiseKernel::run_code(const Code& code, const Bound& bound, const Run& run,
                               absl::Span<std::byte* const> data) const {
  std::atomic<uint64_t> error{kNoError};
  static_assert(sizeof error == sizeof(uint64_t));
  int64_t grain = std::max<int64_t>(1024, (int64_t{1} << 18) / (1 + nest_.facts.flops_per_element));
  const int64_t origins[] = {0};
  parallel_for(bound.elements, grain, [&](int64_t begin, int64_t end) {
    KernelArgs args;
    args.data = data.data();
    args.extents = bound.extents.data();
    args.strides = bound.strides.data();
    args.origins = origins;
    args.begin = begin;
    args.end = end;
    args.seed = run.seed;
    args.call = run.call;
    args.error = reinterpret_cast<uint64_t*>(&error);
    code.fn(&args);
  });
  uint64_t word = error.load();
  if (word != kNoError) check_failed(run, bound, error_index(word), error_code(word));
}

ElementwiseSpec PointwiseKernel::spec() const {
  const Compute& c = only_statement(nest_);
  ElementwiseSpec spec;
  spec.body = lower(c.f);
  spec.rank = static_cast<int>(nest_.axes.size());
  size_t k = 0;
  for (const Load* load : loads()) {
    if (load == nullptr) {
      spec.operands.push_back({std::get<Uniform>(c.operands[k]).dtype, Stride::uniform});
    } else {
      Int inner = load->map.strides.back();
      Stride s = identical(inner, Int(1))                            ? Stride::contiguous
                 : identical(inner, Int(0)) && k < c.operands.size() ? Stride::uniform
                                                                     : Stride::strided;
      spec.operands.push_back({nest_.buffers[static_cast<size_t>(load->buf)].dtype, s});
    }
    ++k;
  }
  return spec;
}

std::string PointwiseKernel::compile() const {
  static absl::Mutex mutex(absl::kConstInit);
  absl::MutexLock lock(&mutex);
  if (compiled()) return "";
  asked_ = true;
  if (nest_.axes.size() > static_cast<size_t>(kMaxRank)) return "too many axes";
  auto kernel = get_kernel(spec());
  if (!kernel) return kernel.error;
  auto code = std::make_unique<Code>(Code{kernel.value.code, kernel.value.fn});
  code_.store(code.get(), std::memory_order_release);
  owned_ = std::move(code);
  return "";
}

}  // namespace lathe::jit
