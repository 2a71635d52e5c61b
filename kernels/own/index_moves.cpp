// Writes that may meet (put) meet only along the axis, so work is split across the other axes,
// and each place sees its writes in row-major order of the index whatever the split.
#include "kernels/own/index_moves.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "kernels/own/odometer.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

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

/// Places are read from memory once: a few are checked, then used.
constexpr int64_t kChecked = 4096;
constexpr auto kCheckedBefore = [](int64_t, int64_t) {};

/// Where the index has one element along the axis no two meet: the space is walked in as few axes
/// as the operands allow. f: of an element of `many` at a place the index names and its element of
/// `one`. check: of places [begin, end), before they are used.
template <class T, class F, class Check>
void move_singles(const Operand& many, size_t axis, const Operand& index, const int64_t* where,
                  const Operand& one, F f, Check check) {
  constexpr int64_t kPiece = kChecked;
  Operand lines{many.data, many.dtype, index.shape, without(many.strides, axis)};
  const Operand* both[] = {&lines, &one};
  Walk w = make_walk(both, index.shape, false);
  if (w.shape.empty()) {
    w.shape.push_back(1);
    for (Sizes& s : w.strides) s.push_back(0);
  }
  const int64_t n = w.shape.back(), step = many.strides[axis], pieces = (n + kPiece - 1) / kPiece;
  const int64_t many_last = w.strides[0].back(), one_last = w.strides[1].back();
  auto* many_data = reinterpret_cast<T*>(many.data);
  auto* one_data = reinterpret_cast<T*>(one.data);
  parallel_for(rows_of(w.shape) * pieces,
               std::max<int64_t>(1, 8192 / std::clamp<int64_t>(n, 1, kPiece)),
               [&](int64_t begin, int64_t end) {
                 Odometer<2> r(w.shape, {&w.strides[0], &w.strides[1]});
                 r.seek(begin / pieces);
                 for (int64_t piece = begin % pieces; begin < end; ++begin) {
                   T* m = many_data + r.offset[0];
                   T* o = one_data + r.offset[1];
                   const int64_t first = begin / pieces * n, *at = where + first;
                   const int64_t j0 = piece * kPiece, j1 = std::min(n, j0 + kPiece);
                   check(first + j0, first + j1);
                   for (int64_t j = j0; j < j1; ++j)
                     f(m[at[j] * step + j * many_last], o[j * one_last]);
                   if (++piece < pieces) continue;
                   piece = 0;
                   r.next();
                 }
               });
}

/// Elements [j0, j1) of a row, for each line. Lines whose elements lie side by side go together, a
/// place at a time.
template <class T>
void take_row(const T* from, int64_t step, int64_t last, T* to, const int64_t* at, int64_t j0,
              int64_t j1, const Lines& lines) {
  if (lines.count > 1 && lines.many == 1 && lines.one == 1) {
    for (int64_t j = j0; j < j1; ++j)
      std::copy_n(from + at[j] * step + j * last, lines.count, to + j * lines.count);
    return;
  }
  for (int64_t l = 0; l < lines.count; ++l, from += lines.many, to += lines.one) {
    if (step == 1 && last == 0)  // along the last axis
      for (int64_t j = j0; j < j1; ++j) to[j] = from[at[j]];
    else
      for (int64_t j = j0; j < j1; ++j) to[j] = from[at[j] * step + j * last];
  }
}

