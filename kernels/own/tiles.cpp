#include "kernels/own/tiles.h"

#include <string_view>

#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

/// The set that goes with the SIMD interpreter in use, so that one flag decides for all kernels.
template <class T>
const Tiles<T>& pick(const Tiles<T>* portable, const Tiles<T>* avx2, const Tiles<T>* avx512) {
  std::string_view isa = simd_loops().name;
  return isa == avx512->name ? *avx512 : isa == avx2->name ? *avx2 : *portable;
}

}  // namespace

template <>
const Tiles<float>& tiles<float>() {
  return pick(tiles_f32_portable(), tiles_f32_avx2(), tiles_f32_avx512());
}
template <>
const Tiles<double>& tiles<double>() {
  return pick(tiles_f64_portable(), tiles_f64_avx2(), tiles_f64_avx512());
}

}  // namespace lathe::own
