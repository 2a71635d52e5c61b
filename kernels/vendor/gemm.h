// What the adapters of BLAS-like vendors share: a matrix product row (op mm) taken apart into plain
// two-dimensional products, in pieces of rows that depend on the shape alone, each given to the
// vendor on one of our threads.
//
// A vendor wants one stride of each matrix to be 1. Where an operand has none (a slice with a step,
// an expanded axis), it is copied first: by its strides alone, so eager and graph do the same.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>

#include "kernels/table/plugin.h"

namespace lathe {

struct VendorMatrix {
  const std::byte* data = nullptr;
  int64_t ld = 0;       // between rows, or between columns if turned
  bool turned = false;  // stored column by column
};

struct VendorGemm {
  int64_t m, n, k;
  VendorMatrix a, b;
  std::byte* c;  // row-major, n from row to row
};

struct VendorGemmPlan : Prepared {
  int64_t m = 0, n = 0, k = 0, products = 1, rows_each = 0;
  DType dtype = DType::f32;       // of the operands
  DType out_dtype = DType::f32;   // of the result
  size_t bytes = 0;               // of an operand's element
  Sizes batch, a_batch, b_batch;  // extents; strides in elements
  Sizes a, b;                     // (row, column) strides

  bool runs_a_product() const { return products * m * n > 0 && k > 0; }
};

/// Strides by which a vendor can read rows x cols as it stands.
inline bool vendor_readable(const Sizes& s, int64_t rows, int64_t cols) {
  bool by_row = (s[1] == 1 || cols == 1) && (s[0] >= std::max<int64_t>(1, cols) || rows == 1);
  bool by_col = (s[0] == 1 || rows == 1) && (s[1] >= std::max<int64_t>(1, rows) || cols == 1);
  return by_row || by_col;
}

inline void plan_vendor_gemm(const Problem& problem, VendorGemmPlan& plan) {
  const Operand &a = problem.in[0], &b = problem.in[1], &out = problem.out;
  size_t rank = out.shape.size(), lead = rank - 2;
  plan.m = out.shape[lead];
  plan.n = out.shape[lead + 1];
  plan.k = a.shape.back();
  plan.dtype = a.dtype;
  plan.out_dtype = out.dtype;
  plan.bytes = size_of(a.dtype);
  auto last = [](const Operand& o) { return Sizes(o.strides.end() - 2, o.strides.end()); };
  plan.a = last(a);
  plan.b = last(b);
  auto batch = [&](const Operand& o) {
    Sizes s(lead, 0);
    size_t own = o.shape.size() - 2;
    for (size_t i = 0; i < own; ++i)
      if (o.shape[i] != 1) s[lead - own + i] = o.strides[i];
    return s;
  };
  plan.batch.assign(out.shape.begin(), out.shape.begin() + static_cast<ptrdiff_t>(lead));
  plan.a_batch = batch(a);
  plan.b_batch = batch(b);
  for (int64_t e : plan.batch) plan.products *= e;
  int64_t row = std::max<int64_t>(1, plan.n * plan.k);
  const int64_t each = int64_t{1} << (a.dtype == DType::bf16 ? 25 : 24);  // bf16 is done sooner
  plan.rows_each = std::max<int64_t>(96, (each / row + 15) / 16 * 16);
}

inline PreparedRef prepare_vendor_gemm(const Problem& problem) {
  auto plan = std::make_unique<VendorGemmPlan>();
  plan_vendor_gemm(problem, *plan);
  return plan;
}

/// How a vendor is given rows x cols of these strides: as it stands, or a copy by rows where it
/// cannot be read so. Without data.
inline VendorMatrix vendor_operand(const Sizes& s, int64_t rows, int64_t cols) {
  if (!vendor_readable(s, rows, cols)) return {nullptr, cols, false};
  bool by_row = (s[1] == 1 || cols == 1) && (s[0] >= std::max<int64_t>(1, cols) || rows == 1);
  if (by_row) return {nullptr, rows == 1 ? std::max<int64_t>(1, cols) : s[0], false};
  return {nullptr, cols == 1 ? std::max<int64_t>(1, rows) : s[1], true};
}

/// Host memory for the length of a call.
class VendorScratch {
 public:
  VendorScratch(const PluginHost& host, size_t bytes) : host_(host), bytes_(bytes) {
    if (bytes_ > 0) data_ = host_.allocate(bytes_);
  }
  ~VendorScratch() {
    if (data_ != nullptr) host_.release(data_, bytes_);
  }
  VendorScratch(const VendorScratch&) = delete;
  VendorScratch& operator=(const VendorScratch&) = delete;
  std::byte* data() const { return data_; }

 private:
  const PluginHost& host_;
  size_t bytes_;
  std::byte* data_ = nullptr;
};

inline void copy_matrix(const std::byte* from, const Sizes& s, int64_t rows, int64_t cols,
                        size_t bytes, std::byte* to) {
  auto size = static_cast<int64_t>(bytes);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j, to += size)
      std::memcpy(to, from + (i * s[0] + j * s[1]) * size, bytes);
}

