// Which intermediates lie in the arena of a program, from which step to which, and what is
// therefore in one place for all calls with the same sizes. Where in the arena it lies is for the
// sizes to say (bind.cpp).
#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <functional>

#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

class ArenaPlanner {
 public:
  ArenaPlanner(std::vector<Step>& steps, const PlanScope& scope, const Slots& constants,
               Device device, absl::FunctionRef<bool(uint32_t)> dynamic)
      : steps_(steps),
        graph_(scope.graph),
        rewrites_(scope.rewrites),
        device_(device),
        dynamic_(dynamic) {
    plan_.fixed = constants;
  }

  ArenaPlan run() {
    absl::flat_hash_map<const Value*, int> last;
    std::function<void(const Node&, int)> uses = [&](const Node& n, int at) {
      for (const Value* v : n.in()) last[root_of(v)] = std::max(last[root_of(v)], at);
      for (const ir::Block* b : n.blocks()) {
        for (Node* inner = b->first(); inner != nullptr; inner = inner->next()) uses(*inner, at);
        uses(*b->end(), at);
      }
    };
    for (size_t i = 0; i < steps_.size(); ++i)
      each_node(steps_[i], [&](const Node& n) { uses(n, static_cast<int>(i)); });
    for (size_t i = 0; i < steps_.size(); ++i)
      if (const Value* v = taken_over(steps_[i]);
          v != nullptr && last[v] == static_cast<int>(i) && rewrites_.allow(kWriteOver))
        before_[result(steps_[i], 0)] = v;
    absl::flat_hash_set<const Value*> kept;
    for (const Value* v : graph_.body().yields()) kept.insert(first_of(v));
    Slots settled = plan_.fixed;
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& s = steps_[i];
      const int at = static_cast<int>(i);
      const bool by_sizes = said_by_sizes(s, settled);
      auto place = [&](Step& part) {
        if (part.kind == Step::Kind::structure || part.dynamic) return;
        if (!by_sizes && take_over(part, last)) return;
        if (part.kind == Step::Kind::op &&
            (part.types.size() != 1 || !writes_into(*part.node->op())))
          return;
        for (size_t k = 0; k < part.types.size(); ++k) {
          const Value* v = result(part, k);
          const bool apart = kept.contains(v) || ends_in_loop(v, last[v]) ||
                             part.types[k].device != device_ || !rewrites_.allow(kPlaceInArena);
          part.arena.push_back(apart ? -1 : static_cast<int>(plan_.blocks.size()));
          if (apart) continue;
          made_by_[v] = &part;
          plan_.blocks.push_back({part.types[k], at, std::max(last[v], at), by_sizes});
        }
      };
      // What lies between products that run in panels has memory of its own, if any at all.
      if (s.epilogue) {
        place(*s.epilogue);
        s.replaced = replaced_by_epilogue(s);
      }
      if (s.replaced >= 0)
        s.arena = {s.epilogue->arena[static_cast<size_t>(s.replaced)]};
      else
        place(s);
      find_fixed(s);
      if (!by_sizes || !all_in(s.out, plan_.fixed)) continue;
      settled.insert(s.out.begin(), s.out.end());
      s.settled = !s.fixed;
    }
    return std::move(plan_);
  }

 private:
  /// The operand that a step's result is but for some elements, of which nothing else in it reads.
  const Value* taken_over(const Step& s) const {
    if (!writes_some(s) || s.dynamic || device_.kind != DeviceKind::cpu || s.types.size() != 1)
      return nullptr;
    const Value* v = s.node->in(0);
    if (root_of(v) != v || s.types[0].device != device_) return nullptr;
    for (size_t k = 1; k < s.node->in().size(); ++k)
      if (root_of(s.node->in(k)) == v) return nullptr;
    return v;
  }
  /// What the elements of v lie in, from the first step on that made some of them.
  const Value* first_of(const Value* v) const {
    for (v = root_of(v); before_.contains(v); v = root_of(before_.at(v))) {
    }
    return v;
  }
  /// Has the step its operand's place in the arena, which ends there? Then that lives on, and is
  /// computed anew in each call.
  bool take_over(Step& s, const absl::flat_hash_map<const Value*, int>& last) {
    if (!writes_some(s) || s.types.size() != 1) return false;
    const auto before = before_.find(result(s, 0));
    if (before == before_.end()) return false;
    const auto made = made_by_.find(before->second);
    if (made == made_by_.end() || made->second->arena.size() != 1) return false;
    const auto end = last.find(before->first);
    if (end == last.end() || ends_in_loop(before->first, end->second)) return false;
    const int block = made->second->arena[0];
    s.arena = {block};
    ArenaBlock& place = plan_.blocks[static_cast<size_t>(block)];
    place.last = std::max(place.last, end->second);
    place.settled = made->second->settled = false;
    made_by_[before->first] = &s;
    return true;
  }

  /// A loop that takes over what it begins with may write there. `last`: the step of its last use.
  bool ends_in_loop(const Value* v, int last) const {
    const Node& n = *steps_[static_cast<size_t>(last)].node;
    if (!n.is(ir::Structure::for_) && !n.is(ir::Structure::while_)) return false;
    return std::find(n.in().begin() + static_cast<ptrdiff_t>(n.carried_from()), n.in().end(), v) !=
           n.in().end();
  }

  /// What lies where it lies for all calls with the same sizes: constants, what is in the arena,
  /// and views of both.
  void find_fixed(Step& s) {
    each_part(s, [&](const Step& part) {
      for (size_t k = 0; k < part.arena.size(); ++k)
        if (part.arena[k] >= 0) plan_.fixed.insert(part.out[k]);
    });
    s.fixed = is_view(s) && !s.dynamic && all_in(s.in, plan_.fixed);
    if (s.fixed) plan_.fixed.insert(s.out.begin(), s.out.end());
  }

  /// Do sizes alone say what the step gives? `settled`: the slots of which that is known.
  bool said_by_sizes(const Step& s, const Slots& settled) const {
    if (s.kind == Step::Kind::structure || s.blank || s.dynamic || s.epilogue || s.panels ||
        !s.symbols.empty() || s.types.empty())
      return false;
    bool pure = true;
    each_node(s,
              [&](const Node& n) { pure = pure && ir::effects(n, graph_) == ir::Effects::pure; });
    const auto dynamic = [&](const Number& n) {
      return absl::c_any_of(symbols_of(n.expr), [&](uint32_t k) { return dynamic_(k); });
    };
    if (s.kernel != nullptr && absl::c_any_of(s.kernel->numbers(), dynamic)) return false;
    if (s.rows && absl::c_any_of(s.rows->kernel.numbers(), dynamic)) return false;
    return pure && all_in(s.in, settled);
  }

  /// The result of an epilogue that may lie where the product lies; -1: there is none. Two places
  /// would be twice the memory, each line of it fetched before it is written.
  int replaced_by_epilogue(const Step& product) const {
    const Step& s = *product.epilogue;
    const Value* made = result(product, 0);
    for (size_t k = 0; k < s.arena.size(); ++k)
      if (s.types[k].dtype == product.types[0].dtype &&
          identical(s.types[k].shape, product.types[0].shape) &&
          reads_only_where_it_writes(s, k, [&](const Value* v) { return v == made; }))
        return static_cast<int>(k);
    return -1;
  }

  std::vector<Step>& steps_;
  const ir::Graph& graph_;
  ir::Rewrites& rewrites_;
  Device device_;
  absl::FunctionRef<bool(uint32_t)> dynamic_;
  ArenaPlan plan_;
  absl::flat_hash_map<const Value*, const Value*> before_;  // by result: see taken_over()
  absl::flat_hash_map<const Value*, Step*> made_by_;        // of what lies in the arena
};

}  // namespace

bool writes_into(const Op& op) {
  return op.kind == Kind::elementwise || op.kind == Kind::create || op.kind == Kind::random ||
         op.kind == Kind::reduce || op.kind == Kind::contract;
}

const Value* root_of(const Value* v) {
  while (v->node() != nullptr && v->node()->is(ir::Structure::op) &&
         v->node()->op()->kind == Kind::view)
    v = v->node()->in(0);
  return v;
}

ArenaPlan plan_arena(std::vector<Step>& steps, const PlanScope& scope, const Slots& constants,
                     Device device, absl::FunctionRef<bool(uint32_t)> dynamic) {
  return ArenaPlanner(steps, scope, constants, device, dynamic).run();
}

}  // namespace lathe::jit
