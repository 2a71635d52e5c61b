#include "jit/simt/lowering.h"

namespace lathe::jit::simt {

Lowering::Lowering(const Kernel& kernel, const Shape& shape)
    : k_(kernel), shape_(shape), at_(kernel.axes.size(), Ix(0)) {
  b_.program.name = kernel.name;
  b_.program.threads = shape.threads;
  b_.program.uniforms = kernel.uniforms;
  for (const Buf& buf : kernel.buffers) {
    const auto b = static_cast<int>(b_.program.memories.size());
    if (buf.space == Space::argument)
      b_.memory({buf.dtype, Where::global, b < kernel.inputs, {}, buf.name});
  }
}

Ix Lowering::positions() {
  Ix all = 1;
  for (int axis = 0; axis < k_.parallel; ++axis) all = all * extent(static_cast<size_t>(axis));
  return all;
}

void Lowering::go_to(const Ix& position) {
  Ix rest = position;
  for (auto axis = static_cast<size_t>(k_.parallel); axis-- > 1;) {
    at_[axis] = b_.let(rest % extent(axis));
    rest = b_.let(rest / extent(axis));
  }
  if (k_.parallel > 0) at_[0] = rest;
}

Ix Lowering::index(const IndexMap& map) {
  Ix sum = 0;
  for (size_t axis = 0; axis < k_.axes.size(); ++axis)
    sum = sum + at_[axis] * b_.number(map.along(axis));
  return sum + b_.number(map.offset);
}

int Lowering::function(const ScalarFunction& f) {
  const auto [found, added] = functions_.try_emplace(f.print(), 0);
  if (added) found->second = b_.function(f);
  return found->second;
}

Lowering::Regs Lowering::result(const ScalarFunction& f, const Regs& all, size_t k) {
  auto from = all.begin();
  for (size_t before = 0; before < k; ++before)
    from += static_cast<ptrdiff_t>(parts_of(f.output_types[before]));
  return Regs(from, from + static_cast<ptrdiff_t>(parts_of(f.output_types[k])));
}

}  // namespace lathe::jit::simt
