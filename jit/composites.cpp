#include "jit/composites.h"

#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <utility>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/base/fork.h"
#include "graph/ir/text.h"
#include "jit/function.h"
#include "kernels/table/table.h"

namespace lathe::jit {
namespace {

constexpr size_t kMostDefinitions = 4096;
constexpr int kMostKinds = 256;    // of one op: beyond, its arguments change from call to call
constexpr int kMostRefusals = 8;   // of kinds of one op, and none that was worth it
constexpr int kMostCaptures = 16;  // of one kind: what its expansion asks about sizes differs

/// Is this argument an input of the program, as tensors and lists of sizes are? All else is of the
/// kind.
bool is_input(const Op& op, size_t i, const Arg& a) {
  if (a.tag == Tag::tensor) return true;
  if (a.tag != Tag::list || !op.schema.params[i].symbolic) return false;
  const absl::Span<const Arg> items(a.list_->data, a.list_->size);
  return absl::c_all_of(items, [](const Arg& item) { return item.tag == Tag::integer; });
}

/// Calls f on each input: an argument, or an item of a list of sizes (of argument i, the kth; of a
/// tensor k is -1).
template <class F>
void each_input(const Op& op, Args args, const F& f) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!is_input(op, i, args[i])) continue;
    if (args[i].tag == Tag::tensor) f(args[i], i, -1);
    if (args[i].tag != Tag::list) continue;
    for (size_t k = 0; k < args[i].list_->size; ++k)
      f(args[i].list_->data[k], i, static_cast<int>(k));
  }
}

/// What tells one kind of call from another, as words.
using Key = absl::InlinedVector<uint64_t, 24>;

class KeyOf {
 public:
  Key key;
  int tensors = 0;

  /// False: no call like this one runs as a program.
  bool take(const Op& op, Args args) {
    key.push_back(op.id | uint64_t{thread_state().grad_enabled} << 32);
    for (size_t i = 0; i < args.size(); ++i) {
      // Sizes are inputs of the program: only how many there are is of the kind.
      const bool taken = is_input(op, i, args[i]) && args[i].tag == Tag::list
                             ? mark(args[i].list_->size, true)
                             : take(args[i]);
      if (!taken) return false;
    }
    return tensors > 0;
  }

 private:
  bool take(const Arg& a) {
    const auto tag = static_cast<uint64_t>(a.tag);
    switch (a.tag) {
      case Tag::none:
        break;
      case Tag::tensor:
        return take(a.tensor_);
      case Tag::integer:
        key.push_back(a.integer_);
        return mark(tag, a.integer().known());
      case Tag::real:
        if (!a.real().known()) return false;
        key.push_back(std::bit_cast<uint64_t>(a.real().value()));
        break;
      case Tag::flag:
        key.push_back(static_cast<uint64_t>(a.flag_));
        break;
      case Tag::dtype:
        key.push_back(static_cast<uint64_t>(a.dtype_));
        break;
      case Tag::text:
        return take(std::string_view(a.text_));
      case Tag::list:
        key.push_back(a.list_->size);
        for (size_t i = 0; i < a.list_->size; ++i)
          if (a.list_->data[i].tag == Tag::tensor || !take(a.list_->data[i])) return false;
        break;
      default:
        return false;
    }
    return mark(tag, true);
  }
  bool take(const TensorImpl* t) {
    ++tensors;
    const bool plain = t->storage && t->device.kind == DeviceKind::cpu && !t->storage->ready &&
                       t->geometry.is_contiguous();
    key.push_back(static_cast<uint64_t>(t->dtype) | uint64_t{t->requires_grad} << 8 |
                  static_cast<uint64_t>(t->geometry.rank()) << 16);
    return mark(static_cast<uint64_t>(Tag::tensor), plain);
  }
  bool take(std::string_view text) {
    uint64_t word = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      word = word << 8 | static_cast<unsigned char>(text[i]);
      if (i % 8 == 7) key.push_back(word);
    }
    key.push_back(word);
    key.push_back(text.size());
    return mark(static_cast<uint64_t>(Tag::text), true);
  }
  /// Words of different tags may be equal.
  bool mark(uint64_t tag, bool answer) {
    key.push_back(tag);
    return answer;
  }
};

/// Numbers the traces, so that one can be taken back.
class NumberedTraces final : public FunctionCallbacks {
 public:
  explicit NumberedTraces(int64_t number) : number_(number) {}
  int64_t trace_id() override { return number_; }

 private:
  int64_t number_;
};

