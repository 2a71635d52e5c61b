#include "jit/kernel/object_cache.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/stable_hash.h"
#include "core/base/temporary_file.h"

namespace lathe::jit {
namespace {

constexpr char kMagic[8] = {'L', 'A', 'T', 'H', 'E', 'O', 'B', '1'};
constexpr std::string_view kSuffix = ".lobj";
constexpr std::string_view kAside = ".aside-";
constexpr uint64_t kMostBytes = uint64_t{1} << 26;  // of one file; a real object has a few thousand

/// In front of key and object. Little-endian, as all machines that run these objects are.
struct Header {
  char magic[8];
  uint64_t key_bytes, object_bytes;
  uint64_t checksum;
};

constinit ForkSafeMutex counting;  // of every cache's counts: held for a few instructions

uint64_t checksum_of(std::string_view key, std::string_view object) {
  return StableHash(1).add(key).add(object).value();
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// A full disk may show only now.
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool read_all(int fd, char* into, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::read(fd, into, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// Ours, or root's, and no one else's to write.
bool owned(const struct stat& about) {
  return (about.st_uid == geteuid() || about.st_uid == 0) && (about.st_mode & 022) == 0;
}

bool make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (mkdir(path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST) return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

}  // namespace

ObjectCache::ObjectCache(std::string folder, uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::string ObjectCache::path(std::string_view key) const {
  return absl::StrFormat("%s/%016x%016x%s", folder_, StableHash(2).add(key).value(),
                         StableHash(3).add(key).value(), kSuffix);
}

ObjectCache::Counts ObjectCache::counts() const {
  const std::lock_guard<ForkSafeMutex> lock(counting);
  return counts_;
}

void ObjectCache::count(uint64_t Counts::*which, uint64_t by) {
  const std::lock_guard<ForkSafeMutex> lock(counting);
  counts_.*which += by;
}

void ObjectCache::complain(std::string_view what) {
  const std::string reason = std::strerror(errno);
  warn_once(absl::StrCat("object cache ", folder_, what),
            absl::StrCat("compiled kernels are not kept: ", folder_, " ", what, " (", reason, ")"));
}

bool ObjectCache::trusted() {
  struct stat about;
  if (stat(folder_.c_str(), &about) != 0) return false;  // not there yet
  if (!S_ISDIR(about.st_mode)) {
    errno = ENOTDIR;
    complain("is not a folder");
    return false;
  }
  if (owned(about)) return true;
  errno = EPERM;
  complain("may be written by others");
  return false;
}

std::optional<std::string> ObjectCache::find(std::string_view key) {
  if (folder_.empty()) return std::nullopt;
  const std::string file = path(key);
  const auto miss = [&](bool damaged) -> std::optional<std::string> {
    count(&Counts::misses);
    if (damaged) count(&Counts::damaged);
    return std::nullopt;
  };
  if (!trusted()) return miss(false);
  const Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return miss(false);
  struct stat about;
  Header header;
  if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode) || !owned(about) ||
      !read_all(fd.get(), reinterpret_cast<char*>(&header), sizeof header))
    return miss(true);
  const auto bytes = static_cast<uint64_t>(about.st_size);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || bytes > kMostBytes ||
      header.key_bytes > bytes || header.object_bytes > bytes ||
      sizeof header + header.key_bytes + header.object_bytes != bytes)
    return miss(true);
  std::string body(header.key_bytes + header.object_bytes, '\0');
  if (!read_all(fd.get(), body.data(), body.size())) return miss(true);
  const std::string_view stored_key = std::string_view(body).substr(0, header.key_bytes);
  const std::string_view object = std::string_view(body).substr(header.key_bytes);
  if (checksum_of(stored_key, object) != header.checksum) return miss(true);
  if (stored_key != key) return miss(false);  // another key with the same hash
  (void)futimens(fd.get(), nullptr);          // used now; a folder that is read-only stays as it is
  count(&Counts::hits);
  return std::string(object);
}

bool ObjectCache::prepare_folder() {
  if (!make_folders(folder_)) {
    complain("cannot be made");
    return false;
  }
  return trusted();
}

bool ObjectCache::write(const std::string& path, std::string_view bytes) {
  static std::atomic<uint64_t> serial{0};
  const std::string aside = absl::StrCat(folder_, "/", kAside, getpid(), "-",
                                         serial.fetch_add(1, std::memory_order_relaxed));
  Descriptor fd(open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) {
    complain("cannot be written");
    return false;
  }
  lock_while_written(fd.get());
  if (write_all(fd.get(), bytes) && fd.close() && rename(aside.c_str(), path.c_str()) == 0)
    return true;
  complain("cannot take a file");
  (void)unlink(aside.c_str());
  return false;
}

void ObjectCache::put(std::string_view key, std::string_view object) {
  if (folder_.empty()) return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.object_bytes = object.size();
  header.checksum = checksum_of(key, object);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(key).append(object);
  if (bytes.size() > max_bytes_ || bytes.size() > kMostBytes) return;
  if (!prepare_folder() || !write(path(key), bytes)) {
    count(&Counts::failed);
    return;
  }
  bool look = false;
  {
    const std::lock_guard<ForkSafeMutex> lock(counting);
    ++counts_.stored;
    if (total_) *total_ += bytes.size();
    look = !total_ || *total_ > max_bytes_;
  }
  if (look) trim();
}

/// Looks through the folder and, if it holds too much, drops what was unused longest until a
/// quarter is free. Others may be doing the same: a file that is gone already is no surprise.
void ObjectCache::trim() {
  struct Found {
    struct timespec used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Found> files;
  uint64_t total = 0;
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    const bool aside = name.substr(0, kAside.size()) == kAside;
    const bool object =
        name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    if (!aside && !object) continue;
    std::string path = absl::StrCat(folder_, "/", name);
    struct stat about;
    if (lstat(path.c_str(), &about) != 0) continue;
    if (aside) {
      int64_t writer = 0;
      const std::string_view number = name.substr(kAside.size());
      if (absl::SimpleAtoi(number.substr(0, number.find('-')), &writer) && writer > 0)
        (void)remove_if_abandoned(path, writer);
      continue;
    }
    total += static_cast<uint64_t>(about.st_size);
    files.push_back({about.st_mtim, static_cast<uint64_t>(about.st_size), std::move(path)});
  }
  closedir(folder);
  uint64_t dropped = 0;
  if (total > max_bytes_) {
    std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
      if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
      return a.used.tv_nsec < b.used.tv_nsec;
    });
    for (const Found& file : files) {
      if (total <= max_bytes_ - max_bytes_ / 4) break;
      if (unlink(file.path.c_str()) != 0 && errno != ENOENT) continue;
      total -= file.bytes;
      ++dropped;
    }
  }
  const std::lock_guard<ForkSafeMutex> lock(counting);
  total_ = total;
  counts_.dropped += dropped;
}

}  // namespace lathe::jit
