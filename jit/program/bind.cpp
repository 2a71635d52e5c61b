// From symbols to numbers: loop bounds and strides of kernels, arguments of ops, and where
// intermediates lie in the arena.
#include <algorithm>
#include <climits>

#include "core/base/error.h"
#include "jit/kernel/cache_lines.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

TensorType evaluated(const TensorType& t, absl::Span<const int64_t> symbols) {
  TensorType out = t;
  for (Int& s : out.shape) s = evaluate(s, symbols);
  return out;
}

void bind_op(const Step& step, absl::Span<const int64_t> symbols, Bound::OfStep& b) {
  const ir::Node& n = *step.node;
  std::function<Int(Int)> change = [&](Int e) { return evaluate(e, symbols); };
  absl::InlinedVector<Arg, 8> none(n.places().size());
  b.filled = ir::fill(n.attrs(), n.places(), none, &change);
  b.holes.clear();
  for (const ir::Place& p : n.places()) b.holes.push_back(&b.filled->at(p));
  if (!step.view) return;
  b.view = step.view;
  for (Shape* sizes : {&b.view->shape, &b.view->strides})
    for (Int& i : *sizes) i = evaluate(i, symbols);
  b.view->offset = evaluate(b.view->offset, symbols);
}

size_t bytes_of(const ArenaBlock& block, absl::Span<const int64_t> symbols) {
  const TensorType t = evaluated(block.type, symbols);
  return static_cast<size_t>(
      whole_lines(numel(t.shape).value() * static_cast<int64_t>(size_of(t.dtype))));
}

/// Is it kept from call to call? Such memory is no other value's.
bool stays(const ArenaBlock& block, absl::Span<const int64_t> symbols) {
  return block.settled && bytes_of(block, symbols) <= kMostSettled;
}

/// A block with its size; one that is kept lives from the first step to the last.
struct Stretch {
  size_t bytes;
  int first, last;
};

/// The most bytes that blocks need in one step.
size_t least_bytes(absl::Span<const Stretch> blocks) {
  int steps = 0;
  for (const Stretch& b : blocks) steps = std::max(steps, b.first + 1);
  std::vector<size_t> change(static_cast<size_t>(steps) +
                             1);  // what ends is taken off, modulo 2^64
  for (const Stretch& b : blocks) {
    change[static_cast<size_t>(b.first)] += b.bytes;
    change[static_cast<size_t>(std::min(b.last, steps - 1)) + 1] -= b.bytes;
  }
  size_t needed = 0, most = 0;
  for (size_t c : change) most = std::max(most, needed += c);
  return most;
}

struct Layout {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};

/// One block after the other, by falling weight, each at the lowest place free over its whole life.
Layout placed_by(double (*weight)(const Stretch&), absl::Span<const Stretch> blocks) {
  struct Placed {
    size_t begin, end;
    int first, last;
  };
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < blocks.size(); ++i) order.emplace_back(-weight(blocks[i]), i);
  std::sort(order.begin(), order.end());
  Layout out{std::vector<size_t>(blocks.size())};
  std::vector<Placed> placed;
  for (const auto& [weight, i] : order) {
    const Stretch& block = blocks[i];
    size_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Placed& q : placed) {
        bool together = q.first <= block.last && block.first <= q.last;
        if (together && at < q.end && q.begin < at + block.bytes) {
          at = q.end;
          moved = true;
        }
      }
    }
    out.offsets[i] = at;
    placed.push_back({at, at + block.bytes, block.first, block.last});
    out.bytes = std::max(out.bytes, at + block.bytes);
  }
  return out;
}

/// Offsets for all arena blocks: largest first, or, where that leaves gaps, what is large and lives
/// long, or in the order in which they are made.
std::vector<size_t> lay_out(absl::Span<const ArenaBlock> blocks, absl::Span<const int64_t> symbols,
                            ArenaSize& size) {
  constexpr size_t kMostTried = 2000;  // blocks: placing takes the square of them
  std::vector<Stretch> all;
  for (const ArenaBlock& block : blocks) {
    all.push_back({bytes_of(block, symbols), block.first, block.last});
    if (stays(block, symbols)) all.back().first = 0, all.back().last = INT_MAX;
  }
  size.least = least_bytes(all);
  Layout best = placed_by([](const Stretch& b) { return static_cast<double>(b.bytes); }, all);
  constexpr double (*kOthers[])(const Stretch&) = {
      [](const Stretch& b) {
        return static_cast<double>(b.bytes) * (static_cast<double>(b.last) - b.first + 1);
      },
      [](const Stretch& b) { return static_cast<double>(-b.first); }};
  for (const auto& weight : kOthers) {
    if (best.bytes <= size.least + size.least / 64 || blocks.size() > kMostTried) break;
    Layout other = placed_by(weight, all);
    if (other.bytes < best.bytes) best = std::move(other);
  }
  size.bytes = best.bytes;
  return std::move(best.offsets);
}

