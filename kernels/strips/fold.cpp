#include "kernels/strips/fold.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "kernels/scratch.h"

namespace lathe {
namespace {

bool same_graph(const ScalarFunction& a, const ScalarFunction& b) {
  return a.graph.nodes() == b.graph.nodes() && a.outputs == b.outputs;
}

/// The combination of each fold as a body; what a row's must equal, node for node, to be that fold.
Exprs combination(Fold fold, const Expr& a, const Expr& b) {
  auto better = [&](Expr beats) {
    if (is_floating(a.dtype())) beats = beats | isnan(a);
    return Exprs{select(beats, a, b)};
  };
  switch (fold) {
    case Fold::sum:
      return {a + b};
    case Fold::prod:
      return {a * b};
    case Fold::lowest:
      return better(lt(a, b));
    case Fold::highest:
      return better(lt(b, a));
    case Fold::any:
      return {a | b};
    case Fold::all:
      return {a & b};
  }
  LATHE_INTERNAL("no such fold");
}

std::optional<Fold> recognise(const ScalarFunction& combine, DType state) {
  bool is_bool = state == DType::bool_;
  if (is_complex(state)) return std::nullopt;
  for (int k = 0; k < kFolds; ++k) {
    auto fold = static_cast<Fold>(k);
    if (strips().fold_blocks[k][static_cast<int>(state)] == nullptr) continue;
    if (is_bool != (fold == Fold::any || fold == Fold::all)) continue;
    auto known = build([&](absl::Span<const Expr> in) { return combination(fold, in[0], in[1]); },
                       std::vector<DType>{state, state});
    if (same_graph(known, combine)) return fold;
  }
  return std::nullopt;
}

bool reads_input(const ScalarFunction& f, uint64_t which) {
  return std::any_of(f.graph.nodes().begin(), f.graph.nodes().end(), [&](const ExprNode& n) {
    return n.prim == Prim::input && n.payload == which;
  });
}

/// Walks the reduced elements in row-major order, a stretch of the last axis at a time.
class ElementWalk {
 public:
  ElementWalk(absl::Span<const FoldAxis> axes, int64_t begin) : axes_(axes), at_(axes.size(), 0) {
    for (size_t a = axes.size(); a-- > 0; begin /= axes[a].size) {
      at_[a] = begin % axes[a].size;
      offset_ += at_[a] * axes[a].stride;
    }
  }
  int64_t offset() const { return offset_; }
  /// Elements left on the last axis, and the distance between them.
  int64_t run() const { return axes_.empty() ? 1 : axes_.back().size - at_.back(); }
  int64_t stride() const { return axes_.empty() ? 0 : axes_.back().stride; }
  void advance(int64_t n) {
    for (size_t a = axes_.size(); a-- > 0; n = 1) {
      at_[a] += n;
      offset_ += n * axes_[a].stride;
      if (at_[a] < axes_[a].size) return;
      offset_ -= at_[a] * axes_[a].stride;
      at_[a] = 0;
    }
  }

 private:
  absl::Span<const FoldAxis> axes_;
  absl::InlinedVector<int64_t, 4> at_;
  int64_t offset_ = 0;
};

int64_t count_of(absl::Span<const FoldAxis> axes) {
  int64_t n = 1;
  for (const FoldAxis& a : axes) n *= a.size;
  return n;
}

/// Axes of size 1 go, and neighbours that are one axis merge.
absl::InlinedVector<FoldAxis, 4> merged(absl::Span<const FoldAxis> axes) {
  absl::InlinedVector<FoldAxis, 4> out;
  for (const FoldAxis& a : axes) {
    if (a.size == 1) continue;
    if (!out.empty() && out.back().stride == a.size * a.stride)
      out.back() = {out.back().size * a.size, a.stride};
    else
      out.push_back(a);
  }
  return out;
}

constexpr int64_t kBlock = static_cast<int64_t>(kFoldBlock),
                  kLanes = static_cast<int64_t>(kFoldLanes);
constexpr int64_t kPiece = 8 * kBlock;  // elements buffered at a time
constexpr int64_t kPieceBlocks = 64;    // blocks whose results are joined at a time
constexpr int64_t kTogether = 64;       // blocks, or results, of the monoid way
constexpr int64_t kColumns = 1024;      // results of the columns way

/// One row of states a level: level k holds the tree of 2^k entries, or nothing.
class Counter {
 public:
  /// `join(into, from)`: into = combine(into, from). `room`: bytes of a state row.
  template <class Join>
  void push(std::vector<std::byte> row, Join join) {
    for (uint64_t n = ++count_; (n & 1) == 0; n >>= 1) {
      join(rows_.back().data(), row.data());
      row = std::move(rows_.back());
      rows_.pop_back();
    }
    rows_.push_back(std::move(row));
  }
  /// The tree of all, from the smallest up.
  template <class Join>
  const std::vector<std::byte>& total(Join join) {
    while (rows_.size() > 1) {
      join(rows_[rows_.size() - 2].data(), rows_.back().data());
      rows_.pop_back();
    }
    return rows_.back();
  }

