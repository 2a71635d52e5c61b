#include "autodiff/tape.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/replay.h"
#include "graph/trace/tracer.h"

namespace lathe {
namespace {

/// Numbers in the order of creation. A thread takes them in blocks, as a counter that all share
/// costs a locked instruction for each node; where an input came from a later block of another
/// thread, it takes a new block, whose numbers are above all that were given out before.
struct Sequence {
  uint64_t next = 0, end = 0;

  /// A number above those of all inputs of a node, and above all that this thread was given.
  uint64_t after(absl::Span<const Edge> inputs) {
    uint64_t newest = 0;
    for (const Edge& e : inputs)
      if (e.node) newest = std::max(newest, e.node->sequence);
    if (next == end || newest >= next) [[unlikely]] {
      constexpr uint64_t block = 1024;
      static constinit std::atomic<uint64_t> taken{1};  // 0: leaves
      next = taken.fetch_add(block, std::memory_order_relaxed);
      end = next + block;
    }
    return next++;
  }
};
constinit thread_local Sequence t_sequence [[gnu::tls_model("initial-exec")]];

constinit thread_local Packer* t_packer [[gnu::tls_model("initial-exec")]] = nullptr;

/// Hands a saved tensor to the thread's packer, if it has one. Symbolic ones stay: they have no
/// data.
void pack(Saved& s) {
  if (t_packer == nullptr || s.value.symbolic()) return;
  struct Aside {  // what the packer runs is saved as it is
    Packer* packer = std::exchange(t_packer, nullptr);
    ~Aside() { t_packer = packer; }
  } aside;
  s.packed = std::make_unique<std::function<Tensor()>>((*aside.packer)(s.value));
  s.value = Tensor();
}

Saved save(const Tensor& t) {
  // The version of the alias: it is the tensor's where they share a storage. A symbolic one keeps
  // its value whatever is written to the tensor later.
  Saved s{.value = alias(t)};
  s.version = s.value.version();
  if (t.requires_grad()) s.source = edge_of(t);
  pack(s);
  return s;
}

/// Result k of the node that keeps it: its history is the node itself, and `y` has none.
Saved save_result(Tensor y, size_t k, bool tracked) {
  Saved s{
      .value = std::move(y), .own_output = tracked, .source = {.output = static_cast<uint32_t>(k)}};
  s.version = s.value.version();
  pack(s);
  return s;
}

void keep_plain_arguments(const Op& op, Args args, ArgVec& out) {
  for (size_t i = 0; i < args.size(); ++i) {
    bool tensors = args[i].tag == Tag::tensor ||
                   (args[i].tag == Tag::list && op.schema.params[i].type == ArgType::tensor);
    // Made in place: a copy of one just written waits for the write.
    if (tensors)
      out.push_none();
    else
      out.push(args[i]);
  }
}

bool tracked_dtype(DType d) { return differentiable.has(d); }

}  // namespace

TapeMeta* meta(const TensorImpl& t) { return static_cast<TapeMeta*>(t.autograd.get()); }

TapeMeta& meta_or_new(TensorImpl& t) {
  if (!t.autograd) t.autograd = std::make_shared<TapeMeta>();
  return *meta(t);
}

namespace {

/// Of a tracked tensor.
bool is_outside(const TensorImpl& t) {
  const auto* m = static_cast<const TapeMeta*>(t.autograd.get());
  return (m == nullptr || !m->edge.node) && !t.storage;
}

Edge edge_of(const TensorImpl& t) {
  const auto* m = static_cast<const TapeMeta*>(t.autograd.get());
  Edge e = m != nullptr ? m->edge : Edge{};
  e.outside = is_outside(t);
  return e;
}

}  // namespace

Edge edge_of(const Tensor& t) { return edge_of(*t.impl()); }

void set_history(Tensor& t, Edge edge) {
  meta_or_new(t).edge = std::move(edge);
  t.impl()->requires_grad = true;
}

Tensor unpack_value(const Saved& saved, const TapeNode& owner) {
  if (saved.packed) return (*saved.packed)();
  const Tensor& t = saved.value;
  if (t.version() == saved.version) return t;
  const Storage* storage = t.impl()->storage.get();
  Site writer = storage != nullptr ? storage->writer : Site{};
  throw AutogradError(
      {.op = owner.name(),
       .problem = "a tensor that its derivative reads was written to since",
       .got = absl::StrCat(to_string(type_of(t)), ", saved at ",
                           owner.site.known() ? to_string(owner.site) : "an unknown line",
                           " as version ", saved.version, ", written at ",
                           writer.known() ? to_string(writer) : "an unknown line", ", now version ",
                           t.version()),
       .expected = "the value it had in the forward pass",
       .next = "write to a clone(), or move the write after backward()"});
}

Tensor unpack(const Saved& saved, const std::shared_ptr<TapeNode>& owner) {
  Tensor t = alias(unpack_value(saved, *owner));
  Edge edge = saved.source;
  if (saved.own_output) edge.node = owner;
  if (edge.node) set_history(t, std::move(edge));
  return t;
}

void Tape::record(const Op& op, Args args, absl::Span<Tensor> outputs) {
  auto node = std::make_shared<TapeNode>();
  node->op = &op;
  keep_plain_arguments(op, args, node->attrs);
  for (const Tensor& y : outputs) node->y_types.push_back(type_of(y));
  node->site = here();
  const Saves saves = saves_of(op, args);
  each_slot(op, args, [&](int slot, const Arg& a) {
    Edge& to = node->next.emplace_back();
    if (a.tag != Tag::tensor) {
      node->x_types.emplace_back();
      return;
    }
    const TensorImpl& x = *a.tensor_;  // not a Tensor, which would count one more owner
    node->x_types.push_back({x.dtype, x.geometry.shape, x.device});
    if (x.requires_grad) to = edge_of(x);
    if (slot < 32 && (saves.inputs >> slot & 1)) node->xs.emplace_back(slot, save(a.tensor()));
  });
  node->sequence = t_sequence.after(node->next);
  for (size_t k = 0; k < outputs.size(); ++k) {
    Tensor& y = outputs[k];
    if (saves.outputs >> k & 1)
      // NOLINTNEXTLINE(bugprone-use-after-move): it moves with the last output, after this
      node->ys.emplace_back(static_cast<int>(k),
                            save_result(alias(y), k, tracked_dtype(y.dtype())));
    if (!tracked_dtype(y.dtype())) continue;
    auto m = std::make_shared<TapeMeta>();
    const bool last = k + 1 == outputs.size();
    m->edge = {last ? std::move(node) : node, static_cast<uint32_t>(k)};
    y.impl()->autograd = std::move(m);
    y.impl()->requires_grad = true;
  }
}

void Tape::saw(const Op& op, Args args, Outputs& outputs) {
  if (op.extra.no_grad) return;
  bool gives_floats = false;
  for (const Tensor& y : outputs) gives_floats |= tracked_dtype(y.dtype());
  if (!gives_floats) return;
  if (op.kind != Kind::composite && !has_gradient(op))
    throw AutogradError({.op = op.name(),
                         .problem = "this op has no derivative",
                         .next = "detach() its inputs, or run it under lt.no_grad()"});
  record(op, args, absl::MakeSpan(outputs));
}

namespace {

/// Has the gradient that arrives at the edge kept in `m`.
void retain(const std::shared_ptr<TapeMeta>& m) {
  m->retain = true;
  m->edge.node->rare_or_new().retained.emplace_back(m->edge.output, m);
}

}  // namespace

void Tape::wrote(Tensor& dst, const Tensor& value) {
  TensorImpl* impl = dst.impl();
  ViewOf* view = impl->view.get();
  auto take_history = [](TensorImpl* to, const Tensor& from) {
    const TapeMeta* before = meta(*to);
    const bool retains = before != nullptr && before->retain;
    to->autograd = nullptr;
    to->requires_grad = from.requires_grad();
    if (!to->requires_grad) return;
    auto m = std::make_shared<TapeMeta>();
    m->edge = edge_of(from);
    if (retains) retain(m);  // from now on the gradient of what was written
    to->autograd = std::move(m);
  };
  if (view == nullptr) {
    take_history(impl, value);
    ++impl->version;
    return;
  }
  // The bytes are written already: only history is left to record, one put a step from the last to
  // the first, each over the memory that already holds its result.
  Tensor base = view->base;
  const ViewSteps path = steps_of(*view);
  const Tensors parents = parents_of(base, path);
  Tensor v = value;
  for (size_t i = path.size(); i-- > 0;) {
    const ViewStep& step = *path[i];
    Args kept = step.args.view();
    absl::InlinedVector<Arg, 8> args(kept.begin(), kept.end());
    args[0] = Arg(parents[i]);
    args.insert(args.begin() + 1, Arg(v));
    Tensor out = alias(parents[i]);
    if (parents[i].requires_grad() || v.requires_grad())
      record(*step.op->put, absl::MakeConstSpan(args), absl::MakeSpan(&out, 1));
    v = out;
  }
  take_history(base.impl(), v);
  ++base.impl()->version;
  Tensor now = replay(base, path);
  take_history(impl, now);
  view->version = base.impl()->version;
}

TapeNode::~TapeNode() {
  // Unlink what only this node holds, without recursion. A leaf's node holds no other.
  absl::InlinedVector<std::shared_ptr<TapeNode>, 8> pending;
  auto take = [&](std::shared_ptr<TapeNode>& n) {
    if (n && !n->is_leaf()) pending.push_back(std::move(n));
  };
  auto collect = [&](TapeNode& n) {
    for (Edge& e : n.next) take(e.node);
    for (auto& [slot, s] : n.xs) take(s.source.node);
  };
  collect(*this);
  while (!pending.empty()) {
    std::shared_ptr<TapeNode> n = std::move(pending.back());
    pending.pop_back();
    if (n.use_count() == 1) collect(*n);
  }
}

void set_requires_grad(Tensor& t, bool on) {
  TapeMeta* m = meta(t);
  bool computed = m != nullptr && m->edge.node && !m->edge.node->is_leaf();
  if (computed && on && t.requires_grad()) return;  // that is how it is
  if (computed)  // a leaf that is switched off keeps the node that older results lead to
    throw AutogradError({.op = "requires_grad",
                         .problem = "only leaf tensors can change whether they are tracked",
                         .got = to_string(type_of(t)),
                         .expected = "a leaf: a tensor that was made, not computed",
                         .next = "call detach() first"});
  if (on && !tracked_dtype(t.dtype()))
    throw AutogradError({.op = "requires_grad",
                         .problem = "only floating and complex tensors have gradients",
                         .got = std::string(name(t.dtype())),
                         .expected = "a floating or complex dtype",
                         .next = "convert with .to(lt.float32)"});
  if (!on && m == nullptr) return;
  TapeMeta& mine = meta_or_new(t);
  mine.is_leaf = on;
  if (!on) mine.edge = {};
  // Made here and not at the first use: uses of a leaf may begin on several threads at once.
  if (on && !mine.edge.node) {
    mine.edge.node = std::make_shared<TapeNode>();
    mine.edge.node->y_types.push_back(type_of(t));
    mine.edge.node->leaf = std::static_pointer_cast<TapeMeta>(t.impl()->autograd);
  }
  t.impl()->requires_grad = on;
}

Tensor detach(const Tensor& t) {
  if (t.impl()->view) refresh(t);
  return alias(t);
}

namespace {

/// A node of the history for which holds(node), or null.
template <class F>
const TapeNode* find_node(const Tensor& t, F holds) {
  const TapeMeta* m = meta(t);
  if (m == nullptr || !m->edge.node) return nullptr;
  std::vector<const TapeNode*> pending{m->edge.node.get()};
  absl::flat_hash_set<const TapeNode*> seen;
  while (!pending.empty()) {
    const TapeNode* n = pending.back();
    pending.pop_back();
    if (holds(*n)) return n;
    for (const Edge& e : n->next)
      if (e.node && seen.insert(e.node.get()).second) pending.push_back(e.node.get());
  }
  return nullptr;
}

}  // namespace

const TapeNode* spent_in_history(const Tensor& t) {
  return find_node(t, [](const TapeNode& n) { return n.released; });
}

std::vector<const TapeNode*> leaves_of(const Tensor& t) {
  std::vector<const TapeNode*> out;
  find_node(t, [&](const TapeNode& n) {
    if (n.is_leaf()) out.push_back(&n);
    return false;
  });
  return out;
}

Edge spent_history(const TapeNode& like) {
  auto node = std::make_shared<TapeNode>();
  node->op = like.op;
  if (like.own() != nullptr)
    node->rare_or_new().own =
        std::make_shared<const OwnDerivative>(OwnDerivative{.name = like.own()->name});
  node->site = like.site;
  node->y_types.resize(1);
  node->released = true;
  return {std::move(node), 0};
}

bool history_beyond(const Tensors& ys, const Tensors& xs) {
  absl::flat_hash_set<const TapeNode*> known;
  for (const Tensor& x : xs)
    if (x.requires_grad()) known.insert(edge_of(x).node.get());
  for (const Tensor& y : ys) {
    if (!y.requires_grad()) continue;
    if (edge_of(y).outside) return true;
    auto leads_out = [&](const TapeNode& n) {
      if (n.is_leaf() && !known.contains(&n)) return true;
      return std::any_of(n.next.begin(), n.next.end(), [](const Edge& e) { return e.outside; });
    };
    if (find_node(y, leads_out) != nullptr) return true;
  }
  return false;
}

const TapeNode* own_in_history(const Tensor& t) {
  return find_node(t, [](const TapeNode& n) { return n.own() != nullptr && !n.own()->continues; });
}

namespace {

/// An argument of a traced function that was computed outside has a history that the trace lacks.
[[noreturn]] void history_is_outside(const char* op, const Tensor& t) {
  throw AutogradError({.op = op,
                       .problem = "the tensor's history is outside of the function being traced",
                       .got = to_string(type_of(t)),
                       .expected = "a leaf, or a tensor computed inside",
                       .next = "call it outside of the traced function"});
}

}  // namespace

void retain_grad(const Tensor& t) {
  if (!t.requires_grad())
    throw AutogradError({.op = "retain_grad",
                         .problem = "the tensor is not tracked",
                         .got = to_string(type_of(t)),
                         .expected = "a tensor that requires grad",
                         .next = "call requires_grad_() on an input first"});
  TapeMeta& m = meta_or_new(t);
  if (m.is_leaf || m.retain) return;
  if (!m.edge.node) history_is_outside("retain_grad", t);
  retain(std::static_pointer_cast<TapeMeta>(t.impl()->autograd));
}

void register_hook(const Tensor& t, Hook hook) {
  if (!t.requires_grad())
    throw AutogradError({.op = "register_hook",
                         .problem = "the tensor is not tracked",
                         .got = to_string(type_of(t)),
                         .expected = "a tensor that requires grad",
                         .next = "call requires_grad_() on it first"});
  Edge e = edge_of(t);
  if (!e.node) history_is_outside("register_hook", t);
  auto& hooks = e.node->rare_or_new().hooks;
  if (hooks.size() <= e.output) hooks.resize(e.output + 1);
  hooks[e.output].push_back(std::move(hook));
}

void register_grown_hook(const Tensor& t, std::function<void()> hook) {
  TapeMeta* m = meta(t);
  if (m == nullptr || !m->is_leaf)
    throw AutogradError({.op = "register_post_accumulate_grad_hook",
                         .problem = "only leaves that require grad collect one",
                         .got = to_string(type_of(t)),
                         .expected = "a leaf that requires grad",
                         .next = "register_hook() sees the gradient of a computed tensor"});
  if (!m->grown) m->grown = std::make_unique<std::vector<std::function<void()>>>();
  m->grown->push_back(std::move(hook));
}

const std::string& TapeNode::name() const {
  static const auto& leaf = *new std::string("AccumulateGrad");
  return op != nullptr ? op->name() : own() != nullptr ? own()->name : leaf;
}

Saved save_tensor(const Tensor& t) { return save(t); }

Packer set_packer(Packer packer) {
  static thread_local Packer kept;
  Packer before = std::exchange(kept, std::move(packer));
  t_packer = kept ? &kept : nullptr;
  return before;
}

namespace {

std::shared_ptr<TapeNode> make_node(OwnDerivativeRef own, const Tensors& inputs, Tensors& outputs,
                                    absl::Span<const bool> left_out, SavedPlaces saved) {
  auto node = std::make_shared<TapeNode>();
  node->x_types.reserve(inputs.size());
  node->next.reserve(inputs.size());
  for (const Tensor& x : inputs) {
    node->x_types.push_back(x.defined() ? type_of(x) : TensorType{});
    node->next.push_back(x.defined() && x.requires_grad() ? edge_of(x) : Edge{});
  }
  node->xs.reserve(saved.inputs.size());
  for (size_t slot : saved.inputs)
    node->xs.emplace_back(static_cast<int>(slot), save(inputs[slot]));
  node->rare_or_new().own = std::move(own);
  node->sequence = t_sequence.after(node->next);
  node->site = here();
  auto tracked = [&](size_t k) {
    return outputs[k].defined() && (left_out.empty() || !left_out[k]) &&
           tracked_dtype(outputs[k].dtype());
  };
  auto inner = [&](size_t k) { return k >= saved.inner_first && k < saved.inner_last; };
  node->y_types.reserve(outputs.size());
  for (const Tensor& y : outputs) node->y_types.push_back(y.defined() ? type_of(y) : TensorType{});
  node->ys.reserve(saved.results.size());
  for (size_t k : saved.results) {
    const bool has_history = tracked(k);
    Tensor y = inner(k) ? std::move(outputs[k]) : alias(outputs[k]);
    node->ys.emplace_back(static_cast<int>(k), save_result(std::move(y), k, has_history));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    Tensor& y = outputs[k];
    if (inner(k) || !tracked(k)) continue;
    y.impl()->autograd = nullptr;  // of its own from now on
    set_history(y, {node, static_cast<uint32_t>(k)});
  }
  return node;
}

/// What a loop or branch of a trace is to the tape, its graph says alone.
void refuse_inside_a_part(const OwnDerivative& own, const Tensors& inputs) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer == nullptr || tracer->depth() == 0 || !thread_state().grad_enabled) return;
  for (const Tensor& x : inputs)
    if (x.defined() && (x.requires_grad() || tracer->may_have_history(x)))
      throw TraceError({.op = own.name,
                        .problem = "its own derivative would be lost: it is called in a branch or "
                                   "a loop that is recorded as one",
                        .got = to_string(type_of(x)),
                        .next = "call it outside of the loop, under lt.no_grad(), or write the "
                                "derivative with ops"});
}

}  // namespace

