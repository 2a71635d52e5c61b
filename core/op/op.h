// The definition: everything Lathe knows about an op is one value of type Op, made by one
// constructor call of Definitions in core/ops/<family>.cpp. Shape and dtype rule, eager kernel,
// generated code, fusability, in-place form, Python signature, stub, printer and docs are all
// computed from it.
//
// A definition has a kind, and the kind says what the definition must supply and what follows from
// it:
//
// clang-format off
//   elementwise  a body on Expr                broadcasting, promotion, every engine, derivative
//   reduce       a monoid on Exprs             the fixed tree over blocks of 512
//   scan         a monoid on Exprs             every prefix along an axis, by blocks of 512
//   contract     an index formula              shape rule, both adjoints, order of the sum, loops
//   view         a geometry rule               no data moves; `<name>_put` and the gradient
//   index        which argument indexes what   gather and scatter along an axis
//   sort         how many, which direction     stable order: ties by lowest index, NaN largest
//   create       a body on index Exprs         generated where it is used
//   random       a body on random words        the same stream in every mode
//   opaque       an inference rule only        some table entry must implement it
//   composite    an expansion in other ops     never reaches a backend unless one claims it whole
// clang-format on
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/expr/expr.h"
#include "core/op/args.h"
#include "core/op/formula.h"
#include "core/op/schema.h"