Tensor in_arena(const StorageRef& arena, const TensorType& type, size_t offset) {
  Geometry g = Geometry::contiguous(type.shape);
  g.offset = Int(static_cast<int64_t>(offset / size_of(type.dtype)));
  return make_tensor(arena, type.dtype, std::move(g));
}

}  // namespace

Int evaluate(Int e, absl::Span<const int64_t> symbols) {
  if (e.known()) return e;
  return substitute(e, [&](uint32_t k) { return Int(symbols[k]); });
}

void bind_step(const Step& step, absl::Span<const int64_t> symbols, Bound::OfStep& b) {
  for (const TensorType& t : step.types) b.types.push_back(evaluated(t, symbols));
  for (size_t k = 0; k < step.shifts.size(); ++k) {
    const TensorType* t = input(step, k)->type().tensor();
    b.shifts.push_back(t == nullptr ? 0
                                    : evaluate(step.shifts[k], symbols).value() *
                                          static_cast<int64_t>(size_of(t->dtype)));
  }
  const auto value = [&](Int e) { return evaluate(e, symbols).value(); };
  switch (step.kind) {
    case Step::Kind::op:
      bind_op(step, symbols, b);
      break;
    case Step::Kind::kernel:
      b.kernel = step.kernel->bind(value);
      break;
    case Step::Kind::rows:
      b.rows = step.rows->kernel.bind(value);
      break;
    case Step::Kind::structure:
      for (const Step::Inner& inner : step.blocks) {
        auto& bound = b.blocks.emplace_back(inner.steps.size());
        for (size_t i = 0; i < inner.steps.size(); ++i)
          if (!inner.steps[i].dynamic || inner.steps[i].kind == Step::Kind::structure)
            bind_step(inner.steps[i], symbols, bound[i]);
      }
      break;
  }
  if (step.epilogue) {
    b.epilogue = std::make_unique<Bound::OfStep>();
    bind_step(*step.epilogue, symbols, *b.epilogue);
  }
  if (step.panels) {
    b.panels = std::make_unique<Bound::OfPanels>();
    bind_step(step.panels->product, symbols, b.panels->product);
    bind_step(step.panels->rows, symbols, b.panels->rows);
  }
}

Device Program::arena_device() const {
  for (const ir::Value* v : graph_.inputs())
    if (const TensorType* t = v->type().tensor()) return t->device;
  return {};
}

ArenaSize arena_size(absl::Span<const ArenaBlock> blocks, absl::Span<const int64_t> symbols) {
  ArenaSize size;
  lay_out(blocks, symbols, size);
  return size;
}

std::unique_ptr<Bound> bind(const std::vector<Step>& steps, absl::Span<const ArenaBlock> blocks,
                            std::vector<int64_t> symbols, Device device, StorageRef& arena) {
  auto b = std::make_unique<Bound>();
  b->symbols = std::move(symbols);
  b->steps.resize(steps.size());
  std::vector<size_t> offsets = lay_out(blocks, b->symbols, b->arena);
  if (!arena || arena->bytes < b->arena.bytes) arena = new_storage(device, b->arena.bytes);
  auto place = [&](const Step& step, Bound::OfStep& bound) {
    bound.places.resize(step.arena.size());
    bound.fixed = step.fixed || step.settled;
    for (size_t k = 0; k < step.arena.size(); ++k) {
      if (step.arena[k] < 0) continue;
      const auto block = static_cast<size_t>(step.arena[k]);
      bound.places[k] = in_arena(arena, bound.types[k], offsets[block]);
      bound.fixed = bound.fixed && stays(blocks[block], b->symbols);
    }
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    Bound::OfStep& bound = b->steps[i];
    if (step.dynamic && step.kind != Step::Kind::structure) continue;
    bind_step(step, b->symbols, bound);
    place(step, bound);
    if (step.epilogue) place(*step.epilogue, *bound.epilogue);
  }
  return b;
}

}  // namespace lathe::jit
