// Every strip kernel of every instruction set against the reference engine, bit for bit (NaN is one
// value).
#include "kernels/simd/choose_loops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "core/base/flags.h"
#include "core/expr/expr.h"
#include "core/scalar/philox.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

using testing::kScalarTypes;
using testing::random_value;
using testing::same_value;
using testing::special_values;

class Strips : public ::testing::TestWithParam<const SimdLoops*> {
 protected:
  const SimdLoops& set() const { return *GetParam(); }
};
std::string set_name(const ::testing::TestParamInfo<const SimdLoops*>& info) {
  return info.param->name;
}
INSTANTIATE_TEST_SUITE_P(Sets, Strips,
                         ::testing::ValuesIn(simd_loop_sets().begin(), simd_loop_sets().end()),
                         set_name);

constexpr size_t kLengths = 71;

/// n elements of a dtype, aligned to no more than themselves, with guard bytes behind them.
class Array {
 public:
  Array(DType dtype, size_t n)
      : dtype_(dtype), n_(n), bytes_((n + 1) * size_of(dtype) + kGuard, 0xa5) {}
  Array(DType dtype, const std::vector<uint64_t>& values) : Array(dtype, values.size()) {
    for (size_t i = 0; i < n_; ++i) std::memcpy(data() + i * size(), &values[i], size());
  }
  uint8_t* data() { return bytes_.data() + size(); }
  uint64_t at(size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + (i + 1) * size(), size());
    return bits;
  }
  bool guarded() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (bytes_[bytes_.size() - 1 - i] != 0xa5) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  size_t size() const { return size_of(dtype_); }
  DType dtype_;
  size_t n_;
  std::vector<uint8_t> bytes_;
};

/// All pairs of special values and then random ones, as operand `which` of n elements.
std::vector<uint64_t> operand_values(DType dtype, size_t n, int which, std::mt19937_64& rng) {
  auto special = special_values(dtype);
  std::vector<uint64_t> values(n);
  for (size_t i = 0; i < n; ++i) {
    size_t turn = which == 0 ? i : which == 1 ? i / special.size() : i / 3;
    bool known = i < special.size() * special.size();
    values[i] = known ? special[turn % special.size()] : random_value(dtype, rng);
  }
  return values;
}

struct Case {
  Prim prim;
  DType key;  // row of the table
  DType result;
  std::vector<DType> operands;
};

std::optional<Case> case_of(Prim prim, DType key) {
  const PrimInfo& about = info(prim);
  if (about.arity == 0 || prim == Prim::rare || prim == Prim::check || prim == Prim::cast ||
      prim >= Prim::complex)
    return std::nullopt;
  if (prim == Prim::frombits && key != DType::f32 && key != DType::f64) return std::nullopt;
  Case c{prim, key, key, std::vector<DType>(about.arity, key)};
  if (prim >= Prim::lt && prim <= Prim::ne) c.result = DType::bool_;
  if (prim == Prim::bits) c.result = key == DType::f64 ? DType::u64 : DType::u32;
  if (prim == Prim::frombits) c.operands[0] = key == DType::f64 ? DType::u64 : DType::u32;
  if (prim == Prim::select) c.operands[0] = DType::bool_;
  return c;
}

/// Where the element-wise definition leaves the bits open, the operands are kept away.
void stay_inside(const Case& c, std::vector<std::vector<uint64_t>>& in) {
  if (c.prim != Prim::addexp) return;
  bool wide = c.key == DType::f64;
  for (size_t i = 0; i < in[0].size(); ++i) {
    double x = 1.0 + static_cast<double>(i % 97) / 98, n = static_cast<double>(i % 201) - 100;
    in[0][i] = wide ? std::bit_cast<uint64_t>(x) : std::bit_cast<uint32_t>(static_cast<float>(x));
    in[1][i] = wide ? std::bit_cast<uint64_t>(n) : std::bit_cast<uint32_t>(static_cast<float>(n));
  }
}

