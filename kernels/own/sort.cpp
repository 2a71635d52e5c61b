// Sorting along an axis, top k, and binary search, by the order of sort_keys.h; the position breaks
// ties. So results are unique, and any algorithm and any split gives them. A line may be long and
// is one chunk, so every loop along one can be cancelled.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/own/implementations.h"
#include "kernels/own/search.h"
#include "kernels/own/sort_keys.h"
#include "kernels/problem/operand.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

constexpr int64_t kAtOnce = 16;  // elements that are looked at together

template <class Key>
struct Item {
  Key key;
  int64_t index;
  friend bool operator<(const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

/// Room for the items of a line, kept for the next one. It is not cleared, and comes from the
/// allocator: for a long line either would be a wait of its own.
template <class Key>
class Items {
 public:
  Item<Key>* of(int64_t n) {
    if (n > room_) data_.emplace(static_cast<size_t>(n) * sizeof(Item<Key>));
    room_ = std::max(room_, n);
    return data_->template as<Item<Key>>();
  }

 private:
  std::optional<Scratch> data_;
  int64_t room_ = 0;
};

/// One pass by some bits of the key, which keeps the order of equals.
template <class Key>
void by_digit(const Item<Key>* items, Item<Key>* to, int64_t n, int shift, int bits,
              std::vector<int64_t>& count) {
  const size_t most = (size_t{1} << bits) - 1;
  count.assign(most + 1, 0);
  auto digit = [=](const Item<Key>& i) { return static_cast<size_t>(i.key >> shift) & most; };
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) ++count[digit(items[i])];
  });
  int64_t sum = 0;
  for (int64_t& c : count) sum += std::exchange(c, sum);
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) to[count[digit(items[i])]++] = items[i];
  });
}

template <class Key>
Item<Key>* sort_items(Item<Key>* items, Item<Key>* spare, int64_t n);

/// Items in the order of the bits from `low` on become ordered: runs whose keys agree there are
/// sorted by the rest, a short one as it lies.
template <class Key>
void sort_runs(Item<Key>* items, Item<Key>* spare, int64_t n, int low) {
  constexpr int64_t kShort = 24;
  Pace pace;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const auto top = static_cast<Key>(items[begin].key >> low);
    for (++end; end < n && static_cast<Key>(items[end].key >> low) == top; ++end) {
    }
    pace.after(end - begin);
    if (end - begin > kShort) {
      const Item<Key>* sorted = sort_items(items + begin, spare, end - begin);
      if (sorted != items + begin) std::copy_n(sorted, end - begin, items + begin);
      continue;
    }
    for (int64_t i = begin + 1; i < end; ++i) {
      const Item<Key> item = items[i];
      int64_t at = i;
      for (; at > begin && item.key < items[at - 1].key; --at) items[at] = items[at - 1];
      items[at] = item;
    }
  }
}

/// By the highest bits in which keys differ, lowest digit first, as many as set n keys apart if
/// they are even; then runs of those that agree so far. They lie in `items` or in `spare`
/// afterwards: it gives which.
template <class Key>
Item<Key>* sort_items(Item<Key>* items, Item<Key>* spare, int64_t n) {
  if (n < 512) {
    std::sort(items, items + n);
    return items;
  }
  Key differ = 0;
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) differ |= static_cast<Key>(items[i].key ^ items[0].key);
  });
  if (differ == 0) return items;
  const int high = static_cast<int>(std::bit_width(differ));
  const int size = static_cast<int>(std::bit_width(static_cast<uint64_t>(n)));
  // Fewer counts than items, which stay in the first cache.
  const int digit = std::clamp(size - 2, 8, 11);
  const auto passes_of = [=](int bits) { return (bits + digit - 1) / digit; };
  int wanted = std::min(high, size + 5);
  if (passes_of(high) <= passes_of(wanted) + 1) wanted = high;  // runs cost about a pass
  const int passes = passes_of(wanted), bits = (wanted + passes - 1) / passes;
  const int low = std::max(0, high - passes * bits);
  std::vector<int64_t> count;
  for (int pass = 0; pass < passes; ++pass, std::swap(items, spare))
    by_digit(items, spare, n, low + pass * bits, bits, count);
  if (low > 0) sort_runs(items, spare, n, low);
  return items;
}

