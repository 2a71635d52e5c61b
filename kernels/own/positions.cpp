// Where a mask is true: the coordinates of the first so many true elements, in row-major order; and
// sizes that data decides.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "core/base/presumption.h"
#include "kernels/own/copy.h"
#include "kernels/own/search.h"
#include "kernels/problem/operand.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

/// Calls f(position) for the true ones of n bytes until it gives false; eight false ones at a time
/// are passed over.
template <class F>
void each_true(const uint8_t* mask, int64_t n, F f) {
  bool more = true;
  in_stretches(0, n, [&](int64_t i, int64_t end) {
    while (more && i < end) {
      uint64_t eight = 1;
      if (i + 8 <= end) std::memcpy(&eight, mask + i, sizeof eight);
      if (eight == 0) {
        i += 8;
        continue;
      }
      for (const int64_t until = std::min(end, i + 8); more && i < until; ++i)
        if (mask[i] != 0) more = f(i);
    }
  });
}

void find_true(const uint8_t* mask, absl::Span<const int64_t> shape, int64_t size, int64_t fill,
               int64_t* to) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t n = 1, found = 0;
  for (int64_t s : shape) n *= s;
  each_true(mask, n, [&](int64_t at) {
    if (found == size) return false;
    int64_t* place = to + found++ * rank;
    for (int64_t axis = rank; axis-- > 0;) {
      const int64_t extent = shape[static_cast<size_t>(axis)];
      place[axis] = axis == 0 ? at : at % extent;
      at /= extent;
    }
    return true;
  });
  std::fill(to + found * rank, to + size * rank, fill);
}

}  // namespace

void run_true_positions(const Call& call, Outputs& outputs) {
  Tensor mask = call.args.tensor(0), out = empty(call.types[0]);
  const int64_t size = call.args.integer(1).value(), fill = call.args.integer(2).value();
  Operand m = operand(mask), o = operand(out);
  submit(out.device(), {mask}, {out}, [=] {
    if (o.numel() == 0) return;
    Scratch room(static_cast<size_t>(m.numel()));
    Operand even{room.data(), m.dtype, m.shape, contiguous_strides(m.shape)};
    const bool as_it_lies = m.strides == even.strides;
    if (!as_it_lies) copy_elements(m, even);
    find_true(reinterpret_cast<const uint8_t*>(as_it_lies ? m.data : even.data), m.shape, size,
              fill, reinterpret_cast<int64_t*>(o.data));
  });
  outputs.push_back(std::move(out));
}

/// Its result's type is not known before: the count is read here. It takes memory, so that of a
/// bound far behind the end of what is sliced eager code makes less.
void run_sized_by(const Call& call, Outputs& outputs) {
  constexpr int64_t kMost = int64_t{1} << 28;
  const Tensor count = call.args.tensor(0);
  const int64_t size = count.item_int();
  if (size < 0)
    throw PresumptionError({.op = "size",
                            .problem = "a size that data decides is negative",
                            .got = std::to_string(size),
                            .expected = "0 or more",
                            .next = "check the values that it is computed from"});
  if (size > kMost)
    throw PresumptionError({.op = "size",
                            .problem = "a size that data decides is very large",
                            .got = std::to_string(size),
                            .expected = absl::StrCat("at most ", kMost),
                            .next = "call the function itself for such values"});
  Tensor out = empty({DType::bool_, {Int(size)}, count.device()});
  Operand o = operand(out);
  submit(out.device(), {}, {out}, [=] { std::memset(o.data, 0, static_cast<size_t>(size)); });
  outputs.push_back(std::move(out));
}

void run_check_size(const Call& call, Outputs& /*outputs*/) {
  constexpr const char* kSaid[] = {"equal sizes", "another size", "a smaller size than the second",
                                   "at most the second size"};
  const Int a = call.args.integer(0), b = call.args.integer(2);
  for (size_t k = 0; k < std::size(kRelations); ++k) {
    if (kRelations[k] != call.args.text(1) || decide(static_cast<Relation>(k), a, b)) continue;
    throw PresumptionError({.op = "size",
                            .problem = "a size that data decides is not one that the program was "
                                       "captured for",
                            .got = to_string(a) + " and " + to_string(b),
                            .expected = kSaid[k],
                            .next = "call the function itself for such values"});
  }
}

}  // namespace lathe::own
