#include "graph/ir/arguments.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/call.h"

namespace lathe::ir {

// ── filling ─────────────────────────────────────────────────────────────────────────────────────
namespace {

Arg changed(const Arg& a, const std::function<Int(Int)>* change) {
  if (change == nullptr || a.tag != Tag::integer || a.integer().known()) return a;
  return Arg((*change)(a.integer()));
}

}  // namespace

Filled fill(const ArgVec& attrs, absl::Span<const Place> places, absl::Span<const Arg> values,
            const std::function<Int(Int)>* change) {
  Filled out;
  for (size_t i = 0; i < attrs.size(); ++i) {
    const Arg& a = attrs[i];
    if (a.tag != Tag::list) {
      out.args_.push_back(changed(a, change));
      continue;
    }
    auto& items = out.items_.emplace_back(a.list_->data, a.list_->data + a.list_->size);
    for (Arg& item : items) item = changed(item, change);
    out.lists_.push_back({items.data(), items.size()});
    out.args_.push_back(Arg(out.lists_.back()));
  }
  for (size_t i = 0; i < places.size(); ++i) out.at(places[i]) = values[i];
  return out;
}

void for_each_int(const ArgVec& attrs, const std::function<void(Int)>& visit) {
  const auto one = [&](const Arg& a) {
    if (a.tag == Tag::integer) visit(a.integer());
  };
  for (const Arg& a : attrs.view()) {
    one(a);
    if (a.tag == Tag::list) std::for_each(a.list_->data, a.list_->data + a.list_->size, one);
  }
}

Arg& Filled::at(const Place& place) {
  LATHE_CHECK(place.param < args_.size());
  Arg& arg = args_[place.param];
  if (place.element < 0) return arg;
  LATHE_CHECK(arg.tag == Tag::list && static_cast<size_t>(place.element) < arg.list_->size);
  return const_cast<Arg*>(arg.list_->data)[place.element];  // ours: it points into items_
}

// ── inference ───────────────────────────────────────────────────────────────────────────────────

Tensor stand_in(const TensorType& type) {
  auto* impl = new TensorImpl;
  Tensor t(impl);
  impl->dtype = type.dtype;
  impl->device = type.device;
  impl->geometry = Geometry::contiguous(type.shape);
  impl->symbol.epoch = ~uint64_t{0};
  return t;
}

namespace {

/// What inference needs to know of a value: a tensor's type, a number's kind.
Arg placeholder(const Type& type, Tensors& held) {
  if (const TensorType* t = type.tensor()) {
    held.push_back(stand_in(*t));
    return Arg(held.back());
  }
  if (const Scalar* s = type.scalar()) {
    switch (s->kind) {
      case ScalarKind::integer:
        return Arg(s->value.value_or(Int(1)));
      case ScalarKind::real:
        return Arg(0.5);
      case ScalarKind::flag:
        return Arg(true);
    }
  }
  if (std::holds_alternative<Text>(type.is)) return Arg("");
  if (std::holds_alternative<None>(type.is)) return Arg();
  throw TypeError(
      {.problem = "a value of this type cannot be an argument of an op", .got = to_string(type)});
}

/// What `ask` says of the arguments, with something of each type in the place of values.
template <class Ask>
auto with_placeholders(const ArgVec& attrs, absl::Span<const Place> places, const Values& in,
                       const Ask& ask) {
  Tensors held;
  std::vector<Arg> values;
  for (Value* v : in) values.push_back(placeholder(v->type(), held));
  const Filled filled = fill(attrs, places, values);
  return ask(filled.args());
}

TypeList infer_parts(const Op& op, const ArgVec& attrs, absl::Span<const Place> places,
                     const Values& in) {
  return with_placeholders(attrs, places, in, [&](Args args) {
    TypeList out;
    if (auto kind = scalar_result(op, args)) {
      out.push_back(Scalar{*kind});
      return out;
    }
    for (TensorType& t : op.infer(args)) out.push_back(std::move(t));
    return out;
  });
}

}  // namespace

bool claimed(const Op& op, const Operands& operands) {
  return with_placeholders(operands.attrs, operands.places, operands.in, [&](Args args) {
    Types types;
    return current_backend().claims(op, args, types);
  });
}

Bits promised(const Node& node) {
  Types types;
  for (const Value* v : node.out()) types.push_back(v->tensor());
  return with_placeholders(node.attrs(), node.places(), node.in(), [&](Args args) {
    return current_backend().bits({*node.op(), args, types});
  });
}

TypeList infer(const Op& op, const Operands& operands) {
  return infer_parts(op, operands.attrs, operands.places, operands.in);
}

TypeList infer(const Node& node) {
  return infer_parts(*node.op(), node.attrs(), node.places(), node.in());
}

Node* add_inferred(Graph& graph, const Op& op, Operands operands, Site site) {
  TypeList types = infer(op, operands);
  return graph.add(op, std::move(operands), std::move(types), site);
}

// ── completing a call ───────────────────────────────────────────────────────────────────────────
namespace {

/// `given` as Args, with stand-ins for values; `lists` own what the Args point to.
struct AsArgs {
  Tensors held;
  std::deque<std::vector<Arg>> items;
  std::deque<ArgList> lists;

  Arg convert(const Given& g) {
    if (g.value != nullptr) return placeholder(g.value->type(), held);
    if (!g.is_list) return g.literal;
    auto& list = items.emplace_back();
    for (const Given& item : g.list) {
      if (item.is_list)
        throw TypeError({.problem = "a list inside a list is no argument of an op"});
      list.push_back(convert(item));
    }
    lists.push_back({list.data(), list.size()});
    return Arg(lists.back());
  }
};

void push_completed(Operands& out, const Given* given, const Arg& completed) {
  if (given == nullptr || (given->value == nullptr && !given->is_list)) {
    out.push(Operands::Item(completed));
    return;
  }
  if (completed.tag != Tag::list) {
    LATHE_CHECK(given->value != nullptr);
    out.push(given->value);
    return;
  }
  // A single value may have been widened to a list, and a list of one to the size wanted.
  std::vector<Operands::Item> items;
  for (size_t i = 0; i < completed.list_->size; ++i) {
    const Given* item = given;
    if (given->is_list) item = &given->list[std::min(i, given->list.size() - 1)];
    if (item->value != nullptr)
      items.push_back(item->value);
    else
      items.push_back(completed.list_->data[i]);
  }
  out.push_list(items);
}

}  // namespace

Operands complete(const Op& op, absl::Span<const Given> given) {
  AsArgs as_args;
  std::vector<Arg> positional;
  std::vector<NamedArg> named;
  for (const Given& g : given) {
    Arg a = as_args.convert(g);
    if (!g.name.empty()) {
      named.push_back({g.name, a});
    } else if (!named.empty()) {
      throw TypeError({.op = op.name(), .problem = "a positional argument follows a named one"});
    } else {
      positional.push_back(a);
    }
  }
  absl::InlinedVector<Arg, 8> full;
  ArgVec pool;
  complete_call(op.schema, positional, named, full, pool);
  Operands out;
  for (size_t i = 0; i < full.size(); ++i) {
    const Given* from = i < positional.size() ? &given[i] : nullptr;
    for (const Given& g : given)
      if (!g.name.empty() && g.name == op.schema.params[i].name) from = &g;
    push_completed(out, from, full[i]);
  }
  return out;
}

}  // namespace lathe::ir
