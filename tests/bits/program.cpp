#include "tests/bits/program.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/replay.h"
#include "graph/ir/arguments.h"
#include "graph/trace/structure.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"

namespace lathe::bits_test {
namespace {

using M = math_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

/// Over some of the elements: what goes wrong first.
Tensor with_special_values(const Tensor& x, std::mt19937_64& rng) {
  if (is_complex(x.dtype())) {
    Tensor re = with_special_values(M::real_part(x), rng);
    return M::complex(re, with_special_values(M::imag_part(x), rng));
  }
  // The outermost of every width; conversions to a narrower one keep the low bits.
  constexpr int64_t kWhole[] = {0,
                                1,
                                -1,
                                127,
                                -128,
                                255,
                                32767,
                                -32768,
                                int64_t{1} << 31,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kReal[] = {
      0.0,    -0.0,   kInf,   -kInf,   std::numeric_limits<double>::quiet_NaN(),
      1e-40,  -3e-41, 6e-8,   65504.0, -65520.0,
      3.4e38, -1e308, 5e-324, 1.0,     -1.0};
  bool real = is_floating(x.dtype());
  Tensor wide = M::clone(M::cast(x, real ? DType::f64 : DType::i64));
  auto count = static_cast<size_t>(x.numel().value());
  auto spread = [&](auto* data, const auto& values) {
    for (size_t i = 0; i < count; ++i)
      if (rng() % 5 == 0) data[i] = values[rng() % std::size(values)];
  };
  if (real)
    spread(reinterpret_cast<double*>(wide.mutable_data()), kReal);
  else
    spread(reinterpret_cast<int64_t*>(wide.mutable_data()), kWhole);
  return M::cast(wide, x.dtype());
}

/// The sample's tensor in this dtype, whatever letter it has.
Tensor make_in(testing::SampleTensor like, DType dtype, std::mt19937_64& rng) {
  if (like.kind == 'b') return testing::make_tensor(like, DType::bool_, rng);
  if (like.kind == 'f' && is_complex(dtype)) like.kind = 'c';
  // The sign of a normal value: as numbers nearly all of them would be true.
  bool truth = dtype == DType::bool_ && (like.kind == 'f' || like.kind == 's');
  if (truth && like.kind == 'f') like.kind = 'b';
  Tensor x = testing::make_tensor(like, like.kind == 's' ? DType::f64 : dtype, rng);
  if (truth && like.kind == 's') x = M::gt(x, 0.0);
  if (like.kind == 'c' && !is_complex(dtype)) x = M::real_part(x);
  // Sorted anew: integers without a sign have turned the negative ones round.
  bool turned = like.kind == 's' && dtype == DType::u8;
  x = M::cast(x, dtype);
  return turned ? std::get<0>(index_ops<Tensor>::sort(x)) : x;
}

Tensor value_of(const Operand& o, const Pool& pool, const Tensor* carried) {
  return o.id == kCarried ? *carried : pool[static_cast<size_t>(o.id)];
}

Outputs run_call(const Step& s, const Pool& pool, const Tensor* carried) {
  std::vector<Tensor> held;
  std::vector<Arg> values;
  std::vector<ir::Place> places;
  held.reserve(s.operands.size());
  for (const Operand& o : s.operands) {
    held.push_back(value_of(o, pool, carried));
    values.push_back(o.axis < 0 ? Arg(held.back()) : Arg(held.back().size(o.axis)));
    places.push_back(o.place);
  }
  ir::Filled filled = ir::fill(s.attrs, places, values);
  if (s.form == Step::Form::inplace) {
    call(*s.op, filled.args(), CallForm::in_place);
    return {filled.args().tensor(0)};
  }
  Outputs out = call(*s.op, filled.args());
  // Of a list of results (split), how long is for the sizes to say, a program has the first.
  if (out.empty()) throw ShapeError({.op = s.op->name(), .problem = "no results"});
  out.resize(s.op->schema.results.size());
  return out;
}

/// The steps one after the other on the carried value; what comes out has the type that went in.
Tensor run_chain(const std::vector<Step>& chain, const Pool& pool, const Tensor& start) {
  Tensor x = start;
  for (const Step& s : chain) x = M::cast(run_call(s, pool, &x)[0], start.dtype());
  return x;
}

/// Refuses what a trace does: it goes through every part, also where eager passes by.
void try_parts(const Step& s, const Pool& pool, const Tensor& x) {
  if (x.symbolic()) return;
  GradMode off(false);
  auto rank_of = [&](const std::vector<Step>& chain) {
    try {
      return run_chain(chain, pool, x).rank();
    } catch (const ShapeError&) {
      throw;
    } catch (const Error&) {
      return x.rank();  // about values: only where they are met
    }
  };
  int other = s.form == Step::Form::branch ? rank_of(s.second) : x.rank();
  if (rank_of(s.first) != other)
    throw ShapeError({.op = "structure", .problem = "the parts differ in rank"});
}

Tensor run_branch(const Step& s, const Pool& pool, const Tensor& x) {
  try_parts(s, pool, x);
  Tensor real = is_complex(x.dtype()) ? M::real_part(x) : x;
  Tensor condition = R::any(M::lt(M::cast(real, DType::f32), -1.0));
  return ir::if_(
             ir::Datum(condition), [&] { return ir::Data{run_chain(s.first, pool, x)}; },
             [&] { return ir::Data{run_chain(s.second, pool, x)}; })[0]
      .tensor();
}

/// What a loop begins with: a clone of what its body reads besides. The tape then adds up both as
/// they come, the derivative of a loop one after the other (docs/status.md).
Tensor loop_start(const Step& s, const Tensor& x) {
  int start = s.operands[0].id;
  for (const Step& inner : s.first)
    for (const Operand& o : inner.operands)
      if (o.id == start && o.axis < 0) return M::clone(x);
  return x;
}

Tensor run_repeat(const Step& s, const Pool& pool, const Tensor& x) {
  try_parts(s, pool, x);
  auto body = [&](Int, const ir::Data& c) {
    return ir::Data{run_chain(s.first, pool, c[0].tensor())};
  };
  return ir::for_(0, s.trips, 1, body, {ir::Datum(loop_start(s, x))})[0].tensor();
}

Tensor run_until(const Step& s, const Pool& pool, const Tensor& x) {
  try_parts(s, pool, x);
  auto more = [&](const ir::Data& c) { return ir::Datum(M::lt(c[0].tensor(), s.trips)); };
  auto body = [&](const ir::Data& c) {
    return ir::Data{M::add(c[0].tensor(), 1), run_chain(s.first, pool, c[1].tensor())};
  };
  return ir::while_(more, body, {scalar_tensor(0, DType::i64), ir::Datum(loop_start(s, x))})[1]
      .tensor();
}

}  // namespace

Tensor make_input(const Input& input, absl::Span<const int64_t> sizes) {
  if (input.like.kind == 0) return input.value;
  testing::SampleTensor like = input.like;
  for (size_t i = 0; i < like.shape.size(); ++i)
    if (input.slots[i] >= 0) like.shape[i] = Int(sizes[static_cast<size_t>(input.slots[i])]);
  std::mt19937_64 rng(input.seed);
  Tensor value = make_in(like, input.dtype, rng);
  return input.special ? with_special_values(value, rng) : value;
}

Program resized(const Program& program, absl::Span<const int64_t> sizes) {
  Program other = program;
  other.sizes.assign(sizes.begin(), sizes.end());
  for (Input& i : other.inputs) i.value = make_input(i, sizes);
  return other;
}

Tensor laid_out(const Tensor& value, Layout layout) {
  GradMode off(false);
  Tensor copy = M::clone(value);
  Tensor t = copy;
  int rank = value.rank();
  if (layout == Layout::transposed && rank >= 2)
    t = S::transpose(M::clone(S::transpose(copy, -1, -2)), -1, -2);
  if (layout == Layout::strided) {
    Tensor both[] = {copy, copy};
    t = S::select(S::stack(both, rank), rank, 0);
  }
  if (layout == Layout::offset && rank > 0) {
    Tensor both[] = {copy, copy};
    t = S::narrow(S::cat(both, 0), 0, value.size(0), value.size(0));
  }
  if (layout == Layout::expanded && rank > 0 && value.size(0) > Int(0))
    return S::expand(S::narrow(copy, 0, 0, 1), value.shape());
  // Not a view of anything that the program could know.
  return make_tensor(t.impl()->storage, t.dtype(), t.geometry());
}

ir::Data inputs_of(const Program& program) {
  ir::Data out;
  for (const Input& i : program.inputs) out.emplace_back(laid_out(i.value, i.layout));
  return out;
}

void run_step(const Step& s, Pool& pool) {
  const GradMode mode(thread_state().grad_enabled && s.gradients);
  auto value = [&](size_t k) { return pool[static_cast<size_t>(s.operands[k].id)]; };
  Outputs made;
  switch (s.form) {
    case Step::Form::call:
    case Step::Form::inplace:
      made = run_call(s, pool, nullptr);
      break;
    case Step::Form::assign:
      made = {assign(value(0), value(1))};
      break;
    // Cloned: a loop of no turns gives back the very tensor it was given.
    case Step::Form::branch:
      made = {M::clone(run_branch(s, pool, value(0)))};
      break;
    case Step::Form::repeat:
      made = {M::clone(run_repeat(s, pool, value(0)))};
      break;
    case Step::Form::until:
      made = {M::clone(run_until(s, pool, value(0)))};
      break;
  }
  for (size_t k = 0; k < s.out.size(); ++k) pool[static_cast<size_t>(s.out[k])] = made[k];
}

Tensor cotangent(const Tensor& y) {
  GradMode off(false);
  return M::add(M::mul(detach(y), 0.5), 0.25);
}

ir::Data run(const Program& program, const ir::Data& inputs, Pool* copies) {
  GradMode mode(program.gradient == Gradient::inside || thread_state().grad_enabled);
  Pool pool(static_cast<size_t>(program.ids));
  if (copies != nullptr) copies->assign(pool.size(), {});
  Tensors leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor t = inputs[i].tensor();
    if (program.gradient == Gradient::inside && program.inputs[i].tracked) {
      set_requires_grad(t, true);
      leaves.push_back(t);
    }
    pool[static_cast<size_t>(program.inputs[i].id)] = t;
  }
  for (size_t i = 0; i < program.steps.size(); ++i) {
    SiteScope site(make_site("program.py", static_cast<int>(i) + 1));
    run_step(program.steps[i], pool);
    if (copies == nullptr) continue;
    GradMode off(false);
    for (int id : program.steps[i].out)
      (*copies)[static_cast<size_t>(id)] = M::clone(detach(pool[static_cast<size_t>(id)]));
  }
  SiteScope site(make_site("program.py", static_cast<int>(program.steps.size()) + 1));
  ir::Data out;
  Tensors ys, dys, seen;
  for (int id : program.outputs) {
    const Tensor& y = pool[static_cast<size_t>(id)];
    // Some definitions give back what they were given, and a graph has one result for one tensor.
    if (std::any_of(seen.begin(), seen.end(), [&](const Tensor& t) { return same(t, y); }))
      continue;
    seen.push_back(y);
    if (program.gradient != Gradient::inside) {
      out.emplace_back(y);
      continue;
    }
    out.emplace_back(detach(y));
    refresh(y);  // a view whose base was written since
    if (!y.requires_grad()) continue;
    ys.push_back(y);
    dys.push_back(cotangent(y));
  }
  if (ys.empty()) return out;
  for (Tensor& g : grad(ys, dys, leaves, {.allow_unused = true}))
    if (g.defined()) out.emplace_back(std::move(g));
  return out;
}

// ── text ────────────────────────────────────────────────────────────────────────────────────────

namespace {

constexpr std::string_view kForms[] = {"", "_", "assign", "branch", "repeat", "until"};
constexpr std::string_view kLayouts[] = {"", " transposed", " strided", " offset", " expanded"};

std::string id_text(const Operand& o) {
  std::string out = o.id == kCarried ? "x" : absl::StrCat("%", o.id);
  if (o.axis >= 0) absl::StrAppend(&out, ".size(", o.axis, ")");
  return out;
}

std::string arg_text(const Step& s, size_t param) {
  const Arg& literal = s.attrs[param];
  if (literal.tag == Tag::list) {
    std::vector<std::string> items;
    for (size_t e = 0; e < literal.list_->size; ++e)
      items.push_back(to_string(literal.list_->data[e]));
    for (const Operand& o : s.operands)
      if (o.place.param == param && o.place.element >= 0)
        items[static_cast<size_t>(o.place.element)] = id_text(o);
    return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
  }
  for (const Operand& o : s.operands)
    if (o.place.param == param) return id_text(o);
  return to_string(literal);
}

std::string step_text(const Step& s, int indent);

std::string chain_text(const std::vector<Step>& chain, int indent) {
  std::string out;
  for (const Step& s : chain) absl::StrAppend(&out, step_text(s, indent));
  return out;
}

std::string step_text(const Step& s, int indent) {
  std::string out(static_cast<size_t>(indent), ' ');
  if (!s.gradients) absl::StrAppend(&out, "no gradients: ");
  absl::StrAppend(&out, s.out.empty() ? "x" : absl::StrCat("%", absl::StrJoin(s.out, ", %")),
                  " = ");
  if (s.op != nullptr) {
    std::vector<std::string> args;
    for (size_t k = 0; k < s.attrs.size(); ++k) args.push_back(arg_text(s, k));
    return absl::StrCat(out, s.op->name(), kForms[static_cast<int>(s.form)], "(",
                        absl::StrJoin(args, ", "), ")\n");
  }
  std::vector<std::string> args;
  for (const Operand& o : s.operands) args.push_back(id_text(o));
  absl::StrAppend(&out, kForms[static_cast<int>(s.form)], "(", absl::StrJoin(args, ", "), ")");
  if (s.form == Step::Form::assign) return out + "\n";
  absl::StrAppend(&out, " times ", s.trips, ":\n", chain_text(s.first, indent + 2));
  if (s.form == Step::Form::branch)
    absl::StrAppend(&out, std::string(static_cast<size_t>(indent), ' '), "else:\n",
                    chain_text(s.second, indent + 2));
  return out;
}

}  // namespace

std::string to_string(const Program& program) {
  constexpr std::string_view kGradients[] = {"", " with its gradient", " and its gradient"};
  std::string out = absl::StrCat("program of seed ", program.seed,
                                 kGradients[static_cast<int>(program.gradient)], "\n");
  for (const Input& i : program.inputs)
    absl::StrAppend(&out, "  %", i.id, ": ", lathe::to_string(type_of(i.value)),
                    kLayouts[static_cast<int>(i.layout)], i.tracked ? " tracked" : "", "\n");
  absl::StrAppend(&out, chain_text(program.steps, 2), "  return %",
                  absl::StrJoin(program.outputs, ", %"), "\n");
  return out;
}

}  // namespace lathe::bits_test
