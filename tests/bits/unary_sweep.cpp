// Every float primitive on every engine (strips of each instruction set, generated code): the same
// bits for the same arguments; NaN is one value.
//
// By default half a million arguments of each, spread evenly. LATHE_SWEEP=1 takes all 2^32 patterns
// of the unary f32 ones and 2^32 seeded samples of pairs and of f64, about an hour on two cores;
// LATHE_SWEEP=exp,log only those. Both say what they have done, and in how many seconds.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "core/expr/expr.h"
#include "jit/kernel/kernels.h"
#include "kernels/runtime/cpus.h"
#include "kernels/simd/choose_loops.h"

namespace lathe {
namespace {

constexpr size_t kChunk = 4096;

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// NaN as one pattern, so that arrays compare as bytes. All of an array, without a branch: so the
/// compiler makes vectors of it.
template <class T>
void canonical(T (&values)[kChunk]) {
  for (T& x : values) x = x != x ? std::numeric_limits<T>::quiet_NaN() : x;
}

template <class T>
struct Buffers {
  alignas(64) T in[2][kChunk];
  alignas(64) T want[kChunk] = {};
  alignas(64) T got[kChunk] = {};
};

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

/// One primitive on every engine: strips of each instruction set, and generated code.
template <class T>
class Engines {
 public:
  explicit Engines(Prim prim) : prim_(prim) {
    if (jit::open_codegen().codegen == nullptr) return;  // an inference build
    auto arity = static_cast<size_t>(info(prim).arity);
    auto body = [&](absl::Span<const Expr> in) { return Exprs{make(prim, dtype_of<T>, in)}; };
    const auto f = lower(build(body, std::vector<DType>(arity, dtype_of<T>)));
    auto made = jit::get_kernel(jit::kernel_of_elements(f, 1000, std::vector<Int>(arity, 1)));
    EXPECT_TRUE(made) << info(prim).name << ": " << made.error;
    code_ = made.value;
  }
  Prim prim() const { return prim_; }

  /// Runs the chunk in `b.in` on all; false, with a failure reported, at the first difference.
  bool same(Buffers<T>& b, size_t n) const {
    const void* in[] = {b.in[0], b.in[1]};
    auto sets = simd_loop_sets();
    for (size_t s = 0; s < sets.size(); ++s) {
      T* to = s == 0 ? b.want : b.got;
      sets[s]->prim[0][static_cast<int>(prim_)][static_cast<int>(dtype_of<T>)](to, in, n);
      if (s > 0 && !equal(b, n, sets[s]->name)) return false;
    }
    if (code_.fn == nullptr) return true;
    run_code(b, n);
    return equal(b, n, "generated code");
  }

 private:
  void run_code(Buffers<T>& b, size_t n) const {
    auto at = [](T* p) { return reinterpret_cast<std::byte*>(p); };
    std::byte* data[] = {at(b.in[0]), at(b.in[1]), at(b.got)};
    if (info(prim_).arity == 1) data[1] = data[2];
    const int64_t extents[] = {static_cast<int64_t>(n)};
    const int64_t strides[] = {sizeof(T), sizeof(T), sizeof(T)};
    uint64_t error = jit::kNoError;
    jit::KernelArgs args{data, extents, strides, 0, extents[0], 0, 0, &error};
    code_.fn(&args);
  }
  /// Most chunks are equal as they are; only in others does it count which NaN there is.
  bool equal(Buffers<T>& b, size_t n, std::string_view engine) const {
    if (std::memcmp(b.want, b.got, n * sizeof(T)) == 0) return true;
    canonical(b.want);
    canonical(b.got);
    if (std::memcmp(b.want, b.got, n * sizeof(T)) == 0) return true;
    size_t i = 0;
    while (std::memcmp(&b.want[i], &b.got[i], sizeof(T)) == 0) ++i;
    Word<T> x, y, want, got;
    std::memcpy(&x, &b.in[0][i], sizeof x);
    std::memcpy(&y, &b.in[1][i], sizeof y);
    std::memcpy(&want, &b.want[i], sizeof want);
    std::memcpy(&got, &b.got[i], sizeof got);
    ADD_FAILURE() << info(prim_).name << " " << name(dtype_of<T>) << std::hex << " of " << x << ", "
                  << y << ": " << simd_loop_sets()[0]->name << " gives " << want << ", " << engine
                  << " " << got;
    return false;
  }

