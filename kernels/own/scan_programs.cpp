// Scans whose fold, or what is lifted into it, has no loop of its own: strips of lanes that run the
// reduction's programs. And the reference, which runs its bodies one element at a time.
#include <algorithm>
#include <memory>

#include "kernels/own/scan.h"
#include "kernels/reference/reduce.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

constexpr int64_t kUnasked = 32;  // elements of a lane from one look for cancellation to the next

const std::byte* element(const Operand& o, int64_t at) {
  return o.data + at * static_cast<int64_t>(size_of(o.dtype));
}

/// Room for one strip of every state.
class States {
 public:
  explicit States(const ReduceBodies& bodies)
      : bodies_(bodies), room_(bodies.state.size() * kBytes) {
    for (size_t k = 0; k < bodies.state.size(); ++k) at_.push_back({room_.data() + k * kBytes, 1});
  }
  absl::Span<const LineOperand> lines() const { return at_; }

  void fill_units(int64_t lanes) {
    auto unit = reference::unit(bodies_);
    for (size_t k = 0; k < unit.size(); ++k) {
      size_t bytes = size_of(bodies_.state[k]);
      for (int64_t l = 0; l < lanes; ++l)
        reference::write_bits(at_[k].data + static_cast<size_t>(l) * bytes, bytes, unit[k]);
    }
  }
  void copy(const States& from) {
    std::memcpy(room_.data(), from.room_.data(), bodies_.state.size() * kBytes);
  }

 private:
  static constexpr size_t kBytes = static_cast<size_t>(kScanLanes) * 8;
  const ReduceBodies& bodies_;
  Scratch room_;
  absl::InlinedVector<LineOperand, 3> at_;
};

class StripScan {
 public:
  explicit StripScan(const ScanJob& job)
      : job_(job),
        p_(*job.programs),
        local_(p_.bodies),
        lifted_(p_.bodies),
        carry_(p_.bodies),
        whole_(p_.bodies) {}

  void run(int64_t x_at, int64_t out_at, int64_t lanes) {
    const size_t last = job_.lines.shape.size() - 1;
    const int64_t x_lane = job_.lines.strides[0][last], out_lane = job_.lines.strides[1][last];
    for (int64_t index = 0; index < job_.length; ++index) {
      if (index % kUnasked == 0) check_cancelled();
      if (index % kScanBlock == 0) begin_block(index, lanes);
      std::byte* from = mutable_element(job_.x, x_at + index * job_.x_step);
      const LineOperand in[] = {{from, x_lane}, {reinterpret_cast<std::byte*>(&index), 0}};
      p_.lift.run(in, lifted_.lines(), lanes, context_);
      combine(local_, lifted_, local_, lanes);
      if (index >= kScanBlock) combine(carry_, local_, whole_, lanes);
      auto states = (index < kScanBlock ? local_ : whole_).lines();
      absl::InlinedVector<LineOperand, 4> counted(states.begin(), states.end());
      int64_t count = index + 1;
      counted.push_back({reinterpret_cast<std::byte*>(&count), 0});
      const LineOperand to[] = {
          {mutable_element(job_.out, out_at + index * job_.out_step), out_lane}};
      p_.finish.run(counted, to, lanes, context_);
    }
  }

 private:
  void begin_block(int64_t index, int64_t lanes) {
    if (index == kScanBlock) carry_.copy(local_);
    if (index > kScanBlock) combine(carry_, local_, carry_, lanes);
    local_.fill_units(lanes);
  }
  void combine(const States& a, const States& b, const States& to, int64_t lanes) {
    absl::InlinedVector<LineOperand, 6> both(a.lines().begin(), a.lines().end());
    both.insert(both.end(), b.lines().begin(), b.lines().end());
    p_.combine.run(both, to.lines(), lanes, context_);
  }

  const ScanJob& job_;
  const ReducePrograms& p_;
  States local_, lifted_, carry_, whole_;
  LineContext context_;
};

}  // namespace

void scan_by_programs(const ScanJob& job) {
  each_strip(job, [&] {
    return [strip = std::make_unique<StripScan>(job)](int64_t x, int64_t out, int64_t lanes) {
      strip->run(x, out, lanes);
    };
  });
}

void scan_by_reference(const ScanJob& job) {
  const ReduceBodies& fold = job.programs->bodies;
  int64_t lines = job.rows * job.lanes;
  parallel_for(lines, std::max<int64_t>(1, 256 / job.length), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      check_cancelled();
      int64_t at[2];
      walk_offsets(job.lines, static_cast<int>(job.lines.shape.size()), line, absl::MakeSpan(at));
      reference::State local, carry, whole;
      for (int64_t i = 0; i < job.length; ++i) {
        if (i % kScanBlock == 0) {
          carry = whole;
          local = reference::unit(fold);
        }
        reference::State x;
        reference::read_element(job.x.dtype, element(job.x, at[0] + i * job.x_step), x);
        local = reference::combine(fold, local, reference::lift(fold, x, i));
        whole = i < kScanBlock ? local : reference::combine(fold, carry, local);
        const reference::State result = reference::finish(fold, whole, i + 1);
        reference::write_element(job.out.dtype, mutable_element(job.out, at[1] + i * job.out_step),
                                 result.data());
      }
    }
  });
}

}  // namespace lathe::own
