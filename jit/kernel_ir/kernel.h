// The kernel IR: what our own code computes on tensors, in one form for every engine.
//
// A Kernel is a set of buffers, a set of axes, and a list of statements. The list runs once for
// each position of the parallel axes, which come first and in any order. Statements:
//
//   compute   elements of buffers from elements of buffers, by a ScalarFunction
//             (core/expr/expr.h), whose input k is operand k
//   for       its statements, for every position of one more axis
//   reduce    one value from all positions of one more axis, in the order that defines its bits
//   reduce rows   for every position of one more axis, one value from all positions of the parallel
//             axes: the sums that gradients of weights are
//
// The order of a sum is part of its statement: blocks of 512 elements, sixteen lanes in a block,
// halving, a binary counter of blocks (kernels/reference/reduce.h). How a kernel is walked stands
// beside it (schedule.h), so that no engine can change a bit. Rounding to a storage dtype between
// fused ops is in the functions as casts.
//
// An operand lies where its map says, is a number, or has pieces that lie in several places, by
// position (Pieces).
//
// Local buffers hold what goes from one statement to the next: of one element, or of one for each
// position of the inner axis. They live for one round of the list.
//
// Extents, strides and offsets are Ints over the graph's symbols: one kernel serves every shape,
// and code gets them as numbers in its argument block (jit/kernel/codegen.h). What may be
// specialised (a stride known to be 0 or 1) is visible, so it is part of its form.
//
// Where to read: lower.h and lower_rows.h (from the graph), print.cpp and parse.h (its text),
// verify.cpp (what is a kernel), scheduling.h (how it is walked), interpret.cpp (what it means),
// jit/llvm (machine code).
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/expr/expr.h"
#include "core/sizes/int.h"
#include "jit/kernel_ir/schedule.h"
#include "kernels/problem/bodies.h"

namespace lathe::jit {

struct Axis {
  Int extent;
};

enum class Space : uint8_t {
  argument,  // passed by the caller: inputs, outputs, arena slices
  local,     // the kernel's own: one round of the statements
};

struct Buf {
  DType dtype;
  Space space = Space::argument;
  Int elements = 0;  // local: how many
  std::string name;  // for people

  /// A local of one element: a register.
  bool scalar() const { return space == Space::local && identical(elements, Int(1)); }
};

/// Element index = offset + sum(strides[k] * axis k); axes as numbered in the kernel.
struct IndexMap {
  Int offset = 0;
  absl::InlinedVector<Int, 6> strides;  // one an axis of the kernel; missing ones are 0

