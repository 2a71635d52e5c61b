// Puts the steps of a block that write some elements of a value behind those that read it as it
// was, so that it ends there and is written where it lies.
#include <algorithm>

#include "graph/ir/arguments.h"
#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

ir::Effects effects_of(const Step& s, const ir::Graph& graph) {
  ir::Effects worst = ir::Effects::pure;
  each_node(s, [&](const ir::Node& n) { worst = std::max(worst, ir::effects(n, graph)); });
  return worst;
}

/// The last step behind `at` that reads what the write at `at` changes, or a view of it; `at` if
/// there is none.
size_t last_reader(const std::vector<Step>& steps, size_t at) {
  Slots same{steps[at].in[0]};
  size_t last = at;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (is_view(steps[i]) && same.contains(steps[i].in[0])) same.insert(steps[i].out[0]);
    if (i <= at) continue;
    each_read(steps[i], [&](int slot) {
      if (same.contains(slot)) last = i;
    });
  }
  return last;
}

/// The write at `at` and what depends on it, behind the steps up to its operand's last reader that
/// do not: then nobody reads what it writes over.
void put_off(std::vector<Step>& steps, size_t at, const PlanScope& scope) {
  const size_t last = last_reader(steps, at);
  Slots changed;
  std::vector<bool> later(steps.size());
  ir::Effects stays = ir::Effects::pure, moves = ir::Effects::pure;
  for (size_t i = at; i <= last; ++i) {
    bool depends = i == at;
    each_read(steps[i], [&](int slot) { depends = depends || changed.contains(slot); });
    if (!steps[i].symbols.empty()) return;  // sizes and numbers are read without a slot
    ir::Effects& worst = depends ? moves : stays;
    worst = std::max(worst, effects_of(steps[i], scope.graph));
    if (depends) each_made(steps[i], [&](int slot) { changed.insert(slot); });
    later[i] = depends;
  }
  // What fails, prints or draws does so in its order. A reader that sees the write cannot be before
  // it.
  if (later[last] || (stays != ir::Effects::pure && moves != ir::Effects::pure)) return;
  if (!scope.rewrites.allow("put_writes_off")) return;
  std::vector<Step> put;
  size_t next = at;
  for (size_t i = at; i <= last; ++i) {
    if (later[i])
      put.push_back(std::move(steps[i]));
    else if (next++ != i)
      steps[next - 1] = std::move(steps[i]);
  }
  for (Step& s : put) steps[next++] = std::move(s);
}

}  // namespace

void put_writes_off(std::vector<Step>& steps, const PlanScope& scope) {
  for (size_t i = steps.size(); i-- > 0;)
    if (writes_some(steps[i]) && last_reader(steps, i) != i) put_off(steps, i, scope);
}

}  // namespace lathe::jit
