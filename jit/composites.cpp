#include "jit/composites.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <deque>
#include <utility>

#include "jit/repeated_calls.h"
#include "kernels/table/table.h"

namespace lathe::jit {
namespace {

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

/// False: no call like this one runs as a program.
bool take(const Op& op, Args args, CallKey& key) {
  key.words.push_back(op.id | uint64_t{thread_state().grad_enabled} << 32);
  for (size_t i = 0; i < args.size(); ++i) {
    // Sizes are inputs of the program: only how many there are is of the kind.
    const bool taken = is_input(op, i, args[i]) && args[i].tag == Tag::list
                           ? key.mark(args[i].list_->size, true)
                           : key.take(args[i]);
    if (!taken) return false;
  }
  return key.tensors > 0;
}

/// The expansion on these inputs.
ir::Data expanded(const Op& op, Args args, const ir::Data& in) {
  absl::InlinedVector<Arg, 8> given(args.begin(), args.end());
  std::deque<std::pair<std::vector<Arg>, ArgList>> lists;  // stay where they are
  size_t next = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!is_input(op, i, given[i])) continue;
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
  for (Tensor& t : expand(op, absl::MakeConstSpan(given))) out.emplace_back(std::move(t));
  return out;
}

bool run(CallsOfAKind& kind, const Op& op, Args args, Outputs& outputs) {
  ir::Data inputs;
  inputs.reserve(args.size());
  each_input(op, args, [&](const Arg& a, size_t, int) { inputs.emplace_back(a); });
  const auto names = [&] {
    std::vector<std::string> all;
    each_input(op, args, [&](const Arg&, size_t i, int k) {
      const std::string& name = op.schema.params[i].name;
      all.push_back(k < 0 ? name : absl::StrCat(name, "_", k));
    });
    return all;
  };
  const auto results =
      kind.run(inputs, names, [&](const ir::Data& in) { return expanded(op, args, in); });
  if (!results) return false;
  for (const ir::Datum& d : *results) outputs.push_back(d.tensor());
  return true;
}

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

RepeatedCalls& known() {
  static auto& all = *new RepeatedCalls;
  return all;
}

thread_local CompositeChoices* t_choices = nullptr;

/// `wanted`: whatever it was called before.
bool run_now(const Op& op, Args args, Outputs& outputs, bool wanted) {
  RepeatedCalls& all = known();
  if (all.off(op)) return false;
  const std::optional<int64_t> after = fuse_after();
  // An entry that takes a part of the expansion whole would not be asked.
  if (!after || !entries(Kind::composite).empty()) return false;
  CallKey key;
  if (!take(op, args, key)) return false;
  CallsOfAKind* kind = all.find(op.id, key.words, op.public_name());
  if (kind == nullptr || !kind->due(wanted ? 0 : *after) || writes_what_it_reads(op, args))
    return false;
  if (!kind->served() && !suits(op)) {
    all.turn_off(op);
    return false;
  }
  return run(*kind, op, args, outputs);
}

Tensors tensors_of(const ir::Data& data) {
  Tensors out;
  for (const ir::Datum& d : data) out.push_back(d.tensor());
  return out;
}

RepeatedCalls& known_loops() {
  static auto& all = *new RepeatedCalls;
  return all;
}

std::optional<Tensors> run_loop_now(std::string_view name, const Tensors& inputs,
                                    absl::FunctionRef<Tensors(const Tensors&)> body, bool wanted) {
  const std::optional<int64_t> after = fuse_after();
  if (!after) return std::nullopt;
  CallKey key;
  key.words.push_back(uint64_t{thread_state().grad_enabled} << 32);
  key.take(name);
  for (const Tensor& t : inputs) {
    if (t.impl()->view) refresh(t);
    if (!key.take(t.impl())) return std::nullopt;
  }
  CallsOfAKind* kind = known_loops().find(0, key.words, name);
  if (kind == nullptr || !kind->due(wanted ? 0 : *after)) return std::nullopt;
  const auto names = [&] {
    std::vector<std::string> all;
    for (size_t i = 0; i < inputs.size(); ++i) all.push_back(absl::StrCat("x", i));
    return all;
  };
  const auto results =
      kind->run(ir::Data(inputs.begin(), inputs.end()), names, [&](const ir::Data& in) {
        const Tensors made = body(tensors_of(in));
        return ir::Data(made.begin(), made.end());
      });
  if (!results) return std::nullopt;
  return tensors_of(*results);
}

/// Is this call, which `run` is, a program's? What was chosen before, where that is followed.
bool choose(absl::FunctionRef<bool(bool wanted)> run) {
  CompositeChoices* choices = t_choices;
  if (choices == nullptr) return run(false);
  if (choices->follows) return choices->take() && run(true);
  const bool ran = run(false);
  choices->programs.push_back(ran);
  return ran;
}

}  // namespace

bool run_composite(const Op& op, Args args, Outputs& outputs) {
  return choose([&](bool wanted) { return run_now(op, args, outputs, wanted); });
}

std::optional<Tensors> run_loop(std::string_view name, const Tensors& inputs,
                                absl::FunctionRef<Tensors(const Tensors&)> body) {
  std::optional<Tensors> out;
  const ThreadState& state = thread_state();
  if (state.backend != nullptr || state.observers != nullptr) return out;
  choose([&](bool wanted) {
    out = run_loop_now(name, inputs, body, wanted);
    return out.has_value();
  });
  return out;
}

CompositeChoices* set_choices(CompositeChoices* choices) {
  return std::exchange(t_choices, choices);
}

std::string composites_text() { return absl::StrCat(known().text(), known_loops().text()); }

}  // namespace lathe::jit