/// How many kernels the expansion starts; -1 if it does what one program cannot do for it.
int launches_of(const ir::Graph& graph) {
  int count = 0;
  bool plain = true;
  ir::for_each_node(graph.body(), [&](const ir::Node* n) {
    const Op* op = n->op();
    plain &= op != nullptr && op->kind != Kind::random && op->extra.host == HostCall::none;
    if (!plain || op->kind == Kind::view) return;
    count += n->out(0)->type().tensor() != nullptr;
  });
  return plain ? count : -1;
}

/// Calls of one kind.
class CallsOfAKind {
 public:
  explicit CallsOfAKind(const Op& op)
      : op_(op), function_(std::string(op.public_name()), Terms{ir::no_user_rules(), false}) {}

  /// False for the first calls, and where it was not worth it.
  bool due(int64_t after) {
    if (refused_.load(std::memory_order_relaxed)) return false;
    if (served_.load(std::memory_order_relaxed)) return true;
    return calls_.fetch_add(1, std::memory_order_relaxed) >= after;
  }
  bool run(Args args, Outputs& outputs);
  bool refused() const { return refused_.load(std::memory_order_relaxed); }
  bool served() const { return served_.load(std::memory_order_relaxed); }

  /// "softmax(x: f32[s0, s1]): 1 launch for 5".
  std::string text() const {
    std::string out;
    for (const auto& c : function_.compiled()) {
      const ir::Graph& graph = c->traced.graph;
      const auto input = [](std::string* to, const ir::Value* v) {
        absl::StrAppend(to, v->name(), ": ", ir::to_string(v->type()));
      };
      absl::StrAppend(&out, op_.public_name(), "(", absl::StrJoin(graph.inputs(), ", ", input),
                      "): ", c->programs()[0]->launches(), " for ", launches_of(graph), "\n");
    }
    return out;
  }

 private:
  bool capture(Args args, const ir::Data& inputs, int64_t number);
  bool worth_it(const Function::Compiled& c) const;

  const Op& op_;
  Function function_;
  std::atomic<int64_t> calls_{0};
  std::atomic<int> captures_{0};
  std::atomic<bool> refused_{false}, served_{false};
};

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

bool CallsOfAKind::capture(Args args, const ir::Data& inputs, int64_t number) {
  std::vector<std::string> names;
  each_input(op_, args, [&](const Arg&, size_t i, int k) {
    const std::string& name = op_.schema.params[i].name;
    names.push_back(k < 0 ? name : absl::StrCat(name, "_", k));
  });
  bool whole = true;
  const auto body = [&](const ir::Data& in) {
    absl::InlinedVector<Arg, 8> given(args.begin(), args.end());
    std::deque<std::pair<std::vector<Arg>, ArgList>> lists;  // stay where they are
    size_t next = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!is_input(op_, i, given[i])) continue;
      if (given[i].tag == Tag::tensor) {
        given[i] = Arg(in[next++].tensor());
        continue;
      }
      auto& [items, list] = lists.emplace_back();
      for (size_t k = 0; k < given[i].list_->size; ++k) items.push_back(in[next++].arg());
      list = ArgList{items.data(), items.size()};
      given[i] = Arg(list);
    }
    ir::Data out;
    for (Tensor& t : expand(op_, absl::MakeConstSpan(given))) {
      whole &= t.defined();
      out.emplace_back(std::move(t));
    }
    return out;
  };
  NumberedTraces host(number);
  const auto c = function_.capture(inputs, names, body, host);
  const bool good = whole && worth_it(*c);
  if (!good) function_.drop(number);
  return good;
}

bool CallsOfAKind::run(Args args, Outputs& outputs) {
  ir::Data inputs;
  inputs.reserve(args.size());
  each_input(op_, args, [&](const Arg& a, size_t, int) { inputs.emplace_back(a); });
  FunctionCallbacks host;
  std::optional<ir::Data> results;
  try {
    results = function_.serve(inputs, host);
    if (!results)
      if (const int n = captures_.fetch_add(1); n < kMostCaptures && capture(args, inputs, n)) {
        served_ = true;
        results = function_.serve(inputs, host);
      }
  } catch (const CancelledError&) {
    throw;
  } catch (const TraceError&) {  // it reads data
    refused_ = true;
  } catch (const Error&) {  // which the expansion will have in its own words
    if (!served()) return false;
  }
  if (!results) {
    refused_ = refused_ || !served();
    return false;
  }
  for (const ir::Datum& d : *results) outputs.push_back(d.tensor());
  return true;
}

struct SameKey {
  using is_transparent = void;
  bool operator()(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) const {
    return a == b;
  }
};
struct HashOfKey {
  using is_transparent = void;
  size_t operator()(absl::Span<const uint64_t> key) const { return absl::HashOf(key); }
};