/// `out` is contiguous but for what lines leave out.
template <class T>
void take_as(const Operand& x, size_t axis, const Operand& index, const int64_t* where,
             const Operand& out, const Lines& lines,
             absl::FunctionRef<void(int64_t, int64_t)> check) {
  if (index.shape[axis] == 1 && lines.count == 1)
    return move_singles<T>(
        x, axis, index, where, out, [](T& from, T& to) { to = from; }, check);
  const Sizes xs = without(x.strides, axis);
  const int64_t n = index.shape.back(), step = x.strides[axis], last = xs.back();
  const int64_t pieces = (n + kChecked - 1) / kChecked, piece = std::min(n, kChecked);
  const int64_t some = std::max<int64_t>(1, kChecked / std::max<int64_t>(n, 1));
  const auto* from = reinterpret_cast<const T*>(x.data);
  auto* to = reinterpret_cast<T*>(out.data);
  parallel_for(rows_of(index.shape) * pieces,
               std::max<int64_t>(1, 8192 / std::max<int64_t>(piece * lines.count, 1)),
               [&](int64_t begin, int64_t end) {
                 Odometer<2> r(index.shape, {&xs, &out.strides});
                 r.seek(begin / pieces);
                 Pace pace;
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t row = t / pieces, j0 = t % pieces * kChecked;
                   const int64_t j1 = std::min(n, j0 + kChecked);
                   if (pieces > 1)
                     check(row * n + j0, row * n + j1);
                   else if ((t - begin) % some == 0)
                     check(row * n, std::min(end, row + some) * n);
                   take_row(from + r.offset[0], step, last, to + r.offset[1], where + row * n, j0,
                            j1, lines);
                   pace.after((j1 - j0) * lines.count);
                   if (j1 == n) r.next();
                 }
               });
}

// How a value is folded in, in the dtype's arithmetic, rounded each time.
template <class T>
struct Stored {
  using Type = T;
  static T wide(T x) { return x; }
  static T narrow(T x) { return x; }
};
struct Truth {
  using Type = uint8_t;
  static bool wide(uint8_t x) { return x != 0; }
  static uint8_t narrow(bool x) { return x; }
};
struct Half {
  using Type = uint16_t;
  static float wide(uint16_t x) { return f16_to_f32(x); }
  static uint16_t narrow(float x) { return f32_to_f16(x); }
};
struct Brain {
  using Type = uint16_t;
  static float wide(uint16_t x) { return bf16_to_f32(x); }
  static uint16_t narrow(float x) { return f32_to_bf16(x); }
};
template <class T>
struct Pair {
  T re, im;
};

template <class T>
struct Last {
  T operator()(T, T b) const { return b; }
};

template <Fold kFold, class T>
T folded(T a, T b) {
  if constexpr (kFold == Fold::sum || kFold == Fold::prod) {
    constexpr bool kSum = kFold == Fold::sum;
    if constexpr (std::is_same_v<T, bool>)
      return kSum ? a || b : a && b;
    else if constexpr (std::is_integral_v<T>) {
      const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
      return static_cast<T>(kSum ? x + y : x * y);
    } else {
      return kSum ? a + b : a * b;
    }
  } else {
    const bool first = kFold == Fold::max ? b < a : a < b;
    return first || a != a ? a : b;  // NOLINT(misc-redundant-expression): NaN stays
  }
}
template <Fold kFold, class T>
Pair<T> folded(Pair<T> a, Pair<T> b) {
  if constexpr (kFold == Fold::sum) return {a.re + b.re, a.im + b.im};
  if constexpr (kFold == Fold::prod) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  LATHE_INTERNAL("complex numbers have no order");
}

/// Elements [j0, j1) of a row: f for each place and its value, of `count` lines at each.
template <class T, class F>
void put_row(T* to, int64_t step, int64_t last, const T* from, int64_t from_last, const int64_t* at,
             int64_t j0, int64_t j1, const Lines& lines, F f) {
  constexpr int64_t kTogether = 4;  // what meets at a place waits: several lines do not
  const bool beside = lines.many == 1 && lines.one == 1;
  if (lines.count == kTogether || beside) {
    for (int64_t j = j0; j < j1; ++j) {
      T* place = to + at[j] * step + j * last;
      const T* value = from + j * from_last;
      if (!beside)
        for (int64_t l = 0; l < kTogether; ++l, place += lines.many, value += lines.one)
          *place = f(*place, *value);
      else
        for (int64_t l = 0; l < lines.count; ++l) place[l] = f(place[l], value[l]);
    }
    return;
  }
  for (int64_t l = 0; l < lines.count; ++l, to += lines.many, from += lines.one)
    for (int64_t j = j0; j < j1; ++j) {
      T& place = to[at[j] * step + j * last];
      place = f(place, from[j * from_last]);
    }
}

