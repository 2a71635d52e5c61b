// How many processors this process may use at once.
#pragma once

#include <string>

namespace lathe {

/// The smaller of the CPU affinity and the cgroup's quota, at least 1. Asked anew on each call.
int available_cpus();

/// The quota of cgroup v1 or v2 in whole processors, rounded down but at least 1; 0: none is set.
/// `self_cgroup` is the text of /proc/self/cgroup, `root` where cgroups are mounted.
int cpus_of_quota(const std::string& self_cgroup, const std::string& root);

}  // namespace lathe
