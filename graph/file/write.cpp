#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/temporary_file.h"
#include "core/op/host_function.h"
#include "graph/file/file.h"
#include "graph/file/layout.h"
#include "graph/file/xxhash.h"
#include "graph/ir/literal.h"

namespace lathe::ir {
namespace {

using namespace file;  // NOLINT: the format's numbers

struct Part {
  uint32_t kind, index;
  std::string owned;
  std::string_view bytes;
  Tensor kept = {};
};

std::string describe(const Tensor& t, uint64_t section) {
  std::string out;
  if (t.rank() > static_cast<int>(kMostRank))
    throw FileError({.op = "save",
                     .problem = "a constant has more axes than the file format holds",
                     .got = lathe::to_string(type_of(t)),
                     .expected = absl::StrCat("at most ", kMostRank)});
  put<uint32_t>(out, static_cast<uint32_t>(t.dtype()));
  put<uint32_t>(out, static_cast<uint32_t>(t.rank()));
  for (uint32_t i = 0; i < kMostRank; ++i)
    put<int64_t>(out,
                 i < static_cast<uint32_t>(t.rank()) ? t.size(static_cast<int>(i)).value() : 0);
  put<uint64_t>(out, section);
  put<uint64_t>(out, 0);
  return out;
}

/// Header and table, then what is in the sections, one after the other, to `emit`.
template <class Emit>
void lay_out(std::vector<Part>& parts, Emit emit) {
  std::string head(kMagic);
  put<uint32_t>(head, kVersion);
  put<uint32_t>(head, static_cast<uint32_t>(parts.size()));
  uint64_t end = kHeader + kEntry * parts.size();
  std::string table;
  std::vector<uint64_t> offsets;
  for (const Part& p : parts) {
    offsets.push_back(aligned(end));
    end = offsets.back() + p.bytes.size();
    put<uint32_t>(table, p.kind);
    put<uint32_t>(table, p.index);
    put<uint64_t>(table, offsets.back());
    put<uint64_t>(table, p.bytes.size());
    put<uint64_t>(table, xxhash64(p.bytes));
    put<uint64_t>(table, 0);
  }
  put<uint64_t>(head, end);
  put<uint64_t>(head, 0);
  head += table;
  uint64_t hash = xxhash64(head);
  std::memcpy(head.data() + kHashAt, &hash, sizeof hash);
  emit(std::string_view(head));
  uint64_t at = head.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    emit(std::string_view(std::string(offsets[i] - at, '\0')));
    emit(parts[i].bytes);
    at = offsets[i] + parts[i].bytes.size();
  }
}

/// A function of the process that recorded the program means nothing to who reads the file.
void refuse_callbacks(const Graph& graph) {
  for_each_node(graph.body(), [&](const Node* n) {
    if (!n->is(Structure::op) || n->op()->extra.host == HostCall::none) return;
    if (n->literal(0).function_->is_data()) return;
    throw UnsupportedError({.op = "save",
                            .problem = "the program calls a function of this process, which a "
                                       "file cannot hold",
                            .got = lathe::to_string(n->literal(0)),
                            .expected = "a program of ops alone",
                            .next = "leave the call out of what is saved: a warning, a "
                                    "lt.callback, or a print of more than texts, tensors and "
                                    "numbers",
                            .site = n->site()});
  });
  for (const auto& f : graph.functions()) refuse_callbacks(*f);
}

std::vector<Part> parts_of(const Graph& graph, const FileOptions& options) {
  refuse_callbacks(graph);
  std::vector<Part> parts;
  parts.reserve(graph.constants().size() + 3);  // `bytes` may point into `owned`
  Graph g = graph.clone();
  g.drop_unused_constants();
  auto add = [&](uint32_t kind, std::string text, uint32_t index = 0) {
    parts.push_back({kind, index, std::move(text), {}});
    parts.back().bytes = parts.back().owned;
  };
  add(program, print(g), options.tuple_of_one ? 1 : 0);
  std::string described;
  size_t first_weight = options.note.empty() ? 2 : 3;
  for (size_t k = 0; k < g.constants().size(); ++k)
    described += describe(g.constants()[k], first_weight + k);
  add(tensors, std::move(described));
  if (!options.note.empty()) add(note, options.note);
  for (size_t k = 0; k < g.constants().size(); ++k) {
    Tensor t = packed(g.constants()[k]);
    auto size = static_cast<size_t>(t.numel().value()) * size_of(t.dtype());
    const auto* data = size == 0 ? "" : reinterpret_cast<const char*>(t.data());
    parts.push_back({weight, static_cast<uint32_t>(k), {}, {data, size}, t});
  }
  return parts;
}

[[noreturn]] void io_error(const std::string& path, std::string_view what) {
  int error = errno;
  throw FileError(
      {.op = "save", .problem = absl::StrCat(what, ": ", std::strerror(error)), .got = path});
}

/// A file that vanishes unless it is renamed in time.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : name_(temporary_path(target)),
        fd_(::open(name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644)) {
    if (fd_ < 0) io_error(name_, "the file cannot be created");
    lock_while_written(fd_);
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) io_error(name_, "the file cannot be written");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  void rename_to(const std::string& target) {
    if (::fsync(fd_) != 0) io_error(name_, "the file cannot be flushed to the disk");
    int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) io_error(name_, "the file cannot be closed");
    if (std::rename(name_.c_str(), target.c_str()) != 0)
      io_error(target, "the file cannot be put in place");
    renamed_ = true;
    // The rename itself is in the folder.
    size_t slash = target.rfind('/');
    std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
    int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return;
    ::fsync(dir);
    ::close(dir);
  }

 private:
  std::string name_;
  int fd_;
  bool renamed_ = false;
};

}  // namespace

std::string to_bytes(const Graph& graph, const FileOptions& options) {
  std::vector<Part> parts = parts_of(graph, options);
  std::string out;
  lay_out(parts, [&](std::string_view bytes) { out += bytes; });
  return out;
}

void write_file(const Graph& graph, const std::string& path, const FileOptions& options) {
  std::vector<Part> parts = parts_of(graph, options);
  TemporaryFile file(path);
  lay_out(parts, [&](std::string_view bytes) { file.write(bytes); });
  file.rename_to(path);
}

}  // namespace lathe::ir
