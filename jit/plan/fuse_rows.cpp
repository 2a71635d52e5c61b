// Row groups: softmax is a maximum, an exponential, a sum and a quotient of each row. As steps of
// their own they would each stream the whole tensor through memory; as one kernel they work on a
// few rows at a time, which stay in the nearest cache.
//
// A reduction over trailing axes decides what a row is: the axes before them, its kept ones, are
// the rows. A kernel belongs to the group if its domain begins with the same axes, and reads what
// other members make row by row. Bits do not change, as each row is computed as before.
//
// A reduction over all axes makes one line of what it reduces: a kernel belongs to its group if it
// goes along all of that line, and no member reads what is reduced, which is there when all of the
// line is done. In the same way a reduction over leading axes, which are the rows then, takes in
// what goes along all of its rows. Rows come first: what is left is joined by lines, then by
// columns.
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
#include "jit/plan/plan.h"
#include "kernels/problem/bodies.h"

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

bool begins_with(const Shape& shape, const Shape& lead) {
  return shape.size() >= lead.size() && std::equal(lead.begin(), lead.end(), shape.begin(),
                                                   [](Int a, Int b) { return identical(a, b); });
}

Int product(const Shape& shape, size_t from) {
  Int n = 1;
  for (size_t k = from; k < shape.size(); ++k) n = n * shape[k];
  return n;
}

/// What a member reduces: each row, all rows to one value, or each column.
enum class Along : uint8_t { rows, line, columns };

/// A reduction: the axes that are rows, and all of what is reduced. Without rows: of the line.
struct Reduction {
  Along along;
  Shape lead, domain;

  /// Its results are there when all rows are done.
  bool of_all_rows() const { return along != Along::rows; }
  /// Otherwise its results have the shape of what it reads.
  bool of_several() const {
    return !identical(product(along == Along::line ? domain : lead, 0), Int(1));
  }
  /// One value a row: nothing but ones behind the rows' axes.
  bool of_row(const Shape& shape) const {
    return begins_with(shape, lead) && identical(product(shape, lead.size()), Int(1));
  }
};

struct Group {
  std::vector<size_t> members;      // steps
  std::vector<size_t> followers;    // steps that read what members or other followers make
  Nodes nodes, followed;            // of members and views, of followers
  Nodes views;                      // of a row's value, repeated along the row: nothing is made
  const Reduction* rows = nullptr;  // what a row is, once a reduction has said so
  std::vector<size_t> sums;         // steps: reductions over the rows
  Nodes summed;                     // these; no member reads them
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
    if (rows == nullptr) rows = other.rows;
  }
};

class Grouping {
 public:
  Grouping(std::vector<Step>& steps, const PlanScope& scope, Along along)
      : steps_(steps),
        geometry_(scope.geometry),
        graph_(scope.graph),
        rewrites_(scope.rewrites),
        along_(along) {}

  void run() {
    for (const Step& s : steps_) {
      const std::optional<Reduction> r = reduction_of(s);
      // Where a graph has not been rewritten equal sizes may have different names.
      const bool inside = r && r->along == along_ &&
                          (r->of_all_rows() ? r->of_several() : r->of_row(s.types[0].shape));
      reductions_.push_back(inside ? r : std::nullopt);
      sums_.push_back(r && r->of_all_rows() ? r : std::nullopt);
    }
    for (size_t i = 0; i < steps_.size(); ++i) visit(i);
    std::erase_if(groups_,
                  [](const Group& g) { return g.rows == nullptr || g.members.size() < 2; });
    for (size_t i = 0; i < steps_.size(); ++i)
      if (sums_[i] && !in_a_group(i)) add_sum(i);
    rebuild();
  }

 private:
  /// Of a tensor in row-major order whose reduced axes lead or trail, or are all.
  std::optional<Reduction> reduction_of(const Step& s) const {
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
    const auto all = std::count(gone.begin(), gone.end(), true), rank = std::ssize(gone);
    if (all == 0 || (all == rank) != (along_ == Along::line)) return {};
    if (all == rank && knows_its_place(n)) return {};
    if (all == rank) return Reduction{Along::line, {}, shape};
    const bool leads = gone.front();
    const ptrdiff_t lead = leads ? all : rank - all;
    if (std::count(gone.begin(), gone.begin() + lead, leads) != lead) return {};
    return Reduction{
        leads ? Along::columns : Along::rows, {shape.begin(), shape.begin() + lead}, shape};
  }

