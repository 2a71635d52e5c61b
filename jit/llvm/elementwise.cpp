// The loops around a body. In emitting order: arguments (everything loaded once), rows (an odometer
// over the outer axes; where a row begins, operand addresses are one dot product each), steps
// (`lanes` elements: load, body, store). Whether a step is a whole one is asked once before its
// loads and once before its stores, so that the body is there only once.
#include "jit/llvm/elementwise.h"

#include <llvm/IR/MDBuilder.h>

#include <cstddef>

namespace lathe::jit {

using llvm::Value;

/// One run along the innermost axis.
struct ElementwiseEmitter::Row {
  Value* length;               // elements
  Values pointers;             // of each operand's first element
  std::vector<Parts> hoisted;  // inputs that are one value for the row
  Values leaves;               // `linear`, then index leaves, at the first element
};

/// The leaves of the body at one step.
class ElementwiseEmitter::Context final : public BodyContext {
 public:
  explicit Context(ElementwiseEmitter& emitter) : emitter_(emitter) {}

  std::vector<Parts> inputs;
  Values leaves;            // vectors: `linear`, then index leaves
  Value* active = nullptr;  // null: all lanes

  Value* input(uint32_t which, int part) override {
    return inputs[which][static_cast<size_t>(part)];
  }
  Value* index(int axis) override { return leaves[static_cast<size_t>(axis) + 1]; }
  Value* linear() override { return leaves[0]; }
  Value* seed() override { return emitter_.seed_; }
  Value* call() override { return emitter_.call_; }
  void failed(Value* lanes, uint32_t code) override {
    if (active != nullptr) lanes = emitter_.b_.CreateAnd(lanes, active);
    emitter_.report(lanes, leaves[0], code);
  }

 private:
  ElementwiseEmitter& emitter_;
};

namespace {

/// As many as fill 64 bytes with the widest dtype computed in. Machines with narrower registers
/// split vectors, and gain from having several under way.
unsigned choose_lanes(const ElementwiseSpec& spec) {
  if (spec.lanes > 0) return static_cast<unsigned>(spec.lanes);
  size_t widest = 1;
  for (const ExprNode& node : spec.body.graph.nodes())
    if (node.prim != Prim::constant && !is_complex(node.dtype))
      widest = std::max(widest, size_of(node.dtype));
  return static_cast<unsigned>(64 / widest);
}

Movement movement_of(Stride stride) {
  switch (stride) {
    case Stride::contiguous:
      return Movement::contiguous;
    case Stride::uniform:
      return Movement::uniform;
    default:
      return Movement::strided;
  }
}

}  // namespace

ElementwiseEmitter::ElementwiseEmitter(const ElementwiseSpec& spec, const Target& target)
    : spec_(spec),
      owned_{std::make_unique<llvm::LLVMContext>(), nullptr},
      b_(*owned_.context),
      ops_(b_, target, choose_lanes(spec)),
      memory_(ops_, target),
      inputs_(spec.body.inputs.size()) {
  owned_.module = std::make_unique<llvm::Module>("lathe", *owned_.context);
  for (const ExprNode& node : spec.body.graph.nodes()) {
    has_checks_ |= node.prim == Prim::check;
    needs_linear_ |=
        node.prim == Prim::check || node.prim == Prim::linear || node.prim == Prim::random;
  }
}

std::string ElementwiseEmitter::check_spec() const {
  const ScalarFunction& f = spec_.body;
  if (spec_.rank < 1 || spec_.rank > kMaxRank) return "the rank is not within 1 .. 6";
  if (spec_.operands.size() != inputs_ + f.output_types.size()) return "an operand is missing";
  for (size_t i = 0; i < spec_.operands.size(); ++i) {
    const DType expected = i < inputs_ ? f.inputs[i] : f.output_types[i - inputs_];
    if (spec_.operands[i].dtype != expected) return "an operand has another dtype than the body";
    if (i >= inputs_ && spec_.operands[i].stride == Stride::uniform)
      return "an output does not move";
  }
  for (const ExprNode& node : f.graph.nodes()) {
    if (info(node.prim).transcendental) return "the body is not lowered";
    if (node.prim == Prim::index && node.payload >= static_cast<uint64_t>(spec_.indices))
      return "the body asks for an index leaf that is not there";
  }
  return {};
}

Result<OwnedModule> ElementwiseEmitter::emit() {
  if (std::string error = check_spec(); !error.empty()) return {{}, error};
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                     std::string(kElementwiseSymbol), *owned_.module);
  b_.SetInsertPoint(llvm::BasicBlock::Create(*owned_.context, "entry", function_));
  emit_arguments();
  emit_rows();
  b_.CreateRetVoid();
  return {std::move(owned_), {}};
}

