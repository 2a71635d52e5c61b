// Every unary float primitive on every instruction set: the same bits for the same argument (NaN is
// one value).
//
// By default a few million arguments of each, spread evenly. LATHE_SWEEP=1 takes all 2^32 patterns
// of f32, half an hour on two cores; LATHE_SWEEP=exp,log only those, and prints what it has done.
// Pairs and f64 are always sampled.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "core/expr.h"
#include "kernels/cpus.h"
#include "kernels/strips/strips.h"

namespace lathe {
namespace {

constexpr size_t kChunk = 4096;

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// NaN as one pattern, so that arrays compare as bytes.
template <class T>
void canonical(T* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (values[i] != values[i]) values[i] = std::numeric_limits<T>::quiet_NaN();
}

template <class T>
struct Buffers {
  alignas(64) T in[2][kChunk];
  alignas(64) T want[kChunk];
  alignas(64) T got[kChunk];
};

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

/// Runs the chunk in `b.in` on all sets; false, with a failure reported, at the first difference.
template <class T>
bool same_on_all(Prim prim, Buffers<T>& b, size_t n) {
  const void* in[] = {b.in[0], b.in[1]};
  auto kernel = [&](const StripSet& set) {
    return set.prim[0][static_cast<int>(prim)][static_cast<int>(dtype_of<T>)];
  };
  auto sets = strip_sets();
  kernel (*sets[0])(b.want, in, n);
  canonical(b.want, n);
  for (size_t s = 1; s < sets.size(); ++s) {
    kernel (*sets[s])(b.got, in, n);
    canonical(b.got, n);
    if (std::memcmp(b.want, b.got, n * sizeof(T)) == 0) continue;
    size_t i = 0;
    while (std::memcmp(&b.want[i], &b.got[i], sizeof(T)) == 0) ++i;
    Word<T> x, y, want, got;
    std::memcpy(&x, &b.in[0][i], sizeof x);
    std::memcpy(&y, &b.in[1][i], sizeof y);
    std::memcpy(&want, &b.want[i], sizeof want);
    std::memcpy(&got, &b.got[i], sizeof got);
    ADD_FAILURE() << info(prim).name << " " << name(dtype_of<T>) << std::hex << " of " << x << ", "
                  << y << ": " << sets[0]->name << " gives " << want << ", " << sets[s]->name << " "
                  << got;
    return false;
  }
  return true;
}

/// Patterns begin, begin + step, ... below end.
bool sweep(Prim prim, uint64_t begin, uint64_t end, uint64_t step) {
  auto b = std::make_unique<Buffers<float>>();
  for (uint64_t at = begin; at < end;) {
    size_t n = 0;
    for (; n < kChunk && at < end; ++n, at += step) {
      auto bits = static_cast<uint32_t>(at);
      std::memcpy(&b->in[0][n], &bits, 4);
    }
    if (!same_on_all(prim, *b, n)) return false;
  }
  return true;
}

bool sweep_all(Prim prim) {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> good{true};
  auto work = [&] {
    constexpr uint64_t kPart = uint64_t{1} << 24;
    for (uint64_t at; good && (at = next.fetch_add(kPart)) < uint64_t{1} << 32;)
      if (!sweep(prim, at, at + kPart, 1)) good = false;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < available_cpus(); ++i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
  return good;
}

template <class T, class F>
void each_float_prim(int arity, F f) {
  for (int p = 0; p < kPrims; ++p) {
    auto prim = static_cast<Prim>(p);
    if (info(prim).arity != arity || prim == Prim::bits || prim == Prim::frombits ||
        (prim >= Prim::lt && prim <= Prim::ne) || prim == Prim::addexp)
      continue;
    if (strip_sets()[0]->prim[0][p][static_cast<int>(dtype_of<T>)] != nullptr) f(prim);
  }
}

TEST(UnarySweep, F32) {
  const char* asked = std::getenv("LATHE_SWEEP");
  std::string names = asked == nullptr ? "" : std::string(",") + asked + ",";
  int swept = 0;
  each_float_prim<float>(1, [&](Prim prim) {
    ++swept;
    bool named = names.find("," + std::string(info(prim).name) + ",") != std::string::npos;
    if (!named && names != ",1,") {
      EXPECT_TRUE(sweep(prim, 17, uint64_t{1} << 32, 4093));
      return;
    }
    bool good = sweep_all(prim);
    std::printf("%s: all 2^32 arguments %s\n", std::string(info(prim).name).c_str(),
                good ? "equal" : "DIFFER");
    std::fflush(stdout);
    EXPECT_TRUE(good);
  });
  EXPECT_GE(swept, 32);
}

template <class T>
void sample(Prim prim, int chunks) {
  auto b = std::make_unique<Buffers<T>>();
  std::mt19937_64 rng(static_cast<uint64_t>(prim));
  for (int c = 0; c < chunks; ++c) {
    for (auto& operand : b->in) {
      for (size_t i = 0; i < kChunk; ++i) {
        auto bits = static_cast<Word<T>>(rng());
        std::memcpy(&operand[i], &bits, sizeof bits);
        if (c % 2 != 0)
          operand[i] = static_cast<T>(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-26);
        if (c % 4 == 3)
          operand[i] = static_cast<T>(std::numeric_limits<Word<T>>::max() - bits) * T(0x1p-30);
      }
    }
    if (!same_on_all(prim, *b, kChunk)) return;
  }
}

TEST(UnarySweep, F64) {
  each_float_prim<double>(1, [](Prim prim) { sample<double>(prim, 40); });
}

TEST(UnarySweep, Pairs) {
  each_float_prim<float>(2, [](Prim prim) { sample<float>(prim, 100); });
  each_float_prim<double>(2, [](Prim prim) { sample<double>(prim, 40); });
}

}  // namespace
}  // namespace lathe
