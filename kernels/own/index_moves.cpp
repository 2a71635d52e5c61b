// Writes that may meet (put) meet only along the axis, so work is split across the other axes,
// and each place sees its writes in row-major order of the index whatever the split.
//
// What depends on the type is a row (RowFn); the walks over rows are the same for all.
#include "kernels/own/index_moves.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "kernels/own/line_fold.h"
#include "kernels/own/odometer.h"
#include "kernels/runtime/pool.h"
#include "kernels/simd/choose_loops.h"

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

/// Elements [begin, end) of a row. Element j of the operand that is indexed is at many + at[j] *
/// step + j * last, the other's at one + j * one_last; of the lines, so much further each.
struct Row {
  std::byte *many, *one;
  int64_t step, last, one_last;  // in elements, as what lines add
  const int64_t* at;
  int64_t begin, end;
  Lines lines = {};
};
using RowFn = void (*)(const Row&);

/// Of lines: do their elements in the operand that is indexed lie side by side, and in the other
/// too, or are they one?
bool side_by_side(const Lines& lines) {
  return lines.many == 1 && (lines.one == 1 || lines.one == 0);
}

/// What moves a row, for walks over rows.
struct Mover {
  RowFn row;
  int64_t bytes = 0;  // of an element
  // Puts: how elements that lie side by side meet, and its kernels where it is a single step: of as
  // many values, and of one for all.
  const SimdProgram* fold = nullptr;
  std::array<StripFn, 2> meet = {};

  void operator()(const Row& r) const {
    constexpr int64_t kShort = 16;  // a program takes longer to begin
    fold != nullptr&& side_by_side(r.lines) && r.lines.count >= kShort ? together(r) : row(r);
  }

 private:
  /// Lines side by side go together: their values, or one for all, meet the elements of a place.
  void together(const Row& r) const {
    const int64_t count = r.lines.count, single = r.lines.one == 0 ? 1 : 0;
    const StripFn step = meet[static_cast<size_t>(single)];
    for (int64_t j = r.begin; j < r.end; ++j) {
      std::byte* to = r.many + (r.at[j] * r.step + j * r.last) * bytes;
      std::byte* from = r.one + j * r.one_last * bytes;
      if (step != nullptr) {
        const void* both[] = {to, from};
        step(to, both, static_cast<size_t>(count));
      } else {
        const LineOperand in[] = {{to, 1}, {from, 1 - single}}, out[] = {{to, 1}};
        fold->run(in, out, count, LineContext());
      }
    }
  }
};

/// The beginning of a slice that is copied next: where it lies no prefetcher can know.
void fetch(const std::byte* from, int64_t bytes) {
  constexpr int64_t kMost = 2048, kLine = 64;
  for (int64_t i = 0; i < std::min(kMost, bytes); i += kLine) __builtin_prefetch(from + i);
}

/// Along the last axis. Four at a time: a step of the loop costs as much as an element.
template <class T>
void take_along(const T* from, const int64_t* at, T* to, int64_t j, int64_t end) {
  for (; j + 4 <= end; j += 4) {
    const T a = from[at[j]], b = from[at[j + 1]], c = from[at[j + 2]], d = from[at[j + 3]];
    to[j] = a, to[j + 1] = b, to[j + 2] = c, to[j + 3] = d;
  }
  for (; j < end; ++j) to[j] = from[at[j]];
}

/// Where those places end that follow one another from j on.
int64_t run_end(const int64_t* at, int64_t j, int64_t end) {
  for (++j; j < end && at[j] == at[j - 1] + 1; ++j) {
  }
  return j;
}

/// Several lines along the same places: of those that follow one another each line is one copy, of
/// others so few go together that they stay in the first cache from line to line.
template <class T>
void take_lines_along(const Row& r, const T* from, T* to) {
  constexpr int64_t kRun = 16;  // below it a call takes longer than the elements
  constexpr int64_t kSome = 1024;
  for (int64_t j = r.begin, next = j; j < r.end; j = next) {
    int64_t run = j;
    for (; run < std::min(r.end, j + kSome); run = next) {
      next = run_end(r.at, run, r.end);
      if (next - run >= kRun) break;
    }
    const auto bytes = static_cast<size_t>(next - run) * sizeof(T);
    for (int64_t l = 0; l < r.lines.count; ++l) {
      const T* x = from + l * r.lines.many;
      T* y = to + l * r.lines.one;
      take_along(x, r.at, y, j, run);
      if (bytes > 0) std::memcpy(y + run, x + r.at[run], bytes);
    }
  }
}