/// The lines of put, some at a time through all places.
template <class T, class F>
void put_lines(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
               const Operand& source, const Lines& lines, F f) {
  const Sizes os = without(out.strides, axis);
  const int64_t n = index.shape.back(), rows = rows_of(index.shape);
  const int64_t together = lines.many == 1 && lines.one == 1 ? 256 : 4;
  auto* to = reinterpret_cast<T*>(out.data);
  const auto* from = reinterpret_cast<const T*>(source.data);
  const int64_t work = rows * n * std::min(together, lines.count);
  parallel_for((lines.count + together - 1) / together,
               std::max<int64_t>(1, 8192 / std::max<int64_t>(work, 1)),
               [&](int64_t begin, int64_t end) {
                 Pace pace;
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t l = t * together;
                   const Lines some{std::min(together, lines.count - l), lines.many, lines.one};
                   Odometer<2> r(index.shape, {&os, &source.strides});
                   r.seek(0);
                   for (int64_t row = 0; row < rows; ++row, r.next())
                     in_stretches(0, n, [&](int64_t j0, int64_t j1) {
                       put_row(to + r.offset[0] + l * lines.many, out.strides[axis], os.back(),
                               from + r.offset[1] + l * lines.one, source.strides.back(),
                               where + row * n, j0, j1, some, f);
                       pace.after((j1 - j0) * some.count);
                     });
                 }
               });
}

/// out already holds x; source has the index's rank and at least its extents.
template <class T, class F>
void scatter(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
             const Operand& source, const Lines& lines, F f) {
  if (lines.count > 1) return put_lines<T>(out, axis, index, where, source, lines, f);
  if (index.shape[axis] == 1) {
    auto put = [f](T& place, T& value) { place = f(place, value); };
    return move_singles<T>(out, axis, index, where, source, put, kCheckedBefore);
  }
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
    Odometer<2> r(index.shape, {&os, &source.strides});
    r.seek(r0);
    Pace pace;
    for (int64_t row = r0; row < r1; ++row, r.next()) {
      T* target = to + r.offset[0];
      const T* value = from + r.offset[1];
      const int64_t* at = where + row * n;
      in_stretches(j0, j1, [&](int64_t j, int64_t until) {
        put_row(target, step, last, value, from_step, at, j, until, Lines{}, f);
      });
      pace.after(j1 - j0);
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
    case 8:
      return f(uint64_t{});
    default:
      return f(Pair<uint64_t>{});
  }
}
/// f(stored type, how two of them fold).
template <Fold kFold, class F>
void folding(DType d, F f) {
  auto with = [&]<class S>(S) {
    using T = typename S::Type;
    f(T{}, [](T a, T b) -> T { return S::narrow(folded<kFold>(S::wide(a), S::wide(b))); });
  };
  switch (d) {
    case DType::bool_:
      return with(Truth{});
    case DType::u8:
      return with(Stored<uint8_t>{});
    case DType::i8:
      return with(Stored<int8_t>{});
    case DType::i16:
      return with(Stored<int16_t>{});
    case DType::i32:
      return with(Stored<int32_t>{});
    case DType::i64:
      return with(Stored<int64_t>{});
    case DType::u16:
      return with(Stored<uint16_t>{});
    case DType::u32:
      return with(Stored<uint32_t>{});
    case DType::u64:
      return with(Stored<uint64_t>{});
    case DType::f16:
      return with(Half{});
    case DType::bf16:
      return with(Brain{});
    case DType::f32:
      return with(Stored<float>{});
    case DType::f64:
      return with(Stored<double>{});
    case DType::c64:
      return with(Stored<Pair<float>>{});
    case DType::c128:
      return with(Stored<Pair<double>>{});
    default:
      LATHE_INTERNAL("an index definition on a dtype no tensor has");
  }
}
template <class F>
void by_fold(DType d, Fold fold, F f) {
  switch (fold) {
    case Fold::last:
      return by_size(d, [&](auto t) { f(t, Last<decltype(t)>{}); });
    case Fold::sum:
      return folding<Fold::sum>(d, f);
    case Fold::prod:
      return folding<Fold::prod>(d, f);
    case Fold::max:
      return folding<Fold::max>(d, f);
    case Fold::min:
      return folding<Fold::min>(d, f);
  }
}