 private:
  std::vector<std::vector<std::byte>> rows_;
  uint64_t count_ = 0;
};

}  // namespace

/// A call of FoldProgram::run or piece. Rows of states have `width` results: state k of result r at
/// offset_[k] * width + r * size.
class FoldRun {
 public:
  FoldRun(const FoldProgram& program, absl::Span<const FoldAxis> reduced, const StripSet& set)
      : p_(program), set_(set), axes_(merged(reduced)), count_(count_of(reduced)) {
    for (DType d : p_.state_) {
      offset_.push_back(state_bytes_);
      state_bytes_ += size_of(d);
    }
  }

  size_t state_bytes() const { return state_bytes_; }

  /// States of `results` folds, in one row.
  std::vector<std::byte> states(const std::byte* x, int64_t x_stride, int64_t results) {
    if (count_ == 0) return units(results);
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    bool across = x_stride == 1 && results > 1 && (axes_.empty() || axes_.back().stride != 1);
    if (p_.fold_ && across && p_.plain_ && axes_.size() <= 1) return by_columns(x, results);
    if (results > 1 && (across || !p_.fold_)) return by_monoid(x, x_stride, results);
    std::vector<std::byte> row(state_bytes_ * static_cast<size_t>(results));
    for (int64_t r = 0; r < results; ++r) {
      uint64_t state[8];
      one(x + r * x_stride * bytes, 0, count_, state);
      put(row, results, r, state);
    }
    return row;
  }

  /// The state of one fold over [begin, end) of the reduced elements.
  void one(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
    if (p_.fold_)
      rows(x, begin, end, state);
    else
      blocks(x, begin, end, state);
  }

  /// tree(n) of n states, each state_.size() words; the result in the first.
  void join_states(absl::Span<uint64_t> states) {
    size_t words = p_.state_.size(), n = states.size() / words;
    for (size_t step = 1; step < n; step *= 2)
      for (size_t i = 0; i + step < n; i += 2 * step) {
        LineOperand in[16], out[8];
        for (size_t k = 0; k < words; ++k) {
          out[k] = in[k] = {reinterpret_cast<std::byte*>(&states[i * words + k]), 1};
          in[words + k] = {reinterpret_cast<std::byte*>(&states[(i + step) * words + k]), 1};
        }
        p_.combine_.run({in, 2 * words}, {out, words}, 1, {}, set_);
      }
  }

  void finish(std::byte* row, int64_t results, int64_t count, absl::Span<const LineOperand> out) {
    absl::InlinedVector<LineOperand, 4> in;
    for (size_t offset : offset_) in.push_back({row + offset * static_cast<size_t>(results), 1});
    in.push_back({reinterpret_cast<std::byte*>(&count), 0});
    p_.finish_.run(in, out, results, {}, set_);
  }

  void put(std::vector<std::byte>& row, int64_t results, int64_t r, const uint64_t* state) const {
    for (size_t k = 0; k < offset_.size(); ++k) {
      size_t size = size_of(p_.state_[k]);
      std::memcpy(
          row.data() + offset_[k] * static_cast<size_t>(results) + static_cast<size_t>(r) * size,
          &state[k], size);
    }
  }

 private:
  std::vector<std::byte> units(int64_t results) const {
    std::vector<std::byte> row(state_bytes_ * static_cast<size_t>(results));
    fill_units(row.data(), results);
    return row;
  }
  void fill_units(std::byte* row, int64_t results) const {
    for (size_t k = 0; k < offset_.size(); ++k)
      set_.fill[size_class(size_of(p_.state_[k]))](row + offset_[k] * static_cast<size_t>(results),
                                                   &p_.unit_[k], static_cast<size_t>(results));
  }

  int fold() const { return static_cast<int>(*p_.fold_); }
  int type() const { return static_cast<int>(p_.state_[0]); }

