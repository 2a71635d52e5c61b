#include <absl/strings/str_cat.h>

#include "core/op/op.h"
#include "jit/kernel_ir/scheduling.h"

namespace lathe::jit {
namespace {

std::vector<DType> joined(std::vector<DType> list, const std::vector<DType>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

class Verifier {
 public:
  explicit Verifier(const Kernel& k)
      : k_(k), entered_(k.axes.size()), written_(k.buffers.size()), late_(k.buffers.size()) {}

  std::string run() {
    const auto arguments = static_cast<size_t>(k_.inputs) + static_cast<size_t>(k_.outputs);
    if (arguments > k_.buffers.size()) return "an argument is missing";
    if (k_.parallel < 0 || static_cast<size_t>(k_.parallel) > k_.axes.size())
      return "there are more parallel axes than axes";
    if (k_.line && (k_.parallel != 1 || k_.axes.size() != 2 || !row_reductions(k_).empty()))
      return "pieces of a line are one parallel axis and one along them, and no sums over rows";
    for (size_t b = 0; b < k_.buffers.size(); ++b) {
      if ((k_.buffers[b].space == Space::argument) != (b < arguments))
        return absl::StrCat("b", b, " is in the wrong place: arguments come first");
      written_[b] = b < static_cast<size_t>(k_.inputs);
      if (b >= arguments && !fits_a_row(k_.buffers[b].elements))
        return absl::StrCat("b", b, " has neither one element nor one for each position of a row");
    }
    for (int a = 0; a < k_.parallel; ++a) entered_[static_cast<size_t>(a)] = true;
    block(k_.body);
    for (size_t b = 0; b < arguments; ++b)
      if (!written_[b]) fail(absl::StrCat("nothing writes b", b));
    if (error_.empty()) schedule();
    return error_;
  }

 private:
  bool fits_a_row(Int elements) const {
    const bool rows = static_cast<size_t>(k_.parallel) < k_.axes.size();
    return identical(elements, Int(1)) || (rows && identical(elements, k_.axes.back().extent));
  }

  void schedule() {
    for (const ScheduleStep& s : k_.schedule) {
      if (&s != find(k_.schedule, s.kind, s.on))
        fail(absl::StrCat(to_string(s), " is said twice"));
      else if (std::string why = illegal(k_, s); !why.empty())
        fail(absl::StrCat(to_string(s), ": ", why));
    }
  }

  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }

  void block(const Block& b) {
    for (const Statement& s : b) std::visit([&](const auto& node) { statement(node); }, s.node);
  }

  /// An axis may be entered once on each way from outside in.
  bool enter(int axis) {
    const bool known = axis >= 0 && static_cast<size_t>(axis) < entered_.size();
    if (!known || entered_[static_cast<size_t>(axis)]) {
      fail(absl::StrCat("i", axis, known ? " is entered twice" : " is no axis"));
      return false;
    }
    entered_[static_cast<size_t>(axis)] = true;
    return true;
  }
  void leave(int axis) { entered_[static_cast<size_t>(axis)] = false; }

  DType place(const Access& a) {
    if (a.buf < 0 || static_cast<size_t>(a.buf) >= k_.buffers.size()) {
      fail(absl::StrCat("there is no b", a.buf));
      return DType::f32;
    }
    for (size_t axis = 0; axis < a.map.strides.size(); ++axis)
      if (!identical(a.map.strides[axis], Int(0)) && (axis >= entered_.size() || !entered_[axis]))
        fail(absl::StrCat("b", a.buf, " is indexed by i", axis, " outside of its loop"));
    if (k_.buffers[static_cast<size_t>(a.buf)].space == Space::local) in_a_row(a);
    return k_.buffers[static_cast<size_t>(a.buf)].dtype;
  }

  /// A local has no position but that along a row, from its first element on.
  void in_a_row(const Access& a) {
    bool plain = identical(a.map.offset, Int(0));
    for (size_t axis = 0; axis < a.map.strides.size(); ++axis) {
      const Int stride = a.map.strides[axis];
      const bool along = axis + 1 == k_.axes.size() && identical(stride, Int(1));
      plain = plain && (along || identical(stride, Int(0)));
    }
    if (!plain) fail(absl::StrCat("b", a.buf, " is local, and not indexed along a row"));
  }

  DType read(const Access& a) {
    const DType dtype = place(a);
    if (error_.empty() && !written_[static_cast<size_t>(a.buf)])
      fail(absl::StrCat("b", a.buf, " is read before it is written"));
    if (error_.empty() && late_[static_cast<size_t>(a.buf)])
      fail(absl::StrCat("b", a.buf, " is read before all rows are done"));
    return dtype;
  }

  /// Code reads them side by side, whichever piece it is.
  void pieces(const Pieces& p) {
    const Compute* c = of_elements(k_);
    if (c == nullptr) return fail("only what is done element by element has pieces");
    if (reads_position(c->f))
      return fail("a function asks for its place, which a box does not say");
    if (is_complex(p.dtype)) return fail("pieces of complex numbers");
    if (p.all.empty() || !p.all.front().within.empty())
      return fail("no piece is there for all positions");
    for (const Piece& piece : p.all) {
      if (piece.from && read(*piece.from) != p.dtype) fail("the pieces differ in dtype");
      if (piece.from && piece.from->buf >= k_.inputs) fail("a piece is of no input");
      if (piece.from && !identical(piece.from->map.along(k_.axes.size() - 1), Int(1)))
        fail("the elements of a piece do not lie side by side");
      std::vector<bool> seen(k_.axes.size());
      for (const Range& r : piece.within) {
        if (r.axis < 0 || static_cast<size_t>(r.axis) >= seen.size())
          return fail(absl::StrCat("i", r.axis, " is no axis"));
        if (seen[static_cast<size_t>(r.axis)])
          fail(absl::StrCat("a piece has two ranges of i", r.axis));
        seen[static_cast<size_t>(r.axis)] = true;
      }
    }
  }

  std::vector<DType> operands(const std::vector<Operand>& all) {
    std::vector<DType> types;
    for (const Operand& o : all) {
      if (const auto* a = std::get_if<Access>(&o)) {
        types.push_back(read(*a));
        continue;
      }
      if (const auto* several = std::get_if<Pieces>(&o)) {
        pieces(*several);
        types.push_back(several->dtype);
        continue;
      }
      const Uniform& u = std::get<Uniform>(o);
      if (u.slot < 0 || static_cast<size_t>(u.slot) >= k_.uniforms.size() ||
          k_.uniforms[static_cast<size_t>(u.slot)] != u.dtype)
        fail(absl::StrCat("there is no u", u.slot, " of that dtype"));
      types.push_back(u.dtype);
    }
    return types;
  }

  std::vector<DType> stores(const std::vector<Access>& all) {
    std::vector<DType> types;
    for (const Access& a : all) {
      types.push_back(place(a));
      if (!error_.empty()) continue;
      if (a.buf < k_.inputs) fail(absl::StrCat("b", a.buf, " is an input, and is written"));
      written_[static_cast<size_t>(a.buf)] = true;
    }
    return types;
  }

  void statement(const For& f) {
    if (!enter(f.axis)) return;
    ++loops_;
    block(f.body);
    --loops_;
    leave(f.axis);
  }

  void statement(const Compute& c) {
    if (operands(c.operands) != c.f.inputs) fail("the operands do not fit the function");
    if (stores(c.stores) != c.f.output_types) fail("the stores do not fit the function");
  }

  void statement(const Reduce& r) {
    if (!enter(r.axis)) return;
    const std::vector<DType> types = operands(r.operands);
    leave(r.axis);
    reduction(r, types);
  }

  void statement(const ReduceRows& r) {
    if (loops_ > 0) fail("a sum over rows stands in a loop");
    if (!enter(r.axis)) return;
    reduction(r, operands(r.operands));
    leave(r.axis);
    for (const Access& a : r.stores) {
      for (int axis = 0; axis < k_.parallel; ++axis)
        if (!identical(a.map.along(static_cast<size_t>(axis)), Int(0)))
          fail(absl::StrCat("b", a.buf, " has one value for all rows, and moves along i", axis));
      if (!identical(a.map.along(static_cast<size_t>(r.axis)), Int(1)))
        fail(absl::StrCat("b", a.buf, " has the results of rows, and not side by side"));
      if (error_.empty()) late_[static_cast<size_t>(a.buf)] = true;
    }
  }

  template <class R>
  void reduction(const R& r, std::vector<DType> types) {
    const ReduceBodies& b = r.bodies;
    types.push_back(DType::i64);
    if (types != b.lift.inputs) fail("the operands do not fit what is reduced");
    if (b.state.empty() || b.unit.size() != b.state.size()) fail("the unit does not fit the state");
    if (b.lift.output_types != b.state || b.combine.output_types != b.state ||
        b.combine.inputs != joined(b.state, b.state) ||
        b.finish.inputs != joined(b.state, {DType::i64}))
      fail("the functions do not fit the state");
    if (stores(r.stores) != b.finish.output_types) fail("the stores do not fit the function");
  }

  const Kernel& k_;
  std::vector<bool> entered_, written_;
  int loops_ = 0;           // that are open
  std::vector<bool> late_;  // written when all rows are done
  std::string error_;
};

}  // namespace

std::string verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace lathe::jit
