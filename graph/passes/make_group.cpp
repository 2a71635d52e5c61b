#include "graph/passes/make_group.h"

namespace lathe::ir {
namespace {

/// What a member computes, in the block where nodes are made now.
void copy_member(Graph& graph, Node& member, Graph::ValueMap& known) {
  if (!member.is(Structure::group)) {
    graph.copy_node(member, known);
    return;
  }
  const Block& body = member.block(0);
  for (size_t i = 0; i < member.in().size(); ++i)
    known[body.parameters()[i]] = known.at(member.in(i));
  for (Node* inner : body.nodes()) graph.copy_node(*inner, known);
  for (size_t k = 0; k < body.yields().size(); ++k)
    known[member.out(k)] = known.at(body.yields()[k]);
}

}  // namespace

void make_group(Graph& graph, const std::vector<Node*>& members, Node* last, const Values& inputs,
                const Values& outputs) {
  InsertAt here(graph, last);
  Operands operands;
  operands.push(Operands::Item(Arg("pointwise")));
  for (Value* v : inputs) operands.in.push_back(v);
  TypeList types;
  for (const Value* v : outputs) types.push_back(v->type());
  Node* node =
      graph.add_structure(Structure::group, std::move(operands), std::move(types), last->site());
  Block& body = graph.add_block(node);
  Graph::ValueMap known;
  for (Value* v : inputs) known[v] = graph.add_parameter(body, v->type(), v->name());
  {
    InsertAt inside(graph, body);
    for (Node* n : members) copy_member(graph, *n, known);
  }
  Values yields;
  for (Value* v : outputs) yields.push_back(known.at(v));
  graph.set_yields(body, std::move(yields), last->site());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node->out(i)->name().empty()) graph.set_name(node->out(i), outputs[i]->name());
    graph.replace(outputs[i], node->out(i));
  }
  // What the members read of each other may now come from the group itself; they die, last first.
  for (size_t i = members.size(); i-- > 0;) graph.erase(members[i]);
}

}  // namespace lathe::ir
