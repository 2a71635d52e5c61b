#include "jit/kernel_ir/scheduling.h"

#include <absl/strings/str_cat.h>

#include "core/sizes/symexpr.h"

namespace lathe::jit {
namespace {

using Kind = ScheduleKind;

/// Does any statement ask where its element is?
bool reads_positions(const Kernel& k) {
  bool reads = false;
  each_statement(k.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement)) reads = reads || reads_position(*f);
  });
  return reads;
}

/// The places where an input is read.
std::vector<const Access*> reads_of(const Kernel& k, int buffer) {
  std::vector<const Access*> all;
  each_access(k.body, [&](const Access& a, bool store) {
    if (!store && a.buf == buffer) all.push_back(&a);
  });
  return all;
}

bool moves(const Access& a, size_t axis) { return !identical(a.map.along(axis), Int(0)); }
bool side_by_side(const Access& a, size_t axis) { return identical(a.map.along(axis), Int(1)); }

/// Is it read row by row, each side by side?
bool comes_in_rows(const Kernel& k, int buffer) {
  const auto rows = static_cast<size_t>(k.parallel);
  if (rows == 0 || rows == k.axes.size()) return false;
  for (const Access* a : reads_of(k, buffer))
    if (moves(*a, rows - 1) && side_by_side(*a, k.axes.size() - 1)) return true;
  return false;
}

/// Is it read across rows that lie beside each other?
bool comes_in_columns(const Kernel& k, int buffer) {
  const auto rows = static_cast<size_t>(k.parallel);
  if (rows == 0 || rows == k.axes.size()) return false;
  for (const Access* a : reads_of(k, buffer)) {
    const size_t last = k.axes.size() - 1;
    if (side_by_side(*a, rows - 1) && moves(*a, last) && !side_by_side(*a, last)) return true;
  }
  return false;
}

std::string illegal_split(const Kernel& k, const ScheduleStep& s) {
  if (!piecewise(k).empty()) return "an operand has pieces, which cut it";
  if (static_cast<size_t>(s.on) >= k.axes.size()) return absl::StrCat("there is no i", s.on);
  if (find(k.schedule, Kind::flatten) != nullptr) return "boxes are lines along all axes";
  if (of_elements(k) != nullptr)
    return reads_positions(k) ? "a function asks where its element is" : "";
  if (k.line) return "pieces of a line are taken one by one";
  if (s.on == k.parallel - 1) return "";
  if (s.on < k.parallel) return "rows are taken in their order";
  if (row_reductions(k).empty() || !columns_are_apart(k))
    return absl::StrCat("the positions of i", s.on, " are not apart");
  return "";
}

std::string illegal_stage(const Kernel& k, const ScheduleStep& s) {
  if (s.on >= k.inputs) return absl::StrCat("b", s.on, " is no input");
  if (k.line) return "pieces of a line are read where they lie";
  if (!piecewise(k).empty()) return "an operand has pieces, which are read where they lie";
  if (reads_positions(k)) return "a function asks where its element is";
  return reads_of(k, s.on).empty() ? absl::StrCat("nothing reads b", s.on) : "";
}

/// Rows of which nothing but sums over all of them has to do with more than one element: those that
/// are as many as a sum has lanes are one line.
bool sums_elements(const Kernel& k) {
  if (k.parallel != 1 || row_reductions(k).empty() || !columns_are_apart(k)) return false;
  for (const ReduceRows* r : row_reductions(k))
    if (reads_input(r->bodies.lift, r->operands.size())) return false;  // which row it is
  return std::all_of(k.buffers.begin(), k.buffers.end(),
                     [](const Buf& b) { return b.space == Space::argument; });
}

std::string illegal_flatten(const Kernel& k) {
  if (of_elements(k) == nullptr && !sums_elements(k))
    return "only what is done element by element is one line";
  if (!piecewise(k).empty()) return "an operand has pieces, which cut it";
  if (reads_positions(k)) return "a function asks where its element is";
  if (k.axes.size() == 1) return "there is one axis";
  for (const ScheduleStep& s : k.schedule) {
    if (s.kind == Kind::split) return absl::StrCat("i", s.on, " is split");
    if (s.kind == Kind::unroll) return "rows are taken together";
  }
  std::string why;
  each_statement(k.body, [&](const auto& statement) {
    if constexpr (std::is_same_v<std::decay_t<decltype(statement)>, Compute>)
      for (const Access& a : statement.stores)
        if (!is_flat(k, a.map)) why = absl::StrCat("b", a.buf, " is no line along all axes");
  });
  return why;
}

std::string illegal_count(const Kernel& k, const ScheduleStep& s) {
  const bool power = (s.by & (s.by - 1)) == 0;
  const bool elements = of_elements(k) != nullptr;
  switch (s.kind) {
    case Kind::unroll:
      if (elements || k.line || find(k.schedule, Kind::flatten) != nullptr)
        return "there are no rows to take together";
      return power && s.by <= 8 ? "" : "1, 2, 4 or 8 rows are taken together";
    case Kind::vectorise:
      return power && s.by <= 64 ? "" : "a vector has 1, 2, 4 ... or 64 elements";
    default:
      if (!row_reductions(k).empty()) return "threads take blocks of the rows that are summed";
      return "";
  }
}

/// Is it read across an axis along which it lies side by side?
bool turned(const Kernel& k, const Access& a) {
  const size_t last = k.axes.size() - 1;
  bool runs = false;
  for (size_t axis = 0; axis < last; ++axis) runs = runs || side_by_side(a, axis);
  return runs && moves(a, last) && !side_by_side(a, last);
}

