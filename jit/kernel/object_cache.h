// Compiled objects on disk, by content: the key is the whole text that an object depends on, and is
// stored with it, so a hash that collides is a miss and never a wrong kernel.
//
// Nothing here is ever an error. A file that is damaged, cut short or of another format is a miss;
// a folder that cannot be read, written or grown is one too, and is logged once. Files appear whole
// (they are written aside and renamed), so any number of processes may share a folder. Since what
// is loaded is run, a folder that others may write to is not used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::jit {

class ObjectCache {
 public:
  /// An empty folder: nothing is kept. The folder is made when the first object is stored.
  ObjectCache(std::string folder, uint64_t max_bytes);

  std::optional<std::string> find(std::string_view key);
  /// Drops the longest unused objects when the folder grows beyond max_bytes.
  void put(std::string_view key, std::string_view object);

  struct Counts {
    uint64_t hits = 0, misses = 0;
    uint64_t damaged = 0;  // of the misses: a file was there, and not sound
    uint64_t stored = 0, failed = 0, dropped = 0;
  };
  Counts counts() const;
  const std::string& folder() const { return folder_; }
  uint64_t max_bytes() const { return max_bytes_; }
  /// Where an object with this key is, or would be.
  std::string path(std::string_view key) const;

 private:
  bool trusted();
  bool prepare_folder();
  bool write(const std::string& path, std::string_view bytes);
  void trim();
  void complain(std::string_view what);
  void count(uint64_t Counts::*which, uint64_t by = 1);

  const std::string folder_;
  const uint64_t max_bytes_;
  // Both under one lock of the process, so that a forked child finds it free.
  Counts counts_;
  std::optional<uint64_t> total_;  // bytes in the folder, once it has been looked through
};

}  // namespace lathe::jit