/// Lines whose elements lie side by side go together, a place at a time; places that follow one
/// another too, where nothing lies between.
template <class T>
void take_row(const Row& r) {
  const auto* from = reinterpret_cast<const T*>(r.many);
  auto* to = reinterpret_cast<T*>(r.one);
  const Lines& lines = r.lines;
  if (lines.count > 1 && lines.many == 1 && lines.one == 1) {
    const auto bytes = static_cast<int64_t>(sizeof(T)) * lines.count;
    const bool dense = r.step == lines.count && r.one_last == lines.count && r.last == 0;
    const std::byte* next = r.many;
    for (int64_t j = r.begin, after = j; j < r.end; j = after) {
      after = dense ? run_end(r.at, j, r.end) : j + 1;
      if (after < r.end) next = r.many + (r.at[after] * r.step + after * r.last) * sizeof(T);
      fetch(next, bytes);
      std::memcpy(to + j * r.one_last, from + r.at[j] * r.step + j * r.last,
                  static_cast<size_t>(bytes * (after - j)));
    }
    return;
  }
  if (r.end - r.begin == 1) {
    from += r.at[r.begin] * r.step + r.begin * r.last;
    to += r.begin * r.one_last;
    for (int64_t l = 0; l < lines.count; ++l) to[l * lines.one] = from[l * lines.many];
    return;
  }
  const bool along = r.step == 1 && r.last == 0 && r.one_last == 1;
  if (along && lines.count > 1) return take_lines_along<T>(r, from, to);
  for (int64_t l = 0; l < lines.count; ++l, from += lines.many, to += lines.one) {
    if (along)
      take_along(from, r.at, to, r.begin, r.end);
    else
      for (int64_t j = r.begin; j < r.end; ++j)
        to[j * r.one_last] = from[r.at[j] * r.step + j * r.last];
  }
}

/// Lines that lie apart go some at a time through all places: what meets at a place waits for what
/// was put there, and lines do not wait for each other.
template <class T, class F>
void put_row(const Row& r) {
  constexpr int64_t kAbreast = 4;
  auto* to = reinterpret_cast<T*>(r.many);
  const auto* from = reinterpret_cast<const T*>(r.one);
  const Lines& lines = r.lines;
  // Where an element takes less time than a loop of one step.
  constexpr bool kQuick = std::is_arithmetic_v<T> && sizeof(T) >= 4;
  if (kQuick && lines.count == 1) {
    for (int64_t j = r.begin; j < r.end; ++j) {
      T* place = to + r.at[j] * r.step + j * r.last;
      *place = F{}(*place, from[j * r.one_last]);
    }
    return;
  }
  const int64_t at_once = side_by_side(lines) ? lines.count : kAbreast;
  for (int64_t first = 0; first < lines.count; first += at_once) {
    const int64_t count = std::min(at_once, lines.count - first);
    for (int64_t j = r.begin; j < r.end; ++j) {
      T* place = to + r.at[j] * r.step + j * r.last + first * lines.many;
      const T* value = from + j * r.one_last + first * lines.one;
      for (int64_t l = 0; l < count; ++l, place += lines.many, value += lines.one)
        *place = F{}(*place, *value);
    }
  }
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
/// Sums and products of whole numbers wrap around: with a sign they have the bits of those without.
template <Fold kFold, class T>
using Whole = Stored<
    std::conditional_t<kFold == Fold::sum || kFold == Fold::prod, std::make_unsigned_t<T>, T>>;
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
      return with(Whole<kFold, int8_t>{});
    case DType::i16:
      return with(Whole<kFold, int16_t>{});
    case DType::i32:
      return with(Whole<kFold, int32_t>{});
    case DType::i64:
      return with(Whole<kFold, int64_t>{});
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

Mover taking(DType d) {
  RowFn found = nullptr;
  by_size(d, [&](auto t) { found = take_row<decltype(t)>; });
  return {found};
}
Mover putting(DType d, Fold fold) {
  RowFn found = nullptr;
  by_fold(d, fold, [&](auto t, auto f) { found = put_row<decltype(t), decltype(f)>; });
  Mover put{found, static_cast<int64_t>(size_of(d)), line_fold(d, fold)};
  if (put.fold != nullptr)
    for (unsigned single : {0u, 1u}) put.meet[single] = put.fold->whole(2 * single, simd_loops());
  return put;
}

int64_t item(const Operand& o) { return static_cast<int64_t>(size_of(o.dtype)); }

/// Where the index has one element along the axis no two meet: the space is walked in as few axes
/// as the operands allow. check: of places [begin, end), before they are used.
void move_singles(const Operand& many, size_t axis, const Operand& index, const int64_t* where,
                  const Operand& one, Mover move, absl::FunctionRef<void(int64_t, int64_t)> check) {
  constexpr int64_t kPiece = kChecked;
  Operand lines{many.data, many.dtype, index.shape, without(many.strides, axis)};
  const Operand* both[] = {&lines, &one};
  Walk w = make_walk(both, index.shape, false);
  if (w.shape.empty()) {
    w.shape.push_back(1);
    for (Sizes& s : w.strides) s.push_back(0);
  }
  const int64_t n = w.shape.back(), pieces = (n + kPiece - 1) / kPiece;
  parallel_for(rows_of(w.shape) * pieces,
               std::max<int64_t>(1, 8192 / std::clamp<int64_t>(n, 1, kPiece)),
               [&](int64_t begin, int64_t end) {
                 Odometer<2> r(w.shape, {&w.strides[0], &w.strides[1]});
                 r.seek(begin / pieces);
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t first = t / pieces * n, j0 = t % pieces * kPiece;
                   const int64_t j1 = std::min(n, j0 + kPiece);
                   check(first + j0, first + j1);
                   move({many.data + r.offset[0] * item(many), one.data + r.offset[1] * item(one),
                         many.strides[axis], w.strides[0].back(), w.strides[1].back(),
                         where + first, j0, j1});
                   if (j1 == n) r.next();
                 }
               });
}

