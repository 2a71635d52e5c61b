#include "jit/simt/program.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"

namespace lathe::jit::simt {

int64_t apply(IxOp op, int64_t a, int64_t b) {
  switch (op) {
    case IxOp::add:
      return a + b;
    case IxOp::sub:
      return a - b;
    case IxOp::mul:
      return a * b;
    case IxOp::div:
    case IxOp::mod:
      LATHE_CHECK(a >= 0 && b > 0);
      return op == IxOp::div ? a / b : a % b;
    case IxOp::least:
      return std::min(a, b);
    case IxOp::most:
      return std::max(a, b);
    case IxOp::shl:
      return a << b;
    case IxOp::shr:
      return a >> b;
    case IxOp::band:
      return a & b;
    case IxOp::zeros:
      return std::countr_zero(static_cast<uint64_t>(a));
    case IxOp::ones:
      return std::popcount(static_cast<uint64_t>(a));
    case IxOp::width:
      return std::bit_width(static_cast<uint64_t>(a));
    default:
      LATHE_INTERNAL("a leaf has no operands");
  }
}

Ix::Ix(IxOp op, const Ix& a, const Ix& b) {
  const bool plain = a->op == IxOp::constant && (b.node_ == nullptr || b->op == IxOp::constant);
  if (plain) {
    *this = Ix(apply(op, a->value, b.node_ == nullptr ? 0 : b->value));
    return;
  }
  const bool by_one = op == IxOp::mul || op == IxOp::div;
  if ((op == IxOp::add && a.is(0)) || (op == IxOp::mul && a.is(1)))
    *this = b;
  else if (((op == IxOp::add || op == IxOp::sub) && b.is(0)) || (by_one && b.is(1)))
    *this = a;
  else if ((op == IxOp::mul && (a.is(0) || b.is(0))) || (op == IxOp::mod && b.is(1)))
    *this = Ix(0);
  else
    node_ = std::make_shared<const IxNode>(IxNode{op, 0, a, b});
}

Program with_lowered_functions(Program program) {
  for (ScalarFunction& f : program.functions) f = lower(f);
  return program;
}

}  // namespace lathe::jit::simt