void compare(const Case& c, unsigned splat, const std::vector<std::vector<uint64_t>>& in,
             size_t from, size_t n, const Array& out, const char* how) {
  ExprNode node{c.prim, c.result, static_cast<uint8_t>(in.size()), {}, 0};
  for (size_t i = 0; i < n; ++i) {
    uint64_t args[3] = {};
    for (size_t k = 0; k < in.size(); ++k) args[k] = in[k][splat >> k & 1 ? from : from + i];
    uint64_t want = evaluate_prim(node, c.operands, {args, in.size()});
    ASSERT_TRUE(same_value(c.result, want, out.at(i)))
        << info(c.prim).name << " " << name(c.key) << " splat " << splat << " " << how
        << ", element " << i << " of " << n << std::hex << ": " << args[0] << " " << args[1] << " "
        << args[2] << " gives " << out.at(i) << ", not " << want;
  }
  ASSERT_TRUE(out.guarded()) << info(c.prim).name << " wrote past its end";
}

void check_kernel(const Case& c, unsigned splat, StripFn kernel, size_t total) {
  std::mt19937_64 rng(splat + 1);
  std::vector<std::vector<uint64_t>> in;
  for (size_t k = 0; k < c.operands.size(); ++k)
    in.push_back(operand_values(c.operands[k], total, static_cast<int>(k), rng));
  stay_inside(c, in);
  auto run = [&](size_t from, size_t n, int in_place) {
    std::vector<Array> arrays;
    const void* pointers[3] = {};
    for (size_t k = 0; k < in.size(); ++k) {
      size_t count = splat >> k & 1 ? 1 : n;
      auto begin = in[k].begin() + static_cast<ptrdiff_t>(from);
      arrays.emplace_back(c.operands[k],
                          std::vector<uint64_t>(begin, begin + static_cast<ptrdiff_t>(count)));
    }
    for (size_t k = 0; k < in.size(); ++k) pointers[k] = arrays[k].data();
    Array fresh(c.result, n);
    Array& out = in_place >= 0 ? arrays[static_cast<size_t>(in_place)] : fresh;
    kernel(out.data(), pointers, n);
    compare(c, splat, in, from, n, out, in_place >= 0 ? "in place" : "apart");
  };
  ASSERT_NO_FATAL_FAILURE(run(0, total, -1));
  for (size_t n = 0; n < kLengths; ++n) ASSERT_NO_FATAL_FAILURE(run(total - kLengths, n, -1));
  for (size_t k = 0; k < in.size(); ++k) {
    if ((splat >> k & 1) != 0 || size_of(c.operands[k]) != size_of(c.result)) continue;
    for (size_t n : {3, 70, 200}) ASSERT_NO_FATAL_FAILURE(run(7, n, static_cast<int>(k)));
  }
}

TEST_P(Strips, EveryKernelIsTheReference) {
  int kernels = 0;
  for (int p = 0; p < kPrims; ++p) {
    for (DType key : kScalarTypes) {
      auto c = case_of(static_cast<Prim>(p), key);
      for (unsigned splat = 0; splat < 8; ++splat) {
        StripFn kernel = set().prim[splat][p][static_cast<int>(key)];
        if (kernel == nullptr) continue;
        ASSERT_TRUE(c.has_value()) << info(static_cast<Prim>(p)).name;
        ASSERT_NO_FATAL_FAILURE(check_kernel(*c, splat, kernel, splat == 0 ? 4000 : 600));
        ++kernels;
      }
    }
  }
  EXPECT_GT(kernels, 500);
}

TEST_P(Strips, EveryPrimitiveHasAKernel) {
  for (int p = 0; p < kPrims; ++p) {
    auto prim = static_cast<Prim>(p);
    for (DType key : kScalarTypes) {
      auto c = case_of(prim, key);
      if (!c) continue;
      DType operand = prim == Prim::select ? key : c->operands[0];
      if (!info(prim).domain.has(operand)) continue;
      EXPECT_NE(set().prim[0][p][static_cast<int>(key)], nullptr)
          << info(prim).name << " " << name(key);
    }
  }
}

