#include "core/dispatch/custom.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <mutex>
#include <shared_mutex>

#include "core/base/error.h"
#include "core/sizes/real.h"

namespace lathe {
namespace {

/// Never destroyed, and nothing is ever taken out: ops are handed out freely.
struct Implementations {
  std::shared_mutex mutex;
  absl::flat_hash_map<const Op*, std::shared_ptr<const CustomOp>> by_op;
};
Implementations& implementations() {
  static auto& all = *new Implementations;
  return all;
}

/// What its author's gradient gives is checked as a kernel's results are: a gradient of another
/// shape would be summed or stored without a word.
Grads gradient_of(Grad g) {
  Grads out = custom_of(g.op())->gradient(g);
  for (int i = 0; i < g.slots() && static_cast<size_t>(i) < out.size(); ++i) {
    const Tensor& t = out[static_cast<size_t>(i)];
    if (!t.defined() || !g.wants(i)) continue;
    const TensorType have = type_of(t), &want = g.type(i);
    if (have.dtype == want.dtype && have.device == want.device && have.shape == want.shape)
      continue;
    const std::string& name = g.op().schema.params[static_cast<size_t>(i)].name;
    throw ShapeError(
        {.op = g.op().name(),
         .problem = absl::StrCat("the gradient for '", name, "' is not like '", name, "'"),
         .got = to_string(have),
         .expected = to_string(want),
         .next = "sum it to the argument's shape and convert it to its dtype, or "
                 "return None"});
  }
  return out;
}

/// The result types that the author's rule gives. A rule that asks for the number of a float, or
/// compares it, may give others for other numbers, and whoever has the graph asks again: the floats
/// of such a call become literals of its node, and the trace a program for these numbers.
Types infer_custom(const Op& op, const CustomOp& custom, Args args) {
  const RealScope* scope = RealScope::current();
  const size_t asked = scope == nullptr ? 0 : scope->questions();
  Types types = custom.infer(op, args);
  if (scope == nullptr || scope->questions() == asked) return types;
  for (const Arg& a : args) {
    if (a.tag == Tag::real) a.real().value();
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i)
      if (a.list_->data[i].tag == Tag::real) a.list_->data[i].real().value();
  }
  return types;
}

[[noreturn]] void unfit(const Schema& schema, std::string problem, std::string_view next) {
  throw ValueError({.op = schema.name,
                    .problem = std::move(problem),
                    .got = schema.text,
                    .expected = "a schema such as f(Tensor x, int n=1) -> Tensor",
                    .next = std::string(next)});
}

void check_schema(const Schema& schema) {
  for (const Param& p : schema.params) {
    if (p.type == ArgType::function)
      unfit(schema, absl::StrCat("a custom op takes no functions: '", p.name, "'"),
            "let the kernel know the function");
    if (p.type == ArgType::tensor && p.list)
      unfit(schema, absl::StrCat("a custom op takes no lists of tensors: '", p.name, "'"),
            "stack() the tensors, or give each a parameter");
    if (p.written)
      unfit(schema, absl::StrCat("a custom op writes to nothing it is given: '", p.name, "'"),
            "return the new value; the caller may copy_() it back");
  }
  for (const Result& r : schema.results)
    if (r.list) unfit(schema, "a custom op returns no lists", "name each result");
  if (schema.results.empty()) unfit(schema, "a custom op returns something", "add -> Tensor");
}

}  // namespace

const Op& define_custom(const CustomDefinition& row,
                        std::shared_ptr<const CustomOp> implementation) {
  check_schema(parse_schema(row.schema));
  const auto& doc = *new std::string(row.doc);  // lives as long as the definition: for ever
  const Op* made = nullptr;
  define_ops([&](Definitions& rows) {
    Extra extra{.version = row.version, .doc = doc};
    extra.no_grad = !row.has_gradient;
    if (row.has_gradient) {
      extra.saves = row.saves;
      extra.grad = gradient_of;
    }
    Op& op = rows.opaque(row.schema, nullptr, extra);
    op.extra.infer = [&op, implementation](Args args) {
      return infer_custom(op, *implementation, args);
    };
    made = &op;
    Implementations& all = implementations();
    const std::lock_guard lock(all.mutex);
    all.by_op[made] = std::move(implementation);
  });
  return *made;
}

Saves saves_named(const Schema& schema, std::string_view names) {
  Saves out;
  for (std::string_view name : absl::StrSplit(names, absl::ByAnyChar(" ,"), absl::SkipEmpty())) {
    int i = schema.find(name);
    if (i >= 0) {
      out = out | save_x(i);
      continue;
    }
    bool found = false;
    for (size_t k = 0; k < schema.results.size(); ++k)
      if (name == (schema.results[k].name.empty() ? "result" : schema.results[k].name)) {
        out = out | save_y(static_cast<int>(k));
        found = true;
      }
    if (!found)
      throw NameError({.op = schema.name,
                       .problem = "`saves` names neither an argument nor a result",
                       .got = std::string(name),
                       .expected = schema.text,
                       .next = "name arguments, and results (\"result\" where there is no name)"});
  }
  return out;
}

const CustomOp* custom_of(const Op& op) {
  if (op.kind != Kind::opaque) return nullptr;
  Implementations& all = implementations();
  const std::shared_lock lock(all.mutex);
  auto it = all.by_op.find(&op);
  return it == all.by_op.end() ? nullptr : it->second.get();
}

}  // namespace lathe
