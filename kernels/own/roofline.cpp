#include "kernels/own/roofline.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/own/tiles.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

constexpr int kRuns = 8;
constexpr int64_t kWork = int64_t{1} << 22;  // bytes a run: some tenths of a millisecond

/// The least time of some runs of body(thread) on so many threads.
template <class F>
double least_seconds(int threads, const F& body) {
  double least = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const auto began = std::chrono::steady_clock::now();
    parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) body(static_cast<size_t>(thread));
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    least = std::min(least, took.count());
  }
  return least;
}

/// By tiles of a product whose operands stay in the first level of the cache.
double operations_a_second(int threads) {
  constexpr int kDepth = 128, kTiles = 2000;
  const Tiles<float>& set = tiles<float>();
  const std::vector<float> ones(size_t{kDepth} * kMostLanes, 1.0f);
  std::vector<std::vector<float>> sums(static_cast<size_t>(threads));
  for (auto& mine : sums) mine.resize(kMostSums);
  const double seconds = least_seconds(threads, [&](size_t thread) {
    TileCall<float> call{};
    call.a = call.b = ones.data();
    call.c = sums[thread].data();
    call.a_k = set.rows;
    call.b_k = call.ldc = set.cols;
    call.depth = kDepth;
    call.rows = set.rows;
    call.cols = set.cols;
    call.ahead = reinterpret_cast<uintptr_t>(ones.data());
    for (int i = 0; i < kTiles; ++i) set.tile(call);
  });
  return 2.0 * kDepth * set.rows * set.cols * kTiles * threads / seconds;
}

/// The faster of reading and copying so many bytes, each thread its part of them.
double bytes_a_second(int64_t bytes, int threads) {
  const auto half = static_cast<size_t>(bytes / threads / 2);
  const auto times = std::max<int64_t>(1, kWork / bytes);
  std::vector<std::vector<char>> from, to;
  for (int i = 0; i < threads; ++i) {
    from.emplace_back(half, 1);
    to.emplace_back(half, 1);
  }
  std::vector<int> unequal(from.size());
  const double copied = least_seconds(threads, [&](size_t thread) {
    for (int64_t i = 0; i < times; ++i) std::memcpy(to[thread].data(), from[thread].data(), half);
  });
  const double read = least_seconds(threads, [&](size_t thread) {
    for (int64_t i = 0; i < times; ++i)
      unequal[thread] |= std::memcmp(to[thread].data(), from[thread].data(), half);
  });
  return static_cast<double>(half * 2 * from.size()) * static_cast<double>(times) /
         std::min(copied, read);
}

}  // namespace

Roofline measure_roofline() {
  Roofline out;
  const int threads = pool_threads();
  out.operations = operations_a_second(threads);
  for (int64_t bytes = int64_t{1} << 14; bytes <= int64_t{1} << 28; bytes *= 4)
    out.bandwidth.emplace_back(bytes, bytes_a_second(bytes, threads));
  // A larger one is no faster: where it seems so, the smaller was disturbed.
  for (size_t i = out.bandwidth.size() - 1; i-- > 0;)
    out.bandwidth[i].second = std::max(out.bandwidth[i].second, out.bandwidth[i + 1].second);
  return out;
}

}  // namespace lathe::own
