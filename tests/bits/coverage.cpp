#include "tests/bits/coverage.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "tests/bits/definitions.h"

namespace lathe::bits_test {
namespace {

using Counts = std::map<std::string, int64_t>;

struct Part {
  std::string_view name;
  Counts Coverage::*counts;
};
constexpr Part kParts[] = {{"row", &Coverage::rows},        {"kind", &Coverage::kinds},
                           {"mode", &Coverage::modes},      {"engine", &Coverage::engines},
                           {"refused", &Coverage::refused}, {"claimed", &Coverage::claimed},
                           {"taken", &Coverage::taken},     {"retried", &Coverage::retried}};
struct Total {
  std::string_view name;
  int64_t Coverage::*count;
};
constexpr Total kTotals[] = {{"programs", &Coverage::programs},
                             {"steps", &Coverage::steps},
                             {"gradients", &Coverage::gradients},
                             {"outputs", &Coverage::outputs},
                             {"outputs_with_values", &Coverage::outputs_with_values}};

std::string cell(Kind kind, DType dtype) {
  return absl::StrCat(name(kind), " ", info(dtype).short_name);
}

/// Can a definition of this kind be called with this dtype? Composites never reach a backend
/// themselves: their parts are counted, and their definitions.
bool possible(Kind kind, DType dtype) {
  if (kind == Kind::composite) return false;
  for (const Row& row : rows())
    if (row.op->kind == kind && row.takes.has(dtype)) return true;
  return false;
}

int64_t at(const Counts& counts, const std::string& key) {
  auto it = counts.find(key);
  return it == counts.end() ? 0 : it->second;
}

}  // namespace

void Coverage::add(const Coverage& other) {
  for (const Part& p : kParts)
    for (const auto& [key, n] : other.*p.counts) (this->*p.counts)[key] += n;
  for (const Total& t : kTotals) this->*t.count += other.*t.count;
}

std::string Coverage::lines() const {
  std::string out;
  for (const Total& t : kTotals)
    absl::StrAppend(&out, "total\t", t.name, "\t", this->*t.count, "\n");
  for (const Part& p : kParts)
    for (const auto& [key, n] : this->*p.counts)
      absl::StrAppend(&out, p.name, "\t", key, "\t", n, "\n");
  return out;
}

Coverage Coverage::parse(const std::string& lines) {
  Coverage c;
  for (std::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    std::vector<std::string> parts = absl::StrSplit(line, '\t');
    int64_t n = 0;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &n)) continue;
    for (const Total& t : kTotals)
      if (parts[0] == "total" && parts[1] == t.name) c.*t.count += n;
    for (const Part& p : kParts)
      if (parts[0] == p.name) (c.*p.counts)[parts[1]] += n;
  }
  return c;
}

std::string Coverage::table() const {
  std::string out;
  for (const Total& t : kTotals) absl::StrAppend(&out, t.name, " ", this->*t.count, "\n");
  absl::StrAppend(&out, absl::StrFormat("%-12s", "kind"));
  for (DType d : kTensorTypes) absl::StrAppend(&out, absl::StrFormat("%7s", info(d).short_name));
  for (int k = 0; k < kKinds; ++k) {
    auto kind = static_cast<Kind>(k);
    absl::StrAppend(&out, "\n", absl::StrFormat("%-12s", name(kind)));
    for (DType d : kTensorTypes) {
      int64_t n = at(kinds, cell(kind, d));
      absl::StrAppend(&out, n == 0 && !possible(kind, d) ? "      -" : absl::StrFormat("%7d", n));
    }
  }
  int column = 0;
  absl::StrAppend(&out, "\nrows:");
  for (const Op* op : all_ops())
    absl::StrAppend(&out, column++ % 5 == 0 ? "\n" : "  ",
                    absl::StrFormat("%-16s%5d", op->name(), at(rows, op->name())));
  for (auto [title, counts] : {std::pair{"comparisons", &modes},
                               {"steps by engine", &engines},
                               {"refused", &refused},
                               {"composites taken whole", &taken}}) {
    absl::StrAppend(&out, "\n", title, ":\n");
    for (const auto& [key, n] : *counts)
      absl::StrAppend(&out, absl::StrFormat("  %9d  %s\n", n, key));
  }
  return out;
}

std::vector<std::string> Coverage::shortfalls(int64_t each_row) const {
  std::vector<std::string> out;
  for (const Row& row : bits_test::rows()) {
    int64_t called = at(rows, row.op->name());
    if (called < each_row)
      out.push_back(absl::StrCat("row ", row.op->name(), " was called ", called, " times"));
  }
  for (int k = 0; k < kKinds; ++k)
    for (DType d : kTensorTypes) {
      auto kind = static_cast<Kind>(k);
      if (possible(kind, d) && at(kinds, cell(kind, d)) == 0)
        out.push_back(absl::StrCat("no ", name(kind), " row ran with ", name(d)));
    }
  for (const auto& [key, n] : engines) {
    bool other = key == "strips: generated" || key == "llvm: strips";
    if (other && n > 0) out.push_back(absl::StrCat(n, " steps ran on another engine: ", key));
  }
  for (std::string& s : idle_claims()) out.push_back(std::move(s));
  if (programs > 1 && claimed.empty()) out.push_back("no program was run with claims");
  return out;
}

std::vector<std::string> Coverage::idle_claims() const {
  constexpr int64_t kEnough = 10;      // programs in which no composite at all is no accident
  constexpr int64_t kAgainOneIn = 20;  // runs by the tape that may fall back to the parts
  std::vector<std::string> out;
  for (const auto& [mode, runs] : claimed) {
    const int64_t again = at(retried, mode);
    if (runs >= kEnough && at(taken, mode) == 0)
      out.push_back(absl::StrCat("no composite was taken whole in ", runs, " runs of: ", mode));
    if (again > 1 + runs / kAgainOneIn)
      out.push_back(absl::StrCat(again, " of ", runs, " runs fell back to the parts: ", mode));
  }
  return out;
}

std::string Coverage::claims_line() const {
  int64_t runs = 0, all = 0, again = 0, least = 0;
  for (const auto& [mode, n] : claimed) {
    const int64_t here = at(taken, mode);
    least = runs == 0 ? here : std::min(least, here);
    runs += n, all += here, again += at(retried, mode);
  }
  return absl::StrCat(all, " composites taken whole in ", runs, " runs of ", claimed.size(),
                      " modes, at least ", least, " in each mode, ", again, " runs again by parts");
}

Coverage& coverage() {
  static auto& c = *new Coverage;
  return c;
}

}  // namespace lathe::bits_test
