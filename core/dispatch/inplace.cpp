#include "core/dispatch/inplace.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/dispatch/shortcut.h"
#include "core/sizes/symexpr.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

/// Two elements of one tensor may share an address: writing through it has no defined meaning.
bool overlaps_itself(const Tensor& t) {
  const ViewOf* view = t.impl()->view.get();
  return view != nullptr && view->path->overlaps;
}

/// From the first byte of the elements to past the last; empty where there are none.
struct AddressRange {
  uintptr_t begin = 0, end = 0;
};
AddressRange addresses_of(const TensorImpl& t) {
  if (!t.storage) return {};
  int64_t low = t.geometry.offset.value(), high = low;
  for (size_t i = 0; i < t.geometry.shape.size(); ++i) {
    const int64_t size = t.geometry.shape[i].value();
    if (size == 0) return {};
    const int64_t reach = (size - 1) * t.geometry.strides[i].value();
    (reach < 0 ? low : high) += reach;
  }
  const auto bytes = static_cast<int64_t>(size_of(t.dtype));
  const auto data = reinterpret_cast<uintptr_t>(t.storage->data);
  return {data + static_cast<uintptr_t>(low * bytes),
          data + static_cast<uintptr_t>((high + 1) * bytes)};
}

absl::InlinedVector<Arg, 8> with_input(const ViewStep& step, const Tensor& x) {
  Args kept = step.args.view();
  absl::InlinedVector<Arg, 8> args(kept.begin(), kept.end());
  args[0] = Arg(x);
  return args;
}

/// Are the sizes equal, and written alike by what is known of them? Asks what `expand` asks.
bool same_size(Int from, Int to) {
  if (identical(from, to)) return true;
  if (!(from == Int(1) ? to == Int(1) : require(Relation::eq, from, to))) return false;
  const SymScope* scope = SymScope::current();
  return scope == nullptr || identical(scope->simplify(from), scope->simplify(to));
}

/// `value` in dst's dtype and shape. Where no size changes there is no expand, whatever symbols
/// stand for the sizes: it would be one more step on a gradient's way, which then arrives in
/// another order than eagerly.
Tensor fitted(const Tensor& dst, const Tensor& value) {
  Tensor v = cast_for(dst, value);
  bool same = v.rank() == dst.rank();
  for (int i = 0; same && i < v.rank(); ++i) same = same_size(v.size(i), dst.size(i));
  return same ? v : shape_ops<Tensor>::expand(v, dst.shape());
}

}  // namespace

Tensor cast_for(const Tensor& dst, const Tensor& value) {
  if (value.dtype() == dst.dtype()) return value;
  if (is_complex(value.dtype()) && !is_complex(dst.dtype()))
    throw DTypeError({.op = "assign",
                      .problem = "a complex value is written into a tensor that is not",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(dst.dtype())),
                      .next = "write its real part: lathe.real(value)"});
  return math_ops<Tensor>::cast(value, dst.dtype());
}

void remember_view(Tensor& out, const Tensor& x, const Op& op, Args args) {
  auto view = std::make_unique<ViewOf>();
  const ViewOf* from = x.impl()->view.get();
  view->base = from != nullptr ? from->base : x;
  absl::InlinedVector<Arg, 8> attrs(args.begin(), args.end());
  attrs[0] = Arg();
  view->path =
      std::make_shared<const ViewPath>(from != nullptr ? from->path : nullptr,
                                       ViewStep{&op, ArgVec(Args(attrs.data(), attrs.size()))});
  view->version = view->base.impl()->version;
  out.impl()->view = std::move(view);
}

ViewPath::ViewPath(std::shared_ptr<const ViewPath> path, ViewStep last)
    : before(std::move(path)),
      step(std::move(last)),
      length(before ? before->length + 1 : 1),
      overlaps(step.op->put == nullptr || (before && before->overlaps)) {}

// Without recursion: a chain may be longer than the stack is deep.
ViewPath::~ViewPath() {
  std::shared_ptr<const ViewPath> rest = std::move(before);
  while (rest && rest.use_count() == 1) {
    std::shared_ptr<const ViewPath> next = std::move(const_cast<ViewPath&>(*rest).before);
    rest = std::move(next);
  }
}

ViewSteps steps_of(const ViewOf& view) {
  ViewSteps steps(view.path->length);
  const ViewPath* p = view.path.get();
  for (size_t i = steps.size(); i-- > 0; p = p->before.get()) steps[i] = &p->step;
  return steps;
}

bool may_share_memory(const TensorImpl& a, const TensorImpl& b) {
  if (!(a.device == b.device)) return false;
  const AddressRange p = addresses_of(a), q = addresses_of(b);
  return p.begin < q.end && q.begin < p.end;
}

