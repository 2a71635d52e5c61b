// The table of strip kernels of one instruction set: plain loops over contiguous elements, one a
// primitive and dtype.
//
// Nothing here knows of SIMD or of the standard library's containers: this header is all that files
// compiled for an instruction set and the rest of the program share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/expr/prim.h"
#include "core/scalar/dtype.h"

namespace lathe {

/// out[i] = prim(in[0][i], in[1][i], ...) for i < n. `out` may be one of the inputs if the elements
/// have one size; any other overlap is not allowed. Arrays are aligned to their elements, which is
/// enough. bool elements are bytes 0 and 1.
using StripFn = void (*)(void* out, const void* const* in, size_t n);

/// The pieces of the defined reduction (see reduce.h) of the reductions that have kernels of their
/// own:
///   sum, prod   a + b, a * b            lowest, highest   a if it is NaN or beats b, else b
///   any, all    a | b, a & b on bool            squares           a + b * b: b is an element
/// Joins and trees take results of blocks, which are squares no more: there it is the sum.
enum class Reduction : uint8_t { sum, prod, lowest, highest, any, all, squares };
inline constexpr int kReductions = 7;
inline constexpr size_t kReduceBlock = 512, kReduceLanes = 16;

/// out[b] = the result of block b of in[0 .. n), for ceil(n / 512) blocks. `unit`: one element.
using ReduceBlocksFn = void (*)(void* out, const void* in, size_t n, const void* unit);
/// out[r] = the reduction of row r: n elements, 0 < n <= kReduceRow, `stride` elements from one row
/// to the next. Rows side by side hide each other's latency.
using ReduceRowsFn = void (*)(void* out, const void* in, ptrdiff_t stride, size_t rows, size_t n,
                              const void* unit);
inline constexpr size_t kReduceRow = 64 * kReduceBlock;
/// out[c] = the result of one block of 0 < n <= 512 elements for each column c: element i of all
/// columns is the contiguous rows[i].
using ReduceColumnsFn = void (*)(void* out, const void* const* rows, size_t n, size_t columns,
                                 const void* unit);

/// Of the n > 0 elements of each row the better value and its index: a NaN before all, and of
/// equals the lower index. `stride`: elements from one row to the next; `first`: index of what a
/// row begins with.
using PickFn = void (*)(void* values, int64_t* indices, const void* in, ptrdiff_t stride,
                        size_t rows, size_t n, int64_t first);
inline constexpr size_t kPickRow = size_t{1} << 26;
using PickTreeFn = void (*)(void* values, int64_t* indices, size_t n);
/// `first`: index of the elements of rows[0].
using PickColumnsFn = void (*)(void* values, int64_t* indices, const void* const* rows, size_t n,
                               size_t columns, int64_t first);

/// The row of a comparison in SimdLoops::choose; -1 for what is none.
inline constexpr int relation_of(Prim prim) {
  return prim >= Prim::lt && prim <= Prim::ne ? static_cast<int>(prim) - static_cast<int>(Prim::lt)
                                              : -1;
}

struct SimdLoops {
  const char* name;
  /// prim[splat][prim][dtype]; bit j of splat: in[j] is a single element, used for all. The dtype
  /// is that of the operands for comparisons and bits, else the result's; select's condition is a
  /// bool array. Null: there is none. With splat 0 every primitive has one for each dtype it is
  /// defined on, except the leaves, rare and check.
  StripFn prim[8][kPrims][kDTypeCodes];
  /// The same, past the caches like `stream`, into an array aligned to 64 bytes. For the cheap
  /// primitives of floats, which would wait for memory otherwise; null where there is none.
  StripFn streamed[8][kPrims][kDTypeCodes];
  /// in[0] relation in[1] ? in[2] : in[3] on floats alone, without a mask in memory: lt, le, eq,
  /// ne; by f32, f64; by splat. Null where in[0] and in[1] are both single elements.
  StripFn choose[4][2][16];
  /// The lower or the higher of two floats, in[0] if it is NaN or beats in[1], else in[1]: lowest,
  /// highest; by f32, f64; by splat.
  StripFn extreme[2][2][4];
  /// cast[from][to], both stored dtypes other than complex ones; null where from == to.
  StripFn cast[kDTypeCodes][kDTypeCodes];

  // By element size: 1, 2, 4, 8, 16 bytes → 0, 1, 2, 3, 4.
  void (*fill[5])(void* out, const void* element, size_t n);
  void (*gather[5])(void* out, const void* in, ptrdiff_t stride, size_t n);  // stride in bytes
  void (*scatter[5])(void* out, ptrdiff_t stride, const void* in, size_t n);

  /// Copies past the caches, for results that no cache would hold: their lines are not read first.
  /// The last piece waits until all of it can be seen by other threads.
  void (*stream)(void* out, const void* in, size_t bytes, bool last);

  void (*ramp)(int64_t* out, int64_t first, int64_t step, size_t n);
  /// Words 4 block .. 4 block + 3 of the elements with logical indices linear, linear + 1, ...
  /// (core/scalar/philox.h), each to its array; a null one is left out.
  void (*random)(uint32_t* const* out, uint64_t seed, uint64_t call, uint64_t linear,
                 uint32_t block, size_t n);
  /// Position of the first byte that is 0 (or not 0), n if there is none.
  size_t (*find_false)(const uint8_t* bools, size_t n);
  size_t (*find_true)(const uint8_t* bools, size_t n);
  /// Are all values in [0, last]? 0 <= last.
  bool (*all_within)(const int64_t* values, size_t n, int64_t last);

  ReduceBlocksFn reduce_blocks[kReductions][kDTypeCodes];
  ReduceRowsFn reduce_rows[kReductions][kDTypeCodes];
  ReduceColumnsFn reduce_columns[kReductions][kDTypeCodes];
  StripFn reduce_join[kReductions][kDTypeCodes];  // out[i] = combine(in[0][i], in[1][i])
  /// out[i] = what in[0][i] becomes with the element in[1][i]; `first`: with a single in[0][0].
  StripFn reduce_first[kReductions][kDTypeCodes], reduce_next[kReductions][kDTypeCodes];
  void (*reduce_tree[kReductions][kDTypeCodes])(void* results,
                                                size_t n);  // results[0] = tree(n), n > 0
  PickFn pick[2][kDTypeCodes];                              // 0: lowest, 1: highest
  PickTreeFn pick_tree[2][kDTypeCodes];
  PickColumnsFn pick_columns[2][kDTypeCodes];
};

/// An element of 16 bytes, where elements are only moved.
struct TwoWords {
  uint64_t first, second;
};

inline constexpr int size_class(size_t bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

// One function a group of kernels and an instruction set, each in a file of its own;
// choose_loops.cpp calls them.
void add_basic_avx2(SimdLoops& set);
void add_math_avx2(SimdLoops& set);
void add_cast_avx2(SimdLoops& set);
void add_fold_avx2(SimdLoops& set);
void add_basic_avx512(SimdLoops& set);
void add_math_avx512(SimdLoops& set);
void add_cast_avx512(SimdLoops& set);
void add_fold_avx512(SimdLoops& set);
void add_basic_portable(SimdLoops& set);
void add_math_portable(SimdLoops& set);
void add_cast_portable(SimdLoops& set);
void add_reductions_portable(SimdLoops& set);

}  // namespace lathe
