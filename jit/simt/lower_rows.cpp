// Rows: a block of threads does the statements of a row one after the other (lower.h).
//
// run() has the phases, row() the statements of one row. A statement first says what it touches
// (before(), which puts a barrier there if it has to be), then what threads do. Locals of one
// element that plain computations give are registers of every thread (regs_of_), other locals
// memory (memory_of_). A reduction along the row is block(), count() and counted(): a half-warp's
// block of 512, the counter of blocks, what is left in it. A sum over rows is begin() and halve()
// around 512 rows, and total() in the second phase.
#include <absl/strings/str_cat.h>

#include "jit/simt/hazards.h"
#include "jit/simt/lowering.h"

namespace lathe::jit::simt {
namespace {

constexpr int64_t kBlock = 512;  // elements, or rows, of a subtree of a sum
constexpr int64_t kLevels = 64;  // of a counter of blocks

class Rows : Lowering {
 public:
  Rows(const Kernel& kernel, const Shape& shape) : Lowering(kernel, shape) {
    find_plain();
    for (size_t b = 0; b < k_.buffers.size(); ++b) {
      const Buf& buf = k_.buffers[b];
      if (buf.space == Space::argument) continue;
      memory_of_.resize(k_.buffers.size(), -1);
      regs_of_.resize(k_.buffers.size());
      plain_[b] ? static_cast<void>(regs_of_[b] = b_.regs(buf.dtype)) : own(b);
    }
  }

  Program run() {
    const std::vector<const ReduceRows*> sums = row_reductions(k_);
    rows_ = positions();
    if (sums.empty()) {
      b_.begin_phase(rows_);
      b_.loop(this_block(), rows_, grid_size(), [&](const Ix& row) { this->row(row); });
      return std::move(b_.program);
    }
    const Ix blocks = groups(rows_, kBlock);
    b_.begin_phase(blocks);
    for (const ReduceRows* r : sums) lanes_.push_back(make_lanes(*r, blocks));
    b_.loop(this_block(), blocks, grid_size(), [&](const Ix& block) {
      for (const Lanes& lanes : lanes_) begin(lanes);
      b_.loop(block * kBlock, least(rows_, block * kBlock + kBlock), 1,
              [&](const Ix& row) { this->row(row); });
      for (const Lanes& lanes : lanes_) halve(lanes, block);
    });
    b_.begin_phase(groups(columns(), shape_.threads));
    b_.loop(this_block() * shape_.threads + this_thread(), columns(), grid_size() * shape_.threads,
            [&](const Ix& j) {
              for (const Lanes& lanes : lanes_) total(lanes, blocks, j);
            });
    return std::move(b_.program);
  }

 private:
  /// The states of a sum over rows: of sixteen lanes for each block of threads, of each block of
  /// rows.
  struct Lanes {
    const ReduceRows* r;
    std::vector<int> lanes, states;  // memories, one an entry of state
  };
  /// Of a reduction along a row, shared by all of that type: what half-warps give, and a counter.
  struct Counter {
    int given, levels;
  };

  int halves() const { return shape_.threads / kHalfWarp; }
  Ix columns() { return k_.axes.size() > inner() ? extent(inner()) : Ix(1); }
  size_t inner() const { return static_cast<size_t>(k_.parallel); }
  const Buf& buf(const Access& a) const { return k_.buffers[static_cast<size_t>(a.buf)]; }

  // ── what rows keep ──