// ── arguments ───────────────────────────────────────────────────────────────────────────────────
Value* ElementwiseEmitter::field(size_t offset, llvm::Type* type) {
  return b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(0), offset));
}

Value* ElementwiseEmitter::number(Value* array, size_t at) {
  return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), array, at));
}

void ElementwiseEmitter::emit_arguments() {
  const auto rank = static_cast<size_t>(spec_.rank);
  Value* data = field(offsetof(KernelArgs, data), b_.getPtrTy());
  Value* extents = field(offsetof(KernelArgs, extents), b_.getPtrTy());
  Value* strides = field(offsetof(KernelArgs, strides), b_.getPtrTy());
  begin_ = field(offsetof(KernelArgs, begin), b_.getInt64Ty());
  end_ = field(offsetof(KernelArgs, end), b_.getInt64Ty());
  seed_ = field(offsetof(KernelArgs, seed), b_.getInt64Ty());
  call_ = field(offsetof(KernelArgs, call), b_.getInt64Ty());
  error_ = field(offsetof(KernelArgs, error), b_.getPtrTy());
  for (size_t i = 0; i < spec_.operands.size(); ++i)
    data_.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), data, i)));
  for (size_t axis = 0; axis < rank; ++axis) extents_.push_back(number(extents, axis));
  size_t rows = spec_.operands.size();
  if (needs_linear_ || spec_.indices > 0) {
    Value* origins = field(offsetof(KernelArgs, origins), b_.getPtrTy());
    const auto leaves = static_cast<size_t>(1 + spec_.indices);
    for (size_t i = 0; i < leaves; ++i) origins_.push_back(number(origins, i));
    rows += leaves;
  }
  for (size_t row = 0; row < rows; ++row) {
    strides_.emplace_back();
    for (size_t axis = 0; axis < rank; ++axis)
      strides_[row].push_back(number(strides, row * rank + axis));
  }
}

// ── rows ────────────────────────────────────────────────────────────────────────────────────────
/// The position `begin` as one coordinate an axis.
ElementwiseEmitter::Values ElementwiseEmitter::first_position() {
  Values at(extents_.size());
  Value* rest = begin_;
  for (size_t axis = extents_.size(); axis-- > 1;) {
    at[axis] = b_.CreateURem(rest, extents_[axis]);
    rest = b_.CreateUDiv(rest, extents_[axis]);
  }
  at[0] = rest;
  return at;
}

Value* ElementwiseEmitter::dot(size_t row, const Values& at) {
  Value* sum = b_.getInt64(0);
  for (size_t axis = 0; axis < at.size(); ++axis)
    sum = b_.CreateAdd(sum, b_.CreateMul(at[axis], strides_[row][axis]));
  return sum;
}

