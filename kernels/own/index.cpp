// Rows of kind index. Every index is checked before anything is written; the error names the lowest
// bad logical position. Writes that may meet (put, add) meet only along the axis, so work is split
// across the other axes, and each place sees its writes in row-major order of the index whatever
// the split.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstring>

#include "core/element.h"
#include "core/error.h"
#include "kernels/launch.h"
#include "kernels/own/kinds.h"
#include "kernels/pool.h"
#include "kernels/scratch.h"

namespace lathe::own {
namespace {

/// Rank 0 is treated as one axis of size 1.
Operand with_axis(Operand o) {
  if (o.shape.empty()) {
    o.shape.push_back(1);
    o.strides.push_back(1);
  }
  return o;
}

Operand contiguous_like(const Operand& index, std::byte* data) {
  Operand o{data, DType::i64, index.shape, contiguous_strides(index.shape)};
  return o;
}

struct Complaint {
  std::string op;
  int axis;
  int64_t size;
  Site site;
};

[[noreturn]] void out_of_range(const Complaint& c, const Operand& index, int64_t linear,
                               int64_t value) {
  absl::InlinedVector<int64_t, 6> at(index.shape.size());
  for (size_t i = at.size(); i-- > 0;) {
    at[i] = linear % index.shape[i];
    linear /= index.shape[i];
  }
  throw IndexError({.op = c.op,
                    .problem = absl::StrCat("an index is out of range on axis ", c.axis),
                    .got = absl::StrCat(value, " at position [", absl::StrJoin(at, ", "), "]"),
                    .expected = absl::StrCat("0 to ", c.size - 1),
                    .next = value < 0 ? "negative indexes do not count from the end here" : "",
                    .site = c.site});
}

/// The index as contiguous i64, checked.
void read_index(const Operand& index, const Complaint& complaint, int64_t* to) {
  Operand target = contiguous_like(index, reinterpret_cast<std::byte*>(to));
  if (index.dtype == DType::i64)
    copy_elements(index, target);
  else
    convert(index, target);
  int64_t n = index.numel();
  const auto size = static_cast<uint64_t>(complaint.size);
  for (int64_t begin = 0; begin < n; begin += 4096) {
    int64_t end = std::min(n, begin + 4096);
    bool bad = false;
    for (int64_t i = begin; i < end; ++i) bad |= static_cast<uint64_t>(to[i]) >= size;
    if (!bad) continue;
    for (int64_t i = begin; i < end; ++i)
      if (static_cast<uint64_t>(to[i]) >= size) out_of_range(complaint, index, i, to[i]);
  }
}

/// Walks the rows (all axes but the last) of an index space in order, keeping offsets for N
/// operands.
template <size_t N>
class Rows {
 public:
  Rows(absl::Span<const int64_t> shape, std::array<const Sizes*, N> strides)
      : shape_(shape), strides_(strides), at_(shape.size(), 0) {}
  void seek(int64_t row) {
    offset.fill(0);
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
      at_[axis] = row % shape_[axis];
      row /= shape_[axis];
      for (size_t k = 0; k < N; ++k) offset[k] += at_[axis] * (*strides_[k])[axis];
    }
  }
  void next() {
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) offset[k] += (*strides_[k])[axis];
      if (++at_[axis] < shape_[axis]) return;
      for (size_t k = 0; k < N; ++k) offset[k] -= at_[axis] * (*strides_[k])[axis];
      at_[axis] = 0;
    }
  }
  std::array<int64_t, N> offset{};

 private:
  absl::Span<const int64_t> shape_;
  std::array<const Sizes*, N> strides_;
  Sizes at_;
};

int64_t rows_of(absl::Span<const int64_t> shape) {
  int64_t n = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) n *= shape[i];
  return n;
}

/// Strides with the axis taken out: where the index, not the position, decides.
Sizes without(const Sizes& strides, size_t axis) {
  Sizes s = strides;
  s[axis] = 0;
  return s;
}

