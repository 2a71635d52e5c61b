#include "kernels/own/contract.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include "core/base/error.h"
#include "kernels/own/convert.h"
#include "kernels/own/copy.h"
#include "kernels/own/odometer.h"
#include "kernels/own/product.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"
#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

/// One product for each part of the outputs; a single one writes them where they are.
struct Part {
  Product product;
  Operand target;      // without data: where its outputs belong; unused if there is one part
  int64_t offset = 0;  // in elements
};

struct ProductPlan final : Prepared {
  std::vector<Part> parts;
  DType accumulator;
  // As they are given. What is not of the accumulator's dtype is converted into a contiguous copy
  // first, and the sums are rounded to the result's dtype afterwards.
  Operand a, b, out;

  bool direct() const {
    return a.dtype == accumulator && b.dtype == accumulator && out.dtype == accumulator;
  }
};

/// The dtype in whose sums those of the accumulator are the low bits.
DType summed_in(DType accumulator) {
  if (!is_integer(accumulator)) return accumulator;
  return size_of(accumulator) == 8 ? DType::i64 : DType::i32;
}

/// The operand named as what it is summed in, where the bits are the same.
Operand as_signed(Operand x, DType sums) {
  if (is_integer(x.dtype) && is_integer(sums) && size_of(x.dtype) == size_of(sums)) x.dtype = sums;
  return x;
}

/// `f(T{})` for the T of the tiles that add up numbers of this dtype, or the parts of complex ones.
template <class F>
auto with_type(DType accumulator, F f) {
  switch (real_type(accumulator)) {
    case DType::f64:
      return f(double{});
    case DType::i32:
      return f(uint32_t{});
    case DType::i64:
      return f(uint64_t{});
    default:
      return f(float{});
  }
}

Product product_of(const Contraction& c) {
  return with_type(c.out.dtype, [&]<class T>(T) { return make_product(c, tiles<T>()); });
}

void add_parts(ProductPlan& plan, const Contraction& c, int64_t block) {
  auto divided = [](const Window& w) { return w.divisor != 1; };
  bool whole = absl::c_none_of(c.a.windows, divided) && absl::c_none_of(c.b.windows, divided);
  if (whole) {
    plan.parts.push_back({product_of(c), {}, 0});
  } else {
    for (Residue& r : residues(c)) {
      Operand target{nullptr, c.out.dtype, r.shape, r.strides};
      plan.parts.push_back({product_of(r.contraction), std::move(target), r.offset});
    }
  }
  for (Part& part : plan.parts) part.product.block = block;
}

/// The one product that writes the outputs where they are; null if there are several.
const Product* only_product(const ProductPlan& plan) {
  bool only = plan.parts.size() == 1 && plan.parts[0].target.shape.empty();
  return only ? &plan.parts[0].product : nullptr;
}

/// How many parts from number i on fill lines between them: each has every n-th place of a line, n
/// being their number, the first of them the first place.
size_t joined(const ProductPlan& plan, size_t i) {
  const Part& first = plan.parts[i];
  const Operand& target = first.target;
  const auto n = target.strides.empty() ? 1 : static_cast<size_t>(target.strides.back());
  if (n < 2 || i + n > plan.parts.size() || target.numel() == 0) return 1;
  auto lines = [](const Sizes& s) { return absl::MakeConstSpan(s).first(s.size() - 1); };
  for (size_t k = 1; k < n; ++k) {
    const Part& part = plan.parts[i + k];
    if (part.offset != first.offset + static_cast<int64_t>(k) ||
        part.target.strides != target.strides || lines(part.target.shape) != lines(target.shape))
      return 1;
  }
  return n;
}

int64_t outputs_of(absl::Span<const Part> parts) {
  int64_t n = 0;
  for (const Part& part : parts) n += part.target.numel();
  return n;
}