/// Where the matrices of a product begin, from the operands' first elements, in elements.
struct VendorOffsets {
  int64_t a = 0, b = 0;
};
inline VendorOffsets vendor_offsets(const VendorGemmPlan& p, int64_t product) {
  VendorOffsets at;
  for (size_t i = p.batch.size(); i-- > 0; product /= p.batch[i]) {
    const int64_t x = product % p.batch[i];
    at.a += x * p.a_batch[i];
    at.b += x * p.b_batch[i];
  }
  return at;
}

/// Calls `gemm(const VendorGemm&, product)` for every piece, then the epilogue.
template <class F>
void run_vendor_gemm(const Prepared& prepared, const Launch& launch, const PluginHost& host,
                     F gemm) {
  const auto& p = static_cast<const VendorGemmPlan&>(prepared);
  int64_t outputs = p.products * p.m * p.n;
  if (outputs == 0) return;
  auto bytes = static_cast<int64_t>(p.bytes),
       out_bytes = static_cast<int64_t>(size_of(p.out_dtype));
  if (p.k == 0) {
    std::memset(launch.out, 0, static_cast<size_t>(outputs * out_bytes));
  } else {
    int64_t pieces = (p.m + p.rows_each - 1) / p.rows_each;
    int64_t each = p.rows_each * p.n * p.k;
    bool copy_b = !vendor_readable(p.b, p.k, p.n);
    host.parallel_for(
        p.products * pieces, std::max<int64_t>(1, (1 << 22) / std::max<int64_t>(1, each)),
        [&](int64_t begin, int64_t end) {
          for (int64_t t = begin; t < end; ++t) {
            const VendorOffsets at = vendor_offsets(p, t / pieces);
            int64_t row = t % pieces * p.rows_each, rows = std::min(p.rows_each, p.m - row);
            const std::byte* a = launch.a + (at.a + row * p.a[0]) * bytes;
            const std::byte* b = launch.b + at.b * bytes;
            bool copy_a = !vendor_readable(p.a, rows, p.k);
            VendorScratch a_copy(host, copy_a ? static_cast<size_t>(rows * p.k * bytes) : 0);
            VendorScratch b_copy(host, copy_b ? static_cast<size_t>(p.k * p.n * bytes) : 0);
            VendorGemm g{rows,
                         p.n,
                         p.k,
                         vendor_operand(p.a, rows, p.k),
                         vendor_operand(p.b, p.k, p.n),
                         launch.out + (t / pieces * p.m + row) * p.n * out_bytes};
            if (copy_a) copy_matrix(a, p.a, rows, p.k, p.bytes, a_copy.data());
            if (copy_b) copy_matrix(b, p.b, p.k, p.n, p.bytes, b_copy.data());
            g.a.data = copy_a ? a_copy.data() : a;
            g.b.data = copy_b ? b_copy.data() : b;
            gemm(g, t / pieces);
          }
        });
  }
  launch.epilogue.at_the_end(outputs, host.parallel_for);
}

/// mm on a host, of one of these dtypes, and no more axes than `most_axes`. `wider`: it takes the
/// query's result, though that is not of the operands' dtype.
inline Verdict accepts_vendor_gemm(const Query& query, std::string_view row, DTypeSet dtypes,
                                   int most_axes, bool wider = false) {
  if (query.op.name() != row) return Verdict::no(Reason::op, query.op.name());
  if (!dtypes.has(query.common))
    return Verdict::no(Reason::dtype, std::string(info(query.common).name));
  if (!query.uniform() && !wider)
    return Verdict::no(Reason::dtype, std::string(info(query.common).name) + " into " +
                                          std::string(info((*query.results)[0].dtype).name));
  for (int rank : query.ranks)
    if (rank > most_axes)
      return Verdict::no(Reason::rank,
                         std::to_string(rank) + " axes, at most " + std::to_string(most_axes));
  return Verdict::yes();
}

// ── a library with one product for each of float, double and std::complex<float> ────────────────

inline Verdict accepts_typed_gemm(const Query& query, std::string_view op) {
  return accepts_vendor_gemm(query, op, {DType::f32, DType::f64, DType::c64}, 16);
}

/// `product.operator()<T>(const VendorGemm&)` for every piece, T being the plan's dtype.
template <class F>
void run_typed_gemm(const Prepared& prepared, const Launch& launch, const PluginHost& host,
                    F product) {
  const DType dtype = static_cast<const VendorGemmPlan&>(prepared).dtype;
  run_vendor_gemm(prepared, launch, host, [&](const VendorGemm& g, int64_t) {
    if (dtype == DType::f32) return product.template operator()<float>(g);
    if (dtype == DType::f64) return product.template operator()<double>(g);
    product.template operator()<std::complex<float>>(g);
  });
}

}  // namespace lathe