  /// States of pieces know nothing of where in the line they begin.
  static bool knows_its_place(const ir::Node& n) {
    return reads_input(reduce_bodies(*n.op(), ir::types_of(n), n.in(0)->tensor().dtype).lift, 1);
  }

  /// A member works on one value a row, or on all elements of it, and reads what members make row
  /// by row: the same axes, the leading ones not broadcast.
  bool works_by_rows(const Step& s, const Group& g, const Reduction& r) const {
    const bool reduces = s.kind == Step::Kind::op;
    if (r.of_all_rows()) return works_on_all(s, g, r);
    const size_t rank = reduces ? 0 : s.types[0].shape.size();
    for (const Value* v : s.node->in()) {
      if (!g.makes(v)) continue;
      const Shape& shape = v->tensor().shape;
      if (!begins_with(shape, r.lead) || (!reduces && shape.size() != rank)) return false;
    }
    if (reduces) return true;
    const Shape& shape = s.types[0].shape;
    return (identical(shape, r.domain) || r.of_row(shape)) && reads_along_rows(s, g, r);
  }

  /// All that it reads of the group, and what it makes, are all elements.
  bool works_on_all(const Step& s, const Group& g, const Reduction& r) const {
    for (const Value* v : s.node->in())
      if (g.makes(v) && !identical(v->tensor().shape, r.domain)) return false;
    if (s.kind == Step::Kind::op) return true;
    return identical(s.types[0].shape, r.domain) && reads_along_rows(s, g, r);
  }

  /// Inside of a row one axis is enough for each operand from outside: its elements lie one
  /// distance apart.
  bool reads_along_rows(const Step& s, const Group& g, const Reduction& r) const {
    const ir::Node& n = *s.node;
    if (!n.is(ir::Structure::group)) return operands_along_rows(n, n, g, r);
    const auto nodes = n.block(0).nodes();
    return std::all_of(nodes.begin(), nodes.end(), [&](const ir::Node* inner) {
      // What has fewer axes is not laid along the rows as the others are.
      return inner->out(0)->tensor().shape.size() == s.types[0].shape.size() &&
             operands_along_rows(*inner, n, g, r);
    });
  }

  bool operands_along_rows(const ir::Node& n, const ir::Node& step, const Group& g,
                           const Reduction& r) const {
    const Shape& domain = n.out(0)->tensor().shape;
    for (const Value* v : n.in()) {
      const TensorType* t = v->type().tensor();
      if (t == nullptr ||
          (v->node() != nullptr && v->node()->parent() == n.parent() && &n != &step))
        continue;  // of the same block: made by the group
      const Value* from = &n == &step ? v : step.in(v->index());
      if (g.makes(from)) continue;
      const auto at = geometry_.find(from);
      if (at == geometry_.end() || t->shape.size() > domain.size() ||
          !along_rows(map_of(*t, at->second, domain), domain, r.lead.size()))
        return false;
    }
    return true;
  }

  bool joins(size_t i, const Group& g) const {
    const Step& s = steps_[i];
    if (!g.open || g.members.size() >= kMostMembers || !g.feeds(*s.node) ||
        any_from(g.followed, *s.node))
      return false;
    if (s.kind == Step::Kind::kernel) {
      if (g.rows != nullptr) return works_by_rows(s, g, *g.rows);
      return identical(s.types[0].shape, steps_[g.members[0]].types[0].shape);
    }
    const Reduction& r = *reductions_[i];
    if (g.rows != nullptr && !same(r, *g.rows)) return false;
    return members_work_by_rows(g, r) && works_by_rows(s, g, r);
  }

  static bool same(const Reduction& a, const Reduction& b) {
    return identical(a.lead, b.lead) && identical(a.domain, b.domain);  // whatever they reduce
  }

  bool members_work_by_rows(const Group& g, const Reduction& r) const {
    return std::all_of(g.members.begin(), g.members.end(),
                       [&](size_t m) { return works_by_rows(steps_[m], g, r); });
  }