/// The sums of parts that fill lines between them, or of one, to where they belong.
template <class T>
void place_parts(absl::Span<const Part> parts, T* sums, T* out) {
  const Operand& target = parts[0].target;
  if (parts.size() == 1) {
    Operand from = target, to = target;
    from.data = reinterpret_cast<std::byte*>(sums);
    from.strides = contiguous_strides(from.shape);
    to.data = reinterpret_cast<std::byte*>(out + parts[0].offset);
    return copy_elements(from, to);
  }
  Odometer<1> whole(target.shape, {&target.strides});
  int64_t places = 0;
  for (const Part& part : parts) places += part.target.shape.back();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / places);
  parallel_for(whole.count(), grain, [&](int64_t begin, int64_t end) {
    Odometer<1> line = whole;
    line.seek(begin);
    std::vector<const T*> from(parts.size());
    for (int64_t l = begin; l < end; ++l, line.next()) {
      const T* own = sums;
      for (size_t k = 0; k < parts.size(); own += parts[k++].target.numel())
        from[k] = own + l * parts[k].target.shape.back();
      tiles<T>().join_row(from.data(), static_cast<int64_t>(parts.size()), places,
                          out + parts[0].offset + line.offset[0]);
    }
  });
}

template <class T>
void run_parts(const ProductPlan& plan, const std::byte* a, const std::byte* b, std::byte* out,
               const Epilogue& epilogue, absl::Span<const PackedSide* const> packed = {},
               const Needed& needed = {}) {
  const T *left = reinterpret_cast<const T*>(a), *right = reinterpret_cast<const T*>(b);
  if (const Product* only = only_product(plan))
    return run_product(*only, left, right, reinterpret_cast<T*>(out), epilogue, packed, needed);
  for (size_t i = 0, count; i < plan.parts.size(); i += count) {
    count = joined(plan, i);
    const auto parts = absl::MakeConstSpan(plan.parts).subspan(i, count);
    Scratch sums(static_cast<size_t>(outputs_of(parts)) * sizeof(T));
    T* own = sums.as<T>();
    for (const Part& part : parts) {
      run_product(part.product, left, right, own, {});
      own += part.target.numel();
    }
    place_parts<T>(parts, sums.as<T>(), reinterpret_cast<T*>(out));
  }
  epilogue.at_the_end(plan.out.numel(), parallel_for);
}

/// Strides of a copy without gaps whose axes are in the operand's order in memory; row-major where
/// it is expanded.
Sizes compact_strides(const Operand& x) {
  absl::InlinedVector<size_t, 6> order(x.shape.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (x.strides[i] == 0 && x.shape[i] > 1) return contiguous_strides(x.shape);
    order[i] = i;
  }
  absl::c_stable_sort(
      order, [&](size_t a, size_t b) { return std::abs(x.strides[a]) > std::abs(x.strides[b]); });
  Sizes out(x.shape.size());
  int64_t step = 1;
  for (size_t k = order.size(); k-- > 0; step *= x.shape[order[k]]) out[order[k]] = step;
  return out;
}

/// Does the operand lie as such a copy would?
bool compact(const Operand& x) {
  const Sizes strides = compact_strides(x);
  for (size_t i = 0; i < strides.size(); ++i)
    if (x.shape[i] > 1 && x.strides[i] != strides[i]) return false;
  return true;
}

/// The operand as the sums read it: as it is, or as its copy will be. A copy without gaps keeps the
/// order of the axes in memory, so that it reads in the order in which elements lie.
Operand as_summed(const ProductPlan& plan, const Operand& x) {
  if (x.dtype == plan.accumulator) return x;
  return {nullptr, plan.accumulator, x.shape, compact_strides(x)};
}

/// Which operand few rows read as it is stored, widened on the way: 0, 1, or -1 for none.
int stored_operand(const ProductPlan& plan) {
  const Product* only = only_product(plan);
  if (only == nullptr || !takes_stored(*only)) return -1;
  if (is_complex(plan.accumulator) || plan.accumulator == DType::f64) return -1;
  const Operand& right = only->right_is_a ? plan.a : plan.b;
  if (right.dtype == plan.accumulator || !compact(right)) return -1;
  return only->right_is_a ? 0 : 1;
}

/// `data` in the accumulator's dtype; `room` holds it where it is stored in another.
const std::byte* converted(const ProductPlan& plan, const Operand& x, const std::byte* data,
                           std::optional<Scratch>& room) {
  if (x.dtype == plan.accumulator) return data;
  Operand from = x, to = as_summed(plan, x);
  room.emplace(static_cast<size_t>(x.numel()) * size_of(plan.accumulator));
  from.data = const_cast<std::byte*>(data);
  to.data = room->data();
  convert(from, to);
  return to.data;
}