  Int along(size_t axis) const { return axis < strides.size() ? strides[axis] : Int(0); }
};

struct Access {
  int buf;
  IndexMap map;
};
/// A number passed at run time (an Int over symbols, or a float argument): one for the whole
/// kernel.
struct Uniform {
  int slot;  // of Kernel::uniforms
  DType dtype;
};
/// Positions [first, last) of an axis.
struct Range {
  int axis;
  Int first, last;
};
/// What an operand is at some positions: elements that lie somewhere, or one value.
struct Piece {
  std::optional<Access> from;
  uint64_t bits = 0;          // without `from`
  std::vector<Range> within;  // one an axis at most; an axis that is not there: all of it
};
/// An operand of several pieces: the last one whose ranges hold the position counts. The first one
/// is there for all positions. What joining, padding, rolling and writing a slice make is read in
/// this way, and need not be made.
struct Pieces {
  DType dtype;
  std::vector<Piece> all;
};
using Operand = std::variant<Access, Uniform, Pieces>;

struct Statement;
using Block = std::vector<Statement>;

/// stores[k] = output k of f(operands)
struct Compute {
  ScalarFunction f;
  std::vector<Operand> operands;
  std::vector<Access> stores;
};

/// for axis in [0, extent): body. Rounds do not read what others write.
struct For {
  int axis;
  Block body;
};

/// The defined reduction over one axis; its result goes where the axes outside of it say.
/// `bodies.lift` takes the operands, then the element's index in the reduced space (i64).
struct Reduce {
  int axis;
  ReduceBodies bodies;
  std::vector<Operand> operands;
  std::vector<Access> stores;
};

/// The same over all positions of the parallel axes, in row-major order, for every position of
/// `axis`. The results are there when all positions are done: no statement reads them.
struct ReduceRows {
  int axis;
  ReduceBodies bodies;
  std::vector<Operand> operands;
  std::vector<Access> stores;
};

struct Statement {
  std::variant<Compute, For, Reduce, ReduceRows> node;
};

/// What calls need to know.
struct Facts {
  int64_t flops_per_element = 0;  // of a position of all axes
  int loads = 0, stores = 0;      // of an element, from and to tensors
  bool has_checks = false;        // a ScalarFunction has a `check`: the error slot may be written
};

struct Kernel {
  std::string name;          // for people: "gelu_3"
  std::vector<Buf> buffers;  // arguments first, in call order: inputs then outputs; then locals
  int inputs = 0, outputs = 0;
  std::vector<DType> uniforms;
  std::vector<Axis> axes;
  int parallel = 0;  // how many of them, from the first on, the statements run for each position of
  /// Where set, the one parallel axis cuts a line of so many elements into pieces, which the inner
  /// axis goes along: each but the last one as long as that axis says.
  std::optional<Int> line;
  Schedule schedule;
  Block body;
  Facts facts;

  std::string print() const;  // parse_kernel() reads it
  /// All that machine code depends on: neither names, nor where buffers come from, nor numbers
  /// other than 0 and 1, nor strides that code reads from its arguments.
  std::string form() const;
};

/// Calls f on every statement but loops, in the order in which they are written.
template <class B, class F>
void each_statement(B&& block, const F& f) {
  for (auto& s : block) {
    if (auto* loop = std::get_if<For>(&s.node)) each_statement(loop->body, f);
    if (auto* compute = std::get_if<Compute>(&s.node)) f(*compute);
    if (auto* reduce = std::get_if<Reduce>(&s.node)) f(*reduce);
    if (auto* reduce = std::get_if<ReduceRows>(&s.node)) f(*reduce);
  }
}

/// Calls on_operand on every operand, then on_store on every store, of each statement in turn: how
/// operands are numbered in an argument block.
template <class B, class OnOperand, class OnStore>
void each_operand(B&& block, const OnOperand& on_operand, const OnStore& on_store) {
  each_statement(block, [&](auto& statement) {
    for (auto& o : statement.operands) on_operand(o);
    for (auto& a : statement.stores) on_store(a);
  });
}

/// Calls f on every statement but loops, with the number of its first operand; its stores are
/// numbered behind its operands.
template <class B, class F>
void each_numbered(B&& block, const F& f) {
  size_t first = 0;
  each_statement(block, [&](auto& statement) {
    f(statement, first);
    first += statement.operands.size() + statement.stores.size();
  });
}

/// Calls f on every access, and whether it is a store.
template <class B, class F>
void each_access(B&& block, const F& f) {
  const auto read = [&](auto& o) {
    if (auto* a = std::get_if<Access>(&o)) f(*a, false);
    if (auto* pieces = std::get_if<Pieces>(&o))
      for (auto& piece : pieces->all)
        if (piece.from) f(*piece.from, false);
  };
  each_operand(block, read, [&](auto& a) { f(a, true); });
}

/// The functions that a statement runs for every element, then what it runs once.
template <class S>
auto functions(S& statement) {
  if constexpr (std::is_same_v<std::remove_const_t<S>, Compute>) {
    return std::array{&statement.f};
  } else {
    auto& b = statement.bodies;
    return std::array{&b.lift, &b.combine, &b.finish};
  }
}

/// How many operations one call of f is.
inline ptrdiff_t operations(const ScalarFunction& f) {
  const auto& nodes = f.graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.arity > 0; });
}

