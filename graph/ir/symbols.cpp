// Symbols of a whole graph: where they occur, renumbering.
#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_set.h>

#include "core/base/error.h"
#include "graph/ir/arguments.h"
#include "graph/ir/ir.h"

namespace lathe::ir {
namespace {

void for_each_value(const Block& block, const std::function<void(Value*)>& visit) {
  for (Value* p : block.parameters()) visit(p);
  for (Node* n = block.first(); n != nullptr; n = n->next()) {
    for (Value* v : n->out()) visit(v);
    for (Block* b : n->blocks()) for_each_value(*b, visit);
  }
}

void note_symbols(Int e, std::vector<int64_t>& number, int64_t& next) {
  for (uint32_t k : symbols_of(e))
    if (k < number.size() && number[k] < 0) number[k] = next++;
}

}  // namespace

ArgVec map_ints(const ArgVec& attrs, const std::function<Int(Int)>& change) {
  ArgVec out;
  std::vector<Arg> items;
  for (const Arg& a : attrs.view()) {
    if (a.tag == Tag::integer) {
      out.push(Arg(change(a.integer())));
    } else if (a.tag == Tag::list) {
      items.assign(a.list_->data, a.list_->data + a.list_->size);
      for (Arg& item : items)
        if (item.tag == Tag::integer) item = Arg(change(item.integer()));
      ArgList list{items.data(), items.size()};
      out.push(Arg(list));
    } else {
      out.push(a);
    }
  }
  return out;
}

void map_ints(Graph& graph, const std::function<Int(Int)>& change) {
  for_each_value(graph.body(), [&](Value* v) { graph.set_type(v, map_ints(v->type(), change)); });
  for_each_node(graph.body(), [&](Node* n) {
    if (n->attrs().size() > 0) graph.set_attrs(n, map_ints(n->attrs(), change));
  });
  for (auto* facts : {&graph.assumptions(), &graph.checks()})
    for (SymFact& f : *facts) {
      f.a = change(f.a);
      f.b = change(f.b);
    }
}

absl::flat_hash_set<const Node*> symbol_nodes(const Graph& graph) {
  absl::flat_hash_set<const Node*> out;
  for (const SymbolSource& s : graph.sources())
    if (s.value != nullptr && s.value->node() != nullptr) out.insert(s.value->node());
  return out;
}

void map_ints(Graph& graph, Node* node, const std::function<Int(Int)>& change) {
  if (node->attrs().size() > 0) graph.set_attrs(node, map_ints(node->attrs(), change));
  for (Value* v : node->out()) graph.set_type(v, map_ints(v->type(), change));
  for (Block* b : node->blocks()) {
    for (Value* p : b->parameters()) graph.set_type(p, map_ints(p->type(), change));
    for (Node* n : b->nodes()) map_ints(graph, n, change);
  }
}

namespace {
struct Entered {
  explicit Entered(SymScope& scope) : scope(scope) { scope.enter(); }
  ~Entered() { scope.leave(); }
  Entered(const Entered&) = delete;
  SymScope& scope;
};

/// To the facts that mention a lost symbol come the same as all facts together let them be written:
/// one that says in a long way what the symbol equals may do so plainly then.
void add_folded_facts(Graph& graph, const std::function<bool(uint32_t)>& has) {
  std::vector<SymFact>* both[] = {&graph.assumptions(), &graph.checks()};
  auto stays = [&](const SymFact& f) {
    return absl::c_all_of(symbols_of(f.a), has) && absl::c_all_of(symbols_of(f.b), has);
  };
  if (absl::c_all_of(both, [&](const auto* facts) { return absl::c_all_of(*facts, stays); }))
    return;
  SymScope all;
  for (const SymbolInfo& info : graph.symbols()) all.fresh(info.hint, info.is_size);
  for (const auto* facts : both)
    for (const SymFact& f : *facts) {
      const SymFact known = f.holds ? f : opposite(f);
      all.assume(known.relation, known.a, known.b);
    }
  Entered entered(all);
  auto anew = [](Int e) { return e.known() ? e : substitute(e, symbol); };
  for (auto* facts : both)
    for (size_t i = 0, count = facts->size(); i < count; ++i) {
      SymFact f = (*facts)[i];
      if (stays(f)) continue;
      f.a = anew(f.a), f.b = anew(f.b);
      if (!identical(f.a, (*facts)[i].a) || !identical(f.b, (*facts)[i].b)) facts->push_back(f);
    }
}

/// Where a fact says what a lost symbol equals, that takes its place in the other facts: what they
/// say of the symbols that stay was used to give types, and must not go with it. Nor must what is
/// known of every size: that it is not negative.
void replace_lost_symbols(Graph& graph, const std::function<bool(uint32_t)>& has) {
  // No scope that is under way may fold a fact by itself.
  SymScope plain;
  for (const SymbolInfo& info : graph.symbols()) plain.fresh(info.hint, info.is_size);
  Entered entered(plain);
  std::vector<SymFact>* both[] = {&graph.assumptions(), &graph.checks()};
  auto lost = [&](const SymFact& f) -> std::optional<std::pair<uint32_t, Int>> {
    if (f.relation != (f.holds ? Relation::eq : Relation::ne)) return std::nullopt;
    for (uint32_t k : symbols_of(f.a - f.b)) {
      if (has(k)) continue;
      if (std::optional<Int> by = solved_for(k, f.a - f.b)) return std::pair(k, *by);
    }
    return std::nullopt;
  };
  auto replace_one = [&] {
    for (auto* facts : both)
      for (size_t i = 0; i < facts->size(); ++i) {
        auto found = lost((*facts)[i]);
        if (!found) continue;
        const uint32_t gone = found->first;
        const Int by = found->second;
        Site site = (*facts)[i].site;
        auto with = [&](uint32_t k) { return k == gone ? by : symbol(k); };
        facts->erase(facts->begin() + static_cast<ptrdiff_t>(i));
        for (auto* all : both)
          for (SymFact& other : *all)
            other.a = substitute(other.a, with), other.b = substitute(other.b, with);
        if (graph.symbols()[gone].is_size &&
            plain.prove(Relation::le, 0, by) != SymScope::Truth::yes)
          graph.assumptions().push_back({Relation::le, true, Int(0), by, site});
        return true;
      }
    return false;
  };
  while (replace_one()) {
  }
}
}  // namespace

std::function<Int(Int)> compact_symbols(Graph& graph) {
  auto sources = graph.sources();
  auto has = [&](uint32_t k) { return k < sources.size() && sources[k].value != nullptr; };
  auto sourced = [&](Int e) {
    const std::vector<uint32_t>& symbols = symbols_of(e);
    return std::all_of(symbols.begin(), symbols.end(), has);
  };
  add_folded_facts(graph, has);
  replace_lost_symbols(graph, has);
  for (auto* facts : {&graph.assumptions(), &graph.checks()})
    std::erase_if(*facts, [&](const SymFact& f) { return !sourced(f.a) || !sourced(f.b); });

  std::vector<int64_t> number(graph.symbols().size(), -1);
  int64_t next = 0;
  for_each_value(graph.body(), [&](Value* v) {
    for_each_int(v->type(), [&](Int e) { note_symbols(e, number, next); });
  });
  for_each_node(graph.body(), [&](Node* n) {
    for_each_int(n->attrs(), [&](Int e) { note_symbols(e, number, next); });
  });
  for (auto* facts : {&graph.assumptions(), &graph.checks()})
    for (const SymFact& f : *facts) {
      note_symbols(f.a, number, next);
      note_symbols(f.b, number, next);
    }

  std::vector<SymbolInfo> symbols(static_cast<size_t>(next));
  bool same = static_cast<size_t>(next) == number.size();
  for (size_t k = 0; k < number.size(); ++k) {
    if (number[k] < 0) continue;
    symbols[static_cast<size_t>(number[k])] = graph.symbols()[k];
    same &= number[k] == static_cast<int64_t>(k);
  }
  // A scope under way knows the old numbers: what it would fold by them is not true of the new
  // ones.
  auto anew = std::make_shared<SymScope>();
  for (const SymbolInfo& info : symbols) anew->fresh(info.hint, info.is_size);
  auto changed = std::make_shared<absl::flat_hash_map<uint64_t, Int>>();
  std::function<Int(Int)> change = [number, anew, changed, same](Int e) {
    if (e.known() || same) return e;
    if (auto it = changed->find(e.word()); it != changed->end()) return it->second;
    Entered entered(*anew);
    Int now = substitute(e, [&](uint32_t k) {
      LATHE_CHECK(k < number.size() && number[k] >= 0);
      return symbol(static_cast<uint32_t>(number[k]));
    });
    changed->emplace(e.word(), now);
    return now;
  };
  if (!same) map_ints(graph, change);
  graph.symbols() = std::move(symbols);
  return change;
}

}  // namespace lathe::ir
