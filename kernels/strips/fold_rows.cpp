// Known folds through their kernels: contiguous blocks, and columns.
#include <algorithm>
#include <cstring>

#include "kernels/strips/fold_run.h"

namespace lathe {

void FoldRun::join(std::byte* a, std::byte* b, int64_t n) {
  const void* in[] = {a, b};
  set_.fold_join[fold()][type()](a, in, static_cast<size_t>(n));
}

void FoldRun::rows(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
  size_t size = state_bytes_;
  bool in_place = p_.plain_ && (axes_.empty() || (axes_.size() == 1 && axes_[0].stride == 1));
  auto join_one = [&](std::byte* a, std::byte* b) { join(a, b, 1); };
  alignas(64) std::byte results[static_cast<size_t>(kPieceBlocks) * 8];
  RowTree tree;
  state[0] = 0;
  for (int64_t at = begin; at < end; at += kPieceBlocks * kBlock) {
    int64_t n = std::min(end - at, kPieceBlocks * kBlock), blocks = (n + kBlock - 1) / kBlock;
    if (in_place)
      set_.fold_blocks[fold()][type()](results, x + at * static_cast<int64_t>(size),
                                       static_cast<size_t>(n), &p_.unit_[0]);
    else
      buffered_blocks(x, at, n, results);
    set_.fold_tree[fold()][type()](results, static_cast<size_t>(blocks));
    if (n == end - begin) {  // most rows are one piece
      std::memcpy(state, results, size);
      return;
    }
    tree.push({results, results + size}, join_one);
  }
  std::memcpy(state, tree.total(join_one).data(), size);
}

void FoldRun::buffered_blocks(const std::byte* x, int64_t begin, int64_t n, std::byte* results) {
  std::byte* elements = room(buffers_, kPiece * (8 + 8 + 8));
  std::byte *lifted = elements + kPiece * 8, *index = lifted + kPiece * 8;
  for (int64_t at = 0; at < n; at += kPiece) {
    int64_t m = std::min(n - at, kPiece);
    collect(x, begin + at, m, elements);
    const std::byte* from = elements;
    if (!p_.plain_) {
      if (p_.indexed_)
        set_.ramp(reinterpret_cast<int64_t*>(index), begin + at, 1, static_cast<size_t>(m));
      LineOperand in[] = {{elements, 1}, {index, 1}}, out[] = {{lifted, 1}};
      p_.lift_.run(in, out, m, {}, set_);
      from = lifted;
    }
    set_.fold_blocks[fold()][type()](results, from, static_cast<size_t>(m), &p_.unit_[0]);
    results += static_cast<size_t>(kPiece / kBlock) * state_bytes_;
  }
}

FoldRun::Row FoldRun::by_columns(const std::byte* x, int64_t results) {
  auto size = static_cast<int64_t>(state_bytes_);
  int64_t stride = axes_.empty() ? 0 : axes_[0].stride * size;
  Row all(static_cast<size_t>(results * size));
  for (int64_t c = 0; c < results; c += kColumns) {
    int64_t columns = std::min(results - c, kColumns);
    auto join_columns = [&](std::byte* a, std::byte* b) { join(a, b, columns); };
    RowTree tree;
    for (int64_t at = 0; at < count_; at += kBlock) {
      Row row(static_cast<size_t>(columns * size));
      set_.fold_columns[fold()][type()](row.data(), x + at * stride + c * size, stride,
                                        static_cast<size_t>(std::min(count_ - at, kBlock)),
                                        static_cast<size_t>(columns), &p_.unit_[0]);
      tree.push(std::move(row), join_columns);
    }
    const Row& total = tree.total(join_columns);
    std::memcpy(all.data() + c * size, total.data(), total.size());
  }
  return all;
}

}  // namespace lathe
