// How a kernel is walked: data beside it that cannot change a bit, as a list of named steps. Who
// runs the kernel does some of them, its code the others:
//
//   split i0 by 64    boxes of so many positions along an axis, one after the other
//   stage b0          what a box reads of an input is copied first, side by side along the last
//   axis flatten           a box is one line along all axes: what does not lie so is copied first
//   parallel by 8     boxes, elements or rows that a thread takes at a time
//   unroll by 4       rows that the statements take at a time
//   vectorise by 16   elements that a step of machine code takes along an axis
//   prefetch b0       what the rows after these read of an input is called into a cache
//
// Each is there once for the axis or buffer it is about. What is not said, who runs it decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::jit {

struct ScheduleStep {
  enum class Kind : uint8_t { split, stage, flatten, parallel, unroll, vectorise, prefetch };
  Kind kind;
  int on = -1;     // the axis of a split; the buffer of a stage or prefetch
  int64_t by = 0;  // of the others
};
using ScheduleKind = ScheduleStep::Kind;
inline constexpr int kScheduleKinds = static_cast<int>(ScheduleKind::prefetch) + 1;
using Schedule = std::vector<ScheduleStep>;

/// "split"
std::string_view name_of(ScheduleKind kind);
/// "i" of an axis, "b" of a buffer; 0: the step is about the whole kernel.
char about(ScheduleKind kind);
/// Does it say a number?
bool counts(ScheduleKind kind);
/// Is it done by the code, and not by who calls it?
bool in_code(ScheduleKind kind);

/// "split i0 by 64"
std::string to_string(const ScheduleStep& step);

/// The step, or null.
inline const ScheduleStep* find(const Schedule& schedule, ScheduleKind kind, int on = -1) {
  for (const ScheduleStep& s : schedule)
    if (s.kind == kind && s.on == on) return &s;
  return nullptr;
}
/// Its number, or another one where there is no such step.
inline int64_t count_of(const Schedule& schedule, ScheduleKind kind, int64_t otherwise,
                        int on = -1) {
  const ScheduleStep* s = find(schedule, kind, on);
  return s == nullptr ? otherwise : s->by;
}

}  // namespace lathe::jit
