// Statements come into being late: a reduction, a row's value or a result waits until something
// reads it, so that reductions that do not read each other become one with several states, and
// values and results one statement each.
#include "jit/kernel/lower_rows.h"

#include <algorithm>

#include "core/base/error.h"
#include "graph/ir/query.h"
#include "jit/kernel/piece_states.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

/// From so many operations an element on, a value is kept rather than computed again.
constexpr int64_t kDear = 12;
constexpr size_t kMostStates = 4;

class RowsLowering {
 public:
  RowsLowering(const Rows& rows, const Geometries& geometry) : rows_(rows), geometry_(geometry) {
    lead_ = Shape(rows.domain.begin(), rows.domain.begin() + static_cast<ptrdiff_t>(rows.lead));
    inner_ = of_line() ? 1 : static_cast<int>(rows.lead);
  }

  std::optional<LoweredRows> run() {
    if (!flatten()) return std::nullopt;
    for (Int extent : lead_) kernel().axes.push_back({extent});
    Int elements = 1;
    for (size_t k = rows_.lead; k < rows_.domain.size(); ++k) elements = elements * rows_.domain[k];
    if (of_line()) {
      kernel().axes.push_back({ceil_div(elements, Int(kPieceElements))});
      kernel().line = std::exchange(elements, Int(kPieceElements));
    }
    kernel().axes.push_back({elements});
    kernel().parallel = inner_;
    kernel().name = "rows";  // not an op: a row group's
    for (const Node* n : items_) item(*n);
    finish_reductions();
    finish_row_values();
    if (of_line()) finish_results();  // what is made anyway is reduced as it lies there
    finish_sums();
    finish_results();
    for (size_t b = 0; b < kernel().buffers.size(); ++b) place_in_result(static_cast<int>(b));
    number_buffers();
    count_facts(kernel());
    return std::move(out_);
  }

 private:
  Kernel& kernel() { return out_.kernel; }
  bool of_line() const { return rows_.lead == 0; }

  // ── what there is ──

  const Value* outer(const Value* v) const {
    for (auto it = outer_.find(v); it != outer_.end(); it = outer_.find(v)) v = it->second;
    return v;
  }

  /// False where a result is an operand, or one with another.
  bool flatten() {
    for (const Node* view : rows_.views) outer_[view->out(0)] = view->in(0);
    for (const Node* n : rows_.nodes) {
      if (!n->is(ir::Structure::group)) {
        add_item(*n);
        continue;
      }
      const ir::Block& body = n->block(0);
      for (size_t i = 0; i < body.parameters().size(); ++i)
        outer_[body.parameters()[i]] = n->in(static_cast<int>(i));
      for (size_t k = 0; k < body.yields().size(); ++k) outer_[n->out(k)] = body.yields()[k];
      const size_t rank = n->out(0)->tensor().shape.size();
      for (const Node* inner : body.nodes()) {
        LATHE_CHECK(inner->out(0)->tensor().shape.size() == rank);
        add_item(*inner);
      }
    }
    for (const Node* n : rows_.sums) ++readers_[outer(n->in(0))];
    return std::all_of(rows_.kept.begin(), rows_.kept.end(), [&](const Value* v) {
      return made_.contains(outer(v)) && kept_.try_emplace(outer(v), v).second;
    });
  }

  void add_item(const Node& n) {
    items_.push_back(&n);
    for (const Value* v : n.out()) made_.insert(v);
    for (const Value* v : n.in())
      if (v->type().tensor() != nullptr) ++readers_[outer(v)];
  }

  /// One value a row: nothing but ones behind the rows' axes.
  bool of_row(const Value* v) const {
    const Shape& shape = v->tensor().shape;
    if (shape.size() < rows_.lead || !std::equal(lead_.begin(), lead_.end(), shape.begin(),
                                                 [](Int a, Int b) { return identical(a, b); }))
      return false;
    return !of_line() && std::all_of(shape.begin() + inner_, shape.end(),
                                     [](Int size) { return identical(size, Int(1)); });
  }

