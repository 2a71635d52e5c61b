// Ops on plain numbers: the definition's own body, run on one element. Integers may be symbolic
// sizes, so the integer side walks the body's nodes with Int arithmetic; so do symbolic floats with
// Real's, as far as that goes. Other floats and flags go to core's evaluator.
#include <absl/strings/str_cat.h>

#include <bit>

#include "core/base/error.h"
#include "core/infer/rules.h"
#include "graph/ir/arguments.h"

namespace lathe::ir {
namespace {

bool body_input(const Param& p) {
  return !p.list &&
         (p.type == ArgType::tensor || p.type == ArgType::scalar || p.type == ArgType::real);
}

ScalarKind kind_of(const Arg& a) {
  if (a.tag == Tag::flag) return ScalarKind::flag;
  return a.tag == Tag::integer ? ScalarKind::integer : ScalarKind::real;
}

DType dtype_of(ScalarKind kind) {
  constexpr DType kTypes[] = {DType::bool_, DType::i64, DType::f64};
  return kTypes[static_cast<int>(kind)];
}

/// What the body is built for: the widest operand, floats where the op wants them.
DType compute_for(const Op& op, Args args) {
  ScalarKind widest = ScalarKind::flag;
  for (size_t i = 0; i < args.size(); ++i)
    if (body_input(op.schema.params[i]) && !is_fixed(op, i) && args[i].scalar())
      widest = std::max(widest, kind_of(args[i]));
  if (op.extra.promote == Promote::to_float) widest = ScalarKind::real;
  // Python adds True and True to 2; only where bool is all the op knows does it stay bool.
  if (widest == ScalarKind::flag && op.extra.promote != Promote::boolean &&
      op.extra.domain.has(DType::f64))
    widest = ScalarKind::integer;
  return dtype_of(widest);
}

ScalarKind result_kind(const Op& op, DType compute) {
  DType out = op.scalar(compute).output_types[0];
  if (op.extra.promote == Promote::boolean || out == DType::bool_) return ScalarKind::flag;
  return is_integer(out) ? ScalarKind::integer : ScalarKind::real;
}

uint64_t bits_as(const Arg& a, DType dtype) {
  double real = 0;
  int64_t integer = 0;
  if (a.tag == Tag::real) {
    real = a.real().value();
    integer = static_cast<int64_t>(real);
  } else {
    integer = a.tag == Tag::flag ? (a.flag_ ? 1 : 0) : a.integer().value();
    real = static_cast<double>(integer);
  }
  if (dtype == DType::f64) return std::bit_cast<uint64_t>(real);
  if (dtype == DType::bool_) return a.tag == Tag::real ? (real != 0) : (integer != 0);
  return static_cast<uint64_t>(integer);
}

/// The value of an integer or boolean node over Ints; booleans are 0 and 1.
class SymbolicBody {
 public:
  SymbolicBody(const Op& op, const ScalarFunction& f, absl::Span<const Int> inputs)
      : op_(op), f_(f), inputs_(inputs) {}

  Int run() {
    for (uint32_t id = 0; id < f_.graph.size(); ++id) values_.push_back(node(f_.graph[id]));
    return values_[f_.outputs[0]];
  }

 private:
  [[noreturn]] void refuse(const ExprNode& n) const {
    throw TraceError({.op = op_.name(),
                      .problem = absl::StrCat("'", info(n.prim).name,
                                              "' of a size that is not known while tracing"),
                      .next = "write it with + - * // % min max and comparisons"});
  }

  Int node(const ExprNode& n) {
    auto x = [&](int i) { return values_[n.args[i]]; };
    switch (n.prim) {
      case Prim::constant:
        return Int(static_cast<int64_t>(n.payload));
      case Prim::input:
        return inputs_[n.payload];
      case Prim::add:
        return x(0) + x(1);
      case Prim::sub:
        return x(0) - x(1);
      case Prim::mul:
        return x(0) * x(1);
      case Prim::neg:
        return -x(0);
      case Prim::abs:
        return lathe::max(x(0), -x(0));
      case Prim::pmin:
        return lathe::min(x(0), x(1));
      case Prim::pmax:
        return lathe::max(x(0), x(1));
      case Prim::floor_div:
        return floor_div(x(0), x(1));
      case Prim::mod:
        return mod(x(0), x(1));
      case Prim::lt:
        return Int(x(0) < x(1) ? 1 : 0);
      case Prim::le:
        return Int(x(0) <= x(1) ? 1 : 0);
      case Prim::eq:
        return Int(x(0) == x(1) ? 1 : 0);
      case Prim::ne:
        return Int(x(0) == x(1) ? 0 : 1);
      case Prim::select:
        return x(0) == Int(0) ? x(2) : x(1);
      case Prim::check:
        if (x(0) == Int(0))
          throw ValueError(
              {.op = op_.name(), .problem = "this operation is not defined for its operands"});
        return x(1);
      case Prim::cast:
        if (n.dtype == DType::bool_) return Int(x(0) == Int(0) ? 0 : 1);
        if (is_integer(n.dtype)) return x(0);
        refuse(n);
      default:
        refuse(n);
    }
  }

