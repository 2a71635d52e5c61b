#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "graph/file/file.h"
#include "graph/file/layout.h"
#include "graph/file/xxhash.h"
#include "graph/ir/verify.h"

namespace lathe::ir {
namespace {

using namespace file;  // NOLINT: the format's numbers

/// Well-formed UTF-8: names and texts of a program reach front ends that take nothing else.
bool is_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto first = static_cast<uint8_t>(s[i]);
    const size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || more >= s.size() - i) return false;
    uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    for (size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<uint8_t>(s[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += more + 1;
  }
  return true;
}

struct Entry {
  uint32_t kind, index;
  uint64_t offset, size, hash;
};

class FileReader {
 public:
  FileReader(std::string_view bytes, const FileLimits& limits, std::string_view name)
      : bytes_(bytes), limits_(limits), name_(name) {}

  Loaded run() {
    header();
    table();
    Loaded out;
    const Entry* text = nullptr;
    for (const Entry& e : entries_) {
      if (e.kind == note) out.note = std::string(section(e));
      if (e.kind == program) text = &once(e, text);
    }
    if (text == nullptr) fail("there is no program in it");
    out.tuple_of_one = text->index == 1;
    std::vector<Tensor> weights = constants();
    std::string_view body = section(*text);
    if (!is_text(body) || !is_text(out.note)) fail("its program or its note is no text");
    try {
      out.graph = parse(body, weights, limits_.text, name_);
      verify_loaded(out.graph);
    } catch (const Error& e) {
      // These are not the file's fault.
      for (ErrorKind other : {ErrorKind::internal, ErrorKind::memory, ErrorKind::cancelled})
        if (e.kind() == other) throw;
      if (e.kind() == ErrorKind::name) missing(e.parts());
      fail(absl::StrCat("the program is not well-formed: ", e.what()));
    }
    return out;
  }

 private:
  [[noreturn]] void fail(std::string_view problem, std::string got = {}) const {
    throw FileError({.op = "load",
                     .problem = absl::StrCat("'", name_, "' cannot be read: ", problem),
                     .got = std::move(got),
                     .next = "save it again, or fetch a whole copy"});
  }

  /// It may be a whole file that names what only its writer defined.
  [[noreturn]] void missing(const ErrorParts& parts) const {
    throw FileError({.op = "load",
                     .problem = absl::StrCat("'", name_, "' cannot be read: its program names '",
                                             parts.op, "', and ", parts.problem, " here"),
                     .got = parts.got,
                     .expected = "a program of ops that are defined here",
                     .next = "define the op before loading, or save the program again with this "
                             "version of Lathe"});
  }

  /// Two of a kind that there is one of could each be taken for the file's meaning.
  const Entry& once(const Entry& e, const Entry* before) const {
    if (before != nullptr) fail("a section of which there is one comes twice");
    return e;
  }

  void header() {
    if (bytes_.size() < kHeader) fail("it is too short", absl::StrCat(bytes_.size(), " bytes"));
    if (bytes_.substr(0, kMagic.size()) != kMagic) fail("it is no .lathe file");
    auto version = get<uint32_t>(bytes_, 8);
    if (version != kVersion)
      fail("its format is of another version",
           absl::StrCat(version, ", this program reads ", kVersion));
    count_ = get<uint32_t>(bytes_, 12);
    if (count_ > limits_.sections || count_ > (bytes_.size() - kHeader) / kEntry)
      fail("its section table is longer than the file", absl::StrCat(count_, " sections"));
    if (get<uint64_t>(bytes_, 16) != bytes_.size())
      fail("it is cut short or has something appended",
           absl::StrCat(bytes_.size(), " bytes, ", get<uint64_t>(bytes_, 16), " when written"));
    std::string head(bytes_.substr(0, kHeader + kEntry * count_));
    std::memset(head.data() + kHashAt, 0, sizeof(uint64_t));
    if (xxhash64(head) != get<uint64_t>(bytes_, kHashAt)) fail("its header is damaged");
  }

  void table() {
    uint64_t end = kHeader + kEntry * count_;
    for (size_t i = 0; i < count_; ++i) {
      size_t at = kHeader + kEntry * i;
      Entry e{get<uint32_t>(bytes_, at), get<uint32_t>(bytes_, at + 4),
              get<uint64_t>(bytes_, at + 8), get<uint64_t>(bytes_, at + 16),
              get<uint64_t>(bytes_, at + 24)};
      std::string which = absl::StrCat("section ", i);
      // Compared so that no sum can overflow.
      if (e.offset % kAlign != 0 || e.offset < end || e.offset > bytes_.size() ||
          e.size > bytes_.size() - e.offset)
        fail(absl::StrCat(which, " lies outside the file or over another"));
      for (char c : bytes_.substr(end, e.offset - end))
        if (c != '\0') fail(absl::StrCat("the gap before ", which, " is not empty"));
      if (e.kind < program || e.kind > note)
        fail(absl::StrCat(which, " is of an unknown kind"), absl::StrCat(e.kind));
      end = e.offset + e.size;
      if (xxhash64(section(e)) != e.hash) fail(absl::StrCat(which, " is damaged"));
      entries_.push_back(e);
    }
    if (end != bytes_.size()) fail("something stands behind its last section");
  }

  std::string_view section(const Entry& e) const { return bytes_.substr(e.offset, e.size); }

  std::vector<Tensor> constants() {
    std::string_view described;
    const Entry* table = nullptr;
    for (const Entry& e : entries_)
      if (e.kind == tensors) described = section(once(e, std::exchange(table, &e)));
    if (described.size() % kTensor != 0) fail("its tensor descriptions are cut");
    std::vector<Tensor> out;
    for (size_t at = 0; at < described.size(); at += kTensor)
      out.push_back(constant(described, at));
    return out;
  }

  Tensor constant(std::string_view described, size_t at) {
    std::string which = absl::StrCat("constant ", at / kTensor);
    auto code = get<uint32_t>(described, at), rank = get<uint32_t>(described, at + 4);
    auto dtype = static_cast<DType>(code);
    if (code >= static_cast<uint32_t>(kDTypeCodes) || !info(dtype).tensor || info(dtype).bytes == 0)
      fail(absl::StrCat(which, " has an unknown dtype"), absl::StrCat(code));
    if (rank > kMostRank) fail(absl::StrCat(which, " has too many axes"));
    Shape shape;
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; ++i) {
      auto size = get<int64_t>(described, at + 8 + 8 * i);
      // Bounded by the file, so that the product cannot overflow.
      if (size < 0 || static_cast<uint64_t>(size) > bytes_.size())
        fail(absl::StrCat(which, " has a bad size"));
      shape.push_back(Int(size));
      count *= static_cast<uint64_t>(size);
      if (count > bytes_.size()) fail(absl::StrCat(which, " is larger than the file"));
    }
    auto index = get<uint64_t>(described, at + 48);
    if (index >= entries_.size() || entries_[index].kind != weight)
      fail(absl::StrCat(which, " has no elements"));
    const Entry& e = entries_[index];
    if (e.size != count * size_of(dtype))
      fail(absl::StrCat(which, " has another size than its elements"));
    return from_host(section(e).data(), dtype, shape);
  }

  std::string_view bytes_;
  const FileLimits& limits_;
  std::string_view name_;
  size_t count_ = 0;
  std::vector<Entry> entries_;
};

/// A file's bytes, mapped.
class Mapped {
 public:
  explicit Mapped(const std::string& path) : path_(path) {
    errno = 0;
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("it cannot be opened");
    struct stat info {};
    bool good = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    size_ = good ? static_cast<size_t>(info.st_size) : 0;
    if (good && size_ > 0) {
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      good = data_ != MAP_FAILED;
    }
    int error = errno;
    ::close(fd);
    errno = error;
    if (!good) fail("it is no file that can be read");
  }
  ~Mapped() {
    if (data_ != nullptr && data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  Mapped(const Mapped&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw FileError({.op = "load",
                     .problem = absl::StrCat("'", path_, "' cannot be read: ", what),
                     .got = errno != 0 ? std::strerror(errno) : ""});
  }
  const std::string& path_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

Loaded from_bytes(std::string_view bytes, const FileLimits& limits, std::string_view name) {
  return FileReader(bytes, limits, name).run();
}

Loaded read_file(const std::string& path, const FileLimits& limits) {
  Mapped file(path);
  size_t slash = path.rfind('/');
  return from_bytes(file.bytes(), limits,
                    std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1));
}

}  // namespace lathe::ir
