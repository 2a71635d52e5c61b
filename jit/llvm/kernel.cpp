#include "jit/llvm/kernel.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

namespace lathe::jit {

using llvm::Value;

namespace {

/// Places in the argument block: operands, then lanes.
size_t place_count(const Kernel& k) {
  size_t n = 0;
  each_operand(
      k.body, [&](const Operand&) { ++n; }, [&](const Access&) { ++n; });
  for (const ReduceRows* r : row_reductions(k)) n += r->bodies.state.size();
  return n;
}

}  // namespace

std::string check_kernel(const Kernel& k) {
  const auto axes = static_cast<int>(k.axes.size());
  if (k.parallel < 1 || axes > kMaxRank)
    return absl::StrCat("the rank is not within 1 .. ", kMaxRank);
  if (axes > k.parallel + 1) return "more than one axis inside of the parallel ones";
  for (const Statement& s : k.body) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      if (loop->body.size() != 1 || !std::holds_alternative<Compute>(loop->body[0].node))
        return "a loop of anything but one computation";
      const auto& c = std::get<Compute>(loop->body[0].node);
      for (const Access& a : c.stores)
        if (!identical(a.map.along(static_cast<size_t>(loop->axis)), Int(1)))
          return "a loop whose results are not side by side";
    }
  }
  std::string error;
  const auto function = [&](const ScalarFunction& f) {
    for (DType d : f.inputs)
      if (is_complex(d)) error = "complex operands";
    for (const ExprNode& n : f.graph.nodes())
      if (n.prim == Prim::check || n.prim == Prim::linear || n.prim == Prim::random)
        error = "a function of positions, random words or checks";
    if (error.empty()) error = check_body(f, 0);
  };
  each_statement(k.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement)) function(*f);
  });
  return error;
}

KernelEmitter::KernelEmitter(const Kernel& kernel, const Target& target)
    : k_(kernel),
      target_(target),
      frame_(kKernelSymbol, place_count(kernel), kernel.axes.size(), 0),
      b_(frame_.b),
      narrow_(b_, target, 1),
      narrow_memory_(narrow_, target) {
  size_t next = 0;
  each_numbered(k_.body, [&](const auto& statement, size_t first) {
    first_[&statement] = first;
    next = first + statement.operands.size() + statement.stores.size();
  });
  for (const ReduceRows* r : row_reductions(k_)) {
    lanes_[r] = next;
    next += r->bodies.state.size();
  }
  choose_fetcher();
}

void KernelEmitter::choose_fetcher() {
  if (k_.line) return;  // what follows in memory comes by itself
  int64_t most = 0;
  const auto consider = [&](const void* statement, int64_t work) {
    if (work > most) fetcher_ = statement, most = work;
  };
  for (const Statement& s : k_.body) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      const auto& c = std::get<Compute>(loop->body[0].node);
      consider(&c, operations(c.f));
    }
    const auto reduction = [&](const auto* r) {
      if (r != nullptr) consider(r, operations(r->bodies.lift) + operations(r->bodies.combine));
    };
    reduction(std::get_if<Reduce>(&s.node));
    reduction(std::get_if<ReduceRows>(&s.node));
  }
  absl::flat_hash_set<int> seen;
  size_t number = 0;
  const auto rows = static_cast<size_t>(k_.parallel) - 1;
  const auto operand = [&](const Operand& o) {
    const auto* a = std::get_if<Access>(&o);
    if (a != nullptr && a->buf < k_.inputs && !identical(a->map.along(rows), Int(0)) &&
        identical(a->map.along(k_.axes.size() - 1), Int(1)) && rows + 1 < k_.axes.size() &&
        seen.insert(a->buf).second)
      fetched_.emplace_back(number, a);
    ++number;
  };
  each_operand(k_.body, operand, [&](const Access&) { ++number; });
}

void KernelEmitter::fetch_ahead(const void* statement, Value* row, Value* i, Memory& memory) {
  if (statement != fetcher_) return;
  for (const auto& [number, access] : fetched_) {
    const DType d = buf(*access).dtype;
    Value* begin = base(number, *access, b_.CreateAdd(row, frame_.i64(together())));
    Value* at = b_.CreateMul(i, frame_.i64(size_of(d)));
    memory.fetch({d, Movement::contiguous, b_.CreateGEP(b_.getInt8Ty(), begin, at)});
  }
}

