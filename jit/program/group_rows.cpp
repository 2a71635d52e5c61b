// Row groups: softmax is a maximum, an exponential, a sum and a quotient of each row. As steps of
// their own they would each stream the whole tensor through memory; as a group they take turns on a
// few rows, which stay in the nearest cache.
//
// A reduction over trailing axes decides what a row is: the axes before them, its kept ones, are
// the rows. A kernel belongs to the group if its domain begins with the same axes, and reads what
// other members make row by row. Bits do not change, as each row is computed as before.
//
// A group stands where its last member stood, so a step may join as long as nothing between uses
// what the group computes.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/infer/rules.h"
#include "graph/ir/arguments.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

using ir::Value;
using Geometries = absl::flat_hash_map<const Value*, Geometry>;

constexpr size_t kMostMembers = 24;

struct Group {
  std::vector<size_t> members;  // steps
  absl::flat_hash_set<const ir::Node*> nodes;
  std::optional<Shape> lead;  // the axes that are rows, once a reduction has said so
  size_t folds = 0;
  bool open = true;

  bool makes(const Value* v) const { return v->node() != nullptr && nodes.contains(v->node()); }
  bool feeds(const ir::Node& n) const {
    return std::any_of(n.in().begin(), n.in().end(), [&](const Value* v) { return makes(v); });
  }
};

bool begins_with(const Shape& shape, const Shape& lead) {
  return shape.size() >= lead.size() && std::equal(lead.begin(), lead.end(), shape.begin(),
                                                   [](Int a, Int b) { return identical(a, b); });
}

Int product(const Shape& shape, size_t from) {
  Int n = 1;
  for (size_t k = from; k < shape.size(); ++k) n = n * shape[k];
  return n;
}

/// A reduction inside each row: the axes that are rows, and what it runs.
struct Reduction {
  Shape lead;
  const own::ReducePrograms* programs;
};

class Grouping {
 public:
  Grouping(std::vector<Step>& steps, const Geometries& geometry)
      : steps_(steps), geometry_(geometry) {}

  void run() {
    for (const Step& s : steps_) reductions_.push_back(rows_of(s));
    for (size_t i = 0; i < steps_.size(); ++i) visit(i);
    std::erase_if(groups_, [](const Group& g) { return g.folds == 0 || g.members.size() < 2; });
    rebuild();
  }

 private:
  /// The kept axes of a reduction whose reduced ones trail, over an input in row-major order.
  std::optional<Reduction> rows_of(const Step& s) const {
    const ir::Node& n = *s.node;
    bool may = s.kind == Step::Kind::op && !s.dynamic && s.symbols.empty() && !s.epilogue &&
               n.op()->kind == Kind::reduce && n.in().size() == 1 && s.types.size() == 1;
    if (!may || n.places()[0].param != 0) return {};
    const TensorType& x = n.in(0)->tensor();
    auto at = geometry_.find(n.in(0));
    if (is_complex(x.dtype) || is_complex(s.types[0].dtype) || at == geometry_.end() ||
        !identical(at->second.strides, row_major(x.shape)))
      return {};
    Tensor like = ir::stand_in(x);
    const Arg value(like);
    ir::Filled filled = ir::fill(n.attrs(), n.places(), absl::MakeConstSpan(&value, 1));
    auto gone = reduced_axes(*n.op(), filled.args(), static_cast<int>(x.shape.size()));
    auto first = std::find(gone.begin(), gone.end(), true);
    if (first == gone.begin() || first == gone.end() ||
        std::find(first, gone.end(), false) != gone.end())
      return {};
    return Reduction{Shape(x.shape.begin(), x.shape.begin() + (first - gone.begin())),
                     &own::reduce_of(*n.op(), element_types(*n.op(), filled.args()), x.dtype)};
  }

  /// A member reads what members make row by row: the same axes, the leading ones not broadcast.
  bool reads_rows(const Step& s, const Group& g, const Shape& lead) const {
    bool fold = s.kind == Step::Kind::op;
    size_t rank = fold ? 0 : s.types[0].shape.size();
    for (const Value* v : s.node->in()) {
      if (!g.makes(v)) continue;
      const Shape& shape = v->tensor().shape;
      if (!begins_with(shape, lead) || (!fold && shape.size() != rank)) return false;
    }
    return fold || begins_with(s.types[0].shape, lead);
  }

  bool joins(size_t i, const Group& g) const {
    const Step& s = steps_[i];
    if (!g.open || g.members.size() >= kMostMembers || !g.feeds(*s.node)) return false;
    if (s.kind == Step::Kind::kernel) {
      if (g.lead) return reads_rows(s, g, *g.lead);
      return identical(s.types[0].shape, steps_[g.members[0]].types[0].shape);
    }
    const Shape& lead = reductions_[i]->lead;
    if (g.lead && !identical(lead, *g.lead)) return false;
    for (size_t m : g.members)
      if (!reads_rows(steps_[m], g, lead)) return false;
    return reads_rows(s, g, lead);
  }

  bool may_join(size_t i) const {
    const Step& s = steps_[i];
    if (s.kind != Step::Kind::kernel) return reductions_[i].has_value();
    return !s.dynamic && s.symbols.empty() && !s.types.empty();
  }

