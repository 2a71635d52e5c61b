// What Lathe does for a custom op while one of its functions runs: the services of
// include/lathe/custom_op.h, each a look into the call (kernels/custom/call.h).
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "kernels/custom/call.h"

namespace lathe {
namespace {

// ── services ────────────────────────────────────────────────────────────────────────────────────

/// Runs a service; a failure is kept, and `failed` is the answer.
template <class R, class F>
R served(lathe_op_call* c, R failed, F f) noexcept {
  try {
    return f();
  } catch (...) {
    if (!c->error) c->error = std::current_exception();
    return failed;
  }
}

}  // namespace

void misused(const lathe_op_call* c, std::string_view problem, std::string got) {
  throw ValueError({.op = c->op->name(),
                    .problem = std::string(problem),
                    .got = std::move(got),
                    .expected = c->op->schema.text,
                    .next = "mend the op's own code",
                    .site = c->site});
}

namespace {

const Arg& argument(const lathe_op_call* c, int32_t i) {
  if (i < 0 || static_cast<size_t>(i) >= c->args.size())
    misused(c, "the op asks for an argument that it does not have", absl::StrCat("argument ", i));
  return c->args[static_cast<size_t>(i)];
}

/// Type of a tensor argument; in a gradient those have no tensors, only types.
const TensorType* tensor_type(lathe_op_call* c, int32_t i, TensorType& room) {
  const Arg& a = argument(c, i);
  if (c->grad != nullptr) {
    bool is_tensor = c->op->schema.params[static_cast<size_t>(i)].type == ArgType::tensor;
    return is_tensor && i < c->grad->slots() ? &c->grad->type(i) : nullptr;
  }
  if (a.tag != Tag::tensor) return nullptr;
  room = type_of(a.tensor());
  return &room;
}

int32_t is_none(lathe_op_call* c, int32_t i) {
  return served<int32_t>(c, 1, [&] {
    TensorType room;
    return argument(c, i).none() && tensor_type(c, i, room) == nullptr;
  });
}
int32_t dtype_of(lathe_op_call* c, int32_t i) {
  return served<int32_t>(c, -1, [&] {
    TensorType room;
    const TensorType* t = tensor_type(c, i, room);
    return t == nullptr ? -1 : static_cast<int32_t>(t->dtype);
  });
}
int32_t rank_of(lathe_op_call* c, int32_t i) {
  return served<int32_t>(c, -1, [&] {
    TensorType room;
    const TensorType* t = tensor_type(c, i, room);
    return t == nullptr ? -1 : static_cast<int32_t>(t->shape.size());
  });
}
int32_t size_of_axis(lathe_op_call* c, int32_t i, int32_t axis, lathe_op_size* out) {
  return served<int32_t>(c, 0, [&] {
    TensorType room;
    const TensorType* t = tensor_type(c, i, room);
    if (t == nullptr) misused(c, "the op asks for the size of no tensor", absl::StrCat(i));
    int at = size_axis(c->op->name(), axis, static_cast<int>(t->shape.size()));
    *out = t->shape[static_cast<size_t>(at)].word();
    return 1;
  });
}
int32_t integer(lathe_op_call* c, int32_t i, lathe_op_size* out) {
  return served<int32_t>(c, 0, [&] {
    const Arg& a = argument(c, i);
    if (a.tag == Tag::flag)
      *out = Int(a.flag_ ? 1 : 0).word();
    else if (a.tag == Tag::integer)
      *out = a.integer().word();
    else
      misused(c, "the op reads an integer where there is none", to_string(a));
    return 1;
  });
}
int32_t real(lathe_op_call* c, int32_t i, double* out) {
  return served<int32_t>(c, 0, [&] {
    if (!argument(c, i).scalar())
      misused(c, "the op reads a number where there is none", to_string(argument(c, i)));
    *out = c->args.real(i).value();
    return 1;
  });
}
int32_t text(lathe_op_call* c, int32_t i, const char** out) {
  return served<int32_t>(c, 0, [&] {
    if (argument(c, i).tag != Tag::text)
      misused(c, "the op reads a text where there is none", to_string(argument(c, i)));
    *out = argument(c, i).text_;
    return 1;
  });
}

lathe_op_size from_number(lathe_op_call* c, int64_t v) {
  return served<lathe_op_size>(c, Int(0).word(), [&] { return Int(v).word(); });
}
int32_t number(lathe_op_call* c, lathe_op_size s, int64_t* out) {
  return served<int32_t>(c, 0, [&] {
    *out = Int::from_word(s).value();
    return 1;
  });
}
Int combined(lathe_op_call* c, char operation, Int a, Int b) {
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return floor_div(a, b);
    case '%':
      return mod(a, b);
    default:
      misused(c, "sizes have no such operation", std::string(1, operation));
  }
}
int32_t combine(lathe_op_call* c, char operation, lathe_op_size a, lathe_op_size b,
                lathe_op_size* out) {
  return served<int32_t>(c, 0, [&] {
    *out = combined(c, operation, Int::from_word(a), Int::from_word(b)).word();
    return 1;
  });
}
Relation relation_of(lathe_op_call* c, char relation) {
  switch (relation) {
    case '=':
      return Relation::eq;
    case '!':
      return Relation::ne;
    case '<':
      return Relation::lt;
    case '[':
      return Relation::le;
    default:
      misused(c, "sizes have no such relation", std::string(1, relation));
  }
}
int32_t holds(lathe_op_call* c, char relation, lathe_op_size a, lathe_op_size b, int32_t* out) {
  return served<int32_t>(c, 0, [&] {
    *out = decide(relation_of(c, relation), Int::from_word(a), Int::from_word(b));
    return 1;
  });
}

std::string given(const lathe_op_call* c) {
  std::string out;
  for (const Arg& a : c->args)
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    a.tag == Tag::tensor ? to_string(type_of(a.tensor())) : to_string(a));
  return out;
}

