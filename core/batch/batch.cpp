#include "core/batch/batch.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/replay.h"
#include "core/op/each_tensor.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;

constinit std::mutex g_counting;

std::map<std::string, uint64_t>& fallbacks() {
  static auto& counts = *new std::map<std::string, uint64_t>;
  return counts;
}

void count_fallback(const Op& op) {
  const std::lock_guard hold(g_counting);
  ++fallbacks()[op.name()];
}

/// One example's geometry.
Geometry example_of(const Geometry& all) {
  Geometry g = all;
  g.shape.erase(g.shape.begin());
  g.strides.erase(g.strides.begin());
  return g;
}

Shape with_size(Int size, const Shape& example) {
  Shape shape{size};
  shape.insert(shape.end(), example.begin(), example.end());
  return shape;
}

}  // namespace

std::vector<std::pair<std::string, uint64_t>> batch_fallbacks() {
  const std::lock_guard hold(g_counting);
  return {fallbacks().begin(), fallbacks().end()};
}

// ── coming and going ────────────────────────────────────────────────────────────────────────────

Batch::Batch(Int size, Randomness randomness)
    : size_(size),
      randomness_(randomness),
      epoch_(new_epoch()),
      outer_backend_(thread_state().backend),
      outer_observers_(thread_state().observers) {
  thread_state().backend = this;
  thread_state().observers = nullptr;  // they see the calls below
}

void Batch::leave() {
  if (!entered_) return;
  entered_ = false;
  thread_state().backend = outer_backend_;
  thread_state().observers = outer_observers_;
}

Batch::~Batch() { leave(); }

Below::Below(const Batch& batch)
    : backend_(thread_state().backend), observers_(thread_state().observers) {
  thread_state().backend = batch.outer_backend_;
  thread_state().observers = batch.outer_observers_;
}

Below::~Below() {
  thread_state().backend = backend_;
  thread_state().observers = observers_;
}

// ── stand-ins ───────────────────────────────────────────────────────────────────────────────────

void Batch::set(const Tensor& t, const Tensor& all) const {
  TensorImpl* impl = t.impl();
  impl->geometry = example_of(all.geometry());
  impl->storage = {};
  impl->symbol = {.epoch = epoch_, .batched = all};
}

Tensor Batch::stand_in(const Tensor& all) const {
  Tensor t(new TensorImpl);
  t.impl()->dtype = all.dtype();
  t.impl()->device = all.device();
  set(t, all);
  return t;
}

Tensor Batch::all(const Tensor& t) const {
  refresh(t);
  if (is_stand_in(t)) return t.impl()->symbol.batched;
  const Below below(*this);
  return S::expand(S::unsqueeze(t, 0), with_size(size_, t.shape()));
}

// ── calls ───────────────────────────────────────────────────────────────────────────────────────

void Batch::run(const Call& call, Outputs& outputs) {
  const AutocastScope over(DType::f32);  // the operands of the call are cast already
  bool batched = false;
  each_tensor(call.args, [&](const Arg& a) { batched |= is_stand_in(a.tensor()); });
  if (!batched) {
    run_below(call, outputs);
    return;
  }
  if (call.op.extra.host == HostCall::ordered)
    throw UnsupportedError(
        {.op = "vmap",
         .problem = absl::StrCat("a call of Python in order (", to_string(call.args[0]),
                                 ") is given values that differ between the examples"),
         .got = absl::StrCat(to_string(size_), " examples at once"),
         .expected = "a call without effects",
         .next = "print or call outside of the mapped function, or pass ordered=False"});
  Outputs found;
  {
    const Below below(*this);
    if (!run_batched(*this, call, found)) found = one_by_one(call);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const TensorType& want = call.types[i];
    if (found[i].dtype() != want.dtype ||
        found[i].shape().size() != want.shape.size() + 1)  // the sizes are the rule's own affair
      LATHE_INTERNAL(absl::StrCat("vmap of ", call.op.name(), " gives ",
                                  to_string(type_of(found[i])), " for ", to_string(want)));
    outputs.push_back(stand_in(found[i]));
  }
}

void Batch::run_below(const Call& call, Outputs& outputs) {
  if (call.op.kind == Kind::random && run_random(call, outputs)) return;
  {
    const Below below(*this);
    current_backend().run(call, outputs);
  }
  // Views keep what they are views of.
  if (call.op.kind == Kind::create)
    for (const Tensor& t : outputs) made_.emplace(t.impl(), t);
}

/// False: all examples get the same numbers.
bool Batch::run_random(const Call& call, Outputs& outputs) {
  if (randomness_ == Randomness::error)
    throw ValueError(
        {.op = "vmap",
         .problem = absl::StrCat("the function draws random numbers (", call.op.public_name(), ")"),
         .got = "randomness='error'",
         .expected = "randomness='different' or 'same'",
         .next = "say whether each example gets numbers of its own"});
  if (randomness_ == Randomness::same) return false;
  const int at = call.op.schema.find("size");
  if (at < 0) LATHE_INTERNAL(absl::StrCat(call.op.name(), " draws as many numbers as nobody says"));
  std::vector<Arg> sizes;
  for (Int n : with_size(size_, call.args.ints(at))) sizes.emplace_back(n);
  const ArgList list{sizes.data(), sizes.size()};
  absl::InlinedVector<Arg, 8> args(call.args.begin(), call.args.end());
  args[static_cast<size_t>(at)] = Arg(list);
  const Below below(*this);
  outputs.push_back(stand_in(call_one(call.op, absl::MakeConstSpan(args))));
  return true;
}