/// Fewer elements are in the first cache anyway.
constexpr int64_t kFewElements = 4096;

bool has_few_elements(const Kernel& k) {
  int64_t known = 1;
  for (const Axis& axis : k.axes) {
    if (!axis.extent.known()) return false;
    known *= std::min(axis.extent.value(), kFewElements);
  }
  return known < kFewElements;
}

/// At the sizes of the first call, where a graph says them.
int64_t hinted(Int e) {
  if (e.known()) return e.value();
  return SymScope::current() == nullptr ? INT64_MAX : SymScope::current()->hint(e);
}

// A row that fills no vector costs about as much as twenty elements of a line. To copy an element
// that is repeated along it costs about as much as one of these; what repeats row after row is
// copied once. A row of whole vectors is as good as a line.
constexpr int64_t kShortRow = 16, kShortRepeatedRow = 32, kVector = 16;
constexpr int64_t kFewInShortRows = 512;

/// Is its last axis so short that all is better taken as one line?
bool has_short_rows(const Kernel& k) {
  if (!illegal_flatten(k).empty()) return false;
  const size_t last = k.axes.size() - 1;
  int64_t rows = 1;
  for (size_t axis = 0; axis < last; ++axis)
    rows = std::min(kFewElements, rows * std::min(kFewElements, hinted(k.axes[axis].extent)));
  const int64_t row = hinted(k.axes[last].extent);
  bool repeats = true;
  for (int b = 0; b < k.inputs; ++b)
    for (const Access* a : reads_of(k, b))
      if (!is_flat(k, a->map)) repeats = repeats && !moves(*a, 0);
  const bool is_short =
      row > 1 && row % kVector != 0 && row <= (repeats ? kShortRepeatedRow : kShortRow);
  return is_short && row * rows >= kFewInShortRows;
}

/// What is turned is staged; short rows are one line.
Schedule of_elements_schedule(const Kernel& k) {
  Schedule out;
  if (reads_positions(k) || has_few_elements(k) || !piecewise(k).empty()) return out;
  if (has_short_rows(k)) return {{Kind::flatten}};
  for (int b = 0; b < k.inputs; ++b) {
    const std::vector<const Access*> reads = reads_of(k, b);
    const auto is_turned = [&](const Access* a) { return turned(k, *a); };
    if (std::any_of(reads.begin(), reads.end(), is_turned)) out.push_back({Kind::stage, b});
  }
  return out;
}

/// An operand of pieces is, in a box that none of them cuts, an input that lies side by side.
void read_boxes(Kernel& kernel) {
  each_statement(kernel.body, [&](auto& statement) {
    for (Operand& o : statement.operands) {
      const auto* pieces = std::get_if<Pieces>(&o);
      if (pieces == nullptr) continue;
      const int made = kernel.inputs++;
      each_access(kernel.body, [&](Access& a, bool) { a.buf += a.buf >= made ? 1 : 0; });
      kernel.buffers.insert(kernel.buffers.begin() + made, {pieces->dtype, Space::argument, 0, ""});
      IndexMap map;
      map.strides.assign(kernel.axes.size(), Int(0));
      map.strides.back() = 1;
      o = Access{made, std::move(map)};
    }
  });
}

}  // namespace

std::string illegal(const Kernel& kernel, const ScheduleStep& step) {
  if (about(step.kind) != 0 && step.on < 0) return "it is about nothing";
  if (counts(step.kind) && step.by < 1) return "it counts at least one";
  switch (step.kind) {
    case Kind::split:
      return illegal_split(kernel, step);
    case Kind::stage:
      return illegal_stage(kernel, step);
    case Kind::flatten:
      return illegal_flatten(kernel);
    case Kind::prefetch:
      return step.on < kernel.inputs && comes_in_rows(kernel, step.on)
                 ? ""
                 : absl::StrCat("b", step.on, " is not read row by row");
    default:
      return illegal_count(kernel, step);
  }
}

Schedule choose_schedule(const Kernel& kernel) {
  if (of_elements(kernel) != nullptr) return of_elements_schedule(kernel);
  if (kernel.line) return {};  // what follows in memory comes by itself
  if (has_short_rows(kernel)) return {{Kind::flatten}};
  // A reduction of one row alone would wait for itself.
  Schedule out{{Kind::unroll, -1, 4}};
  for (int b = 0; b < kernel.inputs; ++b) {
    if (comes_in_rows(kernel, b)) out.push_back({Kind::prefetch, b});
    if (comes_in_columns(kernel, b)) out.push_back({Kind::stage, b});
  }
  return out;
}

Kernel code_of(const Kernel& kernel) {
  Kernel code = kernel;
  read_boxes(code);
  const size_t last = code.axes.size() - 1;
  const bool flat = find(kernel.schedule, Kind::flatten) != nullptr;
  each_access(code.body, [&](Access& a, bool store) {
    const bool staged = find(kernel.schedule, Kind::stage, a.buf) != nullptr;
    if (store || (!staged && !flat)) return;
    a.map.strides.resize(code.axes.size(), Int(0));
    if (flat ? !is_one_element(a.map) : moves(a, last)) a.map.strides[last] = Int(1);
  });
  std::erase_if(code.schedule, [](const ScheduleStep& s) { return !in_code(s.kind); });
  return code;
}

}  // namespace lathe::jit