template <class T>
void run_complex(const ProductPlan& plan, const std::byte* a, const std::byte* b, std::byte* out) {
  size_t bytes = static_cast<size_t>(plan.b.numel()) * 2 * sizeof(T);
  Scratch even(bytes), expanded(2 * bytes);
  Operand from = as_summed(plan, plan.b), to = from;
  from.data = const_cast<std::byte*>(b);
  to.data = even.data();
  to.strides = contiguous_strides(to.shape);
  copy_elements(from, to);
  expand_complex(even.as<T>(), plan.b.numel(), expanded.as<T>());
  run_parts<T>(plan, a, expanded.data(), out, {});
}

template <class T>
void run_stored_side(const ProductPlan& plan, int stored, const std::byte* a, const std::byte* b,
                     std::byte* out) {
  const Operand& x = stored == 0 ? plan.a : plan.b;
  const auto widen =
      simd_loops().cast[static_cast<int>(x.dtype)][static_cast<int>(plan.accumulator)];
  const StoredSide right{stored == 0 ? a : b, static_cast<int64_t>(size_of(x.dtype)), widen};
  run_stored(*only_product(plan), reinterpret_cast<const T*>(stored == 0 ? b : a), right,
             reinterpret_cast<T*>(out));
}

/// Through what is not stored as it is summed.
void run_converted(const ProductPlan& plan, const Launch& launch) {
  std::optional<Scratch> a_room, b_room, out_room;
  const int stored = stored_operand(plan);
  const std::byte* a = stored == 0 ? launch.a : converted(plan, plan.a, launch.a, a_room);
  const std::byte* b = stored == 1 ? launch.b : converted(plan, plan.b, launch.b, b_room);
  std::byte* out = launch.out;
  if (plan.out.dtype != plan.accumulator) {
    out_room.emplace(static_cast<size_t>(plan.out.numel()) * size_of(plan.accumulator));
    out = out_room->data();
  }
  with_type(plan.accumulator, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      if (is_complex(plan.accumulator)) return run_complex<T>(plan, a, b, out);
    if constexpr (!std::is_same_v<T, double>)
      if (stored >= 0) return run_stored_side<T>(plan, stored, a, b, out);
    run_parts<T>(plan, a, b, out, {});
  });
  if (out_room) {
    Operand from = as_summed(plan, plan.out), to = plan.out;
    from.data = out;
    to.data = launch.out;
    convert(from, to);
  }
  launch.epilogue.at_the_end(plan.out.numel(), parallel_for);
}

/// Batch axes along which the side of the columns stays are rows, where the other side's elements
/// lie evenly so: the columns are then read once for all of them.
void make_rows_of_batch(Contraction& c) {
  absl::InlinedVector<size_t, 6> outer;
  for (int v : c.outer)
    if (c.extent[static_cast<size_t>(v)] != 1) outer.push_back(static_cast<size_t>(v));
  if (outer.empty() || !c.a.windows.empty() || !c.b.windows.empty()) return;
  const bool right_is_a = c.a.stride[outer.back()] != 0 && c.b.stride[outer.back()] == 0;
  const Addressing &right = right_is_a ? c.a : c.b, &left = right_is_a ? c.b : c.a;
  if (left.stride[outer.back()] != 0) return;
  for (size_t first = outer.front(); !c.batch.empty();) {
    const size_t axis = c.batch.size() - 1, var = c.extent.size();
    if (c.batch[axis] != 1) {
      const bool rows = right.stride[first] == 0;
      const bool even = left.batch[axis] == left.stride[first] * c.extent[first];
      if (right.batch[axis] != 0 || left.batch[axis] == 0 || (rows && !even)) return;
      c.outer.insert(c.outer.begin(), static_cast<int>(var));
      c.extent.push_back(c.batch[axis]);
      for (Addressing* x : {&c.a, &c.b, &c.out}) x->stride.push_back(x->batch[axis]);
      first = var;
    }
    c.batch.pop_back();
    for (Addressing* x : {&c.a, &c.b, &c.out}) x->batch.pop_back();
  }
}

}  // namespace

