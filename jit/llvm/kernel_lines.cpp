// Functions along an axis: of every element, or of every element of a row.
#include "jit/llvm/kernel.h"

namespace lathe::jit {

using llvm::Value;

namespace {

Movement movement_of(Int stride) {
  if (identical(stride, Int(1))) return Movement::contiguous;
  return identical(stride, Int(0)) ? Movement::uniform : Movement::strided;
}

}  // namespace

KernelEmitter::Run KernelEmitter::run(size_t operand, const Access& access, Value* row, int axis) {
  const auto at = static_cast<size_t>(axis);
  Run run{buf(access).dtype, movement_of(access.map.along(at)), base(operand, access, row)};
  if (run.movement == Movement::strided) run.stride = frame_.strides[operand][at];
  return run;
}

/// A result has a place for every position, however few there are.
KernelEmitter::Run KernelEmitter::result(size_t operand, const Access& access, Value* row,
                                         int axis) {
  Run to = run(operand, access, row, axis);
  if (to.movement != Movement::uniform) return to;
  to.movement = Movement::strided;
  to.stride = frame_.strides[operand][static_cast<size_t>(axis)];
  return to;
}

Place KernelEmitter::place(const Run& run, Value* i) {
  Value* step = run.stride != nullptr ? run.stride : frame_.i64(size_of(run.dtype));
  Value* at = b_.CreateGEP(b_.getInt8Ty(), run.base, b_.CreateMul(i, step));
  return {run.dtype, run.movement, at, run.stride};
}

KernelEmitter::Operands::Operands(KernelEmitter& e, const std::vector<Operand>& operands,
                                  size_t first, Value* row, VectorOps& ops, Memory& memory,
                                  int axis)
    : e_(e), memory_(memory) {
  for (size_t k = 0; k < operands.size(); ++k) {
    if (const auto* access = std::get_if<Access>(&operands[k]))
      read(first + k, *access, row, ops, axis);
    else
      hoist({std::get<Uniform>(operands[k]).dtype, Movement::uniform, e.frame_.data[first + k]});
  }
}

void KernelEmitter::Operands::read(size_t number, const Access& access, Value* row, VectorOps& ops,
                                   int axis) {
  if (e_.scalars_.contains(access.buf)) {
    llvm::Type* type = e_.narrow_.type(e_.buf(access).dtype);
    all_.push_back({{}, {ops.splat(e_.b_.CreateLoad(type, e_.scalar(access, row)))}});
    return;
  }
  const Run run = e_.run(number, access, row, axis);
  if (run.movement == Movement::uniform) return hoist(run);
  all_.push_back({run});
}

void KernelEmitter::Operands::hoist(const Run& run) {
  all_.push_back({run, memory_.load({run.dtype, Movement::uniform, run.base})});
}

Values KernelEmitter::Operands::load(Value* i, Limit limit) {
  Values values;
  for (const One& one : all_)
    if (one.hoisted.empty())
      for (Value* part : memory_.load(e_.place(one.run, i), limit)) values.push_back(part);
  return values;
}

void KernelEmitter::Operands::give(StepContext& context, const Values& loaded) const {
  size_t next = 0;
  for (const One& one : all_) {
    context.inputs.push_back(one.hoisted);
    for (size_t p = 0; one.hoisted.empty() && p < parts_of(one.run.dtype); ++p)
      context.inputs.back().push_back(loaded[next++]);
  }
}

void KernelEmitter::elements(const Compute& c) {
  const Line l = computation(c, k_.parallel - 1);
  Widths with(*this, l);
  frame_.walk(static_cast<size_t>(k_.parallel), [&](const Values& at, Value* position) {
    at_ = at;
    position_ = position;
    Value* left = b_.CreateSub(frame_.extents.back(), at.back());
    Value* length = frame_.smaller(left, b_.CreateSub(frame_.end, position));
    along(l, with, frame_.i64(0), length);
    return length;
  });
}

void KernelEmitter::statement(const For& f) {
  line(computation(std::get<Compute>(f.body[0].node), f.axis));
}

KernelEmitter::Line KernelEmitter::computation(const Compute& c, int axis) {
  const size_t first = first_.at(&c), stores = first + c.operands.size();
  const auto to = [this, &c, stores, axis](Value* row) {
    std::vector<Run> all;
    for (size_t k = 0; k < c.stores.size(); ++k)
      all.push_back(result(stores + k, c.stores[k], row, axis));
    return all;
  };
  const auto beside = [axis](const Access& a) {
    return identical(a.map.along(static_cast<size_t>(axis)), Int(1));
  };
  const bool strided = !std::all_of(c.stores.begin(), c.stores.end(), beside);
  return {&c, c.f, c.operands, first, axis, to, /*goes_on=*/false, strided};
}

/// Row r belongs to lane r mod 16 of its block: a line of states for each lane.
void KernelEmitter::statement(const ReduceRows& r) {
  const ScalarFunction f = step_of(r.bodies);
  const size_t lanes = lanes_.at(&r);
  const auto to = [&](Value* row) {
    Value* lane = b_.CreateAnd(b_.CreateAdd(position_, row), frame_.i64(kTreeLanes - 1));
    Value* line = b_.CreateMul(lane, frame_.extents[static_cast<size_t>(r.axis)]);
    std::vector<Run> all;
    for (size_t s = 0; s < r.bodies.state.size(); ++s) {
      const DType d = r.bodies.state[s];
      Value* begin = b_.CreateGEP(narrow_.type(d), frame_.data[lanes + s], line);
      all.push_back({d, Movement::contiguous, begin});
    }
    return all;
  };
  line({&r, f, r.operands, first_.at(&r), r.axis, to, /*goes_on=*/true});
}

/// All of it for every row there is.
void KernelEmitter::line(const Line& l) {
  Widths with(*this, l);
  each_row([&](Value* row) { along(l, with, row, frame_.extents[static_cast<size_t>(l.axis)]); });
}

unsigned KernelEmitter::lanes_of(const Line& l) const {
  const auto axis = static_cast<size_t>(l.axis);
  bool strided = false;
  for (const Operand& o : l.operands)
    if (const auto* access = std::get_if<Access>(&o))
      strided |= movement_of(access->map.along(axis)) == Movement::strided;
  const unsigned best = vector_lanes(l.f, strided || l.strided_results, target_);
  return static_cast<unsigned>(count_of(k_.schedule, ScheduleKind::vectorise, best));
}

KernelEmitter::Widths::Widths(KernelEmitter& e, const Line& l)
    : all(e.b_, e.lanes_of(l), e.target_) {
  constexpr ptrdiff_t kLongBody = 256;  // operations: it would take as long to compile once more
  const unsigned few = register_lanes(l.f, e.target_);
  if (few < all.ops.lanes() && operations(l.f) <= kLongBody) rest.emplace(e.b_, few, e.target_);
}

void KernelEmitter::along(const Line& l, Widths& with, Value* row, Value* length) {
  const std::vector<Run> to = l.to(row);
  const auto stretch = [&](Lanes& lanes, Value* first, Value* last, bool whole) {
    Operands in(*this, l.operands, l.first, row, lanes.ops, lanes.memory, l.axis);
    Value* step = frame_.i64(lanes.ops.lanes());
    frame_.loop(first, last, step, {}, [&](Value* i, const Values&) {
      // One comparison a step, with what is the same for the whole row.
      const bool all = whole || lanes.ops.lanes() == 1;
      Value* fits = all ? b_.getTrue() : b_.CreateICmpSLE(i, b_.CreateSub(length, step));
      this->step(l, lanes, in, to, row, i, length, fits);
      return Values();
    });
  };
  if (!with.rest) return stretch(with.all, frame_.i64(0), length, false);
  const uint64_t lanes = with.all.ops.lanes();
  Value* whole = b_.CreateSub(length, b_.CreateURem(length, frame_.i64(lanes)));
  stretch(with.all, frame_.i64(0), whole, true);
  stretch(*with.rest, whole, length, false);
}

void KernelEmitter::step(const Line& l, Lanes& with, Operands& in, const std::vector<Run>& to,
                         Value* row, Value* i, Value* length, Value* whole) {
  Value* lanes = frame_.i64(with.ops.lanes());
  // What is left over is counted only where there are too few.
  const auto left = [&] { return Limit{frame_.smaller(b_.CreateSub(length, i), lanes)}; };
  const auto load = [&](Limit limit) {
    Values values = in.load(i, limit);
    for (size_t k = 0; l.goes_on && k < to.size(); ++k)
      values.push_back(with.memory.load(place(to[k], i), limit)[0]);
    return values;
  };
  fetch_ahead(l.statement, row, i, with.memory);
  StepContext context(frame_, with.ops);
  const Values loaded = frame_.either(
      whole, [&] { return load({}); }, [&] { return load(left()); });
  in.give(context, loaded);
  if (l.goes_on) {
    context.inputs.push_back({with.ops.splat(b_.CreateAdd(position_, row))});
    for (size_t k = to.size(); k > 0; --k) context.inputs.push_back({loaded[loaded.size() - k]});
  }
  if (reads_position(l.f)) context.position = with.ops.ramp(position_, frame_.i64(1), i);
  if (has_checks(l.f)) context.active = with.ops.first_lanes(left().count);
  const Values results = BodyEmitter(with.ops, l.f, context).emit();
  const auto store_all = [&](Limit limit) {
    size_t next = 0;
    for (const Run& run : to) {
      Parts parts;
      for (size_t p = 0; p < parts_of(run.dtype); ++p) parts.push_back(results[next++]);
      with.memory.store(place(run, i), parts, limit);
    }
    return Values();
  };
  (void)frame_.either(
      whole, [&] { return store_all({}); }, [&] { return store_all(left()); });
}

}  // namespace lathe::jit
