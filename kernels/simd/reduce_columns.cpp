// Known reductions and picks with one column beside the other: what is element i of all of them is
// one operand of a vector.
#include <algorithm>
#include <cstring>

#include "kernels/simd/reduce_run.h"

namespace lathe {

/// Elements that lie in a row are for the rows way, if they fill a vector step.
bool ReduceRun::in_columns(const ReduceLines& kept) const {
  if (!p_.reduction_ && !p_.pick_) return false;
  if (p_.indexed_ && !p_.pick_) return false;
  const bool neighbours = !axes_.empty() && axes_.back().stride == 1;
  const int64_t run = neighbours ? axes_.back().size : 1;
  if (kept.x_stride == 1 && run == 1) return kept.all() > 1;
  if (narrow(kept)) return true;
  // A pick asks more of each row: it has an index beside the value. Floats have kernels for that.
  const bool asks = p_.pick_ && !(is_floating(p_.state_[0]) && lie_in_place());
  return kept.all() >= kLanes && (kept.x_stride == 1 || run < (asks ? 4 : 1) * kLanes);
}

/// No more columns than lanes, whose rows follow each other.
bool ReduceRun::narrow(const ReduceLines& kept) const {
  return p_.reduction_ && p_.plain_ && kept.lines == 1 && kept.x_stride == 1 && kept.results > 1 &&
         kept.results <= kLanes && axes_.size() == 1 && axes_[0].stride == kept.results &&
         count_ >= kLanes;
}

/// Sixteen rows are one strip: the lanes of all columns lie as those rows do.
void ReduceRun::narrow_block(const std::byte* x, int64_t width, int64_t n, std::byte* values) {
  alignas(64) std::byte lanes[kReduceLanes * kReduceLanes * 8];
  const auto first = set_.reduce_first[fold()][element_type()];
  const auto next = set_.reduce_next[fold()][element_type()];
  const auto join = set_.reduce_join[fold()][type()];
  const int64_t used = std::min(n, kLanes), all = n * width, strip = kLanes * width;
  const void* begun[] = {&p_.unit_[0], x};
  first(n == 1 ? values : lanes, begun, static_cast<size_t>(used * width));
  for (int64_t i = strip; i < all; i += strip) {
    const void* both[] = {lanes, x + i * element_bytes()};
    next(lanes, both, static_cast<size_t>(std::min(strip, all - i)));
  }
  const int64_t lane = width * static_cast<int64_t>(size_of(p_.state_[0]));
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    if (half >= used) continue;
    const void* both[] = {lanes, lanes + half * lane};
    join(half == 1 ? values : lanes, both,
         static_cast<size_t>(std::min(half, used - half) * width));
  }
}

ReduceRun::Row ReduceRun::by_columns(const std::byte* x, const ReduceLines& kept) {
  const int64_t bytes = element_bytes(), total = kept.all();
  const bool in_place =
      p_.plain_ && kept.x_stride == 1 && (kept.lines == 1 || kept.results >= kTogether);
  const int64_t each = std::min(count_, kBlock) * bytes;
  const int64_t most = in_place ? kColumns : std::max(kLanes, kGathered / each);
  const int64_t lines = in_place ? 1 : std::max<int64_t>(1, most / kept.results);
  Row all(state_bytes_ * static_cast<size_t>(total));
  for (int64_t line = 0; line < kept.lines; line += lines)
    for (int64_t c = 0; c < kept.results; c += most) {
      ReduceLines some = kept;
      some.results = std::min(most, kept.results - c);
      some.lines = std::min(lines, kept.lines - line);
      columns(x + (line * kept.line_stride + c * kept.x_stride) * bytes, some, in_place, all, total,
              line * kept.results + c);
    }
  return all;
}

void ReduceRun::join(std::byte* a, std::byte* b, int64_t n) {
  if (p_.pick_) return combine(a, b, n, n);
  const void* in[] = {a, b};
  set_.reduce_join[fold()][type()](a, in, static_cast<size_t>(n));
}

