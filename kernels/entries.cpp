// The entries that are built in, in order of preference, and the registry of others. Ours come
// first wherever they are near the best, because their bits are defined; a vendor's entry is
// reached where ours yields to it, is switched off or lacks the dtype, or by a tuned table.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "kernels/custom/custom.h"
#include "kernels/own/contract.h"
#include "kernels/own/implementations.h"
#include "kernels/own/linalg.h"
#include "kernels/own/reduce.h"
#include "kernels/own/search.h"
#include "kernels/reference/entry.h"
#include "kernels/simd/choose_loops.h"
#include "kernels/table/plugin.h"
#include "kernels/table/table.h"

namespace lathe {
namespace {

Verdict any_host(const Entry&, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  return Verdict::yes();
}

/// An opaque definition is known by name: "own.searchsorted" runs searchsorted.
Verdict named_row(const Entry& entry, const Query& query) {
  if (entry.name.substr(entry.name.find('.') + 1) != query.op.name())
    return Verdict::no(Reason::op, query.op.name());
  return any_host(entry, query);
}

Verdict without_cuda(const Entry&) { return Verdict::no(Reason::no_cuda); }
Verdict refused_without_cuda(const Entry& entry, const Query&) { return without_cuda(entry); }

constexpr Entry vendor(std::string_view name) {
  return {.name = name,
          .kind = Kind::contract,
          .bits = Bits::pinned,
          .accepts = plugin_accepts,
          .prepare = plugin_prepare,
          .run = plugin_run,
          .usable = plugin_usable};
}
/// A vendor's implementation of a family of opaque definitions.
constexpr Entry vendor_family(std::string_view name) {
  return {.name = name,
          .kind = Kind::opaque,
          .bits = Bits::pinned,
          .accepts = plugin_accepts,
          .take = plugin_take,
          .usable = plugin_usable};
}

/// A plug-in that is compiled for an instruction set, after which it is named, is not opened where
/// the loops of Lathe do without.
Verdict isa_in_use(const Entry& entry) {
  const std::string_view isa = simd_loops().name;
  const bool wide = entry.vendor().find("avx512") != std::string_view::npos;
  if (isa == "avx512" || (isa == "avx2" && !wide)) return Verdict::yes();
  return Verdict::no(Reason::declined, absl::StrCat("the instruction set in use is ", isa));
}
Verdict isa_accepts(const Entry& entry, const Query& query) {
  const Verdict in_use = isa_in_use(entry);
  return in_use.accepted() ? plugin_accepts(entry, query) : in_use;
}
Verdict isa_usable(const Entry& entry) {
  const Verdict in_use = isa_in_use(entry);
  return in_use.accepted() ? plugin_usable(entry) : in_use;
}
constexpr Entry of_isa(Entry entry) {
  entry.accepts = isa_accepts;
  entry.usable = isa_usable;
  return entry;
}

/// Has the processor instructions that multiply numbers of bf16?
bool multiplies_bf16() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512bf16");  // with AMX, too
#else
  return false;
#endif
}

/// A convolution with one channel to a group on one side: its sums are short, and ours reads
/// windows for many of them at once.
bool is_depthwise(const Query& query) {
  const int at = query.op.schema.find("groups");
  if (at < 0) return false;
  const Int groups = query.args.integer(at);
  // Of the two operands and the result, the weight is operand 1, or what role 2 computes.
  const Shape &x = query.args.shape(0),
              &y = query.op.role == 2 ? query.args.shape(1) : (*query.results)[0].shape;
  return !identical(groups, Int(1)) && (identical(x[1], groups) || identical(y[1], groups));
}

/// A vendor's products of bf16 are several times as fast as ours, which widen every element, where
/// the processor has instructions for them. These sum pairs of products and flush what is denormal,
/// so that no formula of ours has their bits.
bool yields_bf16(const Query& query) {
  static const bool has = multiplies_bf16();
  return has && query.common == DType::bf16 && !is_depthwise(query);
}

constexpr Entry cuda(std::string_view name) {
  return {.name = name,
          .kind = Kind::contract,
          .bits = Bits::pinned,
          .accepts = refused_without_cuda,
          .usable = without_cuda};
}
constexpr Entry whole(std::string_view name, Kind kind, void (*call)(const Call&, Outputs&)) {
  return {.name = name, .kind = kind, .bits = Bits::defined, .accepts = any_host, .call = call};
}
constexpr Entry fold(std::string_view name,
                     void (*run)(const Entry&, const Prepared&, const Launch&),
                     void (*call)(const Call&, Outputs&)) {
  Entry e = whole(name, Kind::reduce, call);
  e.prepare = own::reduce_prepare;
  e.run = run;
  return e;
}

constexpr std::array kContract = {
    Entry{.name = "own.gemm",
          .kind = Kind::contract,
          .bits = Bits::defined,
          .accepts = own::product_accepts,
          .prepare = own::product_prepare,
          .run = own::product_run,
          .pack = own::product_pack,
          .room = own::product_room,
          .yields = yields_bf16,
          .yields_to = "onednn",
          .fuses = true},
    vendor("onednn.matmul"),
    vendor("onednn.conv"),
    vendor("openblas.gemm"),
    vendor("eigen.gemm"),
    cuda("cublas.gemm"),
    cuda("cudnn.conv"),
    Entry{.name = "reference.contract",
          .kind = Kind::contract,
          .bits = Bits::defined,
          .accepts = reference::contract_accepts,
          .prepare = reference::contract_prepare,
          .run = reference::contract_run,
          .fuses = true},
};
constexpr std::array kElementwise = {
    whole("own.simd", Kind::elementwise, own::run_body),
    whole("reference.body", Kind::elementwise, own::run_body_by_reference)};
constexpr std::array kCreate = {whole("own.simd", Kind::create, own::run_body),
                                whole("reference.body", Kind::create, own::run_body_by_reference)};
constexpr std::array kRandom = {whole("own.simd", Kind::random, own::run_body),
                                whole("reference.body", Kind::random, own::run_body_by_reference)};
constexpr std::array kReduce = {
    fold("own.reduce", own::reduce_run, own::run_reduce),
    fold("reference.reduce", own::reduce_run_by_reference, own::run_reduce_by_reference)};
constexpr std::array kScan = {whole("own.scan", Kind::scan, own::run_scan),
                              whole("reference.scan", Kind::scan, own::run_scan_by_reference)};
constexpr std::array kView = {whole("own.view", Kind::view, own::run_view)};
constexpr Entry own_index() {
  Entry e = whole("own.index", Kind::index, own::run_index);
  e.call_room = own::index_room;
  return e;
}
constexpr std::array kIndex = {own_index()};
constexpr std::array kSort = {whole("own.sort", Kind::sort, own::run_sort)};
constexpr Entry own_opaque(std::string_view name, void (*call)(const Call&, Outputs&)) {
  Entry e = whole(name, Kind::opaque, call);
  e.accepts = named_row;
  return e;
}
constexpr std::array kOpaque = {own_opaque("own.searchsorted", own::run_searchsorted),
                                own_opaque("own.places_of_ranks", own::run_places_of_ranks),
                                own_opaque("own.overlap_add", own::run_overlap_add),
                                own_opaque("own.rolled", own::run_rolled),
                                own_opaque("own.true_positions", own::run_true_positions),
                                own_opaque("own.sized_by", own::run_sized_by),
                                own_opaque("own.check_size", own::run_check_size),
                                vendor_family("openblas.lapack"),
                                of_isa(vendor_family("ducc_avx512.fft")),
                                of_isa(vendor_family("ducc_avx2.fft")),
                                vendor_family("ducc.fft"),
                                own_opaque("own.linalg_lu_permutation", own::run_lu_permutation),
                                own_opaque("own.linalg_pinv_of", own::run_pinv_of),
                                own_opaque("own.linalg_phase_free", own::run_phase_free),
                                Entry{.name = "host.function",
                                      .kind = Kind::opaque,
                                      .bits = Bits::pinned,
                                      .accepts = host_accepts,
                                      .call = run_host},
                                Entry{.name = "custom.kernel",
                                      .kind = Kind::opaque,
                                      .bits = Bits::pinned,
                                      .accepts = custom_accepts,
                                      .call = run_custom}};

/// The entries in order, by kind. Immutable once published; an entry lives for ever.
struct Lists {
  std::vector<const Entry*> of[kKinds];
};

Lists* built_in() {
  auto* lists = new Lists;
  auto add = [&](const auto& all) {
    for (const Entry& e : all) lists->of[static_cast<size_t>(e.kind)].push_back(&e);
  };
  add(kElementwise), add(kReduce), add(kScan), add(kContract), add(kView), add(kIndex), add(kSort);
  add(kCreate), add(kRandom), add(kOpaque);
  return lists;
}

std::atomic<const Lists*>& lists() {
  static auto& now = *new std::atomic<const Lists*>(built_in());
  return now;
}

[[noreturn]] void refuse(const Entry& entry, std::string problem, std::string next) {
  throw ValueError({.op = "register_entry",
                    .problem = std::move(problem),
                    .got = std::string(entry.name),
                    .expected = "an entry with a name of its own, \"vendor.what\", and a kernel",
                    .next = std::move(next)});
}

}  // namespace

