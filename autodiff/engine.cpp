#include "autodiff/engine.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>

#include "autodiff/ownership.h"
#include "autodiff/slice_sums.h"
#include "autodiff/tape.h"
#include "autodiff/wanted.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "core/sizes/symexpr.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using NodePtr = std::shared_ptr<TapeNode>;

/// What has arrived at each node that a backward has met and not gone through yet. A node says
/// itself where that is, for one backward at a time: it claims the node, and leaves it when it goes
/// through. Nodes that another backward has claimed, of another thread or around this one, are
/// looked up.
class Arrivals {
 public:
  struct Waiting {
    NodePtr node;
    Tensors sums;                                                       // by result
    absl::InlinedVector<std::pair<uint32_t, SliceSum>, 1> slices = {};  // of those of slices
  };

  Arrivals() = default;
  Arrivals(const Arrivals&) = delete;
  ~Arrivals() {  // a backward that failed has not gone through all
    for (const Waiting& w : waiting_)
      if (w.node) leave(*w.node);
  }

  /// The place of the node; `fresh`: nothing had arrived yet.
  uint32_t place(const NodePtr& node, bool& fresh) {
    uint32_t at = find(*node);
    fresh = at == kNone;
    if (!fresh) return at;
    if (free_.empty()) {
      at = static_cast<uint32_t>(waiting_.size());
      waiting_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
    }
    waiting_[at].node = node;
    waiting_[at].sums.resize(node->y_types.size());
    uint64_t none = 0;
    if (!node->claim.compare_exchange_strong(none, mine_ | at, std::memory_order_relaxed))
      elsewhere_[node.get()] = at;
    return at;
  }
  Tensor& sum(uint32_t place, uint32_t result) { return waiting_[place].sums[result]; }
  /// Null: it has no slices, or is yet to have its first.
  SliceSum* slices(uint32_t place, uint32_t result) {
    for (auto& [k, slices] : waiting_[place].slices)
      if (k == result) return &slices;
    return nullptr;
  }
  void begin_slices(uint32_t place, uint32_t result, SliceAt at) {
    waiting_[place].slices.emplace_back(result, SliceSum(at));
  }
  const TapeNode& node(uint32_t place) const { return *waiting_[place].node; }
  /// Takes away what has arrived so far; undefined: nothing has.
  Tensor take_sum(const Edge& e) {
    const uint32_t at = e.node ? find(*e.node) : kNone;
    if (at == kNone) return Tensor();
    auto& slices = waiting_[at].slices;
    slices.erase(std::remove_if(slices.begin(), slices.end(),
                                [&](const auto& s) { return s.first == e.output; }),
                 slices.end());
    return std::exchange(waiting_[at].sums[e.output], Tensor());
  }
  /// Nothing more is going to arrive.
  Waiting take(uint32_t place) {
    Waiting out = std::move(waiting_[place]);
    waiting_[place].slices.clear();
    leave(*out.node);
    free_.push_back(place);
    return out;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t find(const TapeNode& node) const {
    const uint64_t claim = node.claim.load(std::memory_order_relaxed);
    if (claim >> 32 == mine_ >> 32) return static_cast<uint32_t>(claim);
    if (elsewhere_.empty()) return kNone;
    const auto it = elsewhere_.find(&node);
    return it == elsewhere_.end() ? kNone : it->second;
  }
  void leave(TapeNode& node) {
    if (node.claim.load(std::memory_order_relaxed) >> 32 == mine_ >> 32)
      node.claim.store(0, std::memory_order_relaxed);
    else
      elsewhere_.erase(&node);
  }
  /// A number that no backward under way has, above the place.
  static uint64_t next() {
    static constinit std::atomic<uint32_t> last{0};
    uint32_t n = 0;
    while (n == 0) n = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return uint64_t{n} << 32;
  }

  const uint64_t mine_ = next();
  absl::InlinedVector<Waiting, 8> waiting_;  // by place
  absl::InlinedVector<uint32_t, 8> free_;
  absl::flat_hash_map<const TapeNode*, uint32_t> elsewhere_;
};

Tensor ones_of(const Tensor& y) {
  return create_ops<Tensor>::ones(y.shape(), y.dtype(), y.device());
}

Tensor add(const Tensor& a, const Tensor& b) { return math_ops<Tensor>::add(a, b); }

void add_in_place(const Tensor& to, const Tensor& dy) {
  const Arg args[] = {Arg(to), Arg(dy)};
  call(*math_ops<Tensor>::add.op(), absl::MakeConstSpan(args), CallForm::in_place);
}

class Engine {
 public:
  /// wanted: null: the gradients of all leaves, which they collect.
  Engine(BackwardOptions options, Wanted* wanted) : options_(options), wanted_(wanted) {}

