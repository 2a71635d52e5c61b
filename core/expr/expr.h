// The scalar language: what an elementwise body, a monoid, a create or a random definition is
// written in.
//
// A body is an ordinary C++ function on Expr. Called once per dtype inside an ExprScope, it leaves
// behind an ExprGraph: a hash-consed, topologically ordered list of nodes, and that list *is* the
// body for every engine: the SIMD interpreter evaluates it node by node over 4 KiB strips, LLVM
// emits it, constant folding and the high-precision check interpret it, and `derivative`
// differentiates it.
//
// Two levels share the language. Transcendental primitives (exp, tanh, pow ...) are single nodes
// for the SIMD interpreter, whose kernels are compiled from the templates in core/scalar/math.h;
// `lower` replaces them by the same templates instantiated on Expr, which is what code generators
// consume. Either way the same sequence of IEEE operations runs, so the bits agree.
//
// Semantics are total: no undefined behaviour anywhere. Integers wrap; shift counts are taken
// modulo the width; float → int saturates and NaN gives 0; comparisons with NaN are false except
// ne; pmin(a, b) = a < b ? a : b and pmax(a, b) = a > b ? a : b exactly (so a NaN gives b).
//
// Types. Arithmetic is done on f32, f64 and the integers. f16 and bf16 are storage types: they are
// cast to f32 and back, nothing else (select and rare may pass them through). bool has logic: its +
// and pmax are or, its * and pmin are and. Every node's arguments agree
// in dtype unless the primitive says otherwise; a bare number takes the dtype of the operand it
// meets.
//
// Where to read: expr_prims.cpp (the table), expr_arithmetic.cpp (the functions bodies call),
// expr_simplify.cpp (`make`, the only way a node comes to be), expr_function.cpp (build, lower,
// inline_call), scalar.h (what each primitive means) and expr_evaluate.cpp, expr_derivative.cpp,
// expr_complex.cpp, complex_functions.cpp, expr_print.cpp.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expr/prim.h"
#include "core/scalar/dtype.h"

namespace lathe {

struct PrimInfo {
  std::string_view name;  // the op definition's name, where there is such a definition
  uint8_t arity;
  bool transcendental;  // has a template in core/scalar/math.h and must be lowered for code
                        // generators
  bool smooth;          // has a derivative that is not zero
  DTypeSet domain;      // of the value operands
};
const PrimInfo& info(Prim prim);

class Expr;
using Exprs = absl::InlinedVector<Expr, 4>;

struct ExprNode {
  Prim prim;
  DType dtype;
  uint8_t arity = 0;
  uint32_t args[3] = {0, 0, 0};
  uint64_t payload = 0;  // constants: the bits, zero-extended; NaN always as the positive quiet one
  friend bool operator==(const ExprNode&, const ExprNode&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ExprNode& n) {
    return H::combine(std::move(h), n.prim, n.dtype, n.arity, n.args[0], n.args[1], n.args[2],
                      n.payload);
  }
};

/// A handle into the ExprGraph of the innermost ExprScope of this thread.
class Expr {
 public:
  Expr() = default;  // invalid
  // NOLINTBEGIN(google-explicit-constructor): bodies are written with plain numbers. A bare number
  // takes the dtype of the operand it meets.
  Expr(double value) : literal_(value), kind_(Kind::real_literal) {}
  Expr(int value) : literal_(value), kind_(Kind::int_literal) {}
  // NOLINTEND(google-explicit-constructor)
  static Expr node(uint32_t id) {
    Expr e;
    e.id_ = id;
    e.kind_ = Kind::node;
    return e;
  }
  bool valid() const { return kind_ != Kind::none; }
  bool literal() const { return kind_ == Kind::real_literal || kind_ == Kind::int_literal; }
  double literal_value() const { return literal_; }
  uint32_t id() const { return id_; }
  const ExprNode& operator*() const;
  const ExprNode* operator->() const { return &**this; }
  Prim prim() const { return (**this).prim; }
  DType dtype() const { return (**this).dtype; }
  Expr arg(int i) const { return node((**this).args[i]); }