OwnedModule KernelEmitter::emit() {
  // A loop stores vectors, also of a row with one position.
  absl::flat_hash_set<int> of_loops;
  for (const Statement& s : k_.body)
    if (const auto* loop = std::get_if<For>(&s.node))
      each_access(loop->body, [&](const Access& a, bool store) {
        if (store) of_loops.insert(a.buf);
      });
  for (int b = 0; b < static_cast<int>(k_.buffers.size()); ++b)
    if (const Buf& local = k_.buffers[static_cast<size_t>(b)];
        local.scalar() && !of_loops.contains(b))
      scalars_[b] = frame_.room(narrow_.type(local.dtype), together());
  frame_.walk(static_cast<size_t>(k_.parallel), [&](const Values& at, Value* position) {
    at_ = at;
    position_ = position;
    Value* left = b_.CreateSub(frame_.extents[static_cast<size_t>(k_.parallel) - 1], at.back());
    left = frame_.smaller(left, b_.CreateSub(frame_.end, position));
    rows_ = frame_.smaller(left, frame_.i64(together()));
    for (const Statement& s : k_.body)
      std::visit([&](const auto& node) { statement(node); }, s.node);
    return rows_;
  });
  return frame_.finish();
}

void KernelEmitter::each_row(const std::function<void(Value*)>& body) {
  frame_.loop(frame_.i64(0), rows_, frame_.i64(1), {}, [&](Value* row, const Values&) {
    body(row);
    return Values();
  });
}

Value* KernelEmitter::base(size_t operand, const Access& access, Value* row) {
  Value* offset = nullptr;
  if (buf(access).space == Space::local) {
    Value* elements = b_.CreateMul(row, frame_.extents.back());
    offset = b_.CreateMul(elements, frame_.i64(size_of(buf(access).dtype)));
  } else {
    Values at = at_;
    at.back() = b_.CreateAdd(at.back(), row);
    offset = frame_.dot(operand, 0, at);
  }
  return b_.CreateGEP(b_.getInt8Ty(), frame_.data[operand], offset);
}

Value* KernelEmitter::scalar(const Access& access, Value* row) {
  return b_.CreateGEP(narrow_.type(buf(access).dtype), scalars_.at(access.buf), row);
}

/// The operands of one statement in one row: what does not move along the axis of its vectors is
/// read once, before the loop.
class KernelEmitter::Operands {
 public:
  Operands(KernelEmitter& e, const std::vector<Operand>& operands, size_t first, Value* row,
           VectorOps& ops, Memory& memory, int axis)
      : e_(e), memory_(memory), axis_(static_cast<size_t>(axis)) {
    for (size_t k = 0; k < operands.size(); ++k) {
      One one;
      one.number = first + k;
      if (const auto* access = std::get_if<Access>(&operands[k]))
        read(one, *access, row, ops);
      else
        one = constant(first + k, std::get<Uniform>(operands[k]).dtype);
      all_.push_back(one);
    }
  }

  /// What moves, at position i of the axis.
  Values load(Value* i, Limit limit) {
    Values values;
    for (const One& one : all_)
      if (one.hoisted == nullptr) values.push_back(memory_.load(place(one, i), limit)[0]);
    return values;
  }
  void give(StepContext& context, const Values& loaded) const {
    size_t next = 0;
    for (const One& one : all_)
      context.inputs.push_back({one.hoisted != nullptr ? one.hoisted : loaded[next++]});
  }

 private:
  struct One {
    size_t number = 0;
    DType dtype = DType::f32;
    Value *hoisted = nullptr, *base = nullptr;
    Movement movement = Movement::uniform;
  };

