#include "kernels/problem/bodies.h"

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {

Expr convert_to(Expr x, DType to) {
  DType from = x.dtype();
  if (from == to) return x;
  bool narrow_from = from == DType::f16 || from == DType::bf16;
  bool narrow_to = to == DType::f16 || to == DType::bf16;
  if (is_complex(from) && is_complex(to)) return cast(x, to);
  if (is_complex(from) && to == DType::bool_)
    return convert_to(real(x), to) | convert_to(imag(x), to);
  if (is_complex(from)) return convert_to(real(x), to);
  if (is_complex(to)) return complex(convert_to(x, real_type(to)), constant(real_type(to), 0));
  if (narrow_from && to != DType::f32) return convert_to(cast(x, DType::f32), to);
  if (narrow_to && from != DType::f32) return cast(convert_to(x, DType::f32), to);
  return cast(x, to);
}

DType input_dtype(const Op& op, int param, DType compute) {
  DType d =
      op.schema.params[static_cast<size_t>(param)].type == ArgType::integer ? DType::i64 : compute;
  for (const FixedType& f : op.extra.fixed)
    if (f.param == param) d = f.dtype;
  return d;
}

DType number_dtype(const Op& op, int param, DType compute) {
  return real_type(input_dtype(op, param, compute));
}

namespace {

std::vector<DType> dtypes(absl::Span<const BodyInput> inputs) {
  std::vector<DType> out;
  for (const BodyInput& i : inputs) out.push_back(i.dtype);
  return out;
}

}  // namespace

ScalarFunction stored_body(const Op& op, const ElementTypes& types,
                           absl::Span<const BodyInput> inputs) {
  auto params = body_params(op);
  // What is drawn out of nothing is told the dtype that it is kept in: it has bounds to stay
  // within.
  const bool drawn = op.kind == Kind::random && params.empty();
  const ScalarFunction& body = op.scalar(drawn ? types.results[0] : types.compute);
  LATHE_CHECK(params.size() == inputs.size());
  // A number that is compared with halves is the half next to it, or nothing would equal 0.1.
  const bool compared = types.results[0] == DType::bool_;
  auto wrapped = [&](absl::Span<const Expr> in) {
    Exprs xs;
    for (size_t k = 0; k < in.size(); ++k) {
      DType want = input_dtype(op, params[k], types.compute);
      bool joins = !inputs[k].number || (compared && is_narrow(types.common));
      bool meets = joins && want == types.compute && types.common != types.compute;
      xs.push_back(convert_to(meets ? convert_to(in[k], types.common) : in[k], want));
    }
    Exprs ys = inline_call(body, xs);
    for (size_t k = 0; k < ys.size(); ++k) ys[k] = convert_to(ys[k], types.results[k]);
    return ys;
  };
  return build(wrapped, dtypes(inputs));
}

namespace {

/// Complex values as their parts.
Exprs apart(const Exprs& values) {
  Exprs out;
  for (Expr e : values) {
    out.push_back(real(e));
    if (is_complex(e.dtype())) out.push_back(imag(e));
  }
  return out;
}

/// The way back, of `parts` from `at` on, which moves behind what is taken.
Exprs together(absl::Span<const DType> types, absl::Span<const Expr> parts, size_t& at) {
  Exprs out;
  for (DType d : types) {
    out.push_back(is_complex(d) ? complex(parts[at], parts[at + 1]) : parts[at]);
    at += parts_of(d);
  }
  return out;
}

}  // namespace

ReduceBodies reduce_bodies(const Op& op, const ElementTypes& types, DType stored) {
  const Monoid& m = op.monoid;
  ReduceBodies out;
  auto unit = build([&](absl::Span<const Expr>) { return m.unit(types.compute); }, {});
  const std::vector<DType> values = unit.output_types;  // as the monoid sees them
  for (DType d : values) out.state.insert(out.state.end(), parts_of(d), real_type(d));
  out.unit = evaluate(unit, {});
  out.lift = build(
      [&](absl::Span<const Expr> in) {
        Exprs x{convert_to(convert_to(in[0], types.common), types.compute), in[1]};
        return apart(m.lift(x));
      },
      std::vector<DType>{stored, DType::i64});
  std::vector<DType> two = out.state;
  two.insert(two.end(), out.state.begin(), out.state.end());
  out.combine = build(
      [&](absl::Span<const Expr> in) {
        size_t at = 0;
        Exprs a = together(values, in, at), b = together(values, in, at);
        return apart(m.combine(a, b));
      },
      two);
  std::vector<DType> with_count = out.state;
  with_count.push_back(DType::i64);
  out.finish = build(
      [&](absl::Span<const Expr> in) {
        size_t at = 0;
        Exprs state = together(values, in, at);
        Exprs ys = m.finish(state, in[at]);
        for (size_t k = 0; k < ys.size() && k < types.results.size(); ++k) {
          bool index = k == 1 && types.results.size() == 2;  // (values, indices)
          ys[k] = convert_to(ys[k], index ? DType::i64 : types.results[k]);
        }
        return ys;
      },
      with_count);
  return out;
}

bool reads_input(const ScalarFunction& f, size_t which) {
  return std::any_of(f.graph.nodes().begin(), f.graph.nodes().end(), [&](const ExprNode& n) {
    return n.prim == Prim::input && n.payload == which;
  });
}

void store_number(const Arg& value, DType dtype, std::byte* room) {
  if (value.tag == Tag::real)
    store_element(dtype, room, value.real().value());
  else
    store_element(dtype, room,
                  value.tag == Tag::flag ? int64_t{value.flag_} : value.integer().value());
}

}  // namespace lathe
