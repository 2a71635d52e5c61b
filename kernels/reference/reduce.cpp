#include "kernels/reference/reduce.h"

#include <algorithm>
#include <array>

namespace lathe::reference {
namespace {

constexpr int64_t kBlock = 512;
constexpr int kLanes = 16;

State reduce_block(const ReduceBodies& fold, int64_t begin, int64_t end,
                   absl::FunctionRef<State(int64_t)> element) {
  std::array<State, kLanes> lanes;
  lanes.fill(unit(fold));
  for (int64_t i = begin; i < end; ++i) {
    State& lane = lanes[static_cast<size_t>((i - begin) % kLanes)];
    lane = combine(fold, lane, lift(fold, element(i), i));
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; ++l) lanes[l] = combine(fold, lanes[l], lanes[l + half]);
  return lanes[0];
}

}  // namespace

State reduce_tree(const ReduceBodies& fold, int64_t count,
                  absl::FunctionRef<State(int64_t)> element) {
  if (count == 0) return unit(fold);
  std::vector<State> stack;
  uint64_t blocks = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    stack.push_back(reduce_block(fold, begin, std::min(count, begin + kBlock), element));
    ++blocks;
    for (uint64_t b = blocks; (b & 1) == 0; b >>= 1) {
      State right = std::move(stack.back());
      stack.pop_back();
      stack.back() = combine(fold, stack.back(), right);
    }
  }
  while (stack.size() > 1) {
    State right = std::move(stack.back());
    stack.pop_back();
    stack.back() = combine(fold, stack.back(), right);
  }
  return stack.back();
}

}  // namespace lathe::reference