/// Ascending in the direction of the sort.
template <class K>
typename K::Key key_of(typename K::Stored x, bool descending) {
  const auto key = K::key(x);
  return descending ? static_cast<typename K::Key>(~key) : key;
}

/// Is any of these x worth a look: may one's key, in the direction of the sort, be below that of
/// `bound`? Cheaper than the keys of all; a NaN always may.
template <class K, bool descending>
bool any_below(const typename K::Stored* x, typename K::Stored bound) {
  typename K::Key found = 0;
  for (int64_t i = 0; i < kAtOnce; ++i) {
    const auto a = K::value(x[i]), b = K::value(bound);
    found |= static_cast<typename K::Key>(descending ? !(a <= b) : !(a >= b));
  }
  return found != 0;
}

/// The first `keep` items in the order of the line, found in one pass: what is below the worst of
/// those kept so far is kept too. A few are kept in order; of many, the worse half goes where there
/// are twice as many.
template <class K, bool descending>
class Best {
 public:
  using Key = typename K::Key;
  using T = typename K::Stored;

  Best(const T* x, int64_t step, int64_t keep, Items<Key>& room)
      : x_(x), step_(step), keep_(keep), room_(2 * keep + kAtOnce), items_(room.of(room_)) {}

  Item<Key>* of(int64_t n) {
    in_stretches(0, keep_, [&](int64_t i, int64_t end) {
      for (; i < end; ++i) add(i);
    });
    trim();
    in_stretches(keep_, n, [&](int64_t i, int64_t end) {
      if (step_ == 1)
        for (; i + kAtOnce <= end; i += kAtOnce)
          if (any_below<K, descending>(x_ + i, x_[items_[worst_].index])) offer(i, i + kAtOnce);
      offer(i, end);
    });
    trim();
    std::sort(items_, items_ + keep_, less());
    return items_;
  }

 private:
  /// A comparison is where the library's algorithms can be stopped.
  auto less() {
    return [this](const Item<Key>& a, const Item<Key>& b) {
      pace_.after(1);
      return a < b;
    };
  }
  void add(int64_t i) { items_[held_++] = {key_of<K>(x_[i * step_], descending), i}; }
  /// Of equals the earlier is kept.
  void offer(int64_t i, int64_t end) {
    for (; i < end; ++i) {
      const Key k = key_of<K>(x_[i * step_], descending);
      if (k >= items_[worst_].key) continue;
      if (keep_ <= kFew) {
        insert({k, i});
      } else {
        add(i);
        if (held_ == room_) trim();
      }
    }
  }
  /// In front of all that it is below; the worst falls out.
  void insert(Item<Key> item) {
    int64_t at = worst_;
    for (; at > 0 && item.key < items_[at - 1].key; --at) items_[at] = items_[at - 1];
    items_[at] = item;
  }
  void trim() {
    worst_ = keep_ - 1;
    if (keep_ <= kFew) return std::sort(items_, items_ + keep_, less());
    std::nth_element(items_, items_ + worst_, items_ + held_, less());
    held_ = keep_;
  }

  static constexpr int64_t kFew = 32;  // moving them costs less than a partition now and then

  const T* x_;
  int64_t step_, keep_, room_;
  Item<Key>* items_;
  int64_t held_ = 0, worst_ = 0;
  Pace pace_;
};

struct Lines {
  Operand x, values, indices;
  size_t axis;
  int64_t keep;
  bool descending;
};

/// All n items in order.
template <class K>
Item<typename K::Key>* ordered(const typename K::Stored* x, int64_t step, int64_t n,
                               bool descending, Items<typename K::Key>& room,
                               Items<typename K::Key>& spare) {
  using Key = typename K::Key;
  Item<Key>* items = room.of(n);
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      items[i] = {key_of<K>(x[i * step], descending), i};
    }
  });
  return sort_items(items, n < 512 ? nullptr : spare.of(n), n);
}

