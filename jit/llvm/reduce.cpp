// In emitting order: what a kept position starts with (enter), one step (lift), a block by rows or
// columns, the counter, the results.
#include "jit/llvm/reduce.h"

#include <absl/strings/str_cat.h>

namespace lathe::jit {

using llvm::Value;

namespace {

constexpr unsigned kLanes = 16;
constexpr uint64_t kBlock = 512;
constexpr uint64_t kLevels =
    65;  // of the counter; the last is only ever read past, where there is no block

unsigned column_lanes(const ReduceSpec& spec) {
  size_t widest = 1;
  for (const ScalarFunction* f : {&spec.lift, &spec.combine})
    for (const ExprNode& node : f->graph.nodes())
      if (node.prim != Prim::constant && !is_complex(node.dtype) &&
          !(node.prim == Prim::input && f == &spec.lift &&
            node.payload == spec.lift.inputs.size() - 1))
        widest = std::max(widest, size_of(node.dtype));
  return static_cast<unsigned>(64 / widest);
}

unsigned step_lanes(const ReduceSpec& spec) {
  if (spec.columns) return column_lanes(spec);
  return spec.scan ? 1 : kLanes;
}

size_t size_of_body(const ScalarFunction& f) {
  size_t nodes = 0;
  for (const ExprNode& node : f.graph.nodes()) nodes += node.arity > 0;
  return nodes;
}

bool reads_leaves(const ScalarFunction& f) {
  return std::any_of(f.graph.nodes().begin(), f.graph.nodes().end(), [](const ExprNode& node) {
    return node.prim == Prim::check || node.prim == Prim::linear || node.prim == Prim::random ||
           node.prim == Prim::index;
  });
}

std::vector<DType> joined(std::vector<DType> list, std::vector<DType> more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace

std::string check_reduction(const ReduceSpec& spec) {
  const size_t operands = spec.lift.inputs.empty() ? 0 : spec.lift.inputs.size() - 1;
  if (spec.lift.inputs.empty() || spec.lift.inputs.back() != DType::i64)
    return "lift takes no index";
  if (spec.kept < 0 || spec.reduced < 1 || spec.kept + spec.reduced > kMaxRank)
    return absl::StrCat("the rank is not within 1 .. ", kMaxRank);
  if (spec.columns && spec.kept == 0) return "columns need a kept axis";
  if (spec.scan && spec.reduced != 1) return "a scan is along one axis";
  if (spec.state.empty() || spec.unit.size() != spec.state.size())
    return "the unit does not fit the state";
  for (const auto* types : {&spec.lift.inputs, &spec.finish.output_types})
    for (DType d : *types)
      if (is_complex(d)) return "complex operands are not generated";
  if (spec.lift.output_types != spec.state || spec.combine.output_types != spec.state ||
      spec.combine.inputs != joined(spec.state, spec.state) ||
      spec.finish.inputs != joined(spec.state, {DType::i64}))
    return "the bodies do not fit the state";
  if (spec.operands.size() != operands + spec.finish.output_types.size())
    return "an operand is missing";
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const DType expected =
        i < operands ? spec.lift.inputs[i] : spec.finish.output_types[i - operands];
    if (spec.operands[i].dtype != expected) return "an operand has another dtype than its body";
    if (i >= operands && spec.columns && spec.operands[i].stride == Stride::uniform)
      return "an output does not move";
  }
  if (reads_leaves(spec.combine) || reads_leaves(spec.finish)) return "only lift may read leaves";
  for (const ScalarFunction* f : {&spec.lift, &spec.combine, &spec.finish})
    if (std::string error = check_body(*f, spec.indices); !error.empty()) return error;
  return {};
}

/// A kept position (in columns: of lane 0).
struct ReduceEmitter::Line {
  Values bases;                // of each operand
  Values leaves;               // `linear`, then index leaves, scalars
  std::vector<Parts> hoisted;  // operands that are one value for the line
};

/// Which elements one step takes.
struct ReduceEmitter::Step {
  Values at;               // the reduced position of the first of them
  Value* index = nullptr;  // its number in the reduced space
  Value* first = nullptr;  // rows: the lane it goes to; null: 0
  Limit limit;             // which lanes take part, unless `whole` holds
  Value* whole = nullptr;
};

ReduceEmitter::ReduceEmitter(const ReduceSpec& spec, const Target& target)
    : spec_(spec),
      frame_(kKernelSymbol, spec.operands.size(), static_cast<size_t>(spec.kept + spec.reduced),
             leaf_rows({&spec.lift}, spec.indices)),
      b_(frame_.b),
      ops_(b_, target, step_lanes(spec)),
      narrow_(b_, target, spec.columns ? step_lanes(spec) : 1),
      memory_(ops_, target),
      narrow_memory_(narrow_, target),
      operands_(spec.lift.inputs.size() - 1) {}

OwnedModule ReduceEmitter::emit() {
  count_ = frame_.i64(1);
  for (int k = 0; k < spec_.reduced; ++k)
    count_ = b_.CreateMul(count_, frame_.extents[static_cast<size_t>(spec_.kept + k)]);
  for (DType d : spec_.state) {
    stack_.push_back(frame_.room(narrow_.type(d), kLevels));
    if (spec_.columns) slots_.push_back(frame_.room(ops_.type(d), kLanes));
  }
  frame_.walk(static_cast<size_t>(spec_.kept), [&](const Values& at, Value* position) -> Value* {
    if (spec_.columns) return emit_columns(at, position);
    emit_row(at);
    return frame_.i64(1);
  });
  return frame_.finish();
}

// ── a kept position ─────────────────────────────────────────────────────────────────────────────
/// In rows, what does not move along the only reduced axis is read once.
bool ReduceEmitter::hoists(size_t operand) const {
  return !spec_.columns && spec_.reduced == 1 && spec_.operands[operand].stride == Stride::uniform;
}

ReduceEmitter::Line ReduceEmitter::enter(const Values& at) {
  Line line;
  for (size_t k = 0; k < spec_.operands.size(); ++k) {
    line.bases.push_back(b_.CreateGEP(b_.getInt8Ty(), frame_.data[k], frame_.dot(k, 0, at)));
    line.hoisted.emplace_back();
    if (k < operands_ && hoists(k))
      line.hoisted.back() =
          memory_.load({spec_.operands[k].dtype, Movement::uniform, line.bases.back()});
  }
  for (size_t leaf = 0; leaf < frame_.origins.size(); ++leaf)
    line.leaves.push_back(
        b_.CreateAdd(frame_.origins[leaf], frame_.dot(frame_.leaf_row(leaf), 0, at)));
  return line;
}

void ReduceEmitter::emit_row(const Values& at) {
  const Line line = enter(at);
  if (spec_.scan) {
    emit_scan(line, {}, b_.getTrue());
    return;
  }
  row_blocks(line);
  Value* blocks = b_.CreateUDiv(b_.CreateAdd(count_, frame_.i64(kBlock - 1)), frame_.i64(kBlock));
  store_results(line, total(blocks), count_, {}, {}, b_.getTrue());
}

Value* ReduceEmitter::emit_columns(const Values& at, Value* position) {
  Value* innermost = frame_.extents[static_cast<size_t>(spec_.kept - 1)];
  Value* length =
      frame_.smaller(b_.CreateSub(innermost, at.back()), b_.CreateSub(frame_.end, position));
  Value* lanes = frame_.i64(ops_.lanes());
  frame_.loop(frame_.i64(0), length, lanes, {}, [&](Value* r, const Values&) {
    Values here = at;
    here.back() = b_.CreateAdd(at.back(), r);
    const Line line = enter(here);
    const Limit limit{frame_.smaller(b_.CreateSub(length, r), lanes)};
    Value* whole = b_.CreateICmpEQ(limit.count, lanes);
    if (spec_.scan) {
      emit_scan(line, limit, whole);
      return Values();
    }
    frame_.loop(frame_.i64(0), count_, frame_.i64(kBlock), reduced_start(),
                [&](Value* first, const Values& start) {
                  Values reduced = start;
                  Value* block = frame_.smaller(b_.CreateSub(count_, first), frame_.i64(kBlock));
                  const Values state = column_block(line, first, block, reduced, limit, whole);
                  push(state, b_.CreateAdd(b_.CreateLShr(first, 9), frame_.i64(1)));
                  return reduced;
                });
    Value* blocks = b_.CreateUDiv(b_.CreateAdd(count_, frame_.i64(kBlock - 1)), frame_.i64(kBlock));
    store_results(line, total(blocks), count_, {}, limit, whole);
    return Values();
  });
  return length;
}

void ReduceEmitter::emit_scan(const Line& line, Limit limit, Value* whole) {
  frame_.loop(
      frame_.i64(0), count_, frame_.i64(1), units(ops_), [&](Value* i, const Values& before) {
        const Values state = combine(ops_, before, lift(line, {{i}, i, nullptr, limit, whole}));
        store_results(line, state, b_.CreateAdd(i, frame_.i64(1)), {i}, limit, whole);
        return state;
      });
}

// ── one step ────────────────────────────────────────────────────────────────────────────────────
/// Where lane 0's element is; `back`: how many lanes before the one that `at` is for.
Place ReduceEmitter::place(size_t operand, const Line& line, const Values& at, Value* back) {
  const OperandSpec& spec = spec_.operands[operand];
  const auto kept = static_cast<size_t>(spec_.kept);
  Place found{spec.dtype, movement_of(spec.stride)};
  Value* step = frame_.i64(spec.stride == Stride::uniform ? 0 : size_of(spec.dtype));
  if (spec.stride == Stride::strided)
    step = found.stride =
        frame_.strides[operand]
                      [spec_.columns ? kept - 1 : kept + static_cast<size_t>(spec_.reduced) - 1];
  Value* offset = frame_.dot(operand, kept, at);
  if (back != nullptr) offset = b_.CreateSub(offset, b_.CreateMul(back, step));
  found.pointer = b_.CreateGEP(b_.getInt8Ty(), line.bases[operand], offset);
  return found;
}

Values ReduceEmitter::load_operands(const Line& line, const Step& step, Limit limit) {
  Values values;
  for (size_t k = 0; k < operands_; ++k) {
    if (hoists(k)) continue;
    for (Value* part : memory_.load(place(k, line, step.at, step.first), limit))
      values.push_back(part);
  }
  return values;
}

Values ReduceEmitter::lift(const Line& line, const Step& step) {
  const Values loaded = frame_.either(
      step.whole, [&] { return load_operands(line, step, {}); },
      [&] { return load_operands(line, step, step.limit); });
  StepContext context(frame_, ops_);
  size_t next = 0;
  for (size_t k = 0; k < operands_; ++k) {
    context.inputs.push_back(line.hoisted[k]);
    if (hoists(k)) continue;
    for (size_t part = 0; part < parts_of(spec_.operands[k].dtype); ++part)
      context.inputs.back().push_back(loaded[next++]);
  }
  const auto kept = static_cast<size_t>(spec_.kept);
  Value* first = step.first == nullptr ? frame_.i64(0) : step.first;
  Value* start = b_.CreateSub(step.index, first);
  context.inputs.push_back(
      {spec_.columns ? ops_.splat(step.index) : ops_.ramp(start, frame_.i64(1), frame_.i64(0))});
  for (size_t leaf = 0; leaf < line.leaves.size(); ++leaf) {
    const Values& strides = frame_.strides[frame_.leaf_row(leaf)];
    Value* along = spec_.columns ? strides[kept - 1] : strides.back();
    Value* here = b_.CreateAdd(line.leaves[leaf], frame_.dot(frame_.leaf_row(leaf), kept, step.at));
    context.leaves.push_back(
        ops_.ramp(b_.CreateSub(here, b_.CreateMul(first, along)), along, frame_.i64(0)));
  }
  if (has_checks(spec_.lift) && step.limit)
    context.active = ops_.mask_of(ops_.lanes(), step.limit.first, step.limit.count);
  return BodyEmitter(ops_, spec_.lift, context).emit();
}

Values ReduceEmitter::call(VectorOps& ops, const ScalarFunction& f, std::vector<Parts> inputs) {
  StepContext context(frame_, ops);
  context.inputs = std::move(inputs);
  return BodyEmitter(ops, f, context).emit();
}

Values ReduceEmitter::combine(VectorOps& ops, const Values& a, const Values& b) {
  std::vector<Parts> inputs;
  for (Value* x : a) inputs.push_back({x});
  for (Value* x : b) inputs.push_back({x});
  return call(ops, spec_.combine, std::move(inputs));
}

Values ReduceEmitter::units(VectorOps& ops) {
  Values values;
  for (size_t s = 0; s < spec_.state.size(); ++s)
    values.push_back(ops.constant(spec_.state[s], spec_.unit[s]));
  return values;
}

// ── blocks by rows ──────────────────────────────────────────────────────────────────────────────
/// How many blocks to have under way: a sum alone waits four cycles for each addition.
unsigned ReduceEmitter::blocks_abreast() const {
  if (spec_.reduced != 1) return 1;
  const size_t work = size_of_body(spec_.lift) + size_of_body(spec_.combine);
  return work <= 8 && spec_.state.size() == 1 ? 4 : work <= 24 ? 2 : 1;
}

void ReduceEmitter::row_blocks(const Line& line) {
  const unsigned abreast = blocks_abreast();
  Value* rest = frame_.i64(0);
  if (abreast > 1) {
    rest = b_.CreateSub(count_, b_.CreateURem(count_, frame_.i64(kBlock * abreast)));
    row_blocks_abreast(line, rest, abreast);
  }
  frame_.loop(rest, count_, frame_.i64(kBlock), reduced_start(),
              [&](Value* first, const Values& start) {
                Values at = start;
                Value* length = frame_.smaller(b_.CreateSub(count_, first), frame_.i64(kBlock));
                const Values lanes = row_block(line, first, length, at);
                push(halve(lanes), b_.CreateAdd(b_.CreateLShr(first, 9), frame_.i64(1)));
                return at;
              });
}

/// Whole blocks of the only reduced axis, several at once.
void ReduceEmitter::row_blocks_abreast(const Line& line, Value* last, unsigned abreast) {
  const size_t states = spec_.state.size();
  frame_.loop(frame_.i64(0), last, frame_.i64(kBlock * abreast), {},
              [&](Value* first, const Values&) {
                Values lanes;
                for (unsigned u = 0; u < abreast; ++u)
                  for (Value* unit : units(ops_)) lanes.push_back(unit);
                lanes = frame_.loop(
                    frame_.i64(0), frame_.i64(kBlock), frame_.i64(kLanes), lanes,
                    [&](Value* i, const Values& before) {
                      Values after;
                      for (unsigned u = 0; u < abreast; ++u) {
                        Value* at = b_.CreateAdd(b_.CreateAdd(first, i), frame_.i64(u * kBlock));
                        const auto from = before.begin() + static_cast<ptrdiff_t>(u * states);
                        const Values mine(from, from + static_cast<ptrdiff_t>(states));
                        const Values captured = lift(line, {{at}, at, nullptr, {}, b_.getTrue()});
                        for (Value* v : combine(ops_, mine, captured)) after.push_back(v);
                      }
                      return after;
                    });
                Value* blocks = b_.CreateLShr(first, 9);
                for (unsigned u = 0; u < abreast; ++u) {
                  const auto from = lanes.begin() + static_cast<ptrdiff_t>(u * states);
                  push(halve(Values(from, from + static_cast<ptrdiff_t>(states))),
                       b_.CreateAdd(blocks, frame_.i64(u + 1)));
                }
                return Values();
              });
}

/// The sixteen lanes of one block. A step takes elements up to the end of the sixteen, of the run
/// along the innermost axis, or of the block; `at` moves on.
Values ReduceEmitter::row_block(const Line& line, Value* first, Value* length, Values& at) {
  const size_t states = spec_.state.size();
  const bool one_run = spec_.reduced == 1;
  // The loop's step varies, so its position is carried by hand in a loop that ends by the count of
  // elements.
  auto& context = b_.getContext();
  auto* again = llvm::BasicBlock::Create(context, "block", frame_.function);
  auto* done = llvm::BasicBlock::Create(context, "block_done", frame_.function);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(again);  // a block has an element
  b_.SetInsertPoint(again);
  Values initial = units(ops_);
  if (!one_run) initial.insert(initial.end(), at.begin(), at.end());
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(frame_.i64(0), before);
  std::vector<llvm::PHINode*> phis;
  for (Value* value : initial) {
    phis.push_back(b_.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  Step step;
  step.index = b_.CreateAdd(first, i);
  Value* left = b_.CreateSub(length, i);
  Value* sixteen = frame_.i64(kLanes);
  if (one_run) {
    step.at = {step.index};
    step.limit.count = frame_.smaller(left, sixteen);
  } else {
    step.at.assign(phis.begin() + static_cast<ptrdiff_t>(states), phis.end());
    step.first = step.limit.first = b_.CreateAnd(i, frame_.i64(kLanes - 1));
    Value* run = b_.CreateSub(frame_.extents.back(), step.at.back());
    step.limit.count = frame_.smaller(frame_.smaller(left, b_.CreateSub(sixteen, step.first)), run);
  }
  step.whole = b_.CreateICmpEQ(step.limit.count, sixteen);
  const Values lanes(phis.begin(), phis.begin() + static_cast<ptrdiff_t>(states));
  const Values captured = lift(line, step);
  Values next = frame_.either(
      step.whole, [&] { return combine(ops_, lanes, captured); },
      [&] {
        Value* mask = ops_.mask_of(kLanes, step.limit.first, step.limit.count);
        Values some = combine(ops_, lanes, captured);
        for (size_t s = 0; s < states; ++s) some[s] = b_.CreateSelect(mask, some[s], lanes[s]);
        return some;
      });
  if (!one_run) {
    at = next_element(step.at, step.limit.count);
    next.insert(next.end(), at.begin(), at.end());
  }
  Value* following = b_.CreateAdd(i, step.limit.count);
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  i->addIncoming(following, latch);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], latch);
  b_.CreateCondBr(b_.CreateICmpSLT(following, length), again, done);
  b_.SetInsertPoint(done);
  return Values(next.begin(), next.begin() + static_cast<ptrdiff_t>(states));
}

/// Lane l with l + 8, then l + 4, l + 2, l + 1; lane 0 as scalars.
Values ReduceEmitter::halve(Values lanes) {
  for (int half = kLanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, kLanes> upper;
    for (int l = 0; l < static_cast<int>(kLanes); ++l)
      upper.push_back((l + half) % static_cast<int>(kLanes));
    Values other;
    for (Value* lane : lanes) other.push_back(b_.CreateShuffleVector(lane, upper));
    lanes = combine(ops_, lanes, other);
  }
  for (Value*& lane : lanes) lane = b_.CreateExtractElement(lane, uint64_t{0});
  return lanes;
}

// ── blocks by columns ───────────────────────────────────────────────────────────────────────────
Values ReduceEmitter::column_block(const Line& line, Value* first, Value* length, Values& at,
                                   Limit limit, Value* whole) {
  const size_t states = spec_.state.size();
  const auto slot = [&](size_t s, Value* lane) {
    return b_.CreateGEP(ops_.type(spec_.state[s]), slots_[s], lane);
  };
  const auto read = [&](Value* lane) {
    Values values;
    for (size_t s = 0; s < states; ++s)
      values.push_back(b_.CreateLoad(ops_.type(spec_.state[s]), slot(s, lane)));
    return values;
  };
  const auto write = [&](const Values& values, Value* lane) {
    for (size_t s = 0; s < states; ++s) b_.CreateStore(values[s], slot(s, lane));
  };
  Value* one = frame_.i64(1);
  frame_.loop(frame_.i64(0), frame_.i64(kLanes), one, {}, [&](Value* lane, const Values&) {
    write(units(ops_), lane);
    return Values();
  });
  at = frame_.loop(frame_.i64(0), length, one, at, [&](Value* i, const Values& here) {
    Value* lane = b_.CreateAnd(i, frame_.i64(kLanes - 1));
    const Values captured = lift(line, {here, b_.CreateAdd(first, i), nullptr, limit, whole});
    write(combine(ops_, read(lane), captured), lane);
    return next_element(here, one);
  });
  for (uint64_t half = kLanes / 2; half > 0; half /= 2)
    frame_.loop(frame_.i64(0), frame_.i64(half), one, {}, [&](Value* lane, const Values&) {
      write(combine(ops_, read(lane), read(b_.CreateAdd(lane, frame_.i64(half)))), lane);
      return Values();
    });
  return read(frame_.i64(0));
}

// ── the counter ─────────────────────────────────────────────────────────────────────────────────
/// Takes the state of block number `blocks` (from 1): as many levels as that has trailing zeros
/// hold an earlier neighbour of the same size.
void ReduceEmitter::push(Values carried, Value* blocks) {
  Value* levels =
      b_.CreateIntrinsic(llvm::Intrinsic::cttz, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                         llvm::ArrayRef<Value*>{blocks, b_.getFalse()});
  const auto slot = [&](size_t s, Value* level) {
    return b_.CreateGEP(narrow_.type(spec_.state[s]), stack_[s], level);
  };
  carried = frame_.loop(
      frame_.i64(0), levels, frame_.i64(1), carried, [&](Value* level, const Values& right) {
        Values left;
        for (size_t s = 0; s < spec_.state.size(); ++s)
          left.push_back(b_.CreateLoad(narrow_.type(spec_.state[s]), slot(s, level)));
        return combine(narrow_, left, right);
      });
  for (size_t s = 0; s < spec_.state.size(); ++s) b_.CreateStore(carried[s], slot(s, levels));
}

/// The levels that are in use, from the smallest; no block: the unit.
Values ReduceEmitter::total(Value* blocks) {
  const auto lowest = [&](Value* word) {
    return b_.CreateIntrinsic(llvm::Intrinsic::cttz, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                              llvm::ArrayRef<Value*>{word, b_.getFalse()});
  };
  const auto read = [&](Value* level) {
    Values values;
    for (size_t s = 0; s < spec_.state.size(); ++s) {
      llvm::Type* type = narrow_.type(spec_.state[s]);
      values.push_back(b_.CreateLoad(type, b_.CreateGEP(type, stack_[s], level)));
    }
    return values;
  };
  const auto without_lowest = [&](Value* word) {
    return b_.CreateAnd(word, b_.CreateSub(word, frame_.i64(1)));
  };
  Value* none = b_.CreateICmpEQ(blocks, frame_.i64(0));
  Values state = read(lowest(blocks));
  const Values unit = units(narrow_);
  for (size_t s = 0; s < state.size(); ++s) state[s] = b_.CreateSelect(none, unit[s], state[s]);
  // As many rounds as there are further levels.
  Value* rest = without_lowest(blocks);
  Value* rounds = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, rest);
  state.push_back(rest);
  state =
      frame_.loop(frame_.i64(0), rounds, frame_.i64(1), state, [&](Value*, const Values& carried) {
        Values right(carried.begin(), carried.end() - 1);
        Values next = combine(narrow_, read(lowest(carried.back())), right);
        next.push_back(without_lowest(carried.back()));
        return next;
      });
  state.pop_back();
  return state;
}

// ── results ─────────────────────────────────────────────────────────────────────────────────────
void ReduceEmitter::store_results(const Line& line, const Values& state, Value* count,
                                  const Values& reduced_at, Limit limit, Value* whole) {
  std::vector<Parts> inputs;
  for (Value* s : state) inputs.push_back({s});
  inputs.push_back({narrow_.splat(count)});
  const Values results = call(narrow_, spec_.finish, std::move(inputs));
  const auto store = [&](Limit lanes) {
    size_t next = 0;
    for (size_t k = operands_; k < spec_.operands.size(); ++k) {
      Place to = place(k, line, reduced_at, nullptr);
      if (!spec_.columns) to.movement = Movement::contiguous;  // one element
      Parts parts;
      for (size_t part = 0; part < parts_of(to.dtype); ++part) parts.push_back(results[next++]);
      narrow_memory_.store(to, parts, lanes);
    }
    return Values();
  };
  (void)frame_.either(
      whole, [&] { return store({}); }, [&] { return store(limit); });
}

}  // namespace lathe::jit
