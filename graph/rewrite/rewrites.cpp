#include "graph/rewrite/rewrites.h"

#include <atomic>

namespace lathe::ir {
namespace {

// Changes made by this process since a flag was last set: with the same flags a program makes the
// same ones in the same order, so the number that still works and the one that does not find the
// change between them.
constinit std::atomic<int64_t> g_made{0};
constinit std::atomic<uint64_t> g_revision{0};

}  // namespace

Rewrites::Rewrites()
    : all_off_(flag_has(Flag::rewrites_off, "all")),  // not an op: every rule
      limit_(flag_count(Flag::rewrite_limit)) {
  if (g_revision.exchange(flags_revision()) != flags_revision()) g_made.store(0);
}

bool Rewrites::off(std::string_view name) const {
  return all_off_ || without_.contains(name) || flag_has(Flag::rewrites_off, name);
}

bool Rewrites::allow(std::string_view name, std::string_view part_of) {
  if (off(name) || (!part_of.empty() && off(part_of))) return false;
  if (limit_ >= 0 && g_made.fetch_add(1) >= limit_) return false;
  ++fired_[std::string(name)];
  return true;
}

}  // namespace lathe::ir