void take_rows(const Operand& x, size_t axis, const Operand& index, const int64_t* where,
               const Operand& out, const Lines& lines, Mover take,
               absl::FunctionRef<void(int64_t, int64_t)> check) {
  const Sizes xs = without(x.strides, axis);
  const int64_t n = index.shape.back();
  const int64_t pieces = (n + kChecked - 1) / kChecked, piece = std::min(n, kChecked);
  const int64_t some = std::max<int64_t>(1, kChecked / std::max<int64_t>(n, 1));
  parallel_for(
      rows_of(index.shape) * pieces,
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
          take({x.data + r.offset[0] * item(x), out.data + r.offset[1] * item(out), x.strides[axis],
                xs.back(), out.strides.back(), where + row * n, j0, j1, lines});
          pace.after((j1 - j0) * lines.count);
          if (j1 == n) r.next();
        }
      });
}

/// The rows [begin, end) of the index, elements [j0, j1) of each.
void put_rows(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
              const Operand& source, Mover put, int64_t begin, int64_t end, int64_t j0, int64_t j1,
              const Lines& lines = {}) {
  const Sizes os = without(out.strides, axis);
  Odometer<2> r(index.shape, {&os, &source.strides});
  r.seek(begin);
  Pace pace;
  for (int64_t row = begin; row < end; ++row, r.next()) {
    in_stretches(j0, j1, [&](int64_t from, int64_t until) {
      put({out.data + r.offset[0] * item(out), source.data + r.offset[1] * item(source),
           out.strides[axis], os.back(), source.strides.back(), where + row * index.shape.back(),
           from, until, lines});
      pace.after((until - from) * lines.count);
    });
  }
}

/// out already holds x; source has the index's rank and at least its extents. Lines go some at a
/// time through all places.
void put_lines(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
               const Operand& source, const Lines& lines, Mover put) {
  const int64_t n = index.shape.back(), rows = rows_of(index.shape);
  const int64_t together = side_by_side(lines) ? 256 : 4;
  const int64_t work = rows * n * std::min(together, lines.count);
  parallel_for((lines.count + together - 1) / together,
               std::max<int64_t>(1, 8192 / std::max<int64_t>(work, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t l = begin * together; l < std::min(end * together, lines.count);
                      l += together) {
                   Operand to = out, from = source;
                   to.data += l * lines.many * item(out);
                   from.data += l * lines.one * item(source);
                   put_rows(to, axis, index, where, from, put, 0, rows, 0, n,
                            {std::min(together, lines.count - l), lines.many, lines.one});
                 }
               });
}

