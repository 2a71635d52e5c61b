// Where in the user's program a thing was asked for. A Site is four bytes so that storages, tape
// nodes and graph nodes can all carry one; the text behind it lives in one interning table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lathe {

struct Site {
  uint32_t id = 0;  // 0: unknown
  bool known() const { return id != 0; }
  friend bool operator==(Site, Site) = default;
};

/// Interns `file:line`; the same pair gives the same Site for the life of the process.
Site make_site(std::string_view file, int line);

/// `file:line`, or "" for the unknown Site.
std::string to_string(Site site);

/// The user's current source line. Python installs a hook that reads the running frame; in C++ it
/// is whatever the innermost SiteScope of this thread says, else unknown.
Site here();

/// What a language front end installs so that `here()` knows its caller's line. May return an
/// unknown Site. Called often: it must be cheap and must not allocate on a repeated line.
using SiteHook = Site (*)();
void set_site_hook(SiteHook hook);

/// Says that everything called inside comes from this line (C++ callers, graph executors).
class SiteScope {
 public:
  explicit SiteScope(Site site);
  ~SiteScope();
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

 private:
  Site previous_;
};

}  // namespace lathe