bool Batch::claims(const Op& op, Args args, Types& types) const {
  bool batched = op.schema.writes();
  each_tensor(args, [&](const Arg& a) { batched |= is_stand_in(a.tensor()); });
  if (batched) return false;
  const Below below(*this);
  return current_backend().claims(op, args, types);
}

/// Always right, and slow: what has no rule.
Outputs Batch::one_by_one(const Call& call) const {
  count_fallback(call.op);
  const int64_t n = size_.value();
  std::vector<Tensors> found(call.types.size());
  for (int64_t example = 0; example < n; ++example) {
    Tensors held;
    auto of_example = [&](const Arg& a) {
      if (a.tag != Tag::tensor || !is_stand_in(a.tensor())) return a;
      held.push_back(S::select(a.tensor_->symbol.batched, 0, example));
      return Arg(held.back());
    };
    ArgVec args;
    for (const Arg& a : call.args) {
      if (a.tag != Tag::list) {
        args.push(of_example(a));
        continue;
      }
      std::vector<Arg> items;
      for (size_t k = 0; k < a.list_->size; ++k) items.push_back(of_example(a.list_->data[k]));
      args.push(Arg(ArgList{items.data(), items.size()}));
    }
    Outputs one = lathe::call(call.op, args);
    for (size_t i = 0; i < one.size(); ++i) found[i].push_back(one[i]);
  }
  Outputs outputs;
  for (size_t i = 0; i < found.size(); ++i) {
    const TensorType& type = call.types[i];
    outputs.push_back(
        n > 0 ? S::stack(absl::MakeConstSpan(found[i]), 0)
              : create_ops<Tensor>::zeros(with_size(0, type.shape), type.dtype, type.device));
  }
  return outputs;
}

// ── writes ──────────────────────────────────────────────────────────────────────────────────────

/// What was made inside, the same for all examples, becomes one of a kind for each.
void Batch::adopt(const Tensor& made) {
  auto it = made_.find(made.impl());
  if (it == made_.end())
    throw ValueError(
        {.op = "vmap",
         .problem = "a value that differs between examples is written to a tensor that is the same "
                    "for all",
         .got = to_string(type_of(made)),
         .expected = "a tensor that is mapped over, or was made inside of the function",
         .next = "write to a clone of a mapped tensor, or compute without a write"});
  const TensorImpl* from = made.impl();
  Tensor before(new TensorImpl);  // what others saved of it keeps its memory
  before.impl()->dtype = from->dtype;
  before.impl()->device = from->device;
  before.impl()->geometry = from->geometry;
  before.impl()->storage = from->storage;
  before.impl()->symbol = from->symbol;
  before.impl()->version = from->version;
  set(made, all(before));
  made_.erase(it);
}

Batch* Batch::current() { return dynamic_cast<Batch*>(thread_state().backend); }

void Batch::note_shared(const Tensor& a, const Tensor& b) {
  auto gone = [](const auto& pair) {  // nobody else holds it
    return pair.first.impl()->refs.load() == 1 || pair.second.impl()->refs.load() == 1;
  };
  shared_.erase(std::remove_if(shared_.begin(), shared_.end(), gone), shared_.end());
  shared_.emplace_back(a, b);
}

void Batch::refuse_shared(const Tensor& written) const {
  for (const auto& [a, b] : shared_) {
    if (!same(a, written) && !same(b, written)) continue;
    const Tensor& other = same(a, written) ? b : a;
    if (other.impl()->refs.load() > 1)
      throw UnsupportedError({.op = "vmap",
                              .problem = "a tensor is written to while a detached one shares its "
                                         "memory, which a vmap does not follow",
                              .got = to_string(type_of(written)),
                              .expected = "a tensor of its own",
                              .next = "clone() it before the write"});
  }
}

void Batch::write(Tensor& dst, const Tensor& value) {
  ViewOf* view = dst.impl()->view.get();
  Tensor root = view != nullptr ? view->base : dst;
  if (!is_stand_in(root)) {
    if (!is_stand_in(value)) {
      const Below below(*this);
      current_backend().write(dst, value);
      return;
    }
    adopt(root);
  }
  refuse_shared(root);
  if (view == nullptr) {
    Tensor now = all(value);
    if (!is_stand_in(value)) {
      const Below below(*this);
      now = M::clone(now);  // whatever is written to it later
    }
    set(dst, now);
    ++dst.impl()->version;
    return;
  }
  ViewSteps path = steps_of(*view);
  write(root, put_through(root, path, value));
  const Tensor now = replay(root, path);
  set(dst, now.impl()->symbol.batched);
  view->version = root.impl()->version;
}

}  // namespace lathe
