// Row groups: softmax is a maximum, an exponential, a sum and a quotient of each row. As steps of
// their own they would each stream the whole tensor through memory; as a group they take turns on a
// few rows, which stay in the nearest cache.
//
// A reduction over trailing axes decides what a row is: the axes before them, its kept ones, are
// the rows. A kernel belongs to the group if its domain begins with the same axes, and reads what
// other members make row by row. Bits do not change, as each row is computed as before.
//
// A group stands where its last member stood. What reads its values in between and is no member
// follows it: it is moved behind it, if it is an op without effects. Anything else that reads them
// ends the group.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/infer/rules.h"
#include "graph/ir/arguments.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

using ir::Value;
constexpr size_t kMostMembers = 24;

using Nodes = absl::flat_hash_set<const ir::Node*>;

bool any_from(const Nodes& nodes, const ir::Node& n) {
  return std::any_of(n.in().begin(), n.in().end(), [&](const Value* v) {
    return v->node() != nullptr && nodes.contains(v->node());
  });
}

struct Group {
  std::vector<size_t> members;    // steps
  std::vector<size_t> followers;  // steps that read what members or other followers make
  Nodes nodes, followed;          // of members and views, of followers
  Nodes views;                    // of a row's value, repeated along the row: nothing is made
  std::optional<Shape> lead;      // the axes that are rows, once a reduction has said so
  size_t folds = 0;
  bool open = true;

  bool makes(const Value* v) const { return v->node() != nullptr && nodes.contains(v->node()); }
  bool feeds(const ir::Node& n) const { return any_from(nodes, n); }

  void add(const Group& other) {
    members.insert(members.end(), other.members.begin(), other.members.end());
    std::sort(members.begin(), members.end());
    followers.insert(followers.end(), other.followers.begin(), other.followers.end());
    nodes.insert(other.nodes.begin(), other.nodes.end());
    followed.insert(other.followed.begin(), other.followed.end());
    views.insert(other.views.begin(), other.views.end());
    if (!lead) lead = other.lead;
    folds += other.folds;
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
  Shape lead, domain;
  const own::ReducePrograms* programs;
};

class Grouping {
 public:
  Grouping(std::vector<Step>& steps, const Geometries& geometry, const ir::Graph& graph)
      : steps_(steps), geometry_(geometry), graph_(graph) {}

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
        !identical(at->second.strides, row_major(at->second.shape)))
      return {};
    const Shape& shape = at->second.shape;  // of inputs: with the sizes that are known to be equal
    Tensor like = ir::stand_in(x);
    const Arg value(like);
    ir::Filled filled = ir::fill(n.attrs(), n.places(), absl::MakeConstSpan(&value, 1));
    auto gone = reduced_axes(*n.op(), filled.args(), static_cast<int>(x.shape.size()));
    auto first = std::find(gone.begin(), gone.end(), true);
    if (first == gone.begin() || first == gone.end() ||
        std::find(first, gone.end(), false) != gone.end())
      return {};
    return Reduction{Shape(shape.begin(), shape.begin() + (first - gone.begin())), shape,
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
    if (!g.open || g.members.size() >= kMostMembers || !g.feeds(*s.node) ||
        any_from(g.followed, *s.node))
      return false;
    if (s.kind == Step::Kind::kernel) {
      if (g.lead) return reads_rows(s, g, *g.lead);
      return identical(s.types[0].shape, steps_[g.members[0]].types[0].shape);
    }
    const Shape& lead = reductions_[i]->lead;
    if (g.lead && !identical(lead, *g.lead)) return false;
    return members_read_rows(g, g, lead) && reads_rows(s, g, lead);
  }

  bool members_read_rows(const Group& members, const Group& of, const Shape& lead) const {
    return std::all_of(members.members.begin(), members.members.end(),
                       [&](size_t m) { return reads_rows(steps_[m], of, lead); });
  }

  /// Two groups that one step reads.
  bool merge(Group& into, Group& other, size_t step) const {
    if (into.members.size() + other.members.size() >= kMostMembers) return false;
    const std::optional<Shape>& lead = into.lead ? into.lead : other.lead;
    if (into.lead && other.lead && !identical(*into.lead, *other.lead)) return false;
    Group both = into;
    both.add(other);
    const bool one =
        lead ? members_read_rows(both, both, *lead) && reads_rows(steps_[step], both, *lead)
             : identical(steps_[into.members[0]].types[0].shape,
                         steps_[other.members[0]].types[0].shape);
    if (!one) return false;
    into = std::move(both);
    other = Group();
    other.open = false;
    return true;
  }

  bool may_join(size_t i) const {
    const Step& s = steps_[i];
    if (s.kind != Step::Kind::kernel) return reductions_[i].has_value();
    return !s.dynamic && s.symbols.empty() && !s.types.empty();
  }

  /// An op that may be run later than where it stands.
  bool may_follow(const Step& s) const {
    return s.kind == Step::Kind::op && !s.dynamic && s.symbols.empty() &&
           ir::effects(*s.node, graph_) == ir::Effects::pure;
  }

  /// A view that repeats what a group makes for each row along that row, and is never made.
  bool repeats_rows(const Step& s, const Group& g) const {
    if (!s.elided || !g.open || !g.lead || !g.feeds(*s.node)) return false;
    const Value* from = s.node->in(0);
    const Geometry& seen = geometry_.at(s.node->out(0));
    const Shape& shape = from->tensor().shape;
    if (!begins_with(shape, *g.lead) || !begins_with(seen.shape, *g.lead)) return false;
    const size_t lead = g.lead->size();
    const Shape strides = row_major(*g.lead);
    for (size_t k = 0; k < seen.strides.size(); ++k) {
      const Int wanted = k < lead ? strides[k] : Int(0);
      const bool one = identical(seen.shape[k], Int(1));
      if (!one && !identical(seen.strides[k], wanted)) return false;
    }
    return identical(product(shape, lead), Int(1)) && identical(seen.offset, Int(0));
  }