template <class K>
void sort_line(const Lines& job, std::array<int64_t, 3> at, Items<typename K::Key>& room,
               Items<typename K::Key>& spare) {
  using Key = typename K::Key;
  using T = typename K::Stored;
  const auto* x = reinterpret_cast<const T*>(job.x.data) + at[0];
  auto* values = reinterpret_cast<T*>(job.values.data) + at[1];
  auto* indices = reinterpret_cast<int64_t*>(job.indices.data) + at[2];
  int64_t n = job.x.shape[job.axis], step = job.x.strides[job.axis];
  Item<Key>* items = nullptr;
  if (job.keep < n / 4) {
    items = job.descending ? Best<K, true>(x, step, job.keep, room).of(n)
                           : Best<K, false>(x, step, job.keep, room).of(n);
  } else {
    items = ordered<K>(x, step, n, job.descending, room, spare);
  }
  int64_t value_step = job.values.strides[job.axis], index_step = job.indices.strides[job.axis];
  in_stretches(0, job.keep, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      int64_t from = items[i].index;
      values[i * value_step] = x[from * step];
      indices[i * index_step] = from;
    }
  });
}

template <class K>
void sort_lines(const Lines& job) {
  Walk w;
  w.shape = job.x.shape;
  w.strides = {job.x.strides, job.values.strides, job.indices.strides};
  w.shape.erase(w.shape.begin() + static_cast<ptrdiff_t>(job.axis));
  for (Sizes& s : w.strides) s.erase(s.begin() + static_cast<ptrdiff_t>(job.axis));
  int64_t lines = 1;
  for (int64_t e : w.shape) lines *= e;
  int64_t n = std::max<int64_t>(1, job.x.shape[job.axis]);
  parallel_for(lines, std::max<int64_t>(1, 1024 / n), [&](int64_t begin, int64_t end) {
    Items<typename K::Key> items, spare;
    for (int64_t i = begin; i < end; ++i) {
      std::array<int64_t, 3> at;
      walk_offsets(w, static_cast<int>(w.shape.size()), i, absl::MakeSpan(at));
      sort_line<K>(job, at, items, spare);
    }
  });
}

Operand with_axis(Operand o) {
  if (o.shape.empty()) {
    o.shape.push_back(1);
    o.strides.push_back(1);
  }
  return o;
}

}  // namespace

void run_sort(const Call& call, Outputs& outputs) {
  const SortSpec& spec = call.op.sort;
  Tensor x = call.args.tensor(0);
  Tensor values = result_of(call), indices = empty(call.types[1]);
  Lines job;
  job.axis = static_cast<size_t>(
      normalise_axis(call.op.name(), call.args.integer(spec.axis).value(), x.rank()));
  job.x = with_axis(operand(x));
  job.values = with_axis(operand(values));
  job.indices = with_axis(operand(indices));
  job.keep = job.values.shape[job.axis];
  job.descending = spec.descending >= 0 && call.args.flag(spec.descending);
  submit(x.device(), {x}, {values, indices}, [job] {
    if (job.values.numel() == 0) return;
    by_key(job.x.dtype, [&](auto k) { sort_lines<decltype(k)>(job); });
  });
  outputs.push_back(std::move(values));
  outputs.push_back(std::move(indices));
}

void run_searchsorted(const Call& call, Outputs& outputs) {
  Tensor sorted = call.args.tensor(0), values = call.args.tensor(1);
  bool right = call.args.flag(2);
  Tensor out = result_of(call);
  Operand s = operand(sorted), v = operand(values), o = operand(out);
  submit(out.device(), {sorted, values}, {out}, [=] {
    if (o.numel() == 0) return;
    // The sequence that belongs to a row, spread over the values of that row.
    const int64_t n = s.shape.back(), step = s.strides.back();
    Operand first{s.data, s.dtype, o.shape, Sizes(o.shape.size(), 0)};
    for (size_t i = 0; i + 1 < s.shape.size(); ++i) first.strides[i] = s.strides[i];
    const Operand* all[] = {&o, &v, &first};
    Walk w = make_walk(all, o.shape, false);
    by_key(s.dtype, [&](auto k) {
      using K = decltype(k);
      const auto* line = reinterpret_cast<const typename K::Stored*>(s.data);
      const auto* asked = reinterpret_cast<const typename K::Stored*>(v.data);
      auto* to = reinterpret_cast<int64_t*>(o.data);
      parallel_for(o.numel(), 1024, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t at[3];
          walk_offsets(w, static_cast<int>(w.shape.size()), i, absl::MakeSpan(at));
          auto key = K::key(asked[at[1]]);
          int64_t low = 0, high = n;
          while (low < high) {
            int64_t middle = low + (high - low) / 2;
            auto here = K::key(line[at[2] + middle * step]);
            if (here < key || (right && here == key))
              low = middle + 1;
            else
              high = middle;
          }
          to[at[0]] = low;
        }
      });
    });
  });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
