#include "jit/kernel/pointwise.h"

#include <absl/strings/str_cat.h>

#include <mutex>

#include "core/base/checks.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "jit/kernel/kernels.h"
#include "kernels/own/copy.h"
#include "kernels/runtime/pool.h"

namespace lathe::jit {
namespace {

const Compute& only_statement(const Kernel& kernel) {
  return std::get<Compute>(kernel.body[0].node);
}

constexpr int64_t kGrainBytes = 1 << 16;

}  // namespace

PointwiseKernel::PointwiseKernel(const Lowered& lowered)
    : loops_(schedule(lowered.kernel)),
      tensors_(lowered.tensors),
      numbers_(lowered.numbers),
      simd_(only_statement(loops_).f),
      code_([this] { return make_code(); }) {
  const Compute& c = only_statement(loops_);
  inputs_ = c.operands.size();
  size_t k = 0;
  for (const Access* load : loads()) {
    buffer_of_.push_back(load != nullptr ? load->buf : -1);
    uniform_of_.push_back(load != nullptr ? -1 : std::get<Uniform>(c.operands[k]).slot);
    item_bytes_.push_back(
        load == nullptr
            ? 1
            : static_cast<int64_t>(size_of(loops_.buffers[static_cast<size_t>(load->buf)].dtype)));
    ++k;
  }
}

absl::InlinedVector<const Access*, 6> PointwiseKernel::loads() const {
  const Compute& c = only_statement(loops_);
  absl::InlinedVector<const Access*, 6> out;
  for (const Operand& o : c.operands) out.push_back(std::get_if<Access>(&o));
  for (const Access& store : c.stores) out.push_back(&store);
  return out;
}

bool PointwiseKernel::may_replace(size_t tensor, size_t result) const {
  const Compute& c = only_statement(loops_);
  const Access& store = c.stores[result];
  auto buffer = [&](int b) { return loops_.buffers[static_cast<size_t>(b)]; };
  bool read = false;
  for (const Operand& o : c.operands) {
    const auto* load = std::get_if<Access>(&o);
    if (load == nullptr || static_cast<size_t>(load->buf) != tensor) continue;
    read = true;
    if (buffer(load->buf).dtype != buffer(store.buf).dtype ||
        !identical(load->map.offset, store.map.offset) || !moves_like(*load, store))
      return false;
  }
  return read;
}

/// Along an axis of one position there is no step.
bool PointwiseKernel::moves_like(const Access& load, const Access& store) const {
  for (size_t axis = 0; axis < loops_.axes.size(); ++axis)
    if (!identical(loops_.axes[axis].extent, Int(1)) &&
        !identical(load.map.strides[axis], store.map.strides[axis]))
      return false;
  return true;
}

PointwiseKernel::Bound PointwiseKernel::bind(const std::function<int64_t(Int)>& value) const {
  Bound b;
  b.elements = 1;
  for (const Axis& a : loops_.axes) {
    b.extents.push_back(value(a.extent));
    b.elements *= b.extents.back();
  }
  for (const Access* load : loads()) {
    if (load == nullptr) {
      b.offsets.push_back(0);
      b.strides.insert(b.strides.end(), loops_.axes.size(), 0);
      continue;
    }
    auto bytes =
        static_cast<int64_t>(size_of(loops_.buffers[static_cast<size_t>(load->buf)].dtype));
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

std::byte* PointwiseKernel::place(size_t k, const Bound& bound, const Run& run) const {
  if (buffer_of_[k] >= 0) return run.buffers[static_cast<size_t>(buffer_of_[k])] + bound.offsets[k];
  const uint64_t* bits = &run.uniforms[static_cast<size_t>(uniform_of_[k])];
  return reinterpret_cast<std::byte*>(const_cast<uint64_t*>(bits));  // read only
}

void PointwiseKernel::move(const Bound& bound, const Run& run) const {
  const Sizes shape(bound.extents.begin(), bound.extents.end());
  const auto side = [&](size_t k) {
    const DType dtype = loops_.buffers[static_cast<size_t>(buffer_of_[k])].dtype;
    ::lathe::Operand o{place(k, bound, run), dtype, shape, {}};
    for (size_t axis = 0; axis < shape.size(); ++axis)
      o.strides.push_back(bound.strides[k * shape.size() + axis] / item_bytes_[k]);
    return o;
  };
  own::copy_elements(side(0), side(1));
}

Engine PointwiseKernel::run(const Bound& bound, const Run& run) const {
  if (moves(run.wanted)) {
    if (bound.elements == 0) return Engine::none;
    move(bound, run);
    return Engine::moved;
  }
  Launch launch(*this, bound, run);
  parallel_for(bound.elements, launch.grain(),
               [&](int64_t begin, int64_t end) { launch.piece(begin, end); });
  launch.finish();
  return launch.engine();
}

// ── a run ───────────────────────────────────────────────────────────────────────────────────────

PointwiseKernel::Launch::Launch(const PointwiseKernel& kernel, const Bound& bound, const Run& run)
    : kernel_(kernel),
      bound_(bound),
      run_(run),
      code_(bound.elements == 0 ? nullptr : kernel.code_for(run)) {
  for (size_t k = 0; k < kernel.buffer_of_.size(); ++k)
    places_.push_back(kernel.place(k, bound, run));
}

std::unique_ptr<PointwiseKernel::Repeated> PointwiseKernel::repeated(const Bound& bound,
                                                                     const Run& run) const {
  if (bound.elements == 0 || moves(run.wanted) || loops_.facts.has_checks) return nullptr;
  const KernelFn code = code_for(run);
  if (code == nullptr || bound.elements > grain_of_code()) return nullptr;
  return std::unique_ptr<Repeated>(new Repeated(*this, bound, run, code));
}

PointwiseKernel::Repeated::Repeated(const PointwiseKernel& kernel, const Bound& bound,
                                    const Run& run, KernelFn code)
    : code_(code),
      uniforms_(run.uniforms.begin(), run.uniforms.end()),
      extents_(bound.extents),
      strides_(bound.strides) {
  const Run own{{}, uniforms_};
  for (size_t k = 0; k < kernel.buffer_of_.size(); ++k) {
    const bool tensor = kernel.buffer_of_[k] >= 0;
    if (tensor)
      tensors_.push_back({k, static_cast<size_t>(kernel.buffer_of_[k]), bound.offsets[k]});
    places_.push_back(tensor ? nullptr : kernel.place(k, bound, own));
  }
  args_.data = places_.data();
  args_.extents = extents_.data();
  args_.strides = strides_.data();
  args_.origins = &origin_;
  args_.end = bound.elements;
}

int64_t PointwiseKernel::grain_of_code() const {
  return std::max<int64_t>(1024, (int64_t{1} << 18) / (1 + loops_.facts.flops_per_element));
}

int64_t PointwiseKernel::Launch::grain() const {
  return code_ == nullptr ? kGrainBytes / 4 : kernel_.grain_of_code();
}

void PointwiseKernel::Launch::piece(int64_t begin, int64_t end) {
  if (begin == end) return;
  if (code_ == nullptr) return by_simd(begin, end);
  const int64_t origins[] = {0};
  KernelArgs args;
  args.data = places_.data();
  args.extents = bound_.extents.data();
  args.strides = bound_.strides.data();
  args.origins = origins;
  args.begin = begin;
  args.end = end;
  args.error = reinterpret_cast<uint64_t*>(&error_);
  static_assert(sizeof error_ == sizeof(uint64_t));
  code_(&args);
}

void PointwiseKernel::Launch::by_simd(int64_t begin, int64_t end) {
  size_t rank = bound_.extents.size();
  int64_t length = bound_.extents[rank - 1];
  absl::InlinedVector<LineOperand, 8> at(places_.size());
  while (begin < end) {
    int64_t line = begin / length, start = begin % length;
    int64_t count = std::min({length - start, end - begin, kGrainBytes / 4});
    for (size_t k = 0; k < places_.size(); ++k) {
      const int64_t* strides = &bound_.strides[k * rank];
      int64_t rest = line, offset = start * strides[rank - 1];
      for (size_t axis = rank - 1; axis-- > 0;) {
        offset += rest % bound_.extents[axis] * strides[axis];
        rest /= bound_.extents[axis];
      }
      at[k] = {places_[k] + offset, strides[rank - 1] / kernel_.item_bytes_[k]};
    }
    LineContext context;
    context.linear = begin;
    context.checks = &checks_;
    auto all = absl::MakeConstSpan(at);
    kernel_.simd_.run(all.subspan(0, kernel_.inputs_), all.subspan(kernel_.inputs_), count, context,
                      own::Engine::simd);
    begin += count;
  }
}

void PointwiseKernel::Launch::finish() const {
  if (uint64_t word = error_.load(); word != kNoError)
    kernel_.check_failed(run_, bound_, error_index(word), error_code(word));
  if (uint64_t slot = checks_.lowest.load(); slot != UINT64_MAX)
    kernel_.check_failed(run_, bound_, static_cast<int64_t>(slot >> 8),
                         static_cast<uint32_t>(slot & 0xff));
}

void PointwiseKernel::check_failed(const Run& run, const Bound& bound, int64_t linear,
                                   uint32_t code) const {
  std::string at;
  for (size_t i = bound.extents.size(); i-- > 0;) {
    at = absl::StrCat(linear % bound.extents[i], at.empty() ? "" : ", ", at);
    linear /= bound.extents[i];
  }
  throw_check(std::string(run.op), code, at, run.site);
}

ElementwiseSpec PointwiseKernel::spec() const {
  const Compute& c = only_statement(loops_);
  ElementwiseSpec spec;
  spec.body = c.f;
  spec.rank = static_cast<int>(loops_.axes.size());
  size_t k = 0;
  for (const Access* load : loads()) {
    if (load == nullptr) {
      spec.operands.push_back({std::get<Uniform>(c.operands[k]).dtype, Stride::uniform});
    } else {
      Int inner = load->map.strides.back();
      Stride s = identical(inner, Int(1))                            ? Stride::contiguous
                 : identical(inner, Int(0)) && k < c.operands.size() ? Stride::uniform
                                                                     : Stride::strided;
      spec.operands.push_back({loops_.buffers[static_cast<size_t>(load->buf)].dtype, s});
    }
    ++k;
  }
  return spec;
}

std::string PointwiseKernel::vectors() const {
  if (loops_.axes.size() > static_cast<size_t>(kMaxRank)) return "too many axes\n";
  const CodegenOrReason& llvm = open_codegen();
  if (llvm.codegen == nullptr) return llvm.reason + "\n";
  const Result<std::string> text =
      llvm.codegen->print(with_lowered_functions(spec()), llvm.codegen->host());
  return text ? text.value : text.error + "\n";
}

MachineCode::Get PointwiseKernel::make_code() const {
  if (loops_.axes.size() > static_cast<size_t>(kMaxRank))
    return [](Effort) { return Result<LoadedKernel>{{}, "too many axes"}; };
  return [spec = spec()](Effort effort) { return get_kernel(spec, effort); };
}

}  // namespace lathe::jit