int32_t require_holds(lathe_op_call* c, char relation, lathe_op_size a, lathe_op_size b) {
  return served<int32_t>(c, 0, [&] {
    Int x = Int::from_word(a), y = Int::from_word(b);
    if (!require(relation_of(c, relation), x, y))
      throw ShapeError({.op = c->op->name(),
                        .problem = "the sizes of the arguments do not fit together",
                        .got = given(c),
                        .expected = absl::StrCat(to_string(x), relation == '[' ? " <= " : " ",
                                                 relation == '[' ? "" : std::string(1, relation),
                                                 relation == '[' ? "" : " ", to_string(y)),
                        .next = "look at the op's documentation",
                        .site = c->site});
    return 1;
  });
}

int32_t result(lathe_op_call* c, int32_t index, int32_t dtype, int32_t rank,
               const lathe_op_size* sizes) {
  return served<int32_t>(c, 0, [&] {
    if (index < 0 || static_cast<size_t>(index) >= c->op->schema.results.size())
      misused(c, "the op gives a result that it does not have", absl::StrCat("result ", index));
    if (dtype < 0 || dtype >= kDTypeCodes || !info(static_cast<DType>(dtype)).tensor)
      misused(c, "the op gives an unknown dtype", absl::StrCat(dtype));
    TensorType t{static_cast<DType>(dtype), {}, {}};
    for (int32_t k = 0; k < rank; ++k) t.shape.push_back(Int::from_word(sizes[k]));
    for (Int s : t.shape)
      if (!require(Relation::le, Int(0), s)) misused(c, "a negative size", to_string(t.shape));
    c->types.resize(std::max(c->types.size(), static_cast<size_t>(index) + 1));
    c->types[static_cast<size_t>(index)] = std::move(t);
    return 1;
  });
}

const void* input(lathe_op_call* c, int32_t i, int64_t* count) {
  *count = -1;
  return served<const void*>(c, nullptr, [&]() -> const void* {
    if (c->inputs == nullptr || argument(c, i).tag != Tag::tensor)
      misused(c, "the op reads elements where there are none", absl::StrCat("argument ", i));
    const Tensor& t = (*c->inputs)[static_cast<size_t>(i)];
    *count = t.numel().value();
    return t.address();
  });
}
void* output(lathe_op_call* c, int32_t k, int64_t* count) {
  auto asked = static_cast<int32_t>(*count);
  *count = -1;
  return served<void*>(c, nullptr, [&]() -> void* {
    if (c->outputs == nullptr || k < 0 || static_cast<size_t>(k) >= c->outputs->size())
      misused(c, "the op writes a result that it does not have", absl::StrCat("result ", k));
    const Tensor& t = (*c->outputs)[static_cast<size_t>(k)];
    if (static_cast<int32_t>(t.dtype()) != asked)
      misused(c, "the kernel writes another dtype than its shape rule gave",
              std::string(name(t.dtype())));
    *count = t.numel().value();
    return t.address();
  });
}
void* scratch(lathe_op_call* c, uint64_t bytes) {
  return served<void*>(c, nullptr, [&]() -> void* {
    c->scratches.push_back(new_storage(Device{}, std::max<uint64_t>(bytes, 1)));
    return c->scratches.back()->data;
  });
}

