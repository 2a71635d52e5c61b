// What the rounds of a loop have computed, kept for its derivative.
//
// The derivative of a `for` reads values of each round. Where all of them fit, the loop itself
// keeps them: it carries one tensor more for each, of which a round writes its row, as a scan
// stacks what it gives. Which they are is found when a round's derivative has been recorded, beside
// a copy of the round: what the derivative reads of the copy is then read from the rows instead, by
// the rule of cut.h, and what is left of the copy are views and steps of kernels. A loop that may
// not change (its forward pass has been made) has those rows already.
#include <absl/algorithm/container.h>

#include <algorithm>

#include "autodiff/backprop.h"
#include "autodiff/cut.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using S = shape_ops<Tensor>;
using C = create_ops<Tensor>;

/// Of all that a loop's rounds would keep, by the sizes at the first call. A loop with more runs
/// again, segment by segment.
constexpr double kMostKept = 1 << 30;

/// Is it computed again rather than kept, if what it reads is at hand?
bool is_cheap(const Node* n) {
  return is_step(n) || is_kind(n, Kind::view) || n->is(Structure::constant);
}

using namespace slice_put;  // NOLINT: places of arguments

}  // namespace

/// The symbol that the variable of a for is.
uint32_t Backprop::variable_symbol(const Loop& loop) {
  return loop.body.parameters()[0]->type().scalar()->value->expr()->symbol;
}

/// Can rounds of it lie in one tensor: a tensor of sizes that are known before the loop?
bool Backprop::stacks(const Loop& loop, const Value* v) {
  const TensorType* t = v->type().tensor();
  if (t == nullptr) return false;
  const uint32_t own = variable_symbol(loop);
  return std::all_of(t->shape.begin(), t->shape.end(), [&](Int e) {
    const auto symbols = symbols_of(e);
    return std::all_of(symbols.begin(), symbols.end(), [&](uint32_t k) { return k < own; });
  });
}

bool Backprop::keeps_rounds(const Loop& loop) const {
  if (!loop.first || !loop.body.parameters()[0]->type().scalar()->value) return false;
  const SymScope& scope = tracer_.scope();
  double bytes = 0;  // of a round; sizes of expanded tensors may be beyond any integer
  auto add = [&](const TensorType& t) {
    auto n = static_cast<double>(size_of(t.dtype));
    for (Int e : t.shape) n *= static_cast<double>(scope.hint(e));
    bytes += n;
  };
  for (size_t i = 0; i < loop.parameters.size(); ++i)
    if (!is_written_only(loop, i)) add(loop.starts[i]->tensor());
  for (const Node* n = loop.body.first(); n != nullptr; n = n->next())
    for (const Value* v : n->out())
      if (!is_cheap(n) && stacks(loop, v)) add(v->tensor());
  return bytes * static_cast<double>(std::max<int64_t>(1, scope.hint(loop.rounds))) <= kMostKept;
}

/// Is all that must not run again a random number that is kept?
bool Backprop::keeps_draws(const Loop& loop) const {
  if (!loop.keeps) return false;
  for (const Node* n = loop.body.first(); n != nullptr; n = n->next()) {
    bool inside = false;
    for (const Block* b : n->blocks())
      for_each_node(*b, [&](const Node* inner) { inside |= is_ordered(*inner); });
    if (inside) return false;
    if (!is_ordered(*n)) continue;
    if (!is_kind(n, Kind::random)) return false;
    for (const Value* v : n->out())
      if (!stacks(loop, v)) return false;
  }
  return true;
}

/// May the loop give more than it does? A copy of one may, that is run again.
bool Backprop::may_keep(const Loop& loop) const { return may_keep_ || own_ != &loop.node; }

/// Which row a round of the loop writes.
Int Backprop::row_of_round(const Loop& loop) {
  const Int i = symbol(variable_symbol(loop)) - *loop.first;
  return loop.steps_by_one() ? i * *loop.step : floor_div(i, *loop.step);
}

