#include "jit/llvm/frame.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstddef>

namespace lathe::jit {

using llvm::Value;

Frame::Frame(std::string_view symbol, size_t operands, size_t axes)
    : owned_{std::make_unique<llvm::LLVMContext>(), nullptr}, b(*owned_.context) {
  owned_.module = std::make_unique<llvm::Module>("lathe", *owned_.context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, std::string(symbol),
                                    *owned_.module);
  b.SetInsertPoint(block("entry"));
  begin = field(offsetof(KernelArgs, begin), b.getInt64Ty());
  end = field(offsetof(KernelArgs, end), b.getInt64Ty());
  seed = field(offsetof(KernelArgs, seed), b.getInt64Ty());
  call = field(offsetof(KernelArgs, call), b.getInt64Ty());
  error = field(offsetof(KernelArgs, error), b.getPtrTy());
  Value* pointers = field(offsetof(KernelArgs, data), b.getPtrTy());
  for (size_t i = 0; i < operands; ++i)
    data.push_back(b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), pointers, i)));
  Value* sizes = field(offsetof(KernelArgs, extents), b.getPtrTy());
  for (size_t axis = 0; axis < axes; ++axis) extents.push_back(number(sizes, axis));
  Value* steps = field(offsetof(KernelArgs, strides), b.getPtrTy());
  for (size_t row = 0; row < operands; ++row) {
    strides.emplace_back();
    for (size_t axis = 0; axis < axes; ++axis)
      strides[row].push_back(number(steps, row * axes + axis));
  }
}

OwnedModule Frame::finish() {
  b.CreateRetVoid();
  return std::move(owned_);
}

llvm::BasicBlock* Frame::block(const char* name) {
  return llvm::BasicBlock::Create(*owned_.context, name, function);
}

Value* Frame::field(size_t offset, llvm::Type* type) {
  return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt8Ty(), function->getArg(0), offset));
}

Value* Frame::number(Value* array, size_t at) {
  return b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), array, at));
}

Value* Frame::room(llvm::Type* type, uint64_t count) {
  llvm::BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  auto* made = top.CreateAlloca(type, top.getInt64(count));
  made->setAlignment(llvm::Align(64));
  return made;
}

Value* Frame::smaller(Value* x, Value* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); }

Value* Frame::dot(size_t row, size_t first, const Values& at) {
  Value* sum = i64(0);
  for (size_t k = 0; k < at.size(); ++k)
    sum = b.CreateAdd(sum, b.CreateMul(at[k], strides[row][first + k]));
  return sum;
}

Values Frame::loop(Value* first, Value* last, Value* step, const Values& carried,
                   const std::function<Values(Value*, const Values&)>& body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *again = block("loop"), *done = block("done");
  b.CreateCondBr(b.CreateICmpSLT(first, last), again, done);
  b.SetInsertPoint(again);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(first, before);
  std::vector<llvm::PHINode*> phis;
  Values now;
  for (Value* value : carried) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    now.push_back(phis.back());
  }
  const Values next = body(i, now);
  Value* following = b.CreateAdd(i, step);
  llvm::BasicBlock* latch = b.GetInsertBlock();
  i->addIncoming(following, latch);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], latch);
  b.CreateCondBr(b.CreateICmpSLT(following, last), again, done);
  b.SetInsertPoint(done);
  Values after;
  for (size_t k = 0; k < carried.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(carried[k]->getType(), 2);
    phi->addIncoming(carried[k], before);
    phi->addIncoming(next[k], latch);
    after.push_back(phi);
  }
  return after;
}

Values Frame::either(Value* is_whole, const std::function<Values()>& whole,
                     const std::function<Values()>& part) {
  if (llvm::isa<llvm::ConstantInt>(is_whole)) return whole();
  llvm::BasicBlock *if_whole = block("whole"), *if_part = block("part"), *join = block("join");
  b.CreateCondBr(is_whole, if_whole, if_part,
                 llvm::MDBuilder(*owned_.context).createBranchWeights(1000, 1));
  b.SetInsertPoint(if_whole);
  const Values first = whole();
  llvm::BasicBlock* whole_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(if_part);
  const Values second = part();
  llvm::BasicBlock* part_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  Values values;
  for (size_t i = 0; i < first.size(); ++i) {
    llvm::PHINode* phi = b.CreatePHI(first[i]->getType(), 2);
    phi->addIncoming(first[i], whole_end);
    phi->addIncoming(second[i], part_end);
    values.push_back(phi);
  }
  return values;
}