template <class T>
void take(const Operand& x, size_t axis, const Operand& index, const int64_t* where,
          const Operand& out) {
  Sizes xs = without(x.strides, axis);
  int64_t n = index.shape.back(), step = x.strides[axis], x_last = xs.back();
  const auto* from = reinterpret_cast<const T*>(x.data);
  auto* to = reinterpret_cast<T*>(out.data);
  parallel_for(rows_of(index.shape), std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1)),
               [&](int64_t begin, int64_t end) {
                 Rows<2> r(index.shape, {&xs, &out.strides});
                 r.seek(begin);
                 for (int64_t row = begin; row < end; ++row, r.next()) {
                   const T* source = from + r.offset[0];
                   T* target = to + r.offset[1];
                   const int64_t* at = where + row * n;
                   for (int64_t j = 0; j < n; ++j) target[j] = source[at[j] * step + j * x_last];
                 }
               });
}

// How a value is added, in the dtype's arithmetic, rounded each time.
template <class T>
struct Plus {
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct PlusHalf {
  uint16_t operator()(uint16_t a, uint16_t b) const {
    return f32_to_f16(f16_to_f32(a) + f16_to_f32(b));
  }
};
struct PlusBrain {
  uint16_t operator()(uint16_t a, uint16_t b) const {
    return f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b));
  }
};
struct Pair {
  float re, im;
};
struct PlusPair {
  Pair operator()(Pair a, Pair b) const { return {a.re + b.re, a.im + b.im}; }
};
template <class T>
struct Last {
  T operator()(T, T b) const { return b; }
};

/// out already holds x; source has the index's rank and at least its extents.
template <class T, class F>
void scatter(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
             const Operand& source, F f) {
  size_t rank = index.shape.size();
  Sizes os = without(out.strides, axis);
  int64_t n = index.shape.back(), step = out.strides[axis], last = os.back(),
          from_step = source.strides.back();
  auto* to = reinterpret_cast<T*>(out.data);
  const auto* from = reinterpret_cast<const T*>(source.data);
  int64_t rows = rows_of(index.shape), lead = 1;
  for (size_t i = 0; i < axis; ++i) lead *= index.shape[i];
  bool by_lead = axis + 1 == rank || lead >= 16;  // else by stretches of the last axis
  constexpr int64_t kStretch = 256;
  int64_t tasks = by_lead ? lead : (n + kStretch - 1) / kStretch;
  if (tasks == 0 || rows == 0) return;
  int64_t rows_each = by_lead ? rows / lead : rows;
  if (by_lead && axis + 1 == rank)
    rows_each = std::max<int64_t>(1, rows / std::max<int64_t>(lead, 1));
  int64_t per_task = std::max<int64_t>(1, rows_each * (by_lead ? n : std::min(n, kStretch)));
  parallel_for(tasks, std::max<int64_t>(1, 8192 / per_task), [&](int64_t begin, int64_t end) {
    int64_t j0 = by_lead ? 0 : begin * kStretch, j1 = by_lead ? n : std::min(n, end * kStretch);
    int64_t r0 = by_lead ? begin * rows_each : 0, r1 = by_lead ? end * rows_each : rows;
    Rows<2> r(index.shape, {&os, &source.strides});
    r.seek(r0);
    for (int64_t row = r0; row < r1; ++row, r.next()) {
      T* target = to + r.offset[0];
      const T* value = from + r.offset[1];
      const int64_t* at = where + row * n;
      for (int64_t j = j0; j < j1; ++j) {
        T& place = target[at[j] * step + j * last];
        place = f(place, value[j * from_step]);
      }
    }
  });
}