  // ── rows: contiguous blocks through the kernels ───────────────────────────────────────────────
  void rows(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
    size_t size = state_bytes_;
    bool in_place = p_.plain_ && (axes_.empty() || (axes_.size() == 1 && axes_[0].stride == 1));
    auto join = [&](std::byte* a, std::byte* b) { join_row(a, b, 1); };
    alignas(64) std::byte results[static_cast<size_t>(kPieceBlocks) * 8];
    Counter counter;
    for (int64_t at = begin; at < end; at += kPieceBlocks * kBlock) {
      int64_t n = std::min(end - at, kPieceBlocks * kBlock), blocks = (n + kBlock - 1) / kBlock;
      if (in_place) {
        set_.fold_blocks[fold()][type()](results, x + at * static_cast<int64_t>(size),
                                         static_cast<size_t>(n), &p_.unit_[0]);
      } else {
        buffered_blocks(x, at, n, results);
      }
      set_.fold_tree[fold()][type()](results, static_cast<size_t>(blocks));
      if (begin == at && at + n == end) break;  // all of it: most rows are short
      counter.push({results, results + size}, join);
    }
    state[0] = 0;
    if (end - begin <= kPieceBlocks * kBlock)
      std::memcpy(state, results, size);
    else
      std::memcpy(state, counter.total(join).data(), size);
  }
  void buffered_blocks(const std::byte* x, int64_t begin, int64_t n, std::byte* results) {
    room(buffers_, kPiece * (8 + 8 + 8));
    std::byte *elements = buffers_->data(), *lifted = elements + kPiece * 8,
              *index = lifted + kPiece * 8;
    size_t size = state_bytes_;
    for (int64_t at = 0; at < n;
         at += kPiece, results += static_cast<size_t>(kPiece / kBlock) * size) {
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
    }
  }
  /// Elements [begin, begin + n) of the reduced space, contiguous.
  void collect(const std::byte* x, int64_t begin, int64_t n, std::byte* to) {
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    ElementWalk walk(axes_, begin);
    while (n > 0) {
      int64_t m = std::min(n, walk.run());
      const std::byte* from = x + walk.offset() * bytes;
      if (walk.stride() == 1 || m == 1)
        std::memcpy(to, from, static_cast<size_t>(m * bytes));
      else
        set_.gather[size_class(static_cast<size_t>(bytes))](to, from, walk.stride() * bytes,
                                                            static_cast<size_t>(m));
      to += m * bytes;
      n -= m;
      walk.advance(m);
    }
  }

  // ── columns ───────────────────────────────────────────────────────────────────────────────────
  std::vector<std::byte> by_columns(const std::byte* x, int64_t results) {
    auto size = static_cast<int64_t>(state_bytes_);
    int64_t stride = axes_.empty() ? 0 : axes_[0].stride * size;
    std::vector<std::byte> all(static_cast<size_t>(results * size));
    for (int64_t c = 0; c < results; c += kColumns) {
      int64_t columns = std::min(results - c, kColumns);
      auto join = [&](std::byte* a, std::byte* b) { join_row(a, b, columns); };
      Counter counter;
      for (int64_t at = 0; at < count_; at += kBlock) {
        std::vector<std::byte> row(static_cast<size_t>(columns * size));
        set_.fold_columns[fold()][type()](row.data(), x + at * stride + c * size, stride,
                                          static_cast<size_t>(std::min(count_ - at, kBlock)),
                                          static_cast<size_t>(columns), &p_.unit_[0]);
        counter.push(std::move(row), join);
      }
      const auto& total = counter.total(join);
      std::memcpy(all.data() + c * size, total.data(), total.size());
    }
    return all;
  }

  // ── monoid: lane l of column c at l * width + c ───────────────────────────────────────────────
  /// a = combine(a, b) on rows of `width` states.
  void join_row(std::byte* a, std::byte* b, int64_t width) {
    if (p_.fold_) {
      const void* in[] = {a, b};
      set_.fold_join[fold()][type()](a, in, static_cast<size_t>(width));
    } else {
      combine(a, b, width, width);
    }
  }
  /// On the first n states of rows laid out for `width`.
  void combine(std::byte* a, std::byte* b, int64_t n, int64_t width) {
    size_t words = p_.state_.size();
    LineOperand in[16], out[8];
    for (size_t k = 0; k < words; ++k) {
      size_t at = offset_[k] * static_cast<size_t>(width);
      out[k] = in[k] = {a + at, 1};
      in[words + k] = {b + at, 1};
    }
    p_.combine_.run({in, 2 * words}, {out, words}, n, {}, set_);
  }