/// The carried tensor whose rows are this value of the rounds already, or -1.
int Backprop::row_holder(const Loop& loop, const Value* v) const {
  const Values& yields = loop.body.yields();
  const size_t first = loop.body.parameters().size() - yields.size();
  for (size_t k = 0; k < yields.size(); ++k) {
    const Node* put = yields[k]->node();
    if (put == nullptr || put->op() != S::slice.op()->put ||
        put->in(kBase) != loop.body.parameters()[first + k])
      continue;
    const Node* row = put->in(kValue)->node();
    if (row == nullptr || row->op() != S::unsqueeze.op() || row->in(0) != v) continue;
    const ArgVec args = plain_arguments(*put, tracer_);
    if (args[kStart].tag == Tag::integer && identical(args[kStart].integer(), row_of_round(loop)))
      return static_cast<int>(k);
  }
  return -1;
}

/// All rounds of a value, as the loop gives them: it carries them from now on if it does not yet.
Value* Backprop::kept_rounds(const Loop& loop, Value* v, const TensorType& type) {
  if (const int k = row_holder(loop, v); k >= 0) return loop.node.out(static_cast<size_t>(k));
  SiteScope site(loop.node.site());
  Shape shape{loop.rounds};
  shape.insert(shape.end(), type.shape.begin(), type.shape.end());
  Value *start, *written;
  {
    InsertAt before(g_, &loop.node);
    start = tracer_.value_of(C::zeros(Ints(shape), type.dtype, type.device));
  }
  g_.append_input(&loop.node, start);
  Value* rows = g_.add_parameter(loop.node.block(0), start->type());
  Values yields = loop.body.yields();
  {
    InsertAt inside(g_, loop.node.block(0));
    const Int at = row_of_round(loop);
    say_inside(at, loop.rounds);
    const Tensor row = S::unsqueeze(tracer_.tensor_for(v), {Int(0)});
    written = tracer_.value_of(put_slice(tracer_.tensor_for(rows), row, {0, at, at + 1}));
    yields.push_back(written);
    g_.set_yields(loop.node.block(0), std::move(yields), loop.body.end()->site());
  }
  Value* all = g_.add_result(&loop.node, start->type());
  if (active(v))  // to a derivative of higher order
    for (Value* depends : {rows, written, all}) activate(depends);
  return all;
}

/// What the loop carries by now for its derivative is at first what it was given.
void Backprop::know_rows(const Loop& loop, Graph::ValueMap& known) {
  if (!loop.first) return;
  const Values& parameters = loop.body.parameters();
  for (size_t i = loop.parameters.size() + 1; i < parameters.size(); ++i)
    known[parameters[i]] = loop.node.in(loop.node.carried_from() + i - 1);
}

// ── which values ────────────────────────────────────────────────────────────────────────────────

/// What the derivative of a round reads of its copy.
class Backprop::RowChoice {
 public:
  RowChoice(const Backprop& b, const Loop& loop, const Recorded& r)
      : b_(b),
        loop_(loop),
        first_(r.again.before != nullptr ? r.again.before->next() : r.block->first()),
        stop_(r.again.last != nullptr ? r.again.last->next() : r.block->first()) {
    for (const Node* n = first_; n != stop_; n = n->next()) copied_.insert(n);
    for (Value* p : loop.parameters) original_[r.known.at(p)] = p;
    for (Node* n = loop.body.first(); n != nullptr; n = n->next())
      for (Value* v : n->out())
        if (auto found = r.known.find(v); found != r.known.end()) original_[found->second] = v;
    for (const Node* n = stop_; n != nullptr; n = n->next()) need_operands(*n);
    need_operands(*r.block->end());
    choose();
  }
  /// By value of the copy that is read from rows, in the order it was found in: the loop's.
  const std::vector<std::pair<Value*, Value*>>& rows() const { return rows_; }
  /// What is carried and read from rows.
  bool reads_parameter(const Value* copy) const { return seen_.contains(copy); }

 private:
  bool has_rows(const Value* v) const { return b_.row_holder(loop_, original_.at(v)) >= 0; }
  bool may_keep(const Value* v) const {
    return original_.contains(v) && stacks(loop_, original_.at(v)) &&
           (b_.may_keep(loop_) || has_rows(v));
  }
  bool is_copied(const Value* v) const {
    return v->node() != nullptr && copied_.contains(v->node());
  }
  bool at_hand(const Value* v) const {
    return is_copied(v) ? from_kept_.contains(v) : !original_.contains(v) || may_keep(v);
  }
  void need(Value* v) {
    if (!seen_.insert(v).second) return;
    if (is_copied(v)) needed_.push_back(v);
  }
  void need_operands(const Node& n) {
    for (Value* v : n.in()) need(v);
    for (Block* b : n.blocks())
      for (Value* v : free_values(*b)) need(v);
  }
  void keep(Value* v) {
    if (kept_.insert(v).second) rows_.emplace_back(v, original_.at(v));
  }

