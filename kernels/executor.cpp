#include "kernels/executor.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/profile.h"
#include "kernels/own/convert.h"
#include "kernels/own/shortcut.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/table/prepared.h"
#include "kernels/table/table.h"

namespace lathe {
namespace {

/// The operand in the dtype the contraction is computed in; a copy where it is stored in another.
Tensor in_dtype(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y = empty(type_of(x).with(dtype));
  Operand from = operand(x), to = operand(y);
  submit(x.device(), {x}, {y}, [=] { own::convert(from, to); });
  return y;
}

/// What the operands meet in. Where all is of one dtype a small product should not ask again.
DType meet_in(const Call& call) {
  const DType dtype = call.types[0].dtype;
  if (call.op.extra.sums.empty() && call.args[0].tensor_->dtype == dtype &&
      call.args[1].tensor_->dtype == dtype)
    return dtype;
  return sum_types(call.op, call.args).operands;
}

void run_contract(const Call& call, Outputs& outputs) {
  const TensorType& type = call.types[0];
  const DType meet = meet_in(call);
  Tensor a = in_dtype(call.args.tensor(0), meet), b = in_dtype(call.args.tensor(1), meet);
  Tensor out = call.into != nullptr ? *call.into : empty(type);
  Operand in[] = {operand(a), operand(b)};
  Operand to = operand(out);
  PreparedCall prepared = prepared_call(call, in, to);
  if (profiling()) note_kernel(prepared.entry->name);
  Launch launch{in[0].data, in[1].data, to.data, {}};
  submit(type.device, {a, b}, {out},
         [prepared, launch] { prepared.entry->run(*prepared.entry, *prepared.plan, launch); });
  outputs.push_back(std::move(out));
}

/// What the flag `disabled` may name: entries, and vendors.
std::vector<std::string_view> entry_names() {
  std::vector<std::string_view> out;
  auto add = [&](std::string_view name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (int kind = 0; kind <= static_cast<int>(Kind::composite); ++kind)
    for (const Entry* entry : entries(static_cast<Kind>(kind)))
      add(entry->name), add(entry->vendor());
  return out;
}

[[gnu::cold]] void span_of_write(const Tensor& dst, const Tensor& value, Span& span) {
  span.reads(type_of(value), bytes_of(value));
  span.writes(type_of(dst), bytes_of(dst));
  span.runs_on("own.copy");
}

class Executor final : public Backend {
 public:
  void run(const Call& call, Outputs& outputs) override {
    if (call.op.kind == Kind::contract) return run_contract(call, outputs);
    const Entry& entry = choose_entry(make_query(call.op, call.args, call.types));
    if (profiling()) note_kernel(entry.name);
    entry.run_call(call, outputs);
  }

  bool claims(const Op& op, Args args, Types& types) const override {
    return claiming_entry(op, args, types) != nullptr;
  }

  Bits bits(const Call& call) const override {
    return promised_bits(make_query(call.op, call.args, call.types));
  }

  void write(Tensor& dst, const Tensor& value) override {
    std::optional<Span> span;
    if (profiling()) span_of_write(dst, value, span.emplace(SpanKind::op, "write", here()));
    Storage& storage = *dst.impl()->storage;
    Operand from = operand(value), to = operand(dst);
    if (from.shape != to.shape) from = broadcast_to(from, to.shape);
    bool on_host = dst.device() == Device{} && value.device() == Device{};  // nothing to wait for
    Uncancellable until_all_is_written;  // what is written has its old elements, or its new ones
    if (on_host)
      own::convert(from, to);
    else
      submit(dst.device(), {dst, value}, {dst}, [=] { own::convert(from, to); });
    storage.written();
  }
};

}  // namespace

Backend& executor() {
  static auto& backend = *new Executor;
  return backend;
}

void install_executor() {
  set_default_backend(&executor());
  set_shortcut_finder(own::find_shortcut);
  set_item_names(Flag::disabled, entry_names);
}

}  // namespace lathe