namespace lathe {

enum class Kind : uint8_t {
  elementwise,
  reduce,
  scan,
  contract,
  view,
  index,
  sort,
  create,
  random,
  opaque,
  composite,
};
inline constexpr int kKinds = 11;
std::string_view name(Kind kind);

/// How sure the bits of a result are; printed by explain(). See docs/architecture.md.
enum class Bits : uint8_t { defined, pinned, free };
std::string_view name(Bits bits);

/// What dtype an op computes in and gives, from its tensor and scalar arguments.
enum class Promote : uint8_t {
  numeric,    // the common dtype, given back
  to_float,   // integers and bool become the default float dtype
  boolean,    // computed in the common dtype, gives bool
  truth,      // as boolean, but u8 of u8
  sum,        // integers and bool become i64, the rest as numeric
  real,       // as numeric, but a complex input gives its real type (abs, real)
  complex,    // as numeric, giving the complex type of that width
  index,      // gives i64 whatever comes in
  attribute,  // gives the dtype argument; computed in the input's own dtype (cast)
  first,      // the first tensor argument's dtype rules
};

class Grad;
using Grads = absl::InlinedVector<Tensor, 4>;
using GradRule = Grads (*)(Grad);
struct Op;
using InferRule = std::function<Types(Args)>;

/// Which inputs and outputs a derivative reads; anything else it asks for is an InternalError.
struct Saves {
  uint32_t inputs = 0, outputs = 0;
  friend constexpr Saves operator|(Saves a, Saves b) {
    return {a.inputs | b.inputs, a.outputs | b.outputs};
  }
};
constexpr Saves save_x(int i) { return {1u << i, 0}; }
constexpr Saves save_y(int i) { return {0, 1u << i}; }

/// A schema argument whose dtype does not take part in promotion (the condition of where).
struct FixedType {
  int param;
  DType dtype;
};

/// Where Python finds a definition under its public name, as in PyTorch. `lathe.ops` has them all.
enum Place : uint8_t {
  kNowhere = 0,     // machinery: only in lathe.ops
  kFunction = 1,    // lathe.<name>
  kMethod = 2,      // Tensor.<name>, where the first parameter is a tensor
  kFunctional = 4,  // lathe.nn.functional.<name>
  kInPlace = 8,     // Tensor.<name>_ and nothing else, where there is an in-place form
  kEverywhere = kFunction | kMethod | kFunctional,
};

/// What a contraction of these operand dtypes is summed in, and what it gives.
struct SumRule {
  DType a, b, accumulator, result;
};

/// Whether an op calls a function of the front end's, and how. A pure call may vanish if its
/// results are not used, and merge with an equal one; ordered ones happen each, in their order.
enum class HostCall : uint8_t { none, pure, ordered };

/// What a scope of autocast (core/dispatch/autocast.cpp) does with the floating operands of a call,
/// those of f64 excepted.
enum class Autocast : uint8_t {
  none,    // nothing
  narrow,  // to the scope's dtype: products (every contraction is one)
  wide,    // f16 and bf16 to f32: what loses its digits there
  widest,  // to the widest among them: joins
};

struct Extra {
  DTypeSet domain = all_dtypes;  // of the dtype computed in, after promotion
  Promote promote = Promote::numeric;
  std::vector<FixedType> fixed = {};
  std::vector<SumRule> sums = {};  // contractions: where that is not what `promote` says
  InferRule infer = nullptr;       // replaces the kind's own rule
  Saves saves = {};
  /// Fewer of them, where not all gradients are asked for: bits of the arguments that may be.
  Saves (*saves_for)(uint32_t wanted) = nullptr;
  GradRule grad = nullptr;  // absent: the kind's own (elementwise, view, contract), or none
  bool no_grad = false;     // stated: this op has no derivative (comparisons, argmax)
  bool overlaps = false;    // view definitions: elements may share an address, so nothing is put
  int version = 1;          // of the meaning, in files
  uint8_t places = kFunction | kMethod;  // of Place
  /// More names for the same definition. A bare one, `absolute`, is found at `places` as its own
  /// name is; with a module in front, `special.expit`, it is found in lathe.special only.
  std::vector<std::string_view> also = {};
  /// Of these names, the public one whose complex results users take for views of the operand.
  /// Writes to them are refused. A real operand is the result, or a view of it is.
  std::string_view taken_for_view = {};
  bool inplace = false;  // composite: there is an in-place form, <name>_ (other kinds: see ops.h)
  /// Opaque: each result is made along the last axes of the operands, and all have the same
  /// further ones in front of them (linear algebra, Fourier transforms). Arguments that name axes
  /// are called dim.
  bool leading = false;
  /// Where each operand may be a number, all may be at once, as in add(2, 3). Otherwise a user's
  /// call needs a tensor.
  bool numbers_alone = false;
  bool draws = false;             // takes generator= (those that create and draw do anyhow)
  bool inplace_argument = false;  // the entry of nn.functional takes inplace=False last
  /// The expansion of a composite, or `grad`, only moves elements, or leaves the arithmetic to one
  /// definition that rounds once. Every other one computes in its op type: f16 and bf16 operands
  /// are converted to f32 before it and its results rounded once at its end (see expand in
  /// core/dispatch/call.h and run_gradient in core/dispatch/grad.h).
  bool moves = false;
  /// A composite with operands in f16 or bf16: its results are rounded to the dtype of the first
  /// one, whatever the others have in common with it (parameters of norms are often kept in f32).
  bool results_like_first = false;
  /// A composite whose expansion reads data, as the size of its result depends on them. A trace
  /// refuses it: these words say what to write there instead.
  std::string_view instead_in_trace = {};
  Autocast autocast = Autocast::none;
  HostCall host = HostCall::none;
  /// Of a result Tensor[]: whether, for these arguments, a list of one is handed out as that
  /// tensor.
  bool (*lone)(Args) = nullptr;
  std::string_view doc = {};
};

/// A commutative or at least associative-by-definition reduction; tuples of Exprs, so argmax is one
/// too.
struct Monoid {
  std::function<Exprs(DType)> unit;
  std::function<Exprs(Exprs)> lift;  // of the element, and its index in the reduced space (i64)
  std::function<Exprs(Exprs, Exprs)> combine;
  std::function<Exprs(Exprs, Expr)> finish;  // of the state and the element count (i64)
  bool needs_element = false;                // no elements: ValueError instead of the unit
};
/// One value, no index, no finish.
Monoid monoid(Expr (*unit)(DType), Expr (*combine)(Expr, Expr));

/// Codes of failed `check`s in bodies, and the sentence each becomes.
inline constexpr int kDivisionByZero = 1;
std::string_view check_message(uint32_t code);

using GeometryRule = Geometry (*)(const Geometry&, Args);

enum class Access : uint8_t {
  take,        // out[..., i, ...] = x[..., index[..., i, ...], ...]: gather along an axis
  put,         // out = x; src folded into out[index], in row-major order of the index
  select,      // whole slices along the axis, by an index of any rank (index_select, embedding)
  select_put,  // out = x; whole slices of src folded into those that index names, in order
  through,     // out = x; view(out) = value: the way back of a view definition (Op::put_of)
};
/// What a written place holds once a value has met the one that was there.
enum class Fold : uint8_t { last, sum, prod, max, min };
struct IndexSpec {
  Access access = Access::take;
  int axis = 1;     // schema position of the axis argument
  int index = 2;    // of the index tensor
  int source = -1;  // of the values written
  Fold fold = Fold::last;
  bool inside = false;  // who calls it knows that there is an element for every index
};

/// Which slots of a sort definition's arguments say what.
struct SortSpec {
  int axis = 1;
  int count = -1;       // schema position of k; -1: all
  int descending = -1;  // of the flag; -1: ascending
};

using Expansion = std::function<Outputs(Args)>;

struct Op {
  uint16_t id = 0;
  Kind kind = Kind::opaque;
  Schema schema;
  Extra extra;
  // What the kind needs; only its own field is set.
  BodyFn body;
  Monoid monoid;
  Formula formula;
  /// Contractions: what computes each role of the formula (core/op/formula.h) from the other two,
  /// and which role this computes. Null: roles[0] does, with permuted operands.
  std::array<const Op*, 3> roles{};
  int role = 0;
  GeometryRule geometry = nullptr;
  IndexSpec index;
  SortSpec sort;
  Expansion expansion;
  const Op* put =
      nullptr;  // view definitions: the companion that writes a value back through the view
  const Op* put_of = nullptr;  // and the way back

  const std::string& name() const { return schema.name; }
  const std::string& public_name() const { return schema.public_name; }
  /// dtype rule, then shape rule: the only inference there is, run by every call of every engine.
  /// Throws ShapeError, DTypeError, DeviceError ... naming this op.
  Types infer(Args args) const;
  /// The body for this compute dtype, built once and kept. Elementwise, create and random
  /// definitions.
  const ScalarFunction& scalar(DType compute) const;