  /// Where lane rows of one step come from: element i of column c.
  struct Source {
    const std::byte* x;
    int64_t column_stride;              // bytes
    absl::Span<const int64_t> offsets;  // bytes, by element of the block
    int64_t index;                      // of element 0 of column 0
    int64_t index_step;                 // from one column to the next
  };
  /// The states of `width` blocks of n elements each, lane by lane, into `row`.
  void fold_lanes(const Source& source, int64_t n, int64_t width, std::byte* row) {
    int64_t all = kLanes * width;
    room(lanes_, static_cast<size_t>(all) * (2 * state_bytes_ + 16));
    std::byte *sums = lanes_->data(), *lifted = sums + static_cast<size_t>(all) * state_bytes_;
    std::byte *elements = lifted + static_cast<size_t>(all) * state_bytes_,
              *index = elements + all * 8;
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    fill_units(sums, all);
    for (int64_t i = 0; i < n; i += kLanes) {
      int64_t lanes = std::min(kLanes, n - i);
      for (int64_t l = 0; l < lanes; ++l) {
        const std::byte* from = source.x + source.offsets[static_cast<size_t>(i + l)];
        set_.gather[size_class(static_cast<size_t>(bytes))](
            elements + l * width * bytes, from, source.column_stride, static_cast<size_t>(width));
        if (p_.indexed_)
          set_.ramp(reinterpret_cast<int64_t*>(index) + l * width, source.index + i + l,
                    source.index_step, static_cast<size_t>(width));
      }
      LineOperand in[] = {{elements, 1}, {index, 1}}, out[8];
      for (size_t k = 0; k < offset_.size(); ++k)
        out[k] = {lifted + offset_[k] * static_cast<size_t>(all), 1};
      p_.lift_.run(in, {out, offset_.size()}, lanes * width, {}, set_);
      combine(sums, lifted, lanes * width, all);
    }
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      size_t words = p_.state_.size();
      LineOperand in[16], out[8];
      for (size_t k = 0; k < words; ++k) {
        std::byte* at = sums + offset_[k] * static_cast<size_t>(all);
        out[k] = in[k] = {at, 1};
        in[words + k] = {at + static_cast<size_t>(half * width) * size_of(p_.state_[k]), 1};
      }
      p_.combine_.run({in, 2 * words}, {out, words}, half * width, {}, set_);
    }
    for (size_t k = 0; k < offset_.size(); ++k)
      std::memcpy(row + offset_[k] * static_cast<size_t>(width),
                  sums + offset_[k] * static_cast<size_t>(all),
                  static_cast<size_t>(width) * size_of(p_.state_[k]));
  }

  /// Many results: one column each.
  std::vector<std::byte> by_monoid(const std::byte* x, int64_t x_stride, int64_t results) {
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    std::vector<std::byte> all(state_bytes_ * static_cast<size_t>(results));
    absl::InlinedVector<int64_t, 512> offsets(kFoldBlock);
    for (int64_t r = 0; r < results; r += kTogether) {
      int64_t width = std::min(kTogether, results - r);
      auto join = [&](std::byte* a, std::byte* b) { combine(a, b, width, width); };
      Counter counter;
      for (int64_t at = 0; at < count_; at += kBlock) {
        int64_t n = std::min(kBlock, count_ - at);
        block_offsets(at, n, offsets);
        std::vector<std::byte> row(state_bytes_ * static_cast<size_t>(width));
        fold_lanes({x + r * x_stride * bytes, x_stride * bytes, offsets, at, 0}, n, width,
                   row.data());
        counter.push(std::move(row), join);
      }
      const auto& total = counter.total(join);
      for (size_t k = 0; k < offset_.size(); ++k) {
        size_t size = size_of(p_.state_[k]);
        std::memcpy(
            all.data() + offset_[k] * static_cast<size_t>(results) + static_cast<size_t>(r) * size,
            total.data() + offset_[k] * static_cast<size_t>(width),
            static_cast<size_t>(width) * size);
      }
    }
    return all;
  }
  void block_offsets(int64_t begin, int64_t n, absl::InlinedVector<int64_t, 512>& offsets) const {
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    ElementWalk walk(axes_, begin);
    for (int64_t i = 0; i < n; ++i, walk.advance(1))
      offsets[static_cast<size_t>(i)] = walk.offset() * bytes;
  }