  void visit(size_t i) {
    const Step& s = steps_[i];
    for (Group& g : groups_)
      if (repeats_rows(s, g)) {
        g.nodes.insert(s.node);
        g.views.insert(s.node);
        return;
      }
    const bool may = may_join(i);
    Group* into = nullptr;
    if (may)
      for (Group& g : groups_)
        if (joins(i, g) && (into == nullptr || !merge(*into, g, i)) && into == nullptr) into = &g;
    for (Group& g : groups_)
      if (g.open && &g != into && is_read(g, s)) {
        g.open = !may && may_follow(s);
        if (!g.open) continue;
        g.followers.push_back(i);
        g.followed.insert(s.node);
        if (s.epilogue) g.followed.insert(s.epilogue->node);
      }
    if (!may) return;
    if (into == nullptr) into = &groups_.emplace_back();
    into->members.push_back(i);
    into->nodes.insert(s.node);
    if (s.kind == Step::Kind::op) {
      into->lead = reductions_[i]->lead;
      ++into->folds;
    }
  }

  /// Whether a step reads what the group, or what follows it, makes.
  static bool is_read(const Group& g, const Step& s) {
    bool read = false;
    each_part(s, [&](const Step& part) {
      read = read || g.feeds(*part.node) || any_from(g.followed, *part.node);
      for (const ir::Block* inner : part.node->blocks())
        if (!part.node->is(ir::Structure::group))
          for (const Value* v : free_values(*inner))
            read = read || g.makes(v) || (v->node() != nullptr && g.followed.contains(v->node()));
    });
    return read;
  }

  static bool only_inside(const Value& v, const Group& g) {
    return std::all_of(v.uses().begin(), v.uses().end(), [&](const ir::Use& u) {
      return g.nodes.contains(u.node) &&
             (!g.views.contains(u.node) || only_inside(*u.node->out(0), g));
    });
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
    make_kernel(rows, g);
    return out;
  }

  void make_kernel(RowGroup& group, const Group& g) const {
    Rows rows;
    rows.lead = g.lead->size();
    for (size_t i : g.members)
      if (reductions_[i]) rows.domain = reductions_[i]->domain;
    rows.views.assign(g.views.begin(), g.views.end());
    for (const RowGroup::Member& m : group.members) {
      rows.nodes.push_back(m.step.node);
      for (size_t k = 0; k < m.step.out.size(); ++k)
        if (m.keeps(k)) rows.kept.insert(m.step.node->out(k));
    }
    std::optional<LoweredRows> lowered = lower_rows(rows, geometry_, &group.why_not);
    if (!lowered) return;
    group.kernel = std::make_unique<RowKernel>(std::move(*lowered));
    for (const Value* v : group.kernel->inputs())
      group.inputs.push_back(find(
          group, [&](const ir::Node& n) { return &n.in(); }, v));
    for (const Value* v : group.kernel->outputs())
      group.outputs.push_back(find(
          group, [&](const ir::Node& n) { return &n.out(); }, v));
  }

  /// Which input or result of which member a value is.
  template <class Values>
  static RowGroup::Of find(const RowGroup& group, const Values& values, const Value* v) {
    for (size_t i = 0; i < group.members.size(); ++i) {
      const auto& all = *values(*group.members[i].step.node);
      const auto at = std::find(all.begin(), all.end(), v);
      if (at != all.end()) return {i, static_cast<size_t>(at - all.begin())};
    }
    LATHE_INTERNAL("a row kernel has an operand that no member has");
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

  /// Each group where its last member stood, then what follows it; the other steps where they are.
  void rebuild() {
    absl::flat_hash_map<size_t, const Group*> of;
    absl::flat_hash_map<size_t, size_t> behind;  // a follower: the last member of what it follows
    for (const Group& g : groups_) {
      for (size_t i : g.members) of[i] = &g;
      for (size_t i : g.followers)
        if (i < g.members.back()) behind[i] = std::max(behind[i], g.members.back());
    }
    absl::flat_hash_map<size_t, std::vector<size_t>> moved;  // by the member that they stand behind
    for (const auto& [i, last] : behind) moved[last].push_back(i);
    std::vector<Step> all;
    for (size_t i = 0; i < steps_.size(); ++i) {
      auto it = of.find(i);
      if (it == of.end()) {
        if (!behind.contains(i)) all.push_back(std::move(steps_[i]));
        continue;
      }
      if (it->second->members.back() != i) continue;
      all.push_back(make(*it->second));
      std::vector<size_t>& after = moved[i];
      std::sort(after.begin(), after.end());
      for (size_t k : after) all.push_back(std::move(steps_[k]));
    }
    steps_ = std::move(all);
  }

  std::vector<Step>& steps_;
  const Geometries& geometry_;
  const ir::Graph& graph_;
  std::vector<std::optional<Reduction>> reductions_;  // by step: the reductions inside rows
  std::vector<Group> groups_;
};

}  // namespace

void group_rows(std::vector<Step>& steps, const Geometries& geometry, const ir::Graph& graph) {
  Grouping(steps, geometry, graph).run();
}

}  // namespace lathe::jit