template <class F>
void by_size(DType d, F f) {
  switch (size_of(d)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}
template <class F>
void by_sum(DType d, F f) {
  switch (d) {
    case DType::bool_:
      return f(uint8_t{}, [](uint8_t a, uint8_t b) -> uint8_t { return a | b; });
    case DType::u8:
      return f(uint8_t{}, Plus<uint8_t>{});
    case DType::i8:
      return f(int8_t{}, Plus<int8_t>{});
    case DType::i16:
      return f(int16_t{}, Plus<int16_t>{});
    case DType::i32:
      return f(int32_t{}, Plus<int32_t>{});
    case DType::i64:
      return f(int64_t{}, Plus<int64_t>{});
    case DType::f16:
      return f(uint16_t{}, PlusHalf{});
    case DType::bf16:
      return f(uint16_t{}, PlusBrain{});
    case DType::f32:
      return f(float{}, Plus<float>{});
    case DType::f64:
      return f(double{}, Plus<double>{});
    case DType::c64:
      return f(Pair{}, PlusPair{});
    default:
      LATHE_INTERNAL("an index row on a dtype no tensor has");
  }
}

/// Whole slices: x seen as [outer, axis, inner...], moved slice by slice.
struct Slices {
  Operand item;  // one slice: x without the axis
  int64_t x_step, out_step;
};

/// One slice of `o` along `axis`, and the stride from slice to slice.
Operand slice_of(const Operand& o, size_t axis, size_t axes) {
  Operand s = o;
  auto at = static_cast<ptrdiff_t>(axis);
  s.shape.erase(s.shape.begin() + at, s.shape.begin() + at + static_cast<ptrdiff_t>(axes));
  s.strides.erase(s.strides.begin() + at, s.strides.begin() + at + static_cast<ptrdiff_t>(axes));
  return s;
}

/// out and source have the index's axes where x has the axis. `f` combines what is at a place of
/// `to` with what comes from `from`; whole: to = slices named by the index are read (select) or
/// written (add).
template <class T, class F>
void move_slices(const Operand& many, size_t axis, const Operand& one, const int64_t* where,
                 int64_t count, int64_t one_step, size_t index_axes, bool many_is_target, F f) {
  // `many` is indexed by `where`, `one` by position.
  Operand a = slice_of(many, axis, 1), b = slice_of(one, axis, index_axes);
  const Operand* both[] = {&a, &b};
  Walk w = make_walk(both, a.shape, false);
  if (w.shape.empty()) {
    w.shape.push_back(1);
    for (Sizes& s : w.strides) s.push_back(1);
  }
  int64_t n = w.shape.back(), many_last = w.strides[0].back(), one_last = w.strides[1].back();
  int64_t rows = rows_of(w.shape);
  auto* many_data = reinterpret_cast<T*>(many.data);
  auto* one_data = reinterpret_cast<T*>(one.data);
  int64_t step = many.strides[axis];
  auto piece = [&](int64_t i, int64_t row, int64_t j0, int64_t j1) {
    int64_t at[2];
    walk_offsets(w, static_cast<int>(w.shape.size()) - 1, row, absl::MakeSpan(at));
    T* m = many_data + where[i] * step + at[0];
    T* o = one_data + i * one_step + at[1];
    if (!many_is_target && many_last == 1 && one_last == 1) {
      std::memcpy(o + j0, m + j0, static_cast<size_t>(j1 - j0) * sizeof(T));
    } else if (many_is_target) {
      for (int64_t j = j0; j < j1; ++j) m[j * many_last] = f(m[j * many_last], o[j * one_last]);
    } else {
      for (int64_t j = j0; j < j1; ++j) o[j * one_last] = m[j * many_last];
    }
  };
  if (!many_is_target) {
    int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, n));
    parallel_for(count * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) piece(t / rows, t % rows, 0, n);
    });
    return;
  }
  // Written slices may repeat: split within a slice, keep the order of slices.
  constexpr int64_t kStretch = 256;
  int64_t stretches = (n + kStretch - 1) / kStretch;
  int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, count * std::min(n, kStretch)));
  parallel_for(rows * stretches, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end;) {
      int64_t row = t / stretches, from = t % stretches;
      int64_t to = std::min(stretches, from + (end - t));
      for (int64_t i = 0; i < count; ++i)
        piece(i, row, from * kStretch, std::min(n, to * kStretch));
      t += to - from;
    }
  });
}

/// What one call needs once it runs.
struct Job {
  Access access;
  size_t axis;
  Operand x, index, source, out;
  Complaint complaint;
};

Operand scalar_source(const Arg& value, DType dtype, const Operand& index, std::byte* room) {
  if (value.tag == Tag::real)
    store_element(dtype, room, value.real_);
  else
    store_element(dtype, room,
                  value.tag == Tag::flag ? int64_t{value.flag_} : value.integer().value());
  return Operand{room, dtype, index.shape, Sizes(index.shape.size(), 0)};
}