  void seed(const Tensor& y, Tensor dy) {
    refresh(y);  // a view whose base was written since has another history than it was made with
    if (!y.requires_grad())
      throw AutogradError({.op = "backward",
                           .problem = "the result does not depend on any tensor that requires grad",
                           .got = to_string(type_of(y)),
                           .expected = "a result computed from a tensor that requires grad",
                           .next = "call requires_grad_() on an input before computing it"});
    if (!dy.defined()) {
      if (!(y.numel() == Int(1)))
        throw AutogradError({.op = "backward",
                             .problem = "a gradient can be started from a scalar only",
                             .got = to_string(type_of(y)),
                             .expected = "one element, or a gradient of the same shape",
                             .next = "sum() the result, or pass its gradient"});
      if (is_complex(y.dtype()))
        throw AutogradError({.op = "backward",
                             .problem = "a gradient can be started from a real number only",
                             .got = to_string(type_of(y)),
                             .expected = "a real result, or its gradient",
                             .next = "take the real part or abs() of the result"});
      dy = ones_of(y);
    } else if (!require_equal(dy.shape(), y.shape())) {
      throw ShapeError({.op = "backward",
                        .problem = "the gradient given has another shape than the result",
                        .got = to_string(dy.shape()),
                        .expected = to_string(y.shape()),
                        .next = "expand or reshape the gradient"});
    }
    if (const Edge e = edge_of(y); matters(e)) arrive(e, of_type(y, std::move(dy)));
  }

  /// As in PyTorch a gradient that is given has the dtype of what it is the gradient of.
  static Tensor of_type(const Tensor& y, Tensor dy) {
    if (dy.dtype() == y.dtype()) return dy;
    if (is_complex(dy.dtype()) && !is_complex(y.dtype()))
      throw AutogradError({.op = "backward",
                           .problem = "the gradient given is complex, and the result is not",
                           .got = to_string(type_of(dy)),
                           .expected = to_string(type_of(y)),
                           .next = "take the real part of the gradient"});
    return math_ops<Tensor>::cast(dy, y.dtype());
  }

  void run() {
    GradMode mode(options_.create_graph);
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const uint32_t place = queue_.back().place;
      queue_.pop_back();
      if (options_.cancelled != nullptr && options_.cancelled())
        throw CancelledError({.op = "backward", .problem = "the computation was cancelled"});
      visit(place);
    }
    for (uint32_t place : leaves_) visit(place);
  }

 private:
  struct Queued {
    uint64_t sequence;
    uint32_t place;
    friend bool operator<(const Queued& a, const Queued& b) { return a.sequence < b.sequence; }
  };

  bool matters(const Edge& e) const {
    return wanted_ == nullptr ? e.node != nullptr : wanted_->at_or_behind(e);
  }

  void arrive(const Edge& e, Tensor dy) {
    bool fresh = false;
    const uint32_t place = arrivals_.place(e.node, fresh);
    Tensor& sum = arrivals_.sum(place, e.output);
    if (!fresh && sum.defined()) {
      sum = plus(std::move(sum), dy);
      return;
    }
    sum = std::move(dy);
    if (fresh) wait(place);
  }

