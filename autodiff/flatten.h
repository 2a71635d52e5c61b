// What comes before the backward walk over a graph: only ops with a rule, constants, if, for and
// while are left. Private to differentiate.cpp and gradient_graph.cpp.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/error.h"
#include "graph/ir/inline.h"
#include "graph/trace/tracer.h"

namespace lathe {

/// Tensors that rules make from numbers are part of the program.
class RuleHost : public ir::TraceCallbacks {
 public:
  Found find(const Tensor&) override { return {Found::How::constant, {}}; }
};

/// Inlines groups and calls; `module` has the functions that are called.
class Flatten {
 public:
  Flatten(ir::Tracer& tracer, const ir::Graph& module)
      : tracer_(tracer), g_(tracer.graph()), module_(module) {}

  void block(ir::Block& b) {
    for (ir::Node* n = b.first(); n != nullptr;) {
      ir::Node* before = n->previous();
      if (flatten(*n)) {
        n = before != nullptr ? before->next() : b.first();
        continue;
      }
      for (ir::Block* inner : n->blocks()) block(*inner);
      n = n->next();
    }
  }

 private:
  const ir::Graph* function(const std::string& name) const {
    return name == module_.name() ? &module_ : module_.function(name);
  }

  /// Does it lead to itself, or to a function that does?
  bool calls_itself(const ir::Graph& f) {
    if (std::find(open_.begin(), open_.end(), &f) != open_.end()) return true;
    if (!ends_.insert(&f).second) return false;
    open_.push_back(&f);
    bool found = false;
    ir::for_each_node(f.body(), [&](const ir::Node* n) {
      const ir::Graph* g = n->is(ir::Structure::call) ? function(n->callee()) : nullptr;
      found = found || (g != nullptr && calls_itself(*g));
    });
    open_.pop_back();
    return found;
  }

  bool flatten(ir::Node& n) {
    if (n.is(ir::Structure::group)) {
      inline_group(g_, &n);
      return true;
    }
    if (n.is(ir::Structure::call)) {
      const ir::Graph* callee = function(n.callee());
      if (callee == nullptr)
        throw NameError({.op = n.callee(), .problem = "there is no such function"});
      if (calls_itself(*callee))
        throw AutogradError({.op = n.callee(),
                             .problem = "the derivative of a function that calls itself",
                             .next = "write it as a loop",
                             .site = n.site()});
      inline_call(g_, &n, *callee, tracer_.scope());
      return true;
    }
    return false;
  }

  ir::Tracer& tracer_;
  ir::Graph& g_;
  const ir::Graph& module_;
  std::vector<const ir::Graph*> open_;          // that calls_itself() looks into
  absl::flat_hash_set<const ir::Graph*> ends_;  // that it has looked into
};

}  // namespace lathe