lathe_op_tensor hold(lathe_op_call* c, Tensor t) {
  c->tensors.push_back(std::move(t));
  return static_cast<lathe_op_tensor>(c->tensors.size());
}
const Tensor& held(const lathe_op_call* c, lathe_op_tensor t) {
  if (t == 0 || t > c->tensors.size())
    misused(c, "the gradient names a tensor that is none", absl::StrCat(t));
  return c->tensors[t - 1];
}
const Grad& grad(const lathe_op_call* c) {
  if (c->grad == nullptr) misused(c, "only a gradient can ask this", "");
  return *c->grad;
}
lathe_op_tensor dy(lathe_op_call* c, int32_t k) {
  return served<lathe_op_tensor>(c, 0, [&] { return hold(c, grad(c).dy(k)); });
}
lathe_op_tensor x(lathe_op_call* c, int32_t i) {
  return served<lathe_op_tensor>(c, 0, [&] {
    if ((c->op->extra.saves.inputs >> i & 1) == 0)
      misused(c, "the gradient reads an argument that `saves` does not name", absl::StrCat(i));
    return hold(c, grad(c).x(i));
  });
}
lathe_op_tensor y(lathe_op_call* c, int32_t k) {
  return served<lathe_op_tensor>(c, 0, [&] {
    if ((c->op->extra.saves.outputs >> k & 1) == 0)
      misused(c, "the gradient reads a result that `saves` does not name", absl::StrCat(k));
    return hold(c, grad(c).y(k));
  });
}
int32_t wants(lathe_op_call* c, int32_t i) {
  return served<int32_t>(c, 0,
                         [&] { return i >= 0 && i < grad(c).slots() && grad(c).wants(i) ? 1 : 0; });
}

Arg to_arg(const lathe_op_call* c, const lathe_op_value& v, std::deque<std::vector<Arg>>& items,
           std::deque<ArgList>& lists) {
  switch (v.tag) {
    case LATHE_OP_NONE:
      return {};
    case LATHE_OP_TENSOR:
      return held(c, v.as.tensor);
    case LATHE_OP_INT:
      return Int::from_word(v.as.integer);
    case LATHE_OP_REAL:
      return v.as.real;
    case LATHE_OP_BOOL:
      return v.as.flag != 0;
    case LATHE_OP_TEXT:
      return v.as.text;
    case LATHE_OP_INTS: {
      std::vector<Arg>& list = items.emplace_back();
      for (uint32_t i = 0; i < v.count; ++i) list.push_back(Int::from_word(v.as.integers[i]));
      return lists.emplace_back(ArgList{list.data(), list.size()});
    }
    default:
      misused(c, "an argument of an unknown kind", absl::StrCat(v.tag));
  }
}
lathe_op_tensor call_op(lathe_op_call* c, const char* op, const lathe_op_value* arguments,
                        int32_t count, int32_t result) {
  return served<lathe_op_tensor>(c, 0, [&] {
    std::deque<std::vector<Arg>> items;
    std::deque<ArgList> lists;
    std::vector<Arg> args;
    for (int32_t i = 0; i < count; ++i) args.push_back(to_arg(c, arguments[i], items, lists));
    const Op& called = get_op(op);
    Outputs out = call(called, CompletedArgs(called, args));
    if (result < 0 || static_cast<size_t>(result) >= out.size())
      misused(c, "the op that was called has no such result", absl::StrCat(op, " ", result));
    return hold(c, out[static_cast<size_t>(result)]);
  });
}
int32_t gradient(lathe_op_call* c, int32_t i, lathe_op_tensor t) {
  return served<int32_t>(c, 0, [&] {
    if (i < 0 || i >= grad(c).slots()) misused(c, "no such argument", absl::StrCat(i));
    c->grads[static_cast<size_t>(i)] = held(c, t);
    return 1;
  });
}

int32_t fail(lathe_op_call* c, const char* problem) {
  served<int32_t>(c, 1, [&]() -> int32_t {
    throw ValueError({.op = c->op->name(),
                      .problem = problem == nullptr ? "it failed" : problem,
                      .got = c->grad == nullptr ? given(c) : "in its gradient",
                      .expected = c->op->schema.text,
                      .next = "the text is the op's own: see its documentation",
                      .site = c->site});
  });
  return 1;
}

constexpr lathe_op_services kServices = {
    sizeof(lathe_op_services),
    LATHE_OPS_ABI,
    is_none,
    dtype_of,
    rank_of,
    size_of_axis,
    integer,
    real,
    text,
    from_number,
    number,
    combine,
    holds,
    require_holds,
    result,
    input,
    output,
    scratch,
    dy,
    x,
    y,
    wants,
    call_op,
    gradient,
    fail,
};

}  // namespace

void run_function(lathe_op_function f, lathe_op_call& c) {
  int32_t failed = f(&kServices, &c);
  if (c.error) std::rethrow_exception(c.error);
  if (failed != 0) fail(&c, "it failed without saying why");
  if (c.error) std::rethrow_exception(c.error);
}

}  // namespace lathe
