#include "jit/kernel_ir/unroll_rows.h"

#include <absl/container/flat_hash_map.h>

#include "core/base/error.h"
#include "jit/kernel_ir/same_place.h"

namespace lathe::jit {
namespace {

constexpr size_t kLanes = 16;  // of a defined reduction (kernels/reference/reduce.h)
// Ten exponentials take a tenth of a second to compile.
constexpr ptrdiff_t kMostOperations = 500, kOfTranscendental = 25;
constexpr size_t kMostOperands = 64;

ptrdiff_t cost(const ScalarFunction& f) {
  const auto& nodes = f.graph.nodes();
  return operations(f) +
         kOfTranscendental * std::count_if(nodes.begin(), nodes.end(), [](const ExprNode& n) {
           return info(n.prim).transcendental;
         });
}

class Unrolling {
 public:
  Unrolling(const Kernel& rows, int64_t length)
      : rows_(rows), length_(length), inner_(rows.axes.size() - 1) {}

  std::optional<Kernel> run() {
    if (!is_possible()) return std::nullopt;
    each_statement(rows_.body, [&](const auto& s) {
      for (const Operand& o : s.operands) add(o);
    });
    if (operands_.size() > kMostOperands) return std::nullopt;
    Kernel out = rows_;
    out.buffers.resize(static_cast<size_t>(rows_.inputs + rows_.outputs));
    out.axes.resize(static_cast<size_t>(rows_.parallel));
    out.schedule.clear();
    Compute compute;
    compute.f = build(
        [&](absl::Span<const Expr> in) {
          in_ = in;
          for (const Statement& s : rows_.body)
            std::visit([&](const auto& node) { statement(node); }, s.node);
          Exprs results;
          for (const Result& r : results_) results.push_back(values_.at(r.buffer)[r.at]);
          return results;
        },
        types_);
    compute.operands = std::move(operands_);
    for (const Result& r : results_) compute.stores.push_back(r.to);
    out.body.clear();
    out.body.push_back({std::move(compute)});
    count_facts(out);
    if (std::string wrong = verify(out); !wrong.empty())
      LATHE_INTERNAL("rows written out: " + wrong);
    return out;
  }

 private:
  struct Result {
    int buffer;
    size_t at;  // among the values of a row that are known of the buffer
    Access to;
  };

  bool is_possible() const {
    if (rows_.line || static_cast<size_t>(rows_.parallel) != inner_) return false;
    if (!row_reductions(rows_).empty() || !piecewise(rows_).empty()) return false;
    ptrdiff_t all = 0;
    each_statement(rows_.body, [&](const auto& s) {
      using S = std::decay_t<decltype(s)>;
      if constexpr (std::is_same_v<S, Compute>)
        all += length_ * cost(s.f);
      else
        all += length_ * cost(s.bodies.lift) +
               (length_ + static_cast<ptrdiff_t>(kLanes)) * cost(s.bodies.combine);
    });
    return all <= kMostOperations;
  }

  // ── operands ──

  bool goes_along(const IndexMap& map) const { return !identical(map.along(inner_), Int(0)); }

  /// Where element j of a row is, seen from the rows alone.
  Access element(const Access& a, int64_t j) const {
    Access at{a.buf, {a.map.offset + a.map.along(inner_) * j, {}}};
    for (size_t axis = 0; axis < inner_; ++axis) at.map.strides.push_back(a.map.along(axis));
    return at;
  }

  bool is_input(const Access& a) const { return a.buf < rows_.inputs; }

  void add(const Operand& o) {
    if (const auto* a = std::get_if<Access>(&o)) {
      for (int64_t j = 0; is_input(*a) && j < (goes_along(a->map) ? length_ : 1); ++j)
        if (const Access at = element(*a, j); number_of(at) == operands_.size()) {
          operands_.emplace_back(at);
          types_.push_back(rows_.buffers[static_cast<size_t>(a->buf)].dtype);
        }
    } else if (number_of(std::get<Uniform>(o)) == operands_.size()) {
      operands_.push_back(o);
      types_.push_back(std::get<Uniform>(o).dtype);
    }
  }
  size_t number_of(const Access& at) const {
    return number_where<Access>(
        [&](const Access& a) { return a.buf == at.buf && same_place(a.map, at.map); });
  }
  size_t number_of(const Uniform& u) const {
    return number_where<Uniform>(
        [&](const Uniform& known) { return known.slot == u.slot && known.dtype == u.dtype; });
  }
  /// How many there are if it is none of them.
  template <class T, class F>
  size_t number_where(const F& is_it) const {
    size_t k = 0;
    for (; k < operands_.size(); ++k)
      if (const auto* o = std::get_if<T>(&operands_[k]); o != nullptr && is_it(*o)) break;
    return k;
  }

