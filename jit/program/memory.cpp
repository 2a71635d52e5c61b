// What a run will take of the allocator, before it: the plan is walked as a run walks it, with
// blocks of memory that are counted and never made. A slot holds its block until another takes its
// place, as in a run; a loop is walked until a round finds what the round before has left, and of
// an `if` both branches are, the larger of which counts.
#include "jit/program/memory.h"

#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/tensor/allocator.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

/// Bytes in use now, and the most that ever were.
struct Meter {
  size_t now = 0, most = 0;
};

class Memory {
 public:
  Memory(Meter& meter, size_t bytes) : meter_(meter), bytes_(bytes) {
    meter_.now += bytes_;
    meter_.most = std::max(meter_.most, meter_.now);
  }
  ~Memory() { meter_.now -= bytes_; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

 private:
  Meter& meter_;
  size_t bytes_;
};
using MemoryRef = std::shared_ptr<const Memory>;

/// A value of a run: where its elements lie, none if it is a number.
struct Held {
  MemoryRef memory;
  size_t bytes = 0;      // of a copy
  bool in_order = true;  // row-major
};
using AllHeld = std::vector<Held>;

size_t elements(const TensorType& t) { return static_cast<size_t>(numel(t.shape).value()); }
size_t bytes_of(const TensorType& t) { return size_class_bytes(elements(t) * size_of(t.dtype)); }

lathe::Operand contiguous(const TensorType& t, DType dtype) {
  Sizes shape;
  for (Int i : t.shape) shape.push_back(i.value());
  return {nullptr, dtype, shape, contiguous_strides(shape)};
}

}  // namespace

/// What runs of all programs that one calls have in common.
struct Footprint::Shared {
  Meter meter;
  struct Arena {
    size_t bytes = 0;
    MemoryRef memory;
  };
  absl::flat_hash_map<const Program*, Arena> arenas;  // kept for the calls to come
  std::vector<MemoryRef> packed;                      // likewise
  absl::flat_hash_set<std::pair<const Program*, std::string>> have_packed;
  std::vector<const Program*> active;
};