  /// Locals of one element that only plain computations give: every thread has them.
  void find_plain() {
    plain_.resize(k_.buffers.size());
    for (size_t b = 0; b < plain_.size(); ++b) plain_[b] = k_.buffers[b].scalar();
    for (const Statement& s : k_.body) {
      if (std::holds_alternative<Compute>(s.node)) continue;
      each_access(Block{s}, [&](const Access& a, bool store) {
        if (store) plain_[static_cast<size_t>(a.buf)] = false;
      });
    }
  }
  void own(size_t b) {
    const Buf& buf = k_.buffers[b];
    const Where where = shape_.rows_in_scratch ? Where::scratch : Where::shared;
    length_of_row_[b] = b_.number(buf.elements);
    Ix elements = length_of_row_[b];
    if (where == Where::scratch) elements = elements * grid_size();
    memory_of_[b] = b_.memory({buf.dtype, where, false, elements, buf.name});
    rows_own_.push_back(memory_of_[b]);
  }
  int memory(const Access& a) const {
    return buf(a).space == Space::argument ? a.buf : memory_of_[static_cast<size_t>(a.buf)];
  }
  bool plain(const Access& a) const { return plain_[static_cast<size_t>(a.buf)]; }
  Ix place(const Access& a) {
    const Ix along = index(a.map);
    if (buf(a).space == Space::argument || !shape_.rows_in_scratch) return along;
    return this_block() * length_of_row_.at(static_cast<size_t>(a.buf)) + along;
  }

  // ── touches ──

  Touch touch(const Access& a, Who who, bool writes) const {
    // A position that does not move belongs to no thread.
    const bool still = who == Who::threads && identical(a.map.along(inner()), Int(0));
    return {memory(a), still ? Who::every : who, writes, a.map};
  }
  void touch(const std::vector<Operand>& operands, Who who, std::vector<Touch>& all) const {
    for (const Operand& o : operands)
      if (const auto* a = std::get_if<Access>(&o); a != nullptr && !plain(*a))
        all.push_back(touch(*a, who, /*writes=*/false));
  }
  void touch(const std::vector<Access>& stores, Who who, std::vector<Touch>& all) const {
    for (const Access& a : stores)
      if (!plain(a)) all.push_back(touch(a, who, /*writes=*/true));
  }
  /// What follows touches these: a barrier, if it has to be.
  void before(const std::vector<Touch>& next) {
    if (hazards_.clash_with(next)) barrier();
    hazards_.add(next);
  }
  void barrier() {
    b_.barrier();
    hazards_.barrier();
  }

  // ── a row ──

  void row(const Ix& row) {
    row_ = row;
    go_to(row);
    length_ = columns();
    if (k_.line) length_ = b_.let(least(length_, b_.number(*k_.line) - row * length_));
    hazards_.restart();
    for (const Statement& s : k_.body)
      std::visit([&](const auto& node) { statement(node); }, s.node);
    if (hazards_.clash_around(rows_own_)) barrier();
  }

  void read(const std::vector<Operand>& operands, Regs& inputs) {
    for (const Operand& o : operands) {
      if (const auto* u = std::get_if<Uniform>(&o)) {
        inputs.push_back(b_.reg(u->dtype));
        b_.fetch(inputs.back(), u->slot);
        continue;
      }
      const Access& a = std::get<Access>(o);
      const Regs parts =
          plain(a) ? regs_of_[static_cast<size_t>(a.buf)] : b_.load(memory(a), place(a));
      inputs.insert(inputs.end(), parts.begin(), parts.end());
    }
  }
  void write(const ScalarFunction& f, const Regs& results, const std::vector<Access>& stores) {
    for (size_t k = 0; k < stores.size(); ++k)
      if (!plain(stores[k])) b_.store(memory(stores[k]), place(stores[k]), result(f, results, k));
  }

