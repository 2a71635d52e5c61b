// What a profile notes: every call of an op, every call of a program and every step of its plan,
// with the time each took by a clock that never goes back.
//
// One profile at a time is open in a process, and it sees all threads. Whoever runs something asks
// profiling(), one relaxed load; only if that says yes does it open a Span. Spans nest: what one
// thread opens inside another span is its child. A thread writes to a log of its own, so threads
// wait for each other only where the profile ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/site.h"
#include "core/op/args.h"

namespace lathe {

struct Op;

enum class SpanKind : uint8_t {
  op,       // of eager code, by its definition's name; a composite has what it expands to inside
  call,     // of a program
  step,     // of a program's plan
  capture,  // a function becomes a program
  compile,  // a kernel's machine code is made, or found in the cache
};
std::string_view name(SpanKind kind);

struct SpanRecord {
  SpanKind kind = SpanKind::op;
  std::string name;  // of a step of several ops: their names, with '+' between them
  std::string
      kernel;  // what ran it: entries of the table, engines; empty: what is inside of it did
  Site site;
  Types in, out;
  int64_t bytes_read = 0, bytes_written = 0;  // of operands and results, where there is a kernel
  int64_t operations = 0;                     // of contractions: see operations_of()
  int64_t start = 0, duration = -1;           // nanoseconds since the profile began; -1: still open
  int parent = -1;                            // place in the same thread's records
};

/// By thread, in order of their first span: its records, in the order in which they began.
using Profile = std::vector<std::vector<SpanRecord>>;

namespace detail {
extern constinit std::atomic<bool> g_profiling;
}
inline bool profiling() { return detail::g_profiling.load(std::memory_order_relaxed); }

/// ValueError if one is open already, TraceError inside of a trace.
void begin_profile();
/// What was noted since. Spans that other threads still have open are left out. Empty if none is
/// open.
Profile end_profile();

struct SpanLog;

/// From here to its end. To be made only where profiling() said yes.
class Span {
 public:
  [[gnu::cold]] Span(SpanKind kind, std::string name, Site site);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// `bytes`: what of it is read, written.
  void reads(const TensorType& type, int64_t bytes);
  void writes(const TensorType& type, int64_t bytes);
  void runs_on(std::string_view kernel);
  void works(int64_t operations) { made_.operations += operations; }
  /// Moves no elements.
  void moves_nothing() { moves_nothing_ = true; }

 private:
  std::shared_ptr<SpanLog> log_;
  int at_ = -1;
  SpanRecord made_;  // what is not yet in the log
  bool moves_nothing_ = false;
  Span* outer_;
};

/// Bytes of the elements that a tensor has, each once: an expanded one has fewer than its sizes
/// say.
int64_t bytes_of(const Tensor& t);

/// The additions and multiplications of a contraction with this result, two for each term of its
/// sums; 0 for all other ops.
int64_t operations_of(const Op& op, Args args, const TensorType& out);

/// Tells the innermost span of this thread what runs it; several join, with '+' between them.
[[gnu::cold]] void note_kernel(std::string_view kernel);

}  // namespace lathe
