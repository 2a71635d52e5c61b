#include "kernels/table/table.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <atomic>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/infer/rules.h"
#include "core/tensor/device.h"
#include "kernels/problem/contraction.h"

namespace lathe {

std::string_view sentence(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "accepts";
    case Reason::disabled:
      return "disabled by flag";
    case Reason::not_built:
      return "not built";
    case Reason::not_found:
      return "not found";
    case Reason::not_loadable:
      return "found, but it cannot be opened";
    case Reason::no_cuda:
      return "built without CUDA";
    case Reason::device:
      return "does not run on this device";
    case Reason::op:
      return "does not know this op";
    case Reason::dtype:
      return "lacks this dtype";
    case Reason::rank:
      return "lacks this rank";
    case Reason::extent:
      return "not chosen at this reduced extent";
    case Reason::core_type:
      return "takes this processor for an old one";
    case Reason::later:
      return "usable, lower priority";
    case Reason::engine:
      return "not asked for by the flag engine";
    case Reason::not_ready:
      return "not compiled yet";
    case Reason::not_compiled:
      return "could not be compiled";
    case Reason::no_arithmetic:
      return "only moves elements";
    case Reason::declined:
      return "declines";
    case Reason::numerics:
      return "the flag numerics asks for defined bits";
  }
  return "";
}

std::string Verdict::text() const {
  return numbers_.empty() ? std::string(sentence(reason_))
                          : absl::StrCat(sentence(reason_), " (", numbers_, ")");
}

Shape Query::reduced() const {
  return op.kind == Kind::contract ? reduced_extents(op, args, (*results)[0].shape) : Shape{};
}

int64_t Query::terms() const {
  int64_t n = 1;
  for (Int e : reduced()) {
    if (!e.known()) return -1;
    n *= e.value();
  }
  return n;
}

Query make_query(const Op& op, Args args, const Types& results) {
  Query q{op, args, {}, {}};
  for (const Arg& a : args) {
    if (a.tag != Tag::tensor) continue;
    q.in.push_back(a.tensor_->dtype);
    q.ranks.push_back(a.tensor_->geometry.rank());
  }
  for (const Arg& a : args)
    if (a.tag == Tag::tensor) q.device = a.tensor_->device;
  if (!results.empty()) q.device = results[0].device;
  q.results = &results;
  if (op.kind == Kind::contract) {
    const SumTypes types = sum_types(op, args);
    q.common = types.operands;
    q.accumulator = types.accumulator;
  }
  return q;
}

// ── choosing ────────────────────────────────────────────────────────────────────────────────────
namespace {

struct TableRule {
  std::string op;
  DType dtype;
  int64_t least, most;
  const Entry* entry;
};
struct TableFile {
  std::vector<TableRule> rules;
  std::string text;
};
// Set once before the first query, read without a lock after it.
std::atomic<const TableFile*> g_table{nullptr};
std::atomic<bool> g_queried{false};

/// What a flag says about entries, worked out again when a flag changes.
struct Known {
  uint64_t revision = 0;
  bool any = false;
};

bool is_disabled(const Entry& entry) {
  static thread_local Known t_known;
  uint64_t now = flags_revision();
  if (t_known.revision != now + 1) {
    t_known.any = !flag_text(Flag::disabled).empty();
    t_known.revision = now + 1;
  }
  if (!t_known.any) return false;
  return flag_has(Flag::disabled, entry.name) || flag_has(Flag::disabled, entry.vendor());
}

/// Whether results are to have defined bits where there is an entry that gives them.
bool wants_defined() {
  static thread_local Known t_known;
  if (uint64_t now = flags_revision(); t_known.revision != now + 1) {
    t_known.any = flag_text(Flag::numerics) == "defined";
    t_known.revision = now + 1;
  }
  return t_known.any;
}

Verdict judge(const Entry& entry, const Query& query) {
  if (is_disabled(entry)) return Verdict::no(Reason::disabled, flag_text(Flag::disabled));
  if (entry.bits != Bits::defined && wants_defined())
    for (const Entry* other : entries(query.op.kind))
      if (other->bits == Bits::defined && !is_disabled(*other) &&
          other->accepts(*other, query).accepted())
        return Verdict::no(Reason::numerics, std::string(name(entry.bits)));
  return entry.accepts(entry, query);
}

/// `terms` < 0, a graph's symbol: whether the rule may fit once it is a number.
bool may_fit(const TableRule& r, const Query& query, int64_t terms) {
  return r.op == query.op.name() && r.dtype == query.common &&
         (terms < 0 || (terms >= r.least && terms <= r.most));
}

constexpr std::string_view kReference = "reference";

/// The table file's rule for this query, if its entry accepts: the first that may fit.
const TableRule* rule_for(const Query& query, int64_t terms) {
  const TableFile* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr || query.op.kind != Kind::contract) return nullptr;
  for (const TableRule& r : table->rules)
    if (may_fit(r, query, terms)) return judge(*r.entry, query).accepted() ? &r : nullptr;
  return nullptr;
}
const TableRule* tuned(const Query& query) {
  if (g_table.load(std::memory_order_relaxed) == nullptr) return nullptr;
  int64_t terms = query.terms();
  return terms < 0 ? nullptr : rule_for(query, terms);
}