  // ── where values are ──

  int add_buffer(Buf buffer) {
    kernel().buffers.push_back(std::move(buffer));
    return static_cast<int>(kernel().buffers.size()) - 1;
  }

  IndexMap along_row(Int row_stride) const {
    IndexMap map;
    map.strides.assign(static_cast<size_t>(inner_), Int(0));
    map.strides.push_back(row_stride);
    return map;
  }

  /// A map over all axes of the domain, with one axis for what is inside of a row.
  IndexMap with_one_axis(IndexMap map, const Shape& domain) const {
    LATHE_CHECK(along_rows(map, domain, rows_.lead));
    Int stride = 0;
    for (size_t k = rows_.lead; k < domain.size(); ++k)
      if (!identical(domain[k], Int(1))) stride = map.strides[k];  // the last one's
    map.strides.resize(rows_.lead);
    if (of_line()) map.strides.push_back(stride * Int(kPieceElements));
    map.strides.push_back(stride);
    return map;
  }

  /// What values of a row are computed over: the rows' axes, then ones, as many as v has.
  Shape row_domain(const Value* v) const {
    Shape shape = lead_;
    shape.resize(v->tensor().shape.size(), Int(1));
    return shape;
  }

  Access outside(const Value* v, const Shape& domain) {
    const TensorType& t = v->tensor();
    LATHE_CHECK(t.shape.size() <= domain.size());
    auto [it, fresh] = input_of_.try_emplace(v, 0);
    if (fresh) {
      it->second = add_buffer({t.dtype, Space::argument, 0, v->name()});
      inputs_.push_back(v);
    }
    Geometry g = geometry_.at(v);
    g.offset = 0;  // pointers are to the first element
    return {it->second, with_one_axis(map_of(t, g, domain), domain)};
  }

  /// Results that stay: in row-major order, one a row or all elements of it.
  Access result(const Value* v) {
    const bool row = of_row(v);
    LATHE_CHECK(row || identical(v->tensor().shape, rows_.domain));
    IndexMap map{Int(0), {}};
    const Shape strides =
        of_line() ? Shape{Int(kPieceElements)} : row_major(row ? lead_ : rows_.domain);
    map.strides.assign(strides.begin(), strides.begin() + inner_);
    map.strides.push_back(row ? Int(0) : Int(1));
    outputs_.push_back(
        {kept_.at(v), add_buffer({v->tensor().dtype, Space::argument, 0, v->name()})});
    return {outputs_.back().second, map};
  }

  /// Keeps v in a buffer of the kernel's own and, if somebody else reads it, in a result.
  std::vector<Access> places(const Value* v) {
    std::vector<Access> all;
    const bool row = of_row(v), stays = kept_.contains(v);
    if (stays) all.push_back(result(v));
    if (row || !stays) {
      const Int elements = row ? Int(1) : kernel().axes.back().extent;
      all.push_back({add_buffer({v->tensor().dtype, Space::local, elements, v->name()}),
                     along_row(row ? Int(0) : Int(1))});
    }
    at_[v] = all.back();
    return all;
  }

  // ── what a statement needs ──

  bool waits(const Value* v) const {
    return std::any_of(reductions_.begin(), reductions_.end(),
                       [&](const Node* n) { return n->out(0) == v; });
  }

  /// The nodes between a wanted value and what is there: what waits as a result is computed anew.
  void collect(const Value* v, std::vector<const Node*>& nodes,
               absl::flat_hash_set<const Value*>& seen) const {
    v = outer(v);
    if (!seen.insert(v).second || !made_.contains(v) || at_.contains(v)) return;
    if (v->node()->op()->kind == Kind::reduce) return;
    for (const Value* in : v->node()->in())
      if (in->type().tensor() != nullptr) collect(in, nodes, seen);
    nodes.push_back(v->node());
  }

