// How a scan is recorded: what its rounds give is written row by row into tensors made before the
// loop, which the loop then carries without being asked. What it reads is the op `rows` of each x:
// the derivative knows that every round adds to a row of its own (backprop_rows.cpp), so that a
// scan of n rounds costs n rows and not n times all. Eager has one node of history for all rows of
// an x, and one a round for what is stacked: the order of sums is the same.
#include "autodiff/control.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/batch/batch.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using C = create_ops<Tensor>;
using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;
using ir::Tracer;

ir::Data as_data(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }
Tensors as_tensors(const ir::Data& data) {
  Tensors out;
  for (const ir::Datum& d : data) out.push_back(d.tensor());
  return out;
}

[[noreturn]] void refuse(const char* op, std::string problem, std::string got,
                         std::string expected) {
  throw TypeError({.op = op,
                   .problem = std::move(problem),
                   .got = std::move(got),
                   .expected = std::move(expected),
                   .next = "cast, reshape or return the values so that they agree"});
}

/// What is handed on agrees in number, dtype, rank and device.
void check_alike(const char* op, std::string_view where, const Tensors& before,
                 const Tensors& after) {
  if (before.size() != after.size())
    refuse(op, absl::StrCat("the number of values changes ", where), absl::StrCat(after.size()),
           absl::StrCat(before.size()));
  for (size_t i = 0; i < before.size(); ++i) {
    const Tensor &a = before[i], &b = after[i];
    if (a.dtype() == b.dtype() && a.rank() == b.rank() && a.device() == b.device()) continue;
    refuse(op, absl::StrCat("value ", i, " changes its type ", where), to_string(type_of(b)),
           absl::StrCat("the dtype, rank and device of ", to_string(type_of(a))));
  }
}

/// As structures take it: of one element, and in a trace a value of the program.
ir::Datum as_condition(const char* op, Tensor t) {
  if (!require(Relation::eq, t.numel(), 1))
    throw ValueError({.op = op,
                      .problem = "a condition must have one element",
                      .got = to_string(type_of(t)),
                      .expected = "one element",
                      .next = "reduce it with all() or any(), or choose with where()"});
  if (t.symbolic() && Batch::current() != nullptr)
    throw ValueError({.op = op,
                      .problem = "the condition differs between the examples of a vmap",
                      .got = to_string(type_of(t)),
                      .expected = "one answer for all examples",
                      .next = "compute both and choose with where()"});
  if (!t.symbolic() && Tracer::current() != nullptr) t = M::clone(detach(t));
  return ir::Datum(t);
}

}  // namespace

Tensors cond(const Tensor& condition, BranchFunction yes, BranchFunction no) {
  std::optional<Tensors> first;
  auto branch = [&first](BranchFunction f) {
    return [&first, f] {
      Tensors out = f();
      if (first) check_alike("cond", "between the branches", *first, out);
      first = out;
      return as_data(out);
    };
  };
  return as_tensors(ir::if_(as_condition("cond", condition), branch(yes), branch(no)));
}

Tensors while_loop(ConditionFunction condition, RoundFunction body, Tensors carried) {
  auto asked = [&](const ir::Data& now) {
    return as_condition("while_loop", condition(as_tensors(now)));
  };
  auto round = [&](const ir::Data& now) {
    const Tensors before = as_tensors(now), after = body(before);
    check_alike("while_loop", "from round to round", before, after);
    return as_data(after);
  };
  return as_tensors(ir::while_(asked, round, as_data(carried)));
}

Tensors fori_loop(Int lower, Int upper, CountedFunction body, Tensors carried) {
  auto round = [&](Int i, const ir::Data& now) {
    const Tensors before = as_tensors(now), after = body(i, before);
    check_alike("fori_loop", "from round to round", before, after);
    return as_data(after);
  };
  return as_tensors(ir::for_(lower, upper, 1, round, as_data(carried)));
}

// ── scan ────────────────────────────────────────────────────────────────────────────────────────

