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

/// A tree of regions while they are being found. Every region but 0 is named by its `rare` node;
/// its parent is the region of that node.
struct BodyEmitter::Regions {
  std::vector<uint32_t> parent, depth;

  explicit Regions(size_t n) : parent(n, 0), depth(n, 0) {}
  void add(uint32_t rare, uint32_t inside) {
    parent[rare] = inside;
    depth[rare] = depth[inside] + 1;
  }
  uint32_t common(uint32_t a, uint32_t b) const {
    while (a != b) {
      if (depth[a] < depth[b]) std::swap(a, b);
      a = parent[a];
    }
    return a;
  }
};

std::string check_body(const ScalarFunction& f) {
  for (const ExprNode& node : f.graph.nodes()) {
    if (info(node.prim).transcendental) return "the body is not lowered";
    if (node.prim == Prim::index) return "the body asks for a position along an axis";
  }
  return {};
}

void BodyEmitter::assign_regions() {
  constexpr uint32_t kUnused = ~0u;
  const size_t n = f_.graph.size();
  region_.assign(n, kUnused);
  Regions regions(n);
  const auto use = [&](uint32_t id, uint32_t in) {
    region_[id] = region_[id] == kUnused ? in : regions.common(region_[id], in);
  };
  for (uint32_t id : f_.outputs) use(id, 0);
  for (uint32_t id = 0; id < n; ++id) {
    const Prim prim = f_.graph[id].prim;
    if (prim == Prim::check || prim == Prim::random)
      use(id, 0);  // four words share one computation
  }
  for (uint32_t id = static_cast<uint32_t>(n); id-- > 0;) {
    const ExprNode& node = f_.graph[id];
    if (region_[id] == kUnused) continue;
    const uint32_t here = region_[id];
    for (uint8_t k = 0; k < node.arity; ++k) {
      // Node 0 is a leaf, so no rare node is called 0.
      const bool slow = node.prim == Prim::rare && k == 2;
      if (slow) regions.add(id, here);
      use(node.args[k], slow ? id : here);
    }
  }
  for (uint32_t id = 0; id < n; ++id)
    if (region_[id] != kUnused) nodes_of_[region_[id]].push_back(id);
}

std::vector<Value*> BodyEmitter::emit() {
  assign_regions();
  emit_region(0);
  std::vector<Value*> outputs;
  for (uint32_t id : f_.outputs) outputs.push_back(values_[id]);
  return outputs;
}

void BodyEmitter::emit_region(uint32_t region) {
  const auto found = nodes_of_.find(region);
  if (found == nodes_of_.end()) return;
  const std::vector<uint32_t> nodes = found->second;
  for (uint32_t id : nodes) values_[id] = emit_node(id);
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
  emit_region(id);
  Value* chosen = b.CreateSelect(mask, values_[node.args[2]], fast);
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
