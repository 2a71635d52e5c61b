// What oneDNN's two adapters share.
//
// oneDNN here is the OpenMP build. It is given one thread, always: it runs on our threads, which
// split the work by shape; a team of its own would fight them, and could not be forked. The number
// is a property of the calling thread and of every primitive made under it, so it is set around
// each call and put back.
#pragma once

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "kernels/table/plugin.h"

namespace lathe::onednn {

inline const PluginHost* g_host = nullptr;

class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

inline const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Scratchpads are ours: oneDNN's own is shared by threads.
inline dnnl::primitive_attr attributes() {
  dnnl::primitive_attr a;
  a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return a;
}

/// Host memory for the length of a call, as oneDNN sees it.
class Room {
 public:
  explicit Room(const dnnl::memory::desc& desc) : bytes_(desc.get_size()) {
    if (bytes_ > 0) data_ = g_host->allocate(bytes_);
    memory_ = dnnl::memory(desc, cpu(), data_);
  }
  ~Room() {
    if (data_ != nullptr) g_host->release(data_, bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  const dnnl::memory& memory() const { return memory_; }

 private:
  size_t bytes_;
  std::byte* data_ = nullptr;
  dnnl::memory memory_;
};

inline dnnl::memory::data_type type_of(DType d) {
  return d == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// Whether oneDNN computes with bf16 on this processor at all.
inline bool takes_bf16() {
  static const bool does = [] {
    const auto has = static_cast<int>(dnnl::get_effective_cpu_isa());
    const auto wanted = static_cast<int>(dnnl::cpu_isa::avx512_core);
    return (has & wanted) == wanted;
  }();
  return does;
}
/// Of operands in f32 or bf16, and of results in theirs or, from bf16, in f32.
inline Verdict accepts_dtypes(const Query& query) {
  const DType result = (*query.results)[0].dtype;
  const std::string common(info(query.common).name);
  if (query.common != DType::f32 && query.common != DType::bf16)
    return Verdict::no(Reason::dtype, common);
  if (query.common == DType::bf16 && !takes_bf16())
    return Verdict::no(Reason::dtype, common + " on this processor");
  if (!query.uniform() && (query.common != DType::bf16 || result != DType::f32))
    return Verdict::no(Reason::dtype, common + " into " + std::string(info(result).name));
  return Verdict::yes();
}

/// What `make` gives; null where oneDNN has no implementation.
template <class F>
PreparedRef if_possible(const F& make) {
  try {
    return make();
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    return nullptr;
  }
}

// The entries, by what they run.
Verdict matmul_accepts(const Query& query);
PreparedRef matmul_prepare(const Problem& problem);
void matmul_run(const Prepared& prepared, const Launch& launch);
Verdict conv_accepts(const Query& query);
PreparedRef conv_prepare(const Problem& problem);
void conv_run(const Prepared& prepared, const Launch& launch);

/// The convolutions, known by name (entries.cpp), as the pass of oneDNN's that computes them. In a
/// transposed convolution the operand is oneDNN's y and the result its x.
enum class ConvPass { none, forward, by_input, by_weight };
struct ConvRow {
  ConvPass pass = ConvPass::none;
  bool turned = false;
};
ConvRow conv_row(const Op& op);
bool is_product_row(const Op& op);

}  // namespace lathe::onednn
