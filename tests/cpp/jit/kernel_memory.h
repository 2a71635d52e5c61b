// What tests of generated kernels share: targets to try, guarded memory, and operands laid out in
// awkward ways.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "jit/kernel/codegen.h"
#include "tests/cpp/support/guarded_bytes.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe::testing {

inline jit::Codegen* codegen() { return jit::open_codegen().codegen; }

#define LATHE_NEEDS_LLVM() \
  if (::lathe::testing::codegen() == nullptr) GTEST_SKIP() << ::lathe::jit::open_codegen().reason

/// What this machine can run of the targets that differ in how code comes out.
inline std::vector<jit::Target> targets() {
  std::vector<jit::Target> all;
  for (const char* name : {"host", "x86-64-v2", "avx2", "avx512"})
    if (auto target = codegen()->target(name)) all.push_back(target.value);
  return all;
}

struct Built {
  jit::LoadedCodeRef code;
  jit::KernelFn fn = nullptr;
};
inline Built compile(const jit::Kernel& kernel, const jit::Target& target) {
  auto object = codegen()->compile(kernel, target);
  EXPECT_TRUE(object) << object.error;
  if (!object) return {};
  auto loaded = codegen()->load(object.value);
  EXPECT_TRUE(loaded) << loaded.error;
  if (!loaded) return {};
  return {loaded.value, reinterpret_cast<jit::KernelFn>(loaded.value->symbol(jit::kKernelSymbol))};
}

/// How an operand moves along the last axis.
enum class Stride : uint8_t { contiguous, uniform, strided };

/// The step of an IndexMap that moves so.
inline Int step_of(Stride stride) {
  return stride == Stride::contiguous ? 1 : stride == Stride::uniform ? 0 : 2;
}

/// An operand laid out over `extents`: which byte each element is at. Axes may be padded and run
/// backwards.
struct Layout {
  DType dtype;
  std::vector<int64_t> strides;  // bytes
  int64_t origin = 0;            // of the element at 0, from the lowest byte
  size_t bytes = 0;

  int64_t at(const std::vector<int64_t>& extents, int64_t position) const {
    int64_t offset = origin;
    for (size_t axis = extents.size(); axis-- > 0;) {
      offset += position % extents[axis] * strides[axis];
      position /= extents[axis];
    }
    return offset;
  }
};

inline Layout make_layout(DType dtype, Stride inner, const std::vector<int64_t>& extents,
                          std::mt19937_64& rng, bool input) {
  Layout layout{dtype, std::vector<int64_t>(extents.size())};
  const auto size = static_cast<int64_t>(size_of(dtype));
  int64_t span = size;
  for (size_t axis = extents.size(); axis-- > 0;) {
    int64_t step = span;
    const bool innermost = axis + 1 == extents.size();
    if (innermost && inner == Stride::uniform) step = 0;
    if (innermost && inner == Stride::strided) step = size * static_cast<int64_t>(1 + rng() % 3);
    if (!innermost && rng() % 3 == 0) step += size * static_cast<int64_t>(rng() % 4);
    if (!innermost && input && rng() % 5 == 0) step = 0;
    const bool backwards = step != 0 && (!innermost || inner == Stride::strided) && rng() % 3 == 0;
    layout.strides[axis] = backwards ? -step : step;
    if (backwards) layout.origin += step * (extents[axis] - 1);
    span = std::max(span, step * (extents[axis] - 1) + span);
  }
  layout.bytes = static_cast<size_t>(span);
  return layout;
}

inline uint64_t read(const std::byte* p, DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, size_of(dtype));
  return dtype == DType::bool_ ? bits & 1 : bits;
}

/// Random values of its dtype at every element, random bytes in between.
inline void fill(const Layout& layout, const std::vector<int64_t>& extents, std::byte* data,
                 std::mt19937_64& rng) {
  int64_t positions = 1;
  for (int64_t e : extents) positions *= e;
  for (size_t i = 0; i < layout.bytes; ++i) data[i] = static_cast<std::byte>(rng());
  for (int64_t p = 0; p < positions; ++p) {
    std::byte* at = data + layout.at(extents, p);
    const DType d = real_type(layout.dtype);
    for (size_t part = 0; part < size_of(layout.dtype); part += size_of(d)) {
      const uint64_t bits = random_value(d, rng);
      std::memcpy(at + part, &bits, size_of(d));
    }
  }
}

}  // namespace lathe::testing
