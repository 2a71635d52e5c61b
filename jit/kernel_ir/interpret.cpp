#include "jit/kernel_ir/interpret.h"

#include <algorithm>
#include <map>

#include "kernels/reference/reduce.h"

namespace lathe::jit {
namespace {

using reference::State;

class Interpreter {
 public:
  Interpreter(const Kernel& k, absl::Span<std::byte* const> arguments,
              absl::Span<const uint64_t> uniforms, const std::function<int64_t(Int)>& value)
      : k_(k), uniforms_(uniforms), value_(value), at_(k.axes.size()), locals_(k.buffers.size()) {
    begins_.assign(arguments.begin(), arguments.end());
    for (size_t b = begins_.size(); b < k.buffers.size(); ++b) {
      const Buf& buf = k.buffers[b];
      locals_[b].resize(static_cast<size_t>(value(buf.elements)) * size_of(buf.dtype));
      begins_.push_back(locals_[b].data());
    }
  }

  void run() {
    parallel(0);
    for (const ReduceRows* r : row_reductions(k_)) {
      each_position(r->axis, [&] {
        const std::vector<State>& rows = rows_[{r, at_[static_cast<size_t>(r->axis)]}];
        const auto count = static_cast<int64_t>(rows.size());
        const State state = reference::reduce_tree(
            r->bodies, count, [&](int64_t row) { return rows[static_cast<size_t>(row)]; });
        write(r->stores, reference::finish(r->bodies, state, count).data());
      });
    }
  }

 private:
  /// All positions of the parallel axes from this one on.
  void parallel(int axis) {
    if (axis == k_.parallel) return block(k_.body);
    each_position(axis, [&] { parallel(axis + 1); });
  }

  template <class F>
  void each_position(int axis, const F& f) {
    int64_t& i = at_[static_cast<size_t>(axis)];
    const int64_t extent = this->extent(axis);
    for (i = 0; i < extent; ++i) f();
    i = 0;
  }

  int64_t extent(int axis) const {
    const int64_t all = value_(k_.axes[static_cast<size_t>(axis)].extent);
    if (!k_.line || axis < k_.parallel) return all;
    return std::min(all, value_(*k_.line) - at_[0] * all);
  }

  void block(const Block& b) {
    for (const Statement& s : b) std::visit([&](const auto& node) { statement(node); }, s.node);
  }

  /// Of the parallel axes, in row-major order.
  int64_t position() const {
    int64_t all = 0;
    for (int axis = 0; axis < k_.parallel; ++axis)
      all = all * extent(axis) + at_[static_cast<size_t>(axis)];
    return all;
  }

  std::byte* place(const Access& a) {
    int64_t index = value_(a.map.offset);
    for (size_t axis = 0; axis < at_.size(); ++axis) index += value_(a.map.along(axis)) * at_[axis];
    const auto b = static_cast<size_t>(a.buf);
    return begins_[b] + index * static_cast<int64_t>(size_of(k_.buffers[b].dtype));
  }

  State read(const std::vector<Operand>& operands) {
    State values;
    for (const Operand& o : operands) {
      if (const auto* a = std::get_if<Access>(&o))
        reference::read_element(k_.buffers[static_cast<size_t>(a->buf)].dtype, place(*a), values);
      else if (const auto* several = std::get_if<Pieces>(&o))
        read(*several, values);
      else
        values.push_back(uniforms_[static_cast<size_t>(std::get<Uniform>(o).slot)]);
    }
    return values;
  }

  void read(const Pieces& pieces, State& values) {
    const auto holds = [&](const Piece& p) {
      return std::all_of(p.within.begin(), p.within.end(), [&](const Range& r) {
        const int64_t at = at_[static_cast<size_t>(r.axis)];
        return value_(r.first) <= at && at < value_(r.last);
      });
    };
    const Piece& here = *std::find_if(pieces.all.rbegin(), pieces.all.rend(), holds);
    if (here.from)
      reference::read_element(pieces.dtype, place(*here.from), values);
    else
      values.push_back(here.bits);
  }

  void write(const std::vector<Access>& stores, const uint64_t* parts) {
    for (const Access& a : stores)
      parts =
          reference::write_element(k_.buffers[static_cast<size_t>(a.buf)].dtype, place(a), parts);
  }

  void statement(const Compute& c) {
    const State in = read(c.operands);
    write(c.stores, evaluate(c.f, {.inputs = in, .linear = position()}).data());
  }

  void statement(const For& f) {
    each_position(f.axis, [&] { block(f.body); });
  }

  void statement(const Reduce& r) {
    int64_t& i = at_[static_cast<size_t>(r.axis)];
    const int64_t count = extent(r.axis);
    const State state = reference::reduce_tree(r.bodies, count, [&](int64_t element) {
      i = element;
      return read(r.operands);
    });
    i = 0;
    write(r.stores, reference::finish(r.bodies, state, count).data());
  }

  void statement(const ReduceRows& r) {
    each_position(r.axis, [&] {
      rows_[{&r, at_[static_cast<size_t>(r.axis)]}].push_back(read(r.operands));
    });
  }

  const Kernel& k_;
  absl::Span<const uint64_t> uniforms_;
  const std::function<int64_t(Int)>& value_;
  std::vector<int64_t> at_;                     // where each axis is
  std::vector<std::vector<std::byte>> locals_;  // by buffer
  std::vector<std::byte*> begins_;
  /// What a reduction of rows reads of each row, by position of its axis.
  std::map<std::pair<const ReduceRows*, int64_t>, std::vector<State>> rows_;
};

}  // namespace

void interpret(const Kernel& kernel, absl::Span<std::byte* const> arguments,
               absl::Span<const uint64_t> uniforms, const std::function<int64_t(Int)>& value) {
  Interpreter(kernel, arguments, uniforms, value).run();
}

}  // namespace lathe::jit