/// The query's dtypes as errors name them: "float32, int64 -> float32".
std::string dtypes_text(const Query& query) {
  std::vector<std::string_view> in, out;
  for (DType dtype : query.in) in.push_back(info(dtype).name);
  for (const TensorType& type : *query.results) out.push_back(info(type.dtype).name);
  return absl::StrCat(absl::StrJoin(in, ", "), " -> ", absl::StrJoin(out, ", "));
}

/// Throws UnsupportedError: every entry but the reference has refused, and a fallback is an error.
[[noreturn]] void refuse_reference(const Query& query) {
  std::string refusals;
  for (const Entry* entry : entries(query.op.kind))
    if (entry->vendor() != kReference)
      absl::StrAppend(&refusals, "\n", entry->name, ": ", judge(*entry, query).text());
  throw UnsupportedError(
      {.op = query.op.name(),
       .problem = "only the reference implementation runs this, and fallback_is_error is on",
       .got = absl::StrCat(dtypes_text(query), refusals),
       .expected = "an entry of the table that accepts",
       .next = "look at the reasons and at the flag 'disabled', or turn fallback_is_error off"});
}

std::string rule_text(const TableRule& rule) {
  return absl::StrCat("the table gives ", rule.least, "..", rule.most, " to ", rule.entry->name);
}

}  // namespace

const Entry* find_entry(const Query& query, const Entry* but) {
  if (const TableRule* rule = tuned(query); rule != nullptr && rule->entry != but)
    return rule->entry;
  const Entry* yielding = nullptr;  // to a vendor's behind it
  for (const Entry* entry : entries(query.op.kind)) {
    if (entry == but || !judge(*entry, query).accepted()) continue;
    if (yielding != nullptr && entry->vendor() == yielding->yields_to) return entry;
    if (yielding != nullptr) continue;
    if (entry->yields == nullptr || !entry->yields(query)) return entry;
    yielding = entry;
  }
  return yielding;
}

Bits promised_bits(const Query& query) {
  const Entry* found = find_entry(query);
  if (found == nullptr) return Bits::free;
  Bits least = found->bits;
  // Flags that change later may give it to a vendor: what was made by then is not made anew.
  for (const Entry* entry : entries(query.op.kind))
    if (entry->yields != nullptr && entry->yields(query)) least = std::max(least, Bits::pinned);
  const TableFile* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr || query.op.kind != Kind::contract || query.terms() >= 0) return least;
  for (const TableRule& r : table->rules)
    if (may_fit(r, query, -1)) least = std::max(least, r.entry->bits);
  return least;
}

const Entry& choose_entry(const Query& query) {
  if (!g_queried.load(std::memory_order_relaxed)) g_queried.store(true);
  if (const Entry* found = find_entry(query)) {
    if (flag_on(Flag::fallback_is_error) && found->vendor() == kReference &&
        tuned(query) == nullptr)
      refuse_reference(query);
    return *found;
  }
  device_api(query.device);  // or there is no such device
  throw UnsupportedError({.op = query.op.name(),
                          .problem = "no table entry runs this",
                          .got = explain_text(query),
                          .next = "look at the reasons, and at the flag 'disabled'"});
}

