#include "jit/kernel/row_kernel.h"

#include <algorithm>

#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

constexpr int64_t kAlign = 64;
/// Operations that a thread takes at a time.
constexpr int64_t kGrain = 1 << 17;

}  // namespace

Kernel with_lowered_functions(Kernel k) {
  each_statement(k.body, [](auto& statement) {
    for (ScalarFunction* f : functions(statement)) *f = lathe::lower(*f);
  });
  return k;
}

RowKernel::RowKernel(LoweredRows lowered)
    : lowered_(std::move(lowered)),
      code_([this] { return get_kernel(with_lowered_functions(loops())); }) {
  const Kernel& k = loops();
  const auto place = [&](const Access& a) {
    const Buf& buf = k.buffers[static_cast<size_t>(a.buf)];
    places_.push_back({a.buf, -1, static_cast<int64_t>(size_of(buf.dtype)), &a});
  };
  each_operand(
      k.body,
      [&](const Operand& o) {
        if (const auto* access = std::get_if<Access>(&o)) return place(*access);
        places_.push_back({-1, std::get<Uniform>(o).slot, 1, nullptr});
      },
      place);
}

RowKernel::Bound RowKernel::bind(const std::function<int64_t(Int)>& value) const {
  const Kernel& k = loops();
  Bound b;
  b.rows = 1;
  for (const Axis& a : k.axes) b.extents.push_back(value(a.extent));
  for (int a = 0; a < k.parallel; ++a) b.rows *= b.extents[static_cast<size_t>(a)];
  for (const Place& p : places_) {
    b.offsets.push_back(p.access == nullptr ? 0 : value(p.access->map.offset) * p.item);
    for (size_t a = 0; a < k.axes.size(); ++a)
      b.strides.push_back(p.access == nullptr ? 0 : value(p.access->map.along(a)) * p.item);
  }
  b.locals.resize(k.buffers.size());
  int64_t bytes = 0;
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buf& buf = k.buffers[i];
    if (buf.space != Space::local) continue;
    b.locals[i] = bytes;
    bytes += kRowsTogether * value(buf.elements) * static_cast<int64_t>(size_of(buf.dtype));
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  }
  b.scratch_bytes = static_cast<size_t>(bytes);
  b.row_work = 64 + b.extents.back() * std::max<int64_t>(1, k.facts.flops_per_element);
  return b;
}

int64_t RowKernel::grain(const Bound& bound) const {
  const int64_t rows = kGrain / bound.row_work / kRowsTogether * kRowsTogether;
  return std::max<int64_t>(kRowsTogether, rows);
}

size_t RowKernel::room(const Bound& bound) const {
  const int64_t each = grain(bound), shares = (bound.rows + each - 1) / each;
  return static_cast<size_t>(std::min<int64_t>(pool_threads(), shares)) *
         size_class_bytes(bound.scratch_bytes);
}

Engine RowKernel::run(const Bound& bound, const KernelRun& run) const {
  if (bound.rows == 0) return Engine::none;
  const KernelFn fn = code_.for_run(run.wanted, run.op, run.site);
  this->run(fn, bound, run);
  return fn != nullptr ? Engine::generated : Engine::simd;
}

const SimdKernel& RowKernel::simd() const {
  std::call_once(simd_made_, [this] { simd_ = std::make_unique<SimdKernel>(loops()); });
  return *simd_;
}

void RowKernel::run(KernelFn fn, const Bound& bound, const KernelRun& run) const {
  const Kernel& k = loops();
  absl::InlinedVector<std::byte*, 24> shared;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& p = places_[i];
    std::byte* at = nullptr;  // a local: each thread has its own
    if (p.uniform >= 0) {
      const uint64_t* bits = &run.uniforms[static_cast<size_t>(p.uniform)];
      at = reinterpret_cast<std::byte*>(const_cast<uint64_t*>(bits));  // read only
    } else if (k.buffers[static_cast<size_t>(p.buffer)].space == Space::argument) {
      at = run.buffers[static_cast<size_t>(p.buffer)] + bound.offsets[i];
    }
    shared.push_back(at);
  }
  const SimdKernel* by_simd = fn == nullptr ? &simd() : nullptr;
  parallel_for(bound.rows, grain(bound), [&](int64_t begin, int64_t end) {
    Scratch scratch(bound.scratch_bytes);
    absl::InlinedVector<std::byte*, 24> data = shared;
    for (size_t i = 0; i < places_.size(); ++i)
      if (places_[i].buffer >= 0 &&
          k.buffers[static_cast<size_t>(places_[i].buffer)].space == Space::local)
        data[i] = scratch.data() + bound.locals[static_cast<size_t>(places_[i].buffer)];
    if (by_simd != nullptr) return by_simd->run({data, bound.extents, bound.strides, begin, end});
    KernelArgs args;
    args.data = data.data();
    args.extents = bound.extents.data();
    args.strides = bound.strides.data();
    args.begin = begin;
    args.end = end;
    fn(&args);
  });
}

std::string RowKernel::vectors() const {
  const CodegenOrReason& llvm = open_codegen();
  if (llvm.codegen == nullptr) return llvm.reason + "\n";
  const Result<std::string> text =
      llvm.codegen->print(with_lowered_functions(loops()), llvm.codegen->host());
  return text ? text.value : text.error + "\n";
}

}  // namespace lathe::jit