TEST_P(Strips, Choices) {
  std::mt19937_64 rng(11);
  for (Prim prim : {Prim::lt, Prim::le, Prim::eq, Prim::ne}) {
    for (DType d : {DType::f32, DType::f64}) {
      for (unsigned splat = 0; splat < 16; ++splat) {
        StripFn kernel = set().choose[relation_of(prim)][d == DType::f64][splat];
        ASSERT_EQ(kernel == nullptr, (splat & 3) == 3);
        for (size_t n : {1, 3, 8, 15, 70, 2000}) {
          if (kernel == nullptr) continue;
          std::vector<std::vector<uint64_t>> in;
          std::vector<Array> arrays;
          const void* pointers[4] = {};
          for (size_t k = 0; k < 4; ++k) {
            in.push_back(operand_values(d, splat >> k & 1 ? 1 : n, static_cast<int>(k), rng));
            arrays.emplace_back(d, in[k]);
          }
          for (size_t k = 0; k < 4; ++k) pointers[k] = arrays[k].data();
          Array out(d, n);
          kernel(out.data(), pointers, n);
          for (size_t i = 0; i < n; ++i) {
            auto at = [&](size_t k) { return in[k][splat >> k & 1 ? 0 : i]; };
            const uint64_t both[] = {at(0), at(1)};
            const bool holds = evaluate_prim({prim, DType::bool_, 2}, {d, d}, both) != 0;
            ASSERT_TRUE(same_value(d, at(holds ? 2 : 3), out.at(i)))
                << info(prim).name << " " << name(d) << " splat " << splat << ", element " << i
                << " of " << n;
          }
          ASSERT_TRUE(out.guarded());
        }
      }
    }
  }
}

TEST_P(Strips, Extremes) {
  std::mt19937_64 rng(12);
  for (DType d : {DType::f32, DType::f64}) {
    for (bool highest : {false, true}) {
      for (unsigned splat = 0; splat < 3; ++splat) {
        for (size_t n : {1, 7, 16, 70, 2000}) {
          const auto a = operand_values(d, splat & 1 ? 1 : n, 0, rng);
          const auto b = operand_values(d, splat & 2 ? 1 : n, 1, rng);
          Array first(d, a), second(d, b), out(d, n);
          const void* pointers[] = {first.data(), second.data()};
          set().extreme[highest][d == DType::f64][splat](out.data(), pointers, n);
          for (size_t i = 0; i < n; ++i) {
            const uint64_t x = a[splat & 1 ? 0 : i], y = b[splat & 2 ? 0 : i];
            auto holds = [&](Prim prim, uint64_t p, uint64_t q) {
              const uint64_t both[] = {p, q};
              return evaluate_prim({prim, DType::bool_, 2}, {d, d}, both) != 0;
            };
            const bool beats = highest ? holds(Prim::lt, y, x) : holds(Prim::lt, x, y);
            ASSERT_TRUE(same_value(d, beats || holds(Prim::ne, x, x) ? x : y, out.at(i)))
                << name(d) << " splat " << splat << ", element " << i << " of " << n;
          }
          ASSERT_TRUE(out.guarded());
        }
      }
    }
  }
}

TEST_P(Strips, Casts) {
  std::mt19937_64 rng(3);
  for (DType from : kScalarTypes) {
    auto values = operand_values(from, 3000, 0, rng);
    for (DType to : kScalarTypes) {
      StripFn kernel = set().cast[static_cast<int>(from)][static_cast<int>(to)];
      ASSERT_EQ(kernel == nullptr, from == to);
      if (from == to) continue;
      for (size_t n : {size_t{3000}, size_t{1}, size_t{15}, size_t{33}, size_t{70}}) {
        Array in(from, {values.begin(), values.begin() + static_cast<ptrdiff_t>(n)}), out(to, n);
        const void* pointers[] = {in.data()};
        kernel(out.data(), pointers, n);
        for (size_t i = 0; i < n; ++i) {
          uint64_t want = evaluate_prim({Prim::cast, to, 1}, {from}, {values[i]});
          ASSERT_TRUE(same_value(to, want, out.at(i)))
              << name(from) << " to " << name(to) << std::hex << ": " << values[i] << " gives "
              << out.at(i) << ", not " << want;
        }
        ASSERT_TRUE(out.guarded());
      }
    }
  }
}

TEST_P(Strips, AllHalves) {
  std::vector<uint64_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  for (DType half : {DType::f16, DType::bf16}) {
    Array in(half, all), wide(DType::f32, all.size()), back(half, all.size());
    const void *first[] = {in.data()}, *second[] = {wide.data()};
    set().cast[static_cast<int>(half)][static_cast<int>(DType::f32)](wide.data(), first,
                                                                     all.size());
    set().cast[static_cast<int>(DType::f32)][static_cast<int>(half)](back.data(), second,
                                                                     all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      float want = half == DType::f16 ? f16_to_f32(static_cast<uint16_t>(i))
                                      : bf16_to_f32(static_cast<uint16_t>(i));
      ASSERT_TRUE(same_value(DType::f32, std::bit_cast<uint32_t>(want), wide.at(i))) << i;
      ASSERT_TRUE(same_value(half, i, back.at(i))) << i;
    }
  }
}

