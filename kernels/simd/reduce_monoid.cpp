// Any monoid: its functions as strip programs on many blocks side by side. Lane l of column c is
// number l * width + c, so a step of sixteen elements in every column is one run, and halving adds
// neighbouring halves.
#include <algorithm>
#include <cstring>

#include "kernels/simd/reduce_run.h"

namespace lathe {

void ReduceRun::combine(std::byte* a, std::byte* b, int64_t n, int64_t width) {
  size_t words = p_.state_.size();
  LineOperand in[2 * ReduceProgram::kMostStates], out[ReduceProgram::kMostStates];
  for (size_t k = 0; k < words; ++k) {
    size_t at = offset_[k] * static_cast<size_t>(width);
    out[k] = in[k] = {a + at, 1};
    in[words + k] = {b + at, 1};
  }
  p_.combine_.run({in, 2 * words}, {out, words}, n, {}, set_);
}

/// Elements first .. first + lanes of every column, lifted into the second row of `room`; the first
/// are the sums.
void ReduceRun::lift_lanes(const Source& source, int64_t first, int64_t lanes, int64_t width,
                           std::byte* room) {
  int64_t all = kLanes * width, bytes = element_bytes();
  std::byte* lifted = room + static_cast<size_t>(all) * state_bytes_;
  std::byte* elements = lifted + static_cast<size_t>(all) * state_bytes_;
  std::byte* index = elements + all * bytes;
  for (int64_t l = 0; l < lanes; ++l) {
    set_.gather[size_class(static_cast<size_t>(bytes))](
        elements + l * width * bytes, source.x + source.offsets[static_cast<size_t>(first + l)],
        source.column_stride, static_cast<size_t>(width));
    if (p_.indexed_)
      set_.ramp(reinterpret_cast<int64_t*>(index) + l * width, source.index + first + l,
                source.index_step, static_cast<size_t>(width));
  }
  LineOperand in[] = {{elements, 1}, {index, 1}}, out[ReduceProgram::kMostStates];
  for (size_t k = 0; k < offset_.size(); ++k)
    out[k] = {lifted + offset_[k] * static_cast<size_t>(all), 1};
  p_.lift_.run(in, {out, offset_.size()}, lanes * width, {}, set_);
}

void ReduceRun::halve_lanes(std::byte* sums, int64_t width) {
  size_t words = p_.state_.size();
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    LineOperand in[2 * ReduceProgram::kMostStates], out[ReduceProgram::kMostStates];
    for (size_t k = 0; k < words; ++k) {
      std::byte* at = sums + offset_[k] * static_cast<size_t>(kLanes * width);
      out[k] = in[k] = {at, 1};
      in[words + k] = {at + static_cast<size_t>(half * width) * size_of(p_.state_[k]), 1};
    }
    p_.combine_.run({in, 2 * words}, {out, words}, half * width, {}, set_);
  }
}

/// The states of `width` blocks of n elements each into `row`.
void ReduceRun::reduce_lanes(const Source& source, int64_t n, int64_t width, std::byte* row) {
  int64_t all = kLanes * width;
  std::byte* sums = room(
      lanes_, kLanes * kTogether * (static_cast<int64_t>(2 * state_bytes_) + element_bytes() + 8));
  fill_units(sums, all);
  for (int64_t i = 0; i < n; i += kLanes) {
    int64_t lanes = std::min(kLanes, n - i);
    lift_lanes(source, i, lanes, width, sums);
    combine(sums, sums + static_cast<size_t>(all) * state_bytes_, lanes * width, all);
  }
  halve_lanes(sums, width);
  for (size_t k = 0; k < offset_.size(); ++k)
    std::memcpy(row + offset_[k] * static_cast<size_t>(width),
                sums + offset_[k] * static_cast<size_t>(all),
                static_cast<size_t>(width) * size_of(p_.state_[k]));
}

/// Many reductions: one column each.
ReduceRun::Row ReduceRun::by_monoid(const std::byte* x, int64_t x_stride, int64_t results) {
  int64_t bytes = element_bytes();
  Row all(state_bytes_ * static_cast<size_t>(results));
  absl::InlinedVector<int64_t, kReduceBlock> offsets(kReduceBlock);
  for (int64_t r = 0; r < results; r += kTogether) {
    int64_t width = std::min(kTogether, results - r);
    auto join_rows = [&](std::byte* a, std::byte* b) { combine(a, b, width, width); };
    RowTree tree;
    for (int64_t at = 0; at < count_; at += kBlock) {
      int64_t n = std::min(kBlock, count_ - at);
      ElementWalk walk(axes_, at);
      for (int64_t i = 0; i < n; ++i, walk.advance(1))
        offsets[static_cast<size_t>(i)] = walk.offset() * bytes;
      Row row(state_bytes_ * static_cast<size_t>(width));
      reduce_lanes({x + r * x_stride * bytes, x_stride * bytes, offsets, at, 0}, n, width,
                   row.data());
      tree.push(std::move(row), join_rows);
    }
    place(tree.total(join_rows), width, all, results, r);
  }
  return all;
}

/// One reduction: one column a block.
void ReduceRun::blocks(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
  int64_t bytes = element_bytes();
  auto join_one = [&](std::byte* a, std::byte* b) { combine(a, b, 1, 1); };
  absl::InlinedVector<int64_t, kReduceBlock> offsets(kReduceBlock);
  for (int64_t i = 0; i < kBlock; ++i) offsets[static_cast<size_t>(i)] = i * bytes;
  int64_t most = std::min((end - begin + kBlock - 1) / kBlock, kTogether) * kBlock;
  std::byte* elements = room(buffers_, most * bytes);
  RowTree tree;
  for (int64_t at = begin; at < end; at += kTogether * kBlock) {
    int64_t n = std::min(end - at, kTogether * kBlock);
    collect(x, at, n, elements);
    for (int64_t done = 0; done < n;) {  // the whole blocks, then the last
      int64_t width = std::max<int64_t>(1, (n - done) / kBlock),
              length = std::min(kBlock, n - done);
      Row row(state_bytes_ * static_cast<size_t>(width));
      reduce_lanes({elements + done * bytes, kBlock * bytes, offsets, at + done, kBlock}, length,
                   width, row.data());
      for (int64_t b = 0; b < width; ++b) tree.push(take(row, width, b), join_one);
      done += width * length;
    }
  }
  const Row& total = tree.total(join_one);
  for (size_t k = 0; k < offset_.size(); ++k) {
    state[k] = 0;
    std::memcpy(&state[k], total.data() + offset_[k], size_of(p_.state_[k]));
  }
}

ReduceRun::Row ReduceRun::take(const Row& row, int64_t width, int64_t r) const {
  Row state(state_bytes_);
  for (size_t k = 0; k < offset_.size(); ++k) {
    size_t size = size_of(p_.state_[k]);
    std::memcpy(
        state.data() + offset_[k],
        row.data() + offset_[k] * static_cast<size_t>(width) + static_cast<size_t>(r) * size, size);
  }
  return state;
}

void ReduceRun::place(const Row& row, int64_t width, Row& into, int64_t results,
                      int64_t first) const {
  for (size_t k = 0; k < offset_.size(); ++k) {
    size_t size = size_of(p_.state_[k]);
    std::memcpy(
        into.data() + offset_[k] * static_cast<size_t>(results) + static_cast<size_t>(first) * size,
        row.data() + offset_[k] * static_cast<size_t>(width), static_cast<size_t>(width) * size);
  }
}

}  // namespace lathe
