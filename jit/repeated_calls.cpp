#include "jit/repeated_calls.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <bit>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/backend.h"
#include "graph/ir/text.h"

namespace lathe::jit {
namespace {

constexpr int kMostKinds = 256;    // of one op: beyond, its arguments change from call to call
constexpr int kMostCaptures = 16;  // of one kind: what it asks about sizes differs

/// Numbers the traces, so that one can be taken back.
class NumberedTraces final : public FunctionCallbacks {
 public:
  explicit NumberedTraces(int64_t number) : number_(number) {}
  int64_t trace_id() override { return number_; }

 private:
  int64_t number_;
};

constexpr int kOfALoop = 1 << 20;  // more than any program starts: rounds are known at the call

/// How many kernels the call starts as it is, those of each round of a loop among them; -1 if it
/// does what one program cannot do for it.
int launches_of(const ir::Graph& graph) {
  int count = 0;
  bool plain = true;
  ir::for_each_node(graph.body(), [&](const ir::Node* n) {
    const Op* op = n->op();
    if (n->structure() == ir::Structure::for_) {
      count += kOfALoop;
      return;
    }
    if (n->structure() == ir::Structure::yield) return;
    plain &= op != nullptr && op->kind != Kind::random && op->extra.host == HostCall::none;
    if (!plain || op->kind == Kind::view) return;
    count += n->out(0)->type().tensor() != nullptr;
  });
  return plain ? count : -1;
}

}  // namespace

// ── a call ──────────────────────────────────────────────────────────────────────────────────────

bool CallKey::take(const Arg& a) {
  const auto tag = static_cast<uint64_t>(a.tag);
  switch (a.tag) {
    case Tag::none:
      break;
    case Tag::tensor:
      return take(a.tensor_);
    case Tag::integer:
      words.push_back(a.integer_);
      return mark(tag, a.integer().known());
    case Tag::real:
      if (!a.real().known()) return false;
      words.push_back(std::bit_cast<uint64_t>(a.real().value()));
      break;
    case Tag::flag:
      words.push_back(static_cast<uint64_t>(a.flag_));
      break;
    case Tag::dtype:
      words.push_back(static_cast<uint64_t>(a.dtype_));
      break;
    case Tag::text:
      return take(std::string_view(a.text_));
    case Tag::list:
      words.push_back(a.list_->size);
      for (size_t i = 0; i < a.list_->size; ++i)
        if (a.list_->data[i].tag == Tag::tensor || !take(a.list_->data[i])) return false;
      break;
    default:
      return false;
  }
  return mark(tag, true);
}

bool CallKey::take(const TensorImpl* t) {
  ++tensors;
  const bool plain = t->storage && t->device.kind == DeviceKind::cpu && !t->storage->ready &&
                     t->geometry.is_contiguous();
  words.push_back(static_cast<uint64_t>(t->dtype) | uint64_t{t->requires_grad} << 8 |
                  static_cast<uint64_t>(t->geometry.rank()) << 16);
  return mark(static_cast<uint64_t>(Tag::tensor), plain);
}

bool CallKey::take(std::string_view text) {
  uint64_t word = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    word = word << 8 | static_cast<unsigned char>(text[i]);
    if (i % 8 == 7) words.push_back(word);
  }
  words.push_back(word);
  words.push_back(text.size());
  return mark(static_cast<uint64_t>(Tag::text), true);
}

// ── calls of one kind ───────────────────────────────────────────────────────────────────────────

std::string CallsOfAKind::text() const {
  std::string out;
  for (const auto& c : function_.compiled()) {
    const ir::Graph& graph = c->traced.graph;
    const auto input = [](std::string* to, const ir::Value* v) {
      absl::StrAppend(to, v->name(), ": ", ir::to_string(v->type()));
    };
    absl::StrAppend(&out, name_, "(", absl::StrJoin(graph.inputs(), ", ", input),
                    "): ", c->programs()[0]->launches(), " for ", launches_of(graph), "\n");
  }
  return out;
}

bool CallsOfAKind::worth_it(const Function::Compiled& c) const {
  const std::vector<const Program*> programs = c.programs();
  if (programs.empty() || c.presumes || !c.leaves.empty() || !c.spent.empty()) return false;
  std::vector<bool> given(c.traced.graph.outputs().size());
  for (const ir::Returned& returned : c.traced.returns) {
    const bool view = returned.how == ir::Returned::How::view;
    const ir::Returned& r = view ? *returned.base : returned;
    if (r.how != ir::Returned::How::output || given[r.index] || c.traced.strided[r.index])
      return false;
    given[r.index] = true;
  }
  return programs[0]->launches() < launches_of(c.traced.graph);
}

bool CallsOfAKind::capture(const ir::Data& inputs, Names names, Body body, int64_t number) {
  bool whole = true;
  const auto watched = [&](const ir::Data& in) {
    ir::Data out = body(in);
    for (const ir::Datum& d : out) whole &= d.tensor().defined();
    return out;
  };
  NumberedTraces host(number);
  const auto c = function_.capture(inputs, names(), watched, host);
  const bool good = whole && worth_it(*c);
  if (!good) function_.drop(number);
  return good;
}

std::optional<ir::Data> CallsOfAKind::run(const ir::Data& inputs, Names names, Body body) {
  FunctionCallbacks host;
  std::optional<ir::Data> results;
  try {
    results = function_.serve(inputs, host);
    if (!results)
      if (const int n = captures_.fetch_add(1);
          n < kMostCaptures && capture(inputs, names, body, n)) {
        served_ = true;
        results = function_.serve(inputs, host);
      }
  } catch (const CancelledError&) {
    throw;
  } catch (const TraceError&) {  // it reads data
    refused_ = true;
  } catch (const Error&) {  // which the call as it is will have in its own words
    if (!served()) return std::nullopt;
  }
  if (!results) refused_ = refused_ || !served();
  return results;
}

// ── all calls ───────────────────────────────────────────────────────────────────────────────────

CallsOfAKind* RepeatedCalls::find(uint32_t id, absl::Span<const uint64_t> key,
                                  std::string_view name) {
  const std::lock_guard<ForkSafeMutex> hold(mutex_);
  if (const auto found = kinds_.find(key); found != kinds_.end()) return found->second.get();
  if (++count_[id] > kMostKinds) return nullptr;
  auto made = std::make_unique<CallsOfAKind>(std::string(name));
  return (kinds_[std::vector<uint64_t>(key.begin(), key.end())] = std::move(made)).get();
}

std::string RepeatedCalls::text() {
  const std::lock_guard<ForkSafeMutex> hold(mutex_);
  std::string out;
  for (const auto& [key, kind] : kinds_)
    if (kind->served()) absl::StrAppend(&out, kind->text());
  return out;
}

std::optional<int64_t> fuse_after() {
  // Read when flags have changed.
  thread_local uint64_t revision = ~uint64_t{0};
  thread_local int64_t after = 0;
  if (const uint64_t now = flags_revision(); revision != now) {
    revision = now;
    after = flag_count(Flag::fuse_after);
  }
  if (after < 0 || thread_state().autocast != DType::f32 || node_by_node_wanted())
    return std::nullopt;
  return after;
}

}  // namespace lathe::jit
