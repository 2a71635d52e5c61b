#include "jit/llvm/body.h"

#include <llvm/IR/MDBuilder.h>

#include "core/scalar/philox.h"

namespace lathe::jit {

using llvm::Value;

namespace {

/// The word of core/scalar/philox.h: a number, a scalar or a vector of u32; widened when it meets a
/// vector.
struct Word {
  VectorOps* ops = nullptr;
  Value* value = nullptr;
  uint32_t number = 0;

  explicit Word(uint32_t n) : number(n) {}
  Word(VectorOps& o, Value* v) : ops(&o), value(v) {}

  static Word apply(Word a, Word b, auto&& op) {
    VectorOps& o = a.ops != nullptr ? *a.ops : *b.ops;
    const bool vector = a.is_vector() || b.is_vector();
    return {o, op(o, a.as(o, vector), b.as(o, vector))};
  }
  friend Word operator+(Word a, Word b) {
    return apply(a, b, [](VectorOps& o, Value* x, Value* y) { return o.b.CreateAdd(x, y); });
  }
  friend Word operator*(Word a, Word b) {
    return apply(a, b, [](VectorOps& o, Value* x, Value* y) { return o.b.CreateMul(x, y); });
  }
  friend Word operator^(Word a, Word b) {
    return apply(a, b, [](VectorOps& o, Value* x, Value* y) { return o.b.CreateXor(x, y); });
  }
  friend Word mulhi(Word a, Word b) {
    return apply(a, b, [](VectorOps& o, Value* x, Value* y) {
      llvm::Type* wide = x->getType()->getWithNewBitWidth(64);
      Value* product = o.b.CreateMul(o.b.CreateZExt(x, wide), o.b.CreateZExt(y, wide));
      return o.b.CreateTrunc(o.b.CreateLShr(product, 32), x->getType());
    });
  }

 private:
  bool is_vector() const { return value != nullptr && value->getType()->isVectorTy(); }
  Value* as(VectorOps& o, bool vector) const {
    Value* v = value != nullptr ? value : o.b.getInt32(number);
    return vector && !v->getType()->isVectorTy() ? o.splat(v) : v;
  }
};

}  // namespace

std::string check_body(const ScalarFunction& f) {
  for (const ExprNode& node : f.graph.nodes()) {
    if (info(node.prim).transcendental) return "the body is not lowered";
    if (node.prim == Prim::index) return "the body asks for a position along an axis";
  }
  return {};
}

std::vector<Value*> BodyEmitter::emit() {
  std::vector<uint32_t> roots(f_.outputs.begin(), f_.outputs.end());
  for (uint32_t id = 0; id < f_.graph.size(); ++id) {
    const Prim prim = f_.graph[id].prim;
    if (prim == Prim::check || prim == Prim::random)
      roots.push_back(id);  // four words share one computation
  }
  emit_needed(roots);
  std::vector<Value*> outputs;
  for (uint32_t id : f_.outputs) outputs.push_back(values_[id]);
  return outputs;
}

/// What the roots are computed from and has no value yet, but for slow sides, which emit_rare()
/// comes to. Returns what was added.
std::vector<uint32_t> BodyEmitter::emit_needed(absl::Span<const uint32_t> roots) {
  uint32_t end = 0;
  for (uint32_t id : roots) end = std::max(end, id + 1);
  std::vector<bool> needed(end);
  for (uint32_t id : roots) needed[id] = true;
  for (uint32_t id = end; id-- > 0;) {
    if (!needed[id] || values_[id] != nullptr) continue;
    const ExprNode& node = f_.graph[id];
    for (uint8_t k = 0; k < node.arity; ++k)
      if (node.prim != Prim::rare || k != 2) needed[node.args[k]] = true;
  }
  std::vector<uint32_t> added;
  for (uint32_t id = 0; id < end; ++id) {
    if (!needed[id] || values_[id] != nullptr) continue;
    values_[id] = emit_node(id);
    added.push_back(id);
  }
  return added;
}

Value* BodyEmitter::emit_node(uint32_t id) {
  const ExprNode node = f_.graph[id];
  if (node.arity == 0) return emit_leaf(node);
  if (node.prim == Prim::rare) return emit_rare(id);
  if (node.prim == Prim::real || node.prim == Prim::imag) {
    const ExprNode& input = f_.graph[node.args[0]];
    return context_.input(static_cast<uint32_t>(input.payload), node.prim == Prim::imag ? 1 : 0);
  }
  Value* args[3];
  DType types[3];
  for (uint8_t i = 0; i < node.arity; ++i) {
    args[i] = values_[node.args[i]];
    types[i] = f_.graph[node.args[i]].dtype;
  }
  if (node.prim == Prim::check) {
    context_.failed(ops_.b.CreateNot(args[0]), static_cast<uint32_t>(node.payload));
    return args[1];
  }
  return ops_.apply(node, {types, node.arity}, {args, node.arity});
}

Value* BodyEmitter::emit_leaf(const ExprNode& node) {
  switch (node.prim) {
    case Prim::constant:
      return ops_.constant(node.dtype, node.payload);
    case Prim::input:
      // A complex input has no value of its own: real and imag ask for its parts.
      return is_complex(node.dtype) ? nullptr
                                    : context_.input(static_cast<uint32_t>(node.payload), 0);
    case Prim::linear:
      return context_.linear();
    default:
      return random_word(static_cast<uint32_t>(node.payload));
  }
}

Value* BodyEmitter::emit_rare(uint32_t id) {
  const ExprNode node = f_.graph[id];
  auto& b = ops_.b;
  Value *mask = values_[node.args[0]], *fast = values_[node.args[1]];
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* slow = llvm::BasicBlock::Create(b.getContext(), "slow", function);
  auto* join = llvm::BasicBlock::Create(b.getContext(), "join", function);
  llvm::MDNode* unlikely = llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1000);
  llvm::BasicBlock* before = b.GetInsertBlock();
  b.CreateCondBr(ops_.any(mask), slow, join, unlikely);
  b.SetInsertPoint(slow);
  const std::vector<uint32_t> inside = emit_needed({node.args[2]});
  Value* chosen = b.CreateSelect(mask, values_[node.args[2]], fast);
  for (uint32_t added : inside) values_[added] = nullptr;  // of no use to who did not come here
  llvm::BasicBlock* after = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  llvm::PHINode* result = b.CreatePHI(fast->getType(), 2);
  result->addIncoming(fast, before);
  result->addIncoming(chosen, after);
  return result;
}

Value* BodyEmitter::random_word(uint32_t k) {
  auto& block = random_blocks_[k / 4];
  if (block[0] == nullptr) {
    auto& b = ops_.b;
    const auto low = [&](Value* x) {
      return Word(ops_, b.CreateTrunc(x, x->getType()->getWithNewBitWidth(32)));
    };
    const auto high = [&](Value* x) { return low(b.CreateLShr(x, 32)); };
    Value *linear = context_.linear(), *call = context_.call(), *seed = context_.seed();
    const auto words = philox4x32_10<Word>(
        philox_counter<Word>(low(linear), high(linear), low(call), high(call), k / 4),
        {low(seed), high(seed)});
    for (size_t i = 0; i < 4; ++i) block[i] = words[i].value;
  }
  return block[k % 4];
}

}  // namespace lathe::jit