  /// What the operand is for element j of the row.
  Expr value(const Operand& o, int64_t j) const {
    const auto* a = std::get_if<Access>(&o);
    if (a == nullptr) return in_[number_of(std::get<Uniform>(o))];
    const int64_t which = goes_along(a->map) ? j : 0;
    if (is_input(*a)) return in_[number_of(element(*a, which))];
    return values_.at(a->buf)[static_cast<size_t>(which)];
  }
  Exprs values(const std::vector<Operand>& operands, int64_t j) const {
    Exprs all;
    for (const Operand& o : operands) all.push_back(value(o, j));
    return all;
  }

  // ── statements ──

  void store(const std::vector<Access>& stores, const Exprs& results, int64_t j) {
    for (size_t k = 0; k < stores.size(); ++k) {
      const Access& to = stores[k];
      std::vector<Expr>& known = values_[to.buf];
      const size_t at = goes_along(to.map) ? static_cast<size_t>(j) : 0;
      if (known.size() <= at) known.resize(at + 1);
      known[at] = results[k];
      const bool stays = to.buf < rows_.inputs + rows_.outputs;
      const auto is_it = [&](const Result& r) { return r.buffer == to.buf && r.at == at; };
      if (stays && std::none_of(results_.begin(), results_.end(), is_it))
        results_.push_back({to.buf, at, element(to, static_cast<int64_t>(at))});
    }
  }

  void statement(const Compute& c) { store(c.stores, inline_call(c.f, values(c.operands, 0)), 0); }

  void statement(const For& f) {
    for (const Statement& s : f.body) {
      const auto& c = std::get<Compute>(s.node);
      for (int64_t j = 0; j < length_; ++j)
        store(c.stores, inline_call(c.f, values(c.operands, j)), j);
    }
  }

  void statement(const Reduce& r) {
    const ReduceBodies& b = r.bodies;
    Exprs unit;
    for (size_t s = 0; s < b.state.size(); ++s)
      unit.push_back(constant_bits(b.state[s], b.unit[s]));
    std::vector<Exprs> lanes(kLanes, unit);
    const auto combine = [&](const Exprs& x, const Exprs& y) {
      Exprs both = x;
      both.insert(both.end(), y.begin(), y.end());
      return inline_call(b.combine, both);
    };
    for (int64_t j = 0; j < length_; ++j) {
      Exprs in = values(r.operands, j);
      in.push_back(constant_bits(DType::i64, static_cast<uint64_t>(j)));
      Exprs& lane = lanes[static_cast<size_t>(j) % kLanes];
      lane = combine(lane, inline_call(b.lift, in));
    }
    for (size_t half = kLanes / 2; half > 0; half /= 2)
      for (size_t l = 0; l < half; ++l) lanes[l] = combine(lanes[l], lanes[l + half]);
    Exprs counted = lanes[0];
    counted.push_back(constant_bits(DType::i64, static_cast<uint64_t>(length_)));
    store(r.stores, inline_call(b.finish, counted), 0);
  }

  void statement(const ReduceRows&) { LATHE_INTERNAL("sums over rows are not written out"); }

  const Kernel& rows_;
  const int64_t length_;
  const size_t inner_;
  std::vector<Operand> operands_;
  std::vector<DType> types_;
  absl::Span<const Expr> in_;
  absl::flat_hash_map<int, std::vector<Expr>> values_;  // of a row, by buffer
  std::vector<Result> results_;
};

}  // namespace

std::optional<Kernel> unroll_rows(const Kernel& rows, int64_t length) {
  if (length < 1 || length > kMostUnrolled) return std::nullopt;
  return Unrolling(rows, length).run();
}

}  // namespace lathe::jit
