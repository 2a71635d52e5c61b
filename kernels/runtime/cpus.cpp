#include "kernels/runtime/cpus.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace lathe {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Processors that `quota` microseconds every `period` microseconds amount to; 0: no limit.
double ratio(std::string_view quota, std::string_view period) {
  int64_t q, p;
  if (!absl::SimpleAtoi(quota, &q) || !absl::SimpleAtoi(period, &p) || q <= 0 || p <= 0) return 0;
  return static_cast<double>(q) / static_cast<double>(p);
}

double quota_of_folder(const std::string& folder) {
  std::string max = read_text(folder + "/cpu.max");  // v2: "200000 100000" or "max 100000"
  std::vector<std::string_view> words =
      absl::StrSplit(max, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (words.size() == 2) return ratio(words[0], words[1]);
  return ratio(read_text(folder + "/cpu.cfs_quota_us"), read_text(folder + "/cpu.cfs_period_us"));
}

// A limit set on any folder above binds as well. Inside a container the path may name a place
// outside its own mount; then what can be seen is the mount's root.
void narrow(double& least, const std::string& mount, std::string path) {
  for (;;) {
    double q = quota_of_folder(mount + path);
    if (q > 0 && (least == 0 || q < least)) least = q;
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

int cpus_of_quota(const std::string& self_cgroup, const std::string& root) {
  double least = 0;
  for (std::string_view line : absl::StrSplit(self_cgroup, '\n', absl::SkipEmpty())) {
    std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    std::string path = fields[2] == "/" ? "" : fields[2];
    if (fields[1].empty()) {
      narrow(least, root, path);
      narrow(least, root + "/unified", path);
      continue;
    }
    std::vector<std::string_view> controllers = absl::StrSplit(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
    narrow(least, absl::StrCat(root, "/", fields[1]), path);
    narrow(least, root + "/cpu", path);
  }
  return least == 0 ? 0 : std::max(1, static_cast<int>(least));
}

int Cpus::available() const {
  return std::max(1, quota > 0 ? std::min(affinity, quota) : affinity);
}

std::string Cpus::why() const {
  const std::string allowed =
      absl::StrCat("the affinity allows (", affinity, " of ", machine, " processors)");
  if (quota == 0) return absl::StrCat("as many as ", allowed, ", and no cgroup has a quota");
  if (quota >= affinity)
    return absl::StrCat("as many as ", allowed, ", within the cgroup's quota of ", quota);
  return absl::StrCat("the cgroup's quota, less than ", allowed);
}

Cpus cpus_now() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Cpus cpus;
  cpus.machine = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpus.affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  cpus.quota = cpus_of_quota(read_text("/proc/self/cgroup"), "/sys/fs/cgroup");
  return cpus;
}

}  // namespace lathe