  /// Makes what a statement for these values reads: reductions and rows' values that wait.
  void settle(absl::Span<const Value* const> wanted) {
    std::vector<const Node*> nodes;
    absl::flat_hash_set<const Value*> seen;
    for (const Value* v : wanted) collect(v, nodes, seen);
    const auto any = [&](const auto& such) { return std::any_of(seen.begin(), seen.end(), such); };
    if (any([&](const Value* v) { return waits(v); })) finish_reductions();
    if (any([&](const Value* v) { return of_row(v) && made_.contains(v) && !at_.contains(v); }))
      finish_row_values();
  }

  Composer composer() {
    const auto input_of = [this](const Value* v) {
      const auto at = std::find(numbers_in_.begin(), numbers_in_.end(), v);
      if (at != numbers_in_.end()) return static_cast<int>(at - numbers_in_.begin());
      numbers_in_.push_back(v);
      return static_cast<int>(numbers_in_.size()) - 1;
    };
    return Composer(kernel(), out_.numbers, input_of, [this](const Value* v) { return outer(v); });
  }

  /// With all that it takes to compute `wanted` over `domain`.
  Composer compose(absl::Span<const Value* const> wanted, const Shape& domain) {
    std::vector<const Node*> nodes;
    absl::flat_hash_set<const Value*> seen;
    for (const Value* v : wanted) collect(v, nodes, seen);
    Composer c = composer();
    auto read = [&, done = absl::flat_hash_set<const Value*>()](const Value* v) mutable {
      v = outer(v);
      if (!done.insert(v).second) return;
      if (const auto at = at_.find(v); at != at_.end()) return c.read(v, at->second);
      if (!made_.contains(v)) c.read(v, outside(v, domain));
    };
    for (const Value* v : wanted) read(v);
    for (const Node* n : nodes) {
      for (const Value* in : n->in())
        if (in->type().tensor() != nullptr) read(in);
    }
    for (const Node* n : nodes) c.add(*n);
    return c;
  }

  // ── statements ──

  void item(const Node& n) {
    if (n.op()->kind == Kind::reduce) return reduction(n);
    int64_t cost = operations(lathe::lower(body_of(n)));
    for (const Value* v : n.in())
      if (const auto at = cost_.find(outer(v)); at != cost_.end()) cost += at->second;
    bool shared = false;
    for (const Value* v : n.out()) {
      if (of_row(v)) {
        row_value(v);
        continue;
      }
      const bool again = readers_[v] > 1 && cost > kDear;
      if (again || kept_.contains(v)) results_.push_back(v);
      shared = shared || again;
      if (!again) cost_[v] = cost;
    }
    if (shared) finish_results();  // it is there for those that read it
  }

  void reduction(const Node& n) {
    const Value* x = outer(n.in(0));
    // Of what comes from outside, the sizes that are known to be equal are in its geometry.
    const Shape& shape = made_.contains(x) ? x->tensor().shape : geometry_.at(x).shape;
    LATHE_CHECK(identical(shape, rows_.domain));
    settle({&x, 1});
    if (reductions_.size() == kMostStates) finish_reductions();
    reductions_.push_back(&n);
  }

  /// All that wait, as one statement: their states side by side.
  void finish_reductions() {
    if (reductions_.empty()) return;
    const std::vector<const Node*> nodes = std::exchange(reductions_, {});
    Reduce r;
    r.axis = inner_;
    std::vector<size_t> copies;
    const Merged merged = merge(nodes, r.operands);
    for (const Node* n : nodes) {
      // A result that stays is stored beside the local one.
      const std::vector<Access> places = this->places(n->out(0));
      copies.push_back(places.size());
      r.stores.insert(r.stores.end(), places.begin(), places.end());
    }
    r.bodies = merged.bodies(copies);
    kernel().body.push_back({std::move(r)});
  }

