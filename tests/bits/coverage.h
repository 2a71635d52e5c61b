// What was run, added up: for the table that a long run ends with, and for judging it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/op/op.h"

namespace lathe::bits_test {

struct Coverage {
  int64_t programs = 0, steps = 0, gradients = 0;
  int64_t outputs = 0, outputs_with_values = 0;  // with an element that is not NaN
  std::map<std::string, int64_t> rows;           // calls in programs
  std::map<std::string, int64_t> kinds;          // "reduce f16": calls that reached a backend
  std::map<std::string, int64_t> modes;          // comparisons
  std::map<std::string, int64_t> engines;  // "strips: generated": steps by forced and actual engine
  std::map<std::string, int64_t> refused;  // by mode and reason
  // Programs whose composites a table entry takes whole, by mode: those that were run, the
  // composites that the entry took in them, and those that were run again by parts.
  std::map<std::string, int64_t> claimed, taken, retried;

  void add(const Coverage& other);
  /// One line a figure, for another process to add up.
  std::string lines() const;
  static Coverage parse(const std::string& lines);

  std::string table() const;
  /// What a long run must have seen and did not, one line each.
  std::vector<std::string> shortfalls(int64_t each_row) const;
  /// Modes in which claims did not act, or not often enough to show anything, one line each.
  std::vector<std::string> idle_claims() const;
  /// "1234 composites taken whole in 600 runs of 25 modes (12 to 70 each), 2 of 80 run again ..."
  std::string claims_line() const;
};

/// Of this process.
Coverage& coverage();

}  // namespace lathe::bits_test
