// From a scalar function to steps and places.
#include "kernels/simd/program.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"

namespace lathe {

class StripCompiler {
 public:
  StripCompiler(const ScalarFunction& f, SimdProgram& p) : f_(f), p_(p) {}

  void run() {
    mark_needed();
    value_of_.assign(f_.graph.size(), SimdProgram::kNone);
    for (uint32_t id = 0; id < f_.graph.size(); ++id)
      if (needed_[id]) value_of_[id] = place(id);
    add_outputs();
    find_last_uses();
    assign_loops();
    p_.direct_ = p_.steps_.size() == 1 && p_.outputs_.size() == 1 && p_.outputs_[0].step == 0 &&
                 p_.outputs_[0].scale == 1 && p_.steps_[0].arity > 0 &&
                 p_.steps_[0].prim != Prim::check;
  }

 private:
  using From = SimdProgram::From;
  using Value = SimdProgram::Value;
  using Step = SimdProgram::Step;
  static constexpr uint32_t kNone = SimdProgram::kNone;
  static constexpr size_t kStripBytes = 24
                                        << 10;  // of all temporaries: leaves room for the operands

  void mark_needed() {
    needed_.assign(f_.graph.size(), false);
    for (uint32_t id : f_.outputs) needed_[id] = true;
    for (uint32_t id = static_cast<uint32_t>(f_.graph.size()); id-- > 0;) {
      const ExprNode& n = f_.graph[id];
      if (n.prim == Prim::check) needed_[id] = true;
      if (!needed_[id]) continue;
      for (uint8_t k = 0; k < n.arity; ++k)
        if (k > 0 || !chooses(n)) needed_[n.args[k]] = true;
      if (chooses(n)) need_compared(n.args[0]);
    }
  }

  /// Comparisons, at most kMostCompared joined by and, or and not, that decide a choice between
  /// elements as wide as those they compare: the mask need not lie in memory.
  static constexpr int kMostCompared = 3;
  int compared(uint32_t condition, DType dtype) const {
    const ExprNode& n = f_.graph[condition];
    if (relation_of(n.prim) >= 0) return f_.graph[n.args[0]].dtype == dtype ? 1 : kMostCompared + 1;
    if (n.prim != Prim::bit_and && n.prim != Prim::bit_or && n.prim != Prim::bit_not)
      return kMostCompared + 1;
    int count = 0;
    for (uint8_t k = 0; k < n.arity && count <= kMostCompared; ++k)
      count += compared(n.args[k], dtype);
    return count;
  }
  bool chooses(const ExprNode& n) const {
    return (n.prim == Prim::select || n.prim == Prim::rare) &&
           (n.dtype == DType::f32 || n.dtype == DType::f64) &&
           compared(n.args[0], n.dtype) <= kMostCompared;
  }
  void need_compared(uint32_t condition) {
    const ExprNode& n = f_.graph[condition];
    for (uint8_t k = 0; k < n.arity; ++k) {
      if (relation_of(n.prim) >= 0)
        needed_[n.args[k]] = true;
      else
        need_compared(n.args[k]);
    }
  }
  /// select(isnan(a) | (a beats b), a, b) of one comparison each: which primitive beats without
  /// asking for NaN, or none.
  std::optional<Prim> extreme(const ExprNode& n) const {
    if (!chooses(n) || n.prim != Prim::select) return {};
    const ExprNode& either = f_.graph[n.args[0]];
    if (either.prim != Prim::bit_or) return {};
    for (uint8_t k = 0; k < 2; ++k) {
      const ExprNode &nan = f_.graph[either.args[k]], &beats = f_.graph[either.args[1 - k]];
      const uint32_t a = n.args[1], b = n.args[2];
      if (nan.prim != Prim::ne || nan.args[0] != a || nan.args[1] != a) continue;
      if (beats.prim != Prim::lt) continue;
      if (beats.args[0] == a && beats.args[1] == b) return Prim::pmin;
      if (beats.args[0] == b && beats.args[1] == a) return Prim::pmax;
    }
    return {};
  }
  /// One step a comparison: of an or the second decides where the first does not hold.
  uint32_t choice(uint32_t condition, uint32_t yes, uint32_t no, DType dtype) {
    const ExprNode& n = f_.graph[condition];
    switch (n.prim) {
      case Prim::bit_not:
        return choice(n.args[0], no, yes, dtype);
      case Prim::bit_and:
        return choice(n.args[0], choice(n.args[1], yes, no, dtype), no, dtype);
      case Prim::bit_or:
        return choice(n.args[0], yes, choice(n.args[1], yes, no, dtype), dtype);
      default:
        break;
    }
    Step s{.prim = n.prim, .key = dtype, .arity = 4};
    for (uint8_t k = 0; k < 2; ++k) s.args[k] = value_of_[n.args[k]];
    s.args[2] = yes;
    s.args[3] = no;
    s.results[0] = add_result(dtype);
    p_.steps_.push_back(s);
    return s.results[0];
  }