  /// Two groups that one step reads.
  bool merge(Group& into, Group& other, size_t step) const {
    if (into.members.size() + other.members.size() >= kMostMembers) return false;
    const Reduction* rows = into.rows != nullptr ? into.rows : other.rows;
    if (into.rows != nullptr && other.rows != nullptr && !same(*into.rows, *other.rows))
      return false;
    Group both = into;
    both.add(other);
    const bool one = rows != nullptr ? members_work_by_rows(both, *rows) &&
                                           works_by_rows(steps_[step], both, *rows)
                                     : identical(steps_[into.members[0]].types[0].shape,
                                                 steps_[other.members[0]].types[0].shape);
    if (!one) return false;
    into = std::move(both);
    other = Group();
    other.open = false;
    return true;
  }

  // ── sums over the rows ──

  /// A reduction over the rows of what a group makes or reads belongs to the first such group, if
  /// all that reads its result may run behind the group.
  void add_sum(size_t i) {
    for (Group& g : groups_) {
      if (!same(*sums_[i], *g.rows) || !has(g, steps_[i].node->in(0))) continue;
      std::optional<std::vector<size_t>> readers = readers_within(i, g);
      if (!readers) continue;
      std::erase(g.followers, i);
      for (size_t reader : *readers)
        if (std::find(g.followers.begin(), g.followers.end(), reader) == g.followers.end())
          g.followers.push_back(reader);
      g.sums.push_back(i);
      g.summed.insert(steps_[i].node);
      return;
    }
  }

  /// All that is reduced is there when the group runs: it makes it, or reads it itself.
  bool has(const Group& g, const Value* v) const {
    if (g.makes(v)) return !g.views.contains(v->node());
    return std::any_of(g.members.begin(), g.members.end(), [&](size_t m) {
      const ir::Values& in = steps_[m].node->in();
      return std::find(in.begin(), in.end(), v) != in.end();
    });
  }