  void read(One& one, const Access& access, Value* row, VectorOps& ops) {
    one.dtype = e_.buf(access).dtype;
    if (e_.scalars_.contains(access.buf)) {
      Value* value = e_.b_.CreateLoad(e_.narrow_.type(one.dtype), e_.scalar(access, row));
      one.hoisted = ops.splat(value);
      return;
    }
    one.base = e_.base(one.number, access, row);
    const Int stride = access.map.along(axis_);
    one.movement = identical(stride, Int(1))   ? Movement::contiguous
                   : identical(stride, Int(0)) ? Movement::uniform
                                               : Movement::strided;
    if (one.movement == Movement::uniform)
      one.hoisted = memory_.load({one.dtype, Movement::uniform, one.base})[0];
  }

  One constant(size_t number, DType dtype) {
    Value* pointer = e_.frame_.data[number];
    return {number, dtype, memory_.load({dtype, Movement::uniform, pointer})[0]};
  }

  Place place(const One& one, Value* i) {
    Place p{one.dtype, one.movement, one.base};
    Value* step = e_.frame_.i64(size_of(one.dtype));
    if (one.movement == Movement::strided) step = p.stride = e_.frame_.strides[one.number][axis_];
    p.pointer = e_.b_.CreateGEP(e_.b_.getInt8Ty(), p.pointer, e_.b_.CreateMul(i, step));
    return p;
  }

  KernelEmitter& e_;
  Memory& memory_;
  size_t axis_;
  std::vector<One> all_;
};

/// Results of which there is one a row.
void KernelEmitter::store(size_t operand, const std::vector<Access>& stores, const Values& results,
                          Value* row) {
  for (size_t k = 0; k < stores.size(); ++k, ++operand) {
    if (scalars_.contains(stores[k].buf)) {
      b_.CreateStore(results[k], scalar(stores[k], row));
      continue;
    }
    Value* pointer = base(operand, stores[k], row);
    narrow_memory_.store({buf(stores[k]).dtype, Movement::contiguous, pointer}, {results[k]});
  }
}

void KernelEmitter::statement(const Compute& c) {
  const size_t first = first_.at(&c);
  each_row([&](Value* row) {
    // No axis goes along a row here: every operand is one value.
    const auto none = static_cast<int>(k_.axes.size());
    const Operands in(*this, c.operands, first, row, narrow_, narrow_memory_, none);
    StepContext context(frame_, narrow_);
    in.give(context, {});
    store(first + c.operands.size(), c.stores, BodyEmitter(narrow_, c.f, context).emit(), row);
  });
}

void KernelEmitter::statement(const For& f) {
  const auto& c = std::get<Compute>(f.body[0].node);
  const size_t first = first_.at(&c);
  const auto to = [&](Value* row) {
    Values all;
    for (size_t k = 0; k < c.stores.size(); ++k)
      all.push_back(base(first + c.operands.size() + k, c.stores[k], row));
    return all;
  };
  line({&c, c.f, c.operands, first, f.axis, to});
}

/// Row r belongs to lane r mod 16 of its block: a line of states for each lane.
void KernelEmitter::statement(const ReduceRows& r) {
  const ScalarFunction f = step_of(r.bodies);
  const size_t lanes = lanes_.at(&r);
  const auto to = [&](Value* row) {
    Value* lane = b_.CreateAnd(b_.CreateAdd(position_, row), frame_.i64(kTreeLanes - 1));
    Value* line = b_.CreateMul(lane, frame_.extents[static_cast<size_t>(r.axis)]);
    Values all;
    for (size_t s = 0; s < r.bodies.state.size(); ++s)
      all.push_back(b_.CreateGEP(narrow_.type(r.bodies.state[s]), frame_.data[lanes + s], line));
    return all;
  };
  line({&r, f, r.operands, first_.at(&r), r.axis, to, /*goes_on=*/true});
}

