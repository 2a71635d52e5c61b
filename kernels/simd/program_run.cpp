// Running a SimdProgram on a line: first every value gets its place, then strips go through the
// steps.
#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "kernels/runtime/scratch.h"
#include "kernels/simd/program.h"

namespace lathe {

namespace {

/// `n` uninitialised Ts, on the stack where they are few.
template <class T, size_t Few>
class Room {
 public:
  explicit Room(size_t n) {
    static_assert(std::is_trivially_default_constructible_v<T>);
    if (n > Few) heap_ = std::make_unique_for_overwrite<T[]>(n);
    data_ = n > Few ? heap_.get() : few_;
  }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  void push(const T& value) { data_[used_++] = value; }
  T* begin() { return data_; }
  T* end() { return data_ + used_; }

 private:
  T few_[Few];
  T* data_;
  size_t used_ = 0;
  std::unique_ptr<T[]> heap_;
};

}  // namespace

class StripRun {
 public:
  StripRun(const SimdProgram& program, absl::Span<const LineOperand> in,
           absl::Span<const LineOperand> out, int64_t count, const LineContext& context,
           const SimdLoops& set)
      : p_(program),
        in_(in),
        out_(out),
        count_(count),
        context_(context),
        set_(set),
        places_(program.values_.size()),
        cells_(program.values_.size()),
        calls_(program.steps_.size()),
        decided_(program.steps_.size()),
        gathers_(program.inputs_),
        copies_(program.outputs_.size()) {}

  void run() {
    place_inputs();
    for (uint32_t i = 0; i < p_.steps_.size(); ++i) plan_step(i);
    plan_outputs();
    for (const Decided& d : decided_) follow(d);  // an output may lie in the user's memory by now
    lay_out_temporaries();
    for (size_t start = 0, n = static_cast<size_t>(count_); start < n; start += p_.length_)
      strip(start, std::min(p_.length_, n - start));
  }

 private:
  using From = SimdProgram::From;
  using Value = SimdProgram::Value;
  using Step = SimdProgram::Step;
  static constexpr uint32_t kNone = SimdProgram::kNone;

  /// Where a value is: element i at at + i * advance; a temporary strip has advance 0 and starts
  /// anew each time.
  struct Place {
    std::byte* at;
    ptrdiff_t advance;
    uint32_t slot;  // temporary strip, or kNone
    bool single;    // one element for all
    const std::byte* read(size_t start) const {
      return at + static_cast<ptrdiff_t>(start) * advance;
    }
    std::byte* write(size_t start) const { return at + static_cast<ptrdiff_t>(start) * advance; }
  };
  struct Call {
    uint32_t step;
    StripFn kernel;  // null: one of the special steps
    uint8_t filled;  // operands to spread over a strip first
    bool failed;     // check: the lowest index is known
  };
  struct Decided {
    uint32_t result, chosen;
  };
  struct Strided {
    uint32_t value;
    std::byte* at;
    ptrdiff_t stride;  // bytes
  };
  struct Copy {
    uint32_t value;
    std::byte* at;
    ptrdiff_t stride;
    bool contiguous;
  };

  void place_inputs() {
    next_slot_ = p_.simd_;
    for (uint32_t v = 0; v < p_.values_.size(); ++v) {
      const Value& value = p_.values_[v];
      if (value.from == From::constant) {
        cells_[v] = value.bits;
        places_[v] = single(v);
      } else if (value.from == From::input) {
        place_input(v, value, in_[value.which]);
      }
    }
    for (const SimdProgram::Output& o : p_.outputs_)
      if (p_.values_[o.value].from == From::input) keep_before_writes(o.value);
  }
  /// An input that is copied out after the steps may lie where an output is written before that: it
  /// is read first.
  void keep_before_writes(uint32_t v) {
    Place& place = places_[v];
    ptrdiff_t bytes = p_.values_[v].bytes;
    if (place.single || place.advance == 0) return;
    for (size_t k = 0; k < out_.size(); ++k) {
      ptrdiff_t reach =
          std::abs(out_[k].stride) * 16 * count_;  // no element is larger than 16 bytes
      if (out_[k].data + reach < place.at || place.at + count_ * bytes < out_[k].data - reach)
        continue;
      gathers_.push({v, place.at, bytes});
      place = temporary(next_slot_++);
      return;
    }
  }
  void place_input(uint32_t v, const Value& value, const LineOperand& operand) {
    std::byte* at = operand.data + value.part;
    ptrdiff_t stride = operand.stride * value.scale * value.bytes;
    if (operand.stride == 0) {
      places_[v] = {at, 0, kNone, true};
    } else if (stride == value.bytes) {
      places_[v] = {at, value.bytes, kNone, false};
    } else {
      places_[v] = temporary(next_slot_++);
      gathers_.push({v, at, stride});
    }
  }
  Place single(uint32_t v) { return {reinterpret_cast<std::byte*>(&cells_[v]), 0, kNone, true}; }
  static Place temporary(uint32_t slot) { return {nullptr, 0, slot, false}; }