void scatter(const Operand& out, size_t axis, const Operand& index, const int64_t* where,
             const Operand& source, Mover put) {
  const size_t rank = index.shape.size();
  const int64_t n = index.shape.back(), rows = rows_of(index.shape);
  int64_t lead = 1;
  for (size_t i = 0; i < axis; ++i) lead *= index.shape[i];
  const bool by_lead = axis + 1 == rank || lead >= 16;  // else by stretches of the last axis
  constexpr int64_t kStretch = 256;
  const int64_t tasks = by_lead ? lead : (n + kStretch - 1) / kStretch;
  if (tasks == 0 || rows == 0) return;
  int64_t rows_each = by_lead ? rows / lead : rows;
  if (by_lead && axis + 1 == rank)
    rows_each = std::max<int64_t>(1, rows / std::max<int64_t>(lead, 1));
  const int64_t per_task = std::max<int64_t>(1, rows_each * (by_lead ? n : std::min(n, kStretch)));
  parallel_for(tasks, std::max<int64_t>(1, 8192 / per_task), [&](int64_t begin, int64_t end) {
    if (by_lead)
      put_rows(out, axis, index, where, source, put, begin * rows_each, end * rows_each, 0, n);
    else
      put_rows(out, axis, index, where, source, put, 0, rows, begin * kStretch,
               std::min(n, end * kStretch));
  });
}

/// One slice of `o` along `axis`, and the stride from slice to slice.
Operand slice_of(const Operand& o, size_t axis, size_t axes) {
  Operand s = o;
  auto at = static_cast<ptrdiff_t>(axis);
  s.shape.erase(s.shape.begin() + at, s.shape.begin() + at + static_cast<ptrdiff_t>(axes));
  s.strides.erase(s.strides.begin() + at, s.strides.begin() + at + static_cast<ptrdiff_t>(axes));
  return s;
}

/// Slices of `many` that the index names, and those of `one` by position: out and source have the
/// index's axes where x has the axis.
class Slices {
 public:
  Slices(const Operand& many, size_t axis, const Operand& one, const int64_t* where, int64_t count,
         int64_t one_step, size_t index_axes, Mover move)
      : many_(many),
        one_(one),
        where_(where),
        count_(count),
        step_(many.strides[axis]),
        one_step_(one_step),
        move_(move) {
    const Operand a = slice_of(many, axis, 1), b = slice_of(one, axis, index_axes);
    const Operand* both[] = {&a, &b};
    walk_ = make_walk(both, a.shape, false);
    if (walk_.shape.empty()) {
      walk_.shape.push_back(1);
      for (Sizes& s : walk_.strides) s.push_back(1);
    }
    rows_ = rows_of(walk_.shape);
    n_ = walk_.shape.back();
  }