/// One call of a program.
class Footprint::Call {
 public:
  Call(Shared& shared, const Program& p, const ir::Data& inputs) : shared_(shared), p_(p) {
    if (absl::c_linear_search(shared_.active, &p))
      refuse("a function that calls itself, as deep as data decides");
    shared_.active.push_back(&p);
    now_.resize(p_.sources_.size());
    for (size_t k = 0; k < now_.size(); ++k) {
      const ir::SymbolSource& source = p_.sources_[k];
      known_.push_back(source.value != nullptr && source.is_parameter_of(p_.graph_.body()));
      if (!known_[k]) continue;
      const ir::Datum& says = inputs[static_cast<size_t>(source.value->index())];
      known_[k] = says.is_tensor() || says.is_integer();
      if (known_[k]) now_[k] = ir::said(source, says).value();
    }
  }
  ~Call() { shared_.active.pop_back(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  AllHeld run(const AllHeld& inputs) {
    slots_.resize(static_cast<size_t>(p_.slots_));
    for (size_t i = 0; i < inputs.size(); ++i) at(p_.input_slots_[i]) = inputs[i];
    for (const auto& [slot, value] : p_.constants_)
      if (value.is_tensor()) at(slot) = {nothing(), bytes_of(type_of(value.tensor())), true};
    lay_out();
    for (size_t i = 0; i < p_.tail_; ++i) step(p_.steps_[i]);
    for (size_t i = p_.tail_; i < p_.steps_.size(); ++i)
      for (size_t k = 0; k < p_.steps_[i].replaces.size(); ++k)
        if (p_.steps_[i].replaces[k] == Step::kGivenBack)
          at(p_.steps_[i].out[k]) = fresh(evaluated(p_.steps_[i].types[k]));
    AllHeld out = results(inputs);
    AllHeld values = written();
    for (size_t i = p_.tail_; i < p_.steps_.size(); ++i) step(p_.steps_[i]);
    return out;
  }

 private:
  [[noreturn]] void refuse(std::string got) const {
    throw UnsupportedError({.op = p_.graph_.name(),
                            .problem = "the memory of a program in which data decides sizes",
                            .got = std::move(got),
                            .next = "run it, and ask counts for peak_bytes"});
  }
  Held& at(int slot) { return slots_[static_cast<size_t>(slot)]; }
  Held taken(int slot) { return std::exchange(at(slot), {}); }
  MemoryRef take(size_t bytes) { return std::make_shared<const Memory>(shared_.meter, bytes); }
  MemoryRef nothing() { return take(0); }
  Held fresh(const TensorType& t) { return {take(bytes_of(t)), bytes_of(t), true}; }
  Held copy(const Held& h) { return {take(h.bytes), h.bytes, true}; }

  Int evaluated(Int e) const {
    for (uint32_t k : symbols_of(e))
      if (k >= known_.size() || !known_[k]) refuse(lathe::to_string(e));
    return evaluate(e, now_);
  }
  TensorType evaluated(TensorType t) const {
    for (Int& s : t.shape) s = evaluated(s);
    return t;
  }

  void lay_out() {
    for (const ArenaBlock& block : p_.arena_) evaluated(block.type);
    const size_t bytes = size_class_bytes(arena_size(p_.arena_, now_).bytes);
    Shared::Arena& arena = shared_.arenas[&p_];
    if (arena.bytes < bytes) arena = {bytes, take(bytes)};
    arena_ = arena.memory;
  }

  // ── steps ──

  void step(const Step& s) {
    switch (s.kind) {
      case Step::Kind::op:
        op(s);
        break;
      case Step::Kind::kernel:
        s.kernel->stages() ? with_room(s, *s.kernel, &Bound::OfStep::kernel) : give_results(s);
        break;
      case Step::Kind::rows:
        with_room(s, s.rows->kernel, &Bound::OfStep::rows);
        break;
      case Step::Kind::structure:
        structure(s);
        break;
    }
    for (int slot : s.frees) at(slot) = {};
  }

  void give(const Step& s, size_t result, const TensorType& type) {
    if (!s.replaces.empty() && s.replaces[result] == Step::kGivenBack) return;  // it has its place
    Held& slot = at(s.out[result]);
    if (s.over && !s.in_arena() && may_take_over(at(s.in[0])))
      slot = std::move(at(s.in[0]));
    else if (!s.replaces.empty())
      slot = at(p_.input_slots_[p_.written_[static_cast<size_t>(s.replaces[result])]]);
    else if (!s.arena.empty() && s.arena[result] >= 0)
      slot = {arena_, bytes_of(type), true};
    else
      slot = fresh(type);
  }
  /// As a run finds it, where nobody keeps how things were before a branch.
  bool may_take_over(const Held& h) const {
    ptrdiff_t owners = h.memory.use_count();
    for (const AllHeld* kept : kept_)
      owners -= absl::c_count_if(*kept, [&](const Held& k) { return k.memory == h.memory; });
    return owners == 1 && h.in_order;
  }
  void give_results(const Step& s) {
    for (size_t k = 0; k < s.types.size(); ++k) give(s, k, evaluated(s.types[k]));
  }

  void op(const Step& s) {
    const ir::Node& n = *s.node;
    if (n.op()->kind == Kind::view && n.in(0)->type().tensor() != nullptr) return view(s);
    if (s.panels && in_panels(s)) return;
    if (s.types.size() != n.out().size()) return;  // numbers
    std::vector<MemoryRef> copies;
    Types types;
    for (const TensorType& t : s.types) types.push_back(evaluated(t));
    const size_t inside = room(s, types, copies);
    give_results(s.shares_result() ? *s.epilogue : s);
    const MemoryRef room = take(inside);
    if (s.epilogue && !s.shares_result()) give_results(*s.epilogue);
  }

  /// False: its parts are walked, and it runs behind them.
  bool in_panels(const Step& s) {
    const std::array<const Step*, 2> products = {&s, &s.panels->product};
    for (const Step* part : products)
      for (const TensorType& t : part->types) evaluated(t);
    const PanelPlan plan = plan_panels(s, now_);
    if (!plan.fits) {
      step(s.panels->product);
      step(s.panels->rows);
      return false;
    }
    give_results(s);
    if (s.epilogue) give_results(*s.epilogue);
    const MemoryRef room = take(panels_room(plan));
    return true;
  }

  void view(const Step& s) {
    const Held& from = at(s.in[0]);
    Held to = {from.memory, bytes_of(evaluated(s.node->out(0)->tensor())), from.in_order};
    if (s.view) {
      Geometry g = *s.view;
      for (Shape* sizes : {&g.shape, &g.strides})
        for (Int& i : *sizes) i = evaluated(i);
      to.in_order = g.is_contiguous();
    }
    at(s.out[0]) = std::move(to);
  }

  template <class K, class B>
  void with_room(const Step& s, const K& kernel, B Bound::OfStep::*of_kernel) {
    for (const Axis& axis : kernel.loops().axes) evaluated(axis.extent);
    Bound::OfStep bound;
    bind_step(s, now_, bound);
    give_results(s);
    const MemoryRef room = take(kernel.room(bound.*of_kernel));
  }

  /// What the table's entry takes for itself; `copies`: of operands, while it runs.
  size_t room(const Step& s, const Types& types, std::vector<MemoryRef>& copies) {
    const ir::Node& n = *s.node;
    std::vector<Tensor> held;
    std::vector<Arg> values;
    held.reserve(n.in().size());
    for (const ir::Value* v : n.in()) {
      if (const TensorType* t = v->type().tensor()) {
        held.push_back(ir::stand_in(evaluated(*t)));
        values.push_back(Arg(held.back()));
      } else {
        // A number that only running tells has no part in how much memory its op takes.
        const ir::Scalar& number = *v->type().scalar();
        values.push_back(
            Arg(number.value && sayable(*number.value) ? evaluated(*number.value) : Int(0)));
      }
    }
    std::function<Int(Int)> change = [&](Int e) { return sayable(e) ? evaluated(e) : Int(0); };
    ir::Filled filled = ir::fill(n.attrs(), n.places(), values, &change);
    const lathe::Call call{*n.op(), filled.args(), types};
    if (n.op()->kind == Kind::contract || !s.operands.empty())
      return prepared_room(s, call, copies);
    const Entry& entry = choose_entry(make_query(call.op, call.args, call.types));
    return entry.call_room == nullptr ? 0 : entry.call_room(call);
  }
  bool sayable(Int e) const {
    return absl::c_all_of(symbols_of(e),
                          [&](uint32_t k) { return k < known_.size() && known_[k]; });
  }

  size_t prepared_room(const Step& s, const lathe::Call& call, std::vector<MemoryRef>& copies) {
    const ir::Node& n = *s.node;
    absl::InlinedVector<lathe::Operand, 2> in;
    std::array<bool, 2> lasting = {}, unpacked = {};
    for (size_t k = 0; k < n.in().size(); ++k) {
      const TensorType type = evaluated(n.in(static_cast<int>(k))->tensor());
      if (s.operands.empty()) {  // converted first
        const DType meet = sum_types(call.op, call.args).operands;
        if (meet != type.dtype) copies.push_back(take(bytes_of(type.with(meet))));
        in.push_back(contiguous(type, meet));
        continue;
      }
      lathe::Operand& o = in.emplace_back(contiguous(type, type.dtype));
      for (size_t axis = 0; axis < o.strides.size(); ++axis)
        o.strides[axis] = evaluated(s.operands[k].strides[axis]).value();
      lasting[k] = s.lasting[k];
      unpacked[k] = lasting[k] && shared_.have_packed.emplace(&p_, packed_name(s, k)).second;
    }
    const lathe::Operand out = contiguous(call.types[0], call.types[0].dtype);
    const PreparedCall prepared = prepared_call(call, in, out);
    if (prepared.entry->room == nullptr) return 0;
    const auto room_of = [&](const std::array<bool, 2>& operands) {
      return prepared.entry->room(*prepared.entry, *prepared.plan, operands);
    };
    std::array<bool, 2> packed = lasting;
    for (size_t k = 0; k < packed.size(); ++k) {
      const int number = s.shared[k].number;
      if (number < 0 || !packs_each_time(prepared, k)) continue;
      packed[k] = true;
      MemoryRef& form = forms_[number];
      if (form == nullptr) form = take(room_of({k == 0, k == 1}).kept);
      if (s.shared[k].last) copies.push_back(std::exchange(form, nullptr));
    }
    const size_t kept = unpacked == std::array{false, false} ? 0 : room_of(unpacked).kept;
    if (kept > 0) shared_.packed.push_back(take(kept));
    return room_of(packed).during;
  }

  // ── branches, loops, calls ──

  void structure(const Step& s) {
    AllHeld in;
    for (int slot : s.in) in.push_back(at(slot));
    for (int slot : s.hands_over) at(slot) = {};
    AllHeld out;
    switch (s.node->structure()) {
      case ir::Structure::if_:
        out = larger(s);
        break;
      case ir::Structure::while_:
        for (int round = 0; round < kRounds; ++round) {
          inner(s.blocks[0], std::move(in));
          in = inner(s.blocks[1], {});
        }
        inner(s.blocks[0], std::move(in));
        for (int slot : s.blocks[0].parameters) out.push_back(taken(slot));
        break;
      case ir::Structure::for_: {
        AllHeld carried(
            std::make_move_iterator(in.begin() + static_cast<ptrdiff_t>(s.node->carried_from())),
            std::make_move_iterator(in.end()));
        for (int round = 0; round < kRounds; ++round) {
          AllHeld parameters(1);
          parameters.insert(parameters.end(), std::make_move_iterator(carried.begin()),
                            std::make_move_iterator(carried.end()));
          carried = inner(s.blocks[0], std::move(parameters));
        }
        out = std::move(carried);
        break;
      }
      default:
        out = called(s, in);
    }
    for (size_t k = 0; k < out.size(); ++k) at(s.out[k]) = of_its_own(std::move(out[k]));
  }

  AllHeld larger(const Step& s) {
    AllHeld before = slots_;
    kept_.push_back(&before);
    size_t most = 0, which = 0;
    for (size_t k = 0; k < s.blocks.size(); ++k) {
      slots_ = before;
      const AllHeld out = inner(s.blocks[k], {});
      if (shared_.meter.now > most) most = shared_.meter.now, which = k;
    }
    kept_.pop_back();
    slots_ = std::move(before);
    return inner(s.blocks[which], {});
  }

  AllHeld inner(const Step::Inner& block, AllHeld parameters) {
    for (size_t i = 0; i < parameters.size(); ++i)
      at(block.parameters[i]) = in_order(std::move(parameters[i]));
    for (const Step& s : block.steps) step(s);
    AllHeld out;
    for (size_t i = 0; i < block.yields.size(); ++i)
      out.push_back(block.moves[i] ? taken(block.yields[i]) : at(block.yields[i]));
    return out;
  }

  AllHeld called(const Step& s, const AllHeld& in) {
    ir::Data like;
    for (const ir::Value* v : s.node->in()) {
      const ir::Scalar* number = v->type().scalar();
      if (const TensorType* t = v->type().tensor())
        like.emplace_back(ir::stand_in(evaluated(*t)));
      else if (number->value && sayable(*number->value))
        like.emplace_back(Arg(evaluated(*number->value)));
      else
        like.emplace_back();
    }
    AllHeld given;
    for (const Held& h : in) given.push_back(in_order(h));
    return Call(shared_, *s.callee, like).run(given);
  }

  Held in_order(Held h) { return h.memory == nullptr || h.in_order ? h : copy(h); }
  bool is_written(const Held& h) {
    return absl::c_any_of(
        p_.written_, [&](size_t input) { return at(p_.input_slots_[input]).memory == h.memory; });
  }
  Held of_its_own(Held h) {
    if (h.memory == nullptr) return h;
    return h.memory == arena_ || is_written(h) ? copy(h) : in_order(std::move(h));
  }

  // ── what is given back ──

  AllHeld results(const AllHeld& inputs) {
    AllHeld all;
    const size_t count = p_.result_slots_.size() - p_.written_.size();
    for (size_t i = 0; i < count; ++i) all.push_back(at(p_.result_slots_[i]));
    for (size_t i = 0; i < count; ++i) {
      if (all[i].memory == nullptr) continue;
      auto same = [&](const Held& other) { return other.memory == all[i].memory; };
      const bool lent =
          absl::c_any_of(inputs, same) ||
          std::any_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(i), same) ||
          absl::c_any_of(p_.constants_, [&](const auto& c) { return same(at(c.first)); });
      const bool any_order = i < p_.strided_.size() && p_.strided_[i];
      if (lent || !(all[i].in_order || any_order)) all[i] = copy(all[i]);
    }
    return all;
  }

  /// Of values that lie in an input which is going to be written.
  AllHeld written() {
    AllHeld copies;
    const size_t from = p_.result_slots_.size() - p_.written_.size();
    for (size_t i = 0; i < p_.written_.size(); ++i)
      if (const Held& h = at(p_.result_slots_[from + i]); !p_.replaced_[i] && is_written(h))
        copies.push_back(copy(h));
    return copies;
  }

  /// The first round finds nothing in its slots, the second what every later one finds.
  static constexpr int kRounds = 2;

  Shared& shared_;
  const Program& p_;
  std::vector<int64_t> now_;  // what each symbol is,
  std::vector<bool> known_;   // if that is known before a run
  AllHeld slots_;
  std::vector<const AllHeld*> kept_;
  MemoryRef arena_;
  absl::flat_hash_map<int, MemoryRef> forms_;  // of operands that steps share
};

size_t Footprint::peak(const Program& p, const ir::Data& inputs) {
  Shared shared;
  AllHeld held;
  for (size_t i = 0; i < inputs.size(); ++i)
    held.push_back({std::make_shared<const Memory>(shared.meter, 0),
                    inputs[i].is_tensor() ? bytes_of(type_of(inputs[i].tensor())) : 0, true});
  const AllHeld results = Call(shared, p, inputs).run(held);
  return shared.meter.most;
}

}  // namespace lathe::jit
