// From a graph to steps: slots, kernels, and views that are no steps. Then the passes.
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "graph/passes/moved.h"
#include "include/lathe/ops/math.h"
#include "jit/plan/plan.h"

namespace lathe::jit {

using ir::Node;
using ir::Value;

class Planner {
 public:
  explicit Planner(Program& program) : p_(program), scope_(std::in_place, program.graph_) {}

  void run() {
    p_.sources_ = p_.graph_.sources();
    for (const ir::SymbolSource& s : p_.sources_)
      static_symbols_.push_back(s.is_parameter_of(p_.graph_.body()));
    for (Value* v : p_.graph_.inputs()) p_.input_slots_.push_back(slot(v));
    find_geometry(p_.graph_.body());
    block(p_.graph_.body(), p_.steps_);
    for (Value* v : p_.graph_.body().yields()) p_.result_slots_.push_back(slot(v));
    for (const ir::Write& w : p_.graph_.writes()) p_.written_.push_back(w.input->index());
    p_.slots_ = next_slot_;
    find_made();
    const PlanScope scope{p_.graph_, geometry_, **scope_, rewrites_, p_.shared_operands_};
    run_plan_passes(p_.steps_, PlanPass::Turn::early, scope);
    std::erase_if(p_.steps_, [](const Step& s) { return s.elided; });
    find_tail();
    keep_kernels();
    plan_memory(scope);
    p_.changes_ = rewrites_.fired();
  }

 private:
  int slot(const Value* v) {
    auto [it, fresh] = slots_.try_emplace(v, next_slot_);
    if (fresh) ++next_slot_;
    return it->second;
  }

  /// How every value lies, before anything is planned by it.
  void find_geometry(const ir::Block& b) {
    for (const Value* v : b.parameters()) set_geometry(v);
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      if (n->is(ir::Structure::group))
        lay_parts_side_by_side(*n);
      else
        for (const ir::Block* inner : n->blocks()) find_geometry(*inner);
      bool view = n->is(ir::Structure::op) && n->op()->kind == Kind::view;
      for (const Value* v : n->out())
        view && v->type().tensor() != nullptr ? void(geometry_[v] = geometry_of_view(*n))
                                              : set_geometry(v);
    }
  }

  /// How a view's result lies where what it is of lies so; nothing if the view refuses that, or the
  /// answer holds at the first call's sizes only.
  std::optional<Geometry> asked(const Node& n, const Geometry& x) {
    if (scope_->grew()) scope_.emplace(p_.graph_);
    try {
      Geometry g = view_geometry(n, x);
      if (!scope_->grew()) return g;
    } catch (const ShapeError&) {  // no order that it can name
    }
    return std::nullopt;
  }

  /// Adds a copy of x, whose elements lie in row-major order, before `n`, which wants to read it
  /// so.
  Value* add_copy(Value* x, const Node& n) {
    const Op& clone = *math_ops<Tensor>::clone.op();
    Node* copy = p_.graph_.add(clone, {x}, {x->type()}, n.site());
    p_.graph_.set_detached(copy, n.detached());
    return copy->out(0);
  }

  /// What a group reads in pieces lies side by side along the last axis.
  void lay_parts_side_by_side(Node& group) {
    const ir::Block& body = group.block(0);
    const auto read_beside = [&](const Value* v) {
      const auto& given = body.parameters();
      const auto at = std::find(given.begin(), given.end(), v);
      if (at == given.end()) return;
      const auto i = static_cast<size_t>(at - given.begin());
      const Geometry& lies = geometry_.at(group.in(i));
      if (identical(lies.strides.back(), Int(1)) || identical(lies.shape.back(), Int(1))) return;
      ir::InsertAt before(p_.graph_, &group);
      p_.graph_.set_input(&group, i, add_copy(group.in(i), group));
      set_geometry(group.in(i));
    };
    for (const Node* n : body.nodes()) {
      const std::optional<ir::Moved> moved = ir::moved_by(*n, **scope_);
      if (!moved) continue;
      for (const ir::MovedPart& part : moved->parts) read_beside(part.from);
      if (moved->base != nullptr) read_beside(moved->base);
    }
  }

  /// Values have no layout: where a view needs one that is not there, it reads a copy.
  Geometry geometry_of_view(Node& n) {
    Value* x = n.in(0);
    if (std::optional<Geometry> g = asked(n, geometry_.at(x))) return *g;
    std::optional<Geometry> g = asked(n, Geometry::contiguous(x->tensor().shape));
    if (!g) return view_geometry(n, geometry_.at(x));
    ir::InsertAt before(p_.graph_, &n);
    p_.graph_.set_input(&n, 0, add_copy(x, n));
    set_geometry(n.in(0));
    return *g;
  }

