// Every change a pass or rule makes to a program is asked for here by name, so that it can be
// switched off (flag `rewrites_off`), counted, and bisected (flag `rewrite_limit`).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/flags.h"

namespace lathe::ir {

class Rewrites {
 public:
  Rewrites();
  /// Names that are off here, whatever the flag says.
  void leave_out(std::set<std::string, std::less<>> names) { without_ = std::move(names); }
  /// Gradients are taken through the graph later: what decides them stays, too.
  void keep_histories() { keeps_histories_ = true; }
  bool keeps_histories() const { return keeps_histories_; }
  /// False if this change must not be made. Else it counts as made. `part_of`: the pass a rule
  /// belongs to.
  bool allow(std::string_view name, std::string_view part_of = {});
  /// Is it switched off altogether?
  bool off(std::string_view name) const;
  /// Changes by name, since clear().
  const std::map<std::string, int, std::less<>>& fired() const { return fired_; }
  /// What was left as it was, and why, for who asks about it afterwards.
  void left(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<std::string>& notes() const { return notes_; }
  void clear() {
    fired_.clear();
    notes_.clear();
  }

 private:
  bool all_off_, keeps_histories_ = false;
  int64_t limit_;
  std::map<std::string, int, std::less<>> fired_;
  std::vector<std::string> notes_;
  std::set<std::string, std::less<>> without_;
};

}  // namespace lathe::ir