void ElementwiseEmitter::emit_rows() {
  auto& context = *owned_.context;
  auto* enter = llvm::BasicBlock::Create(context, "enter", function_);
  auto* loop = llvm::BasicBlock::Create(context, "row", function_);
  auto* done = llvm::BasicBlock::Create(context, "done", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(begin_, end_), enter, done);
  b_.SetInsertPoint(enter);
  const Values first = first_position();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  std::vector<llvm::PHINode*> phis;
  Values at;
  llvm::PHINode* position = b_.CreatePHI(b_.getInt64Ty(), 2, "position");
  position->addIncoming(begin_, enter);
  for (Value* start : first) {
    phis.push_back(b_.CreatePHI(b_.getInt64Ty(), 2));
    phis.back()->addIncoming(start, enter);
    at.push_back(phis.back());
  }
  const Row row = enter_row(at, position);
  emit_row(row);
  // The next row: the innermost coordinate starts over, and the others count on.
  Value* next = b_.CreateAdd(position, row.length);
  at.back() = b_.getInt64(0);
  Value* carry = b_.getInt64(1);
  for (size_t axis = at.size() - 1; axis-- > 0;) {
    Value* up = b_.CreateAdd(at[axis], carry);
    Value* over = b_.CreateICmpEQ(up, extents_[axis]);
    at[axis] = b_.CreateSelect(over, b_.getInt64(0), up);
    carry = b_.CreateZExt(over, b_.getInt64Ty());
  }
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  position->addIncoming(next, latch);
  for (size_t axis = 0; axis < at.size(); ++axis) phis[axis]->addIncoming(at[axis], latch);
  b_.CreateCondBr(b_.CreateICmpSLT(next, end_), loop, done);
  b_.SetInsertPoint(done);
}

ElementwiseEmitter::Row ElementwiseEmitter::enter_row(const Values& at, Value* position) {
  Row row;
  Value* in_axis = b_.CreateSub(extents_.back(), at.back());
  Value* in_range = b_.CreateSub(end_, position);
  row.length = b_.CreateSelect(b_.CreateICmpSLT(in_axis, in_range), in_axis, in_range);
  for (size_t k = 0; k < spec_.operands.size(); ++k) {
    row.pointers.push_back(b_.CreateGEP(b_.getInt8Ty(), data_[k], dot(k, at)));
    row.hoisted.emplace_back();
    if (spec_.operands[k].stride == Stride::uniform)
      row.hoisted.back() =
          memory_.load({spec_.operands[k].dtype, Movement::uniform, row.pointers.back()});
  }
  for (size_t leaf = 0; leaf < origins_.size(); ++leaf)
    row.leaves.push_back(b_.CreateAdd(origins_[leaf], dot(spec_.operands.size() + leaf, at)));
  return row;
}

/// A row has at least one element.
void ElementwiseEmitter::emit_row(const Row& row) {
  auto& context = *owned_.context;
  auto* loop = llvm::BasicBlock::Create(context, "step", function_);
  auto* done = llvm::BasicBlock::Create(context, "row_done", function_);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
  i->addIncoming(b_.getInt64(0), before);
  Value* lanes = b_.getInt64(ops_.lanes());
  Value* left = b_.CreateSub(row.length, i);
  Value* count = b_.CreateSelect(b_.CreateICmpSLT(left, lanes), left, lanes);
  emit_step(row, i, count);
  Value* next = b_.CreateAdd(i, lanes);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, row.length), loop, done);
  b_.SetInsertPoint(done);
}

// ── one step ────────────────────────────────────────────────────────────────────────────────────
Place ElementwiseEmitter::at_step(size_t operand, const Row& row, Value* i) {
  const OperandSpec& spec = spec_.operands[operand];
  Place place{spec.dtype, movement_of(spec.stride), row.pointers[operand]};
  Value* step = b_.getInt64(size_of(spec.dtype));
  if (spec.stride == Stride::strided) step = place.stride = strides_[operand].back();
  place.pointer = b_.CreateGEP(b_.getInt8Ty(), place.pointer, b_.CreateMul(i, step));
  return place;
}

/// Emits a thing twice, for all lanes and for the first `count`, behind one branch; the values meet
/// again.
ElementwiseEmitter::Values ElementwiseEmitter::either(Value* count,
                                                      const std::function<Values(Value*)>& emit) {
  auto& context = *owned_.context;
  if (ops_.lanes() == 1) return emit(nullptr);
  auto* whole = llvm::BasicBlock::Create(context, "whole", function_);
  auto* part = llvm::BasicBlock::Create(context, "part", function_);
  auto* join = llvm::BasicBlock::Create(context, "join", function_);
  b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt64(ops_.lanes())), whole, part,
                  llvm::MDBuilder(context).createBranchWeights(1000, 1));
  b_.SetInsertPoint(whole);
  const Values first = emit(nullptr);
  llvm::BasicBlock* whole_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(part);
  const Values second = emit(count);
  llvm::BasicBlock* part_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  Values values;
  for (size_t i = 0; i < first.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(first[i]->getType(), 2);
    phi->addIncoming(first[i], whole_end);
    phi->addIncoming(second[i], part_end);
    values.push_back(phi);
  }
  return values;
}

