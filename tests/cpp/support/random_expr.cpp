#include "tests/cpp/support/random_expr.h"

#include <bit>
#include <cmath>

namespace lathe::testing {
namespace {

size_t below(std::mt19937_64& rng, size_t n) { return static_cast<size_t>(rng() % n); }

uint64_t float_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::f16:
      return f32_to_f16(static_cast<float>(value));
    case DType::bf16:
      return f32_to_bf16(static_cast<float>(value));
    case DType::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<uint64_t>(value);
  }
}

uint64_t mask_of(DType d) {
  if (d == DType::bool_) return 1;
  return size_of(d) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size_of(d))) - 1;
}

struct Layout {
  int mantissa;
  uint64_t exponent_mask;
};
Layout layout_of(DType d) {
  switch (d) {
    case DType::f16:
      return {10, 0x7c00};
    case DType::bf16:
      return {7, 0x7f80};
    case DType::f32:
      return {23, 0x7f800000};
    default:
      return {52, 0x7ff0000000000000};
  }
}

bool is_nan(DType d, uint64_t bits) {
  return is_floating(d) && (bits & (mask_of(d) >> 1)) > layout_of(d).exponent_mask;
}

}  // namespace

bool same_value(DType dtype, uint64_t a, uint64_t b) {
  return a == b || (is_nan(dtype, a) && is_nan(dtype, b));
}

std::vector<uint64_t> special_values(DType dtype) {
  const uint64_t mask = mask_of(dtype), top = (mask >> 1) + 1;
  if (dtype == DType::bool_) return {0, 1};
  if (!is_floating(dtype))
    return {0, 1, 2, 3, 7, mask, mask - 1, mask - 6, top, top - 1, top + 1, mask / 3, 100 & mask};
  const Layout layout = layout_of(dtype);
  const uint64_t infinity = layout.exponent_mask, one = float_bits(dtype, 1);
  std::vector<uint64_t> values = {0,
                                  top,
                                  1,
                                  top | 1,
                                  infinity,
                                  top | infinity,
                                  infinity | 1 << 5,
                                  infinity - 1,
                                  (top | infinity) - 1,
                                  uint64_t{1} << layout.mantissa,
                                  (uint64_t{1} << layout.mantissa) - 1,
                                  one + 1,
                                  one - 1};
  for (double v : {1.0,
                   -1.0,
                   0.5,
                   -0.5,
                   1.5,
                   2.0,
                   -2.0,
                   2.5,
                   3.0,
                   127.5,
                   255.0,
                   256.0,
                   -128.0,
                   -129.0,
                   1e3,
                   65504.0,
                   65520.0,
                   8388607.5,
                   2147483647.0,
                   2147483648.0,
                   -2147483648.0,
                   -2147483904.0,
                   4294967295.0,
                   9223372036854775808.0,
                   -9223372036854775808.0,
                   18446744073709551616.0,
                   1e-3,
                   0.1,
                   -0.1,
                   88.7,
                   -87.4,
                   1e30})
    values.push_back(float_bits(dtype, v));
  return values;
}

uint64_t random_value(DType dtype, std::mt19937_64& rng) {
  if (rng() % 2 != 0) {
    const auto values = special_values(dtype);
    return values[below(rng, values.size())];
  }
  if (!is_floating(dtype)) return (rng() >> (rng() % 64)) & mask_of(dtype);
  if (rng() % 4 == 0) return rng() & mask_of(dtype);  // any pattern at all
  return float_bits(dtype, std::normal_distribution<double>(0, 3)(rng));
}

ScalarFunction RandomProgram::raw() const {
  ScalarFunction f;
  f.inputs = inputs;
  std::vector<uint32_t> ids;
  for (ExprNode node : nodes) {
    for (int i = 0; i < node.arity; ++i) node.args[i] = ids[node.args[i]];
    ids.push_back(f.graph.intern(node));
  }
  for (uint32_t id : outputs) {
    f.outputs.push_back(ids[id]);
    f.output_types.push_back(nodes[id].dtype);
  }
  return f;
}

ScalarFunction RandomProgram::built() const {
  return build(
      [&](absl::Span<const Expr> given) {
        std::vector<Expr> made;
        for (const ExprNode& node : nodes) {
          absl::InlinedVector<Expr, 3> args;
          for (int i = 0; i < node.arity; ++i) args.push_back(made[node.args[i]]);
          made.push_back(node.prim == Prim::input
                             ? given[node.payload]
                             : make(node.prim, node.dtype, args, node.payload));
        }
        Exprs results;
        for (uint32_t id : outputs) results.push_back(made[id]);
        return results;
      },
      inputs);
}

