#include "jit/llvm/tree.h"

namespace lathe::jit {

using llvm::Value;

namespace {

constexpr uint64_t kBlock = 512;
/// Of the counter; the last is only ever read past, where there is no block.
constexpr uint64_t kLevels = 65;

/// The states of number k among several side by side.
Values part(const Values& all, size_t k, size_t states) {
  const auto from = all.begin() + static_cast<ptrdiff_t>(k * states);
  return Values(from, from + static_cast<ptrdiff_t>(states));
}

}  // namespace

TreeEmitter::TreeEmitter(Frame& frame, VectorOps& wide, VectorOps& narrow,
                         const ReduceBodies& bodies)
    : frame_(frame), b_(frame.b), wide_(wide), narrow_(narrow), bodies_(bodies) {
  for (DType d : bodies.state) stack_.push_back(frame_.room(narrow_.type(d), kLevels));
}

Values TreeEmitter::reduce(Value* count, const Lift& lift) {
  Value* rest = frame_.i64(0);
  for (unsigned abreast = blocks_abreast(); abreast > 1; abreast /= 2) {
    Value* odd = b_.CreateAnd(b_.CreateSub(count, rest), frame_.i64(kBlock * abreast - 1));
    Value* last = b_.CreateSub(count, odd);
    blocks_together(rest, last, abreast, lift);
    rest = last;
  }
  frame_.loop(rest, count, frame_.i64(kBlock), {}, [&](Value* first, const Values&) {
    Value* length = frame_.smaller(b_.CreateSub(count, first), frame_.i64(kBlock));
    Value* blocks = b_.CreateAdd(b_.CreateLShr(first, 9), frame_.i64(1));
    push(halve(block(first, length, lift)), blocks);
    return Values();
  });
  return total(b_.CreateLShr(b_.CreateAdd(count, frame_.i64(kBlock - 1)), 9));
}

/// How many blocks of a row alone to have under way: a sum would wait four cycles for each
/// addition.
unsigned TreeEmitter::blocks_abreast() const {
  if (rows() > 1) return 1;
  const ptrdiff_t work = operations(bodies_.lift) + operations(bodies_.combine);
  return work <= 8 && bodies_.state.size() == 1 ? 4 : work <= 24 ? 2 : 1;
}

/// Whole blocks of one row, several at once.
void TreeEmitter::blocks_together(Value* first, Value* last, unsigned abreast, const Lift& lift) {
  const size_t states = bodies_.state.size();
  frame_.loop(first, last, frame_.i64(kBlock * abreast), {}, [&](Value* start, const Values&) {
    Values lanes;
    for (unsigned u = 0; u < abreast; ++u)
      for (Value* unit : units(wide_)) lanes.push_back(unit);
    lanes = frame_.loop(frame_.i64(0), frame_.i64(kBlock), frame_.i64(kTreeLanes), lanes,
                        [&](Value* i, const Values& before) {
                          Values after;
                          for (unsigned u = 0; u < abreast; ++u) {
                            Value* at =
                                b_.CreateAdd(b_.CreateAdd(start, i), frame_.i64(u * kBlock));
                            const Values lifted = lift(0, {at, {}});
                            for (Value* v : combine(wide_, part(before, u, states), lifted))
                              after.push_back(v);
                          }
                          return after;
                        });
    Value* blocks = b_.CreateLShr(start, 9);
    for (unsigned u = 0; u < abreast; ++u)
      push(halve(part(lanes, u, states)), b_.CreateAdd(blocks, frame_.i64(u + 1)));
    return Values();
  });
}

/// The sixteen lanes of one block of every row.
Values TreeEmitter::block(Value* first, Value* length, const Lift& lift) {
  Value* sixteen = frame_.i64(kTreeLanes);
  Values lanes;
  for (unsigned row = 0; row < rows(); ++row)
    for (Value* unit : units(wide_)) lanes.push_back(unit);
  const auto step = [&](const Step& now, const Values& before) {
    Values all;
    for (unsigned row = 0; row < rows(); ++row)
      for (Value* v : combine(wide_, part(before, row, bodies_.state.size()), lift(row, now)))
        all.push_back(v);
    return all;
  };
  Value* whole = b_.CreateAnd(length, frame_.i64(~uint64_t{kTreeLanes - 1}));
  lanes = frame_.loop(frame_.i64(0), whole, sixteen, lanes, [&](Value* i, const Values& before) {
    return step({b_.CreateAdd(first, i), {}}, before);
  });
  // What is left over is one step, or none.
  return frame_.loop(whole, length, sixteen, lanes, [&](Value* i, const Values& before) {
    Value* count = b_.CreateSub(length, i);
    Values some = step({b_.CreateAdd(first, i), {count}}, before);
    Value* mask = wide_.first_lanes(count);
    for (size_t s = 0; s < some.size(); ++s) some[s] = b_.CreateSelect(mask, some[s], before[s]);
    return some;
  });
}

/// Of each row lane l with l + 8, then l + 4, l + 2, l + 1. As lanes become fewer, those of other
/// rows take their places: what has `half` lanes of each row is combined for as many rows as fit.
Values TreeEmitter::halve(const Values& lanes) {
  const size_t states = bodies_.state.size();
  std::vector<Values> vectors;  // by vector, its states
  for (unsigned row = 0; row < rows(); ++row) vectors.push_back(part(lanes, row, states));
  unsigned held = 1;  // rows in a vector
  for (unsigned half = kTreeLanes / 2; half > 0; half /= 2) {
    std::vector<Values> next;
    const bool pairs = vectors.size() > 1;
    for (size_t v = 0; v < vectors.size(); v += pairs ? 2 : 1) {
      // Lanes of the second vector are numbered on from those of the first.
      llvm::SmallVector<int, kTreeLanes> lower;
      for (unsigned r = 0; r < (pairs ? 2 * held : held); ++r)
        for (unsigned l = 0; l < half; ++l)
          lower.push_back(static_cast<int>(r / held * kTreeLanes + r % held * 2 * half + l));
      lower.resize(kTreeLanes, 0);
      llvm::SmallVector<int, kTreeLanes> upper = lower;
      for (int& l : upper) l += static_cast<int>(half);
      Values low, high;
      for (size_t s = 0; s < states; ++s) {
        Value *a = vectors[v][s], *b = pairs ? vectors[v + 1][s] : a;
        low.push_back(b_.CreateShuffleVector(a, b, lower));
        high.push_back(b_.CreateShuffleVector(a, b, upper));
      }
      next.push_back(combine(wide_, low, high));
    }
    if (pairs) held *= 2;
    vectors = std::move(next);
  }
  Values out;
  for (Value* v : vectors[0]) {
    llvm::SmallVector<int, kTreeLanes> first;
    for (unsigned row = 0; row < rows(); ++row) first.push_back(static_cast<int>(row));
    out.push_back(rows() == 1 ? b_.CreateExtractElement(v, uint64_t{0})
                              : b_.CreateShuffleVector(v, first));
  }
  return out;
}

// ── the counter ─────────────────────────────────────────────────────────────────────────────────
Value* TreeEmitter::lowest_bit(Value* word) {
  return b_.CreateIntrinsic(llvm::Intrinsic::cttz, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                            llvm::ArrayRef<Value*>{word, b_.getFalse()});
}

Values TreeEmitter::read(Value* level) {
  Values values;
  for (size_t s = 0; s < bodies_.state.size(); ++s) {
    llvm::Type* type = narrow_.type(bodies_.state[s]);
    values.push_back(b_.CreateLoad(type, b_.CreateGEP(type, stack_[s], level)));
  }
  return values;
}

/// Takes the state of block number `blocks` (from 1): as many levels as that has trailing zeros
/// hold an earlier neighbour of the same size.
void TreeEmitter::push(Values carried, Value* blocks) {
  Value* levels = lowest_bit(blocks);
  carried = frame_.loop(
      frame_.i64(0), levels, frame_.i64(1), carried,
      [&](Value* level, const Values& right) { return combine(narrow_, read(level), right); });
  for (size_t s = 0; s < carried.size(); ++s) {
    Value* slot = b_.CreateGEP(narrow_.type(bodies_.state[s]), stack_[s], levels);
    b_.CreateStore(carried[s], slot);
  }
}

/// The levels that are in use, from the smallest; no block: the unit.
Values TreeEmitter::total(Value* blocks) {
  const auto without_lowest = [&](Value* word) {
    return b_.CreateAnd(word, b_.CreateSub(word, frame_.i64(1)));
  };
  Value* none = b_.CreateICmpEQ(blocks, frame_.i64(0));
  Values state = read(lowest_bit(blocks));
  const Values unit = units(narrow_);
  for (size_t s = 0; s < state.size(); ++s) state[s] = b_.CreateSelect(none, unit[s], state[s]);
  // As many rounds as there are further levels.
  Value* rest = without_lowest(blocks);
  Value* rounds = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, rest);
  state.push_back(rest);
  state =
      frame_.loop(frame_.i64(0), rounds, frame_.i64(1), state, [&](Value*, const Values& carried) {
        Values right(carried.begin(), carried.end() - 1);
        Values next = combine(narrow_, read(lowest_bit(carried.back())), right);
        next.push_back(without_lowest(carried.back()));
        return next;
      });
  state.pop_back();
  return state;
}

Values TreeEmitter::combine(VectorOps& ops, const Values& a, const Values& b) {
  StepContext context(frame_, ops);
  for (Value* x : a) context.inputs.push_back({x});
  for (Value* x : b) context.inputs.push_back({x});
  return BodyEmitter(ops, bodies_.combine, context).emit();
}

Values TreeEmitter::units(VectorOps& ops) {
  Values values;
  for (size_t s = 0; s < bodies_.state.size(); ++s)
    values.push_back(ops.constant(bodies_.state[s], bodies_.unit[s]));
  return values;
}

}  // namespace lathe::jit