/// One function along a row: all of it for every row there is.
void KernelEmitter::line(const Line& l) {
  const auto axis = static_cast<size_t>(l.axis);
  const auto steps = [&](const Operand& o) {
    const auto* access = std::get_if<Access>(&o);
    const Int stride = access == nullptr ? Int(0) : access->map.along(axis);
    return !identical(stride, Int(0)) && !identical(stride, Int(1));
  };
  const bool strided = std::any_of(l.operands.begin(), l.operands.end(), steps);
  VectorOps ops(b_, target_, vector_lanes(l.f, strided, target_));
  Memory memory(ops, target_);
  Value *length = frame_.extents[axis], *lanes = frame_.i64(ops.lanes());
  each_row([&](Value* row) {
    Operands in(*this, l.operands, l.first, row, ops, memory, l.axis);
    const Values to = l.to(row);
    Value* index = ops.splat(b_.CreateAdd(position_, row));
    frame_.loop(frame_.i64(0), length, lanes, {}, [&](Value* i, const Values&) {
      Value* whole = b_.CreateICmpSLE(i, b_.CreateSub(length, lanes));
      const auto left = [&] { return Limit{b_.CreateSub(length, i)}; };
      const auto place = [&](size_t k) {
        const DType d = l.f.output_types[k];
        Value* bytes = b_.CreateMul(i, frame_.i64(size_of(d)));
        return Place{d, Movement::contiguous, b_.CreateGEP(b_.getInt8Ty(), to[k], bytes)};
      };
      const auto load = [&](Limit limit) {
        Values values = in.load(i, limit);
        for (size_t k = 0; l.goes_on && k < to.size(); ++k)
          values.push_back(memory.load(place(k), limit)[0]);
        return values;
      };
      fetch_ahead(l.statement, row, i, memory);
      StepContext context(frame_, ops);
      const Values loaded = frame_.either(
          whole, [&] { return load({}); }, [&] { return load(left()); });
      in.give(context, loaded);
      if (l.goes_on) {
        context.inputs.push_back({index});
        for (size_t k = to.size(); k > 0; --k)
          context.inputs.push_back({loaded[loaded.size() - k]});
      }
      const Values results = BodyEmitter(ops, l.f, context).emit();
      const auto store_all = [&](Limit limit) {
        for (size_t k = 0; k < to.size(); ++k) memory.store(place(k), {results[k]}, limit);
        return Values();
      };
      (void)frame_.either(
          whole, [&] { return store_all({}); }, [&] { return store_all(left()); });
      return Values();
    });
  });
}

void KernelEmitter::statement(const Reduce& r) {
  if (together() == 1) return reduce(r, frame_.i64(0), 1);
  Value* all = b_.CreateICmpEQ(rows_, frame_.i64(together()));
  (void)frame_.either(
      all,
      [&] {
        reduce(r, frame_.i64(0), together());
        return Values();
      },
      [&] {
        each_row([&](Value* row) { reduce(r, row, 1); });
        return Values();
      });
}

void KernelEmitter::reduce(const Reduce& r, Value* first_row, unsigned rows) {
  const size_t first = first_.at(&r);
  VectorOps ops(b_, target_, kTreeLanes);
  Memory memory(ops, target_);
  std::vector<Operands> in;
  const auto row = [&](unsigned k) { return b_.CreateAdd(first_row, frame_.i64(k)); };
  for (unsigned k = 0; k < rows; ++k)
    in.emplace_back(*this, r.operands, first, row(k), ops, memory, r.axis);
  Value* count = frame_.extents[static_cast<size_t>(r.axis)];
  const auto lift = [&](unsigned k, const TreeEmitter::Step& step) {
    StepContext context(frame_, ops);
    fetch_ahead(&r, row(k), step.index, memory);
    in[k].give(context, in[k].load(step.index, step.limit));
    context.inputs.push_back({ops.ramp(step.index, frame_.i64(1), frame_.i64(0))});
    return BodyEmitter(ops, r.bodies.lift, context).emit();
  };
  VectorOps narrow(b_, target_, rows);
  StepContext context(frame_, narrow);
  for (Value* s : TreeEmitter(frame_, ops, narrow, r.bodies).reduce(count, lift))
    context.inputs.push_back({s});
  context.inputs.push_back({narrow.splat(count)});
  const Values all = BodyEmitter(narrow, r.bodies.finish, context).emit();
  for (unsigned k = 0; k < rows; ++k) {
    Values results;
    for (Value* v : all) results.push_back(rows == 1 ? v : b_.CreateExtractElement(v, uint64_t{k}));
    store(first + r.operands.size(), r.stores, results, row(k));
  }
}

}  // namespace lathe::jit