const Entry* claiming_entry(const Op& op, Args args, Types& types) {
  if (entries(Kind::composite).empty()) return nullptr;
  for (const Param& p : op.schema.params)
    if (p.written || (p.list && p.type == ArgType::tensor)) return nullptr;
  const Query query = make_query(op, args, {});
  for (const Entry* entry : entries(Kind::composite)) {
    if (!judge(*entry, query).accepted()) continue;
    CompositeTypes inferred = infer_composite(op, args);
    types = std::move(inferred.types);
    return inferred.pure ? entry : nullptr;
  }
  return nullptr;
}

Verdict usable(const Entry& entry) {
  if (is_disabled(entry)) return Verdict::no(Reason::disabled, flag_text(Flag::disabled));
  return entry.usable == nullptr ? Verdict::yes() : entry.usable(entry);
}

std::vector<Explained> explain(const Query& query) {
  std::vector<Explained> all;
  const TableRule* rule = tuned(query);
  const Entry* chosen = rule == nullptr ? find_entry(query) : rule->entry;
  for (const Entry* entry : entries(query.op.kind))
    all.push_back({entry, judge(*entry, query), entry == chosen});
  return all;
}

std::string explain_text(const Query& query) {
  std::string out;
  int64_t terms = g_table.load() == nullptr ? 0 : query.terms();
  const TableRule* rule = rule_for(query, terms);
  bool later =
      rule != nullptr && terms < 0;  // the extent is known, and the rule read, when it runs
  std::string extent = later ? "known when it runs" : absl::StrCat(terms);
  std::vector<Explained> all = explain(query);
  for (size_t i = 0; i < all.size(); ++i) {
    const Explained& e = all[i];
    std::string place = absl::StrCat(i + 1, " of ", all.size());
    absl::StrAppend(&out, i == 0 ? "" : "\n", e.entry->name, " (", name(e.entry->bits), "): ");
    if (e.chosen)
      absl::StrAppend(&out, "chosen (", place, later ? "; " + rule_text(*rule) : "", ")");
    else if (!e.verdict.accepted())
      absl::StrAppend(&out, e.verdict.text());
    else if (rule != nullptr && (!later || e.entry == rule->entry))
      absl::StrAppend(
          &out, Verdict::no(Reason::extent, absl::StrCat(extent, "; ", rule_text(*rule))).text());
    else
      absl::StrAppend(&out, Verdict::no(Reason::later, place).text());
  }
  return out;
}

// ── table files ─────────────────────────────────────────────────────────────────────────────────
namespace {

[[noreturn]] void bad_line(int line, std::string_view text, std::string_view problem) {
  throw ValueError({.op = "table",
                    .problem = absl::StrCat("line ", line, ": ", problem),
                    .got = std::string(text),
                    .expected = "<op> <dtype> <least k>..<most k> <entry>",
                    .next = "table(op) lists the entries of an op"});
}

TableRule parse_rule(int line, std::string_view text) {
  std::vector<std::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.size() != 4) bad_line(line, text, "four words expected");
  TableRule r{std::string(words[0]), DType::f32, 0, 0, nullptr};
  if (!parse_dtype(words[1], r.dtype)) bad_line(line, text, "an unknown dtype");
  std::pair<std::string_view, std::string_view> range = absl::StrSplit(words[2], "..");
  if (!absl::SimpleAtoi(range.first, &r.least) || !absl::SimpleAtoi(range.second, &r.most))
    bad_line(line, text, "a range of k expected, such as 1..512");
  for (const Entry* entry : entries(Kind::contract))
    if (entry->name == words[3]) r.entry = entry;
  if (r.entry == nullptr) bad_line(line, text, "an unknown entry");
  return r;
}

}  // namespace

void use_table(std::string_view text) {
  if (g_queried.load())
    throw UnsupportedError({.op = "table",
                            .problem = "the table is fixed from the first op on",
                            .got = "a table after an op has run",
                            .expected = "a table before any op",
                            .next = "give it right after the library is loaded"});
  auto table = std::make_unique<TableFile>();
  table->text = std::string(text);
  int number = 0;
  for (std::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (!line.empty()) table->rules.push_back(parse_rule(number, line));
  }
  g_table.store(table.release(), std::memory_order_release);
}

std::string table_text() {
  const TableFile* table = g_table.load(std::memory_order_acquire);
  return table == nullptr ? "" : table->text;
}

}  // namespace lathe