namespace {

void check_rows(const Tensors& xs, Int length) {
  for (const Tensor& x : xs)
    if (x.rank() == 0 || !require(Relation::eq, x.size(0), length))
      throw ShapeError({.op = "scan",
                        .problem = "what is scanned has no row for each round",
                        .got = to_string(type_of(x)),
                        .expected = absl::StrCat("a first axis of ", to_string(length)),
                        .next = "give xs of one length, or the length that they have"});
}

[[noreturn]] void other_sizes(IntSpan have, IntSpan want) {
  throw ShapeError({.op = "scan",
                    .problem = "the rounds give values of different sizes, which cannot be stacked",
                    .got = to_string(have),
                    .expected = to_string(want),
                    .next = "give values of one size in every round"});
}

Tensors rows_at(const Tensors& xs, Int i) {
  Tensors out;
  for (const Tensor& x : xs) out.push_back(M::clone(S::select(x, 0, i)));
  return out;
}

bool is_tracked(const Tensors& tensors) {
  return thread_state().grad_enabled &&
         std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return t.defined() && t.requires_grad(); });
}

Tensors split_rows(const Tensor& x);

/// Parts with a first axis of 1 along that axis, as one node of history.
Tensor join_rows(const Tensors& parts) {
  Tensors out;
  {
    const GradMode off(false);
    out.push_back(S::cat(parts, 0));
  }
  if (!is_tracked(parts)) return out[0];
  OwnDerivative own{.name = S::rows.op()->name(),
                    .run =
                        [](const auto&, const Tensors& dys, Tensors sums) {
                          const Tensors rows = split_rows(dys[0]);
                          for (size_t i = 0; i < sums.size(); ++i) {
                            const Tensor dy = S::unsqueeze(rows[i], 0);
                            sums[i] = sums[i].defined() ? M::add(sums[i], dy) : dy;
                          }
                          return sums;
                        },
                    .continues = true};
  record_function(std::make_shared<const OwnDerivative>(std::move(own)), parts, out, {});
  return out[0];
}

/// The gradient of an x: what arrived at its rows, and -0.0, which no sum shows, at the others.
Tensor gradient_of_rows(const TensorType& x, const Tensors& dys) {
  Tensors parts;
  TensorType row = x;
  row.shape[0] = 1;
  for (const Tensor& dy : dys)
    parts.push_back(dy.defined() ? S::unsqueeze(dy, 0)
                                 : C::full(Ints(row.shape), -0.0, row.dtype, row.device));
  return join_rows(parts);
}

/// All rows of x, as one node of history.
Tensors split_rows(const Tensor& x) {
  Tensors out;
  {
    const GradMode off(false);
    for (Int i = 0; i < x.size(0); i = i + 1) out.push_back(M::clone(S::select(x, 0, i)));
  }
  if (!is_tracked({x})) return out;
  OwnDerivative own{.name = S::rows.op()->name(),
                    .run =
                        [type = type_of(x)](const auto&, const Tensors& dys, Tensors sums) {
                          Tensor dx = gradient_of_rows(type, dys);
                          if (sums[0].defined()) dx = M::add(sums[0], dx);
                          return Tensors{dx};
                        },
                    .continues = true};
  record_function(std::make_shared<const OwnDerivative>(std::move(own)), {x}, out, {});
  return out;
}

