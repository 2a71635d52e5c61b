// The table of primitives: name, arity, and what may be asked of them.
#include <array>

#include "core/expr/expr.h"

namespace lathe {
namespace {

struct Row {
  Prim prim;
  PrimInfo info;
};

constexpr DTypeSet kFloats{DType::f32, DType::f64};
constexpr DTypeSet kWords{DType::u32, DType::u64};
constexpr DTypeSet kNumbers = kFloats | integers;
constexpr DTypeSet kLogic = integers | DTypeSet{DType::bool_};
constexpr DTypeSet kStored = kNumbers | DTypeSet{DType::bool_, DType::f16, DType::bf16};
constexpr DTypeSet kAny = kStored | complexes;

constexpr Row leaf(Prim prim, std::string_view name) {
  return {prim, {name, 0, false, false, kAny}};
}
constexpr Row smooth(Prim prim, std::string_view name, uint8_t arity, DTypeSet domain) {
  return {prim, {name, arity, false, true, domain}};
}
constexpr Row step(Prim prim, std::string_view name, uint8_t arity, DTypeSet domain) {
  return {prim, {name, arity, false, false, domain}};
}
constexpr Row function(Prim prim, std::string_view name, uint8_t arity = 1) {
  return {prim, {name, arity, true, true, kFloats}};
}

constexpr std::array<Row, kPrims> kRows = {{
    leaf(Prim::constant, "constant"),
    leaf(Prim::input, "input"),
    leaf(Prim::index, "index"),
    leaf(Prim::linear, "linear"),
    leaf(Prim::random, "random"),
    smooth(Prim::add, "add", 2, kNumbers),
    smooth(Prim::sub, "sub", 2, kNumbers),
    smooth(Prim::mul, "mul", 2, kNumbers),
    smooth(Prim::div, "div", 2, kFloats),
    smooth(Prim::fma, "fma", 3, kNumbers),
    smooth(Prim::neg, "neg", 1, kNumbers),
    smooth(Prim::abs, "abs", 1, kNumbers),
    smooth(Prim::sqrt, "sqrt", 1, kFloats),
    smooth(Prim::pmin, "pmin", 2, kNumbers),
    smooth(Prim::pmax, "pmax", 2, kNumbers),
    step(Prim::floor, "floor", 1, kNumbers),
    step(Prim::ceil, "ceil", 1, kNumbers),
    step(Prim::trunc, "trunc", 1, kNumbers),
    step(Prim::rint, "round", 1, kNumbers),
    step(Prim::floor_div, "floor_divide", 2, integers),
    step(Prim::mod, "remainder", 2, integers),
    smooth(Prim::fmod, "fmod", 2, kFloats),
    step(Prim::mulhi, "mulhi", 2, DTypeSet{DType::u32}),
    step(Prim::lt, "lt", 2, kNumbers),
    step(Prim::le, "le", 2, kNumbers),
    step(Prim::eq, "eq", 2, kNumbers),
    step(Prim::ne, "ne", 2, kNumbers),
    step(Prim::bit_and, "bitwise_and", 2, kLogic),
    step(Prim::bit_or, "bitwise_or", 2, kLogic),
    step(Prim::bit_xor, "bitwise_xor", 2, kLogic),
    step(Prim::bit_not, "bitwise_not", 1, kLogic),
    step(Prim::shl, "shl", 2, integers),
    step(Prim::shr, "shr", 2, integers),
    smooth(Prim::select, "where", 3, kStored),
    smooth(Prim::cast, "cast", 1, kStored),
    step(Prim::bits, "bits", 1, kFloats),
    step(Prim::frombits, "frombits", 1, kWords),
    step(Prim::round_magic, "round_magic", 2, kFloats),
    smooth(Prim::addexp, "addexp", 2, kFloats),
    smooth(Prim::rare, "rare", 3, kStored),
    smooth(Prim::check, "check", 2, kStored),
    function(Prim::exp, "exp"),
    function(Prim::exp2, "exp2"),
    function(Prim::expm1, "expm1"),
    function(Prim::log, "log"),
    function(Prim::log2, "log2"),
    function(Prim::log10, "log10"),
    function(Prim::log1p, "log1p"),
    function(Prim::tanh, "tanh"),
    function(Prim::sigmoid, "sigmoid"),
    function(Prim::erf, "erf"),
    function(Prim::erfc, "erfc"),
    function(Prim::sin, "sin"),
    function(Prim::cos, "cos"),
    function(Prim::tan, "tan"),
    function(Prim::asin, "asin"),
    function(Prim::acos, "acos"),
    function(Prim::atan, "atan"),
    function(Prim::sinh, "sinh"),
    function(Prim::cosh, "cosh"),
    function(Prim::asinh, "asinh"),
    function(Prim::acosh, "acosh"),
    function(Prim::atanh, "atanh"),
    function(Prim::pow, "pow", 2),
    function(Prim::atan2, "atan2", 2),
    function(Prim::lgamma, "lgamma"),
    function(Prim::digamma, "digamma"),
    function(Prim::erfinv, "erfinv"),
    smooth(Prim::complex, "complex", 2, kFloats),
    smooth(Prim::real, "real", 1, complexes),
    smooth(Prim::imag, "imag", 1, complexes),
    smooth(Prim::conj, "conj", 1, complexes),
}};

constexpr bool in_order() {
  for (int i = 0; i < kPrims; ++i)
    if (static_cast<int>(kRows[static_cast<size_t>(i)].prim) != i) return false;
  return true;
}
static_assert(in_order(), "rows stand in the order of enum Prim");

}  // namespace

const PrimInfo& info(Prim prim) { return kRows[static_cast<size_t>(prim)].info; }

}  // namespace lathe