  void visit(size_t i) {
    const Step& s = steps_[i];
    bool may = may_join(i);
    Group* into = nullptr;
    if (may)
      for (Group& g : groups_)
        if (joins(i, g)) into = &g;
    for (Group& g : groups_)
      if (&g != into) close_if_read(g, s);
    if (!may) return;
    if (into == nullptr) into = &groups_.emplace_back();
    into->members.push_back(i);
    into->nodes.insert(s.node);
    if (s.kind == Step::Kind::op) {
      into->lead = reductions_[i]->lead;
      ++into->folds;
    }
  }

  void close_if_read(Group& g, const Step& s) const {
    each_part(s, [&](const Step& part) {
      g.open = g.open && !g.feeds(*part.node);
      for (const ir::Block* inner : part.node->blocks())
        if (!part.node->is(ir::Structure::group))
          for (const Value* v : free_values(*inner)) g.open = g.open && !g.makes(v);
    });
  }

  static bool only_inside(const Value& v, const Group& g) {
    return std::all_of(v.uses().begin(), v.uses().end(),
                       [&](const ir::Use& u) { return g.nodes.contains(u.node); });
  }

  Step make(const Group& g) {
    Step out;
    out.kind = Step::Kind::rows;
    out.node = steps_[g.members.back()].node;
    out.rows = std::make_unique<RowGroup>();
    RowGroup& rows = *out.rows;
    size_t lead = g.lead->size();
    rows.rows = product(*g.lead, 0);
    absl::flat_hash_map<int, int> temporaries;  // by slot
    for (size_t i : g.members) {
      Step& s = steps_[i];
      RowGroup::Member m;
      if (reductions_[i]) {
        m.inner = product(s.node->in(0)->tensor().shape, lead);
        m.fold = reductions_[i]->programs;
        m.inputs = {0};
      } else {
        m.inner = product(s.types[0].shape, lead);
        for (int k : s.kernel->tensors()) m.inputs.push_back(static_cast<size_t>(k));
      }
      for (size_t k = 0; k < s.out.size(); ++k) {
        if (!only_inside(*s.node->out(k), g)) continue;
        temporaries[s.out[k]] = static_cast<int>(rows.temporaries.size());
        rows.temporaries.push_back({s.types[k].dtype, product(s.types[k].shape, lead)});
      }
      auto add = [&](int slot) {
        auto it = temporaries.find(slot);
        m.temporary.push_back(it == temporaries.end() ? -1 : it->second);
      };
      for (size_t k : m.inputs) add(s.in[k]);
      for (int slot : s.out) add(slot);
      m.step = std::move(s);
      rows.members.push_back(std::move(m));
    }
    place_in_results(rows);
    fetch_ahead(rows, g);
    return out;
  }

  /// What comes from outside is read by the first member of a turn, which is short of arithmetic,
  /// and waited for. So the first kernel that reads it calls for the next turn's rows meanwhile.
  static void fetch_ahead(RowGroup& rows, const Group& g) {
    absl::flat_hash_set<const Value*> called;
    for (RowGroup::Member& m : rows.members)
      for (size_t i = 0; i < m.inputs.size() && m.fold == nullptr; ++i) {
        const Value* v = m.step.node->in(m.inputs[i]);
        if (!g.makes(v) && !called.contains(v) && m.step.kernel->fetch_ahead(i)) {
          called.insert(v);
          break;  // one a kernel
        }
      }
  }

  /// A temporary whose last reader makes a result out of it, element by element, may lie where that
  /// result will be: memory that is written anyway, while there is arithmetic to hide it behind.
  static void place_in_results(RowGroup& rows) {
    for (size_t t = 0; t < rows.temporaries.size(); ++t) {
      const RowGroup::Member* last = nullptr;
      size_t input = 0;
      for (const RowGroup::Member& m : rows.members)
        for (size_t i = 0; i < m.inputs.size(); ++i)
          if (m.temporary[i] == static_cast<int>(t)) last = &m, input = i;
      if (last == nullptr || last->fold != nullptr || last->step.out.size() != 1 ||
          !last->keeps(0) || !last->step.kernel->may_replace(input))
        continue;
      int by = static_cast<int>(last - rows.members.data());
      bool taken = std::any_of(rows.temporaries.begin(), rows.temporaries.end(),
                               [&](const auto& other) { return other.replaced_by == by; });
      if (!taken) rows.temporaries[t].replaced_by = by;
    }
  }

  /// Each group where its last member stood, the other steps where they are.
  void rebuild() {
    absl::flat_hash_map<size_t, const Group*> of;
    for (const Group& g : groups_)
      for (size_t i : g.members) of[i] = &g;
    std::vector<Step> all;
    for (size_t i = 0; i < steps_.size(); ++i) {
      auto it = of.find(i);
      if (it == of.end())
        all.push_back(std::move(steps_[i]));
      else if (it->second->members.back() == i)
        all.push_back(make(*it->second));
    }
    steps_ = std::move(all);
  }

  std::vector<Step>& steps_;
  const Geometries& geometry_;
  std::vector<std::optional<Reduction>> reductions_;  // by step: the reductions inside rows
  std::vector<Group> groups_;
};

}  // namespace

void group_rows(std::vector<Step>& steps, const Geometries& geometry) {
  Grouping(steps, geometry).run();
}

}  // namespace lathe::jit