  /// A step on single elements is done here and now; another gets its kernel.
  void plan_step(uint32_t i) {
    const Step& s = p_.steps_[i];
    unsigned splat = 0;
    for (uint8_t k = 0; k < s.arity; ++k)
      if (places_[s.args[k]].single) splat |= 1u << k;
    bool all = s.arity > 0 && splat + 1 == 1u << s.arity;
    switch (s.prim) {
      case Prim::check:
        if (!all)
          calls_.push({i, nullptr, 0, false});
        else if (*places_[s.args[0]].at == std::byte{0})
          fail(s, 0);
        return;
      case Prim::index:
        if (static_cast<int>(s.payload) != context_.axis) {
          cells_[s.results[0]] = static_cast<uint64_t>(context_.index[s.payload]);
          places_[s.results[0]] = single(s.results[0]);
          return;
        }
        [[fallthrough]];
      case Prim::linear:
        take_strip(s.results[0]);
        return calls_.push({i, nullptr, 0, false});
      case Prim::random:
        for (uint8_t w = 0; w < 4; ++w)
          if (s.words >> w & 1) take_strip(s.results[w]);
        return calls_.push({i, nullptr, 0, false});
      default:
        break;
    }
    if (all) return compute_once(s);
    if (s.arity == SimdProgram::kMostArgs && (splat & 3) == 3 && decide(s)) return;
    take_strip(s.results[0]);
    plan_kernel(i, s, splat);
  }
  void plan_kernel(uint32_t i, const Step& s, unsigned splat) {
    StripFn kernel = SimdProgram::kernel_of(s, splat, set_);
    uint8_t filled = 0;
    if (kernel == nullptr) {
      filled = static_cast<uint8_t>(splat);
      kernel = SimdProgram::kernel_of(s, 0, set_);
      fills_ = true;
    }
    LATHE_CHECK(kernel != nullptr);
    calls_.push({i, kernel, filled, false});
  }
  void compute_once(const Step& s) {
    const void* from[SimdProgram::kMostArgs] = {};
    for (uint8_t k = 0; k < s.arity; ++k) from[k] = places_[s.args[k]].at;
    StripFn kernel = SimdProgram::kernel_of(s, 0, set_);
    LATHE_CHECK(kernel != nullptr);
    places_[s.results[0]] = single(s.results[0]);
    kernel(&cells_[s.results[0]], from, 1);
  }
  /// A comparison of single elements chooses one operand for all: the result lies where that does.
  /// False where it has to be written: an output, or where operands were computed.
  bool decide(const Step& s) {
    for (uint8_t k = 0; k < 2; ++k)  // what is chosen from is kept for these only
      if (p_.values_[s.args[k]].from == From::step) return false;
    for (const SimdProgram::Output& o : p_.outputs_)
      if (o.value == s.results[0]) return false;
    const void* from[] = {places_[s.args[0]].at, places_[s.args[1]].at};
    uint8_t holds = 0;
    set_.prim[0][static_cast<int>(s.prim)][static_cast<int>(s.key)](&holds, from, 1);
    decided_.push({s.results[0], s.args[holds != 0 ? 2 : 3]});
    follow(decided_.end()[-1]);
    return true;
  }
  void follow(const Decided& d) { places_[d.result] = places_[d.chosen]; }
  void take_strip(uint32_t v) { places_[v] = temporary(p_.values_[v].which); }