  /// Reductions over the rows or of the line: as many side by side as one statement may have.
  void finish_sums() {
    for (size_t first = 0; first < rows_.sums.size(); first += kMostStates) {
      const size_t count = std::min(kMostStates, rows_.sums.size() - first);
      const auto nodes = absl::MakeConstSpan(rows_.sums).subspan(first, count);
      std::vector<const Value*> wanted;
      for (const Node* n : nodes) wanted.push_back(outer(n->in(0)));
      settle(wanted);
      std::vector<Operand> operands;
      const Merged merged = merge(nodes, operands);
      ReduceBodies bodies = merged.bodies(std::vector<size_t>(count, 1));
      if (of_line()) {
        reduce_pieces(std::move(bodies), std::move(operands));
        continue;
      }
      ReduceRows r{inner_, std::move(bodies), std::move(operands), {}};
      for (const Node* n : nodes) {
        const Value* v = n->out(0);
        outputs_.push_back({v, add_buffer({v->tensor().dtype, Space::argument, 0, v->name()})});
        r.stores.push_back({outputs_.back().second, along_row(Int(1))});
      }
      kernel().body.push_back({std::move(r)});
    }
  }

  /// The states of each piece.
  void reduce_pieces(ReduceBodies bodies, std::vector<Operand> operands) {
    Reduce r{inner_, std::move(bodies), std::move(operands), {}};
    out_.of_line.push_back(r.bodies);
    r.bodies.finish = states_alone(r.bodies.state);
    for (DType d : r.bodies.state) {
      states_.push_back(add_buffer({d, Space::argument, 0, "state"}));
      r.stores.push_back({states_.back(), {Int(0), {Int(1), Int(0)}}});
    }
    kernel().body.push_back({std::move(r)});
  }

  struct Merged {
    std::vector<ReduceBodies> all;
    ScalarFunction lift;

    /// `copies`: how often each result is stored.
    ReduceBodies bodies(const std::vector<size_t>& copies) const {
      ReduceBodies out;
      out.lift = lift;
      for (const ReduceBodies& b : all) {
        out.state.insert(out.state.end(), b.state.begin(), b.state.end());
        out.unit.insert(out.unit.end(), b.unit.begin(), b.unit.end());
      }
      std::vector<DType> twice = out.state, counted = out.state;
      twice.insert(twice.end(), out.state.begin(), out.state.end());
      counted.push_back(DType::i64);
      out.combine = build([&](absl::Span<const Expr> in) { return combined(all, in); }, twice);
      out.finish =
          build([&](absl::Span<const Expr> in) { return finished(all, copies, in); }, counted);
      return out;
    }
  };

  Merged merge(absl::Span<const Node* const> nodes, std::vector<Operand>& operands) {
    Merged out;
    std::vector<const Value*> wanted;
    for (const Node* n : nodes) {
      wanted.push_back(outer(n->in(0)));
      out.all.push_back(reduce_bodies(*n->op(), ir::types_of(*n), wanted.back()->tensor().dtype));
    }
    const Composer c = compose(wanted, rows_.domain);
    operands = c.operands();
    const DType index[] = {DType::i64};
    out.lift = c.function(wanted, index, [&](const Exprs& x, absl::Span<const Expr> more) {
      Exprs states;
      for (size_t k = 0; k < out.all.size(); ++k)
        for (Expr e : inline_call(out.all[k].lift, {x[k], more[0]})) states.push_back(e);
      return states;
    });
    return out;
  }

  static Exprs combined(const std::vector<ReduceBodies>& all, absl::Span<const Expr> in) {
    Exprs out;
    const size_t states = in.size() / 2;
    size_t at = 0;
    for (const ReduceBodies& b : all) {
      const size_t n = b.state.size();
      std::vector<Expr> both(in.begin() + static_cast<ptrdiff_t>(at),
                             in.begin() + static_cast<ptrdiff_t>(at + n));
      const auto right = in.begin() + static_cast<ptrdiff_t>(states + at);
      both.insert(both.end(), right, right + static_cast<ptrdiff_t>(n));
      for (Expr e : inline_call(b.combine, both)) out.push_back(e);
      at += n;
    }
    return out;
  }