  void statement(const Compute& c) {
    const bool keeps =
        std::any_of(c.stores.begin(), c.stores.end(), [&](const Access& a) { return plain(a); });
    const bool gives =
        std::any_of(c.stores.begin(), c.stores.end(), [&](const Access& a) { return !plain(a); });
    std::vector<Touch> touches;
    touch(c.operands, keeps ? Who::every : Who::first, touches);
    touch(c.stores, Who::first, touches);
    // Reads of all threads may not be overtaken by what the first one writes.
    const auto clashes = [&](const Touch& t) {
      return std::any_of(touches.begin(), touches.end(),
                         [&](const Touch& other) { return clash(t, other); });
    };
    const bool apart = std::any_of(touches.begin(), touches.end(), clashes);
    before(touches);
    Regs results;
    const auto compute = [&] {
      Regs inputs;
      read(c.operands, inputs);
      results = b_.call(function(c.f), inputs);
    };
    if (!keeps) {
      b_.first_thread([&] {
        compute();
        write(c.f, results, c.stores);
      });
      return;
    }
    compute();
    for (size_t k = 0; k < c.stores.size(); ++k) {
      if (!plain(c.stores[k])) continue;
      const Regs from = result(c.f, results, k);
      const Regs& to = regs_of_[static_cast<size_t>(c.stores[k].buf)];
      for (size_t part = 0; part < to.size(); ++part) b_.copy(to[part], from[part]);
    }
    if (apart) barrier();
    if (apart) hazards_.add(touches);
    if (gives) b_.first_thread([&] { write(c.f, results, c.stores); });
  }

  void statement(const For& f) {
    std::vector<Touch> touches;
    for (const Statement& s : f.body) {
      const auto& c = std::get<Compute>(s.node);
      touch(c.operands, Who::threads, touches);
      touch(c.stores, Who::threads, touches);
    }
    before(touches);
    along(length_, [&] {
      for (const Statement& s : f.body) {
        const auto& c = std::get<Compute>(s.node);
        Regs inputs;
        read(c.operands, inputs);
        write(c.f, b_.call(function(c.f), inputs), c.stores);
      }
    });
  }

  /// Positions of the inner axis, thread by thread.
  void along(const Ix& length, const Builder::Inside& body) {
    b_.loop(this_thread(), length, shape_.threads, [&](const Ix& j) {
      at_[inner()] = j;
      body();
      at_[inner()] = 0;
    });
  }

  // ── states ──

  Regs units(const ReduceBodies& bodies) {
    Regs states;
    for (size_t s = 0; s < bodies.state.size(); ++s) {
      states.push_back(b_.reg(bodies.state[s]));
      b_.set(states.back(), bodies.unit[s]);
    }
    return states;
  }
  /// `into` = combine(a, b)
  void combine(const ReduceBodies& bodies, const Regs& into, Regs a, const Regs& b) {
    a.insert(a.end(), b.begin(), b.end());
    b_.call(into, function(bodies.combine), a);
  }
  Regs lift(const ReduceBodies& bodies, const std::vector<Operand>& operands, const Ix& element) {
    Regs inputs;
    read(operands, inputs);
    inputs.push_back(static_cast<int>(b_.let(element)->value));
    return b_.call(function(bodies.lift), inputs);
  }
  void finish(const ReduceBodies& bodies, Regs states, const Ix& count,
              const std::vector<Access>& stores) {
    states.push_back(static_cast<int>(b_.let(count)->value));
    write(bodies.finish, b_.call(function(bodies.finish), states), stores);
  }
  Regs load(const std::vector<int>& memories, const Ix& at) {
    Regs states;
    for (int m : memories) states.push_back(b_.load(m, at)[0]);
    return states;
  }
  void store(const std::vector<int>& memories, const Ix& at, const Regs& states) {
    for (size_t s = 0; s < memories.size(); ++s) b_.store(memories[s], at, {states[s]});
  }

  // ── a reduction along the row ──

  /// A counter for state number `s` of a reduction; reductions come one after the other, and those
  /// with a state of that type in that place take turns.
  const Counter& counter(DType d, size_t s) {
    const auto [found, added] = counters_.try_emplace(std::make_pair(d, s));
    if (added) {
      found->second.given = b_.memory({d, Where::shared, false, halves(), "given"});
      found->second.levels = b_.memory({d, Where::shared, false, kLevels, "levels"});
      rows_own_.push_back(found->second.given);
      rows_own_.push_back(found->second.levels);
    }
    return found->second;
  }