 private:
  enum class Kind : uint8_t { none, node, real_literal, int_literal };
  double literal_ = 0;
  uint32_t id_ = 0;
  Kind kind_ = Kind::none;
};

/// What complex values are in a graph: pairs of floats, which is what engines take; or, for the
/// chain rule, nodes of a complex dtype like any other, which cannot be evaluated.
enum class ComplexAs : uint8_t { pairs, whole };

/// Nodes in topological order. A reference to one lasts until the next node is added.
class ExprGraph {
 public:
  ExprGraph() = default;
  explicit ExprGraph(ComplexAs complex_as) : complex_as_(complex_as) {}
  bool keeps_complex() const { return complex_as_ == ComplexAs::whole; }
  const std::vector<ExprNode>& nodes() const { return nodes_; }
  const ExprNode& operator[](uint32_t id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }
  /// The raw entry point, below `make`: no check, no simplification, only sharing.
  uint32_t intern(const ExprNode& node);
  std::optional<uint32_t> find(const ExprNode& node) const;

 private:
  std::vector<ExprNode> nodes_;
  absl::flat_hash_map<ExprNode, uint32_t> known_;
  ComplexAs complex_as_ = ComplexAs::pairs;
};

/// Makes `graph` the one that Expr functions on this thread build into.
class ExprScope {
 public:
  explicit ExprScope(ExprGraph& graph);
  ~ExprScope();
  ExprScope(const ExprScope&) = delete;
  ExprScope& operator=(const ExprScope&) = delete;

