#include "jit/gradients.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "jit/repeated_calls.h"

namespace lathe::jit {
namespace {

constexpr int64_t kLeast = 2048;  // elements: smaller calls go the short way (core/dispatch/call.h)

RepeatedCalls& known() {
  static auto& all = *new RepeatedCalls;
  return all;
}

/// Does no result of the rule need a history?
bool first_order(const Grad::Data& data) {
  if (!thread_state().grad_enabled) return true;
  const auto tracked = [](const Tensor& t) { return t.defined() && t.requires_grad(); };
  return absl::c_none_of(data.dys, tracked) && absl::c_none_of(data.xs, tracked) &&
         absl::c_none_of(data.ys, tracked);
}

/// An argument that is a tensor which the rule does not read: only its type is known.
bool unread_tensor(const Grad::Data& data, size_t slot) {
  return !data.xs[slot].defined() && data.attrs[slot].tag == Tag::none;
}

/// False: no derivative like this one is a program.
bool take(const Grad::Data& data, CallKey& key) {
  key.words.push_back(data.op->id);
  const TensorImpl& dy = *data.dys[0].impl();
  key.words.push_back(static_cast<uint64_t>(dy.dtype) | uint64_t(dy.geometry.rank()) << 16);
  for (const absl::Span<const Tensor> some : {data.xs, data.ys})
    for (const Tensor& t : some)
      if (t.defined() ? !key.take(t.impl()) : !key.mark(0, true)) return false;
  for (size_t slot = 0; slot < data.x_types.size(); ++slot) {
    if (!key.take(data.attrs[slot])) return false;
    key.words.push_back(static_cast<uint64_t>(data.x_types[slot].dtype) |
                        uint64_t{data.wanted[slot]} << 8);
    if (unread_tensor(data, slot) && data.x_types[slot].shape != data.dy_types[0].shape)
      return false;
  }
  return true;
}

/// The rule on these inputs: the cotangent, then what was kept.
ir::Data derived(const Grad::Data& data, const ir::Data& in) {
  size_t next = 0;
  const Tensor dy = in[next++].tensor();
  const auto given = [&](absl::Span<const Tensor> kept) {
    absl::InlinedVector<Tensor, 4> all(kept.size());
    for (size_t i = 0; i < kept.size(); ++i)
      if (kept[i].defined()) all[i] = in[next++].tensor();
    return all;
  };
  const auto xs = given(data.xs), ys = given(data.ys);
  absl::InlinedVector<TensorType, 4> types(data.x_types.begin(), data.x_types.end());
  for (size_t slot = 0; slot < types.size(); ++slot) {
    if (xs[slot].defined()) types[slot].shape = xs[slot].shape();
    if (unread_tensor(data, slot)) types[slot].shape = dy.shape();
  }
  const TensorType dy_type = type_of(dy);
  const Grads all = expand_gradient({data.op, data.attrs, absl::MakeConstSpan(&dy, 1),
                                     absl::MakeConstSpan(&dy_type, 1), xs, types, ys, data.wanted});
  ir::Data out;
  for (size_t slot = 0; slot < all.size(); ++slot)
    if (data.wanted[slot]) out.emplace_back(all[slot]);
  return out;
}

bool run(CallsOfAKind& kind, const Grad::Data& data, Grads& out) {
  ir::Data inputs;
  std::vector<std::string> names;
  const auto add = [&](const Tensor& t, std::string_view what) {
    if (!t.defined()) return;
    inputs.emplace_back(t);
    names.push_back(absl::StrCat(what, inputs.size()));
  };
  const Tensor& dy = data.dys[0];
  add(dy.geometry().is_contiguous() ? dy : math_ops<Tensor>::clone(dy), "dy");
  for (const Tensor& x : data.xs) add(x, "x");
  for (const Tensor& y : data.ys) add(y, "y");
  const auto results = kind.run(
      inputs, [&] { return names; }, [&](const ir::Data& in) { return derived(data, in); });
  if (!results) return false;
  out.assign(data.x_types.size(), Tensor());
  size_t next = 0;
  for (size_t slot = 0; slot < out.size(); ++slot)
    if (data.wanted[slot]) out[slot] = (*results)[next++].tensor();
  return true;
}

}  // namespace

bool run_gradient_program(const Grad::Data& data, Grads& out) {
  const Op& op = *data.op;
  RepeatedCalls& all = known();
  if (op.kind != Kind::elementwise || all.off(op)) return false;
  if (data.dys.size() != 1 || !data.dys[0].defined() || data.attrs.size() != data.x_types.size())
    return false;
  const Tensor& dy = data.dys[0];
  if (dy.symbolic() || dy.device().kind != DeviceKind::cpu || dy.impl()->storage->ready ||
      !first_order(data))
    return false;
  const std::optional<int64_t> after = fuse_after();
  if (!after || (*after > 0 && dy.numel().value() < kLeast)) return false;
  CallKey key;
  if (!take(data, key)) return false;
  CallsOfAKind* kind = all.find(op.id, key.words, absl::StrCat(op.public_name(), " backward"));
  if (kind == nullptr || !kind->due(*after)) return false;
  return run(*kind, data, out);
}

std::string gradients_text() { return known().text(); }

}  // namespace lathe::jit
