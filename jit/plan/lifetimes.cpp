// How long values live: the slots that no later step reads, in the program and inside of its
// blocks. A value that ends in a step may be written where it lies, so a loop whose rounds write a
// row of what they carry costs a row a round: what a structure takes over is moved into it, and
// what a block yields is moved out of it.
//
// Nothing here asks what shares memory with what. A run does, by counting owners: a step writes
// where its operand lies if the tensor and its storage have one owner each (Runner::may_take_over).
#include <algorithm>

#include "core/base/error.h"
#include "jit/plan/plan.h"

namespace lathe::jit {

bool writes_some(const Step& s) {
  if (s.kind != Step::Kind::op || s.in.empty() || s.node->op()->kind != Kind::index) return false;
  const lathe::Access access = s.node->op()->index.access;
  return (access == lathe::Access::through || access == lathe::Access::put ||
          access == lathe::Access::select_put) &&
         s.node->value(0) == s.node->in(0) && std::count(s.in.begin(), s.in.end(), s.in[0]) == 1;
}

void each_read(const Step& s, absl::FunctionRef<void(int)> f) {
  each_part(s, [&](const Step& part) {
    for (int slot : part.in) f(slot);
  });
  for (const Step::Inner& inner : s.blocks) {
    for (const Step& within : inner.steps) each_read(within, f);
    for (int slot : inner.yields) f(slot);
  }
}

void each_made(const Step& s, absl::FunctionRef<void(int)> f) {
  each_part(s, [&](const Step& part) {
    for (int slot : part.out) f(slot);
  });
  for (const Step::Inner& inner : s.blocks) {
    for (int slot : inner.parameters) f(slot);
    for (const Step& within : inner.steps) each_made(within, f);
  }
}

namespace {

Slots read_inside(const Step& s) {
  Slots out;
  for (const Step::Inner& inner : s.blocks) {
    for (const Step& within : inner.steps) each_read(within, [&](int slot) { out.insert(slot); });
    out.insert(inner.yields.begin(), inner.yields.end());
  }
  return out;
}

Slots made_in(const Step::Inner& block) {
  Slots out(block.parameters.begin(), block.parameters.end());
  for (const Step& s : block.steps) each_made(s, [&](int slot) { out.insert(slot); });
  return out;
}

/// `own`: slots that may end in these steps; `yields`: those of them that are read at the end.
void plan_block(std::vector<Step>& steps, const Slots& own, const std::vector<int>& yields);

void plan_inner(Step& s) {
  const Slots ends(s.frees.begin(), s.frees.end()), inside = read_inside(s);
  for (int slot : s.in)
    if (ends.contains(slot) && !inside.contains(slot)) s.hands_over.push_back(slot);
  const bool loop = !s.node->is(ir::Structure::if_);
  // The rounds of a while see the parameters of its condition, which is asked before each.
  const bool asks_first = s.node->is(ir::Structure::while_);
  for (size_t k = 0; k < s.blocks.size(); ++k) {
    Step::Inner& block = s.blocks[k];
    Slots own = made_in(block);
    if (asks_first && k == 0)
      for (int slot : block.parameters) own.erase(slot);
    if (asks_first && k == 1)
      own.insert(s.blocks[0].parameters.begin(), s.blocks[0].parameters.end());
    for (size_t i = 0; i < block.yields.size(); ++i) {
      const auto later = block.yields.begin() + static_cast<ptrdiff_t>(i) + 1;
      block.moves.push_back(own.contains(block.yields[i]) &&
                            std::find(later, block.yields.end(), block.yields[i]) ==
                                block.yields.end());
    }
    // A branch runs once: what ends in the `if` ends in it.
    if (!loop) own.insert(ends.begin(), ends.end());
    plan_block(block.steps, own, block.yields);
  }
}

void plan_block(std::vector<Step>& steps, const Slots& own, const std::vector<int>& yields) {
  absl::flat_hash_map<int, size_t> last;
  for (size_t i = 0; i < steps.size(); ++i) {
    each_read(steps[i], [&](int slot) { last[slot] = i; });
    each_made(steps[i], [&](int slot) { last[slot] = i; });
  }
  for (int slot : yields) last.erase(slot);
  for (const auto& [slot, at] : last)
    if (own.contains(slot)) steps[at].frees.push_back(slot);
  for (Step& s : steps) {
    std::sort(s.frees.begin(), s.frees.end());
    const bool planned = s.in_arena();  // a write is there only where its operand was
    s.over =
        writes_some(s) && (planned || std::binary_search(s.frees.begin(), s.frees.end(), s.in[0]));
    if (s.kind == Step::Kind::structure && !s.blocks.empty()) plan_inner(s);
  }
}

}  // namespace

void plan_lifetimes(std::vector<Step>& steps, const Slots& stays) {
  Slots own;
  for (const Step& s : steps)
    each_made(s, [&](int slot) {
      if (!stays.contains(slot)) own.insert(slot);
    });
  plan_block(steps, own, {});
}

Slots read_by_one(const std::vector<Step>& steps, const Slots& slots) {
  absl::flat_hash_map<int, int> readers;
  Slots lasting;
  for (const Step& s : steps) {
    if (s.elided) continue;
    each_read(s, [&](int slot) { ++readers[slot]; });
    each_part(s, [&](const Step& part) {
      for (size_t k = 0; k < part.lasting.size(); ++k)
        if (part.lasting[k]) lasting.insert(part.in[k]);
    });
  }
  Slots out;
  for (int slot : slots)
    if (lasting.contains(slot) && readers[slot] == 1) out.insert(slot);
  return out;
}

}  // namespace lathe::jit
