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
constexpr int64_t kTaps[] = {0, 1, 31, 33};

/// Lines of `cols` outputs, `apart` from each other, for each of some rows.
struct Case {
  int64_t lines, cols, apart;
  int rows;
  bool add;
};

void expect_only_what_is_asked(const Tiles<float>& tiles, const Case& c) {
  constexpr int64_t kLine = 64, kBefore = 40;
  std::vector<float> x(static_cast<size_t>(kLine * (c.lines + 2)) + 64), w;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 5;
  for (int i = 0; i < 4 * c.rows; ++i) w.push_back(static_cast<float>(i % 7) - 2);
  const int64_t row = c.lines * c.apart;
  std::vector<float> y(static_cast<size_t>(row * c.rows + 2 * kBefore), kUntouched), expected = y;
  WindowCall<float> call{};
  call.x = x.data(), call.taps = kTaps, call.w = w.data(), call.y = y.data() + kBefore;
  call.line_step = kLine, call.w_row = 4, call.w_step = 1, call.y_row = row, call.y_line = c.apart;
  call.lines = c.lines, call.cols = c.cols, call.depth = 4, call.rows = c.rows, call.add = c.add;
  for (int r = 0; r < c.rows; ++r)
    for (int64_t l = 0; l < c.lines; ++l)
      for (int64_t j = 0; j < c.cols; ++j) {
        float sum = 0;
        for (int64_t t = 0; t < 4; ++t)
          sum = std::fma(w[static_cast<size_t>(4 * r + t)],
                         x[static_cast<size_t>(kTaps[t] + l * kLine + j)], sum);
        float& to = expected[static_cast<size_t>(kBefore + r * row + l * c.apart + j)];
        to = c.add ? to + sum : sum;
      }
  tiles.window_lines(call);
  EXPECT_EQ(y, expected) << tiles.name << ": " << c.rows << " rows of " << c.lines << " lines of "
                         << c.cols << ", " << c.apart << " apart" << (c.add ? ", added" : "");
}

TEST(WindowLines, WriteNothingBesideTheirOutputs) {
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    const Tiles<float>& tiles = own::tiles<float>();
    for (int rows = 1; rows <= 4; ++rows)
      for (int64_t lines = 1; lines <= 19; ++lines)
        for (int64_t cols = 1; cols <= 35; ++cols)
          for (int64_t gap : {0, 3})
            for (bool add : {false, true})
              expect_only_what_is_asked(tiles, {lines, cols, cols + gap, rows, add});
  }
}

}  // namespace
}  // namespace lathe::own
