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

/// Why no code can be made of a function of elements, or of one of a row.
std::string check_function(const ScalarFunction& f, bool elements) {
  std::string error;
  for (DType d : f.inputs)
    if (!elements && is_complex(d)) error = "complex operands";
  if (!elements && reads_position(f)) error = "a function of positions, random words or checks";
  return error.empty() ? check_body(f) : error;
}

}  // namespace

std::string check_kernel(const Kernel& k) {
  const auto axes = static_cast<int>(k.axes.size());
  if (k.parallel < 1 || axes > kMaxRank)
    return absl::StrCat("the rank is not within 1 .. ", kMaxRank);
  if (axes > k.parallel + 1) return "more than one axis inside of the parallel ones";
  if (!piecewise(k).empty()) return "an operand of pieces, which the caller takes box by box";
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
  const bool elements = of_elements(k) != nullptr;
  each_statement(k.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement))
      if (error.empty()) error = check_function(*f, elements);
  });
  return error;
}

KernelEmitter::KernelEmitter(const Kernel& kernel, const Target& target)
    : k_(kernel),
      target_(target),
      frame_(kKernelSymbol, place_count(kernel), kernel.axes.size()),
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
    if (a != nullptr && find(k_.schedule, ScheduleKind::prefetch, a->buf) != nullptr &&
        !identical(a->map.along(rows), Int(0)) &&
        identical(a->map.along(k_.axes.size() - 1), Int(1)) && seen.insert(a->buf).second)
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
  if (const Compute* c = of_elements(k_))
    elements(*c);
  else
    rows();
  return frame_.finish();
}

void KernelEmitter::rows() {
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
