// The simulator: the statements of a phase as a list with jumps (Code), which each thread goes
// through at its own pace (go_on) until it meets others: fifteen at a shuffle (half_warp), all of
// its block at a barrier (block). A memory is a Room; what it touches there is checked against its
// Shadow (shadow.h). An epoch is the time between two barriers of a block.
#include "jit/simt/run.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "jit/kernel_ir/kernel.h"
#include "jit/simt/shadow.h"

namespace lathe::jit::simt {
namespace {

constexpr uint64_t kNothing = 0xa5a5a5a5a5a5a5a5u;  // what nobody wrote

struct Op {
  enum class Kind : uint8_t { step, enter, again, branch, jump, next, end };
  Kind kind;
  const Step* step = nullptr;
  size_t target = 0;       // again, branch, jump, next: where to go (if it is not so)
  int last = -1, by = -1;  // of a loop: registers of its own
};

/// A phase as a list.
class Code {
 public:
  Code(const Steps& steps, size_t registers) : registers_(registers) {
    add(steps);
    ops_.push_back({Op::Kind::end});
  }
  const Op& operator[](size_t at) const { return ops_[at]; }
  size_t size() const { return ops_.size(); }
  size_t registers() const { return registers_; }

 private:
  void add(const Steps& steps) {
    for (const Step& s : steps) {
      if (const auto* loop = std::get_if<Loop>(&s.node))
        add_loop(s, *loop);
      else if (const auto* when = std::get_if<When>(&s.node))
        add_when(s, *when);
      else
        ops_.push_back({Op::Kind::step, &s});
    }
  }
  void add_loop(const Step& s, const Loop& loop) {
    const int last = static_cast<int>(registers_), by = last + 1;
    registers_ += 2;
    ops_.push_back({Op::Kind::enter, &s, 0, last, by});
    const size_t again = ops_.size();
    ops_.push_back({Op::Kind::again, &s, 0, last, by});
    add(loop.body);
    ops_.push_back({Op::Kind::next, &s, again, last, by});
    ops_[again].target = ops_.size();
  }
  void add_when(const Step& s, const When& when) {
    const size_t branch = ops_.size();
    ops_.push_back({Op::Kind::branch, &s});
    add(when.then);
    const size_t jump = ops_.size();
    ops_.push_back({Op::Kind::jump, &s});
    ops_[branch].target = ops_.size();
    add(when.otherwise);
    ops_[jump].target = ops_.size();
  }

  std::vector<Op> ops_;
  size_t registers_;
};

struct Thread {
  int number = 0;
  size_t at = 0;
  uint64_t* regs = nullptr;
};

/// A memory while it runs.
struct Room {
  std::byte* begin = nullptr;
  int64_t elements = 0;
  size_t item = 1;  // bytes
  Shadow* shadow = nullptr;
  bool told = false;  // who touches it must have written it
};

class Machine {
 public:
  Machine(const Program& p, const Launch& l) : p_(p), l_(l), rng_(l.order) {
    for (Int e : p.numbers) numbers_.push_back(l.value(e));
    if (l.arguments.size() != globals() || l.uniforms.size() != p.uniforms.size())
      fail<ValueError>(
          "a launch needs each of its arguments",
          absl::StrCat(l.arguments.size(), " arguments, ", l.uniforms.size(), " numbers"),
          absl::StrCat(globals(), " and ", p.uniforms.size()), "pass them all");
  }

  void run() {
    for (size_t k = 0; k < p_.phases.size(); ++k) {
      phase_ = &p_.phases[k];
      const int64_t work = number(phase_->work, nullptr);
      grid_ = l_.most_blocks > 0 ? std::min(work, l_.most_blocks) : work;
      if (k == 0) make_rooms();
      for (Shadow& s : shadows_) s.settle();
      const Code code(phase_->body, p_.registers.size());
      this->code_ = &code;
      given_.assign(code.size(), {});
      for (int64_t b : order(grid_)) block(b);
    }
  }

 private:
  // ── errors ──

