// Known reductions through their kernels: contiguous blocks.
#include <algorithm>
#include <cstring>

#include "kernels/simd/reduce_run.h"

namespace lathe {

void ReduceRun::block_results(const std::byte* in, int64_t n, int64_t index, std::byte* values,
                              int64_t* at) {
  auto count = static_cast<size_t>(n);
  if (p_.reduction_) {
    set_.reduce_blocks[fold()][element_type()](values, in, count, &p_.unit_[0]);
    return;
  }
  const size_t size = size_of(p_.state_[0]);
  for (size_t done = 0; done < count; done += kReduceBlock, values += size, ++at)
    set_.pick[*p_.pick_][type()](values, at, in + done * size, 0, 1,
                                 std::min(count - done, kReduceBlock),
                                 index + static_cast<int64_t>(done));
}

void ReduceRun::tree_of(std::byte* values, int64_t* at, int64_t n) {
  auto count = static_cast<size_t>(n);
  if (p_.reduction_)
    set_.reduce_tree[fold()][type()](values, count);
  else
    set_.pick_tree[*p_.pick_][type()](values, at, count);
}

/// Pieces of a power of two of blocks, whose trees are subtrees of the whole.
void ReduceRun::rows(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
  size_t size = size_of(p_.state_[0]);
  const bool in_place = lie_in_place();
  alignas(64) std::byte values[static_cast<size_t>(kPieceBlocks) * 8];
  int64_t at[kPieceBlocks];
  if (picks_rows()) {  // one of them is the result, in whatever order they are compared
    set_.pick[*p_.pick_][type()](values, at, x + begin * static_cast<int64_t>(size), 0, 1,
                                 static_cast<size_t>(end - begin), begin);
    state[0] = 0;
    std::memcpy(state, values, size);
    state[1] = static_cast<uint64_t>(at[0]);
    return;
  }
  std::vector<std::byte> piece_values;
  std::vector<int64_t> piece_at;
  state[0] = 0;
  for (int64_t first = begin; first < end; first += kPieceBlocks * kBlock) {
    int64_t n = std::min(end - first, kPieceBlocks * kBlock);
    if (in_place)
      block_results(x + first * element_bytes(), n, first, values, at);
    else
      buffered_blocks(x, first, n, values, at);
    tree_of(values, at, (n + kBlock - 1) / kBlock);
    if (n == end - begin) {  // most rows are one piece
      std::memcpy(state, values, size);
      if (p_.pick_) state[1] = static_cast<uint64_t>(at[0]);
      return;
    }
    piece_values.insert(piece_values.end(), values, values + size);
    piece_at.push_back(at[0]);
  }
  tree_of(piece_values.data(), piece_at.data(), static_cast<int64_t>(piece_at.size()));
  std::memcpy(state, piece_values.data(), size);
  if (p_.pick_) state[1] = static_cast<uint64_t>(piece_at[0]);
}

void ReduceRun::buffered_blocks(const std::byte* x, int64_t begin, int64_t n, std::byte* values,
                                int64_t* at) {
  const int64_t bytes = element_bytes();
  std::byte* elements = room(buffers_, kPiece * (bytes + 8 + 8));
  std::byte *lifted = elements + kPiece * bytes, *index = lifted + kPiece * 8;
  const bool collected = !p_.plain_ && axes_.size() == 1 && axes_[0].stride == 1;
  for (int64_t done = 0; done < n; done += kPiece) {
    int64_t m = std::min(n - done, kPiece);
    if (collected)  // where it lies, and only read
      elements = const_cast<std::byte*>(x + (begin + done) * bytes);
    else
      collect(x, begin + done, m, elements);
    const std::byte* from = elements;
    if (!p_.plain_) {
      if (p_.indexed_)
        set_.ramp(reinterpret_cast<int64_t*>(index), begin + done, 1, static_cast<size_t>(m));
      LineOperand in[] = {{elements, 1}, {index, 1}}, out[] = {{lifted, 1}, {index, 1}};
      p_.lift_.run(in, {out, p_.state_.size()}, m, {}, set_);
      from = lifted;
    }
    block_results(from, m, begin + done, values, at);
    values += static_cast<size_t>(kPiece / kBlock) * size_of(p_.state_[0]);
    at += kPiece / kBlock;
  }
}

}  // namespace lathe
