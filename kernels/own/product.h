// Contractions as matrix products, with the defined bits (kernels/problem/contraction.h) at the
// speed of a tuned GEMM.
//
// The output's variables, read from the last to the first, fall into three groups: columns, a run
// that only one operand has (the right side); rows, the run before it that only the other has (the
// left side); and the rest, over which whole products are repeated. So mm, bmm, a linear layer with
// a transposed weight, convolution and both its gradients are the same program; they differ in how
// panels are packed. Where the columns would fill their vectors far worse than the rows would, the
// two change places, and tiles are turned as they are stored.
#pragma once

#include "kernels/own/side.h"
#include "kernels/own/taps.h"
#include "kernels/own/windows.h"
#include "kernels/problem/contraction.h"
#include "kernels/problem/epilogue.h"
#include "kernels/runtime/scratch.h"
#include "kernels/table/table.h"

namespace lathe::own {

struct Product {
  int64_t rows = 1, cols = 1, depth = 0;
  int64_t block = kSumBlock;                  // terms to a chain
  bool right_is_a = false;                    // which operand has the columns
  bool turned = false;                        // the output lies column after column
  int64_t left_offset = 0, right_offset = 0;  // of the operands, in elements
  Side left, right;
  /// One axis of repetition; steps in elements, and in window coordinates of either side.
  struct Repeat {
    int64_t extent, left, right, out;
    absl::InlinedVector<int64_t, 2> left_windows, right_windows;
  };
  absl::InlinedVector<Repeat, 6> repeats;
  int64_t products = 1;
  // How it is run against windows, where one of these ways is better than panels; else in blocks.
  std::optional<WindowTaps> taps;
  std::optional<WindowLines> lines;
};

/// A complex contraction as one of real numbers, with the same chains: two terms for one, first
/// with b's row (re, im), then with (-im, re). `c.b` must be addressed as contiguous; b is then
/// given as what expand_complex makes of it, a and out as they are.
Contraction complex_as_real(const Contraction& c);
template <class T>
void expand_complex(const T* from, int64_t elements, T* to);

/// `c.out` must be row-major contiguous in the order of batch, then outer variables. The tiles are
/// those that will run it.
template <class T>
Product make_product(const Contraction& c, const Tiles<T>& tiles);

/// One side in panels, each with all of its k.
struct PackedSide final : Packed {
  PackedSide(int w, int64_t n, int64_t k, size_t bytes)
      : width(w), lines(n), depth(k), panels(bytes) {}
  Layout layout() const override { return {panels.data(), lines, depth, width}; }
  int width;
  int64_t lines, depth;
  Scratch panels;
};
using PackedSideRef = std::shared_ptr<const PackedSide>;
/// The side that operand a (0) or b (1) is: `known` if it is the same, null if this product reads
/// the side where it lies, or several of it.
template <class T>
PackedSideRef pack_side(const Product& p, int operand, const T* data, const PackedSideRef& known);

/// What run_product takes of the allocator, and what pack_side keeps of the operands named.
template <class T>
Room product_room(const Product& p, std::array<bool, 2> packed);

/// T: float, double, uint32_t or uint64_t. `packed`: of a and b, or null.
template <class T>
void run_product(const Product& p, const T* a, const T* b, T* out, const Epilogue& epilogue,
                 absl::Span<const PackedSide* const> packed = {}, const Needed& needed = {});

/// Few rows read the right side once: a whole copy of it in the dtype of the sums would be written
/// and read for nothing. Its elements as they are stored, and how some become those of the sums.
struct StoredSide {
  const std::byte* data = nullptr;
  int64_t size = 0;  // of an element, in bytes
  void (*widen)(void* to, const void* const* from, size_t n) = nullptr;
  explicit operator bool() const { return widen != nullptr; }
};
bool takes_stored(const Product& p);
/// For a product that takes it. T: not double.
template <class T>
void run_stored(const Product& p, const T* left, const StoredSide& right, T* out);
/// What that takes of the allocator, by the size of a T.
size_t stored_room(const Product& p, size_t bytes);

}  // namespace lathe::own
