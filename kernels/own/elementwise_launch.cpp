// The index space is collapsed to as few axes as the operands allow and walked in lines along one
// of them; lines, or pieces of a long one, are the units of parallel work. Where lines are short,
// several are taken together: operands that do not lie evenly across them are copied into a strip
// first (once, if they are the same for every line). Operands that run along another axis than the
// result are turned, block by block. Which elements meet, and every bit of the result, does not
// depend on how the space was walked.
#include "kernels/own/elementwise_launch.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

#include "core/base/checks.h"
#include "core/base/error.h"
#include "kernels/own/copy.h"
#include "kernels/own/odometer.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

/// Several lines at a time where they are shorter: of a program that is one kernel; of one whose
/// steps have to be laid out first.
constexpr int64_t kShortLine = 128, kShortForMany = 1024;
constexpr int64_t kStrip = 2048;  // elements taken together
/// Elements of a block whose operands are turned together, and how far it goes along the result's
/// fast axis and along theirs: what is turned is still in the cache when it is read.
constexpr int64_t kBlock = 1 << 14, kBlockAlong = 256, kBlockAcross = 64;
/// A result of so many bytes goes past the caches, a little at a time.
constexpr int64_t kStreamed = int64_t{32} << 20, kStreamBytes = 8192;

[[noreturn]] void check_failed(const ElementwiseLaunch& launch, uint64_t slot) {
  int64_t linear = static_cast<int64_t>(slot >> 8);
  std::string at;
  const Sizes& shape = launch.outs[0].shape;
  for (size_t i = shape.size(); i-- > 0;) {
    at = absl::StrCat(linear % shape[i], at.empty() ? "" : ", ", at);
    linear /= shape[i];
  }
  throw_check(launch.op, static_cast<uint32_t>(slot & 0xff), at, launch.site);
}

class Walker {
 public:
  explicit Walker(const ElementwiseLaunch& launch)
      : launch_(launch), program_(*launch.program), outs_(launch.outs.size()) {
    for (const Operand& o : launch.outs) operands_.push_back(&o);
    for (const Operand& o : launch.ins) operands_.push_back(&o);
    placed_ = program_.uses_index() || program_.uses_position();
    for (const Operand* o : operands_) bytes_.push_back(static_cast<int64_t>(size_of(o->dtype)));
    grain_ = std::max<int64_t>(kStrip, (int64_t{1} << 19) / (program_.cost() * 8) / 1024 * 1024);
    collapse();
    across_ = launch_.outs[0].numel() > kBlock ? axis_across() : std::nullopt;
    if (across_) return;
    straighten();
    streams_ = launch.engine == Engine::simd && outs_ == 1 && !placed_ &&
               walk_.strides[0].back() == 1 && launch.outs[0].numel() * bytes_[0] >= kStreamed &&
               absl::c_none_of(launch.ins, [&](const Operand& x) {
                 return x.data == launch.outs[0].data;  // what is read is in a cache already
               });
  }

  void run() {
    if (across_) return run_blocks(*across_);
    size_t rank = walk_.shape.size();
    const int64_t short_line = program_.is_direct() ? kShortLine : kShortForMany;
    bool together = !placed_ && rank > 1 && walk_.shape[rank - 1] < short_line && outputs_even();
    together ? run_together() : run_lines();
    if (uint64_t slot = checks_.lowest.load(); slot != UINT64_MAX) check_failed(launch_, slot);
  }

 private:
  using Lines = absl::InlinedVector<LineOperand, 6>;

  void collapse() {
    if (program_.uses_index()) {
      walk_.shape = launch_.outs[0].shape;
      for (const Operand* o : operands_) walk_.strides.push_back(o->strides);
    } else {
      walk_ = make_walk(operands_, launch_.outs[0].shape, !placed_);
    }
    if (!walk_.shape.empty()) return;
    walk_.shape.push_back(1);
    for (Sizes& s : walk_.strides) s.push_back(0);
  }

  /// Does input k have elements side by side along axis i (or none but one), and far apart along
  /// the last, where those of the outputs are side by side?
  bool runs_across(size_t k, size_t i, int64_t step) const {
    const size_t last = walk_.shape.size() - 1;
    const Sizes& s = walk_.strides[k];
    return s[last] >= 16 && walk_.shape[last] >= 16 && s[i] == step && walk_.shape[i] >= 16;
  }

  /// The axis along which an input runs that has to be turned, if there is one.
  std::optional<size_t> axis_across() const {
    if (placed_) return std::nullopt;
    for (size_t i = 0; i + 1 < walk_.shape.size(); ++i)
      for (size_t k = outs_; k < operands_.size(); ++k)
        if (runs_across(k, i, 1)) return i;
    return std::nullopt;
  }

