// A kernel as text, for people, for parse_kernel(), and as what machine code is kept under.
//
//   kernel mean_3(b0: f32 %x) -> (b1: f32 %y)
//     number u0: f32
//     local b2: f32 %mean[1]
//     parallel i0 < s0
//     axis i1 < 768
//     schedule unroll by 4, prefetch b0
//     b2[0] = reduce i1 (b0[i0*(768) + i1]) f32 from 0x0
//       (%0:f32, %1:i64) -> f32
//       ...
//     for i1
//       b1[i0*(768) + i1] = compute (b0[i0*(768) + i1], b2[0], u0)
//         ...
//
// "pieces i0 < 3 of 100" cuts a line of 100. An operand of pieces is
// "pieces f32 {0x0, b0[i0 - 1] within i0 from 1 to s0}". A name of other characters than words have
// is quoted.
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "graph/ir/literal.h"
#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {
namespace {

enum class As : uint8_t { text, form };

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

/// " name", with `mark` before it, as the lexer of the graph's text takes it; nothing without one.
std::string named(std::string_view name, std::string_view mark) {
  if (name.empty()) return "";
  const bool plain =
      std::all_of(name.begin(), name.end(), is_word) && (!mark.empty() || is_letter(name.front()));
  return plain ? absl::StrCat(" ", mark, name) : absl::StrCat(" ", ir::quoted(name));
}

class Printer {
 public:
  Printer(const Kernel& kernel, As as) : kernel_(kernel), as_(as) {
    if (as == As::text) return;
    // Each is a pointer to code, whichever buffer it is of.
    const auto number = [&](const Access& a, bool) { order_.try_emplace(a.buf, order_.size()); };
    each_access(kernel.body, number);
  }

  std::string run() {
    out_ = "kernel";
    as_ == As::text ? arguments() : buffers();
    for (size_t a = 0; a < kernel_.axes.size(); ++a) axis(a);
    schedule();
    block(kernel_.body, 1);
    return std::move(out_);
  }