  void statement(const Reduce& r) {
    const ReduceBodies& bodies = r.bodies;
    std::vector<int> given, levels;
    for (size_t s = 0; s < bodies.state.size(); ++s) {
      const Counter& c = counter(bodies.state[s], s);
      given.push_back(c.given);
      levels.push_back(c.levels);
    }
    std::vector<Touch> reads, counts;
    touch(r.operands, Who::halves, reads);
    for (int m : given) reads.push_back({m, Who::leaders, /*writes=*/true});
    for (int m : given) counts.push_back({m, Who::first, /*writes=*/false});
    for (int m : levels) counts.push_back({m, Who::first, /*writes=*/true});
    touch(r.stores, Who::first, counts);
    before(reads);
    const Ix blocks = b_.let(groups(length_, kBlock));
    // One round at least, so that its barrier is one of every row.
    b_.loop(0, most(blocks, 1), halves(), [&](const Ix& first) {
      const Ix mine = b_.let(first + this_thread() / kHalfWarp);
      const Regs states = block(r, mine);
      // The counter has taken what was given before.
      b_.when(0, Compare::less, first, [&] { b_.barrier(); });
      b_.when(this_thread() % kHalfWarp, Compare::equal, 0, [&] {
        b_.when(mine, Compare::less, blocks,
                [&] { store(given, this_thread() / kHalfWarp, states); });
      });
      b_.barrier();
      b_.first_thread([&] { count(bodies, given, levels, first, blocks); });
    });
    hazards_.barrier();
    hazards_.add(counts);
    b_.first_thread([&] { finish(bodies, counted(bodies, levels, blocks), length_, r.stores); });
  }

  /// The state of one block of 512, in lane 0 of the half-warp.
  Regs block(const Reduce& r, const Ix& block) {
    const Regs states = units(r.bodies);
    const Ix lane = this_thread() % kHalfWarp;
    b_.loop(block * kBlock + lane, least(length_, block * kBlock + kBlock), kHalfWarp,
            [&](const Ix& i) {
              at_[inner()] = i;
              combine(r.bodies, states, states, lift(r.bodies, r.operands, i));
              at_[inner()] = 0;
            });
    for (int half = kHalfWarp / 2; half > 0; half /= 2) {
      Regs upper;
      for (size_t s = 0; s < states.size(); ++s) {
        upper.push_back(b_.reg(r.bodies.state[s]));
        b_.shuffle(upper[s], states[s], half);
      }
      combine(r.bodies, states, states, upper);
    }
    return states;
  }

  /// Takes what the half-warps give, in order: block number n, from 1, meets as many earlier
  /// neighbours of its size as n has zeros at the end.
  void count(const ReduceBodies& bodies, const std::vector<int>& given,
             const std::vector<int>& levels, const Ix& first, const Ix& blocks) {
    b_.loop(0, least(blocks - first, halves()), 1, [&](const Ix& k) {
      const Regs states = load(given, k);
      const Ix level = b_.let(Ix(IxOp::zeros, first + k + 1));
      b_.loop(0, level, 1, [&](const Ix& l) { combine(bodies, states, load(levels, l), states); });
      store(levels, level, states);
    });
  }
  /// The levels that are in use, from the smallest; no block: the unit.
  Regs counted(const ReduceBodies& bodies, const std::vector<int>& levels, const Ix& blocks) {
    const Regs states = units(bodies);
    b_.when(0, Compare::less, blocks, [&] {
      const Regs lowest = load(levels, Ix(IxOp::zeros, blocks));
      for (size_t s = 0; s < states.size(); ++s) b_.copy(states[s], lowest[s]);
      const int rest = b_.reg(DType::i64);
      const auto without_lowest = [&](const Ix& word) { b_.let(rest, word & (word - 1)); };
      without_lowest(blocks);
      b_.loop(0, Ix(IxOp::ones, value_of(rest)), 1, [&](const Ix&) {
        combine(bodies, states, load(levels, Ix(IxOp::zeros, value_of(rest))), states);
        without_lowest(value_of(rest));
      });
    });
    return states;
  }

  // ── sums over rows ──