  /// A step may write a contiguous result straight to the user's memory, unless a later step still
  /// reads an input there; what it cannot is copied after the steps of each strip.
  void plan_outputs() {
    for (const SimdProgram::Output& o : p_.outputs_) {
      const LineOperand& to = out_[o.operand];
      const Value& value = p_.values_[o.value];
      std::byte* at = to.data + o.part;
      ptrdiff_t stride = to.stride * o.scale * value.bytes;
      bool contiguous = stride == value.bytes;
      Place& place = places_[o.value];
      if (contiguous && o.step != kNone && place.slot != kNone && !read_later(o, at, value.bytes)) {
        place = {at, value.bytes, kNone, false};
        continue;
      }
      copies_.push({o.value, at, stride, contiguous});
    }
  }
  bool read_later(const SimdProgram::Output& o, const std::byte* at, ptrdiff_t bytes) const {
    const std::byte* end = at + count_ * bytes;
    for (uint32_t v = 0; v < p_.values_.size(); ++v) {
      const Value& value = p_.values_[v];
      // Single elements are read by every strip.
      const Place& place = places_[v];
      if (value.from != From::input || (!place.single && value.last_use <= o.step)) continue;
      if (!place.single && place.advance == 0) continue;  // gathered before any step
      ptrdiff_t length = place.single ? value.bytes : count_ * value.bytes;
      if (place.at < end && at < place.at + length) return true;
    }
    return false;
  }

  void lay_out_temporaries() {
    size_t widest = 8, slots = next_slot_ + (fills_ ? std::size(fill_) : 0);
    size_t each = p_.length_ * widest;
    if (static_cast<size_t>(count_) < p_.length_)
      each = (static_cast<size_t>(count_) * widest + 63) / 64 * 64;
    std::byte* memory = stack_;
    if (slots * each > sizeof stack_) {
      heap_ = std::make_unique<Scratch>(slots * each);
      memory = heap_->data();
    }
    for (size_t v = 0; v < p_.values_.size(); ++v)
      if (places_[v].slot != kNone) places_[v].at = memory + places_[v].slot * each;
    for (size_t k = 0; k < std::size(fill_); ++k) fill_[k] = memory + (next_slot_ + k) * each;
  }

  void strip(size_t start, size_t count) {
    for (const Strided& g : gathers_)
      set_.gather[size_class(p_.values_[g.value].bytes)](
          places_[g.value].at, g.at + static_cast<ptrdiff_t>(start) * g.stride, g.stride, count);
    for (Call& call : calls_) {
      const Step& s = p_.steps_[call.step];
      if (call.kernel == nullptr) {
        special(s, call, start, count);
        continue;
      }
      const void* from[SimdProgram::kMostArgs] = {};
      for (uint8_t k = 0; k < s.arity; ++k) {
        from[k] = places_[s.args[k]].read(start);
        if (call.filled >> k & 1) {
          set_.fill[size_class(p_.values_[s.args[k]].bytes)](fill_[k], from[k], count);
          from[k] = fill_[k];
        }
      }
      call.kernel(places_[s.results[0]].write(start), from, count);
    }
    for (const Copy& c : copies_) copy_out(c, start, count);
  }
  void special(const Step& s, Call& call, size_t start, size_t count) {
    auto offset = static_cast<int64_t>(start);
    switch (s.prim) {
      case Prim::check: {
        if (call.failed) return;
        size_t at = set_.find_false(
            reinterpret_cast<const uint8_t*>(places_[s.args[0]].read(start)), count);
        if (at == count) return;
        call.failed = true;
        return fail(s, start + at);
      }
      case Prim::linear:
      case Prim::index: {
        int64_t first = s.prim == Prim::linear ? context_.linear : context_.index[s.payload];
        auto* to = reinterpret_cast<int64_t*>(places_[s.results[0]].write(start));
        return set_.ramp(to, first + offset, 1, count);
      }
      default: {
        uint32_t* to[4] = {};
        for (uint8_t w = 0; w < 4; ++w)
          if (s.words >> w & 1)
            to[w] = reinterpret_cast<uint32_t*>(places_[s.results[w]].write(start));
        set_.random(to, context_.seed, context_.call,
                    static_cast<uint64_t>(context_.linear + offset), s.payload, count);
      }
    }
  }
  void fail(const Step& s, size_t at) {
    if (context_.checks != nullptr)
      context_.checks->failed(context_.linear + static_cast<int64_t>(at), s.payload);
  }
  void copy_out(const Copy& c, size_t start, size_t count) {
    const Place& place = places_[c.value];
    size_t bytes = p_.values_[c.value].bytes;
    int size = size_class(bytes);
    std::byte* to = c.at + static_cast<ptrdiff_t>(start) * c.stride;
    if (c.contiguous) {
      if (place.single)
        set_.fill[size](to, place.at, count);
      else
        std::memmove(to, place.read(start), count * bytes);
      return;
    }
    if (!place.single) return set_.scatter[size](to, c.stride, place.read(start), count);
    for (size_t i = 0; i < count; ++i, to += c.stride) std::memcpy(to, place.at, bytes);
  }

