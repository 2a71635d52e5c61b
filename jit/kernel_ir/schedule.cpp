#include "jit/kernel_ir/schedule.h"

#include <absl/strings/str_cat.h>

namespace lathe::jit {
namespace {

using Kind = ScheduleKind;

struct KindInfo {
  std::string_view name;
  char about;
  bool counts, in_code;
};
constexpr KindInfo kKinds[kScheduleKinds] = {
    {"split", 'i', true, false},      // not an op: of an axis
    {"stage", 'b', false, false},     // of a buffer
    {"flatten", 0, false, false},     // not an op: of all axes
    {"parallel", 0, true, false},     // of all
    {"unroll", 0, true, true},        // of the rows
    {"vectorise", 0, true, true},     // of what goes along an axis
    {"prefetch", 'b', false, true}};  // of a buffer

const KindInfo& info_of(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view name_of(Kind kind) { return info_of(kind).name; }
char about(Kind kind) { return info_of(kind).about; }
bool counts(Kind kind) { return info_of(kind).counts; }
bool in_code(Kind kind) { return info_of(kind).in_code; }

std::string to_string(const ScheduleStep& step) {
  std::string out(name_of(step.kind));
  if (const char letter = about(step.kind); letter != 0)
    absl::StrAppend(&out, " ", std::string(1, letter), step.on);
  if (counts(step.kind)) absl::StrAppend(&out, " by ", step.by);
  return out;
}

}  // namespace lathe::jit