  static Exprs finished(const std::vector<ReduceBodies>& all, const std::vector<size_t>& copies,
                        absl::Span<const Expr> in) {
    Exprs out;
    size_t at = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      const size_t n = all[k].state.size();
      std::vector<Expr> args(in.begin() + static_cast<ptrdiff_t>(at),
                             in.begin() + static_cast<ptrdiff_t>(at + n));
      args.push_back(in.back());
      const Exprs ys = inline_call(all[k].finish, args);
      LATHE_CHECK(ys.size() == 1);
      for (size_t copy = 0; copy < copies[k]; ++copy) out.push_back(ys[0]);
      at += n;
    }
    return out;
  }

  Compute compute(absl::Span<const Value* const> wanted, const Shape& domain) {
    const Composer c = compose(wanted, domain);
    Compute out{{}, c.operands(), {}};
    std::vector<const Value*> stored;
    for (const Value* v : wanted)
      for (const Access& place : places(v)) {
        out.stores.push_back(place);
        stored.push_back(v);
      }
    out.f = c.function(stored);
    return out;
  }

  /// Waits for others, unless it reads a reduction that waits.
  void row_value(const Value* v) {
    for (const Value* in : v->node()->in())
      if (waits(outer(in))) finish_reductions();
    const auto rank = [](const Value* x) { return x->tensor().shape.size(); };
    if (!row_values_.empty() && rank(row_values_[0]) != rank(v)) finish_row_values();
    row_values_.push_back(v);
  }

  void finish_row_values() {
    if (row_values_.empty()) return;
    const std::vector<const Value*> wanted = std::exchange(row_values_, {});
    kernel().body.push_back({compute(wanted, row_domain(wanted[0]))});
  }

  void finish_results() {
    if (results_.empty()) return;
    const std::vector<const Value*> wanted = std::exchange(results_, {});
    settle(wanted);
    For loop{inner_, {}};
    loop.body.push_back({compute(wanted, rows_.domain)});
    kernel().body.push_back({std::move(loop)});
  }

  /// A local row whose last readers are one loop that makes a result of it may lie where that
  /// result will be: memory that is written anyway.
  void place_in_result(int local) {
    Kernel& k = kernel();
    const Buf& buf = k.buffers[static_cast<size_t>(local)];
    if (buf.space != Space::local || buf.scalar()) return;
    size_t last = k.body.size();
    for (size_t i = 0; i < k.body.size(); ++i)
      if (reads(k.body[i], local)) last = i;
    const auto* loop = last < k.body.size() ? std::get_if<For>(&k.body[last].node) : nullptr;
    if (loop == nullptr) return;
    const auto& c = std::get<Compute>(loop->body[0].node);
    for (const Access& to : c.stores) {
      const Buf& result = k.buffers[static_cast<size_t>(to.buf)];
      const bool fits = result.space == Space::argument && result.dtype == buf.dtype;
      const auto used = [&](const Statement& s) { return reads(s, to.buf) || writes(s, to.buf); };
      const auto here = k.body.begin() + static_cast<ptrdiff_t>(last);
      if (!fits || std::any_of(k.body.begin(), here, used)) continue;
      const Access place = to;
      each_access(k.body, [&](Access& a, bool) {
        if (a.buf == local) a = place;
      });
      unused_.insert(local);
      return;
    }
  }

  static bool uses(const Statement& s, int buffer, bool store) {
    bool found = false;
    each_access(absl::MakeConstSpan(&s, 1), [&](const Access& a, bool stored) {
      found = found || (a.buf == buffer && stored == store);
    });
    return found;
  }
  static bool reads(const Statement& s, int buffer) { return uses(s, buffer, false); }
  static bool writes(const Statement& s, int buffer) { return uses(s, buffer, true); }

  /// Inputs, results, locals: in this order, as a kernel has them.
  void number_buffers() {
    Kernel& k = kernel();
    std::vector<int> order;
    for (const Value* v : inputs_) order.push_back(input_of_.at(v));
    for (const auto& [v, buffer] : outputs_) order.push_back(buffer);
    order.insert(order.end(), states_.begin(), states_.end());
    for (size_t b = 0; b < k.buffers.size(); ++b)
      if (k.buffers[b].space == Space::local && !unused_.contains(static_cast<int>(b)))
        order.push_back(static_cast<int>(b));
    std::vector<Buf> buffers;
    std::vector<int> now(k.buffers.size());
    for (size_t i = 0; i < order.size(); ++i) {
      buffers.push_back(std::move(k.buffers[static_cast<size_t>(order[i])]));
      now[static_cast<size_t>(order[i])] = static_cast<int>(i);
    }
    k.buffers = std::move(buffers);
    k.inputs = static_cast<int>(inputs_.size());
    k.outputs = static_cast<int>(outputs_.size() + states_.size());
    each_access(k.body, [&](Access& a, bool) { a.buf = now[static_cast<size_t>(a.buf)]; });
    out_.inputs = inputs_;
    for (Number& n : out_.numbers)
      if (n.input >= 0) n.input += static_cast<int>(inputs_.size());
    out_.inputs.insert(out_.inputs.end(), numbers_in_.begin(), numbers_in_.end());
    for (const auto& [v, buffer] : outputs_) out_.outputs.push_back(v);
    if (of_line())
      for (const Node* n : rows_.sums) out_.outputs.push_back(n->out(0));
  }

  const Rows& rows_;
  const Geometries& geometry_;
  Shape lead_;
  int inner_;
  LoweredRows out_;
  std::vector<const Node*> items_;
  absl::flat_hash_map<const Value*, const Value*> outer_;
  absl::flat_hash_set<const Value*> made_;
  absl::flat_hash_map<const Value*, const Value*> kept_;  // as inside of a group, as outside
  absl::flat_hash_map<const Value*, int64_t> cost_;       // of computing it from what is there
  absl::flat_hash_map<const Value*, int> readers_;
  absl::flat_hash_map<const Value*, Access> at_;  // values that are somewhere
  absl::flat_hash_map<const Value*, int> input_of_;
  std::vector<const Value*> inputs_, numbers_in_;
  std::vector<std::pair<const Value*, int>> outputs_;
  std::vector<int> states_;                         // of pieces: buffers
  absl::flat_hash_set<int> unused_;                 // locals that lie in results
  std::vector<const Node*> reductions_;             // that wait
  std::vector<const Value*> row_values_, results_;  // that wait
};

}  // namespace