std::shared_ptr<TapeNode> record_function(OwnDerivativeRef own, const Tensors& inputs,
                                          Tensors& outputs, absl::Span<const bool> left_out,
                                          SavedPlaces saved) {
  for (const Tensor& x : inputs)
    if (x.defined() && x.requires_grad() && is_outside(*x.impl()))
      throw TraceError(
          {.op = own->name,
           .problem = "its own derivative would be lost: an argument's history is "
                      "outside of the function being traced",
           .got = to_string(type_of(x)),
           .expected = "arguments that need no gradient, or leaves whose gradient is "
                       "taken inside",
           .next = "call it under lt.no_grad(), or call backward() inside of the trace"});
  refuse_inside_a_part(*own, inputs);
  return make_node(std::move(own), inputs, outputs, left_out, saved);
}

void record_part(OwnDerivativeRef own, const Tensors& inputs, Tensors& outputs) {
  make_node(std::move(own), inputs, outputs, {}, {});
}

absl::Span<const Hook> hooks_on(const TapeMeta& m) {
  const Edge& e = m.edge;
  if (!e.node || !e.node->rare || e.node->rare->hooks.size() <= e.output) return {};
  return e.node->rare->hooks[e.output];
}

void install_tape() {
  static Tape tape;
  set_tape(&tape);
}

}  // namespace lathe