  /// An input that runs along another axis than the outputs touches a cache line for every element,
  /// and one that is repeated across the lines does so for every line: it is turned first.
  void straighten() {
    if (placed_ || launch_.outs[0].numel() < 4096) return;
    bool turned = false;
    for (size_t k = outs_; k < operands_.size(); ++k) {
      bool helps = false;
      for (size_t i = 0; i + 1 < walk_.shape.size(); ++i)
        helps |= runs_across(k, i, 1) || runs_across(k, i, 0);
      if (!helps) continue;
      operands_[k] = turned_copy(*operands_[k]);
      turned = true;
    }
    if (!turned) return;
    walk_ = {};
    collapse();
  }
  /// A copy of what differs of x, without gaps, whose axes lie in the order of the result's,
  /// repeated as x repeats it.
  const Operand* turned_copy(const Operand& x) {
    Operand once = x;
    for (size_t i = 0; i < x.shape.size(); ++i)
      if (x.strides[i] == 0) once.shape[i] = 1;
    Scratch& room = *turned_room_.emplace_back(
        std::make_unique<Scratch>(static_cast<size_t>(once.numel()) * size_of(x.dtype)));
    Operand copy{room.data(), x.dtype, once.shape, once.strides};
    absl::InlinedVector<size_t, 6> axes(x.shape.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    const Sizes& result = launch_.outs[0].strides;
    absl::c_stable_sort(
        axes, [&](size_t a, size_t b) { return std::abs(result[a]) > std::abs(result[b]); });
    int64_t step = 1;
    for (size_t i = axes.size(); i-- > 0; step *= once.shape[axes[i]]) copy.strides[axes[i]] = step;
    copy_elements(once, copy);
    for (size_t i = 0; i < x.shape.size(); ++i)
      if (x.strides[i] == 0) copy.strides[i] = 0;
    copy.shape = x.shape;
    return turned_operands_.emplace_back(std::make_unique<Operand>(std::move(copy))).get();
  }

  bool outputs_even() const {
    for (size_t k = 0; k < outs_; ++k)
      if (!even(k)) return false;
    return true;
  }
  /// The last two axes are one to this operand.
  bool even(size_t k) const {
    size_t last = walk_.shape.size() - 1;
    const Sizes& s = walk_.strides[k];
    return s[last - 1] == s[last] * walk_.shape[last];
  }

  void program(const Lines& at, int64_t n, const LineContext& context) const {
    auto all = absl::MakeConstSpan(at);
    program_.run(all.subspan(outs_), all.subspan(0, outs_), n, context, launch_.engine);
  }

  // ── blocks, where an input has to be turned ────────────────────────────────────────────────────
  /// Each block is a launch of its own, that turns what it reads.
  void run_blocks(size_t across) {
    const size_t rank = walk_.shape.size(), last = rank - 1;
    Sizes block(rank), count(rank);
    block[last] = std::min(walk_.shape[last], kBlockAlong);
    block[across] = std::min(walk_.shape[across], kBlockAcross);
    int64_t left = kBlock / (block[last] * block[across]), blocks = 1;
    for (size_t i = rank; i-- > 0;) {
      if (i != last && i != across) {
        block[i] = std::min(walk_.shape[i], std::max<int64_t>(1, left));
        left /= block[i];
      }
      count[i] = (walk_.shape[i] + block[i] - 1) / block[i];
      blocks *= count[i];
    }
    parallel_for(blocks, std::max<int64_t>(1, grain_ / kBlock), [&](int64_t begin, int64_t end) {
      ElementwiseLaunch part = launch_;
      for (; begin < end; ++begin) {
        check_cancelled();
        cut(block, count, begin, part);
        Walker(part).run();
      }
    });
  }

  /// `part` becomes one of so many blocks.
  void cut(const Sizes& block, const Sizes& count, int64_t number, ElementwiseLaunch& part) const {
    const size_t rank = block.size();
    Sizes shape(rank), first(rank);
    for (size_t i = rank; i-- > 0; number /= count[i]) {
      first[i] = number % count[i] * block[i];
      shape[i] = std::min(block[i], walk_.shape[i] - first[i]);
    }
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Sizes& strides = walk_.strides[k];
      int64_t at = 0;
      for (size_t i = 0; i < rank; ++i) at += first[i] * strides[i];
      (k < outs_ ? part.outs[k] : part.ins[k - outs_]) = {operands_[k]->data + at * bytes_[k],
                                                          operands_[k]->dtype, shape, strides};
    }
  }

