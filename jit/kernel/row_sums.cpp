#include "jit/kernel/row_sums.h"

#include <algorithm>
#include <bit>

#include "jit/kernel/cache_lines.h"

namespace lathe::jit {
namespace {

/// Lanes that any row belongs to, a power of two: the others hold units, and are not in memory.
int64_t lanes_of(int64_t rows) {
  const auto some = static_cast<uint64_t>(std::clamp<int64_t>(rows, 1, RowSums::kLanes));
  return static_cast<int64_t>(std::bit_ceil(some));
}

}  // namespace

RowSums::RowSums(const Kernel& kernel) {
  each_numbered(kernel.body, [&]<class S>(const S& r, size_t first) {
    if constexpr (std::is_same_v<S, ReduceRows>) {
      sums_.push_back({&r, std::make_unique<SimdProgram>(r.bodies.combine),
                       std::make_unique<SimdProgram>(r.bodies.finish), items_.size(),
                       first + r.operands.size()});
      for (DType d : r.bodies.state) items_.push_back(static_cast<int64_t>(size_of(d)));
    }
  });
}

int64_t RowSums::line_bytes(size_t line, int64_t elements) const {
  return whole_lines(items_[line] * elements);
}

int64_t RowSums::block_bytes(int64_t rows, int64_t length) const {
  int64_t bytes = 0;
  for (size_t line = 0; line < lines(); ++line) bytes += line_bytes(line, lanes_of(rows) * length);
  return bytes;
}

int64_t RowSums::state_bytes(int64_t length) const {
  int64_t bytes = 0;
  for (size_t line = 0; line < lines(); ++line) bytes += line_bytes(line, length);
  return bytes;
}

std::vector<std::byte*> RowSums::begin(std::byte* room, int64_t rows, int64_t length) const {
  std::vector<std::byte*> lanes;
  const int64_t elements = lanes_of(rows) * length;
  for (const Sum& sum : sums_)
    for (const uint64_t& unit : sum.statement->bodies.unit) {
      const size_t line = lanes.size();
      lanes.push_back(room);
      simd_loops().fill[size_class(static_cast<size_t>(items_[line]))](
          room, &unit, static_cast<size_t>(elements));
      room += line_bytes(line, elements);
    }
  return lanes;
}

void RowSums::combine(const Sum& sum, absl::Span<std::byte* const> a,
                      absl::Span<std::byte* const> b, int64_t n, bool many) {
  absl::InlinedVector<LineOperand, 8> in, out;
  for (std::byte* at : a) out.push_back({at, 1});
  in.assign(out.begin(), out.end());
  for (std::byte* at : b) in.push_back({at, many ? 1 : 0});
  sum.combine->run(in, out, n, {});
}

void RowSums::end(absl::Span<std::byte* const> lanes, int64_t rows, int64_t length,
                  std::byte* states) const {
  for (const Sum& sum : sums_) {
    const auto a = lanes.subspan(sum.first, sum.statement->bodies.state.size());
    // What a lane without memory holds: units, halved as often as the others.
    std::vector<uint64_t> absent = sum.statement->bodies.unit;
    std::vector<std::byte*> units;
    for (uint64_t& unit : absent) units.push_back(reinterpret_cast<std::byte*>(&unit));
    const int64_t there = lanes_of(rows);
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      if (half >= there) {
        combine(sum, a, units, there * length, /*many=*/false);
        combine(sum, units, units, 1, /*many=*/false);
        continue;
      }
      std::vector<std::byte*> b;
      for (size_t s = 0; s < a.size(); ++s)
        b.push_back(a[s] + half * length * items_[sum.first + s]);
      combine(sum, a, b, half * length, /*many=*/true);
    }
    const std::vector<std::byte*> to = lines_at(sum, states, length);
    for (size_t s = 0; s < a.size(); ++s) std::copy_n(a[s], length * items_[sum.first + s], to[s]);
  }
}

std::vector<std::byte*> RowSums::lines_at(const Sum& sum, std::byte* states, int64_t length) const {
  for (size_t line = 0; line < sum.first; ++line) states += line_bytes(line, length);
  std::vector<std::byte*> at;
  for (size_t s = 0; s < sum.statement->bodies.state.size(); ++s) {
    at.push_back(states);
    states += line_bytes(sum.first + s, length);
  }
  return at;
}

void RowSums::finish(std::byte* states, int64_t bytes, int64_t rows, int64_t length,
                     absl::Span<std::byte* const> places) const {
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  for (const Sum& sum : sums_) {
    const auto at = [&](int64_t block) { return lines_at(sum, states + block * bytes, length); };
    for (int64_t step = 1; step < blocks; step *= 2)
      for (int64_t i = 0; i + step < blocks; i += 2 * step)
        combine(sum, at(i), at(i + step), length, /*many=*/true);
    absl::InlinedVector<LineOperand, 4> in, out;
    for (size_t s = 0; s < sum.statement->bodies.state.size(); ++s) {
      // Of no row: the unit.
      auto* unit = const_cast<uint64_t*>(&sum.statement->bodies.unit[s]);
      in.push_back(blocks == 0 ? LineOperand{reinterpret_cast<std::byte*>(unit), 0}
                               : LineOperand{at(0)[s], 1});
    }
    in.push_back({reinterpret_cast<std::byte*>(&rows), 0});
    for (std::byte* result : places.subspan(sum.result, sum.statement->stores.size()))
      out.push_back({result, 1});
    sum.finish->run(in, out, length, {});
  }
}

}  // namespace lathe::jit
