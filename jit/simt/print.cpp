// A thread program as text, for people, tests and errors:
//
//   threads centred: 128 a block
//     n0 = s0, n1 = 40
//     b0: f32 in %x, b1: f32 %y
//     shared b2: f32[1] %mean
//     f0 = (%0:f32) -> f32
//       ...
//     phase 0, work n0
//       loop r0 = block to n0 by grid
//         r2 = b0[r0*n1 + r1]
//         r3 = f0(r2)
//         barrier
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "core/base/error.h"
#include "jit/simt/program.h"

namespace lathe::jit::simt {
namespace {

std::string named(const std::string& name) { return name.empty() ? "" : absl::StrCat(" %", name); }

std::string list(const std::vector<int>& regs) {
  const auto reg = [](std::string* out, int r) { absl::StrAppend(out, "r", r); };
  return absl::StrJoin(regs, ", ", reg);
}

std::string binary(std::string_view sign, const IxNode& n, bool sum) {
  const auto side = [&](const Ix& x) {
    const bool leaf = x->op <= IxOp::grid || x->op >= IxOp::least || sum;
    return leaf ? to_string(x) : absl::StrCat("(", to_string(x), ")");
  };
  return absl::StrCat(side(n.a), sign, side(n.b));
}

class Line {
 public:
  explicit Line(const Program& program) : p_(program) {}

  std::string operator()(const Let& s) const {
    return absl::StrCat("r", s.reg, " = ", to_string(s.value));
  }
  std::string operator()(const Set& s) const {
    const DType d = p_.registers[static_cast<size_t>(s.reg)];
    return absl::StrCat("r", s.reg, " = 0x", absl::Hex(s.bits), ":", info(d).short_name);
  }
  std::string operator()(const Copy& s) const { return absl::StrCat("r", s.reg, " = r", s.from); }
  std::string operator()(const Fetch& s) const {
    return absl::StrCat("r", s.reg, " = u", s.uniform);
  }
  std::string operator()(const Load& s) const {
    return absl::StrCat(list(s.regs), " = b", s.memory, "[", to_string(s.index), "]");
  }
  std::string operator()(const Store& s) const {
    return absl::StrCat("b", s.memory, "[", to_string(s.index), "] = ", list(s.regs));
  }
  std::string operator()(const Call& s) const {
    const std::string at = s.position.is(0) ? "" : absl::StrCat(" at ", to_string(s.position));
    return absl::StrCat(list(s.regs), " = f", s.f, "(", list(s.inputs), ")", at);
  }
  std::string operator()(const Shuffle& s) const {
    return absl::StrCat("r", s.reg, " = r", s.from, " of the lane ", s.distance, " on");
  }
  std::string operator()(const Barrier&) const { return "barrier"; }
  std::string operator()(const Loop& s) const {
    const std::string by = s.step.is(1) ? "" : absl::StrCat(" by ", to_string(s.step));
    return absl::StrCat("loop r", s.reg, " = ", to_string(s.first), " to ", to_string(s.last), by);
  }
  std::string operator()(const When& s) const {
    return absl::StrCat("when ", to_string(s.a),
                        s.how == Compare::less ? " < " : " == ", to_string(s.b));
  }

 private:
  const Program& p_;
};

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string run() {
    out_ =
        absl::StrCat("threads ", p_.name.empty() ? "" : p_.name + ": ", p_.threads, " a block\n");
    std::vector<std::string> all;
    for (size_t k = 0; k < p_.numbers.size(); ++k)
      all.push_back(absl::StrCat("n", k, " = ", lathe::to_string(p_.numbers[k])));
    for (size_t u = 0; u < p_.uniforms.size(); ++u)
      all.push_back(absl::StrCat("u", u, ": ", info(p_.uniforms[u]).short_name));
    if (!all.empty()) line(1, absl::StrJoin(all, ", "));
    for (size_t b = 0; b < p_.memories.size(); ++b) line(1, memory(b));
    for (size_t f = 0; f < p_.functions.size(); ++f) function(f);
    for (size_t k = 0; k < p_.phases.size(); ++k) {
      line(1, absl::StrCat("phase ", k, ", work ", to_string(p_.phases[k].work)));
      steps(p_.phases[k].body, 2);
    }
    return std::move(out_);
  }

 private:
  void line(int depth, std::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<size_t>(2 * depth), ' '), text, "\n");
  }
  std::string memory(size_t b) const {
    const Memory& m = p_.memories[b];
    const std::string type = absl::StrCat("b", b, ": ", info(m.dtype).short_name);
    if (m.where == Where::global) return absl::StrCat(type, m.input ? " in" : "", named(m.name));
    return absl::StrCat(m.where == Where::shared ? "shared " : "scratch ", type, "[",
                        to_string(m.elements), "]", named(m.name));
  }
  void function(size_t f) {
    const std::vector<std::string> lines =
        absl::StrSplit(p_.functions[f].print(), '\n', absl::SkipEmpty());
    line(1, absl::StrCat("f", f, " = ", lines[0]));
    for (size_t l = 1; l < lines.size(); ++l) line(1, lines[l]);
  }
  void steps(const Steps& all, int depth) {
    for (const Step& s : all) {
      line(depth, to_string(s, p_));
      if (const auto* loop = std::get_if<Loop>(&s.node)) steps(loop->body, depth + 1);
      if (const auto* when = std::get_if<When>(&s.node)) {
        steps(when->then, depth + 1);
        if (!when->otherwise.empty()) line(depth, "otherwise");
        steps(when->otherwise, depth + 1);
      }
    }
  }

  const Program& p_;
  std::string out_;
};

}  // namespace

std::string to_string(const Ix& ix) {
  const auto of = [&](std::string_view name) {
    return absl::StrCat(name, "(", to_string(ix->a), ix->op < IxOp::zeros ? ", " : "",
                        ix->op < IxOp::zeros ? to_string(ix->b) : "", ")");
  };
  switch (ix->op) {
    case IxOp::constant:
      return absl::StrCat(ix->value);
    case IxOp::number:
      return absl::StrCat("n", ix->value);
    case IxOp::reg:
      return absl::StrCat("r", ix->value);
    case IxOp::block:
      return "block";
    case IxOp::thread:
      return "thread";
    case IxOp::grid:
      return "grid";
    case IxOp::add:
      return binary(" + ", *ix, ix->b->op != IxOp::sub);
    case IxOp::sub:
      return binary(" - ", *ix, ix->b->op != IxOp::add && ix->b->op != IxOp::sub);
    case IxOp::mul:
      return binary("*", *ix, false);
    case IxOp::div:
      return binary("/", *ix, false);
    case IxOp::mod:
      return binary(" mod ", *ix, false);
    case IxOp::least:
      return of("least");
    case IxOp::most:
      return of("most");
    case IxOp::shl:
      return binary(" << ", *ix, false);
    case IxOp::shr:
      return binary(" >> ", *ix, false);
    case IxOp::band:
      return binary(" & ", *ix, false);
    case IxOp::zeros:
      return of("low_zeros");
    case IxOp::ones:
      return of("ones_in");
    case IxOp::width:
      return of("width");
  }
  LATHE_INTERNAL("no such operation on integers");
}

std::string to_string(const Step& step, const Program& program) {
  return std::visit(Line(program), step.node);
}

std::string Program::print() const { return Printer(*this).run(); }

}  // namespace lathe::jit::simt