/// Around every boundary between two halves, and at every exponent.
TEST_P(Strips, RoundingToHalves) {
  std::vector<uint64_t> values;
  for (uint32_t sign : {0u, 0x80000000u})
    for (uint32_t upper = 0; upper < 0x8000; upper += 5)
      for (uint32_t lower : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
        values.push_back(sign | upper << 16 | lower);
  for (DType half : {DType::f16, DType::bf16}) {
    Array in(DType::f32, values), out(half, values.size());
    const void* pointers[] = {in.data()};
    set().cast[static_cast<int>(DType::f32)][static_cast<int>(half)](out.data(), pointers,
                                                                     values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      auto x = std::bit_cast<float>(static_cast<uint32_t>(values[i]));
      ASSERT_TRUE(same_value(half, half == DType::f16 ? f32_to_f16(x) : f32_to_bf16(x), out.at(i)))
          << std::hex << values[i];
    }
  }
}

TEST_P(Strips, StridedMemory) {
  for (DType d : {DType::u8, DType::i16, DType::f32, DType::f64}) {
    auto bytes = static_cast<ptrdiff_t>(size_of(d));
    int size = size_class(size_of(d));
    std::mt19937_64 rng(1);
    std::vector<uint64_t> values(300);
    for (auto& v : values) v = random_value(d, rng);
    for (ptrdiff_t step : {-3, -1, 1, 2, 4}) {
      for (size_t n : {0, 1, 5, 64, 70}) {
        Array in(d, values), out(d, n), wide(d, 300);
        ptrdiff_t start = step < 0 ? 299 : 0;
        set().gather[size](out.data(), in.data() + start * bytes, step * bytes, n);
        set().scatter[size](wide.data() + start * bytes, step * bytes, out.data(), n);
        for (size_t i = 0; i < n; ++i) {
          auto at = static_cast<size_t>(start + step * static_cast<ptrdiff_t>(i));
          ASSERT_EQ(out.at(i), values[at]);
          ASSERT_EQ(wide.at(at), values[at]);
        }
        ASSERT_TRUE(out.guarded());
        set().fill[size](out.data(), in.data(), n);
        for (size_t i = 0; i < n; ++i) ASSERT_EQ(out.at(i), values[0]);
        ASSERT_TRUE(out.guarded());
      }
    }
  }
}

TEST_P(Strips, RampsAndSearch) {
  for (size_t n : {0, 1, 7, 8, 64, 70, 1000}) {
    std::vector<int64_t> out(n);
    set().ramp(out.data(), -5, 3, n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], -5 + 3 * static_cast<int64_t>(i));
    for (size_t odd = 0; odd <= n; odd += n < 80 ? 1 : 37) {
      std::vector<uint8_t> bools(n, 1);
      if (odd < n) bools[odd] = 0;
      ASSERT_EQ(set().find_false(bools.data(), n), odd);
      for (auto& b : bools) b ^= 1;
      ASSERT_EQ(set().find_true(bools.data(), n), odd);
    }
  }
}

TEST_P(Strips, Random) {
  for (uint64_t linear : {uint64_t{0}, uint64_t{0xfffffff5}, uint64_t{1} << 40}) {
    for (size_t n : {0, 1, 15, 16, 17, 70}) {
      std::vector<uint32_t> words[3] = {std::vector<uint32_t>(n), std::vector<uint32_t>(n),
                                        std::vector<uint32_t>(n)};
      uint32_t* to[] = {words[0].data(), nullptr, words[1].data(), words[2].data()};
      uint64_t seed = 0x123456789abcdef0, call = 77;
      set().random(to, seed, call, linear, 2, n);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(words[0][i], philox_word(seed, call, linear + i, 8));
        EXPECT_EQ(words[1][i], philox_word(seed, call, linear + i, 10));
        EXPECT_EQ(words[2][i], philox_word(seed, call, linear + i, 11));
      }
    }
  }
}

TEST(StripChoice, FollowsTheFlag) {
  for (const SimdLoops* set : simd_loop_sets()) {
    FlagScope isa(Flag::isa, set->name);
    EXPECT_EQ(&simd_loops(), set);
  }
  FlagScope isa(Flag::isa, "auto");
  EXPECT_EQ(&simd_loops(), simd_loop_sets().back());
}

}  // namespace
}  // namespace lathe
