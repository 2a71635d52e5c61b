// How many processors this process may use at once.
#pragma once

#include <string>

namespace lathe {

struct Cpus {
  int machine = 1;   // processors that are online
  int affinity = 1;  // that this process may run on
  int quota = 0;     // of the cgroup; 0: none is set
  /// The smaller of the two, at least 1.
  int available() const;
  /// Which of them says so: "as many as the affinity allows (2 of 8 processors), with no ...".
  std::string why() const;
};
/// Asked anew on each call.
Cpus cpus_now();

/// The quota of cgroup v1 or v2 in whole processors, rounded down but at least 1; 0: none is set.
/// `self_cgroup` is the text of /proc/self/cgroup, `root` where cgroups are mounted.
int cpus_of_quota(const std::string& self_cgroup, const std::string& root);

}  // namespace lathe
