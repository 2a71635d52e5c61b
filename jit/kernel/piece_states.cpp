#include "jit/kernel/piece_states.h"

#include <algorithm>

#include "jit/kernel/cache_lines.h"

namespace lathe::jit {

PieceStates::PieceStates(const std::vector<ReduceBodies>& reductions) {
  for (const ReduceBodies& b : reductions) {
    reductions_.push_back({b.unit, std::make_unique<SimdProgram>(b.combine),
                           std::make_unique<SimdProgram>(b.finish), items_.size(),
                           b.finish.output_types.size()});
    for (DType d : b.state) items_.push_back(static_cast<int64_t>(size_of(d)));
  }
}

int64_t PieceStates::line_bytes(size_t state, int64_t pieces) const {
  return whole_lines(items_[state] * pieces);
}

/// Each state of all pieces, then as much again for the states of pairs.
size_t PieceStates::bytes(int64_t pieces) const {
  int64_t all = 0;
  for (size_t s = 0; s < states(); ++s)
    all += line_bytes(s, pieces) + line_bytes(s, (pieces + 1) / 2);
  return static_cast<size_t>(all);
}

std::vector<std::byte*> PieceStates::places(std::byte* room, int64_t pieces) const {
  std::vector<std::byte*> all;
  for (size_t s = 0; s < states(); ++s) {
    all.push_back(room);
    room += line_bytes(s, pieces) + line_bytes(s, (pieces + 1) / 2);
  }
  return all;
}

void PieceStates::halve(const Reduction& r, const Places& from, const Places& to, int64_t n) const {
  absl::InlinedVector<LineOperand, 8> in, out;
  for (std::byte* at : from) in.push_back({at, 2});
  for (size_t s = 0; s < from.size(); ++s) in.push_back({from[s] + items_[r.first + s], 2});
  for (std::byte* at : to) out.push_back({at, 1});
  r.combine->run(in, out, n / 2, {});
  for (size_t s = 0; n % 2 != 0 && s < from.size(); ++s) {
    const int64_t item = items_[r.first + s];
    std::copy_n(from[s] + (n - 1) * item, item, to[s] + n / 2 * item);
  }
}

void PieceStates::finish(std::byte* room, int64_t pieces, int64_t elements,
                         absl::Span<std::byte* const> results) const {
  const std::vector<std::byte*> begins = places(room, pieces);
  for (const Reduction& r : reductions_) {
    Places now, next;
    for (size_t s = r.first; s < r.first + r.unit.size(); ++s) {
      now.push_back(begins[s]);
      next.push_back(begins[s] + line_bytes(s, pieces));
    }
    for (int64_t n = pieces; n > 1; n = (n + 1) / 2) {
      halve(r, now, next, n);
      std::swap(now, next);
    }
    absl::InlinedVector<LineOperand, 8> in, out;
    for (size_t s = 0; s < now.size(); ++s) {
      auto* unit = const_cast<uint64_t*>(&r.unit[s]);  // of no element; read only
      in.push_back({pieces == 0 ? reinterpret_cast<std::byte*>(unit) : now[s], 0});
    }
    in.push_back({reinterpret_cast<std::byte*>(&elements), 0});
    for (std::byte* result : results.subspan(0, r.results)) out.push_back({result, 1});
    r.finish->run(in, out, 1, {});
    results.remove_prefix(r.results);
  }
}

}  // namespace lathe::jit
