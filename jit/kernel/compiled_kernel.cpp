#include "jit/kernel/compiled_kernel.h"

#include "jit/kernel/kernels.h"
#include "jit/kernel_ir/scheduling.h"

namespace lathe::jit {

CompiledKernel::CompiledKernel(Kernel kernel)
    : loops_(std::move(kernel)), code_([this] {
        return [kernel = code_of(loops_)](Effort effort) { return get_kernel(kernel, effort); };
      }) {
  const auto place = [&](const Access& a) {
    const Buf& buf = loops_.buffers[static_cast<size_t>(a.buf)];
    places_.push_back({a.buf, -1, static_cast<int64_t>(size_of(buf.dtype)), &a});
  };
  each_operand(
      loops_.body,
      [&](const Operand& o) {
        if (const auto* access = std::get_if<Access>(&o)) return place(*access);
        if (const auto* pieces = std::get_if<Pieces>(&o)) {
          places_.push_back({-1, -1, static_cast<int64_t>(size_of(pieces->dtype)), nullptr});
          return;
        }
        places_.push_back({-1, std::get<Uniform>(o).slot, 1, nullptr});
      },
      place);
}

void CompiledKernel::bind(const std::function<int64_t(Int)>& value, Bound& bound) const {
  const size_t axes = loops_.axes.size();
  for (const Axis& a : loops_.axes) bound.extents.push_back(value(a.extent));
  bound.offsets.reserve(places_.size());
  bound.strides.reserve(places_.size() * axes);
  for (const Place& p : places_) {
    bound.offsets.push_back(p.access == nullptr ? 0 : value(p.access->map.offset) * p.item);
    for (size_t a = 0; a < axes; ++a)
      bound.strides.push_back(p.access == nullptr ? 0 : value(p.access->map.along(a)) * p.item);
  }
}

std::byte* CompiledKernel::place(size_t k, const Bound& bound, const KernelRun& run) const {
  const Place& p = places_[k];
  if (p.uniform >= 0) {
    const uint64_t* bits = &run.uniforms[static_cast<size_t>(p.uniform)];
    return reinterpret_cast<std::byte*>(const_cast<uint64_t*>(bits));  // read only
  }
  return p.buffer < 0 || is_local(p)
             ? nullptr
             : run.buffers[static_cast<size_t>(p.buffer)] + bound.offsets[k];
}

std::string CompiledKernel::vectors() const {
  const CodegenOrReason& llvm = open_codegen();
  if (llvm.codegen == nullptr) return llvm.reason + "\n";
  const Result<std::string> text =
      llvm.codegen->print(with_lowered_functions(code_of(loops_)), llvm.codegen->host());
  return text ? text.value : text.error + "\n";
}

}  // namespace lathe::jit