  uint32_t add(Value v) {
    p_.values_.push_back(v);
    return static_cast<uint32_t>(p_.values_.size() - 1);
  }
  uint32_t add_input(uint32_t which, DType dtype, uint8_t part, uint8_t scale) {
    ++p_.inputs_;
    return add({.from = From::input,
                .bytes = static_cast<uint8_t>(size_of(dtype)),
                .part = part,
                .scale = scale,
                .which = which});
  }
  uint32_t add_result(DType dtype) {
    return add({.from = From::step, .bytes = static_cast<uint8_t>(size_of(dtype))});
  }

  /// Same bits, read as another dtype.
  static bool reinterprets(const ExprNode& n, DType operand) {
    if (n.prim == Prim::frombits || (n.prim == Prim::bits && n.payload == 1)) return true;
    if (n.prim != Prim::cast) return false;
    return n.dtype == operand ||
           (is_integer(n.dtype) && is_integer(operand) && size_of(n.dtype) == size_of(operand));
  }

  uint32_t place(uint32_t id) {
    const ExprNode& n = f_.graph[id];
    switch (n.prim) {
      case Prim::constant:
        return add({.from = From::constant,
                    .bytes = static_cast<uint8_t>(size_of(n.dtype)),
                    .bits = n.payload});
      case Prim::input:
        return is_complex(n.dtype) ? kNone
                                   : add_input(static_cast<uint32_t>(n.payload), n.dtype, 0, 1);
      case Prim::real:
      case Prim::imag: {
        const ExprNode& whole = f_.graph[n.args[0]];
        LATHE_CHECK(whole.prim == Prim::input);
        auto part = static_cast<uint8_t>(n.prim == Prim::real ? 0 : size_of(n.dtype));
        return add_input(static_cast<uint32_t>(whole.payload), n.dtype, part, 2);
      }
      case Prim::random:
        return random_word(n);
      case Prim::complex:
        LATHE_INTERNAL("a complex node in a finished body");
      default:
        break;
    }
    if (const auto prim = extreme(n)) {
      Step s{.prim = *prim, .key = n.dtype, .arity = 2, .payload = 1};
      for (uint8_t k = 0; k < 2; ++k) s.args[k] = value_of_[n.args[k + 1]];
      s.results[0] = add_result(n.dtype);
      p_.steps_.push_back(s);
      return s.results[0];
    }
    if (chooses(n)) {
      const bool rare = n.prim == Prim::rare;  // (mask, fast, slow): a strip computes both sides
      return choice(n.args[0], value_of_[n.args[rare ? 2 : 1]], value_of_[n.args[rare ? 1 : 2]],
                    n.dtype);
    }
    DType operand = n.arity > 0 ? f_.graph[n.args[0]].dtype : n.dtype;
    if (reinterprets(n, operand)) return value_of_[n.args[0]];
    return step(n, operand);
  }

  uint32_t step(const ExprNode& n, DType operand) {
    Step s{.prim = n.prim, .key = n.dtype, .arity = n.arity};
    for (uint8_t k = 0; k < n.arity; ++k) s.args[k] = value_of_[n.args[k]];
    switch (n.prim) {
      case Prim::rare:
        s.prim = Prim::select;
        std::swap(s.args[1], s.args[2]);
        break;
      case Prim::check:
        s.arity = 1;
        s.payload = static_cast<uint32_t>(n.payload);
        p_.steps_.push_back(s);
        return value_of_[n.args[1]];
      case Prim::index:
        s.payload = static_cast<uint32_t>(n.payload);
        break;
      case Prim::cast:
        s.from = operand;
        break;
      default:
        s.key = strip_key(n.prim, n.dtype, operand);
    }
    s.results[0] = add_result(n.dtype);
    p_.steps_.push_back(s);
    return s.results[0];
  }

  /// Four words come from one computation, so the first of a block makes all that are wanted.
  uint32_t random_word(const ExprNode& n) {
    auto block = static_cast<uint32_t>(n.payload / 4), word = static_cast<uint32_t>(n.payload % 4);
    auto at = std::find_if(p_.steps_.begin(), p_.steps_.end(), [&](const Step& s) {
      return s.prim == Prim::random && s.payload == block;
    });
    if (at == p_.steps_.end()) {
      p_.steps_.push_back({.prim = Prim::random, .key = DType::u32, .arity = 0, .payload = block});
      at = p_.steps_.end() - 1;
    }
    if ((at->words >> word & 1) == 0) {
      at->words |= static_cast<uint8_t>(1u << word);
      at->results[word] = add_result(DType::u32);
    }
    return at->results[word];
  }