  template <class E>
  [[noreturn]] void fail(std::string problem, std::string got, std::string expected,
                         std::string next) const {
    throw E({.op = absl::StrCat("simt of ", p_.name.empty() ? "a kernel" : p_.name),
             .problem = std::move(problem),
             .got = std::move(got),
             .expected = std::move(expected),
             .next = std::move(next)});
  }
  std::string text(size_t at) const {
    const Op& op = (*code_)[at];
    return op.step == nullptr ? "the end" : absl::StrCat("'", to_string(*op.step, p_), "'");
  }
  std::string told(const Toucher& t) const {
    return absl::StrCat("thread ", t.thread, " of block ", t.block, " at ",
                        text(static_cast<size_t>(t.statement)));
  }
  std::string named(int memory) const {
    const std::string& name = p_.memories[static_cast<size_t>(memory)].name;
    return absl::StrCat("b", memory, name.empty() ? "" : " ", name);
  }
  [[noreturn]] void race(int memory, int64_t index, const Toucher& me, const Toucher& other) const {
    const bool blocks = me.block != other.block;
    fail<AliasError>(
        absl::StrCat("a race on element ", index, " of ", named(memory)),
        absl::StrCat(told(other), ", and ", told(me)),
        blocks ? "blocks that do not touch what another one writes" : "a barrier between the two",
        blocks ? "give the element to one block" : "put a barrier there");
  }
  [[noreturn]] void apart(std::string_view where, const Thread& a, const Thread& b) const {
    fail<ValueError>(absl::StrCat("not all threads reach ", where),
                     absl::StrCat("thread ", a.number, " of block ", block_, " is at ", text(a.at),
                                  ", thread ", b.number, " at ", text(b.at)),
                     "the same statement", "move it out of what differs between threads");
  }

  // ── memory ──

  size_t globals() const {
    return static_cast<size_t>(
        std::count_if(p_.memories.begin(), p_.memories.end(),
                      [](const Memory& m) { return m.where == Where::global; }));
  }

