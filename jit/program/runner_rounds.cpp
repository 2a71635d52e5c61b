// Rounds of a loop that are alike but for where things lie: their steps run without slots, bindings
// or memory of their own.
//
// Two rounds run as any others do: what they leave says what the next ones find. If every step of
// the block is a kernel, a call of an entry, a view, or a write of a view into what is carried,
// then the block's slots are addresses: those of views move by so many bytes a round, results take
// turns in rings of buffers, which are as long as a result is carried, and what is carried moves
// by handing addresses on. A block with anything else runs as before.
#include <absl/algorithm/container.h>
#include <absl/cleanup/cleanup.h>
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstring>

#include "core/base/flags.h"
#include "core/dispatch/fn.h"
#include "core/sizes/symexpr.h"
#include "core/tensor/allocator.h"
#include "include/lathe/ops/index.h"
#include "jit/program/runner_rounds.h"
#include "kernels/own/copy.h"
#include "kernels/runtime/pool.h"

namespace lathe::jit {
namespace {

constexpr size_t kMostBytes = size_t{8}
                              << 20;  // of rings: rounds of more than that take their time

bool on_host(const Tensor& t) {
  if (t.device().kind != DeviceKind::cpu || t.symbolic()) return false;
  const Event& ready = t.impl()->storage->ready;
  return !ready || ready->reached();
}

/// How a tensor lies, from its first element.
Geometry from_first(Geometry g) {
  g.offset = 0;
  return g;
}

size_t bytes_of(const TensorType& t) {
  return static_cast<size_t>(numel(t.shape).value()) * size_of(t.dtype);
}

bool mentions(Int e, uint32_t symbol) {
  return !e.known() && absl::c_linear_search(symbols_of(e), symbol);
}

/// c * symbol + d, where c and d are free of it.
bool is_affine(Int e, uint32_t symbol) {
  if (!mentions(e, symbol)) return true;
  const SymExpr& x = *e.expr();
  if (x.kind == SymKind::symbol) return true;
  return x.kind == SymKind::sum && absl::c_all_of(x.terms, [&](const SymTerm& term) {
           int64_t powers = 0;
           for (const SymExpr* factor : term.factors) {
             if (!mentions(Int::from_expr(factor), symbol)) continue;
             if (factor->kind != SymKind::symbol) return false;
             ++powers;
           }
           return powers <= 1;
         });
}

lathe::Operand operand_of(const Geometry& g, DType dtype) {
  lathe::Operand o{nullptr, dtype, {}, {}};
  for (Int i : g.shape) o.shape.push_back(i.value());
  for (Int i : g.strides) o.strides.push_back(i.value());
  return o;
}

}  // namespace

Runner::Rounds::Rounds(Runner& runner, const Step::Inner& block, std::vector<Bound::OfStep>& bound)
    : r_(runner), block_(block), bound_(bound) {
  for (uint32_t k = 0; k < r_.p_.sources_.size(); ++k) {
    const ir::SymbolSource& source = r_.p_.sources_[k];
    if (source.value == block.block->parameters()[0]) counter_ = k;
  }
}

bool Runner::Rounds::alike(const ir::Data& carried, int64_t first, int64_t step, int64_t rounds) {
  first_ = first, step_ = step, rounds_ = rounds;
  if (block_.parameters.size() != carried.size() + 1) return false;
  for (size_t k = 0; k < carried.size(); ++k) {
    if (!carried[k].is_tensor()) return false;
    const Tensor& t = carried[k].tensor();
    if (!on_host(t) || t.numel() == Int(0) || !t.geometry().is_contiguous()) return false;
    places_[parameter(k)] = {What::carried, k, 0, from_first(t.geometry()), t.dtype(), true};
  }
  puts_.assign(carried.size(), 0);
  for (size_t i = 0; i < block_.steps.size(); ++i)
    if (!add_step(i, carried)) return false;
  return carries_on(carried) && make_rings();
}

/// Where a slot's value is, or null where no address says it.
const Runner::Rounds::Place* Runner::Rounds::read(int slot) {
  auto it = places_.find(slot);
  if (it == places_.end()) {
    const Tensor& t = r_.at(slot).tensor();
    if (!t.defined() || !on_host(t)) return nullptr;
    Place outer{
        What::outer, 0, 0, from_first(t.geometry()), t.dtype(), t.geometry().is_contiguous()};
    it = places_.emplace(slot, std::move(outer)).first;
  }
  const Place& place = it->second;
  // What was there before a write cannot be read after it.
  if (place.what != What::outer && place.puts != puts(place)) return nullptr;
  if (place.what == What::made) rings_[place.index].last = acts_.size();
  return &place;
}

int& Runner::Rounds::puts(const Place& place) {
  return place.what == What::carried ? puts_[place.index] : rings_[place.index].puts;
}

bool Runner::Rounds::reads(const Step& s) {
  return std::all_of(s.in.begin(), s.in.end(), [&](int slot) {
    const bool number = !places_.contains(slot) && !r_.at(slot).is_tensor();
    return number || read(slot) != nullptr;
  });
}

bool Runner::Rounds::add_step(size_t i, const ir::Data& carried) {
  const Step& s = block_.steps[i];
  if (!s.symbols.empty() || s.kind == Step::Kind::structure) return false;
  const bool op = s.kind == Step::Kind::op;
  if (op && s.node->op() == index_ops<Tensor>::check_size.op()) return holds(s);
  if (op && s.operands.empty()) {
    if (s.node->op()->kind == Kind::view) return add_view(i);
    const bool through =
        s.node->op()->kind == Kind::index && s.node->op()->index.access == lathe::Access::through;
    return through ? add_put(i, carried) : add_call(i);
  }
  const Bound::OfStep& b = bound_[i];
  if (s.dynamic || !reads(s)) return false;
  if (op && (b.prepared.entry == nullptr || b.revision != flags_revision())) return false;
  acts_.push_back({Act::Kind::step, i});
  if (!add_results(s, b)) return false;
  if (!s.epilogue) return true;
  return !s.epilogue->dynamic && reads(*s.epilogue) && add_results(*s.epilogue, *b.epilogue);
}

bool Runner::Rounds::add_results(const Step& s, const Bound::OfStep& b) {
  for (size_t k = 0; k < b.types.size(); ++k) {
    const TensorType& t = b.types[k];
    if (t.device.kind != DeviceKind::cpu || numel(t.shape) == Int(0)) return false;
    places_[s.out[k]] = {What::made, rings_.size(), 0, Geometry::contiguous(t.shape),
                         t.dtype,    true};
    rings_.push_back({s.out[k], t, acts_.size() - 1, acts_.size() - 1});
  }
  return true;
}

/// Whether a check of sizes holds in all rounds: one that does not is found in its own, one by one.
bool Runner::Rounds::holds(const Step& s) const {
  const auto& attrs = s.node->attrs();
  if (!s.node->places().empty()) return false;
  const Int a = attrs[0].integer(), b = attrs[2].integer();
  const auto found = absl::c_find(kRelations, std::string_view(attrs[1].text_));
  const auto relation = static_cast<Relation>(found - std::begin(kRelations));
  // What is affine and equal, or in an order, at both ends is so between them.
  const bool ends =
      relation != Relation::ne && counter_ && is_affine(a, *counter_) && is_affine(b, *counter_);
  std::vector<int64_t> now = r_.now_;
  for (int64_t round = 0; round < rounds_; round += ends ? std::max<int64_t>(1, rounds_ - 1) : 1) {
    if (counter_) now[*counter_] = first_ + round * step_;
    if (!decide(relation, jit::evaluate(a, now), jit::evaluate(b, now))) return false;
  }
  return true;
}

/// An op's arguments in a round, if sizes and numbers of it are affine in the round.
std::optional<ir::Filled> Runner::Rounds::arguments(const Step& s, const Tensor& stand_in,
                                                    int64_t round) const {
  const ir::Node& n = *s.node;
  absl::InlinedVector<Arg, 4> values(n.places().size());
  for (size_t k = 0; k < values.size(); ++k) {
    if (n.in(static_cast<int>(k))->type().tensor() == nullptr) return std::nullopt;
    values[k] = Arg(stand_in);
  }
  bool affine = true;
  std::vector<int64_t> now = r_.now_;
  if (counter_) now[*counter_] = first_ + round * step_;
  std::function<Int(Int)> change = [&](Int e) {
    if (counter_) affine = affine && is_affine(e, *counter_);
    return jit::evaluate(e, now);
  };
  ir::Filled filled = ir::fill(n.attrs(), n.places(), values, &change);
  if (!affine) return std::nullopt;
  return filled;
}

/// How a view lies from its operand's first element in the first round, and how many bytes further
/// it begins in each later one.
std::optional<Runner::Rounds::Seen> Runner::Rounds::see(const Step& s, const Op& view,
                                                        const Geometry& from, DType dtype,
                                                        bool put) const {
  const Tensor stand_in = ir::stand_in({dtype, from.shape, Device{}});
  std::array<int64_t, 3> rounds = {0, 1, rounds_ - 1};
  std::array<Geometry, 3> seen;
  for (size_t k = 0; k < rounds.size(); ++k) {
    std::optional<ir::Filled> filled = arguments(s, stand_in, rounds[k]);
    if (!filled) return std::nullopt;
    absl::InlinedVector<Arg, 8> args(filled->args().begin(), filled->args().end());
    if (put) {  // its own arguments, without the value
      args.erase(args.begin() + 1);
      args[0] = Arg(stand_in);
    }
    seen[k] = view.geometry(from, absl::MakeConstSpan(args));
    if (!identical(seen[k].shape, seen[0].shape) || !identical(seen[k].strides, seen[0].strides))
      return std::nullopt;
  }
  // An affine place that is neither clamped nor counted from the end in these rounds is in none
  // between.
  const int64_t at = seen[0].offset.value(), move = seen[1].offset.value() - at;
  if (seen[2].offset.value() != at + move * rounds[2]) return std::nullopt;
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  return Seen{from_first(std::move(seen[0])), at * bytes, move * bytes};
}

bool Runner::Rounds::add_view(size_t i) {
  const Step& s = block_.steps[i];
  const TensorType* out = s.node->out(0)->type().tensor();
  if (s.in.size() != 1 || s.out.size() != 1 || out == nullptr) return false;
  const Place* from = read(s.in[0]);
  if (from == nullptr || from->dtype != out->dtype) return false;
  std::optional<Seen> seen = see(s, *s.node->op(), from->geometry, from->dtype, false);
  if (!seen) return false;
  Place place = *from;
  place.whole = from->whole && seen->shift == 0 && seen->move == 0 &&
                seen->geometry.is_contiguous() &&
                numel(seen->geometry.shape) == numel(from->geometry.shape);
  place.geometry = seen->geometry;
  place.view = true;
  Act act{Act::Kind::view, i};
  act.to = s.out[0], act.from = s.in[0], act.shift = seen->shift, act.move = seen->move;
  acts_.push_back(act);
  places_[s.out[0]] = std::move(place);
  return true;
}

/// May a step write over what this slot holds? What a round made is its own; what is carried, if
/// nobody else owns it.
bool Runner::Rounds::may_write(const Place& into, const ir::Data& carried) {
  if (into.what != What::carried) return into.what == What::made;
  const TensorImpl& t = *carried[into.index].tensor().impl();
  return t.refs.load() == 1 && t.storage->refs.load() == 1 && owns_memory(*t.storage);
}

/// A view takes a value: of what lies there, or of a copy.
bool Runner::Rounds::add_put(size_t i, const ir::Data& carried) {
  const Step& s = block_.steps[i];
  if (s.in.size() != 2 || s.types.size() != 1) return false;
  const Place *value = read(s.in[1]), *into = read(s.in[0]);
  if (value == nullptr || into == nullptr || !into->whole || value->dtype != into->dtype ||
      (value->what == into->what && value->index == into->index && value->what != What::outer))
    return false;
  std::optional<Seen> seen = see(s, *s.node->op()->put_of, into->geometry, into->dtype, true);
  if (!seen) return false;
  Act act{Act::Kind::put, i};
  act.to = s.out[0], act.from = s.in[0], act.value = s.in[1];
  act.shift = seen->shift, act.move = seen->move;
  if (seen->geometry.is_contiguous() && value->geometry.is_contiguous()) {
    act.bytes = static_cast<size_t>(numel(seen->geometry.shape).value()) * size_of(value->dtype);
  } else {
    act.copy = copies_.size();
    copies_.push_back(
        {operand_of(value->geometry, value->dtype), operand_of(seen->geometry, into->dtype)});
  }
  Place place = *into;
  const bool over = s.over && may_write(*into, carried);
  if (over) {
    place.puts = ++puts(*into);
  } else {
    const TensorType type{into->dtype, into->geometry.shape, Device{}};
    act.whole = bytes_of(type);
    place = {What::made, rings_.size(), 0, Geometry::contiguous(type.shape), type.dtype, true};
  }
  acts_.push_back(act);
  if (!over)
    rings_.push_back({s.out[0],
                      {place.dtype, place.geometry.shape, Device{}},
                      acts_.size() - 1,
                      acts_.size() - 1});
  places_[s.out[0]] = std::move(place);
  return true;
}

/// Whether what is yielded is carried by handing addresses on, and how many rounds each result is.
bool Runner::Rounds::carries_on(const ir::Data& carried) {
  std::vector<const Place*> yields;
  for (int slot : block_.yields) {
    yields.push_back(read(slot));
    if (yields.back() == nullptr) return false;
  }
  for (size_t k = 0; k < yields.size(); ++k) {
    const Place* y = yields[k];
    const Tensor& t = carried[k].tensor();
    if (!y->whole || y->dtype != t.dtype() || numel(y->geometry.shape) != t.numel()) return false;
    if (y->what != What::carried) continue;
    // What rounds write into stays where it is, and is handed on once.
    const bool written = puts_[y->index] > 0;
    if (written && (y->index != k || std::count_if(yields.begin(), yields.end(), [&](auto* other) {
                                       return other->what == What::carried && other->index == k;
                                     }) != 1))
      return false;
  }
  // Of what is written, the place it is carried in takes nothing else: checked above.
  std::function<size_t(size_t)> lasts = [&](size_t k) {  // rounds that parameter k's value is read
    size_t most = 0;
    for (size_t j = 0; j < yields.size(); ++j)
      if (yields[j]->what == What::carried && yields[j]->index == k && j != k)
        most = std::max(most, lasts(j));
    return most + 1;
  };
  for (size_t k = 0; k < yields.size(); ++k)
    if (yields[k]->what == What::made) {
      Ring& ring = rings_[yields[k]->index];
      ring.turns = std::max(ring.turns, 1 + lasts(k));
    }
  for (size_t k = 0; k < puts_.size(); ++k)
    if (puts_[k] > 0 && !(yields[k]->what == What::carried && yields[k]->index == k)) return false;
  return true;
}

/// Memory for results: those of one round share it as far as they are of one size.
bool Runner::Rounds::make_rings() {
  size_t total = 0;
  for (const Ring& ring : rings_) total += ring.turns * size_class_bytes(bytes_of(ring.type));
  if (total > kMostBytes) return false;
  for (size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    for (size_t k = 0; k < i && ring.turns == 1 && ring.places.empty(); ++k) {
      Ring& old = rings_[k];
      if (old.turns != 1 || old.taken || old.last >= ring.made ||
          bytes_of(old.type) != bytes_of(ring.type))
        continue;
      old.taken = true;
      ring.places.push_back(make_tensor(old.places[0].impl()->storage, ring.type.dtype,
                                        Geometry::contiguous(ring.type.shape)));
    }
    while (ring.places.size() < ring.turns) ring.places.push_back(empty(ring.type));
    for (const Tensor& t : ring.places) ring.starts.push_back(operand(t).data);
  }
  return true;
}

void Runner::Rounds::put_act(const Act& act, int64_t round) {
  std::byte*& to = address(act.to);
  if (act.whole > 0)
    std::memcpy(to, address(act.from), act.whole);
  else
    to = address(act.from);
  std::byte *const target = to + act.shift + round * act.move, *const value = address(act.value);
  if (act.bytes > 0) {
    std::memmove(target, value, act.bytes);
    return;
  }
  Copy& copy = copies_[act.copy];
  copy.from.data = value;
  copy.to.data = target;
  own::copy_elements(copy.from, copy.to);
}

/// Is a number of a kernel that in every round?
bool Runner::Rounds::same_each_round(const Step& s, const Number& n) const {
  const auto still = [&](Int e) { return !counter_ || !mentions(e, *counter_); };
  if (n.input < 0) return still(n.expr);
  const int slot = s.in[static_cast<size_t>(n.input)];
  if (slot == block_.parameters[0] || places_.contains(slot)) return false;
  const ir::Datum& d = r_.at(slot);
  return !d.is_integer() || still(d.integer());
}

/// Makes a kernel's act one that looks at addresses alone, where that does the same.
bool Runner::Rounds::repeat(Act& act) {
  const Step& s = block_.steps[act.step];
  const Bound::OfStep& b = bound_[act.step];
  if (s.blank) {
    act.kind = Act::Kind::blank;
    return true;
  }
  if (s.kind != Step::Kind::kernel ||
      !absl::c_all_of(s.kernel->numbers(), [&](const Number& n) { return same_each_round(s, n); }))
    return false;
  KernelCall call;
  r_.prepare(s, b, call);
  Repeated made{s.kernel->repeated(b.kernel, call.run), {}};
  if (made.kernel == nullptr) return false;
  for (int input : s.kernel->tensors()) {
    const auto k = static_cast<size_t>(input);
    made.buffers.push_back({s.in[k], b.shifts[k]});
  }
  for (int slot : s.out) made.buffers.push_back({slot, 0});
  act.kind = Act::Kind::kernel;
  act.kernel = kernels_.size();
  kernels_.push_back(std::move(made));
  return true;
}

void Runner::Rounds::run_act(const Act& act, int64_t round) {
  switch (act.kind) {
    case Act::Kind::kernel: {
      Repeated& k = kernels_[act.kernel];
      k.kernel->run([&](size_t buffer) {
        const Repeated::Buffer& b = k.buffers[buffer];
        return address(b.slot) + b.shift;
      });
      return;
    }
    case Act::Kind::call:
      return call_act(act);
    case Act::Kind::view:
      address(act.to) = address(act.from) + act.shift + round * act.move;
      return;
    case Act::Kind::put:
      put_act(act, round);
      return;
    case Act::Kind::blank:
      return;
    case Act::Kind::step: {
      const Step& s = block_.steps[act.step];
      SiteScope site(s.node->site());
      r_.run_bound(s, bound_[act.step]);
      return;
    }
  }
}

/// Values for the slots of the block, so that a step finds tensors there; their addresses are the
/// round's.
void Runner::Rounds::fill_slots(const ir::Data& carried) {
  for (size_t k = 0; k < carried.size(); ++k) r_.put(parameter(k), carried[k]);
  for (const Ring& ring : rings_) r_.put(ring.slot, ir::Datum(ring.places[0]));
  for (const Act& act : acts_)
    if ((act.kind == Act::Kind::view || act.kind == Act::Kind::put) && act.whole == 0)
      r_.put(act.to, r_.at(act.from));
  const auto give = [&](const Step& s, Bound::OfStep& b) {
    b.places.clear();
    for (size_t k = 0; k < b.types.size(); ++k) b.places.push_back(r_.at(s.out[k]).tensor());
  };
  for (Act& act : acts_) {
    const Step& s = block_.steps[act.step];
    if (act.kind == Act::Kind::call) {
      act.kernel = calls_.size();
      calls_.push_back(entry_call(s, bound_[act.step]));
    }
    if (act.kind != Act::Kind::step) continue;
    give(s, bound_[act.step]);
    if (s.epilogue) give(*s.epilogue, *bound_[act.step].epilogue);
  }
}

/// Packs what products read of outside of the loop, once for all rounds.
void Runner::Rounds::pack_outer() {
  size_t left = kMostBytes;
  for (const Act& act : acts_) {
    const Step& s = block_.steps[act.step];
    if (act.kind != Act::Kind::step || s.kind != Step::Kind::op) continue;
    Bound::OfStep& b = bound_[act.step];
    const Entry& entry = *b.prepared.entry;
    if (entry.pack == nullptr || entry.room == nullptr) continue;
    for (size_t k = 0; k < s.operands.size(); ++k) {
      const Place& place = places_.at(s.in[k]);
      if (b.packed[k] != nullptr || place.what != What::outer || place.view) continue;
      const size_t kept = entry.room(entry, *b.prepared.plan, {k == 0, k == 1}).kept;
      if (kept == 0 || kept > left) continue;
      const auto operand = static_cast<int>(k);
      b.packed[k] = entry.pack(entry, *b.prepared.plan, operand, r_.address(s, b, k), nullptr);
      packed_.emplace_back(act.step, k);
      left -= kept;
    }
  }
}

void Runner::Rounds::empty_slots() {
  for (const auto& [step, operand] : packed_) bound_[step].packed[operand] = nullptr;
  for (int slot : block_.parameters) r_.put(slot, ir::Datum());
  for (const Ring& ring : rings_) r_.put(ring.slot, ir::Datum());
  for (const Act& act : acts_) {
    if (act.kind == Act::Kind::view || act.kind == Act::Kind::put) {
      r_.put(act.to, ir::Datum());
      continue;
    }
    Bound::OfStep& b = bound_[act.step];
    if (act.kind == Act::Kind::call)
      for (Arg* hole : b.holes) *hole = Arg();
    b.places.clear();
    if (b.epilogue) b.epilogue->places.clear();
  }
}

ir::Data Runner::Rounds::run(ir::Data carried) {
  constexpr int64_t kUncancelled = 16;  // rounds
  absl::Cleanup leave = [&] { empty_slots(); };
  fill_slots(carried);
  pack_outer();
  size_t steps = 0;
  for (Act& act : acts_)
    steps += act.kind == Act::Kind::call || (act.kind == Act::Kind::step && !repeat(act));
  std::vector<std::byte*> next(carried.size());
  for (int64_t round = 0; round < rounds_; ++round) {
    if (round % kUncancelled == 0) check_cancelled();
    if (steps > 0) {
      const int64_t i = first_ + round * step_;
      r_.put(block_.parameters[0], ir::Datum(Arg(Int(i))));
      if (counter_) r_.now_[*counter_] = i;
    }
    for (Ring& ring : rings_) {
      address(ring.slot) = ring.starts[ring.turn];
      if (++ring.turn == ring.turns) ring.turn = 0;
    }
    for (const Act& act : acts_) run_act(act, round);
    for (size_t k = 0; k < next.size(); ++k) next[k] = address(block_.yields[k]);
    for (size_t k = 0; k < next.size(); ++k) address(parameter(k)) = next[k];
  }
  r_.c_.counts_.alike_rounds += rounds_;
  for (const Act& act : acts_) {
    r_.c_.counts_.ops += act.kind == Act::Kind::view || act.kind == Act::Kind::put ? rounds_ : 0;
    r_.c_.counts_.kernels_generated += act.kind == Act::Kind::kernel ? rounds_ : 0;
  }
  return results(carried, next);
}

/// The tensors that begin at these addresses.
ir::Data Runner::Rounds::results(const ir::Data& carried,
                                 absl::Span<std::byte* const> addresses) const {
  absl::flat_hash_map<std::byte*, Tensor> known;
  const auto add = [&](const Tensor& t) {
    const auto size = static_cast<int64_t>(size_of(t.dtype()));
    known.try_emplace(t.impl()->storage->data + t.geometry().offset.value() * size, t);
  };
  for (const Ring& ring : rings_)
    for (const Tensor& t : ring.places) add(t);
  for (const ir::Datum& d : carried) add(d.tensor());
  for (const auto& [slot, place] : places_)
    if (place.what == What::outer) add(r_.at(slot).tensor());
  ir::Data out;
  for (size_t k = 0; k < addresses.size(); ++k) {
    const Tensor& t = known.at(addresses[k]);
    Geometry g = Geometry::contiguous(carried[k].tensor().shape());
    g.offset = t.geometry().offset;
    const bool same = identical(t.shape(), g.shape) && t.dtype() == carried[k].tensor().dtype();
    out.emplace_back(same ? t : make_tensor(t.impl()->storage, t.dtype(), std::move(g)));
  }
  return out;
}

}  // namespace lathe::jit