void ElementwiseEmitter::emit_step(const Row& row, Value* i, Value* count) {
  Context context(*this);
  bool any_load = false;
  for (size_t k = 0; k < inputs_; ++k) any_load |= spec_.operands[k].stride != Stride::uniform;
  Values loaded;
  if (any_load) {
    loaded = either(count, [&](Value* limit) {
      Values values;
      for (size_t k = 0; k < inputs_; ++k)
        if (spec_.operands[k].stride != Stride::uniform)
          for (Value* part : memory_.load(at_step(k, row, i), limit)) values.push_back(part);
      return values;
    });
  }
  size_t next = 0;
  for (size_t k = 0; k < inputs_; ++k) {
    context.inputs.push_back(row.hoisted[k]);
    if (spec_.operands[k].stride == Stride::uniform) continue;
    for (int part = 0; part < (is_complex(spec_.operands[k].dtype) ? 2 : 1); ++part)
      context.inputs.back().push_back(loaded[next++]);
  }
  prepare_leaves(context, row, i, count);
  const Values results = BodyEmitter(ops_, spec_.body, context).emit();
  (void)either(count, [&](Value* limit) {
    size_t at = 0;
    for (size_t k = inputs_; k < spec_.operands.size(); ++k) {
      Parts parts;
      for (int part = 0; part < (is_complex(spec_.operands[k].dtype) ? 2 : 1); ++part)
        parts.push_back(results[at++]);
      memory_.store(at_step(k, row, i), parts, limit);
    }
    return Values();
  });
}

void ElementwiseEmitter::prepare_leaves(Context& context, const Row& row, Value* i, Value* count) {
  for (size_t leaf = 0; leaf < row.leaves.size(); ++leaf) {
    Value* step = strides_[spec_.operands.size() + leaf].back();
    Value* first = b_.CreateAdd(row.leaves[leaf], b_.CreateMul(i, step));
    Value* steps = b_.CreateMul(ops_.lane_numbers(), ops_.splat(step));
    context.leaves.push_back(b_.CreateAdd(ops_.splat(first), steps));
  }
  if (has_checks_ && ops_.lanes() > 1)
    context.active = b_.CreateICmpSLT(ops_.lane_numbers(), ops_.splat(count));
}

/// Out of line: the lowest failing lane's logical index and the code, if they are less than what is
/// there.
void ElementwiseEmitter::report(Value* lanes, Value* linear, uint32_t code) {
  auto& context = *owned_.context;
  auto* bad = llvm::BasicBlock::Create(context, "failed", function_);
  auto* good = llvm::BasicBlock::Create(context, "checked", function_);
  b_.CreateCondBr(ops_.any(lanes), bad, good,
                  llvm::MDBuilder(context).createBranchWeights(1, 1000000));
  b_.SetInsertPoint(bad);
  Value* index = linear;
  if (ops_.lanes() > 1) {  // lanes need not ascend: axes may be reversed
    Value* most = b_.getInt64(INT64_MAX);
    Value* failing = b_.CreateSelect(lanes, linear, ops_.splat(most));
    index = b_.CreateIntMinReduce(failing, /*IsSigned=*/true);
  }
  Value* word = b_.CreateOr(b_.CreateShl(index, 16), b_.getInt64(code));
  b_.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, error_, word, llvm::MaybeAlign(8),
                     llvm::AtomicOrdering::Monotonic);
  b_.CreateBr(good);
  b_.SetInsertPoint(good);
}

}  // namespace lathe::jit