/// Does f ask for its element's row-major position? Checks and random words do.
inline bool reads_position(const ScalarFunction& f) {
  const auto& nodes = f.graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return n.prim == Prim::check || n.prim == Prim::linear || n.prim == Prim::random;
  });
}

/// One step of a reduction as a function: operands, index, states → states.
inline ScalarFunction step_of(const ReduceBodies& b) {
  std::vector<DType> types = b.lift.inputs;
  const size_t lifted = types.size(), states = b.state.size();
  types.insert(types.end(), b.state.begin(), b.state.end());
  return build(
      [&](absl::Span<const Expr> in) {
        const auto before = in.subspan(lifted);
        std::vector<Expr> both(before.begin(), before.end());
        for (Expr e : inline_call(b.lift, in.subspan(0, lifted))) both.push_back(e);
        LATHE_CHECK(both.size() == 2 * states);
        return inline_call(b.combine, both);
      },
      types);
}

/// A `finish` that gives the states of a part of what is reduced, for someone else to combine.
inline ScalarFunction states_alone(const std::vector<DType>& state) {
  std::vector<DType> counted = state;
  counted.push_back(DType::i64);
  return build([](absl::Span<const Expr> in) { return Exprs(in.begin(), in.end() - 1); }, counted);
}

/// The operands of several pieces, each with its number.
inline std::vector<std::pair<size_t, const Pieces*>> piecewise(const Kernel& kernel) {
  std::vector<std::pair<size_t, const Pieces*>> all;
  size_t number = 0;
  const auto read = [&](const Operand& o) {
    if (const auto* pieces = std::get_if<Pieces>(&o)) all.emplace_back(number, pieces);
    ++number;
  };
  each_operand(kernel.body, read, [&](const Access&) { ++number; });
  return all;
}

/// The reductions over the parallel axes, in order.
inline std::vector<const ReduceRows*> row_reductions(const Kernel& kernel) {
  std::vector<const ReduceRows*> all;
  for (const Statement& s : kernel.body)
    if (const auto* r = std::get_if<ReduceRows>(&s.node)) all.push_back(r);
  return all;
}

/// Whether no statement has anything to do with more than one position of the inner axis.
inline bool columns_are_apart(const Kernel& kernel) {
  return std::all_of(kernel.body.begin(), kernel.body.end(), [](const Statement& s) {
    return std::holds_alternative<For>(s.node) || std::holds_alternative<ReduceRows>(s.node);
  });
}

/// Its only statement, where that is a computation and no axis is inside of the parallel ones: what
/// is computed element by element. Null for others.
inline const Compute* of_elements(const Kernel& kernel) {
  const bool inner = static_cast<size_t>(kernel.parallel) != kernel.axes.size();
  if (kernel.body.size() != 1 || inner) return nullptr;
  return std::get_if<Compute>(&kernel.body[0].node);
}

/// f of elements along one axis of `extent` positions: operand k from a buffer of its own,
/// strides[k] elements apart, and the results side by side.
Kernel kernel_of_elements(const ScalarFunction& f, Int extent, absl::Span<const Int> strides);

/// Do its elements lie in row-major order along all axes?
inline bool is_flat(const Kernel& kernel, const IndexMap& map) {
  Int step = 1;
  for (size_t axis = kernel.axes.size(); axis-- > 0;) {
    if (!identical(map.along(axis), step)) return false;
    step = step * kernel.axes[axis].extent;
  }
  return true;
}
/// Is it one element for all positions?
inline bool is_one_element(const IndexMap& map) {
  return std::all_of(map.strides.begin(), map.strides.end(),
                     [](Int stride) { return identical(stride, Int(0)); });
}

/// Sets `facts`: what the statements ask for an element of.
void count_facts(Kernel& kernel);

/// Empty, or the first thing that is wrong with it.
std::string verify(const Kernel& kernel);

}  // namespace lathe::jit
