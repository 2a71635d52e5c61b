#include "core/base/temporary_file.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <set>
#include <vector>

#include "core/base/fork.h"

namespace lathe {
namespace {

constexpr std::string_view kMark = ".writing-";
constexpr int64_t kOldSeconds = 3600;  // no writer takes this long for a file

constinit ForkSafeMutex swept_mutex;

/// The folder that a path is in, and its name there.
std::pair<std::string, std::string> split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// The process in "model.lathe.writing-123-0"; 0 if that is no such name. Earlier versions wrote
/// "model.writing-123" and, for `target`, "model.123.tmp".
int64_t writer_in(std::string_view name, std::string_view target) {
  std::string_view number;
  if (const size_t at = name.rfind(kMark); at != std::string_view::npos && at > 0) {
    number = name.substr(at + kMark.size());
    number = number.substr(0, number.find('-'));
  } else if (name.size() > target.size() + 5 && name.substr(0, target.size()) == target &&
             name[target.size()] == '.' && name.ends_with(".tmp")) {
    number = name.substr(target.size() + 1, name.size() - target.size() - 5);
  }
  int64_t writer = 0;
  return absl::SimpleAtoi(number, &writer) && writer > 0 && writer < INT_MAX ? writer : 0;
}

/// Before this process has written into a folder, a file there of its own number is another's.
constexpr int64_t kNobody = 0;

bool runs(int64_t process) {
  if (process == kNobody) return false;
  return ::getpgid(static_cast<pid_t>(process)) >= 0 || errno == EPERM;
}

void sweep(const std::string& folder, const std::string& target) {
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return;  // whoever writes there says why that cannot be
  std::vector<std::pair<std::string, int64_t>> found;
  while (const dirent* entry = ::readdir(open))
    if (const int64_t writer = writer_in(entry->d_name, target))
      found.emplace_back(absl::StrCat(folder, "/", entry->d_name), writer);
  ::closedir(open);
  for (const auto& [path, writer] : found)
    remove_if_abandoned(path, writer == ::getpid() ? kNobody : writer);
}

}  // namespace

bool remove_if_abandoned(const std::string& path, int64_t writer) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat about {};
  bool gone = ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid();
  // A file system without locks leaves the rest of the questions.
  gone = gone && (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
  const bool old = ::time(nullptr) - about.st_mtim.tv_sec > kOldSeconds;
  gone = gone && (old || !runs(writer)) && ::unlink(path.c_str()) == 0;
  ::close(fd);
  return gone;
}

std::string temporary_path(const std::string& target) {
  static std::atomic<uint64_t> serial{0};
  static auto& swept = *new std::set<std::string>;
  const auto [folder, name] = split(target);
  char* real = ::realpath(folder.c_str(), nullptr);
  const std::string known = real == nullptr ? folder : real;
  std::free(real);
  {
    const std::lock_guard<ForkSafeMutex> hold(swept_mutex);
    if (swept.insert(known).second) sweep(known, name);
  }
  // A process of this number may have left one: its name is not taken again.
  for (;;) {
    std::string path = absl::StrCat(target, kMark, ::getpid(), "-", serial.fetch_add(1));
    if (::access(path.c_str(), F_OK) != 0) return path;
  }
}

void lock_while_written(int descriptor) { (void)::flock(descriptor, LOCK_EX | LOCK_NB); }

}  // namespace lathe
