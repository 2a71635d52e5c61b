#include "core/dispatch/profile.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/dispatch/backend.h"
#include "core/op/op.h"

namespace lathe {

namespace detail {
constinit std::atomic<bool> g_profiling{false};
}

/// What one thread notes in one profile.
struct SpanLog {
  std::mutex mutex;
  std::vector<SpanRecord> records;
  int innermost = -1;  // of those that are open
  int64_t begin = 0;   // of the profile
};

namespace {

using LogRef = std::shared_ptr<SpanLog>;

struct Session {
  ForkSafeMutex mutex;
  std::vector<LogRef> logs;
  int64_t begin = 0;
};
Session& session() {
  static auto& s = *new Session;  // never destroyed: threads may outlive static destruction
  return s;
}
constinit std::atomic<uint64_t> revision{0};  // of the profile that is open, or was last

thread_local LogRef my_log;
constinit thread_local uint64_t my_revision = 0;
constinit thread_local Span* innermost_span = nullptr;

int64_t now() {
  using std::chrono::steady_clock, std::chrono::nanoseconds;
  return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

/// This thread's in the profile that is open; null: none is any more.
LogRef log_of_thread() {
  const uint64_t current = revision.load(std::memory_order_acquire);
  if (my_log != nullptr && my_revision == current) return my_log;
  Session& s = session();
  std::lock_guard hold(s.mutex);
  if (!profiling()) return nullptr;
  my_log = std::make_shared<SpanLog>();
  my_log->begin = s.begin;
  my_revision = revision.load(std::memory_order_relaxed);
  s.logs.push_back(my_log);
  return my_log;
}

/// False: one is open already.
bool open() {
  Session& s = session();
  std::lock_guard hold(s.mutex);
  if (profiling()) return false;
  s.logs.clear();
  s.begin = now();
  revision.fetch_add(1, std::memory_order_release);
  detail::g_profiling.store(true, std::memory_order_release);
  return true;
}

/// Those that have ended, with parents among them.
std::vector<SpanRecord> ended(std::vector<SpanRecord> all) {
  std::vector<SpanRecord> out;
  std::vector<int> place(all.size(), -1);
  for (size_t i = 0; i < all.size(); ++i) {
    SpanRecord& r = all[i];
    if (r.parent >= 0) r.parent = place[static_cast<size_t>(r.parent)];
    if (r.duration < 0) {
      place[i] = r.parent;  // what is inside of it is inside of what it is in
      continue;
    }
    place[i] = static_cast<int>(out.size());
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace

std::string_view name(SpanKind kind) {
  constexpr std::string_view kNames[] = {"op", "call", "step", "capture", "compile"};
  return kNames[static_cast<size_t>(kind)];
}

void begin_profile() {
  if (thread_state().trace_epoch != 0)
    throw TraceError({.op = "profile",
                      .problem = "the profile would be of the trace, not of the program's calls",
                      .got = "a profile that begins inside of a traced function",
                      .expected = "a profile around the call of the traced function",
                      .next = "enter it before the traced function is called"});
  if (!open())
    throw ValueError({.op = "profile",
                      .problem = "a profile is open already, and it sees all threads",
                      .got = "a second one",
                      .expected = "one profile at a time in a process",
                      .next = "leave the outer one first, or take this one's lines from it"});
}

Profile end_profile() {
  Session& s = session();
  std::lock_guard hold(s.mutex);
  detail::g_profiling.store(false, std::memory_order_release);
  Profile out;
  for (const LogRef& log : std::exchange(s.logs, {})) {
    std::vector<SpanRecord> all;
    {
      std::lock_guard writing(log->mutex);
      all = log->records;  // spans that are open still hold their places
    }
    out.push_back(ended(std::move(all)));
  }
  return out;
}

Span::Span(SpanKind kind, std::string name, Site site)
    : log_(log_of_thread()), outer_(innermost_span) {
  innermost_span = this;
  if (log_ == nullptr) return;
  made_.kind = kind;
  made_.name = std::move(name);
  made_.site = site;
  std::lock_guard hold(log_->mutex);
  made_.parent = std::exchange(log_->innermost, at_ = static_cast<int>(log_->records.size()));
  log_->records.emplace_back().parent = made_.parent;
  made_.start = now() - log_->begin;
}

Span::~Span() {
  innermost_span = outer_;
  if (log_ == nullptr) return;
  made_.duration = now() - log_->begin - made_.start;
  if (made_.kernel.empty() || moves_nothing_) made_.bytes_read = made_.bytes_written = 0;
  std::lock_guard hold(log_->mutex);
  log_->innermost = made_.parent;
  log_->records[static_cast<size_t>(at_)] = std::move(made_);
}

void Span::reads(const TensorType& type, int64_t bytes) {
  made_.in.push_back(type);
  made_.bytes_read += bytes;
}

void Span::writes(const TensorType& type, int64_t bytes) {
  made_.out.push_back(type);
  made_.bytes_written += bytes;
}

void Span::runs_on(std::string_view kernel) {
  if (kernel.empty()) return;
  absl::StrAppend(&made_.kernel, made_.kernel.empty() ? "" : "+", kernel);
}

int64_t bytes_of(const Tensor& t) {
  const Geometry& g = t.geometry();
  auto bytes = static_cast<int64_t>(size_of(t.dtype()));
  for (size_t i = 0; i < g.shape.size(); ++i) {
    if (!g.shape[i].known()) return 0;
    if (g.shape[i] == Int(0) || g.strides[i] != Int(0)) bytes *= g.shape[i].value();
  }
  return bytes;
}

int64_t operations_of(const Op& op, Args args, const TensorType& out) {
  if (op.kind != Kind::contract) return 0;
  const FormulaExtents e =
      formula_extents(op, args, args.tensor(0).shape(), args.tensor(1).shape(), &out.shape);
  const Int terms = numel(e.batch) * numel(e.vars);
  return terms.known() ? 2 * terms.value() : 0;
}

void note_kernel(std::string_view kernel) {
  if (innermost_span != nullptr) innermost_span->runs_on(kernel);
}

}  // namespace lathe