  Prim prim_;
  jit::LoadedKernel code_;
};

/// Does LATHE_SWEEP ask for all of this primitive?
bool wants_all(Prim prim) {
  const char* asked = std::getenv("LATHE_SWEEP");
  std::string names = asked == nullptr ? "" : std::string(",") + asked + ",";
  return names == ",1," ||
         names.find("," + std::string(info(prim).name) + ",") != std::string::npos;
}
using Clock = std::chrono::steady_clock;
void say(Prim prim, DType dtype, const char* what, bool good, Clock::time_point since) {
  std::printf("%s %s: %s %s, %.0f s\n", std::string(info(prim).name).c_str(),
              std::string(name(dtype)).c_str(), what, good ? "equal" : "DIFFER",
              std::chrono::duration<double>(Clock::now() - since).count());
  std::fflush(stdout);
}

/// part(0) ... part(parts - 1) on all processors; false as soon as one is.
bool on_all_processors(uint64_t parts, const std::function<bool(uint64_t)>& part) {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> good{true};
  auto work = [&] {
    for (uint64_t k; good && (k = next.fetch_add(1)) < parts;)
      if (!part(k)) good = false;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < cpus_now().available(); ++i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
  return good;
}

/// Patterns begin, begin + step, ... below end.
bool sweep(const Engines<float>& engines, uint64_t begin, uint64_t end, uint64_t step) {
  auto b = std::make_unique<Buffers<float>>();
  for (uint64_t at = begin; at < end;) {
    size_t n = 0;
    for (; n < kChunk && at < end; ++n, at += step) {
      auto bits = static_cast<uint32_t>(at);
      std::memcpy(&b->in[0][n], &bits, 4);
    }
    if (!engines.same(*b, n)) return false;
  }
  return true;
}

template <class T, class F>
void each_float_prim(int arity, F f) {
  for (int p = 0; p < kPrims; ++p) {
    auto prim = static_cast<Prim>(p);
    if (info(prim).arity != arity || prim == Prim::bits || prim == Prim::frombits ||
        (prim >= Prim::lt && prim <= Prim::ne) || prim == Prim::addexp)
      continue;
    if (simd_loop_sets()[0]->prim[0][p][static_cast<int>(dtype_of<T>)] != nullptr) f(prim);
  }
}

TEST(UnarySweep, F32) {
  int swept = 0;
  each_float_prim<float>(1, [&](Prim prim) {
    ++swept;
    Engines<float> engines(prim);
    if (!wants_all(prim)) {
      EXPECT_TRUE(sweep(engines, 17, uint64_t{1} << 32, 8191));
      return;
    }
    auto since = Clock::now();
    constexpr uint64_t kPart = uint64_t{1} << 24;
    bool good = on_all_processors(
        256, [&](uint64_t k) { return sweep(engines, k * kPart, (k + 1) * kPart, 1); });
    say(prim, DType::f32, "all 2^32 arguments", good, since);
    EXPECT_TRUE(good);
  });
  EXPECT_GE(swept, 32);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0,          -0.0,         1.0,
                               -1.0,         0.5,          2.0,
                               -3.0,         kInf,         -kInf,
                               std::nan(""), 1.5,          88.7,
                               -103.9,       709.7,        -745.1,
                               1e-40,        -1e-45,       5e-324,
                               3.4e38,       1.7e308,      0x1p-126,
                               0x1p-1022,    0x1p24,       0x1p53,
                               -0x1p31,      0x1.921fb6p1, 0x1.921fb54442d18p1};

/// Any 64 bits (SplitMix64). A word is a function of how many came before, not of the last one, so
/// that computing many overlaps.
class Random {
 public:
  explicit Random(uint64_t seed) : at_(seed) {}
  uint64_t operator()() {
    uint64_t z = at_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t at_;
};

/// Operand `k` of chunk `c`: in the first chunk every pair of special values, then by turns any bit
/// pattern, numbers of every size around 1, and whole numbers.
template <class T>
void fill(T (&to)[kChunk], size_t k, uint64_t c, Random& random) {
  if (c == 0) {
    constexpr size_t many = std::size(kSpecial);
    for (size_t i = 0; i < kChunk; ++i)
      to[i] = static_cast<T>(kSpecial[k == 0 ? i % many : i / many % many]);
  } else if (c % 2 == 0) {
    for (T& x : to) x = std::bit_cast<T>(static_cast<Word<T>>(random()));
  } else {
    using Signed = std::make_signed_t<Word<T>>;
    double scale = c % 4 == 1 ? 0x1p-26 : sizeof(T) == 4 ? 0x1p-29 : 0x1p-60;
    for (T& x : to) x = static_cast<T>(static_cast<double>(static_cast<Signed>(random())) * scale);
  }
}

template <class T>
void sample(Prim prim, uint64_t chunks) {
  Engines<T> engines(prim);
  auto since = Clock::now();
  bool all = wants_all(prim);
  uint64_t parts = all ? 256 : 1, each = all ? (uint64_t{1} << 32) / kChunk / parts : chunks;
  bool good = on_all_processors(parts, [&](uint64_t part) {
    auto b = std::make_unique<Buffers<T>>();
    Random random(Random(static_cast<uint64_t>(prim) << 32 | part)());
    for (uint64_t c = part * each; c < (part + 1) * each; ++c) {
      for (int k = 0; k < info(prim).arity; ++k) fill(b->in[k], static_cast<size_t>(k), c, random);
      if (!engines.same(*b, kChunk)) return false;
    }
    return true;
  });
  if (all) say(prim, dtype_of<T>, "2^32 seeded samples", good, since);
  EXPECT_TRUE(good);
}

TEST(UnarySweep, F64) {
  each_float_prim<double>(1, [](Prim prim) { sample<double>(prim, 20); });
}

TEST(UnarySweep, PairsF32) {
  each_float_prim<float>(2, [](Prim prim) { sample<float>(prim, 40); });
}

TEST(UnarySweep, PairsF64) {
  each_float_prim<double>(2, [](Prim prim) { sample<double>(prim, 20); });
}

}  // namespace
}  // namespace lathe