 private:
  void arguments() {
    absl::StrAppend(&out_, named(kernel_.name, ""), "(");
    const auto inputs = static_cast<size_t>(kernel_.inputs);
    const auto arguments = inputs + static_cast<size_t>(kernel_.outputs);
    for (size_t b = 0; b < arguments; ++b) {
      if (b == inputs) out_ += ") -> (";
      absl::StrAppend(&out_, b == 0 || b == inputs ? "" : ", ", buffer(b));
    }
    out_ += kernel_.outputs == 0 ? ") -> ()\n" : ")\n";
    for (size_t u = 0; u < kernel_.uniforms.size(); ++u)
      line(1, absl::StrCat("number u", u, ": ", info(kernel_.uniforms[u]).short_name));
    for (size_t b = arguments; b < kernel_.buffers.size(); ++b)
      line(1, absl::StrCat("local ", buffer(b), "[", number(kernel_.buffers[b].elements), "]"));
  }
  /// What a form says of them: those that are accessed, as they come.
  void buffers() {
    std::vector<std::string> all(order_.size());
    for (const auto& [b, at] : order_) {
      const Buf& buf = kernel_.buffers[static_cast<size_t>(b)];
      all[at] = info(buf.dtype).short_name;
      if (b < kernel_.inputs) all[at] += " in";
      if (buf.space == Space::local) absl::StrAppend(&all[at], "[", number(buf.elements), "]");
    }
    absl::StrAppend(&out_, "(", absl::StrJoin(all, ", "), ")\n");
  }
  void axis(size_t a) {
    const bool parallel = static_cast<int>(a) < kernel_.parallel;
    const bool pieces = parallel && kernel_.line;
    const bool text = as_ == As::text;
    line(1, absl::StrCat(pieces     ? "pieces"
                         : parallel ? "parallel"
                                    : "axis",
                         " i", a, text ? absl::StrCat(" < ", number(kernel_.axes[a].extent)) : "",
                         pieces && text ? absl::StrCat(" of ", number(*kernel_.line)) : ""));
  }
  void schedule() {
    if (kernel_.schedule.empty()) return;
    const auto add = [&](std::string* out, ScheduleStep s) {
      if (as_ == As::form && about(s.kind) == 'b') s.on = static_cast<int>(order_.at(s.on));
      *out += to_string(s);
    };
    line(1, absl::StrCat("schedule ", absl::StrJoin(kernel_.schedule, ", ", add)));
  }
  std::string number(Int e) const {
    const bool plain = identical(e, Int(0)) || identical(e, Int(1));
    return as_ == As::form && !plain ? "*" : to_string(e);
  }
  std::string buffer(size_t b) const {
    const Buf& buf = kernel_.buffers[b];
    return absl::StrCat("b", b, ": ", info(buf.dtype).short_name,
                        as_ == As::text ? named(buf.name, "%") : "");
  }
  std::string map(const IndexMap& m) const {
    std::string out;
    if (!identical(m.offset, Int(0))) out = number(m.offset);
    for (size_t k = 0; k < m.strides.size(); ++k) {
      if (identical(m.strides[k], Int(0))) continue;
      absl::StrAppend(&out, out.empty() ? "" : " + ", "i", k);
      if (!identical(m.strides[k], Int(1))) absl::StrAppend(&out, "*(", number(m.strides[k]), ")");
    }
    return out.empty() ? "0" : out;
  }
  /// Code reads strides and offsets from its arguments; it is made for how an operand moves along
  /// the last axis, and whether it does so from one row to the next.
  std::string steps(const IndexMap& m) const {
    const size_t axes = kernel_.axes.size(), rows = static_cast<size_t>(kernel_.parallel);
    const bool still = rows > 0 && rows < axes && identical(m.along(rows - 1), Int(0));
    return absl::StrCat(axes == 0 ? "" : number(m.along(axes - 1)), still ? " for all rows" : "");
  }
  std::string at(const Access& a) const {
    if (as_ == As::form) return absl::StrCat("b", order_.at(a.buf), "[", steps(a.map), "]");
    return absl::StrCat("b", a.buf, "[", map(a.map), "]");
  }
  std::string operand(const Operand& o) const {
    if (const auto* access = std::get_if<Access>(&o)) return at(*access);
    if (const auto* several = std::get_if<Pieces>(&o)) return pieces(*several);
    const Uniform& u = std::get<Uniform>(o);
    return as_ == As::form ? std::string(info(u.dtype).short_name) : absl::StrCat("u", u.slot);
  }
  std::string pieces(const Pieces& p) const {
    std::string out = absl::StrCat("pieces ", info(p.dtype).short_name, " {");
    for (const Piece& piece : p.all) {
      absl::StrAppend(&out, &piece == &p.all.front() ? "" : ", ",
                      piece.from ? at(*piece.from) : absl::StrCat("0x", absl::Hex(piece.bits)));
      for (const Range& r : piece.within)
        absl::StrAppend(&out, &r == &piece.within.front() ? " within i" : " and i", r.axis,
                        " from ", number(r.first), " to ", number(r.last));
    }
    return out + "}";
  }
  std::string list(const std::vector<Operand>& operands) const {
    return absl::StrJoin(operands, ", ",
                         [&](std::string* s, const Operand& o) { *s += operand(o); });
  }
  std::string list(const std::vector<Access>& stores) const {
    return absl::StrJoin(stores, ", ", [&](std::string* s, const Access& a) { *s += at(a); });
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
    line(depth, absl::StrCat(list(c.stores), " = compute (", list(c.operands), ")"));
    function(c.f, depth + 1);
  }
  void statement(const Reduce& r, int depth) { reduction(r, "reduce", depth); }
  void statement(const ReduceRows& r, int depth) { reduction(r, "reduce rows", depth); }

  template <class R>
  void reduction(const R& r, std::string_view kind, int depth) {
    std::vector<std::string> states;
    for (size_t s = 0; s < r.bodies.state.size(); ++s)
      states.push_back(absl::StrCat(info(r.bodies.state[s]).short_name, " from ",
                                    absl::StrCat("0x", absl::Hex(r.bodies.unit[s]))));
    line(depth, absl::StrCat(list(r.stores), " = ", kind, " i", r.axis, " (", list(r.operands),
                             ") ", absl::StrJoin(states, ", ")));
    function(r.bodies.lift, depth + 1);
    function(r.bodies.combine, depth + 1);
    function(r.bodies.finish, depth + 1);
  }

  const Kernel& kernel_;
  As as_;
  absl::flat_hash_map<int, size_t> order_;  // of a form: buffers as they are accessed
  std::string out_;
};

}  // namespace

std::string Kernel::print() const { return Printer(*this, As::text).run(); }
std::string Kernel::form() const { return Printer(*this, As::form).run(); }

}  // namespace lathe::jit