  const SimdProgram& p_;
  absl::Span<const LineOperand> in_, out_;
  int64_t count_;
  const LineContext& context_;
  const SimdLoops& set_;

  Room<Place, 32> places_;    // by value
  Room<uint64_t, 32> cells_;  // by value: single elements
  Room<Call, 24> calls_;
  Room<Decided, 8> decided_;
  Room<Strided, 6> gathers_;
  Room<Copy, 4> copies_;
  uint32_t next_slot_ = 0;
  bool fills_ = false;
  std::byte* fill_[SimdProgram::kMostArgs] = {};
  std::unique_ptr<Scratch> heap_;
  alignas(64) std::byte stack_[48 << 10];
};

StripFn SimdProgram::kernel_of(const Step& s, unsigned splat, const SimdLoops& set) {
  if (s.arity == kMostArgs) return set.choose[relation_of(s.prim)][s.key == DType::f64][splat];
  if ((s.prim == Prim::pmin || s.prim == Prim::pmax) && s.payload == 1)
    return set.extreme[s.prim == Prim::pmax][s.key == DType::f64][splat];
  // A conversion of a single element is of all the elements, or of none.
  if (s.prim == Prim::cast)
    return splat == 0 ? set.cast[static_cast<int>(s.from)][static_cast<int>(s.key)] : nullptr;
  return set.prim[splat][static_cast<int>(s.prim)][static_cast<int>(s.key)];
}

SimdProgram::Direct SimdProgram::find_direct(absl::Span<const LineOperand> in,
                                             const LineOperand& to, int64_t count,
                                             const SimdLoops& set, bool streamed) const {
  const Step& s = steps_[0];
  if (to.stride != 1 && count != 1) return {};
  Direct d;
  d.arity_ = s.arity;
  unsigned splat = 0;
  for (uint8_t k = 0; k < s.arity; ++k) {
    const Value& v = values_[s.args[k]];
    const bool constant = v.from == From::constant;
    d.constant_[k] = constant ? &v.bits : nullptr;
    d.which_[k] = v.which;
    d.part_[k] = v.part;
    const int64_t stride = constant ? 0 : in[v.which].stride;
    if (stride == 0)
      splat |= 1u << k;
    else if (count != 1 && (stride != 1 || v.scale != 1))
      return {};
  }
  if (splat + 1 == 1u << s.arity) return {};  // all of them: computed once, then filled
  if (streamed && (s.arity == kMostArgs || s.payload == 1)) return {};
  d.kernel_ = streamed ? set.streamed[splat][static_cast<int>(s.prim)][static_cast<int>(s.key)]
                       : kernel_of(s, splat, set);
  return d;
}

bool SimdProgram::run_streamed(absl::Span<const LineOperand> in, const LineOperand& out,
                               int64_t count, const SimdLoops& set) const {
  if (!direct_ || reinterpret_cast<uintptr_t>(out.data) % 64 != 0) return false;
  const Direct d = find_direct(in, out, count, set, true);
  if (d) d.run(in, out.data, count);
  return static_cast<bool>(d);
}

StripFn SimdProgram::whole(unsigned splat, const SimdLoops& set) const {
  if (!direct_ || inputs_ != steps_[0].arity) return nullptr;
  const Step& s = steps_[0];
  if (s.prim == Prim::cast || splat + 1 == 1u << s.arity) return nullptr;
  for (uint8_t k = 0; k < s.arity; ++k) {
    const Value& v = values_[s.args[k]];
    if (v.from != From::input || v.which != k || v.part != 0 || v.scale != 1) return nullptr;
  }
  return kernel_of(s, splat, set);
}

void SimdProgram::run(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
                      int64_t count, const LineContext& context, const SimdLoops& set) const {
  if (count <= 0) return;
  if (direct_) {
    const LineOperand& to = out[outputs_[0].operand];
    if (const Direct d = find_direct(in, to, count, set, false)) return d.run(in, to.data, count);
  }
  StripRun(*this, in, out, count, context, set).run();
}

}  // namespace lathe
