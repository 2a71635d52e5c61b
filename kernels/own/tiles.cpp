#include "kernels/own/tiles.h"

#include <string_view>

#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

/// The sets that go with the SIMD interpreter in use, so that one flag decides for all kernels.
const TileSets& chosen() {
  std::string_view isa = simd_loops().name;
  if (isa == tiles_avx512().f32.name) return tiles_avx512();
  return isa == tiles_avx2().f32.name ? tiles_avx2() : tiles_portable();
}

}  // namespace

template <>
const Tiles<float>& tiles<float>() {
  return chosen().f32;
}
template <>
const Tiles<double>& tiles<double>() {
  return chosen().f64;
}
template <>
const Tiles<uint32_t>& tiles<uint32_t>() {
  return chosen().u32;
}
template <>
const Tiles<uint64_t>& tiles<uint64_t>() {
  return chosen().u64;
}

}  // namespace lathe::own