/// Is an operand that the op writes to in the memory of another one? In the expansion what is read
/// after such a write sees it.
bool writes_what_it_reads(const Op& op, Args args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema.params[i].written || args[i].tag != Tag::tensor) continue;
    for (size_t k = 0; k < args.size(); ++k)
      if (k != i && args[k].tag == Tag::tensor &&
          args[i].tensor_->storage->meets(*args[k].tensor_->storage))
        return true;
  }
  return false;
}

/// What the definition alone says.
bool suits(const Op& op) {
  if (op.extra.host != HostCall::none || !op.extra.instead_in_trace.empty()) return false;
  for (const Param& p : op.schema.params)
    if (p.list && p.type == ArgType::tensor) return false;
  return true;
}

/// What is known of the definitions; kinds are never dropped.
class Known {
 public:
  bool off(const Op& op) const {
    return op.id >= kMostDefinitions || off_[op.id].load(std::memory_order_relaxed);
  }
  void turn_off(const Op& op) { off_[op.id].store(true, std::memory_order_relaxed); }

  /// Null where the op has too many kinds, or no call of it can be a program.
  CallsOfAKind* find(const Op& op, absl::Span<const uint64_t> key) {
    const std::lock_guard<ForkSafeMutex> hold(mutex_);
    if (const auto found = kinds_.find(key); found != kinds_.end()) return found->second.get();
    if (!suits(op)) turn_off(op);
    if (off(op)) return nullptr;
    if (++count_[op.id] > kMostKinds) return nullptr;
    auto made = std::make_unique<CallsOfAKind>(op);
    return (kinds_[std::vector<uint64_t>(key.begin(), key.end())] = std::move(made)).get();
  }
  /// After a refusal: an op of which nothing is ever worth it is not asked again.
  void note_refusal(const Op& op) {
    const std::lock_guard<ForkSafeMutex> hold(mutex_);
    if (++refusals_[op.id] < kMostRefusals) return;
    for (const auto& [key, kind] : kinds_)
      if (key[0] % kMostDefinitions == op.id && kind->served()) return;
    turn_off(op);
  }
  std::string text() {
    const std::lock_guard<ForkSafeMutex> hold(mutex_);
    std::string out;
    for (const auto& [key, kind] : kinds_)
      if (kind->served()) absl::StrAppend(&out, kind->text());
    return out;
  }

 private:
  std::array<std::atomic<bool>, kMostDefinitions> off_{};
  ForkSafeMutex mutex_;  // of what follows
  absl::flat_hash_map<std::vector<uint64_t>, std::unique_ptr<CallsOfAKind>, HashOfKey, SameKey>
      kinds_;
  absl::flat_hash_map<uint32_t, int> count_, refusals_;
};

Known& known() {
  static auto& all = *new Known;
  return all;
}

/// The flag `fuse_after`, read when flags have changed.
int64_t fuse_after() {
  thread_local uint64_t revision = ~uint64_t{0};
  thread_local int64_t after = 0;
  if (const uint64_t now = flags_revision(); revision != now) {
    revision = now;
    after = flag_count(Flag::fuse_after);
  }
  return after;
}

thread_local CompositeChoices* t_choices = nullptr;

/// `wanted`: whatever it was called before.
bool run_now(const Op& op, Args args, Outputs& outputs, bool wanted) {
  Known& all = known();
  if (all.off(op)) return false;
  const int64_t after = fuse_after();
  if (after < 0 || thread_state().autocast != DType::f32 || node_by_node_wanted()) return false;
  // An entry that takes a part of the expansion whole would not be asked.
  if (!entries(Kind::composite).empty()) return false;
  KeyOf of;
  if (!of.take(op, args)) return false;
  CallsOfAKind* kind = all.find(op, of.key);
  if (kind == nullptr || !kind->due(wanted ? 0 : after) || writes_what_it_reads(op, args))
    return false;
  if (kind->run(args, outputs)) return true;
  if (kind->refused()) all.note_refusal(op);
  return false;
}

}  // namespace

bool run_composite(const Op& op, Args args, Outputs& outputs) {
  CompositeChoices* choices = t_choices;
  if (choices == nullptr) return run_now(op, args, outputs, /*wanted=*/false);
  if (choices->follows) return choices->take() && run_now(op, args, outputs, /*wanted=*/true);
  const bool ran = run_now(op, args, outputs, /*wanted=*/false);
  choices->programs.push_back(ran);
  return ran;
}

CompositeChoices* set_choices(CompositeChoices* choices) {
  return std::exchange(t_choices, choices);
}

std::string composites_text() { return known().text(); }

}  // namespace lathe::jit
