#include "graph/passes/partition.h"

#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "core/dispatch/callback.h"

namespace lathe::ir {
namespace {

bool is_known(const Value* v) {
  const TensorType* t = v->type().tensor();
  return t != nullptr && t->device.kind == DeviceKind::cpu &&
         absl::c_all_of(t->shape, [](Int n) { return n.known(); });
}

bool is_known(const Arg& a) {
  if (a.tag == Tag::integer) return a.integer().known();
  if (a.tag == Tag::real) return a.real().known();
  if (a.tag != Tag::list) return a.tag != Tag::function;
  for (size_t i = 0; i < a.list_->size; ++i)
    if (!is_known(a.list_->data[i])) return false;
  return true;
}

class Partitioner {
 public:
  using Refuses = absl::FunctionRef<std::string(const Node&)>;
  using Compile = absl::FunctionRef<std::shared_ptr<const HostFunction>(Graph)>;
  Partitioner(Graph& graph, Refuses refuses, Compile compile)
      : graph_(graph), refuses_(refuses), compile_(compile) {}

  void block(Block& b) {
    for (Node *n = b.first(), *next = nullptr; n != nullptr; n = next) {
      next = n->next();
      if (n->is(Structure::constant)) continue;
      PartitionRow row{n->is(Structure::op) ? n->op()->name() : std::string(name(n->structure())),
                       n->site(), -1, why_it_stays(*n)};
      if (row.why.empty()) {
        row.part = parts_;
        members_.push_back(n);
        inside_.insert(n);
      } else if (needs_a_member(*n)) {
        close();
      }
      rows_.push_back(std::move(row));
      if (n->blocks().empty()) continue;
      close();
      for (Block* inner : n->blocks()) block(*inner);
    }
    close();
  }
  std::vector<PartitionRow> take() { return std::move(rows_); }

 private:
  std::string why_it_stays(const Node& n) {
    if (!n.is(Structure::op)) return "it is control flow: what is inside of it is asked about";
    switch (effects(n, graph_)) {
      case Effects::ordered:
        return "it keeps its place among effects";
      case Effects::fails:
        return "it may fail, and a call of a back end may be left out";
      case Effects::pure:
        break;
    }
    if (!absl::c_all_of(n.in(), [](const Value* v) { return v->type().tensor() != nullptr; }) ||
        !absl::c_all_of(n.out(), [](const Value* v) { return v->type().tensor() != nullptr; }))
      return "it takes or gives a number";
    const auto known = [](const Value* v) { return is_known(v); };
    const bool sizes = absl::c_all_of(n.in(), known) && absl::c_all_of(n.out(), known) &&
                       absl::c_all_of(n.attrs().view(), [](const Arg& a) { return is_known(a); });
    return sizes ? refuses_(n) : "its sizes are known only when it runs";
  }

  bool needs_a_member(const Node& n) const {
    if (members_.empty()) return false;
    auto is_inside = [&](const Value* v) { return inside_.contains(v->node()); };
    if (absl::c_any_of(n.in(), is_inside)) return true;
    bool found = false;
    for (const Block* b : n.blocks()) {
      for_each_node(*b, [&](Node* inner) { found |= absl::c_any_of(inner->in(), is_inside); });
      found |= absl::c_any_of(b->yields(), is_inside);
    }
    return found;
  }

  /// What has gathered becomes a call where the last of it stands: all that it reads is there, and
  /// nothing before reads what it gives.
  void close() {
    if (members_.empty()) return;
    Graph part(absl::StrCat(graph_.name(), "_part", parts_++));
    Graph::ValueMap known;
    Values given, results;
    for (const Node* n : members_)
      for (Value* v : n->in())
        if (!inside_.contains(v->node()) && !known.contains(v)) {
          const bool named = !v->name().empty();
          known[v] =
              part.add_input(v->type(), named ? v->name() : absl::StrCat("input_", given.size()));
          given.push_back(v);
        }
    for (const Node* n : members_) {
      part.copy_node(*n, known);
      for (Value* v : n->out())
        if (absl::c_any_of(v->uses(), [&](const Use& u) { return !inside_.contains(u.node); }))
          results.push_back(v);
    }
    Values yields;
    for (const Value* v : results) yields.push_back(known.at(v));
    part.set_results(std::move(yields));
    call(compile_(std::move(part)), given, results);
    for (size_t k = members_.size(); k-- > 0;) graph_.erase(members_[k]);
    members_.clear();
    inside_.clear();
  }

  void call(const std::shared_ptr<const HostFunction>& f, const Values& given,
            const Values& results) {
    std::vector<Operands::Item> inputs(given.begin(), given.end()), sizes;
    TypeList types;
    for (const Value* v : results) {
      types.push_back(v->type());
      for (Int n : v->tensor().shape) sizes.push_back(Arg(n));
    }
    Operands operands;
    operands.push(Arg(*f));
    operands.push_list(inputs);
    operands.push_list(sizes);
    InsertAt before(graph_, members_.back());
    Node* node =
        graph_.add(*callback_op("callback"), std::move(operands), types, members_[0]->site());
    for (size_t k = 0; k < results.size(); ++k) graph_.replace(results[k], node->out(k));
  }

  Graph& graph_;
  Refuses refuses_;
  Compile compile_;
  std::vector<Node*> members_;
  absl::flat_hash_set<const Node*> inside_;
  int parts_ = 0;
  std::vector<PartitionRow> rows_;
};

}  // namespace

std::vector<PartitionRow> partition(
    Graph& graph, absl::FunctionRef<std::string(const Node&)> refuses,
    absl::FunctionRef<std::shared_ptr<const HostFunction>(Graph part)> compile) {
  Partitioner all(graph, refuses, compile);
  all.block(graph.body());
  return all.take();
}

}  // namespace lathe::ir