  // ── one line at a time ─────────────────────────────────────────────────────────────────────────
  void run_lines() {
    int64_t length = walk_.shape.back(), lines = launch_.outs[0].numel() / length;
    int64_t piece = std::min(length, grain_), pieces = (length + piece - 1) / piece;
    if (pieces == 1 && walk_.shape.size() > 1 && !placed_ && !streams_)
      return parallel_for(lines, std::max<int64_t>(1, grain_ / length),
                          [&](int64_t begin, int64_t end) { run_alike(begin, end); });
    parallel_for(lines * pieces, std::max<int64_t>(1, grain_ / piece),
                 [&](int64_t begin, int64_t end) {
                   WalkOdometer line(walk_, walk_.shape.size() - 1, begin / pieces);
                   for (int64_t t = begin; t < end; ++t) {
                     int64_t start = t % pieces * piece;
                     run_line(line, t / pieces, start, std::min(piece, length - start));
                     if (start + piece >= length) line.next();
                   }
                 });
  }

  /// Whole lines that differ in nothing but where they are.
  void run_alike(int64_t begin, int64_t end) {
    size_t last = walk_.shape.size() - 1;
    const int64_t length = walk_.shape[last], rows = walk_.shape[last - 1];
    WalkOdometer outer(walk_, last - 1, begin / rows);
    Lines at(operands_.size());
    absl::InlinedVector<int64_t, 4> steps;  // from row to row, in bytes
    for (size_t k = 0; k < at.size(); ++k) steps.push_back(walk_.strides[k][last - 1] * bytes_[k]);
    SimdProgram::Direct direct;
    int64_t row = begin % rows;
    for (bool first = true; begin < end; row = 0, first = false, outer.next()) {
      for (size_t k = 0; k < at.size(); ++k) {
        const Sizes& s = walk_.strides[k];
        at[k] = {operands_[k]->data + outer.offset(k) * bytes_[k] + row * steps[k], s[last]};
      }
      const auto in = absl::MakeConstSpan(at).subspan(outs_);
      if (first && launch_.engine == Engine::simd) direct = program_.direct(in, at[0], length);
      for (int64_t until = std::min(end, begin + rows - row); begin < until; ++begin) {
        if (direct)
          direct.run(in, at[0].data, length);
        else
          program(at, length, {});
        for (size_t k = 0; k < at.size(); ++k) at[k].data += steps[k];
      }
    }
  }

  void run_line(const WalkOdometer& line, int64_t number, int64_t start, int64_t n) {
    size_t last = walk_.shape.size() - 1;
    Lines at(operands_.size());
    for (size_t k = 0; k < operands_.size(); ++k) {
      int64_t stride = walk_.strides[k][last];
      at[k] = {operands_[k]->data + (line.offset(k) + start * stride) * bytes_[k], stride};
    }
    LineContext context;
    absl::InlinedVector<int64_t, 6> index;
    if (placed_) {
      context.seed = launch_.random.seed;
      context.call = launch_.random.call;
      context.linear = number * walk_.shape[last] + start;
      context.checks = &checks_;
    }
    if (program_.uses_index()) {
      index.assign(line.at().begin(), line.at().end());
      index.push_back(start);
      context.index = index;
      context.axis = static_cast<int>(last);
    }
    streams_ ? stream(at, n, context) : program(at, n, context);
  }

  /// A piece of a line past the caches, through a buffer if need be: the result's memory is not
  /// read before it is written.
  void stream(Lines at, int64_t n, const LineContext& context) const {
    if (program_.run_streamed(absl::MakeConstSpan(at).subspan(1), at[0], n)) return;
    alignas(64) std::byte room[kStreamBytes];
    const int64_t most = kStreamBytes / bytes_[0];
    std::byte* to = at[0].data;
    at[0].data = room;
    for (int64_t done = 0; done < n; done += most) {
      int64_t some = std::min(most, n - done);
      program(at, some, context);
      simd_loops().stream(to + done * bytes_[0], room, static_cast<size_t>(some * bytes_[0]),
                          done + some == n);
      for (size_t k = 1; k < at.size(); ++k) at[k].data += some * at[k].stride * bytes_[k];
    }
  }

  // ── several short lines at a time ──────────────────────────────────────────────────────────────
  void run_together() {
    size_t last = walk_.shape.size() - 1;
    int64_t length = walk_.shape[last], rows = walk_.shape[last - 1];
    int64_t most = std::min(rows, kStrip / length + 1), bundles = (rows + most - 1) / most;
    int64_t outer = launch_.outs[0].numel() / (length * rows);
    parallel_for(outer * bundles, std::max<int64_t>(1, grain_ / (most * length)),
                 [&](int64_t begin, int64_t end) {
                   Scratch room(operands_.size() * strip_bytes(most * length));
                   Built built(operands_.size());
                   for (int64_t t = begin; t < end; ++t) {
                     int64_t row = t % bundles * most;
                     run_bundle(t / bundles, row, std::min(most, rows - row), most, room, built);
                   }
                 });
  }