void ReduceRun::columns(const std::byte* x, const ReduceLines& some, bool in_place, Row& all,
                        int64_t total, int64_t first) {
  const int64_t width = some.all();
  auto block = [&](int64_t begin, Row& row, int64_t row_width, int64_t at) {
    auto state = [&](size_t k) {
      return row.data() + offset_[k] * static_cast<size_t>(row_width) +
             static_cast<size_t>(at) * size_of(p_.state_[k]);
    };
    column_block(x, some, in_place, begin, std::min(count_ - begin, kBlock), state(0),
                 p_.pick_ ? reinterpret_cast<int64_t*>(state(1)) : nullptr);
  };
  if (count_ <= kBlock) return block(0, all, total, first);
  auto join_rows = [&](std::byte* a, std::byte* b) { join(a, b, width); };
  RowTree tree;
  for (int64_t begin = 0; begin < count_; begin += kBlock) {
    Row row(state_bytes_ * static_cast<size_t>(width));
    block(begin, row, width, 0);
    tree.push(std::move(row), join_rows);
  }
  place(tree.total(join_rows), width, all, total, first);
}

void ReduceRun::column_block(const std::byte* x, const ReduceLines& some, bool in_place,
                             int64_t begin, int64_t n, std::byte* values, int64_t* at) {
  if (narrow(some))
    return narrow_block(x + begin * some.results * element_bytes(), some.results, n, values);
  const void* rows[kReduceBlock];
  if (in_place && axes_.size() == 1) {
    const int64_t apart = axes_[0].stride * element_bytes();
    for (int64_t i = 0; i < n; ++i) rows[i] = x + (begin + i) * apart;
  } else if (in_place) {
    ElementWalk walk(axes_, begin);
    for (int64_t i = 0; i < n; ++i, walk.advance(1)) rows[i] = x + walk.offset() * element_bytes();
  } else {
    gather_columns(x, some, begin, n, rows);
  }
  const auto count = static_cast<size_t>(n), width = static_cast<size_t>(some.all());
  if (p_.reduction_)
    set_.reduce_columns[fold()][element_type()](values, rows, count, width, &p_.unit_[0]);
  else
    set_.pick_columns[*p_.pick_][type()](values, at, rows, count, width, begin);
}

void ReduceRun::gather_columns(const std::byte* x, const ReduceLines& some, int64_t begin,
                               int64_t n, const void** rows) {
  const int64_t bytes = element_bytes(), width = some.all(), all = n * width;
  const int64_t most = std::max(std::min(count_, kBlock) * kLanes, kGathered / bytes);
  std::byte* lifted = room(buffers_, most * (p_.plain_ ? bytes : 8 + 8 + bytes));
  std::byte *index = lifted + most * 8, *elements = p_.plain_ ? lifted : index + most * 8;
  const auto gather = set_.gather[size_class(static_cast<size_t>(bytes))];
  ElementWalk walk(axes_, begin);
  std::byte* to = elements;
  for (int64_t i = 0; i < n; ++i, walk.advance(1))
    for (int64_t l = 0; l < some.lines; ++l, to += some.results * bytes)
      gather(to, x + (walk.offset() + l * some.line_stride) * bytes, some.x_stride * bytes,
             static_cast<size_t>(some.results));
  int64_t size = bytes;
  if (!p_.plain_) {
    size = static_cast<int64_t>(size_of(p_.state_[0]));
    for (int64_t i = 0, at = begin; p_.indexed_ && i < n; ++i, ++at)
      set_.fill[3](index + i * width * 8, &at, static_cast<size_t>(width));
    LineOperand in[] = {{elements, 1}, {index, 1}}, out[] = {{lifted, 1}, {index, 1}};
    p_.lift_.run(in, {out, p_.state_.size()}, all, {}, set_);
  }
  for (int64_t i = 0; i < n; ++i) rows[i] = lifted + i * width * size;
}

}  // namespace lathe