 private:
  friend class Definitions;
  struct BodyCache;
  std::shared_ptr<BodyCache> bodies_;
};

/// Schema positions of a body's inputs: tensors and numbers; create and random definitions: plain
/// ints too (as i64). In every engine, input k of `scalar()` is argument body_params()[k].
absl::InlinedVector<int, 4> body_params(const Op& op);

/// What an elementwise or reducing definition computes in and gives, for these arguments.
struct ElementTypes {
  DType compute;                          // dtype the body is built for (never f16 or bf16)
  DType common;                           // dtype operands meet in before widening to `compute`
  absl::InlinedVector<DType, 2> results;  // stored dtypes
};
ElementTypes element_types(const Op& op, Args args);
/// What a contraction's operands meet in, its terms are summed in and its sums are rounded to. An
/// argument `out_dtype` states the last two.
struct SumTypes {
  DType operands, accumulator, result;
};
SumTypes sum_types(const Op& op, Args args);
/// The common shape of broadcast operands; ShapeError names the op and both shapes.
Shape broadcast(const Op& op, absl::Span<const Shape* const> shapes);

class Definitions {
 public:
  using Text = std::string_view;
  /// `body`: any function of as many Exprs as the schema has tensor and scalar arguments.
  template <class F>
  void elementwise(Text schema, F body, Extra extra = {}) {
    add_elementwise(schema, wrap(body), std::move(extra));
  }
  void reduce(Text schema, Monoid monoid, Extra extra = {});
  void scan(Text schema, Monoid monoid, Extra extra = {});
  /// Of two tensors, the first two arguments. With the definition come those of its adjoints,
  /// `<name>_d0` and `<name>_d1`: operand 0 or 1 given the cotangent `dy` in its place and the
  /// other operand. An adjoint that is this definition with permuted operands gets none.
  void contract(Text schema, Text formula, Extra extra = {});
  void view(Text schema, GeometryRule rule, Extra extra = {});
  void index(Text schema, IndexSpec spec, Extra extra = {});
  void sort(Text schema, SortSpec spec, Extra extra = {});
  template <class F>
  void create(Text schema, InferRule infer, F body, Extra extra = {}) {
    add_create(schema, infer, wrap(body), std::move(extra));
  }
  template <class F>
  void random(Text schema, InferRule infer, F body, Extra extra = {}) {
    add_random(schema, infer, wrap(body), std::move(extra));
  }
  Op& opaque(Text schema, InferRule infer, Extra extra = {});
  void composite(Text schema, Expansion expansion, Extra extra = {});

  const std::vector<std::unique_ptr<Op>>& all() const { return ops_; }
  const Op* find(Text name) const;

 private:
  template <class F>
  static BodyFn wrap(F f);
  void add_elementwise(Text schema, BodyFn body, Extra extra);
  void add_create(Text schema, InferRule infer, BodyFn body, Extra extra);
  void add_random(Text schema, InferRule infer, BodyFn body, Extra extra);
  Op& add(Kind kind, Text schema, Extra extra);  // a duplicate name throws NameError
  void add_adjoints(Op& op);
  std::vector<std::unique_ptr<Op>> ops_;
  absl::flat_hash_map<std::string, const Op*> by_name_;
};

/// core/ops/all.cpp: one call a family.
void add_all_definitions(Definitions& rows);

/// The process's definitions: built on first use, then extended only by define_op (custom ops).
const Op* find_op(std::string_view name);
const Op& get_op(std::string_view name);  // NameError with the nearest names
std::vector<const Op*> all_ops();
/// The definitions that share this public name, their own or one of Extra::also, in order of
/// definition; none: there is no such.
std::vector<const Op*> overloads(std::string_view public_name);
/// Adds definitions after start-up (custom ops). Thread-safe; NameError if a name is taken.
void define_ops(const std::function<void(Definitions&)>& add);

// ── wrapping bodies ─────────────────────────────────────────────────────────────────────────────
namespace detail {
template <size_t... I, class F>
Exprs apply_body(F& f, absl::Span<const Expr> in, std::index_sequence<I...>) {
  auto result = f(in[I]...);
  if constexpr (std::is_same_v<decltype(result), Exprs>)
    return result;
  else
    return Exprs{result};
}
template <class F>
struct BodyArity : BodyArity<decltype(&F::operator())> {};
template <class R, class C, class... A>
struct BodyArity<R (C::*)(A...) const> {
  static constexpr size_t value = sizeof...(A);
};
template <class R, class... A>
struct BodyArity<R (*)(A...)> {
  static constexpr size_t value = sizeof...(A);
};
}  // namespace detail

template <class F>
BodyFn Definitions::wrap(F f) {
  return [f](absl::Span<const Expr> in) mutable {
    return detail::apply_body(f, in, std::make_index_sequence<detail::BodyArity<F>::value>());
  };
}

}  // namespace lathe
