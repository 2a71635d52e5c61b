#include "core/base/site.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_set.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/fork.h"

namespace lathe {
namespace {

using Line = std::pair<const std::string*, int>;  // an interned file name, and the line

struct SiteTable {
  absl::node_hash_set<std::string> files;
  absl::flat_hash_map<Line, uint32_t> ids;
  std::vector<Line> lines{{nullptr, 0}};  // by id
};

constinit ForkSafeMutex table_mutex;
SiteTable& table() {
  static auto& t = *new SiteTable;  // never destroyed: sites outlive static destruction
  return t;
}

constinit std::atomic<SiteHook> site_hook{nullptr};
constinit thread_local Site scope_site;

}  // namespace

Site make_site(std::string_view file, int line) {
  std::lock_guard hold(table_mutex);
  SiteTable& t = table();
  auto name = t.files.find(file);
  if (name == t.files.end()) name = t.files.emplace(file).first;
  auto [it, added] = t.ids.try_emplace(Line{&*name, line}, static_cast<uint32_t>(t.lines.size()));
  if (added) t.lines.push_back(it->first);
  return Site{it->second};
}

std::string to_string(Site site) {
  if (!site.known()) return "";
  std::lock_guard hold(table_mutex);
  const SiteTable& t = table();
  if (site.id >= t.lines.size()) return "";
  return absl::StrCat(*t.lines[site.id].first, ":", t.lines[site.id].second);
}

// A scope is more particular than the running frame: an executor that replays a graph knows the
// line that the node came from, while the frame only knows who started the replay.
Site here() {
  if (scope_site.known()) return scope_site;
  SiteHook hook = site_hook.load(std::memory_order_acquire);
  return hook ? hook() : Site{};
}

void set_site_hook(SiteHook hook) { site_hook.store(hook, std::memory_order_release); }

SiteScope::SiteScope(Site site) : previous_(scope_site) { scope_site = site; }
SiteScope::~SiteScope() { scope_site = previous_; }

}  // namespace lathe
