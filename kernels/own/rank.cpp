// Elements by their rank: where the element lies that sorting a line would bring to a place,
// without sorting it. Equal elements are ranked by their positions, as a sort that keeps their
// order does.
//
// The keys of some neighbouring lines are gathered line by line. The key of a rank is found by
// bytes from the highest: those of its byte are kept, until there are few; then its place is that
// of the so-manieth element that has this key.
#include <algorithm>
#include <array>

#include "kernels/own/implementations.h"
#include "kernels/own/search.h"
#include "kernels/own/sort_keys.h"
#include "kernels/problem/operand.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

struct Ranks {
  Operand x, rank, out;  // along the last axis
  Walk lines;            // the same, without it
};

/// How many of the keys there are by the byte at `shift`. Neighbours are counted apart: keys that
/// agree in it would wait for each other.
template <class Key>
std::array<int64_t, 256> count_bytes(const Key* keys, int64_t n, size_t shift) {
  std::array<std::array<int64_t, 256>, 4> counts{};
  auto byte = [&](int64_t i) { return static_cast<size_t>(keys[i] >> shift) & 255; };
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; i + 4 <= end; i += 4)
      for (int64_t k = 0; k < 4; ++k) ++counts[static_cast<size_t>(k)][byte(i + k)];
    for (; i < end; ++i) ++counts[0][byte(i)];
  });
  for (size_t b = 0; b < 256; ++b) counts[0][b] += counts[1][b] + counts[2][b] + counts[3][b];
  return counts[0];
}

/// The key of this rank among n; `before` becomes how many are lower. `some`: room for n.
template <class Key>
Key key_of_rank(const Key* keys, int64_t n, int64_t rank, Key* some, int64_t& before) {
  constexpr int64_t kFew = 128;
  before = 0;
  for (size_t shift = sizeof(Key) * 8; n > kFew && shift > 0;) {
    shift -= 8;
    const auto counts = count_bytes(keys, n, shift);
    size_t wanted = 0;
    int64_t lower = 0;
    while (rank - lower >= counts[wanted]) lower += counts[wanted++];
    rank -= lower, before += lower;
    if (counts[wanted] == n) continue;
    int64_t kept = 0;
    in_stretches(0, n, [&](int64_t i, int64_t end) {
      for (; i < end; ++i) {
        const Key key = keys[i];
        some[kept] = key;
        kept += (static_cast<size_t>(key >> shift) & 255) == wanted ? 1 : 0;
      }
    });
    keys = some, n = kept;
  }
  if (n > kFew) return keys[0];  // all bytes agree
  if (keys != some) std::copy_n(keys, n, some);
  std::nth_element(some, some + rank, some + n);
  before += std::count_if(some, some + rank, [&](Key k) { return k < some[rank]; });
  return some[rank];
}

/// Where the element of this rank lies in the line.
template <class Key>
int64_t place_of_rank(const Key* keys, int64_t n, int64_t rank, Key* some) {
  int64_t before = 0;
  rank = std::clamp<int64_t>(rank, 0, n - 1);
  const Key wanted = key_of_rank(keys, n, rank, some, before);
  int64_t place = -1, left = rank - before;
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; place < 0 && i < end; ++i)
      if (keys[i] == wanted && left-- == 0) place = i;
  });
  return place;
}

template <class K>
void run_lines(const Ranks& job) {
  using Key = typename K::Key;
  constexpr int64_t kTogether = 16, kMost = 1 << 18;  // lines, and keys of all of them
  const int64_t n = job.x.shape.back(), step = job.x.strides.back();
  const int64_t asked = job.out.shape.back(), lines = job.out.numel() / asked;
  const auto* x = reinterpret_cast<const typename K::Stored*>(job.x.data);
  const auto* ranks = reinterpret_cast<const int64_t*>(job.rank.data);
  auto* out = reinterpret_cast<int64_t*>(job.out.data);
  const int64_t together = std::clamp<int64_t>(kMost / n, 1, kTogether);
  parallel_for(lines, std::max(together, 8192 / n), [&](int64_t begin, int64_t end) {
    Scratch room(static_cast<size_t>((together + 1) * n) * sizeof(Key));
    Key *keys = room.as<Key>(), *some = keys + together * n;
    for (int64_t first = begin; first < end; first += together) {
      const int64_t count = std::min(together, end - first);
      int64_t at[kTogether][3];
      for (int64_t l = 0; l < count; ++l)
        walk_offsets(job.lines, static_cast<int>(job.lines.shape.size()), first + l,
                     absl::MakeSpan(at[l]));
      in_stretches(0, n, [&](int64_t i, int64_t stop) {
        for (; i < stop; ++i)
          for (int64_t l = 0; l < count; ++l) keys[l * n + i] = K::key(x[at[l][0] + i * step]);
      });
      for (int64_t l = 0; l < count; ++l)
        for (int64_t r = 0; r < asked; ++r)
          out[at[l][2] + r * job.out.strides.back()] =
              place_of_rank(keys + l * n, n, ranks[at[l][1] + r * job.rank.strides.back()], some);
    }
  });
}

}  // namespace

void run_places_of_ranks(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0), rank = call.args.tensor(1), out = result_of(call);
  Ranks job{.x = operand(x), .rank = operand(rank), .out = operand(out), .lines = {}};
  submit(x.device(), {x, rank}, {out}, [job]() mutable {
    if (job.out.numel() == 0) return;
    Operand first[] = {job.x, job.rank, job.out};
    for (Operand& o : first) o.shape.pop_back(), o.strides.pop_back();
    const Operand* all[] = {&first[0], &first[1], &first[2]};
    job.lines = make_walk(all, first[2].shape, false);
    by_key(job.x.dtype, [&](auto k) { run_lines<decltype(k)>(job); });
  });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
