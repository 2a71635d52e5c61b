#include "jit/llvm/elementwise.h"

#include <absl/strings/str_cat.h>

namespace lathe::jit {

using llvm::Value;

/// One run along the innermost axis.
struct ElementwiseEmitter::Row {
  Value* length;               // elements
  Values pointers;             // of each operand's first element
  std::vector<Parts> hoisted;  // inputs that are one value for the row
  Values leaves;               // `linear`, then index leaves, at the first element
};

namespace {

unsigned choose_lanes(const ElementwiseSpec& spec, const Target& target) {
  if (spec.lanes > 0) return static_cast<unsigned>(spec.lanes);
  const bool strided = std::any_of(spec.operands.begin(), spec.operands.end(),
                                   [](const auto& o) { return o.stride == Stride::strided; });
  return vector_lanes(spec.body, strided, target);
}

}  // namespace

std::string check_elementwise(const ElementwiseSpec& spec) {
  const ScalarFunction& f = spec.body;
  const size_t inputs = f.inputs.size();
  if (spec.rank < 1 || spec.rank > kMaxRank)
    return absl::StrCat("the rank is not within 1 .. ", kMaxRank);
  if (spec.operands.size() != inputs + f.output_types.size()) return "an operand is missing";
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const DType expected = i < inputs ? f.inputs[i] : f.output_types[i - inputs];
    if (spec.operands[i].dtype != expected) return "an operand has another dtype than the body";
    if (i >= inputs && spec.operands[i].stride == Stride::uniform) return "an output does not move";
  }
  return check_body(f, spec.indices);
}

ElementwiseEmitter::ElementwiseEmitter(const ElementwiseSpec& spec, const Target& target)
    : spec_(spec),
      frame_(kKernelSymbol, spec.operands.size(), static_cast<size_t>(spec.rank),
             leaf_rows({&spec.body}, spec.indices)),
      b_(frame_.b),
      ops_(b_, target, choose_lanes(spec, target)),
      memory_(ops_, target),
      inputs_(spec.body.inputs.size()) {}

OwnedModule ElementwiseEmitter::emit() {
  frame_.walk(static_cast<size_t>(spec_.rank), [&](const Values& at, Value* position) {
    const Row row = enter_row(at, position);
    frame_.loop(frame_.i64(0), row.length, frame_.i64(ops_.lanes()), {},
                [&](Value* i, const Values&) {
                  emit_step(row, i);
                  return Values();
                });
    return row.length;
  });
  return frame_.finish();
}

ElementwiseEmitter::Row ElementwiseEmitter::enter_row(const Values& at, Value* position) {
  Row row;
  row.length = frame_.smaller(b_.CreateSub(frame_.extents.back(), at.back()),
                              b_.CreateSub(frame_.end, position));
  for (size_t k = 0; k < spec_.operands.size(); ++k) {
    row.pointers.push_back(b_.CreateGEP(b_.getInt8Ty(), frame_.data[k], frame_.dot(k, 0, at)));
    row.hoisted.emplace_back();
    if (spec_.operands[k].stride == Stride::uniform)
      row.hoisted.back() =
          memory_.load({spec_.operands[k].dtype, Movement::uniform, row.pointers.back()});
  }
  for (size_t leaf = 0; leaf < frame_.origins.size(); ++leaf)
    row.leaves.push_back(
        b_.CreateAdd(frame_.origins[leaf], frame_.dot(frame_.leaf_row(leaf), 0, at)));
  return row;
}

Place ElementwiseEmitter::at_step(size_t operand, const Row& row, Value* i) {
  const OperandSpec& spec = spec_.operands[operand];
  Place place{spec.dtype, movement_of(spec.stride), row.pointers[operand]};
  Value* step = frame_.i64(size_of(spec.dtype));
  if (spec.stride == Stride::strided) step = place.stride = frame_.strides[operand].back();
  place.pointer = b_.CreateGEP(b_.getInt8Ty(), place.pointer, b_.CreateMul(i, step));
  return place;
}

Values ElementwiseEmitter::load_inputs(const Row& row, Value* i, Limit limit) {
  Values values;
  for (size_t k = 0; k < inputs_; ++k) {
    if (spec_.operands[k].stride == Stride::uniform) continue;
    const Place place = at_step(k, row, i);
    for (Value* part : memory_.load(place, limit)) values.push_back(part);
  }
  return values;
}

void ElementwiseEmitter::emit_step(const Row& row, Value* i) {
  Value* lanes = frame_.i64(ops_.lanes());
  // One comparison a step, with what is the same for the whole row; what is left over is counted
  // only where there are too few.
  Value* whole =
      ops_.lanes() == 1 ? b_.getTrue() : b_.CreateICmpSLE(i, b_.CreateSub(row.length, lanes));
  const auto left = [&] { return frame_.smaller(b_.CreateSub(row.length, i), lanes); };
  const Values loaded = frame_.either(
      whole, [&] { return load_inputs(row, i, {}); },
      [&] { return load_inputs(row, i, {left()}); });
  StepContext context(frame_, ops_);
  size_t next = 0;
  for (size_t k = 0; k < inputs_; ++k) {
    context.inputs.push_back(row.hoisted[k]);
    if (spec_.operands[k].stride == Stride::uniform) continue;
    for (size_t part = 0; part < parts_of(spec_.operands[k].dtype); ++part)
      context.inputs.back().push_back(loaded[next++]);
  }
  for (size_t leaf = 0; leaf < row.leaves.size(); ++leaf)
    context.leaves.push_back(
        ops_.ramp(row.leaves[leaf], frame_.strides[frame_.leaf_row(leaf)].back(), i));
  if (has_checks(spec_.body)) context.active = ops_.first_lanes(left());
  const Values results = BodyEmitter(ops_, spec_.body, context).emit();
  const auto store = [&](Limit limit) {
    size_t at = 0;
    for (size_t k = inputs_; k < spec_.operands.size(); ++k) {
      Parts parts;
      for (size_t part = 0; part < parts_of(spec_.operands[k].dtype); ++part)
        parts.push_back(results[at++]);
      memory_.store(at_step(k, row, i), parts, limit);
    }
    return Values();
  };
  (void)frame_.either(
      whole, [&] { return store({}); }, [&] { return store({left()}); });
}

}  // namespace lathe::jit