 private:
  ExprGraph* outer_;
};
ExprGraph& current_exprs();

/// A finished body: what engines take. Only nodes that an output needs are there. Inputs are
/// numbered 0.. ; complex inputs and outputs appear as `real`/`imag` of an input, and as two
/// outputs, in that order. No node but such an input is complex. (Where the graph keeps complex
/// values, each is one node and one output.)
struct ScalarFunction {
  ExprGraph graph;
  std::vector<DType> inputs;
  std::vector<uint32_t> outputs;
  std::vector<DType> output_types;  // as the definition sees them: a complex one has two `outputs`
  /// One line a node: "%3:f32 = fma(%1, %0, 0.5)", where %0 .. are the inputs. Canonical: two
  /// functions print alike exactly when their graphs are the same.
  std::string print() const;
  uint64_t hash() const;  // the same in every process and on every machine
};

using BodyFn = std::function<Exprs(absl::Span<const Expr>)>;
/// Runs `body` on inputs of these dtypes and keeps only what its outputs need.
ScalarFunction build(const BodyFn& body, absl::Span<const DType> inputs,
                     ComplexAs complex_as = ComplexAs::pairs);
/// The same function with every transcendental primitive replaced by its template.
ScalarFunction lower(const ScalarFunction& f);
/// Copies `f` into the current graph with `inputs` in place of its arguments.
Exprs inline_call(const ScalarFunction& f, absl::Span<const Expr> inputs);

// ── building ────────────────────────────────────────────────────────────────────────────────────
/// The node, or a simpler one with the same bits for every input. `dtype` is the result's.
/// Arguments are nodes, not bare numbers, and not complex. DTypeError where the primitive is not
/// defined for them.
Expr make(Prim prim, DType dtype, absl::Span<const Expr> args, uint64_t payload = 0);
Expr constant(DType dtype, double value);
Expr constant_bits(DType dtype, uint64_t bits);
Expr input(int which, DType dtype);
Expr index(int axis);
Expr linear_index();
Expr random_word(int k);  // 0 <= k < 1024

Expr operator+(Expr, Expr);
Expr operator-(Expr, Expr);
Expr operator*(Expr, Expr);
Expr operator/(Expr, Expr);
Expr operator-(Expr);
Expr fma(Expr, Expr, Expr);
Expr abs(Expr);
Expr sqrt(Expr);
Expr pmin(Expr, Expr);
Expr pmax(Expr, Expr);
Expr floor(Expr);
Expr ceil(Expr);
Expr trunc(Expr);
Expr rint(Expr);
Expr floor_div(Expr, Expr);  // integers
Expr mod(Expr, Expr);        // integers
Expr fmod(Expr, Expr);       // floats
Expr mulhi(Expr, Expr);      // u32
Expr lt(Expr, Expr);
Expr le(Expr, Expr);
Expr eq(Expr, Expr);
Expr ne(Expr, Expr);
Expr operator&(Expr, Expr);
Expr operator|(Expr, Expr);
Expr operator^(Expr, Expr);
Expr operator~(Expr);
Expr shl(Expr, Expr);
Expr shr(Expr, Expr);
Expr select(Expr condition, Expr yes, Expr no);
Expr cast(Expr, DType);
Expr bits(Expr);
Expr frombits(Expr, DType);  // u32 → f32, u64 → f64
Expr round_magic(Expr x, Expr c);
Expr addexp(Expr x, Expr n);
Expr rare(Expr mask, Expr fast, Expr slow);
Expr check(Expr condition, Expr x, int code);
Expr isnan(Expr);
Expr is_negative(Expr);  // sign bit, NaN counts as positive
Expr square(Expr);
/// Transcendental primitives by name: unary(Prim::exp, x).
Expr unary(Prim prim, Expr x);
Expr binary(Prim prim, Expr x, Expr y);
inline Expr exp(Expr x) { return unary(Prim::exp, x); }
inline Expr exp2(Expr x) { return unary(Prim::exp2, x); }
inline Expr expm1(Expr x) { return unary(Prim::expm1, x); }
inline Expr log(Expr x) { return unary(Prim::log, x); }
inline Expr log2(Expr x) { return unary(Prim::log2, x); }
inline Expr log1p(Expr x) { return unary(Prim::log1p, x); }
inline Expr tanh(Expr x) { return unary(Prim::tanh, x); }
inline Expr sigmoid(Expr x) { return unary(Prim::sigmoid, x); }
inline Expr erf(Expr x) { return unary(Prim::erf, x); }
inline Expr sin(Expr x) { return unary(Prim::sin, x); }
inline Expr cos(Expr x) { return unary(Prim::cos, x); }
inline Expr pow(Expr x, Expr y) { return binary(Prim::pow, x, y); }
inline Expr atan2(Expr y, Expr x) { return binary(Prim::atan2, y, x); }
Expr complex(Expr re, Expr im);
Expr real(Expr);
Expr imag(Expr);
Expr conj(Expr);

// ── derivative ──────────────────────────────────────────────────────────────────────────────────
/// d(sum over outputs of dy_k * y_k) / d(input i), one Expr an input, by the chain rule; built in
/// the current graph from `inputs` and `dy`. A function with complex inputs is one that keeps them
/// whole; their cotangents are dL/dRe + i dL/dIm. An input that is not a float or complex gets an
/// invalid Expr, and an invalid `dy` stands for zero.
Exprs derivative(const ScalarFunction& f, absl::Span<const Expr> inputs, absl::Span<const Expr> dy);

// ── evaluation ──────────────────────────────────────────────────────────────────────────────────
/// One element, by the portable scalar engine: the reference that all others are tested against.
/// `inputs` and results are raw little-endian bits of the node dtypes; a complex one is two, its
/// parts.
struct ScalarEnv {
  absl::Span<const uint64_t> inputs;
  absl::Span<const int64_t> index = {};
  int64_t linear = 0;
  uint64_t seed = 0, call = 0;
  uint32_t* failed = nullptr;  // set to the code of a failed `check`
};
std::vector<uint64_t> evaluate(const ScalarFunction& f, const ScalarEnv& env);
/// One primitive on constants (never a leaf): what folding uses, and what the primitive means.
uint64_t evaluate_prim(const ExprNode& node, absl::Span<const DType> types,
                       absl::Span<const uint64_t> args);

}  // namespace lathe