  const Op& op_;
  const ScalarFunction& f_;
  absl::Span<const Int> inputs_;
  std::vector<Int> values_;
};

/// The body over symbolic floats; nothing, if it is more than they can express.
std::optional<Real> on_reals(const ScalarFunction& f, absl::Span<const Arg> inputs) {
  std::vector<Real> values;
  for (uint32_t id = 0; id < f.graph.size(); ++id) {
    const ExprNode& n = f.graph[id];
    auto x = [&](int i) { return values[n.args[i]]; };
    auto answer = [](bool yes) { return Real(yes ? 1.0 : 0.0); };
    auto value = [&]() -> std::optional<Real> {
      switch (n.prim) {
        case Prim::constant:
          if (n.dtype == DType::f64) return Real(std::bit_cast<double>(n.payload));
          return std::nullopt;
        case Prim::input: {
          const Arg& a = inputs[n.payload];
          if (a.tag == Tag::real) return a.real();
          return Real(std::bit_cast<double>(bits_as(a, DType::f64)));
        }
        case Prim::add:
          return x(0) + x(1);
        case Prim::sub:
          return x(0) - x(1);
        case Prim::mul:
          return x(0) * x(1);
        case Prim::div:
          return x(0) / x(1);
        case Prim::neg:
          return -x(0);
        case Prim::abs:
          return abs(x(0));
        case Prim::lt:
          return answer(x(0) < x(1));
        case Prim::le:
          return answer(x(0) <= x(1));
        case Prim::eq:
          return answer(x(0) == x(1));
        case Prim::ne:
          return answer(!(x(0) == x(1)));
        default:
          return std::nullopt;
      }
    }();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values[f.outputs[0]];
}

}  // namespace

std::optional<ScalarKind> scalar_result(const Op& op, Args args) {
  if (op.kind != Kind::elementwise || op.schema.results.size() != 1) return std::nullopt;
  bool any = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!body_input(op.schema.params[i])) continue;
    if (!args[i].scalar()) return std::nullopt;
    any = true;
  }
  if (!any) return std::nullopt;
  return result_kind(op, compute_for(op, args));
}

Arg evaluate_scalar(const Op& op, Args args) {
  DType compute = compute_for(op, args);
  const ScalarFunction& f = op.scalar(compute);
  ScalarKind kind = result_kind(op, compute);
  std::vector<Arg> inputs;
  bool symbolic = false, symbolic_real = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!body_input(op.schema.params[i])) continue;
    inputs.push_back(args[i]);
    symbolic |= args[i].tag == Tag::integer && !args[i].integer().known();
    symbolic_real |= args[i].tag == Tag::real && !args[i].real().known();
  }
  if (symbolic || (compute == DType::i64 && kind == ScalarKind::integer)) {
    // Also for numbers: Int arithmetic raises OverflowError where i64 would wrap.
    std::vector<Int> ints;
    for (const Arg& a : inputs) {
      if (a.tag == Tag::real)
        throw TraceError(
            {.op = op.name(), .problem = "a float meets a size that is not known while tracing"});
      ints.push_back(a.tag == Tag::flag ? Int(a.flag_ ? 1 : 0) : a.integer());
    }
    Int r = SymbolicBody(op, f, ints).run();
    if (kind == ScalarKind::flag) return Arg(!(r == Int(0)));
    return Arg(r);
  }
  if (symbolic_real && compute == DType::f64) {
    if (std::optional<Real> r = on_reals(f, inputs)) {
      if (kind == ScalarKind::flag) return Arg(!(*r == 0.0));
      return Arg(*r);
    }
  }
  std::vector<uint64_t> bits;
  for (size_t i = 0; i < inputs.size(); ++i) bits.push_back(bits_as(inputs[i], f.inputs[i]));
  uint32_t failed = 0;
  ScalarEnv env{.inputs = bits, .failed = &failed};
  uint64_t result = evaluate(f, env)[0];
  if (failed != 0)
    throw ValueError(
        {.op = op.name(), .problem = "this operation is not defined for its operands"});
  switch (kind) {
    case ScalarKind::flag:
      return Arg(result != 0);
    case ScalarKind::integer:
      return Arg(Int(static_cast<int64_t>(result)));
    case ScalarKind::real:
      return Arg(f.output_types[0] == DType::f32
                     ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(result)))
                     : std::bit_cast<double>(result));
  }
  LATHE_INTERNAL("a number of no kind");
}

}  // namespace lathe::ir