/// Round by round. What is stacked gets its history in its own round.
Scanned scan_rounds(ScanFunction round, Tensors carried, const Tensors& xs, int64_t length,
                    bool reverse) {
  const bool apart = Batch::current() == nullptr;
  std::vector<Tensors> rows;
  for (const Tensor& x : xs) rows.push_back(apart ? split_rows(x) : Tensors());
  std::vector<Tensors> columns;
  for (int64_t k = 0; k < length; ++k) {
    const int64_t i = reverse ? length - 1 - k : k;
    Tensors now;
    for (size_t j = 0; j < xs.size(); ++j)
      now.push_back(apart ? rows[j][static_cast<size_t>(i)] : rows_at({xs[j]}, i)[0]);
    Scanned made = round(carried, now);
    check_alike("scan", "from round to round", carried, made.carried);
    carried = std::move(made.carried);
    if (k == 0) columns.resize(made.stacked.size(), Tensors(static_cast<size_t>(length)));
    Tensors before;
    for (Tensors& c : columns)
      before.push_back(k == 0 ? Tensor()
                              : S::select(c[static_cast<size_t>(reverse ? i + 1 : i - 1)], 0, 0));
    if (k > 0) check_alike("scan", "from round to round", before, made.stacked);
    for (size_t j = 0; j < made.stacked.size(); ++j) {
      const Tensor& y = made.stacked[j];
      if (k > 0 && !identical(IntSpan(y.shape()), IntSpan(before[j].shape())))
        other_sizes(y.shape(), before[j].shape());
      columns[j][static_cast<size_t>(i)] = S::unsqueeze(y, 0);
    }
  }
  Scanned out{std::move(carried), {}};
  for (const Tensors& c : columns) out.stacked.push_back(apart ? join_rows(c) : S::cat(c, 0));
  return out;
}

/// What is stacked has one size in every round, so none that a round makes.
void check_known_before(const Tensor& y, uint32_t first_symbol) {
  for (Int size : y.shape())
    for (uint32_t k : symbols_of(size))
      if (k >= first_symbol) other_sizes(y.shape(), y.shape());
}

/// Tensors for what the rounds give, made before the loop whose body is being recorded.
Tensors make_room(Tracer& tracer, const Tensors& ys, Int length, uint32_t first_symbol) {
  ir::Graph& g = tracer.graph();
  const ir::InsertAt before(g, g.insertion_block().owner());
  const GradMode off(false);
  Tensors out;
  for (const Tensor& y : ys) {
    Shape shape{length};
    check_known_before(y, first_symbol);
    shape.insert(shape.end(), y.shape().begin(), y.shape().end());
    out.push_back(C::zeros(Ints(shape), y.dtype(), y.device()));
  }
  return out;
}

Scanned record_scan(Tracer& tracer, ScanFunction round, const Tensors& carried, const Tensors& xs,
                    Int length, bool reverse) {
  Tensors local;
  for (const Tensor& x : xs) local.push_back(S::rows(x));
  const uint32_t first_symbol = tracer.scope().symbol_count();
  std::optional<Tensors> stacked;
  auto body = [&](Int i, const ir::Data& now) {
    const Tensors before = as_tensors(now);
    Scanned made = round(before, rows_at(local, i));
    check_alike("scan", "from round to round", before, made.carried);
    if (!stacked) stacked = make_room(tracer, made.stacked, length, first_symbol);
    for (size_t j = 0; j < made.stacked.size(); ++j)
      assign(S::select((*stacked)[j], 0, i), made.stacked[j]);
    return as_data(made.carried);
  };
  const ir::Data end = reverse ? tracer.record_for(length - 1, -1, -1, body, as_data(carried))
                               : tracer.record_for(0, length, 1, body, as_data(carried));
  return {as_tensors(end), std::move(*stacked)};
}

/// No round, so that only a recording of one tells what would be stacked. There is no row to read
/// either: zeros stand for it.
Scanned record_scan_of_nothing(Tracer& tracer, ScanFunction round, const Tensors& carried,
                               const Tensors& xs) {
  const uint32_t first_symbol = tracer.scope().symbol_count();
  std::vector<TensorType> types;
  tracer.record_nothing([&] {
    Tensors rows;
    for (const Tensor& x : xs)
      rows.push_back(C::zeros(Ints(IntSpan(x.shape()).subspan(1)), x.dtype(), x.device()));
    const Scanned made = round(carried, rows);
    check_alike("scan", "from round to round", carried, made.carried);
    for (const Tensor& y : made.stacked) {
      check_known_before(y, first_symbol);
      types.push_back(type_of(y));
    }
  });
  Scanned out{carried, {}};
  for (TensorType& t : types) {
    t.shape.insert(t.shape.begin(), 0);
    out.stacked.push_back(C::zeros(Ints(t.shape), t.dtype, t.device));
  }
  return out;
}

