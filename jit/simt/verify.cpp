// What is a thread program. Whether all threads of a block take a branch is decided by which
// registers may differ between threads: a set that grows until nothing is added to it.
#include <absl/strings/str_cat.h>

#include "jit/simt/program.h"

namespace lathe::jit::simt {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program), differs_(program.registers.size()) {}

  std::string run() {
    if (p_.threads < kHalfWarp || p_.threads > kMostThreads || p_.threads % kHalfWarp != 0)
      return absl::StrCat("a block of ", p_.threads, " threads; wanted: a multiple of ", kHalfWarp,
                          ", at most ", kMostThreads);
    for (const Phase& phase : p_.phases)
      each_step(phase.body, [&](const Step& s) {
        step_ = &s;
        std::visit([&](const auto& node) { check(node); }, s.node);
      });
    if (!error_.empty()) return error_;
    do {
      grown_ = false;
      for (const Phase& phase : p_.phases) taint(phase.body, /*apart=*/false);
    } while (grown_);
    for (const Phase& phase : p_.phases) meet(phase.body, /*apart=*/false);
    return error_;
  }

 private:
  void fail(std::string_view why) {
    if (error_.empty()) error_ = absl::StrCat(to_string(*step_, p_), ": ", why);
  }

  // ── what fits ──
  DType type(int reg) {
    if (reg >= 0 && static_cast<size_t>(reg) < p_.registers.size())
      return p_.registers[static_cast<size_t>(reg)];
    fail(absl::StrCat("there is no r", reg));
    return DType::i64;
  }
  void number(const Ix& ix) {
    if (ix.operator->() == nullptr) return;
    if (ix->op == IxOp::reg && type(static_cast<int>(ix->value)) != DType::i64)
      fail(absl::StrCat("r", ix->value, " is no integer"));
    if (ix->op == IxOp::number && static_cast<size_t>(ix->value) >= p_.numbers.size())
      fail(absl::StrCat("there is no n", ix->value));
    number(ix->a);
    number(ix->b);
  }
  void integer(int reg) {
    if (type(reg) != DType::i64) fail(absl::StrCat("r", reg, " is no integer"));
  }
  /// Registers of these types, each by parts?
  bool fit(const std::vector<int>& regs, absl::Span<const DType> types) {
    size_t at = 0;
    for (DType d : types)
      for (size_t part = 0; part < parts_of(d); ++part, ++at)
        if (at >= regs.size() || type(regs[at]) != real_type(d)) return false;
    return at == regs.size();
  }
  void place(int memory, const Ix& index, const std::vector<int>& regs) {
    number(index);
    if (memory < 0 || static_cast<size_t>(memory) >= p_.memories.size())
      return fail(absl::StrCat("there is no b", memory));
    const Memory& m = p_.memories[static_cast<size_t>(memory)];
    if (!fit(regs, {m.dtype})) fail("the registers do not fit an element");
    if (m.where == Where::global || index->op != IxOp::constant) return;
    const bool known = m.elements->op == IxOp::constant;
    if (index->value < 0 || (known && index->value >= m.elements->value))
      fail(absl::StrCat("b", memory, " has ", to_string(m.elements), " elements"));
  }

  void check(const Let& s) {
    integer(s.reg);
    number(s.value);
  }
  void check(const Set& s) { type(s.reg); }
  void check(const Copy& s) {
    if (type(s.reg) != type(s.from)) fail("the registers are of two types");
  }
  void check(const Fetch& s) {
    const auto u = static_cast<size_t>(s.uniform);
    if (u >= p_.uniforms.size() || type(s.reg) != p_.uniforms[u])
      fail(absl::StrCat("there is no u", s.uniform, " of that type"));
  }
  void check(const Load& s) { place(s.memory, s.index, s.regs); }
  void check(const Store& s) {
    place(s.memory, s.index, s.regs);
    if (error_.empty() && p_.memories[static_cast<size_t>(s.memory)].input)
      fail(absl::StrCat("b", s.memory, " is an input, and is written"));
  }
  void check(const Call& s) {
    number(s.position);
    if (s.f < 0 || static_cast<size_t>(s.f) >= p_.functions.size())
      return fail(absl::StrCat("there is no f", s.f));
    const ScalarFunction& f = p_.functions[static_cast<size_t>(s.f)];
    if (!fit(s.inputs, f.inputs)) fail("the inputs do not fit the function");
    if (!fit(s.regs, f.output_types)) fail("the results do not fit the function");
  }
  void check(const Shuffle& s) {
    if (type(s.reg) != type(s.from)) fail("the registers are of two types");
    if (s.distance < 1 || s.distance >= kHalfWarp)
      fail(absl::StrCat("a half-warp has ", kHalfWarp, " lanes"));
  }
  void check(const Barrier&) {}
  void check(const Loop& s) {
    integer(s.reg);
    for (const Ix* ix : {&s.first, &s.last, &s.step}) number(*ix);
    if (s.step->op == IxOp::constant && s.step->value < 1) fail("a step goes up");
  }
  void check(const When& s) {
    number(s.a);
    number(s.b);
  }

  // ── what differs between threads ──
  bool differs(const Ix& ix) const {
    if (ix.operator->() == nullptr) return false;
    if (ix->op == IxOp::thread) return true;
    if (ix->op == IxOp::reg) return differs_[static_cast<size_t>(ix->value)];
    return differs(ix->a) || differs(ix->b);
  }
  bool differs(const Loop& s) const {
    return differs(s.first) || differs(s.last) || differs(s.step);
  }
  bool differs(const When& s) const { return differs(s.a) || differs(s.b); }
  void mark(int reg, bool does) {
    if (!does || differs_[static_cast<size_t>(reg)]) return;
    differs_[static_cast<size_t>(reg)] = grown_ = true;
  }
  void taint(const Steps& steps, bool apart) {
    for (const Step& s : steps) {
      if (const auto* let = std::get_if<Let>(&s.node)) mark(let->reg, apart || differs(let->value));
      if (const auto* set = std::get_if<Set>(&s.node)) mark(set->reg, apart);
      if (const auto* copy = std::get_if<Copy>(&s.node))
        mark(copy->reg, apart || differs_[static_cast<size_t>(copy->from)]);
      if (const auto* fetch = std::get_if<Fetch>(&s.node)) mark(fetch->reg, apart);
      if (const auto* load = std::get_if<Load>(&s.node))
        for (int r : load->regs) mark(r, true);
      if (const auto* call = std::get_if<Call>(&s.node))
        for (int r : call->regs) mark(r, true);
      if (const auto* shuffle = std::get_if<Shuffle>(&s.node)) mark(shuffle->reg, true);
      if (const auto* loop = std::get_if<Loop>(&s.node)) {
        mark(loop->reg, apart || differs(*loop));
        taint(loop->body, apart || differs(*loop));
      }
      if (const auto* when = std::get_if<When>(&s.node)) {
        taint(when->then, apart || differs(*when));
        taint(when->otherwise, apart || differs(*when));
      }
    }
  }
  /// Barriers and shuffles where threads have gone apart.
  void meet(const Steps& steps, bool apart) {
    for (const Step& s : steps) {
      const bool meets =
          std::holds_alternative<Barrier>(s.node) || std::holds_alternative<Shuffle>(s.node);
      step_ = &s;
      if (meets && apart) fail("it stands under what differs between threads");
      if (const auto* loop = std::get_if<Loop>(&s.node)) meet(loop->body, apart || differs(*loop));
      if (const auto* when = std::get_if<When>(&s.node)) {
        meet(when->then, apart || differs(*when));
        meet(when->otherwise, apart || differs(*when));
      }
    }
  }

  const Program& p_;
  const Step* step_ = nullptr;
  std::vector<bool> differs_;  // by register
  bool grown_ = false;
  std::string error_;
};

}  // namespace

std::string verify(const Program& program) { return Verifier(program).run(); }

}  // namespace lathe::jit::simt