/// The beginning of a slice that is copied next: where it lies no prefetcher can know.
template <class T>
void fetch(const T* from, int64_t n) {
  constexpr int64_t kMost = 2048, kLine = 64;
  const auto* at = reinterpret_cast<const std::byte*>(from);
  const int64_t bytes = std::min<int64_t>(kMost, n * static_cast<int64_t>(sizeof(T)));
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i);
}

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
  if (rows * n == 1) {  // slices of one element: no two loops
    auto each = [&](int64_t begin, int64_t end, auto move) {
      in_stretches(begin, end, [&](int64_t i, int64_t until) {
        for (; i < until; ++i) move(many_data[where[i] * step], one_data[i * one_step]);
      });
    };
    if (many_is_target) return each(0, count, [f](T& m, T& o) { m = f(m, o); });
    parallel_for(count, 8192,
                 [&](int64_t begin, int64_t end) { each(begin, end, [](T& m, T& o) { o = m; }); });
    return;
  }
  const bool copies = !many_is_target && many_last == 1 && one_last == 1;
  auto piece = [&](int64_t i, int64_t row, int64_t j0, int64_t j1) {
    int64_t at[2] = {0, 0};
    if (rows > 1) walk_offsets(w, static_cast<int>(w.shape.size()) - 1, row, absl::MakeSpan(at));
    T* m = many_data + where[i] * step + at[0];
    T* o = one_data + i * one_step + at[1];
    if (copies) {
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
      for (int64_t t = begin; t < end; ++t) {
        if (copies && rows == 1 && t + 1 < end) fetch(many_data + where[t + 1] * step, n);
        in_stretches(0, n, [&](int64_t j0, int64_t j1) { piece(t / rows, t % rows, j0, j1); });
      }
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
      Pace pace;
      for (int64_t i = 0; i < count; ++i) {
        piece(i, row, from * kStretch, std::min(n, to * kStretch));
        pace.after((to - from) * kStretch);
      }
      t += to - from;
    }
  });
}

}  // namespace

void Moves::take(const Operand& x, const Operand& out,
                 absl::FunctionRef<void(int64_t, int64_t)> check) const {
  by_size(out.dtype,
          [&](auto t) { take_as<decltype(t)>(x, axis, index, where, out, lines, check); });
}

void Moves::put(const Operand& source, const Operand& out, Fold fold) const {
  by_fold(out.dtype, fold,
          [&](auto t, auto f) { scatter<decltype(t)>(out, axis, index, where, source, lines, f); });
}

void Moves::select(const Operand& x, const Operand& out) const {
  size_t axes = index.shape.size();
  by_size(out.dtype, [&](auto t) {
    using T = decltype(t);
    move_slices<T>(x, axis, out, where, index.numel(), out.strides[axis + axes - 1], axes, false,
                   Last<T>{});
  });
}

void Moves::select_put(const Operand& source, const Operand& out, Fold fold) const {
  size_t axes = index.shape.size();
  by_fold(out.dtype, fold, [&](auto t, auto f) {
    move_slices<decltype(t)>(out, axis, source, where, index.numel(),
                             source.strides[axis + axes - 1], axes, true, f);
  });
}

}  // namespace lathe::own