void run_job(const Job& job) {
  size_t bytes = static_cast<size_t>(job.index.numel()) * sizeof(int64_t);
  Scratch where(bytes);
  read_index(job.index, job.complaint, where.as<int64_t>());
  const int64_t* at = where.as<int64_t>();
  DType d = job.out.dtype;
  int64_t count = job.index.numel();
  // From one index to the next, in the operand that has the index's axes: they are contiguous
  // there, or the operand was made so.
  size_t index_axes = job.index.shape.size();
  auto step = [&](const Operand& o) { return o.strides[job.axis + index_axes - 1]; };
  if (job.access != Access::take && job.access != Access::select) copy_elements(job.x, job.out);
  if (count == 0) return;
  switch (job.access) {
    case Access::take:
      return by_size(d,
                     [&](auto t) { take<decltype(t)>(job.x, job.axis, job.index, at, job.out); });
    case Access::put:
      return by_size(d, [&](auto t) {
        using T = decltype(t);
        scatter<T>(job.out, job.axis, job.index, at, job.source, Last<T>{});
      });
    case Access::add:
      return by_sum(d, [&](auto t, auto plus) {
        scatter<decltype(t)>(job.out, job.axis, job.index, at, job.source, plus);
      });
    case Access::select:
      return by_size(d, [&](auto t) {
        using T = decltype(t);
        move_slices<T>(job.x, job.axis, job.out, at, count, step(job.out), index_axes, false,
                       Last<T>{});
      });
    case Access::select_add:
      return by_sum(d, [&](auto t, auto plus) {
        move_slices<decltype(t)>(job.out, job.axis, job.source, at, count, step(job.source),
                                 index_axes, true, plus);
      });
    case Access::through:
      break;
  }
}

/// out = x, then the view of out takes the value.
void run_through(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0), value = call.args.tensor(1);
  Tensor out = empty(call.types[0]);
  absl::InlinedVector<Arg, 8> rest(call.args.begin() + 1, call.args.end());
  rest[0] = call.args[0];
  Geometry seen = call.op.put_of->geometry(out.geometry(), absl::MakeConstSpan(rest));
  Tensor view = make_tensor(out.impl()->storage, out.dtype(), seen);
  Operand xo = operand(x), vo = operand(value), oo = operand(out), target = operand(view);
  submit(out.device(), {x, value}, {out}, [=] {
    copy_elements(xo, oo);
    copy_elements(vo, target);
  });
  outputs.push_back(std::move(out));
}

}  // namespace

void run_index(const Call& call, Outputs& outputs) {
  const IndexSpec& spec = call.op.index;
  if (spec.access == Access::through) return run_through(call, outputs);
  Tensor x = call.args.tensor(0), index = call.args.tensor(spec.index);
  Tensor out = empty(call.types[0]);
  Tensors reads{x, index};
  Job job;
  job.access = spec.access;
  int axis = normalise_axis(call.op.name(), call.args.integer(spec.axis).value(), x.rank());
  job.axis = static_cast<size_t>(axis);
  job.x = with_axis(operand(x));
  job.index = with_axis(operand(index));
  job.out = operand(out);
  bool slices = spec.access == Access::select || spec.access == Access::select_add;
  if (!slices || spec.access == Access::select_add) job.out = with_axis(job.out);
  job.complaint = {call.op.name(), axis, job.x.shape[job.axis], here()};
  auto constant = std::make_shared<std::array<std::byte, 16>>();
  if (spec.source >= 0) {
    const Arg& source = call.args[static_cast<size_t>(spec.source)];
    if (source.tag == Tag::tensor) {
      Tensor s = call.args.tensor(spec.source);
      reads.push_back(s);
      job.source = with_axis(operand(s));
    } else {
      job.source = scalar_source(source, job.out.dtype, job.index, constant->data());
    }
  }
  if (slices) {
    // An index without axes adds none: give it one, and the operand that has its axes too.
    Operand& has = spec.access == Access::select ? job.out : job.source;
    if (index.rank() == 0) {
      has.shape.insert(has.shape.begin() + axis, 1);
      has.strides.insert(has.strides.begin() + axis, 1);
    }
    for (size_t i = job.index.shape.size() - 1; i-- > 0;)
      if (has.strides[job.axis + i] !=
              has.strides[job.axis + i + 1] * has.shape[job.axis + i + 1] &&
          has.numel() > 0) {
        // The slices are not evenly apart: make them so.
        Tensor flat = empty({has.dtype, Shape(has.shape.begin(), has.shape.end()), out.device()});
        Operand to = operand(flat), from = has;
        submit(out.device(), reads, {flat}, [=] { copy_elements(from, to); });
        has = to;
        reads.push_back(flat);
        break;
      }
  }
  submit(out.device(), reads, {out}, [job, constant] { run_job(job); });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