Tensor replay(const Tensor& base, absl::Span<const ViewStep* const> path) {
  Tensor x = base;
  for (const ViewStep* step : path) {
    auto args = with_input(*step, x);
    x = call(*step->op, absl::MakeConstSpan(args))[0];
  }
  return x;
}

Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path,
                   const Tensor& value) {
  if (path.empty()) return value;
  Tensors parents{base};
  for (const ViewStep* step : path.subspan(0, path.size() - 1))
    parents.push_back(replay(parents.back(), absl::MakeConstSpan(&step, 1)));
  Tensor v = value;
  for (size_t i = path.size(); i-- > 0;) {
    auto args = with_input(*path[i], parents[i]);
    args.insert(args.begin() + 1, Arg(v));
    v = call(*path[i]->op->put, absl::MakeConstSpan(args))[0];
  }
  return v;
}

void require_assignable(const Tensor& dst) {
  if (dst.impl()->view) refresh(dst);
  if (overlaps_itself(dst))
    throw AliasError({.op = "assign",
                      .problem = "the destination overlaps itself",
                      .got = absl::StrCat("a view of shape ", to_string(dst.shape()),
                                          " with strides ", to_string(dst.geometry().strides)),
                      .expected = "each element at an address of its own",
                      .next = "clone() the expanded tensor before writing to it"});
  auto is_leaf = [](const Tensor& t) {
    return t.requires_grad() && t.impl()->autograd && t.impl()->autograd->leaf();
  };
  bool leaf = is_leaf(dst) || (dst.impl()->view && is_leaf(dst.impl()->view->base));
  if (thread_state().grad_enabled && leaf)
    throw AutogradError({.op = "assign",
                         .problem = "a leaf that requires grad cannot be written in place",
                         .got = to_string(type_of(dst)),
                         .expected = "a tensor without grad, or one that was computed",
                         .next = "wrap the write in lt.no_grad(), or write to a clone()"});
}

Tensor assign(Tensor dst, const Tensor& value) {
  Backend& backend = current_backend();
  require_assignable(dst);
  if (value.impl()->view) refresh(value);
  if (value.device() != dst.device())
    throw DeviceError(
        {.op = "assign",
         .problem = "the value is on another device than what it is written to",
         .got = absl::StrCat(to_string(value.device()), " to ", to_string(dst.device())),
         .expected = "one device",
         .next = "move the value with .to(device)"});
  Tensor v = fitted(dst, value);
  // A value that reads what is being written must be read in full first.
  if (may_share_memory(dst, v) && !same(dst, v)) v = math_ops<Tensor>::clone(v);
  backend.write(dst, v);
  bool history = dst.requires_grad() || v.requires_grad();
  if (thread_state().grad_enabled && history && tape() != nullptr) tape()->wrote(dst, v);
  for (Observer* o = thread_state().observers; o != nullptr; o = o->next) o->wrote(dst, v);
  return dst;
}

bool may_overwrite(const Tensor& dst) {
  const ThreadState& state = thread_state();
  const TensorImpl* t = dst.impl();
  return state.backend == nullptr && state.observers == nullptr &&
         !(state.grad_enabled && t->requires_grad) && t->view == nullptr &&
         t->device.kind == DeviceKind::cpu && t->storage && !t->storage->ready;
}

namespace {

/// Will a derivative read the elements that this in-place call writes over?
bool derivative_reads_destination(const Op& op, Args args) {
  if (!thread_state().grad_enabled || op.extra.no_grad) return false;
  bool tracked = false;
  for (const Arg& a : args) tracked |= a.tag == Tag::tensor && a.tensor_->requires_grad;
  if (!tracked) return false;
  // What the parts of a composite keep is known only when they run.
  return op.kind == Kind::composite || (saves_of(op, args).inputs & 1u) != 0;
}

}  // namespace

Tensor call_inplace(const Op& op, Args args) {
  Tensor x = args.tensor(0);
  if (shortcut_into(op, args)) return x;
  absl::InlinedVector<Arg, 8> read(args.begin(), args.end());
  Tensor before;
  if (derivative_reads_destination(op, args)) {
    before = math_ops<Tensor>::clone(x);
    for (Arg& a : read)
      if (a.tag == Tag::tensor && a.tensor_ == x.impl()) a = Arg(before);
  }
  Tensor value = call(op, absl::MakeConstSpan(read))[0];
  if (category(value.dtype()) > category(x.dtype()))
    throw DTypeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the dtype it is written to",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(x.dtype())),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  // Broadcasting may enlarge the result, never the destination.
  bool fits = value.rank() <= x.rank();
  for (int i = 1; fits && i <= value.rank(); ++i)
    fits = require(Relation::eq, value.size(-i), x.size(-i));
  if (!fits)
    throw ShapeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the tensor it is written to",
                      .got = to_string(value.shape()),
                      .expected = to_string(x.shape()),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  return assign(x, value);
}

void refresh(const Tensor& x) {
  const ViewOf* view = x.impl()->view.get();
  if (view == nullptr || view->version == view->base.impl()->version) return;
  Tensor now = replay(view->base, steps_of(*view));
  TensorImpl* impl = x.impl();
  impl->autograd = now.impl()->autograd;
  impl->requires_grad = now.impl()->requires_grad;
  impl->symbol = now.impl()->symbol;
  impl->view->version = impl->view->base.impl()->version;
}

}  // namespace lathe