  /// Inputs' sizes that are equal by what the graph states are one size, as in all other types.
  Int unified(Int size) {
    Int simple = (*scope_)->simplify(size);
    for (uint32_t k : symbols_of(simple))
      if (dynamic_symbol(k)) return size;
    return simple;
  }
  /// One that only running gives a value.
  bool dynamic_symbol(uint32_t k) const {
    return k >= static_symbols_.size() || !static_symbols_[k];
  }

  void set_geometry(const Value* v) {
    const TensorType* t = v->type().tensor();
    if (t == nullptr) return;
    Shape shape = t->shape;
    if (v->node() == nullptr)
      for (Int& size : shape) size = unified(size);
    geometry_[v] = Geometry::contiguous(std::move(shape));
  }

  void block(const ir::Block& b, std::vector<Step>& steps) {
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      if (n->is(ir::Structure::constant)) {
        p_.constants_.emplace_back(slot(n->out(0)), ir::Datum(n->attrs()[0]));
        continue;
      }
      steps.push_back(step(*n));
    }
  }

  Step step(const Node& n) {
    Step s;
    s.node = &n;
    const bool direct = reads_addresses(n), skipped = elided(n);
    for (const Value* v : n.in()) {
      s.in.push_back(slot(direct ? made(v) : v));
      s.shifts.push_back(direct && !skipped ? shift(v) : Int(0));
    }
    if (n.is(ir::Structure::op)) {
      kernel_or_op(n, s);
      s.elided = skipped;
      if (n.op()->kind == Kind::view && n.in(0)->type().tensor() != nullptr && keeps_dtype(n) &&
          !mentions_dynamic(n)) {
        s.view = geometry_.at(n.out(0));
        s.view->offset = s.view->offset - geometry_.at(n.in(0)).offset;
      }
      if (without_dispatch(n))
        for (const Value* v : n.in()) {
          s.operands.push_back(geometry_.at(v));
          s.lasting.push_back(lasting(v));
        }
    } else if (n.is(ir::Structure::group)) {
      s.kind = Step::Kind::kernel;
      s.kernel = add_kernel(lower(n, geometries(n)), n);
    } else {
      s.kind = Step::Kind::structure;
      structure(n, s);
    }
    for (const Value* v : n.out()) {
      s.out.push_back(slot(v));
      note_result(v, s);
    }
    s.dynamic = s.dynamic || mentions_dynamic(n);
    return s;
  }

  void kernel_or_op(const Node& n, Step& s) {
    if (!ir::pointwise(n) || mentions_dynamic(n)) return;
    s.kind = Step::Kind::kernel;
    s.kernel = add_kernel(lower_node(n, geometries(n)), n);
  }

  std::vector<Geometry> geometries(const Node& n) {
    std::vector<Geometry> out;
    for (const Value* v : n.in()) {
      Geometry g;
      if (auto it = geometry_.find(v); it != geometry_.end()) g = it->second;
      g.offset = 0;  // pointers are to the first element
      out.push_back(std::move(g));
    }
    return out;
  }

  // ── views that are addresses ──

  /// A contraction or a reduction that runs without dispatch: of tensors of the host, with one
  /// result; a contraction's operands are of one dtype.
  bool without_dispatch(const Node& n) const {
    if (!n.is(ir::Structure::op) || n.out().size() != 1 || mentions_dynamic(n)) return false;
    bool contracts = n.op()->kind == Kind::contract;
    if (n.in().size() != (contracts ? 2 : 1) || (!contracts && n.op()->kind != Kind::reduce))
      return false;
    return n.out(0)->tensor().device.kind == DeviceKind::cpu &&
           std::all_of(n.in().begin(), n.in().end(), [&](const Value* v) {
             const TensorType* t = v->type().tensor();
             return t != nullptr && t->device.kind == DeviceKind::cpu &&
                    (!contracts || t->dtype == n.in(0)->tensor().dtype);
           });
  }

  /// Steps that ask of their tensors only where the elements are.
  bool reads_addresses(const Node& n) const {
    if (n.parent() != &p_.graph_.body()) return false;
    bool kernel = n.is(ir::Structure::group) ||
                  (n.is(ir::Structure::op) && ir::pointwise(n) && !mentions_dynamic(n));
    return kernel || without_dispatch(n) || elided(n);
  }

  /// Are places in a view counted in the elements of what it is a view of?
  static bool keeps_dtype(const Node& n) {
    return n.in(0)->tensor().dtype == n.out(0)->tensor().dtype;
  }

  /// A view of a host tensor that only such steps read.
  bool elided(const Node& n) const {
    auto [known, fresh] = unmade_.try_emplace(&n, false);
    if (!fresh) return known->second;
    bool view = n.is(ir::Structure::op) && n.op()->kind == Kind::view && n.in().size() == 1 &&
                n.out().size() == 1 && n.parent() == &p_.graph_.body() && !mentions_dynamic(n) &&
                keeps_dtype(n) && n.in(0)->tensor().device.kind == DeviceKind::cpu &&
                std::none_of(p_.sources_.begin(), p_.sources_.end(),
                             [&](const ir::SymbolSource& s) { return s.value == n.out(0); });
    bool is = view &&
              std::all_of(n.out(0)->uses().begin(), n.out(0)->uses().end(),
                          [&](const ir::Use& u) { return reads_addresses(*u.node); }) &&
              rewrites_.allow(kElideViews);
    return unmade_[&n] = is;
  }

  /// What there is of a value: itself, or what it is a view of.
  const Value* made(const Value* v) const {
    const Value* from = v;
    while (from->node() != nullptr && elided(*from->node())) {
      from = from->node()->in(0);
      if (auto known = made_.find(from); known != made_.end()) from = known->second;
    }
    return made_[v] = from;
  }

  /// From the first element of what is made to the first of the view.
  Int shift(const Value* v) const {
    const Value* from = made(v);
    return from == v ? Int(0) : geometry_.at(v).offset - geometry_.at(from).offset;
  }

  /// A constant, or a view of one that no size decides.
  bool lasting(const Value* v) const {
    while (v->node() != nullptr && v->node()->is(ir::Structure::op)) {
      const Node& n = *v->node();
      if (n.op()->kind != Kind::view || n.in().size() != 1 ||
          mentions(n, [](uint32_t) { return true; }))
        return false;
      v = n.in(0);
    }
    return v->node() != nullptr && v->node()->is(ir::Structure::constant);
  }

  ElementKernel* add_kernel(Lowered lowered, const Node& n) {
    lowered.kernel.name = n.is(ir::Structure::op) ? n.op()->name() : "group";
    schedule(lowered.kernel, rewrites_);
    p_.kernels_.push_back(std::make_unique<ElementKernel>(lowered));
    return p_.kernels_.back().get();
  }

  void note_result(const Value* v, Step& s) {
    if (const TensorType* t = v->type().tensor()) s.types.push_back(*t);
    for (uint32_t k = 0; k < p_.sources_.size(); ++k)
      if (p_.sources_[k].value == v) s.symbols.emplace_back(k, p_.sources_[k].axis);
  }

  static Geometry view_geometry(const Node& n, const Geometry& x_geometry) {
    std::vector<Arg> values;
    Tensor x = ir::stand_in(n.in(0)->tensor());
    for (size_t i = 0; i < n.in().size(); ++i) {
      const ir::Scalar* s = n.in(i)->type().scalar();
      values.push_back(i == 0 ? Arg(x) : s != nullptr && s->value ? Arg(*s->value) : Arg(Int(0)));
    }
    ir::Filled filled = ir::fill(n.attrs(), n.places(), values);
    return n.op()->geometry(x_geometry, filled.args());
  }

  bool mentions_dynamic(const Node& n) const {
    return mentions(n, [&](uint32_t k) { return dynamic_symbol(k); });
  }

  /// Any such symbol, in types, attributes, or how what is read lies. Where it begins is no matter
  /// but for a view, which begins so far from the first element of what it is of.
  template <class Such>
  bool mentions(const Node& n, Such such) const {
    bool found = false;
    auto ask = [&](Int e) {
      for (uint32_t k : symbols_of(e)) found = found || such(k);
    };
    auto look = [&](const Value* v) {
      ir::for_each_int(v->type(), ask);
      auto at = geometry_.find(v);
      if (at == geometry_.end()) return;
      for (Int stride : at->second.strides) ask(stride);
    };
    if (n.is(ir::Structure::op) && n.op()->kind == Kind::view && geometry_.contains(n.in(0)))
      ask(geometry_.at(n.out(0)).offset - geometry_.at(n.in(0)).offset);
    for (const Value* v : n.out()) look(v);
    for (const Value* v : n.in()) look(v);
    ir::for_each_int(n.attrs(), ask);
    return found;
  }

  void structure(const Node& n, Step& s) {
    s.dynamic = true;
    if (n.is(ir::Structure::call)) {
      s.callee = &p_.root_->function(n.callee());
      return;
    }
    for (const ir::Block* b : n.blocks()) {
      Step::Inner inner;
      inner.block = b;
      for (const Value* v : b->parameters()) inner.parameters.push_back(slot(v));
      block(*b, inner.steps);
      for (const Value* v : b->yields()) inner.yields.push_back(slot(v));
      s.blocks.push_back(std::move(inner));
    }
  }

  // ── kernels ──

  /// Only those that steps run: others went into a kernel of rows.
  void keep_kernels() {
    absl::flat_hash_set<const ElementKernel*> run;
    find_kernels(p_.steps_, run);
    std::erase_if(p_.kernels_, [&](const auto& k) { return !run.contains(k.get()); });
  }

  void find_kernels(const std::vector<Step>& steps,
                    absl::flat_hash_set<const ElementKernel*>& run) {
    for (const Step& s : steps) {
      each_part(s, [&](const Step& part) {
        if (part.kernel != nullptr) run.insert(part.kernel);
        if (part.rows) p_.row_kernels_.push_back(&part.rows->kernel);
      });
      for (const Step::Inner& inner : s.blocks) find_kernels(inner.steps, run);
    }
  }

  // ── results ──

  void find_made() {
    absl::flat_hash_set<const Value*> seen;
    for (const Value* v : p_.graph_.outputs()) {
      const Node* by = v->node();
      const bool makes = by != nullptr && (by->is(ir::Structure::group) ||
                                           (by->is(ir::Structure::op) && writes_into(*by->op())));
      p_.made_.push_back(makes && v->type().tensor() != nullptr && seen.insert(v).second);
    }
  }

  // ── writes in place ──

  /// Where the steps begin that replace_inputs put at the end.
  void find_tail() {
    p_.replaced_.resize(p_.written_.size());
    p_.tail_ = p_.steps_.size();
    while (p_.tail_ > 0 && !p_.steps_[p_.tail_ - 1].replaces.empty()) --p_.tail_;
    for (const Step& s : p_.steps_)
      for (int write : s.replaces)
        if (write >= 0) p_.replaced_[static_cast<size_t>(write)] = true;
  }

  // ── memory ──

  /// Values that may move live until their last reader has run; inputs, results, and views of what
  /// outlives the steps stay.
  void plan_memory(const PlanScope& scope) {
    Slots constants;
    for (const auto& [slot, value] : p_.constants_) constants.insert(slot);
    ArenaPlan arena = plan_arena(p_.steps_, scope, constants, p_.arena_device(),
                                 [&](uint32_t k) { return dynamic_symbol(k); });
    p_.arena_ = std::move(arena.blocks);
    for (int slot = 0; slot < p_.slots_; ++slot)
      if (!arena.fixed.contains(slot)) p_.loose_.push_back(slot);
    Slots stays = std::move(arena.fixed);
    stays.insert(p_.input_slots_.begin(), p_.input_slots_.end());
    stays.insert(p_.result_slots_.begin(), p_.result_slots_.end());
    for (const Step& s : p_.steps_)
      if (is_view(s) && all_in(s.in, stays)) stays.insert(s.out.begin(), s.out.end());
    for (int slot : p_.result_slots_) constants.erase(slot);
    if (p_.root_ == &p_) p_.packed_only_ = read_by_one(p_.steps_, constants);
    plan_lifetimes(p_.steps_, stays);
    run_plan_passes(p_.steps_, PlanPass::Turn::lifetimes_known, scope);
    verify();
  }

  /// As the IR is after its passes: a plan that is wrong should not run.
  void verify() {
    Slots given(p_.input_slots_.begin(), p_.input_slots_.end());
    for (const auto& [slot, value] : p_.constants_) given.insert(slot);
    std::vector<int> written;
    for (size_t input : p_.written_) written.push_back(p_.input_slots_[input]);
    const std::string wrong = verify_plan(p_.steps_, given, p_.result_slots_, written);
    if (!wrong.empty())
      LATHE_INTERNAL(absl::StrCat("a plan is wrong: ", wrong, "\n", p_.instructions()));
  }

  Program& p_;
  std::optional<ir::GraphScope> scope_;
  absl::flat_hash_map<const Value*, int> slots_;
  absl::flat_hash_map<const Value*, Geometry> geometry_;
  mutable absl::flat_hash_map<const Node*, bool> unmade_;
  mutable absl::flat_hash_map<const Value*, const Value*> made_;  // what made() found
  std::vector<bool> static_symbols_;
  mutable ir::Rewrites rewrites_;
  int next_slot_ = 0;
};

Program::Program(ir::Graph graph, std::vector<bool> strided, bool keeps_arena)
    : graph_(std::move(graph)), strided_(std::move(strided)), keeps_arena_(keeps_arena) {
  Planner(*this).run();
}

Program::Program(ir::Graph function, Program& root) : graph_(std::move(function)), root_(&root) {}

Program& Program::function(const std::string& name) {
  if (name == graph_.name()) return *this;
  std::unique_ptr<Program>& place = functions_[name];
  if (place) return *place;
  const ir::Graph* named = graph_.function(name);
  LATHE_CHECK(named != nullptr);
  // Known before it is planned: it may call itself.
  place.reset(new Program(named->clone(), *this));
  Program& made = *place;
  Planner(made).run();
  return made;
}

Program::~Program() = default;

}  // namespace lathe::jit
