// What the scans by loops (scan.cpp, which defines the order) and by programs (scan_programs.cpp)
// share.
#pragma once

#include <algorithm>

#include "kernels/own/reduce.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {

constexpr int64_t kScanBlock = 512;  // elements to a block, by the definition
constexpr int64_t kScanLanes = 512;  // lanes to a strip
constexpr int64_t kScanWide = 32;    // lanes from which stepping strips pays

struct ScanJob {
  const ReducePrograms* programs;
  Operand x, out;
  size_t axis = 0;
  Walk lines;  // operands x, out, without the axis; the last axis is that of lanes
  int64_t length = 0, lanes = 1, rows = 1;
  int64_t x_step = 0, out_step = 0;          // along the axis
  bool plain_in = false, plain_out = false;  // elements are states, and states elements
};

inline int64_t blocks_of(const ScanJob& job) { return (job.length + kScanBlock - 1) / kScanBlock; }

inline std::byte* mutable_element(const Operand& o, int64_t at) {
  return o.data + at * static_cast<int64_t>(size_of(o.dtype));
}

/// f(x's offset, out's offset, lanes) for every strip; f is made anew by `make` for each thread.
template <class Make>
void each_strip(const ScanJob& job, Make make) {
  const int64_t pieces = (job.lanes + kScanLanes - 1) / kScanLanes;
  const size_t last = job.lines.shape.size() - 1;
  const int64_t grain =
      std::max<int64_t>(1, 16384 / (job.length * std::min(job.lanes, kScanLanes)));
  parallel_for(job.rows * pieces, grain, [&](int64_t begin, int64_t end) {
    auto f = make();
    for (int64_t t = begin; t < end; ++t) {
      check_cancelled();
      int64_t at[2], lane = t % pieces * kScanLanes;
      walk_offsets(job.lines, static_cast<int>(last), t / pieces, absl::MakeSpan(at));
      f(at[0] + lane * job.lines.strides[0][last], at[1] + lane * job.lines.strides[1][last],
        std::min(kScanLanes, job.lanes - lane));
    }
  });
}

/// Places of running extrema; false if this is another scan.
bool scan_places(const ScanJob& job);
/// Any monoid, in strips.
void scan_by_programs(const ScanJob& job);
/// One element after the other, by the interpreter of the reference.
void scan_by_reference(const ScanJob& job);

}  // namespace lathe::own