  bool in_a_group(size_t i) const {
    const auto has = [&](const std::vector<size_t>& steps) {
      return std::find(steps.begin(), steps.end(), i) != steps.end();
    };
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const Group& g) { return has(g.members) || has(g.sums); });
  }

  /// The steps behind a step, up to the last member of a group, that need its result, if they may
  /// all be moved; that member may not.
  std::optional<std::vector<size_t>> readers_within(size_t i, const Group& g) const {
    Nodes read{steps_[i].node};
    std::vector<size_t> out;
    for (size_t k = i + 1; k <= g.members.back(); ++k) {
      if (!reads(read, steps_[k])) continue;
      if (in_a_group(k) || !may_follow(steps_[k])) return {};
      read.insert(steps_[k].node);
      if (steps_[k].epilogue) read.insert(steps_[k].epilogue->node);
      out.push_back(k);
    }
    return out;
  }

  bool may_join(size_t i) const {
    const Step& s = steps_[i];
    if (s.kind != Step::Kind::kernel) return reductions_[i].has_value();
    return !s.dynamic && s.symbols.empty() && !s.types.empty() && may_be_in_rows(s.kernel->loops());
  }

  /// An op that may be run later than where it stands.
  bool may_follow(const Step& s) const {
    return s.kind == Step::Kind::op && !s.dynamic && s.symbols.empty() &&
           ir::effects(*s.node, graph_) == ir::Effects::pure;
  }

  /// A view that repeats what a group makes for each row along that row, and is never made.
  bool repeats_rows(const Step& s, const Group& g) const {
    if (!s.elided || !g.open || g.rows == nullptr || g.rows->of_all_rows() || !g.feeds(*s.node))
      return false;
    const Shape& leading = g.rows->lead;
    const Value* from = s.node->in(0);
    const Geometry& seen = geometry_.at(s.node->out(0));
    const Shape& shape = from->tensor().shape;
    if (!begins_with(shape, leading) || !begins_with(seen.shape, leading)) return false;
    const size_t lead = leading.size();
    const Shape strides = row_major(leading);
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
    if (s.kind == Step::Kind::op) into->rows = &*reductions_[i];
  }

  /// Whether a step reads what the group, or what follows it, makes.
  static bool is_read(const Group& g, const Step& s) {
    return reads(g.nodes, s) || reads(g.followed, s);
  }
  static bool reads(const Nodes& nodes, const Step& s) {
    bool read = false;
    each_node(s, [&](const ir::Node& n) {
      read = read || any_from(nodes, n);
      for (const ir::Block* inner : n.blocks())
        if (!n.is(ir::Structure::group))
          for (const Value* v : free_values(*inner))
            read = read || (v->node() != nullptr && nodes.contains(v->node()));
    });
    return read;
  }

  static bool only_inside(const Value& v, const Group& g) {
    return std::all_of(v.uses().begin(), v.uses().end(), [&](const ir::Use& u) {
      if (g.views.contains(u.node)) return only_inside(*u.node->out(0), g);
      return g.nodes.contains(u.node) || g.summed.contains(u.node);
    });
  }

  /// Nothing, if the group is no kernel after all.
  std::optional<Step> make(const Group& g) {
    Rows rows;
    rows.lead = g.rows->lead.size();
    rows.domain = g.rows->domain;
    rows.views.assign(g.views.begin(), g.views.end());
    absl::flat_hash_map<const Value*, std::pair<int, Int>> at;  // slot, and shift from its first
    for (size_t i : g.members) {
      const Step& s = steps_[i];
      const bool sum = g.rows->of_all_rows() && s.kind == Step::Kind::op;
      (sum ? rows.sums : rows.nodes).push_back(s.node);
      for (size_t k = 0; k < s.in.size(); ++k) at[s.node->in(k)] = {s.in[k], s.shifts[k]};
      for (size_t k = 0; k < s.out.size(); ++k) {
        at[s.node->out(k)] = {s.out[k], Int(0)};
        if (!sum && !only_inside(*s.node->out(k), g)) rows.kept.insert(s.node->out(k));
      }
    }
    for (size_t i : g.sums) {
      const Step& s = steps_[i];
      rows.sums.push_back(s.node);
      at[s.node->in(0)] = {s.in[0], s.shifts[0]};
      at[s.node->out(0)] = {s.out[0], Int(0)};
    }
    std::optional<LoweredRows> lowered = lower_rows(rows, geometry_);
    if (!lowered || !rewrites_.allow("fuse_rows")) return {};
    schedule(lowered->kernel, rewrites_);
    Step out;
    out.kind = Step::Kind::rows;
    out.node = steps_[g.members.back()].node;
    rows.nodes.insert(rows.nodes.end(), rows.sums.begin(), rows.sums.end());
    for (const Value* v : lowered->inputs) {
      out.in.push_back(at.at(v).first);
      out.shifts.push_back(at.at(v).second);
    }
    for (const Value* v : lowered->outputs) {
      out.out.push_back(at.at(v).first);
      out.types.push_back(v->tensor());
    }
    out.rows = std::make_unique<FusedRows>(std::move(rows.nodes), std::move(*lowered));
    return out;
  }

  /// Each group where its last member stood, then what follows it; the other steps where they are.
  void rebuild() {
    absl::flat_hash_map<size_t, size_t> of;      // a member: the last one of its group
    absl::flat_hash_map<size_t, size_t> behind;  // a follower: the last member of what it follows
    absl::flat_hash_map<size_t, Step> made;      // by the last member
    for (const Group& g : groups_) {
      std::optional<Step> one = make(g);
      if (!one) continue;
      made.try_emplace(g.members.back(), std::move(*one));
      for (size_t i : g.members) of[i] = g.members.back();
      for (size_t i : g.sums) of[i] = g.members.back();
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
      if (it->second != i) continue;
      all.push_back(std::move(made.at(i)));
      std::vector<size_t>& after = moved[i];
      std::sort(after.begin(), after.end());
      for (size_t k : after) all.push_back(std::move(steps_[k]));
    }
    steps_ = std::move(all);
  }

  std::vector<Step>& steps_;
  const Geometries& geometry_;
  const ir::Graph& graph_;
  ir::Rewrites& rewrites_;
  Along along_;
  std::vector<std::optional<Reduction>> reductions_;  // by step: the reductions inside rows
  std::vector<std::optional<Reduction>> sums_;        // by step: those over rows
  std::vector<Group> groups_;
};

}  // namespace

void fuse_rows(std::vector<Step>& steps, const PlanScope& scope) {
  for (const Along along : {Along::rows, Along::line, Along::columns})
    Grouping(steps, scope, along).run();
}

}  // namespace lathe::jit