/// The same where nothing is recorded yet.
Scanned scan_nothing(ScanFunction round, const Tensors& carried, const Tensors& xs) {
  std::vector<ir::InputSpec> specs;
  for (const Tensor& t : carried)
    specs.push_back(
        {.name = absl::StrCat("x", specs.size()), .type = type_of(t), .fixed_sizes = true});
  Scanned out{carried, {}};
  std::vector<TensorType> types;
  const GradMode off(false);  // nothing that the round reads is asked for a gradient
  ir::trace(
      [&](const ir::Data& in) {
        const Scanned made = record_scan_of_nothing(*Tracer::current(), round, as_tensors(in), xs);
        for (const Tensor& y : made.stacked) types.push_back(type_of(y));
        return ir::Data{};
      },
      specs);
  for (const TensorType& t : types)
    out.stacked.push_back(C::zeros(Ints(t.shape), t.dtype, t.device));
  return out;
}

}  // namespace

Scanned scan(ScanFunction round, Tensors carried, const Tensors& xs, Int length, bool reverse) {
  check_rows(xs, length);
  if (!require(Relation::le, 0, length))
    throw ValueError({.op = "scan",
                      .problem = "the number of rounds is negative",
                      .got = to_string(length),
                      .expected = "0 or more",
                      .next = "check the length"});
  if (Tracer* tracer = Tracer::current(); tracer != nullptr && Batch::current() == nullptr) {
    if (tracer->scope().prove(Relation::eq, length, 0) == SymScope::Truth::yes)
      return record_scan_of_nothing(*tracer, round, carried, xs);
    return record_scan(*tracer, round, carried, xs, length, reverse);
  }
  if (length == Int(0)) return scan_nothing(round, carried, xs);
  return scan_rounds(round, std::move(carried), xs, length.value(), reverse);
}

// ── associative_scan ────────────────────────────────────────────────────────────────────────────

namespace {

/// One pass: all elements from `d` on are combined with the one `d` before them.
Tensors combine_pass(CombineFunction combine, const Tensors& elems, int64_t dim, Int d, Int n) {
  Tensors early, late, out;
  for (const Tensor& x : elems) {
    early.push_back(S::slice(x, dim, 0, n - d, 1));
    late.push_back(S::slice(x, dim, d, n, 1));
  }
  const Tensors made = combine(early, late);
  check_alike("associative_scan", "in the function", late, made);
  for (size_t i = 0; i < elems.size(); ++i) {
    if (!require_equal(made[i].shape(), late[i].shape()))
      throw ShapeError({.op = "associative_scan",
                        .problem = "the function gives another shape than it takes",
                        .got = to_string(made[i].shape()),
                        .expected = to_string(late[i].shape()),
                        .next = "combine element by element along the axis"});
    out.push_back(S::cat({S::slice(elems[i], dim, 0, d, 1), made[i]}, dim));
  }
  return out;
}

}  // namespace

Tensors associative_scan(CombineFunction combine, Tensors elems, int64_t dim, bool reverse) {
  if (elems.empty()) return elems;
  const int axis = size_axis("associative_scan", dim, elems[0].rank());
  const Int n = elems[0].size(axis);
  for (const Tensor& x : elems)
    if (x.rank() <= axis || !require(Relation::eq, x.size(axis), n))
      throw ShapeError({.op = "associative_scan",
                        .problem = "the tensors have different sizes along the axis",
                        .got = to_string(type_of(x)),
                        .expected = absl::StrCat("a size of ", to_string(n)),
                        .next = "give tensors of one size along dim"});
  auto turned = [&] {
    if (!reverse) return;
    for (Tensor& x : elems) x = S::flip(x, {Int(axis)});
  };
  turned();
  for (Int d = 1; d < n; d = d + d) elems = combine_pass(combine, elems, axis, d, n);
  turned();
  return elems;
}

}  // namespace lathe