Values Frame::advance(size_t first, Values at, Value* by) {
  Value* carry = by;
  for (size_t k = at.size(); k-- > 0;) {
    Value* up = b.CreateAdd(at[k], carry);
    Value* over = b.CreateICmpEQ(up, extents[first + k]);
    at[k] = b.CreateSelect(over, i64(0), up);
    carry = b.CreateZExt(over, b.getInt64Ty());
  }
  return at;
}

void Frame::walk(size_t axes, const std::function<Value*(const Values&, Value*)>& body) {
  llvm::BasicBlock *enter = block("enter"), *again = block("row"), *done = block("done");
  b.CreateCondBr(b.CreateICmpSLT(begin, end), enter, done);
  b.SetInsertPoint(enter);
  Values start(axes);
  Value* rest = begin;
  for (size_t axis = axes; axis-- > 0;) {
    start[axis] = axis == 0 ? rest : b.CreateURem(rest, extents[axis]);
    if (axis > 0) rest = b.CreateUDiv(rest, extents[axis]);
  }
  b.CreateBr(again);
  b.SetInsertPoint(again);
  llvm::PHINode* position = b.CreatePHI(b.getInt64Ty(), 2);
  position->addIncoming(begin, enter);
  std::vector<llvm::PHINode*> phis;
  Values at;
  for (Value* first : start) {
    phis.push_back(b.CreatePHI(b.getInt64Ty(), 2));
    phis.back()->addIncoming(first, enter);
    at.push_back(phis.back());
  }
  Value* did = body(at, position);
  Value* next = b.CreateAdd(position, did);
  const Values onward = advance(0, at, did);
  llvm::BasicBlock* latch = b.GetInsertBlock();
  position->addIncoming(next, latch);
  for (size_t axis = 0; axis < axes; ++axis) phis[axis]->addIncoming(onward[axis], latch);
  b.CreateCondBr(b.CreateICmpSLT(next, end), again, done);
  b.SetInsertPoint(done);
}

/// Out of line: it hardly ever happens.
void Frame::report(VectorOps& ops, Value* lanes, Value* linear, uint32_t code) {
  llvm::BasicBlock *bad = block("failed"), *good = block("checked");
  b.CreateCondBr(ops.any(lanes), bad, good,
                 llvm::MDBuilder(*owned_.context).createBranchWeights(1, 1000000));
  b.SetInsertPoint(bad);
  Value* index = linear;
  if (ops.lanes() > 1) {  // lanes need not ascend: axes may be reversed
    Value* failing = b.CreateSelect(lanes, linear, ops.splat(i64(INT64_MAX)));
    index = b.CreateIntMinReduce(failing, /*IsSigned=*/true);
  }
  Value* word = b.CreateOr(b.CreateShl(index, 16), i64(code));
  b.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, error, word, llvm::MaybeAlign(8),
                    llvm::AtomicOrdering::Monotonic);
  b.CreateBr(good);
  b.SetInsertPoint(good);
}

bool has_checks(const ScalarFunction& f) {
  return std::any_of(f.graph.nodes().begin(), f.graph.nodes().end(),
                     [](const ExprNode& node) { return node.prim == Prim::check; });
}

namespace {

/// Bytes of the widest dtype that is computed in.
size_t widest(const ScalarFunction& f) {
  size_t bytes = 1;
  for (const ExprNode& node : f.graph.nodes())
    if (node.prim != Prim::constant && !is_complex(node.dtype))
      bytes = std::max(bytes, size_of(node.dtype));
  return bytes;
}

}  // namespace

unsigned vector_lanes(const ScalarFunction& f, bool strided, const Target& target) {
  constexpr ptrdiff_t kShortBody = 64;  // operations
  const bool twice = !target.has("avx512f") && !strided && operations(f) <= kShortBody;
  return static_cast<unsigned>((twice ? 128 : 64) / widest(f));
}

unsigned register_lanes(const ScalarFunction& f, const Target& target) {
  if (target.has("avx512f")) return UINT_MAX;
  return static_cast<unsigned>((target.has("avx") ? 32 : 16) / widest(f));
}

}  // namespace lathe::jit