  /// Its turn comes when all that is newer is done.
  void wait(uint32_t place) {
    const TapeNode& node = arrivals_.node(place);
    if (node.is_leaf()) {
      leaves_.push_back(place);
    } else {
      queue_.push_back({node.sequence, place});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }

  void visit(uint32_t place) {
    auto [node, dys, slices] = arrivals_.take(place);
    run_hooks(*node, dys);
    if (wanted_ != nullptr) {
      wanted_->arrived(*node, dys);
      if (!wanted_->behind(*node)) return;
    }
    if (node->is_leaf()) return collect(*node, std::move(dys[0]));
    if (node->released)
      throw AutogradError(
          {.op = node->name(),
           .problem = "backward went through here before and released what it needs",
           .got = "a second backward",
           .expected = "one backward for each forward",
           .next = "pass retain_graph=True to the first backward()"});
    SiteScope site(node->site);
    if (wanted_ == nullptr) refuse_outside(*node);
    if (node->rare && !node->rare->after.empty()) return arrive_after_hooks(node, dys);
    if (node->own() == nullptr && node->op->kind == Kind::composite) {
      arrive_in_parts(*node, node, dys);
      return release(*node);
    }
    if (const OwnDerivative* own = node->own()) {
      Tensors grads = own->run(node, dys, own->continues ? take_sums(*node) : Tensors());
      for (size_t i = 0; i < grads.size(); ++i) arrive_from(*node, i, std::move(grads[i]));
      return release(*node);
    }
    if (node->op == shape_ops<Tensor>::slice.op() && arrive_at_slice(node, dys))
      return release(*node);
    if (node->op->put_of != nullptr && arrive_at_put(*node, dys)) return release(*node);
    Grads grads = derive(node, dys);
    for (size_t i = 0; i < grads.size(); ++i) arrive_from(*node, i, std::move(grads[i]));
    release(*node);
  }

  /// All gradients of the inputs first, which hooks of the node see before they arrive there.
  void arrive_after_hooks(const NodePtr& node, const Tensors& dys) {
    Tensors dxs;
    if (const OwnDerivative* own = node->own()) {
      dxs = own->run(node, dys, own->continues ? Tensors(node->next.size()) : Tensors());
    } else {
      Grads found = derive(node, dys);
      dxs.assign(found.begin(), found.end());
    }
    for (size_t i = 0; i < dxs.size(); ++i)
      if (!matters(node->next[i])) dxs[i] = Tensor();
    for (const NodeHook& hook : node->rare->after) replace(dxs, hook(dxs, dys));
    for (size_t i = 0; i < dxs.size(); ++i) arrive_from(*node, i, std::move(dxs[i]));
    release(*node);
  }

  static void replace(Tensors& grads, Tensors changed) {
    if (changed.empty()) return;
    if (changed.size() != grads.size())
      throw AutogradError({.op = "backward",
                           .problem = "a hook gave back another number of gradients",
                           .got = absl::StrCat(changed.size()),
                           .expected = absl::StrCat(grads.size()),
                           .next = "give back one for each that came, or None"});
    for (size_t i = 0; i < grads.size(); ++i)
      if (changed[i].defined() && grads[i].defined()) refuse_other_type(changed[i], grads[i]);
    grads = std::move(changed);
  }

  /// The gradient of a slice: to the slice of the sum alone, where that is the same. False: nothing
  /// was done.
  bool arrive_at_slice(const NodePtr& node, const Tensors& dys) {
    const Edge& e = node->next[0];
    if (!dys[0].defined() || !matters(e) || options_.create_graph || options_.check_nan)
      return false;
    // In a trace sizes may be symbols of which more is known.
    const auto known = [scope = SymScope::current()](Int a, Int b) {
      if (a.known() && b.known()) return a.value() <= b.value();
      return scope != nullptr && scope->prove(Relation::le, a, b) == SymScope::Truth::yes;
    };
    const auto at = slice_at(node->attrs.view(), 0, node->x_types[0].shape, known);
    if (!at) return false;
    bool fresh = false;
    const uint32_t place = arrivals_.place(e.node, fresh);
    SliceSum* slices = fresh ? nullptr : arrivals_.slices(place, e.output);
    std::optional<SliceAt> tidied;
    Tensor& sum = arrivals_.sum(place, e.output);
    if (slices == nullptr || !sum.defined() || !is_own(sum) ||
        slices->add(*at, tidied, known) == SliceSum::Way::whole) {
      if (fresh) wait(place);
      arrive_from(*node, 0, derive(node, dys)[0]);
      if (slices == nullptr && is_own(arrivals_.sum(place, e.output)))
        arrivals_.begin_slices(place, e.output, *at);
      return true;
    }
    if (tidied)
      sum = with_added(sum, *tidied, create_ops<Tensor>::zeros({}, sum.dtype(), sum.device()));
    sum = with_added(sum, *at, dys[0]);
    return true;
  }

  /// The gradient of a put, in memory that is this backward's alone: what the value gets is copied
  /// out, and zeros take its place. So the parts of a stack() cost what they hold, not each as much
  /// as all. False: nothing was done.
  bool arrive_at_put(const TapeNode& node, Tensors& dys) {
    if (!node.next[0].node || !dys[0].defined() || dys[0].symbolic() ||
        thread_state().backend != nullptr || options_.create_graph || options_.check_nan)
      return false;
    const GradMode off(false);
    if (!is_own(dys[0])) dys[0] = own(std::move(dys[0]));
    if (!is_own(dys[0])) return false;
    absl::InlinedVector<Arg, 8> args{Arg(dys[0])};
    const Args attrs = node.attrs.view();
    args.insert(args.end(), attrs.begin() + 2, attrs.end());
    Tensor part = call_one(*node.op->put_of, absl::MakeConstSpan(args)), value;
    if (matters(node.next[1])) value = math_ops<Tensor>::clone(part);
    assign(part, create_ops<Tensor>::zeros({}, part.dtype(), part.device()));
    part = Tensor();
    args.clear();
    arrive_from(node, 0, std::move(dys[0]));
    arrive_from(node, 1, std::move(value));
    return true;
  }

  /// Where the sum lies, if nothing can tell.
  Tensor plus(Tensor sum, const Tensor& dy) const {
    if (options_.create_graph || sum.symbolic() || dy.symbolic() || sum.dtype() != dy.dtype() ||
        !identical(sum.shape(), dy.shape()))
      return add(sum, dy);
    const Tensor *into = &sum, *added = &dy;
    if (is_turned_alike(sum, dy)) {
      into = &sum.impl()->view->base;
      added = &dy.impl()->view->base;
    } else if (!is_own(sum)) {
      return add(sum, dy);
    }
    add_in_place(*into, *added);
    return sum;
  }

  /// The sum with this added to a slice, where it lies; in a trace another value.
  static Tensor with_added(const Tensor& sum, const SliceAt& at, const Tensor& dy) {
    if (sum.symbolic()) return add_to_slice(sum, dy, at);
    add_in_place(shape_ops<Tensor>::slice(sum, at.axis, at.start, at.end, 1), dy);
    return sum;
  }

  /// What has arrived at each input, which a derivative goes on with and gives back.
  Tensors take_sums(const TapeNode& node) {
    Tensors out;
    out.reserve(node.next.size());
    for (const Edge& e : node.next) out.push_back(arrivals_.take_sum(e));
    return out;
  }

  void arrive_from(const TapeNode& node, size_t i, Tensor dx) {
    if (!dx.defined() || !matters(node.next[i])) return;
    if (options_.check_nan) refuse_nan(node, i, dx);
    arrive(node.next[i], std::move(dx));
  }

  static void refuse_nan(const TapeNode& node, size_t i, const Tensor& dx) {
    if (dx.symbolic()) return;
    GradMode off(false);
    if (reduce_ops<Tensor>::any(math_ops<Tensor>::isnan(detach(dx))).item_int() == 0) return;
    throw AutogradError({.op = node.name(),
                         .problem = absl::StrCat("its derivative by argument ", i, " has a NaN"),
                         .got = to_string(type_of(dx)),
                         .expected = "numbers",
                         .next = "look at what goes into that line of the forward pass",
                         .site = node.site});
  }

  void release(TapeNode& node) const {
    if (options_.retain_graph || options_.create_graph) return;
    if (const OwnDerivative* own = node.own(); own != nullptr && own->forget) own->forget();
    node.released = !node.xs.empty() || !node.ys.empty();
    node.xs.clear();
    node.ys.clear();
  }

  /// A composite that a backend took whole: its expansion is recorded now. Its parts are newer than
  /// all that waits, so they run next, and each adds to the sum of what it reads in the order in
  /// which the expansion would have: gradients keep the expansion's bits.
  void arrive_in_parts(const TapeNode& node, const NodePtr& owner, const Tensors& dys) {
    absl::InlinedVector<Arg, 8> args(node.attrs.view().begin(), node.attrs.view().end());
    Tensors xs;
    xs.reserve(node.xs.size());
    for (const auto& [slot, saved] : node.xs) {
      xs.push_back(unpack(saved, owner));
      args[static_cast<size_t>(slot)] = Arg(xs.back());
    }
    Outputs ys;
    {
      const GradMode recorded(true);
      ys = expand(*node.op, absl::MakeConstSpan(args));
      for (const Tensor& y : ys)
        if (y.defined()) refresh(y);
    }
    for (size_t k = 0; k < ys.size(); ++k)
      if (dys[k].defined() && ys[k].requires_grad())
        if (const Edge e = edge_of(ys[k]); matters(e)) arrive(e, dys[k]);
  }

  /// A backward inside a trace would have to go on where the trace cannot see.
  static void refuse_outside(const TapeNode& node) {
    for (size_t i = 0; i < node.next.size(); ++i)
      if (node.next[i].outside)
        throw TraceError(
            {.op = node.name(),
             .problem = "backward() inside a traced function reaches an argument with history",
             .got = to_string(node.x_types[i]),
             .expected = "arguments that are leaves, or need no gradient",
             .next =
                 "pass it detached, or call backward() on the result, outside of the function"});
  }

  Grads derive(const NodePtr& node, const Tensors& dys) const {
    size_t n = node->x_types.size();
    auto read = [&](const Saved& saved) {
      return options_.create_graph ? unpack(saved, node) : unpack_value(saved, *node);
    };
    absl::InlinedVector<Tensor, 4> xs(n), ys(node->y_types.size());
    for (const auto& [slot, saved] : node->xs) xs[static_cast<size_t>(slot)] = read(saved);
    for (const auto& [k, saved] : node->ys) ys[static_cast<size_t>(k)] = read(saved);
    absl::InlinedVector<bool, 8> wanted;
    for (const Edge& e : node->next) wanted.push_back(matters(e));
    Grad::Data data{node->op, node->attrs.view(),   dys, node->y_types, xs, node->x_types, ys,
                    wanted,   options_.create_graph};
    return run_gradient(data);
  }

  void run_hooks(TapeNode& node, Tensors& dys) const {
    if (!node.rare) return;
    for (size_t k = 0; k < node.rare->hooks.size(); ++k)
      for (const Hook& hook : node.rare->hooks[k]) {
        if (!dys[k].defined()) continue;
        Tensor changed = hook(dys[k]);
        if (!changed.defined()) continue;
        refuse_other_type(changed, dys[k]);
        dys[k] = changed;
      }
    for (auto& [k, weak] : node.rare->retained)
      if (auto m = weak.lock(); m && dys[k].defined()) collect(*m, dys[k]);
    for (const NodeHook& hook : node.rare->before) replace(dys, hook({}, dys));
  }

  static void refuse_other_type(const Tensor& changed, const Tensor& dy) {
    if (identical(changed.shape(), dy.shape()) && changed.dtype() == dy.dtype() &&
        changed.device() == dy.device())
      return;
    throw AutogradError({.op = "backward",
                         .problem = "a hook gave back a gradient of another type",
                         .got = to_string(type_of(changed)),
                         .expected = to_string(type_of(dy)),
                         .next = "give back a gradient like the one that came, or None"});
  }

  void collect(TapeNode& node, Tensor dy) const {
    auto m = node.leaf.lock();
    if (!m || !m->is_leaf || !dy.defined()) return;  // switched off since: it wants none
    collect(*m, std::move(dy));
  }

  /// As in PyTorch a gradient is added to the one that is there, so that whoever holds it sees the
  /// sum; not where the sum has a history, or where one element is shown at several places.
  bool adds_in_place(const Tensor& before, const Tensor& dy) const {
    return before.defined() && !options_.create_graph && !before.requires_grad() &&
           !overlaps_itself(before) && before.dtype() == dy.dtype() &&
           require_equal(before.shape(), dy.shape());
  }

  /// The first gradient, or one more. Another thread may add its own meanwhile: then once more.
  void collect(TapeMeta& m, Tensor dy) const {
    for (bool mine = dy.requires_grad();;) {
      const Tensor before = m.grad.get();
      if (adds_in_place(before, dy)) {
        const auto adding = m.grad.adding();
        add_in_place(before, dy);
        break;
      }
      if (!before.defined() && !mine) {
        dy = own(std::move(dy));
        mine = true;
      }
      if (m.grad.replace(before, before.defined() ? add(before, dy) : dy)) break;
    }
    if (m.grown)
      for (const auto& hook : *m.grown) hook();
  }

  BackwardOptions options_;
  Wanted* const wanted_;
  Arrivals arrivals_;
  absl::InlinedVector<Queued, 8> queue_;     // a heap of places, the newest node first
  absl::InlinedVector<uint32_t, 8> leaves_;  // places, in order of arrival; visited last
};

void check_counts(const Tensors& ys, const Tensors& dys) {
  if (!dys.empty() && dys.size() != ys.size())
    throw ValueError({.op = "backward",
                      .problem = "one gradient for each result expected",
                      .got = absl::StrCat(dys.size()),
                      .expected = absl::StrCat(ys.size())});
}

/// A run of the engine, as those whom it calls know it.
struct Running {
  Running() : outer(innermost) {
    static std::atomic<uint64_t> last{0};
    number = ++last;
    innermost = this;
  }
  ~Running() { innermost = outer; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  static thread_local Running* innermost;
  Running* outer;
  uint64_t number = 0;
  std::vector<std::function<void()>> at_end;
};
thread_local Running* Running::innermost = nullptr;

void run_to_end(Engine& engine) {
  Running running;
  engine.run();
  for (size_t i = 0; i < running.at_end.size(); ++i) {  // which may add others
    const std::function<void()> f = std::move(running.at_end[i]);
    f();
  }
}

}  // namespace

Tensors grad(const Tensors& ys, const Tensors& dys, const Tensors& xs, BackwardOptions options) {
  check_counts(ys, dys);
  Tensors out;
  {
    Wanted wanted;
    Engine engine(options, &wanted);
    std::vector<Edge> edges;
    for (const Tensor& x : xs) {
      refresh(x);
      if (!x.requires_grad())
        throw AutogradError({.op = "grad",
                             .problem = "an input does not require grad",
                             .got = to_string(type_of(x)),
                             .expected = "inputs that require grad",
                             .next = "call requires_grad_() on it before computing the result"});
      edges.push_back(edge_of(x));
      wanted.add(edges.back());
    }
    for (size_t i = 0; i < ys.size(); ++i) engine.seed(ys[i], dys.empty() ? Tensor() : dys[i]);
    run_to_end(engine);
    for (const Edge& e : edges) out.push_back(wanted.gradient(e));
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!out[i].defined() && !options.allow_unused)
      throw AutogradError({.op = "grad",
                           .problem = absl::StrCat("input ", i, " does not influence the result"),
                           .got = to_string(type_of(xs[i])),
                           .expected = "inputs that the result was computed from",
                           .next = "pass allow_unused=True to get None for it"});
    if (!out[i].defined() && options.zeros_for_unused)
      out[i] = create_ops<Tensor>::zeros(xs[i].shape(), xs[i].dtype(), xs[i].device());
    else if (out[i].defined() && !options.create_graph)
      out[i] = own(std::move(out[i]));
  }
  return out;
}

