#include "jit/kernel/element_kernel.h"

#include <absl/strings/str_cat.h>

#include <mutex>

#include "core/base/checks.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "kernels/own/copy.h"
#include "kernels/runtime/pool.h"

namespace lathe::jit {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;

}  // namespace

ElementKernel::ElementKernel(const Lowered& lowered)
    : CompiledKernel(schedule(lowered.kernel)),
      tensors_(lowered.tensors),
      numbers_(lowered.numbers),
      simd_(of_elements(loops())->f),
      inputs_(of_elements(loops())->operands.size()),
      positions_(reads_position(of_elements(loops())->f)) {}

bool ElementKernel::may_replace(size_t tensor, size_t result) const {
  const Compute& c = *of_elements(loops());
  const Access& store = c.stores[result];
  auto buffer = [&](int b) { return loops().buffers[static_cast<size_t>(b)]; };
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
bool ElementKernel::moves_like(const Access& load, const Access& store) const {
  for (size_t axis = 0; axis < loops().axes.size(); ++axis)
    if (!identical(loops().axes[axis].extent, Int(1)) &&
        !identical(load.map.strides[axis], store.map.strides[axis]))
      return false;
  return true;
}

ElementKernel::Bound ElementKernel::bind(const std::function<int64_t(Int)>& value) const {
  Bound b;
  CompiledKernel::bind(value, b);
  for (int64_t extent : b.extents) b.elements *= extent;
  return b;
}

void ElementKernel::move(const Bound& bound, const Run& run) const {
  const Sizes shape(bound.extents.begin(), bound.extents.end());
  const auto side = [&](size_t k) {
    const DType dtype = loops().buffers[static_cast<size_t>(places()[k].buffer)].dtype;
    ::lathe::Operand o{place(k, bound, run), dtype, shape, {}};
    for (size_t axis = 0; axis < shape.size(); ++axis)
      o.strides.push_back(bound.strides[k * shape.size() + axis] / places()[k].item);
    return o;
  };
  own::copy_elements(side(0), side(1));
}

Engine ElementKernel::run(const Bound& bound, const Run& run) const {
  if (moves(run.wanted)) {
    if (bound.elements == 0) return Engine::none;
    move(bound, run);
    return Engine::moved;
  }
  const KernelFn fn = bound.elements == 0 ? nullptr : code_for(run);
  this->run(fn, bound, run);
  return bound.elements == 0 ? Engine::none : fn != nullptr ? Engine::generated : Engine::simd;
}

void ElementKernel::run(KernelFn fn, const Bound& bound, const Run& run) const {
  Launch launch(fn, *this, bound, run);
  parallel_for(bound.elements, launch.grain(),
               [&](int64_t begin, int64_t end) { launch.piece(begin, end); });
  launch.finish();
}

// ── a run ───────────────────────────────────────────────────────────────────────────────────────

ElementKernel::Launch::Launch(KernelFn code, const ElementKernel& kernel, const Bound& bound,
                              const Run& run)
    : kernel_(kernel), bound_(bound), run_(run), code_(code) {
  for (size_t k = 0; k < kernel.places().size(); ++k)
    places_.push_back(kernel.place(k, bound, run));
}

std::unique_ptr<ElementKernel::Repeated> ElementKernel::repeated(const Bound& bound,
                                                                 const Run& run) const {
  if (bound.elements == 0 || moves(run.wanted) || loops().facts.has_checks) return nullptr;
  const KernelFn code = code_for(run);
  if (code == nullptr || bound.elements > grain_of_code()) return nullptr;
  return std::unique_ptr<Repeated>(new Repeated(*this, bound, run, code));
}

ElementKernel::Repeated::Repeated(const ElementKernel& kernel, const Bound& bound, const Run& run,
                                  KernelFn code)
    : code_(code),
      uniforms_(run.uniforms.begin(), run.uniforms.end()),
      extents_(bound.extents),
      strides_(bound.strides) {
  const Run own{{}, uniforms_};
  for (size_t k = 0; k < kernel.places().size(); ++k) {
    const int buffer = kernel.places()[k].buffer;
    const bool tensor = buffer >= 0;
    if (tensor) tensors_.push_back({k, static_cast<size_t>(buffer), bound.offsets[k]});
    places_.push_back(tensor ? nullptr : kernel.place(k, bound, own));
  }
  args_.data = places_.data();
  args_.extents = extents_.data();
  args_.strides = strides_.data();
  args_.end = bound.elements;
}

int64_t ElementKernel::grain_of_code() const {
  return std::max<int64_t>(1024, (int64_t{1} << 18) / (1 + loops().facts.flops_per_element));
}

int64_t ElementKernel::Launch::grain() const {
  return code_ == nullptr ? kGrainBytes / 4 : kernel_.grain_of_code();
}

void ElementKernel::Launch::piece(int64_t begin, int64_t end) {
  if (begin == end) return;
  if (code_ == nullptr) return by_simd(begin, end);
  KernelArgs args;
  args.data = places_.data();
  args.extents = bound_.extents.data();
  by_code(args, begin, end);
}

void ElementKernel::Launch::by_code(KernelArgs args, int64_t begin, int64_t end) {
  args.strides = bound_.strides.data();
  args.begin = begin;
  args.end = end;
  args.error = reinterpret_cast<uint64_t*>(&error_);
  static_assert(sizeof error_ == sizeof(uint64_t));
  code_(&args);
}

/// A part of as many rows of the last axis as there are lines, which follow each other along the
/// axis before; nothing asks for positions, which begin anew.
bool ElementKernel::Launch::are_rows(const Epilogue::Lines& lines) const {
  const size_t rank = bound_.extents.size();
  if (code_ == nullptr || rank < 2 || kernel_.positions_) return false;
  const int64_t length = bound_.extents[rank - 1], rows = bound_.extents[rank - 2];
  return lines.apart == length && lines.first % length + lines.count <= length &&
         lines.first / length % rows + lines.lines <= rows;
}

void ElementKernel::Launch::lines(const Epilogue::Lines& lines) {
  if (lines.lines == 1 || !are_rows(lines)) {
    for (int64_t l = 0; l < lines.lines; ++l) {
      const int64_t first = lines.first + l * lines.apart;
      piece(first, first + lines.count);
    }
    return;
  }
  const size_t rank = bound_.extents.size();
  auto extents = bound_.extents;
  auto places = places_;
  int64_t rest = lines.first;
  for (size_t axis = rank; axis-- > 0; rest /= bound_.extents[axis])
    for (size_t k = 0; k < places.size(); ++k)
      places[k] += rest % bound_.extents[axis] * bound_.strides[k * rank + axis];
  extents[rank - 1] = lines.count;
  extents[rank - 2] = lines.lines;
  KernelArgs args;
  args.data = places.data();
  args.extents = extents.data();
  by_code(args, 0, lines.lines * lines.count);
}

void ElementKernel::Launch::by_simd(int64_t begin, int64_t end) {
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
      at[k] = {places_[k] + offset, strides[rank - 1] / kernel_.places()[k].item};
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

void ElementKernel::Launch::finish() const {
  if (uint64_t word = error_.load(); word != kNoError)
    kernel_.check_failed(run_, bound_, error_index(word), error_code(word));
  if (uint64_t slot = checks_.lowest.load(); slot != UINT64_MAX)
    kernel_.check_failed(run_, bound_, static_cast<int64_t>(slot >> 8),
                         static_cast<uint32_t>(slot & 0xff));
}

void ElementKernel::check_failed(const Run& run, const Bound& bound, int64_t linear,
                                 uint32_t code) const {
  std::string at;
  for (size_t i = bound.extents.size(); i-- > 0;) {
    at = absl::StrCat(linear % bound.extents[i], at.empty() ? "" : ", ", at);
    linear /= bound.extents[i];
  }
  throw_check(std::string(run.op), code, at, run.site);
}

}  // namespace lathe::jit
