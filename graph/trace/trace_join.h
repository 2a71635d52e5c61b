// What recordings of branches, loops and functions that call themselves share: whether the values
// of two paths can be one value, and which; whose symbols change from round to round.
#pragma once

#include <string_view>

#include "graph/ir/datum.h"

namespace lathe::ir {

/// TraceError: `before` and `after` are no one type. `where`: "in a loop".
[[noreturn]] void type_changes(const Datum& before, const Datum& after, std::string_view where);
/// The same dtype, rank and device, or numbers of one kind.
bool same_kind(const Datum& a, const Datum& b);
bool is_flag(const Datum& d);
/// A flag whose value differs between paths becomes a tensor: flags decide, and a decision is a
/// tensor's.
bool needs_tensor(const Datum& a, const Datum& b);
Datum flag_as_tensor(const Datum& d);

/// While a loop or such a function is recorded, symbols from `first` on are its own.
class OpenLoop {
 public:
  OpenLoop(int& open, uint32_t& symbols, uint32_t first)
      : open_(open), symbols_(symbols), outer_(symbols) {
    if (open_++ == 0) symbols_ = first;
  }
  ~OpenLoop() {
    if (--open_ == 0) symbols_ = outer_;
  }
  OpenLoop(const OpenLoop&) = delete;

 private:
  int& open_;
  uint32_t& symbols_;
  uint32_t outer_;
};

}  // namespace lathe::ir