  void take() const {
    const bool lines = apart();
    const int64_t all = lines ? n_ : count_, each = lines ? count_ : n_;
    parallel_for(rows_ * all, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, each)),
                 [&](int64_t begin, int64_t end) {
                   while (begin < end) {
                     const int64_t row = begin / all, first = begin % all;
                     const int64_t some = std::min(all - first, end - begin);
                     lines ? move(0, count_, row, first, first + some)
                           : move(first, first + some, row, 0, n_);
                     begin += some;
                   }
                 });
  }

  /// Written slices may repeat: split within a slice, keep the order of slices.
  void put() const {
    constexpr int64_t kStretch = 256;
    const int64_t stretches = (n_ + kStretch - 1) / kStretch;
    const int64_t work = count_ * std::min(n_, kStretch);
    parallel_for(rows_ * stretches, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end;) {
                     const int64_t row = t / stretches, from = t % stretches;
                     const int64_t to = std::min(stretches, from + (end - t));
                     move(0, count_, row, from * kStretch, std::min(n_, to * kStretch));
                     t += to - from;
                   }
                 });
  }

 private:
  /// Elements of a slice do not lie side by side: those of a line do, along the axis.
  bool apart() const { return walk_.strides[0].back() != 1 || walk_.strides[1].back() != 1; }

  /// Elements [j0, j1) of a row of slices [begin, end).
  void move(int64_t begin, int64_t end, int64_t row, int64_t j0, int64_t j1) const {
    constexpr int64_t kAtOnce = 1 << 16;
    const int64_t many_last = walk_.strides[0].back(), one_last = walk_.strides[1].back();
    int64_t at[2] = {0, 0};
    if (rows_ > 1)
      walk_offsets(walk_, static_cast<int>(walk_.shape.size()) - 1, row, absl::MakeSpan(at));
    Pace pace;
    const auto some = [&](int64_t first, int64_t last, int64_t from, int64_t until) {
      const int64_t m = at[0] + from * many_last, o = at[1] + from * one_last;
      const Lines lines{until - from, many_last, one_last};
      move_({many_.data + m * item(many_), one_.data + o * item(one_), step_, 0, one_step_, where_,
             first, last, lines});
      pace.after((last - first) * (until - from));
    };
    // Elements that lie apart are in lines of their own: all places of some lines, where those of
    // all lines would go through memory again for every few places.
    if (apart()) {
      const int64_t lines = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, end - begin));
      for (int64_t i = begin; i < end; i += kAtOnce)
        for (int64_t j = j0; j < j1; j += lines)
          some(i, std::min(end, i + kAtOnce), j, std::min(j1, j + lines));
      return;
    }
    const int64_t places = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, j1 - j0));
    for (int64_t i = begin; i < end; i += places)
      in_stretches(j0, j1, [&](int64_t from, int64_t until) {
        some(i, std::min(end, i + places), from, until);
      });
  }

  const Operand &many_, &one_;
  const int64_t* where_;
  int64_t count_, step_, one_step_;
  Mover move_;
  Walk walk_;
  int64_t rows_, n_;
};

/// Two operands and the index without the axes along which it has one element, but for the one it
/// counts along: what is left last may be long.
struct Squeezed {
  Operand many, one, index;
  size_t axis = 0;

  Squeezed(const Operand& indexed, const Operand& other, const Operand& by, size_t along)
      : many{indexed.data, indexed.dtype, {}, {}},
        one{other.data, other.dtype, {}, {}},
        index{by.data, by.dtype, {}, {}} {
    for (size_t i = 0; i < by.shape.size(); ++i) {
      if (i == along) axis = index.shape.size();
      if (i != along && by.shape[i] == 1) continue;
      for (auto [to, from] : {std::pair{&many, &indexed}, {&one, &other}, {&index, &by}}) {
        to->shape.push_back(from->shape[i]);
        to->strides.push_back(from->strides[i]);
      }
    }
  }
};

}  // namespace

void Moves::take(const Operand& x, const Operand& out,
                 absl::FunctionRef<void(int64_t, int64_t)> check) const {
  if (index.shape[axis] == 1 && lines.count == 1)
    return move_singles(x, axis, index, where, out, taking(out.dtype), check);
  const Squeezed s(x, out, index, axis);
  take_rows(s.many, s.axis, s.index, where, s.one, lines, taking(out.dtype), check);
}

void Moves::put(const Operand& source, const Operand& out, Fold fold) const {
  const Mover put = putting(out.dtype, fold);
  if (lines.count == 1 && index.shape[axis] == 1)
    return move_singles(out, axis, index, where, source, put, kCheckedBefore);
  const Squeezed s(out, source, index, axis);
  if (lines.count > 1) return put_lines(s.many, s.axis, s.index, where, s.one, lines, put);
  scatter(s.many, s.axis, s.index, where, s.one, put);
}

void Moves::select(const Operand& x, const Operand& out) const {
  const size_t axes = index.shape.size();
  Slices(x, axis, out, where, index.numel(), out.strides[axis + axes - 1], axes, taking(out.dtype))
      .take();
}

void Moves::select_put(const Operand& source, const Operand& out, Fold fold) const {
  const size_t axes = index.shape.size();
  Slices(out, axis, source, where, index.numel(), source.strides[axis + axes - 1], axes,
         putting(out.dtype, fold))
      .put();
}

}  // namespace lathe::own
