#include "core/dispatch/callback.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/infer/rules.h"

namespace lathe {
namespace {

constexpr std::string_view kPure = "callback", kOrdered = "ordered_callback";
constexpr int kFunction = 0, kTensors = 1, kSizes = 2;  // arguments

Types infer_callback(Args args) {
  const Shape sizes = args.ints(kSizes);
  Types types;
  size_t at = 0;
  for (const HostFunction::Declared& d : args[kFunction].function_->results) {
    const auto rank = static_cast<size_t>(d.rank);
    LATHE_CHECK(at + rank <= sizes.size());
    types.push_back({d.dtype, Shape(sizes.begin() + at, sizes.begin() + at + rank), d.device});
    at += rank;
    for (Int s : types.back().shape)
      if (!require(Relation::le, Int(0), s))
        throw ShapeError({.op = std::string(kPure),
                          .problem = "a result is declared with a negative size",
                          .got = to_string(types.back()),
                          .expected = "sizes of 0 or more",
                          .next = "mend what `result` says"});
  }
  return types;
}

[[noreturn]] void no_derivative(const HostFunction& f) {
  throw AutogradError({.op = std::string(kPure),
                       .problem = "a gradient is asked for through a function of Python's that has "
                                  "no derivative",
                       .got = f.name,
                       .expected = "a function with vjp=, or an argument without history",
                       .next = "pass vjp=, or detach() the arguments"});
}

/// By slot: the function, each tensor, the sizes.
Grads callback_gradient(Grad g) {
  const HostFunction& f = *g.arg(kFunction).function_;
  const std::shared_ptr<const HostFunction> derivative = f.derivative();
  if (derivative == nullptr) no_derivative(f);
  Tensors given;
  Shape sizes;
  std::vector<int> asked;  // slots of the results
  for (int i = kTensors; i < g.slots() - 1; ++i) {
    given.push_back(g.x(i));
    if (!differentiable.has(g.dtype(i))) continue;
    sizes.insert(sizes.end(), g.shape(i).begin(), g.shape(i).end());
    asked.push_back(i);
  }
  const auto results = static_cast<int>(f.results.size());
  for (int k = 0; k < results; ++k) given.push_back(g.y(k));
  for (int k = 0; k < results; ++k) given.push_back(g.dy(k));
  Outputs made = call_host(*derivative, given, sizes, false);
  Grads out(static_cast<size_t>(g.slots()));
  for (size_t i = 0; i < asked.size(); ++i) out[static_cast<size_t>(asked[i])] = made[i];
  return out;
}

const Op& definition(HostCall how) {
  static const auto& both = *[] {
    auto* made = new std::pair<const Op*, const Op*>;
    define_ops([&](Definitions& rows) {
      Extra extra{.saves = {~0u, ~0u},
                  .grad = callback_gradient,
                  .places = kNowhere,
                  .moves = true,
                  .host = HostCall::pure,
                  .doc = "What a function of Python's makes of the tensors."};
      constexpr std::string_view kArguments = "(Function f, Tensor[] xs, int[] sizes) -> Tensor[]";
      made->first = &rows.opaque(absl::StrCat(kPure, kArguments), infer_callback, extra);
      extra.host = HostCall::ordered;
      made->second = &rows.opaque(absl::StrCat(kOrdered, kArguments), infer_callback, extra);
    });
    return made;
  }();
  return how == HostCall::pure ? *both.first : *both.second;
}

}  // namespace

static constinit thread_local uint64_t t_ordered_calls = 0;
uint64_t ordered_calls() { return t_ordered_calls; }
void note_ordered_call() { ++t_ordered_calls; }
void forget_ordered_call() { --t_ordered_calls; }
UnseenCalls::~UnseenCalls() { t_ordered_calls = before_; }

const Op* callback_op(std::string_view name) {
  if (name == kPure) return &definition(HostCall::pure);
  return name == kOrdered ? &definition(HostCall::ordered) : nullptr;
}

Outputs call_host(const HostFunction& f, const Tensors& xs, IntSpan sizes, bool ordered) {
  ArgBuilder args;
  args.push(Arg(f));
  args.push(xs);
  args.push(sizes);
  return call(definition(ordered ? HostCall::ordered : HostCall::pure), args.args());
}

}  // namespace lathe