  void add_outputs() {
    size_t at = 0;
    for (size_t k = 0; k < f_.output_types.size(); ++k) {
      const size_t parts = parts_of(f_.output_types[k]);
      const size_t bytes = size_of(real_type(f_.output_types[k]));
      for (size_t part = 0; part < parts; ++part, ++at) {
        uint32_t v = value_of_[f_.outputs[at]];
        p_.outputs_.push_back({.value = v,
                               .operand = static_cast<uint32_t>(k),
                               .part = static_cast<uint8_t>(part * bytes),
                               .scale = static_cast<uint8_t>(parts),
                               .step = kNone});
      }
    }
  }

  void find_last_uses() {
    auto end = static_cast<uint32_t>(p_.steps_.size());
    for (uint32_t i = 0; i < end; ++i) {
      const Step& s = p_.steps_[i];
      for (uint8_t k = 0; k < s.arity; ++k) p_.values_[s.args[k]].last_use = i;
      for (SimdProgram::Output& o : p_.outputs_)
        for (uint8_t r = 0; r < 4; ++r)
          if (makes(s, r) && s.results[r] == o.value) o.step = i;
    }
    for (const SimdProgram::Output& o : p_.outputs_) p_.values_[o.value].last_use = end;
    for (uint32_t i = end; i-- > 0;) keep_choices(p_.steps_[i]);
  }
  /// What is chosen from stays as long as the result is wanted, where a comparison of single
  /// elements may decide for all: then the result is one of the two.
  void keep_choices(const Step& s) {
    if (s.arity != SimdProgram::kMostArgs) return;
    for (uint8_t k = 0; k < 2; ++k)
      if (p_.values_[s.args[k]].from == From::step) return;
    for (uint8_t k = 2; k < 4; ++k) {
      uint32_t& last = p_.values_[s.args[k]].last_use;
      last = std::max(last, p_.values_[s.results[0]].last_use);
    }
  }

  static bool makes(const Step& s, uint8_t result) {
    if (s.prim == Prim::random) return (s.words >> result & 1) != 0;
    return result == 0 && s.prim != Prim::check;
  }

  /// A result may take the strip of an operand that dies, if their elements have one size.
  void assign_loops() {
    std::vector<uint32_t> free;
    size_t widest = 1;
    for (uint32_t i = 0; i < p_.steps_.size(); ++i) {
      const Step& s = p_.steps_[i];
      size_t bytes = s.prim == Prim::check ? 0 : p_.values_[first_result(s)].bytes;
      release(s, i, bytes, true, free);
      for (uint8_t r = 0; r < 4; ++r) {
        if (!makes(s, r)) continue;
        Value& v = p_.values_[s.results[r]];
        widest = std::max<size_t>(widest, v.bytes);
        if (free.empty()) free.push_back(p_.simd_++);
        v.which = free.back();
        free.pop_back();
        if (v.last_use < i) v.last_use = i;
      }
      release(s, i, bytes, false, free);
      for (uint8_t r = 0; r < 4; ++r)  // nobody wants it (a dead node of a raw graph)
        if (makes(s, r) && p_.values_[s.results[r]].last_use == i)
          free.push_back(p_.values_[s.results[r]].which);
    }
    size_t each = kStripBytes / (std::max<size_t>(1, p_.simd_) * widest);
    p_.length_ = std::clamp<size_t>(each / 64 * 64, 256, 1024);
  }
  static uint32_t first_result(const Step& s) {
    uint8_t r = 0;
    while (!makes(s, r)) ++r;
    return s.results[r];
  }
  void release(const Step& s, uint32_t i, size_t bytes, bool same_size,
               std::vector<uint32_t>& free) {
    for (uint8_t k = 0; k < s.arity; ++k) {
      const Value& v = p_.values_[s.args[k]];
      if (v.from != From::step || v.last_use != i || (v.bytes == bytes) != same_size) continue;
      if (std::find(s.args, s.args + k, s.args[k]) != s.args + k) continue;  // named twice
      free.push_back(v.which);
    }
  }

  const ScalarFunction& f_;
  SimdProgram& p_;
  std::vector<bool> needed_;
  std::vector<uint32_t> value_of_;
};

SimdProgram::SimdProgram(const ScalarFunction& f) { StripCompiler(f, *this).run(); }

std::string SimdProgram::summary() const {
  return absl::StrCat(steps_.size(), " steps, ", simd_, " strips of ", length_);
}

}  // namespace lathe
