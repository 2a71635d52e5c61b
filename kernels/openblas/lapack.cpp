// Which routine runs which definition, and what all routines share.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>

#include "kernels/openblas/matrices.h"

namespace lathe::openblas {
namespace {

const Routine* find_routine(std::string_view op) {
  for (absl::Span<const Routine> some :
       {solving_routines(), factoring_routines(), spectral_routines()})
    for (const Routine& r : some)
      if (r.op == op) return &r;
  return nullptr;
}

/// Sizes and products of two that LAPACK counts in 32 bits.
bool too_large(const Operand& x) {
  int64_t widest = 0;
  for (int64_t n : x.shape) widest = std::max(widest, n);
  return x.rank() >= 2 && widest > (int64_t{1} << 30);
}

}  // namespace

std::vector<int> each_item(int64_t count, double cost, absl::FunctionRef<int(int64_t)> body) {
  std::vector<int> infos(static_cast<size_t>(count), 0);
  constexpr double kChunk = 40000;  // operations: some tens of microseconds
  const auto grain = static_cast<int64_t>(std::clamp(kChunk / std::max(cost, 1.0), 1.0, 4096.0));
  host().parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) infos[static_cast<size_t>(i)] = body(i);
  });
  return infos;
}

Fault first_fault(const std::vector<int>& infos, bool batched, std::string_view sentence,
                  std::string_view expected, std::string_view next) {
  auto bad = std::find_if(infos.begin(), infos.end(), [](int info) { return info != 0; });
  if (bad == infos.end()) return {};
  const std::string which =
      batched ? absl::StrCat("matrix ", bad - infos.begin(), " of the batch") : "the matrix";
  if (*bad == kNotFinite)
    return {absl::StrCat(which, " holds NaN or infinities"), "elements that are not finite",
            "finite elements", "look for where they come from with isfinite()"};
  const std::string text = absl::StrReplaceAll(sentence, {{"#", absl::StrCat(std::abs(*bad))}});
  return {absl::StrCat(which, " ", text), absl::StrCat("LAPACK's info = ", *bad),
          std::string(expected), std::string(next)};
}

void store_infos(const std::vector<int>& infos, const Operand& out) {
  std::copy(infos.begin(), infos.end(), reinterpret_cast<int32_t*>(out.data));
}

Verdict lapack_accepts(const Query& query) {
  if (find_routine(query.op.name()) == nullptr) return Verdict::no(Reason::op, query.op.name());
  return Verdict::yes();
}

Fault lapack_call(const PluginCall& call) {
  for (const Operand& x : call.in)
    if (too_large(x))
      return {"the matrix is too large for LAPACK", absl::StrCat("an axis of over 2^30 elements"),
              "axes of 2^30 elements at most", "cut it into blocks"};
  return find_routine(call.op)->run(call);
}

}  // namespace lathe::openblas
