#include "kernels/simd/choose_loops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "kernels/simd/portable_fma.h"

namespace lathe {
namespace {

struct Isas {
  bool avx2 = false, avx512 = false;
};

/// What the processor has and the system saves. Each set is compiled with exactly these extensions.
Isas supported_isas() {
  Isas isas;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  isas.avx2 = f16c && __builtin_cpu_supports("avx2") &&
              __builtin_cpu_supports("fma");  // not an op: an instruction set
  isas.avx512 = isas.avx2 && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
#endif
  return isas;
}

using Add = void (*)(SimdLoops&);
std::unique_ptr<SimdLoops> make_set(const char* name, std::initializer_list<Add> groups) {
  auto set = std::make_unique<SimdLoops>();  // all null
  set->name = name;
  for (Add add : groups) add(*set);
  return set;
}

std::vector<const SimdLoops*> make_sets() {
  find_fma_instruction();
  std::vector<std::unique_ptr<SimdLoops>> made;
  made.push_back(make_set("portable", {add_basic_portable, add_math_portable, add_cast_portable,
                                       add_reductions_portable}));
#if defined(__x86_64__)
  Isas isas = supported_isas();
  if (isas.avx2)
    made.push_back(make_set("avx2", {add_basic_avx2, add_math_avx2, add_cast_avx2, add_fold_avx2}));
  if (isas.avx512)
    made.push_back(
        make_set("avx512", {add_basic_avx512, add_math_avx512, add_cast_avx512, add_fold_avx512}));
#endif
  std::vector<const SimdLoops*> sets;
  for (auto& set : made) sets.push_back(set.release());  // kernels are handed out for good
  return sets;
}

const SimdLoops& choose() {
  std::string wanted = flag_text(Flag::isa);
  auto sets = simd_loop_sets();
  if (wanted == "auto") return *sets.back();
  std::string names;
  for (const SimdLoops* set : sets) {
    if (wanted == set->name) return *set;
    names += names.empty() ? set->name : std::string(", ") + set->name;
  }
  throw UnsupportedError({.op = "isa",
                          .problem = "this processor does not have the instruction set asked for",
                          .got = wanted,
                          .expected = names,
                          .next = "set the flag isa to one of these, or to auto"});
}

}  // namespace

absl::Span<const SimdLoops* const> simd_loop_sets() {
  static const auto& sets = *new std::vector<const SimdLoops*>(make_sets());
  return sets;
}

const SimdLoops& simd_loops() {
  static std::atomic<const SimdLoops*> chosen{nullptr};
  static std::atomic<uint64_t> revision{UINT64_MAX};
  uint64_t now = flags_revision();
  if (revision.load(std::memory_order_acquire) == now)
    return *chosen.load(std::memory_order_relaxed);
  const SimdLoops& set = choose();
  chosen.store(&set, std::memory_order_relaxed);
  revision.store(now, std::memory_order_release);
  return set;
}

DType strip_key(Prim prim, DType result, DType operand) {
  bool by_operand = (prim >= Prim::lt && prim <= Prim::ne) || prim == Prim::bits;
  return by_operand ? operand : result;
}

}  // namespace lathe
