#include "kernels/own/linalg.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "kernels/own/convert.h"
#include "kernels/problem/operand.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

Tensor copy_of(const Tensor& x, DType dtype) {
  Tensor out = empty(type_of(x).with(dtype));
  Operand from = operand(x), to = operand(out);
  submit(out.device(), {x}, {out}, [=] { convert(from, to); });
  return out;
}

Tensor in_row_major(const Tensor& x, DType dtype) {
  return x.dtype() == dtype && x.geometry().is_contiguous() ? x : copy_of(x, dtype);
}

/// Rows swapped as LAPACK's pivots say, which count from 1. A pivot outside of the matrix, which
/// none of its routines gives, swaps nothing.
void swap_rows(const int32_t* pivots, int64_t count, int64_t* order, int64_t rows) {
  for (int64_t i = 0; i < count && i < rows; ++i)
    if (pivots[i] >= 1 && pivots[i] <= rows) std::swap(order[i], order[pivots[i] - 1]);
}

void require_no_phase(double worst) {
  constexpr double kTolerance = 1e-2;  // what is meant to cancel has a derivative's rounding
  if (!(worst > kTolerance)) return;
  throw AutogradError(
      {.op = "linalg",
       .problem = "the derivative depends on the phase of singular vectors or eigenvectors, which "
                  "a decomposition leaves open",
       .got = absl::StrCat("a derivative of ", worst, " in the direction of a phase"),
       .expected = "a function that is the same for vectors times exp(i phi)",
       .next = "use the vectors in pairs such as u @ v^H, or their moduli"});
}

}  // namespace

void run_lu_permutation(const Call& call, Outputs& outputs) {
  const Tensor pivots = in_row_major(call.args.tensor(0), DType::i32);
  const bool inverse = call.args.flag(2);
  Tensor out = result_of(call);
  const Operand p = operand(pivots), o = operand(out);
  submit(out.device(), {pivots}, {out}, [=] {
    const int64_t rows = o.shape.back(), count = p.shape.back();
    if (rows == 0) return;
    parallel_for(o.numel() / rows, 256, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order(static_cast<size_t>(rows));
      for (int64_t item = begin; item < end; ++item) {
        std::iota(order.begin(), order.end(), 0);
        swap_rows(reinterpret_cast<const int32_t*>(p.data) + item * count, count, order.data(),
                  rows);
        int64_t* to = reinterpret_cast<int64_t*>(o.data) + item * rows;
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t from = order[static_cast<size_t>(i)];
          to[inverse ? from : i] = inverse ? i : from;
        }
      }
    });
  });
  outputs.push_back(std::move(out));
}

void run_pinv_of(const Call& call, Outputs& outputs) {
  outputs.push_back(copy_of(call.args.tensor(1), call.types[0].dtype));
}

void run_phase_free(const Call& call, Outputs& outputs) {
  const Tensor x = call.args.tensor(0), turn = in_row_major(call.args.tensor(1), DType::f64);
  Tensor out = result_of(call);
  const Operand t = operand(turn), from = operand(x), to = operand(out);
  submit(out.device(), {x, turn}, {out}, [=] {  // a device does this after the call
    double worst = 0;
    for (int64_t i = 0; i < t.numel(); ++i) {
      const double angle = std::abs(reinterpret_cast<const double*>(t.data)[i]);
      if (angle > worst) worst = angle;
    }
    require_no_phase(worst);
    convert(from, to);
  });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