  void choose() {
    absl::flat_hash_set<const Value*> open;  // steps, and not yet decided
    for (size_t i = 0; i < needed_.size(); ++i) {
      Value* v = needed_[i];
      const bool steps = is_step(v->node());
      if (may_keep(v) && !is_kind(v->node(), Kind::view) && (has_rows(v) || !is_cheap(v->node())))
        keep(v);
      else if (steps)
        open.insert(v);
      else
        need_operands(*v->node());
    }
    // In the order of the round, so that a value finds its operands decided.
    for (const Node* n = first_; n != stop_; n = n->next())
      for (Value* v : n->out()) {
        const bool steps = is_cheap(n) && std::all_of(n->in().begin(), n->in().end(),
                                                      [&](const Value* x) { return at_hand(x); });
        if (open.contains(v) && !steps && may_keep(v)) keep(v);
        if (steps || kept_.contains(v)) from_kept_.insert(v);
      }
    for (size_t i = 0; i < needed_.size(); ++i)
      if (!kept_.contains(needed_[i])) need_operands(*needed_[i]->node());
  }

  const Backprop& b_;
  const Loop& loop_;
  const Node *first_, *stop_;
  absl::flat_hash_set<const Node*> copied_;
  absl::flat_hash_map<const Value*, Value*> original_;  // by value of the copy
  absl::flat_hash_set<const Value*> seen_, kept_, from_kept_;
  Values needed_;
  std::vector<std::pair<Value*, Value*>> rows_;
};

/// What a round's derivative reads, as rows of what the loop gives. `stand_ins` are in the place of
/// what it carries.
void Backprop::read_kept_rounds(const Loop& loop, const Stacks& stand_ins, const Recorded& r) {
  const RowChoice choice(*this, loop, r);
  for (size_t i = 0; i < loop.parameters.size(); ++i) {
    const Tensor& stand_in = stand_ins.values[i];
    if (!stand_in.defined() || !choice.reads_parameter(r.known.at(loop.parameters[i]))) continue;
    if (!may_keep(loop) && row_holder(loop, loop.parameters[i]) < 0) refuse_unkept(loop);
    g_.replace(tracer_.value_of(stand_in),
               kept_rounds(loop, loop.parameters[i], loop.starts[i]->tensor()));
  }
  for (const auto& [copy, own] : choice.rows()) {
    Value* row;
    Value* all = kept_rounds(loop, own, own->tensor());
    {
      InsertAt before(g_, r.again.before != nullptr ? r.again.before->next() : r.block->first());
      row = tracer_.value_of(row_at(tracer_.tensor_for(all), r.round.number));
    }
    g_.replace(copy, row);
  }
  drop_unused(loop, r);
}

/// Where the copy would draw random numbers again: what of it nothing reads.
void Backprop::drop_unused(const Loop& loop, const Recorded& r) {
  bool draws = false;
  for (const Node* n = loop.body.first(); n != nullptr; n = n->next()) draws |= is_ordered(*n);
  if (!draws) return;
  const auto sizes = symbol_nodes(g_);
  for (Node *n = r.again.last, *before = nullptr; n != r.again.before; n = before) {
    before = n->previous();
    const bool used = absl::c_any_of(n->out(), [](const Value* v) { return v->used(); });
    if (!used && !sizes.contains(n))
      g_.erase(n);
    else if (is_ordered(*n))
      refuse_unkept(loop);
  }
}

void Backprop::refuse_unkept(const Loop& loop) {
  throw AutogradError({.op = std::string(name(loop.node.structure())),
                       .problem = "a derivative of this order reads what the rounds of a loop "
                                  "have computed, and the forward pass did not keep it",
                       .next = "take the gradient inside of the traced function",
                       .site = loop.node.site()});
}

}  // namespace lathe