  Lanes make_lanes(const ReduceRows& r, const Ix& blocks) {
    Lanes out{&r, {}, {}};
    for (DType d : r.bodies.state) {
      out.lanes.push_back(
          b_.memory({d, Where::scratch, false, grid_size() * kHalfWarp * columns(), "lanes"}));
      out.states.push_back(b_.memory({d, Where::scratch, false, blocks * columns(), "blocks"}));
    }
    return out;
  }
  Ix lane_place(const Ix& lane, const Ix& j) {
    return (this_block() * kHalfWarp + lane) * columns() + j;
  }
  void begin(const Lanes& lanes) {
    along(columns(), [&] {
      const Ix j = at_[inner()];
      b_.loop(0, kHalfWarp, 1, [&](const Ix& lane) {
        store(lanes.lanes, lane_place(lane, j), units(lanes.r->bodies));
      });
    });
  }
  void statement(const ReduceRows& r) {
    const Lanes& lanes =
        *std::find_if(lanes_.begin(), lanes_.end(), [&](const Lanes& l) { return l.r == &r; });
    std::vector<Touch> touches;
    touch(r.operands, Who::threads, touches);
    before(touches);
    along(length_, [&] {
      const Ix at = b_.let(lane_place(row_ % kHalfWarp, at_[inner()]));
      const Regs lifted = lift(r.bodies, r.operands, row_);
      const Regs states = load(lanes.lanes, at);
      combine(r.bodies, states, states, lifted);
      store(lanes.lanes, at, states);
    });
  }
  void halve(const Lanes& lanes, const Ix& block) {
    along(columns(), [&] {
      const Ix j = at_[inner()];
      b_.loop(0, 4, 1, [&](const Ix& k) {
        const Ix half = b_.let(Ix(IxOp::shr, kHalfWarp / 2, k));
        b_.loop(0, half, 1, [&](const Ix& lane) {
          const Regs states = load(lanes.lanes, lane_place(lane, j));
          combine(lanes.r->bodies, states, states, load(lanes.lanes, lane_place(lane + half, j)));
          store(lanes.lanes, lane_place(lane, j), states);
        });
      });
      store(lanes.states, block * columns() + j, load(lanes.lanes, lane_place(0, j)));
    });
  }
  /// All blocks of rows of one column: neighbours, then neighbours of two, of four ...
  void total(const Lanes& lanes, const Ix& blocks, const Ix& j) {
    const ReduceBodies& bodies = lanes.r->bodies;
    const auto place = [&](const Ix& block) { return block * columns() + j; };
    b_.loop(0, Ix(IxOp::width, most(blocks, 1) - 1), 1, [&](const Ix& k) {
      const Ix apart = b_.let(Ix(IxOp::shl, 1, k));
      b_.loop(0, blocks - apart, apart * 2, [&](const Ix& block) {
        const Regs states = load(lanes.states, place(block));
        combine(bodies, states, states, load(lanes.states, place(block + apart)));
        store(lanes.states, place(block), states);
      });
    });
    const Regs states = units(bodies);
    b_.when(0, Compare::less, blocks, [&] {
      const Regs all = load(lanes.states, j);
      for (size_t s = 0; s < states.size(); ++s) b_.copy(states[s], all[s]);
    });
    at_.assign(at_.size(), 0);
    at_[inner()] = j;
    finish(bodies, states, rows_, lanes.r->stores);
  }

  std::vector<bool> plain_;                        // by buffer: a register of every thread
  std::vector<int> memory_of_;                     // by buffer: of locals
  std::vector<Regs> regs_of_;                      // by buffer: of plain ones
  absl::flat_hash_map<size_t, Ix> length_of_row_;  // by buffer
  std::vector<int> rows_own_;                      // memories that every row of a block writes anew
  absl::flat_hash_map<std::pair<DType, size_t>, Counter> counters_;
  std::vector<Lanes> lanes_;
  Hazards hazards_;
  Ix rows_, row_, length_;
};

}  // namespace

Program threads_of_rows(const Kernel& kernel, const Shape& shape) {
  return Rows(kernel, shape).run();
}

}  // namespace lathe::jit::simt