absl::Span<const Entry* const> entries(Kind kind) {
  return lists().load(std::memory_order_acquire)->of[static_cast<size_t>(kind)];
}

void register_entry(const Entry& entry, std::string_view before) {
  static auto& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  const bool runs = entry.kind == Kind::contract ? entry.run != nullptr
                                                 : entry.take != nullptr || entry.call != nullptr;
  if (entry.accepts == nullptr || !runs || entry.name.find('.') == std::string_view::npos)
    refuse(entry, "an entry lacks its name, its test or its kernel", "give all three");
  auto next = std::make_unique<Lists>(*lists().load());
  auto& order = next->of[static_cast<size_t>(entry.kind)];
  auto named = [](std::string_view name) {
    return [name](const Entry* e) { return e->name == name; };
  };
  if (std::any_of(order.begin(), order.end(), named(entry.name)))
    refuse(entry, "there is an entry of this name", "choose another name");
  auto at = std::find_if(order.begin(), order.end(),
                         [](const Entry* e) { return e->vendor() == "reference"; });
  if (!before.empty()) at = std::find_if(order.begin(), order.end(), named(before));
  if (!before.empty() && at == order.end())
    refuse(entry, absl::StrCat("there is no entry '", before, "' to stand before"),
           "table(op) lists the entries of an op");
  order.insert(at, new Entry(entry));
  lists().store(next.release(), std::memory_order_release);
  touch_flags();
}

}  // namespace lathe
