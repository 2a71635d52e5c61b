#include "kernels/own/tiles.h"

#include "core/flags.h"

namespace lathe::own {
namespace {

enum class Isa { portable, avx2, avx512 };

Isa machine() {
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") &&
              __builtin_cpu_supports("fma");  // not an op: an instruction set
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::portable;
}

/// What the flag allows of what the machine has.
Isa chosen() {
  static const Isa kHas = machine();
  std::string asked = flag_text(Flag::isa);
  Isa most = asked == "portable" ? Isa::portable : asked == "avx2" ? Isa::avx2 : Isa::avx512;
  return most < kHas ? most : kHas;
}

template <class T>
const Tiles<T>& pick(const Tiles<T>* portable, const Tiles<T>* avx2, const Tiles<T>* avx512) {
  Isa isa = chosen();
  if (isa == Isa::avx512 && avx512 != nullptr) return *avx512;
  if (isa >= Isa::avx2 && avx2 != nullptr) return *avx2;
  return *portable;
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
