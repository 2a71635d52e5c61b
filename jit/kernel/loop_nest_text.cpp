// A nest as text, for people and for hashing: what machine code depends on is in the text, names
// apart.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "core/base/stable_hash.h"
#include "jit/kernel/loop_ir.h"

namespace lathe::jit {
namespace {

std::string print_map(const IndexMap& m) {
  std::string out;
  if (!identical(m.offset, Int(0))) out = to_string(m.offset);
  for (size_t k = 0; k < m.strides.size(); ++k) {
    if (identical(m.strides[k], Int(0))) continue;
    absl::StrAppend(&out, out.empty() ? "" : " + ", "i", k);
    if (!identical(m.strides[k], Int(1))) absl::StrAppend(&out, "*(", to_string(m.strides[k]), ")");
  }
  return out.empty() ? "0" : out;
}

class Printer {
 public:
  Printer(const LoopNest& nest, bool names) : nest_(nest), names_(names) {}

  std::string run() {
    out_ = absl::StrCat("nest", names_ && !nest_.name.empty() ? " " + nest_.name : "", "(");
    for (size_t b = 0; b < nest_.buffers.size(); ++b) {
      const Buf& buf = nest_.buffers[b];
      absl::StrAppend(&out_, b > 0 ? ", " : "", "b", b, ": ", info(buf.dtype).short_name);
      if (names_ && !buf.name.empty()) absl::StrAppend(&out_, " %", buf.name);
      if (buf.space == Space::local)
        absl::StrAppend(&out_, " local[", to_string(buf.elements), "]");
    }
    absl::StrAppend(&out_, ") -> ", nest_.outputs, "\n");
    for (size_t a = 0; a < nest_.axes.size(); ++a) {
      constexpr std::string_view kRoles[] = {"parallel", "sequential", "reduce", "scan"};
      absl::StrAppend(&out_, "  i", a, " < ", to_string(nest_.axes[a].extent), " ",
                      kRoles[static_cast<size_t>(nest_.axes[a].role)], "\n");
    }
    block(nest_.body, 1);
    return std::move(out_);
  }

 private:
  std::string operand(const Operand& o) const {
    if (const auto* load = std::get_if<Load>(&o)) return at(*load);
    return absl::StrCat("u", std::get<Uniform>(o).slot);
  }
  static std::string at(const Load& l) {
    return absl::StrCat("b", l.buf, "[", print_map(l.map), "]");
  }
  std::string list(const std::vector<Operand>& operands) const {
    return absl::StrJoin(operands, ", ",
                         [&](std::string* s, const Operand& o) { *s += operand(o); });
  }
  static std::string list(const std::vector<Load>& stores) {
    return absl::StrJoin(stores, ", ", [](std::string* s, const Load& l) { *s += at(l); });
  }

  void block(const Block& b, int depth) {
    for (const Statement& s : b)
      std::visit([&](const auto& node) { statement(node, depth); }, s.node);
  }
  void line(int depth, std::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<size_t>(2 * depth), ' '), text, "\n");
  }
  void function(const ScalarFunction& f, int depth) {
    for (std::string_view l : absl::StrSplit(f.print(), '\n', absl::SkipEmpty())) line(depth, l);
  }
  void statement(const For& f, int depth) {
    line(depth, absl::StrCat("for i", f.axis));
    block(f.body, depth + 1);
  }
  void statement(const Compute& c, int depth) {
    line(depth, absl::StrCat(list(c.stores), " = compute(", list(c.operands), ")"));
    function(c.f, depth + 1);
  }
  void statement(const Accumulate& a, int depth) {
    line(depth, absl::StrCat(list(a.stores), " = accumulate i", absl::StrJoin(a.axes, " i"), "(",
                             list(a.operands), ") from ", absl::StrJoin(a.unit, ", ")));
    function(a.lift, depth + 1);
    function(a.combine, depth + 1);
    function(a.finish, depth + 1);
  }
  void statement(const Scan& s, int depth) {
    line(depth, absl::StrCat("scan i", s.axis));
    statement(s.fold, depth + 1);
  }
  void statement(const PrimitiveCall& c, int depth) {
    line(depth, absl::StrCat("b", absl::StrJoin(c.out, " b"), " = ", c.entry, "(b",
                             absl::StrJoin(c.in, ", b"), ") then (", list(c.operands), ")"));
    function(c.epilogue, depth + 1);
  }

  const LoopNest& nest_;
  bool names_;
  std::string out_;
};

}  // namespace

std::string LoopNest::print() const { return Printer(*this, true).run(); }
uint64_t LoopNest::hash() const { return StableHash().add(Printer(*this, false).run()).value(); }

}  // namespace lathe::jit