  /// What each operand's strip was made from: the same lines, in the next bundle, are there
  /// already.
  struct Strip {
    const std::byte* from = nullptr;
    int64_t rows = 0;
  };
  using Built = absl::InlinedVector<Strip, 6>;

  void run_bundle(int64_t outer, int64_t row, int64_t rows, int64_t most, const Scratch& room,
                  Built& built) const {
    size_t last = walk_.shape.size() - 1;
    int64_t length = walk_.shape[last];
    absl::InlinedVector<int64_t, 6> offsets(operands_.size());
    walk_offsets(walk_, static_cast<int>(last) - 1, outer, absl::MakeSpan(offsets));
    Lines at;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Sizes& s = walk_.strides[k];
      std::byte* from = operands_[k]->data + (offsets[k] + row * s[last - 1]) * bytes_[k];
      if (even(k)) {
        at.push_back({from, s[last]});
        continue;
      }
      std::byte* strip = room.data() + k * strip_bytes(most * length);
      const int64_t lines = s[last - 1] == 0 ? most : rows;  // a repeated line serves any number
      if (built[k].from != from || built[k].rows < lines) {
        fill_strip(k, from, lines, strip);
        built[k] = {from, lines};
      }
      at.push_back({strip, 1});
    }
    program(at, rows * length, LineContext{});
  }

  /// Of one operand's strip: all are as large as the widest.
  size_t strip_bytes(int64_t elements) const {
    return static_cast<size_t>(elements * *std::max_element(bytes_.begin(), bytes_.end()));
  }

  void fill_strip(size_t k, const std::byte* from, int64_t rows, std::byte* to) const {
    size_t last = walk_.shape.size() - 1;
    const Sizes& s = walk_.strides[k];
    int64_t length = walk_.shape[last];
    switch (bytes_[k]) {
      case 1:
        return copy_lines<uint8_t>(from, s[last - 1], s[last], rows, length, to);
      case 2:
        return copy_lines<uint16_t>(from, s[last - 1], s[last], rows, length, to);
      case 4:
        return copy_lines<uint32_t>(from, s[last - 1], s[last], rows, length, to);
      case 8:
        return copy_lines<uint64_t>(from, s[last - 1], s[last], rows, length, to);
      default:
        return copy_lines<TwoWords>(from, s[last - 1], s[last], rows, length, to);
    }
  }

  template <class T>
  static void copy_lines(const std::byte* source, int64_t row_step, int64_t step, int64_t rows,
                         int64_t length, std::byte* target) {
    const auto* from = reinterpret_cast<const T*>(source);
    auto* to = reinterpret_cast<T*>(target);
    if (row_step == 0) {
      for (int64_t i = 0; i < length; ++i) to[i] = from[i * step];
      // Doubling: each copy is as long as all before it.
      for (int64_t have = length, all = rows * length; have < all;) {
        int64_t more = std::min(have, all - have);
        std::memcpy(to + have, to, static_cast<size_t>(more) * sizeof(T));
        have += more;
      }
      return;
    }
    constexpr int64_t kShort = 8;  // below it a call takes longer than the elements
    const auto fill = simd_loops().fill[size_class(sizeof(T))];
    for (int64_t r = 0; r < rows; ++r, from += row_step, to += length) {
      if (step == 0 && length >= kShort)
        fill(to, from, static_cast<size_t>(length));
      else if (step == 1 && length >= kShort)
        std::memcpy(to, from, static_cast<size_t>(length) * sizeof(T));
      else
        for (int64_t i = 0; i < length; ++i) to[i] = from[i * step];
    }
  }

  const ElementwiseLaunch& launch_;
  const Program& program_;
  size_t outs_;
  absl::InlinedVector<const Operand*, 6> operands_;  // outputs, then inputs
  absl::InlinedVector<int64_t, 6> bytes_;
  std::vector<std::unique_ptr<Scratch>> turned_room_;
  std::vector<std::unique_ptr<Operand>> turned_operands_;
  Walk walk_;
  bool placed_ = false;  // an element's place matters: axes keep their order
  std::optional<size_t> across_;
  int64_t grain_ = 0;
  bool streams_ = false;
  CheckSlot checks_;
};

}  // namespace

void run_elementwise(const ElementwiseLaunch& launch) {
  if (launch.outs[0].numel() > 0) Walker(launch).run();
}

}  // namespace lathe::own