namespace {

/// Grows a program a node at a time, keeping for each dtype which nodes have it.
class Grower {
 public:
  Grower(std::mt19937_64& rng, const ProgramOptions& options) : rng_(rng), options_(options) {}

  RandomProgram grow() {
    const size_t inputs = 1 + below(rng_, 4);
    for (size_t i = 0; i < inputs; ++i) {
      const DType d = options_.inputs[below(rng_, options_.inputs.size())];
      program_.inputs.push_back(d);
      add({Prim::input, d, 0, {}, i});
    }
    if (options_.leaves) add_leaves();
    while (program_.nodes.size() < inputs + static_cast<size_t>(options_.steps)) step();
    program_.outputs = {static_cast<uint32_t>(program_.nodes.size() - 1),
                        static_cast<uint32_t>(below(rng_, program_.nodes.size()))};
    return std::move(program_);
  }

 private:
  uint32_t add(const ExprNode& node) {
    program_.nodes.push_back(node);
    return static_cast<uint32_t>(program_.nodes.size() - 1);
  }

  void add_leaves() {
    add({Prim::linear, DType::i64, 0, {}, 0});
    add({Prim::random, DType::u32, 0, {}, rng_() % 9});
    add({Prim::random, DType::u32, 0, {}, rng_() % 9});
  }

  /// A recent node of this dtype; if there is none, a cast of one that may be cast, or a constant.
  uint32_t operand(DType d) {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < program_.nodes.size(); ++i)
      if (program_.nodes[i].dtype == d) found.push_back(i);
    if (!found.empty() && rng_() % 8 != 0)
      return found[found.size() - 1 - below(rng_, found.size())];
    if (rng_() % 3 == 0) return add_constant(d);
    const auto any = static_cast<uint32_t>(below(rng_, program_.nodes.size()));
    return add({Prim::cast, d, 1, {any}, 0});
  }

  uint32_t add_constant(DType d) {
    // What folding and exact rules look for, more often than chance would give it.
    static constexpr double kCommon[] = {0, -0.0, 1, -1, 2, 0.5, -0.25, 3};
    uint64_t bits = random_value(d, rng_);
    if (is_floating(d) && rng_() % 2 != 0) bits = float_bits(d, kCommon[below(rng_, 8)]);
    if (!is_floating(d) && rng_() % 2 != 0) bits = below(rng_, 2) != 0 ? mask_of(d) : rng_() % 2;
    if (is_nan(d, bits))
      bits = layout_of(d).exponent_mask | uint64_t{1} << (layout_of(d).mantissa - 1);
    return add({Prim::constant, d, 0, {}, bits});
  }

  DType operand_type(Prim prim) {
    const DTypeSet domain = info(prim).domain;
    for (;;) {
      const DType d = kScalarTypes[below(rng_, std::size(kScalarTypes))];
      if (domain.has(d)) return d;
    }
  }

  bool wanted(Prim prim) {
    if (info(prim).arity == 0 || prim >= Prim::complex) return false;
    if (prim == Prim::addexp)
      return false;  // outside its domain only its own engine's definition holds
    return options_.transcendental || !info(prim).transcendental;
  }

  void step() {
    const auto prim = static_cast<Prim>(below(rng_, kPrims));
    if (!wanted(prim)) return;
    const bool condition = prim == Prim::select || prim == Prim::rare || prim == Prim::check;
    const DType d = operand_type(prim);
    ExprNode node{prim, d, info(prim).arity, {}, 0};
    for (int i = 0; i < node.arity; ++i)
      node.args[i] = operand(condition && i == 0 ? DType::bool_ : d);
    if (prim >= Prim::lt && prim <= Prim::ne) node.dtype = DType::bool_;
    if (prim == Prim::cast) node.dtype = kScalarTypes[below(rng_, std::size(kScalarTypes))];
    if (prim == Prim::bits) node.dtype = d == DType::f64 ? DType::u64 : DType::u32;
    if (prim == Prim::frombits) node.dtype = d == DType::u64 ? DType::f64 : DType::f32;
    if (prim == Prim::check) node.payload = 1 + rng_() % 3;
    add(node);
  }

  std::mt19937_64& rng_;
  const ProgramOptions& options_;
  RandomProgram program_;
};

}  // namespace

RandomProgram random_program(std::mt19937_64& rng, const ProgramOptions& options) {
  return Grower(rng, options).grow();
}

}  // namespace lathe::testing
