// The tiles that sum over windows write what they are asked for and nothing beside it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/flags.h"
#include "kernels/own/tiles.h"
#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

constexpr float kUntouched = 12345.0F;
/// Where the terms of a window lie, and lines from each other.
struct Windows {
  std::vector<int64_t> taps;
  int64_t line;
};

/// Lines of `cols` outputs, `apart` from each other, for each of some rows.
struct Case {
  int64_t lines, cols, apart, rows;
  bool add;
};

void expect_only_what_is_asked(const Tiles<float>& tiles, const Windows& windows, const Case& c) {
  constexpr int64_t kBefore = 40;
  const auto depth = static_cast<int64_t>(windows.taps.size());
  std::vector<float> w;
  std::vector<float> x(static_cast<size_t>(windows.line * c.lines + windows.taps.back() + 64));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 5;
  for (int64_t i = 0; i < depth * c.rows; ++i) w.push_back(static_cast<float>(i % 7) - 2);
  const int64_t row = c.lines * c.apart;
  std::vector<float> y(static_cast<size_t>(row * c.rows + 2 * kBefore), kUntouched), expected = y;
  WindowCall<float> call{};
  call.x = x.data(), call.taps = windows.taps.data(), call.w = w.data(),
  call.y = y.data() + kBefore;
  call.line_step = windows.line, call.w_row = depth, call.w_step = 1, call.y_row = row,
  call.y_line = c.apart;
  call.lines = c.lines, call.cols = c.cols, call.depth = depth, call.rows = c.rows,
  call.add = c.add;
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t l = 0; l < c.lines; ++l)
      for (int64_t j = 0; j < c.cols; ++j) {
        float sum = 0;
        for (int64_t t = 0; t < depth; ++t)
          sum = std::fma(
              w[static_cast<size_t>(depth * r + t)],
              x[static_cast<size_t>(windows.taps[static_cast<size_t>(t)] + l * windows.line + j)],
              sum);
        float& to = expected[static_cast<size_t>(kBefore + r * row + l * c.apart + j)];
        to = c.add ? to + sum : sum;
      }
  tiles.window_lines(call);
  EXPECT_EQ(y, expected) << tiles.name << ": " << c.rows << " rows of " << c.lines << " lines of "
                         << c.cols << ", " << c.apart << " apart" << (c.add ? ", added" : "");
}

/// Any, and of three rows of three terms: lines a row apart, two rows apart and in between.
const Windows kWindows[] = {{{0, 1, 31, 33}, 64},
                            {{0, 1, 2, 48, 49, 50, 96, 97, 98}, 48},
                            {{0, 48, 1, 96, 144, 97, 192, 240, 193}, 192},
                            {{0, 1, 2, 48, 49, 50, 96, 97, 98}, 60}};

TEST(WindowLines, WriteNothingBesideTheirOutputs) {
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    const Tiles<float>& tiles = own::tiles<float>();
    for (const Windows& windows : kWindows)
      for (int64_t rows : {1, 2, 3, 4, 5})
        for (int64_t lines = 1; lines <= 19; ++lines)
          for (int64_t cols : {1, 2, 3, 5, 7, 8, 9, 14, 15, 16, 17, 20, 31, 32, 33})
            for (int64_t gap : {0, 3})
              for (bool add : {false, true})
                expect_only_what_is_asked(tiles, windows, {lines, cols, cols + gap, rows, add});
  }
}

}  // namespace
}  // namespace lathe::own