Verdict product_accepts(const Entry&, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  if (!divisible_axes(query.op.formula)) return Verdict::no(Reason::op, query.op.name());
  // Integers are summed in a dtype of 32 or 64 bits, and cut to the accumulator as results only.
  const bool integral = is_integer(query.accumulator) && is_integer(query.common) &&
                        (*query.results)[0].dtype == query.accumulator;
  const DTypeSet others = DTypeSet{DType::f32, DType::f64} | complexes;
  if (integral || others.has(query.accumulator)) return Verdict::yes();
  return Verdict::no(Reason::dtype, std::string(name(query.accumulator)));
}

PreparedRef product_prepare(const Entry&, const Problem& problem) {
  auto plan = std::make_unique<ProductPlan>();
  plan->accumulator = summed_in(problem.accumulator);
  plan->a = as_signed(problem.in[0], plan->accumulator);
  plan->b = as_signed(problem.in[1], plan->accumulator);
  plan->out = as_signed(problem.out, plan->accumulator);
  Operand a = as_summed(*plan, plan->a), b = as_summed(*plan, plan->b);
  const bool complex = is_complex(plan->accumulator);
  if (complex) b.strides = contiguous_strides(b.shape);
  auto c = make_contraction(problem.op, problem.args, a, b, as_summed(*plan, plan->out));
  make_rows_of_batch(c);
  add_parts(*plan, complex ? complex_as_real(c) : c, complex ? 2 * kSumBlock : kSumBlock);
  return plan;
}

void product_run(const Entry&, const Prepared& prepared, const Launch& launch) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  if (!plan.direct() || is_complex(plan.accumulator)) return run_converted(plan, launch);
  const PackedSide* packed[] = {static_cast<const PackedSide*>(launch.packed[0]),
                                static_cast<const PackedSide*>(launch.packed[1])};
  with_type(plan.accumulator, [&]<class T>(T) {
    run_parts<T>(plan, launch.a, launch.b, launch.out, launch.epilogue, packed, launch.needed);
  });
}

Room product_room(const Entry&, const Prepared& prepared, std::array<bool, 2> lasting) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  const bool complex = is_complex(plan.accumulator), packs = plan.direct() && !complex;
  const int stored = stored_operand(plan);
  if (only_product(plan) == nullptr || !packs) lasting = {};
  return with_type(plan.accumulator, [&]<class T>(T) {
    Room all;
    for (size_t i = 0, count; i < plan.parts.size(); i += count) {
      count = joined(plan, i);
      const auto parts = absl::MakeConstSpan(plan.parts).subspan(i, count);
      const bool whole = only_product(plan) != nullptr;
      const size_t sums =
          whole ? 0 : size_class_bytes(static_cast<size_t>(outputs_of(parts)) * sizeof(T));
      for (const Part& part : parts) {
        Room room = product_room<T>(part.product, lasting);
        if (stored >= 0) room.during = stored_room(part.product, sizeof(T));
        all.during = std::max(all.during, sums + room.during);
        all.kept += room.kept;
      }
    }
    const Operand* read = stored < 0 ? nullptr : stored == 0 ? &plan.a : &plan.b;
    for (const Operand* x : {&plan.a, &plan.b, &plan.out})
      if (x->dtype != plan.accumulator && x != read)
        all.during += size_class_bytes(static_cast<size_t>(x->numel()) * size_of(plan.accumulator));
    const size_t doubled = static_cast<size_t>(plan.b.numel()) * 2 * sizeof(T);
    if (complex) all.during += size_class_bytes(doubled) + size_class_bytes(2 * doubled);
    return all;
  });
}

PackedRef product_pack(const Entry&, const Prepared& prepared, int operand, const std::byte* data,
                       const PackedRef& known) {
  const auto& plan = static_cast<const ProductPlan&>(prepared);
  const Product* product = only_product(plan);
  if (product == nullptr || !plan.direct() || is_complex(plan.accumulator)) return nullptr;
  auto before = std::static_pointer_cast<const PackedSide>(known);
  return with_type(plan.accumulator, [&]<class T>(T) -> PackedRef {
    return pack_side(*product, operand, reinterpret_cast<const T*>(data), before);
  });
}

}  // namespace lathe::own