  void make_rooms() {
    std::vector<size_t> by_address;
    size_t bytes = 0, next = 0;  // shared; the next argument
    for (const Memory& m : p_.memories) {
      Room r{nullptr, 0, size_of(m.dtype), nullptr, m.where != Where::global};
      if (m.where == Where::global) {
        const absl::Span<std::byte> span = l_.arguments[next++];
        r.begin = span.data();
        r.elements = static_cast<int64_t>(span.size() / r.item);
        by_address.push_back(rooms_.size());
      } else {
        r.elements = number(m.elements, nullptr);
        own_.emplace_back(static_cast<size_t>(r.elements) * r.item, std::byte{0xa5});
        r.begin = own_.back().data();
        if (m.where == Where::shared)
          bytes = (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment +
                  own_.back().size();
      }
      rooms_.push_back(r);
    }
    if (static_cast<int64_t>(bytes) > kMostShared)
      fail<UnsupportedError>("a block has too little shared memory", absl::StrCat(bytes, " bytes"),
                             absl::StrCat("at most ", kMostShared),
                             "keep rows in scratch memory (Shape::rows_in_scratch)");
    shadows_.reserve(rooms_.size());
    for (Room& r : rooms_)
      if (r.told) {
        shadows_.emplace_back(r.begin, static_cast<size_t>(r.elements) * r.item, r.item);
        r.shadow = &shadows_.back();
      }
    std::sort(by_address.begin(), by_address.end(),
              [&](size_t a, size_t b) { return rooms_[a].begin < rooms_[b].begin; });
    share_shadows(by_address);
  }
  /// Arguments that overlap have one shadow.
  void share_shadows(const std::vector<size_t>& by_address) {
    const auto end = [&](size_t r) {
      return rooms_[r].begin + rooms_[r].elements * static_cast<int64_t>(rooms_[r].item);
    };
    for (size_t k = 0; k < by_address.size();) {
      std::byte* const begin = rooms_[by_address[k]].begin;
      std::byte* last = begin;
      size_t grain = 16, next = k;
      for (; next < by_address.size(); ++next) {
        const Room& r = rooms_[by_address[next]];
        if (next > k && r.begin >= last) break;
        last = std::max(last, end(by_address[next]));
        grain = std::gcd(std::gcd(grain, r.item), static_cast<size_t>(r.begin - begin));
      }
      shadows_.emplace_back(begin, static_cast<size_t>(last - begin), grain);
      for (; k < next; ++k) rooms_[by_address[k]].shadow = &shadows_.back();
    }
  }

  std::byte* place(int memory, const Ix& index, const Thread& t, int64_t& at) const {
    const Room& r = rooms_[static_cast<size_t>(memory)];
    at = number(index, &t);
    if (at < 0 || at >= r.elements)
      fail<IndexError>(absl::StrCat("element ", at, " of ", named(memory)), told(me(t)),
                       absl::StrCat("one of its ", r.elements, " elements"),
                       "mend the index or its limits");
    return r.begin + at * static_cast<int64_t>(r.item);
  }
  Toucher me(const Thread& t) const {
    return {static_cast<int32_t>(block_), t.number, epoch_, static_cast<int32_t>(t.at)};
  }

  // ── integers ──

  int64_t number(const Ix& ix, const Thread* t) const {
    switch (ix->op) {
      case IxOp::constant:
        return ix->value;
      case IxOp::number:
        return numbers_[static_cast<size_t>(ix->value)];
      case IxOp::reg:
        return static_cast<int64_t>(t->regs[ix->value]);
      case IxOp::block:
        return block_;
      case IxOp::thread:
        return t->number;
      case IxOp::grid:
        return grid_;
      default:
        return apply(ix->op, number(ix->a, t), ix->op < IxOp::zeros ? number(ix->b, t) : 0);
    }
  }

  // ── a block ──

  std::vector<int64_t> order(int64_t n) {
    std::vector<int64_t> all(static_cast<size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    if (l_.order != 0) std::shuffle(all.begin(), all.end(), rng_);
    return all;
  }

  void block(int64_t number) {
    block_ = number;
    epoch_ = 0;
    for (size_t m = 0; m < rooms_.size(); ++m) {
      if (p_.memories[m].where != Where::shared) continue;
      rooms_[m].shadow->clear();
      std::memset(rooms_[m].begin, 0xa5, static_cast<size_t>(rooms_[m].elements) * rooms_[m].item);
    }
    const auto count = static_cast<size_t>(p_.threads);
    regs_.assign(count * code_->registers(), kNothing);
    threads_.assign(count, {});
    for (size_t t = 0; t < count; ++t)
      threads_[t] = {static_cast<int>(t), 0, regs_.data() + t * code_->registers()};
    while (true) {
      for (int64_t half : order(p_.threads / kHalfWarp)) half_warp(half);
      const Thread& first = threads_[0];
      for (const Thread& t : threads_)
        if (t.at != first.at) apart("a barrier", first, t);
      if ((*code_)[first.at].kind == Op::Kind::end) return;
      for (Thread& t : threads_) ++t.at;
      ++epoch_;
    }
  }

  /// Sixteen threads to the next barrier or the end.
  void half_warp(int64_t number) {
    Thread* const lanes = &threads_[static_cast<size_t>(number * kHalfWarp)];
    while (true) {
      for (int64_t lane : order(kHalfWarp)) go_on(lanes[lane]);
      const Op& op = (*code_)[lanes[0].at];
      const auto shuffles = [&](const Thread& t) {
        const Op& o = (*code_)[t.at];
        return o.kind == Op::Kind::step && std::holds_alternative<Shuffle>(o.step->node);
      };
      if (std::none_of(lanes, lanes + kHalfWarp, shuffles)) return;
      for (int lane = 1; lane < kHalfWarp; ++lane)
        if (lanes[lane].at != lanes[0].at) apart("a shuffle", lanes[0], lanes[lane]);
      shuffle(std::get<Shuffle>(op.step->node), lanes);
    }
  }
  void shuffle(const Shuffle& s, Thread* lanes) {
    uint64_t values[kHalfWarp];
    for (int lane = 0; lane < kHalfWarp; ++lane) {
      const int from = lane + s.distance < kHalfWarp ? lane + s.distance : lane;
      values[lane] = lanes[from].regs[s.from];
    }
    for (int lane = 0; lane < kHalfWarp; ++lane) {
      lanes[lane].regs[s.reg] = values[lane];
      ++lanes[lane].at;
    }
  }

  /// To where it has to wait for others.
  void go_on(Thread& t) {
    while (true) {
      const Op& op = (*code_)[t.at];
      switch (op.kind) {
        case Op::Kind::end:
          return;
        case Op::Kind::jump:
          t.at = op.target;
          break;
        case Op::Kind::step:
          if (std::holds_alternative<Barrier>(op.step->node) ||
              std::holds_alternative<Shuffle>(op.step->node))
            return;
          std::visit([&](const auto& s) { step(s, t); }, op.step->node);
          ++t.at;
          break;
        default:
          control(op, t);
      }
    }
  }

  void control(const Op& op, Thread& t) const {
    if (op.kind == Op::Kind::branch) {
      const When& s = std::get<When>(op.step->node);
      const int64_t a = number(s.a, &t), b = number(s.b, &t);
      t.at = (s.how == Compare::less ? a < b : a == b) ? t.at + 1 : op.target;
      return;
    }
    const Loop& s = std::get<Loop>(op.step->node);
    uint64_t& i = t.regs[s.reg];
    if (op.kind == Op::Kind::enter) {
      const int64_t first = number(s.first, &t);
      t.regs[op.last] = static_cast<uint64_t>(number(s.last, &t));
      t.regs[op.by] = static_cast<uint64_t>(number(s.step, &t));
      i = static_cast<uint64_t>(first);
      ++t.at;
    } else if (op.kind == Op::Kind::again) {
      const bool more = static_cast<int64_t>(i) < static_cast<int64_t>(t.regs[op.last]);
      t.at = more ? t.at + 1 : op.target;
    } else {
      i += t.regs[op.by];
      t.at = op.target;
    }
  }

  // ── statements ──

  void step(const Let& s, Thread& t) const {
    t.regs[s.reg] = static_cast<uint64_t>(number(s.value, &t));
  }
  void step(const Set& s, Thread& t) const { t.regs[s.reg] = s.bits; }
  void step(const Copy& s, Thread& t) const { t.regs[s.reg] = t.regs[s.from]; }
  void step(const Fetch& s, Thread& t) const {
    t.regs[s.reg] = l_.uniforms[static_cast<size_t>(s.uniform)];
  }

  void step(const Load& s, Thread& t) {
    int64_t at = 0;
    const std::byte* from = place(s.memory, s.index, t, at);
    Room& r = rooms_[static_cast<size_t>(s.memory)];
    if (const auto other = r.shadow->read(from, r.item, me(t))) race(s.memory, at, me(t), *other);
    if (r.told && !r.shadow->written(from, r.item))
      fail<ValueError>(absl::StrCat("element ", at, " of ", named(s.memory), " is read"),
                       told(me(t)), "memory that has been written", "write it before");
    const size_t part = r.item / s.regs.size();
    for (int reg : s.regs) {
      t.regs[reg] = 0;
      std::memcpy(&t.regs[reg], from, part);
      from += part;
    }
  }

  void step(const Store& s, Thread& t) {
    int64_t at = 0;
    std::byte* to = place(s.memory, s.index, t, at);
    Room& r = rooms_[static_cast<size_t>(s.memory)];
    if (const auto other = r.shadow->write(to, r.item, me(t))) race(s.memory, at, me(t), *other);
    const size_t part = r.item / s.regs.size();
    for (int reg : s.regs) {
      std::memcpy(to, &t.regs[reg], part);
      to += part;
    }
  }

  /// What every thread computes alike is computed once.
  void step(const Call& s, Thread& t) {
    const ScalarFunction& f = p_.functions[static_cast<size_t>(s.f)];
    Given& given = given_[t.at];
    absl::InlinedVector<uint64_t, 8> inputs;
    for (int reg : s.inputs) inputs.push_back(t.regs[reg]);
    if (reads_position(f) || !given.valid || given.inputs != inputs) {
      uint32_t failed = 0;
      const int64_t position = number(s.position, &t);
      given.results = evaluate(f, {.inputs = inputs,
                                   .linear = position,
                                   .seed = l_.seed,
                                   .call = l_.call,
                                   .failed = &failed});
      given.inputs = std::move(inputs);
      given.valid = true;
      if (failed != 0 && l_.error != nullptr)
        *l_.error = std::min(*l_.error, static_cast<uint64_t>(position) << 16 | failed);
    }
    for (size_t k = 0; k < s.regs.size(); ++k) t.regs[s.regs[k]] = given.results[k];
  }
  void step(const auto&, Thread&) const { LATHE_INTERNAL("no statement of one thread"); }

  struct Given {
    bool valid = false;
    absl::InlinedVector<uint64_t, 8> inputs;
    std::vector<uint64_t> results;
  };

  const Program& p_;
  const Launch& l_;
  std::mt19937_64 rng_;
  std::vector<int64_t> numbers_;
  const Phase* phase_ = nullptr;
  const Code* code_ = nullptr;
  int64_t grid_ = 0, block_ = 0;
  int32_t epoch_ = 0;
  std::vector<Room> rooms_;  // by memory
  std::vector<std::vector<std::byte>> own_;
  std::vector<Shadow> shadows_;
  std::vector<uint64_t> regs_;
  std::vector<Thread> threads_;
  std::vector<Given> given_;  // by operation
};

}  // namespace

void run(const Program& program, const Launch& launch) { Machine(program, launch).run(); }

}  // namespace lathe::jit::simt