  /// One result: one column a block.
  void blocks(const std::byte* x, int64_t begin, int64_t end, uint64_t* state) {
    auto bytes = static_cast<int64_t>(size_of(p_.stored_));
    auto join = [&](std::byte* a, std::byte* b) { combine(a, b, 1, 1); };
    absl::InlinedVector<int64_t, 512> offsets(kFoldBlock);
    for (int64_t i = 0; i < kBlock; ++i) offsets[static_cast<size_t>(i)] = i * bytes;
    room(buffers_, static_cast<size_t>(kTogether * kBlock * 8));
    Counter counter;
    for (int64_t at = begin; at < end; at += kTogether * kBlock) {
      int64_t n = std::min(end - at, kTogether * kBlock);
      collect(x, at, n, buffers_->data());
      for (int64_t done = 0; done < n;) {
        int64_t whole = (n - done) / kBlock, width = std::max<int64_t>(1, whole);
        int64_t length = std::min(kBlock, n - done);
        std::vector<std::byte> row(state_bytes_ * static_cast<size_t>(width));
        fold_lanes({buffers_->data() + done * bytes, kBlock * bytes, offsets, at + done, kBlock},
                   length, width, row.data());
        for (int64_t b = 0; b < width; ++b) counter.push(take(row, width, b), join);
        done += width * length;
      }
    }
    const auto& total = counter.total(join);
    for (size_t k = 0; k < offset_.size(); ++k) {
      state[k] = 0;
      std::memcpy(&state[k], total.data() + offset_[k], size_of(p_.state_[k]));
    }
  }
  std::vector<std::byte> take(const std::vector<std::byte>& row, int64_t width, int64_t at) const {
    std::vector<std::byte> state(state_bytes_);
    for (size_t k = 0; k < offset_.size(); ++k) {
      size_t size = size_of(p_.state_[k]);
      std::memcpy(
          state.data() + offset_[k],
          row.data() + offset_[k] * static_cast<size_t>(width) + static_cast<size_t>(at) * size,
          size);
    }
    return state;
  }

  static void room(std::unique_ptr<Scratch>& scratch, size_t bytes) {
    if (!scratch) scratch = std::make_unique<Scratch>(bytes);
  }

  const FoldProgram& p_;
  const StripSet& set_;
  absl::InlinedVector<FoldAxis, 4> axes_;
  int64_t count_;
  absl::InlinedVector<size_t, 2> offset_;  // of a state in a row, for one result
  size_t state_bytes_ = 0;
  std::unique_ptr<Scratch> buffers_, lanes_;
};

FoldProgram::FoldProgram(const FoldBodies& bodies)
    : stored_(bodies.lift.inputs[0]),
      state_(bodies.state),
      lift_(bodies.lift),
      combine_(bodies.combine),
      finish_(bodies.finish) {
  LATHE_CHECK(state_.size() <= 8);
  size_t at = 0;
  for (DType d : state_) {  // a complex unit comes as two words
    bool pair = is_complex(d);
    unit_.push_back(pair ? (bodies.unit[at] & 0xffffffffu) | bodies.unit[at + 1] << 32
                         : bodies.unit[at]);
    at += pair ? 2 : 1;
  }
  if (state_.size() == 1) fold_ = recognise(bodies.combine, state_[0]);
  indexed_ = reads_input(bodies.lift, 1);
  const ExprNode& lifted = bodies.lift.graph[bodies.lift.outputs[0]];
  plain_ = state_.size() == 1 && lifted.prim == Prim::input && lifted.payload == 0 &&
           state_[0] == stored_;
}

void FoldProgram::run(const std::byte* x, int64_t x_stride, int64_t results,
                      absl::Span<const FoldAxis> reduced, absl::Span<const LineOperand> out,
                      const StripSet& set) const {
  if (results <= 0) return;
  FoldRun run(*this, reduced, set);
  auto row = run.states(x, x_stride, results);
  run.finish(row.data(), results, count_of(reduced), out);
}

void FoldProgram::piece(const std::byte* x, absl::Span<const FoldAxis> reduced, int64_t begin,
                        int64_t end, absl::Span<uint64_t> state, const StripSet& set) const {
  FoldRun(*this, reduced, set).one(x, begin, end, state.data());
}

void FoldProgram::finish(absl::Span<uint64_t> states, int64_t count,
                         absl::Span<const LineOperand> out, const StripSet& set) const {
  FoldRun run(*this, {}, set);
  run.join_states(states);
  std::vector<std::byte> row(run.state_bytes());
  run.put(row, 1, 0, states.data());
  run.finish(row.data(), 1, count, out);
}

}  // namespace lathe