bool along_rows(const IndexMap& map, const Shape& domain, size_t lead) {
  Int stride = 0, extent = 1;
  for (size_t k = domain.size(); k-- > lead;) {
    if (identical(domain[k], Int(1))) continue;
    if (identical(extent, Int(1))) stride = map.strides[k];
    if (!identical(map.strides[k], stride * extent)) return false;
    extent = extent * domain[k];
  }
  return true;
}

bool may_be_in_rows(const Kernel& pointwise) {
  bool may = true;
  for (const Buf& b : pointwise.buffers) may = may && !is_complex(b.dtype);
  may = may && piecewise(pointwise).empty();
  each_statement(pointwise.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement))
      for (const ExprNode& n : f->graph.nodes())
        may = may && n.prim != Prim::check && n.prim != Prim::random && n.prim != Prim::index &&
              n.prim != Prim::linear;
  });
  return may;
}

std::optional<LoweredRows> lower_rows(const Rows& rows, const Geometries& geometry) {
  std::optional<LoweredRows> lowered = RowsLowering(rows, geometry).run();
  if (!lowered) return std::nullopt;
  if (rows.lead > 0) lowered->kernel = join_axes(std::move(lowered->kernel));
  if (std::string wrong = verify(lowered->kernel); !wrong.empty())
    LATHE_INTERNAL("the kernel of a row group: " + wrong);
  return lowered;
}

}  // namespace lathe::jit