Tensors grad_of_rows(const Tensors& ys, const Tensors& dys, const Tensors& xs,
                     BackwardOptions options) {
  using S = shape_ops<Tensor>;
  const int64_t rows = dys.empty() ? 0 : dys[0].size(0).value();
  if (rows == 0)
    throw ValueError({.op = "grad",
                      .problem = "there are no rows to take gradients of",
                      .got = dys.empty() ? "no cotangents" : to_string(type_of(dys[0])),
                      .expected = "cotangents with a first axis of one row or more",
                      .next = "give grad_outputs, or leave is_grads_batched out"});
  std::vector<Tensors> columns(xs.size());
  const bool keep = options.retain_graph;
  for (int64_t i = 0; i < rows; ++i) {
    Tensors row;
    for (const Tensor& dy : dys) row.push_back(S::select(dy, 0, i));
    options.retain_graph = keep || i + 1 < rows;
    Tensors found = grad(ys, row, xs, options);
    for (size_t k = 0; k < xs.size(); ++k)
      if (found[k].defined()) columns[k].push_back(std::move(found[k]));
  }
  Tensors out;
  for (const Tensors& column : columns)
    out.push_back(column.empty() ? Tensor() : S::stack(column, 0));
  return out;
}

uint64_t current_backward() {
  return Running::innermost == nullptr ? 0 : Running::innermost->number;
}

void after_backward(std::function<void()> f) {
  LATHE_CHECK(Running::innermost != nullptr);
  Running::innermost->at_end.push_back(std::move(f));
}

void backward(const Tensors& ys, const Tensors& dys, BackwardOptions options) {
  check_counts(ys, dys);
  Engine engine(options, nullptr);
  for (size_t i = 0; i < ys.size(); ++i) engine.seed(ys[i], dys.empty() ? Tensor() : dys[i]);
  run_to_end(engine);
}

}  // namespace lathe
