#include "core/op/op.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "core/base/asked.h"
#include "core/base/checks.h"
#include "core/base/error.h"

namespace lathe {

std::string_view name(Kind kind) {
  // Each excuse stands on the line it is for.
  // clang-format off
  constexpr std::string_view kNames[kKinds] = {
      "elementwise", "reduce", "scan", "contract",
      "view",   // not an op: a kind
      "index",
      "sort",   // not an op: a kind
      "create", "random", "opaque", "composite"};  // not an op: a kind
  // clang-format on
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(Bits bits) {
  constexpr std::string_view kNames[] = {"defined", "pinned", "free"};
  return kNames[static_cast<size_t>(bits)];
}

namespace {

struct CheckText {
  std::string_view message, expected, advice;
};
constexpr CheckText kChecks[] = {
    {"a checked condition failed", "the condition that the op states",
     "look at the op's documentation"},
    {"integer division by zero", "a divisor other than 0",
     "replace the zeros first, as in where(y == 0, 1, y)"},
    {"an integer to a negative power", "exponents of 0 or more", "convert the base to a float"},
    {"the integer does not fit", "a value in the range of the dtype",
     "compute with floats, or with numbers that stay in range"},
    {"a probability outside of [0, 1]", "probabilities from 0 to 1",
     "take sigmoid() of logits, or clamp(0, 1)"},
    {"a standard deviation below 0", "0 or more", "pass the root of the variance"},
    {"a rate below 0", "0 or more", "take exp() of logarithms, or clamp_min(0)"},
    {"a weight that is negative or not finite", "finite weights of 0 or more",
     "take softmax() of logits"},
    {"there are not as many categories with a weight above 0 as samples", "one for each sample",
     "pass replacement=True, or draw fewer"},
    {"an integer of a script does not fit in 64 bits", "integers from -2**63 to 2**63 - 1",
     "compute with float(n) where it is large, or call the function without lathe.script"},
    {"an integer of a script beyond 2**53 is divided, whose quotient floats round",
     "integers from -2**53 to 2**53", "divide float(n), or use // for whole quotients"},
    {"a variance below 0", "0 or more", "take exp() or softplus() of what a network gives"},
};

const CheckText& check_text(uint32_t code) { return kChecks[code < std::size(kChecks) ? code : 0]; }

}  // namespace

std::string_view check_message(uint32_t code) { return check_text(code).message; }
std::string_view check_expected(uint32_t code) { return check_text(code).expected; }
std::string_view check_advice(uint32_t code) { return check_text(code).advice; }

void throw_check(std::string op, uint32_t code, std::string_view index, Site site) {
  const CheckText& text = check_text(code);
  ErrorParts parts{.op = std::move(op),
                   .problem = std::string(text.message),
                   .got = absl::StrCat("at element [", index, "]"),
                   .expected = std::string(text.expected),
                   .next = std::string(text.advice),
                   .site = site};
  if (code == kIntegerOverflow) throw OverflowError(std::move(parts));
  if (code == kScriptOverflow || code == kScriptQuotient) throw ScriptError(std::move(parts));
  throw ValueError(std::move(parts));
}

Monoid monoid(Expr (*unit)(DType), Expr (*combine)(Expr, Expr)) {
  return {.unit = [unit](DType d) { return Exprs{unit(d)}; },
          .lift = [](Exprs x) { return Exprs{x[0]}; },
          .combine = [combine](Exprs a, Exprs b) { return Exprs{combine(a[0], b[0])}; },
          .finish = [](Exprs s, Expr) { return s; }};
}

// ── bodies ──────────────────────────────────────────────────────────────────────────────────────

struct Op::BodyCache {
  std::mutex mutex;
  std::array<std::atomic<const ScalarFunction*>, kDTypeCodes> built{};
  std::vector<std::unique_ptr<ScalarFunction>> owned;
};

namespace {

/// The dtypes a body's inputs have when it is built for `compute`.
std::vector<DType> body_inputs(const Op& op, DType compute) {
  std::vector<DType> types;
  for (int i : body_params(op)) {
    DType d =
        op.schema.params[static_cast<size_t>(i)].type == ArgType::integer ? DType::i64 : compute;
    for (const FixedType& f : op.extra.fixed)
      if (f.param == i) d = f.dtype;
    types.push_back(d);
  }
  return types;
}

}  // namespace

absl::InlinedVector<int, 4> body_params(const Op& op) {
  bool creates = op.kind == Kind::create || op.kind == Kind::random;
  absl::InlinedVector<int, 4> out;
  for (size_t i = 0; i < op.schema.params.size(); ++i) {
    const Param& p = op.schema.params[i];
    bool number = p.type == ArgType::scalar || p.type == ArgType::real;
    bool counted = creates && p.type == ArgType::integer && !p.optional;
    if (!p.list && (p.type == ArgType::tensor || number || counted))
      out.push_back(static_cast<int>(i));
  }
  return out;
}

const ScalarFunction& Op::scalar(DType compute) const {
  auto& slot = bodies_->built[static_cast<size_t>(compute)];
  if (const ScalarFunction* f = slot.load(std::memory_order_acquire)) return *f;
  if (!body) LATHE_INTERNAL(absl::StrCat(name(), " has no body"));
  const std::lock_guard lock(bodies_->mutex);
  if (const ScalarFunction* f = slot.load(std::memory_order_acquire)) return *f;
  BodyFn made_from = body;
  if (kind == Kind::create || kind == Kind::random) {
    // These may have no input to tell the dtype by: a zero of it comes first.
    made_from = [this, compute](absl::Span<const Expr> in) {
      Exprs with_zero{constant(compute, 0)};
      with_zero.insert(with_zero.end(), in.begin(), in.end());
      return body(with_zero);
    };
  }
  auto made = std::make_unique<ScalarFunction>(build(made_from, body_inputs(*this, compute)));
  slot.store(made.get(), std::memory_order_release);
  bodies_->owned.push_back(std::move(made));
  return *slot.load(std::memory_order_relaxed);
}

// ── definitions ──────────────────────────────────────────────────────────────────────────────────

/// Has it operands, and may each of them be a number?
static bool operands_may_be_numbers(const Schema& schema) {
  bool any = false;
  for (const Param& p : schema.params) {
    if (p.type != ArgType::tensor) continue;
    if (!p.number) return false;
    any = true;
  }
  return any;
}

Op& Definitions::add(Kind kind, Text schema, Extra extra) {
  auto op = std::make_unique<Op>();
  op->kind = kind;
  op->schema = parse_schema(schema);
  op->extra = std::move(extra);
  op->schema.wants_tensor = !op->extra.numbers_alone && operands_may_be_numbers(op->schema);
  op->bodies_ = std::make_shared<Op::BodyCache>();
  if (by_name_.contains(op->name()) || find_op(op->name()) != nullptr)
    throw NameError({.op = op->name(),
                     .problem = "there is an op of this name already",
                     .got = std::string(schema),
                     .next = "choose another name"});
  by_name_[op->name()] = op.get();
  ops_.push_back(std::move(op));
  return *ops_.back();
}

void Definitions::add_elementwise(Text schema, BodyFn body, Extra extra) {
  add(Kind::elementwise, schema, std::move(extra)).body = std::move(body);
}

void Definitions::reduce(Text schema, Monoid monoid, Extra extra) {
  add(Kind::reduce, schema, std::move(extra)).monoid = std::move(monoid);
}

void Definitions::scan(Text schema, Monoid monoid, Extra extra) {
  add(Kind::scan, schema, std::move(extra)).monoid = std::move(monoid);
}

void Definitions::contract(Text schema, Text formula, Extra extra) {
  Op& op = add(Kind::contract, schema, std::move(extra));
  const std::vector<Param>& params = op.schema.params;
  auto is_operand = [&](size_t i) {
    return i < params.size() && params[i].type == ArgType::tensor && !params[i].list &&
           !params[i].optional;
  };
  if (!is_operand(0) || !is_operand(1))
    throw ValueError({.op = op.name(),
                      .problem = "a contraction's first two arguments are its operands",
                      .got = op.schema.text,
                      .expected = absl::StrCat(op.name(), "(Tensor a, Tensor b, ...) -> Tensor"),
                      .next = "put the tensors first"});
  op.formula = parse_formula(formula, op.schema);
  op.roles[0] = &op;
  if (!op.extra.no_grad && op.extra.grad == nullptr) add_adjoints(op);
}

void Definitions::add_adjoints(Op& op) {
  for (int role : {1, 2}) {
    auto& itself = op.formula.itself[static_cast<size_t>(role - 1)];
    if (itself = adjoint_as_itself(op.formula, role); itself) continue;
    Schema schema = op.schema;
    schema.name = absl::StrCat(op.name(), "_d", role - 1);
    schema.params[static_cast<size_t>(role - 1)].name = "dy";
    std::erase_if(schema.params,
                  [](const Param& p) { return p.name == "shape" || p.name == "out_dtype"; });
    const std::string text = adjoint_text(op.formula, role);
    if (!determines_output(parse_formula(text, schema)))
      schema.params.insert(schema.params.begin() + 2,
                           Param{.name = "shape", .type = ArgType::integer, .list = true});
    Op& adjoint = add(Kind::contract, print_schema(schema),
                      {.domain = op.extra.domain.has(DType::c64) ? differentiable : floating,
                       .places = kNowhere});
    adjoint.formula = parse_formula(text, adjoint.schema);
    adjoint.role = role;
    op.roles[static_cast<size_t>(role)] = &adjoint;
  }
  for (const Op* adjoint : op.roles)
    if (adjoint != nullptr) const_cast<Op*>(adjoint)->roles = op.roles;
}

void Definitions::view(Text schema, GeometryRule rule, Extra extra) {
  Op& op = add(Kind::view, schema, std::move(extra));
  op.geometry = rule;
  if (op.extra.overlaps) return;
  // The way back follows from the geometry: <name>_put(x, value, ...) gives x with the view's
  // elements replaced.
  std::string put = absl::StrCat(op.name(), "_put(Tensor input, Tensor value");
  std::string_view rest = op.schema.text;
  rest = rest.substr(rest.find('(') + 1);
  size_t comma = rest.find(',');
  size_t close = rest.rfind(") ->");
  if (comma != std::string_view::npos && comma < close)
    absl::StrAppend(&put, ",", rest.substr(comma + 1, close - comma - 1));
  put += ") -> Tensor";
  Op& back = add(Kind::index, put,
                 {.promote = Promote::first, .version = op.extra.version, .places = kNowhere});
  back.index.access = Access::through;
  back.put_of = &op;
  op.put = &back;
}

void Definitions::index(Text schema, IndexSpec spec, Extra extra) {
  add(Kind::index, schema, std::move(extra)).index = spec;
}

void Definitions::sort(Text schema, SortSpec spec, Extra extra) {
  add(Kind::sort, schema, std::move(extra)).sort = spec;
}

void Definitions::add_create(Text schema, InferRule infer, BodyFn body, Extra extra) {
  extra.infer = infer;
  add(Kind::create, schema, std::move(extra)).body = std::move(body);
}

void Definitions::add_random(Text schema, InferRule infer, BodyFn body, Extra extra) {
  extra.infer = infer;
  add(Kind::random, schema, std::move(extra)).body = std::move(body);
}

Op& Definitions::opaque(Text schema, InferRule infer, Extra extra) {
  extra.infer = std::move(infer);
  return add(Kind::opaque, schema, std::move(extra));
}

void Definitions::composite(Text schema, Expansion expansion, Extra extra) {
  add(Kind::composite, schema, std::move(extra)).expansion = std::move(expansion);
}

const Op* Definitions::find(Text name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

// ── the process's definitions ────────────────────────────────────────────────────────────────────
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::deque<Definitions> batches;
  std::vector<const Op*> ops;
  absl::flat_hash_map<std::string, const Op*> by_name;
  absl::flat_hash_map<std::string, std::vector<const Op*>> by_public_name;

  void take(Definitions rows) {
    for (const auto& op : rows.all()) {
      op->id = static_cast<uint16_t>(ops.size());
      ops.push_back(op.get());
      by_name[op->name()] = op.get();
      by_public_name[op->public_name()].push_back(op.get());
      for (std::string_view name : op->extra.also) by_public_name[name].push_back(op.get());
    }
    batches.push_back(std::move(rows));
  }
};

/// Null until the built-in definitions are complete, so that building them does not look itself up.
std::atomic<Registry*> g_registry{nullptr};

Registry& registry() {
  static Registry* built = [] {
    auto* r = new Registry;  // lives as long as the process: op pointers are handed out freely
    Definitions rows;
    add_all_definitions(rows);
    r->take(std::move(rows));
    g_registry.store(r, std::memory_order_release);
    return r;
  }();
  return *built;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1] ? 1 : 0)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

const Op* find_op(std::string_view name) {
  Registry* r = g_registry.load(std::memory_order_acquire);
  if (r == nullptr) return nullptr;
  const std::shared_lock lock(r->mutex);
  auto it = r->by_name.find(name);
  return it == r->by_name.end() ? nullptr : it->second;
}

const Op& get_op(std::string_view name) {
  registry();
  if (const Op* op = find_op(name)) return *op;
  std::vector<std::pair<size_t, std::string>> near;
  for (const Op* op : all_ops()) near.emplace_back(edit_distance(name, op->name()), op->name());
  std::sort(near.begin(), near.end());
  std::string list;
  for (size_t i = 0; i < near.size() && i < 3; ++i)
    if (near[i].first <= 3) absl::StrAppend(&list, list.empty() ? "" : ", ", near[i].second);
  throw NameError({.op = std::string(name),
                   .problem = "there is no op of this name",
                   .got = std::string(name),
                   .expected = "an op of the library, or one that the program defined",
                   .next = list.empty() ? "define or load the custom op before it is used"
                                        : absl::StrCat("did you mean ", list, "?")});
}

std::vector<const Op*> all_ops() {
  Registry& r = registry();
  const std::shared_lock lock(r.mutex);
  return r.ops;
}

std::vector<const Op*> overloads(std::string_view public_name) {
  Registry& r = registry();
  const std::shared_lock lock(r.mutex);
  auto it = r.by_public_name.find(public_name);
  return it == r.by_public_name.end() ? std::vector<const Op*>{} : it->second;
}

void define_ops(const std::function<void(Definitions&)>& add) {
  Registry& r = registry();
  Definitions rows;
  add(rows);
  const std::lock_guard lock(r.mutex);
  for (const auto& op : rows.all())
    if (r.by_name.contains(op->name()))
      throw NameError({.op = op->name(), .problem = "there is an op of this name already"});
  r.take(std::move(rows));
}

}  // namespace lathe
