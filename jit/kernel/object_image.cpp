// The format: System V ABI, ELF-64 object files, and its x86-64 supplement (relocations).
#include "jit/kernel/object_image.h"

#include <absl/strings/str_cat.h>
#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace lathe::jit {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;

/// Pages of code, written once and then only read and run.
class Image final : public LoadedCode {
 public:
  explicit Image(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Image() override {
    if (mapped()) munmap(data_, bytes_);
  }
  Image(const Image&) = delete;

  bool mapped() const { return data_ != MAP_FAILED; }
  char* data() const { return static_cast<char*>(data_); }
  bool protect() const { return mprotect(data_, bytes_, PROT_READ | PROT_EXEC) == 0; }

  std::vector<std::pair<std::string, uint64_t>> functions;  // where each begins
  void* symbol(std::string_view name) const override {
    for (const auto& [known, at] : functions)
      if (known == name) return data() + at;
    return nullptr;
  }

 private:
  size_t bytes_;
  void* data_;
};

/// The parts of an object; each read checks that it lies inside.
class Object {
 public:
  explicit Object(std::string_view bytes) : bytes_(bytes) {}

  Result<LoadedCodeRef> load() {
    Result<LoadedCodeRef> out;
    out.error = read_sections();
    if (!out) return out;
    out.error = place();
    if (!out) return out;
    auto image = std::make_shared<Image>(std::max<uint64_t>(1, total_));
    if (!image->mapped()) return {nullptr, "no memory for code"};
    copy(*image);
    out.error = relocate(*image);
    if (!out) return out;
    out.error = name_functions(*image);
    if (!out) return out;
    if (!image->protect()) return {nullptr, "the system lets no memory become code"};
    out.value = std::move(image);
    return out;
  }

 private:
  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::optional<std::string_view> contents(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS) return std::string_view();
    if (s.sh_offset > bytes_.size() || bytes_.size() - s.sh_offset < s.sh_size) return std::nullopt;
    return bytes_.substr(s.sh_offset, s.sh_size);
  }
  std::string_view text_at(size_t strings, uint64_t offset) const {
    if (strings >= sections_.size()) return {};
    auto all = contents(sections_[strings]);
    if (!all || offset >= all->size()) return {};
    return all->substr(offset, all->substr(offset).find('\0'));
  }

  std::string read_sections() {
    auto header = at<Elf64_Ehdr>(0);
    bool known = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                 header->e_ident[EI_CLASS] == ELFCLASS64 &&
                 header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_REL &&
                 header->e_machine == EM_X86_64 && header->e_shentsize == sizeof(Elf64_Shdr);
    if (!known) return "not an object for x86-64";
    for (uint64_t k = 0; k < header->e_shnum; ++k) {
      auto section = at<Elf64_Shdr>(header->e_shoff + k * sizeof(Elf64_Shdr));
      if (!section || !contents(*section)) return "the object is cut short";
      sections_.push_back(*section);
    }
    names_ = header->e_shstrndx;
    return "";
  }

  /// Code and constants, one after the other. What unwinds frames is left out: kernels throw
  /// nothing.
  std::string place() {
    for (const Elf64_Shdr& s : sections_) {
      bool wanted = (s.sh_flags & SHF_ALLOC) != 0 && text_at(names_, s.sh_name) != ".eh_frame";
      places_.push_back(wanted ? std::optional<uint64_t>(0) : std::nullopt);
      if (!wanted) continue;
      if ((s.sh_flags & (SHF_WRITE | SHF_TLS)) != 0) return "the object has variables";
      uint64_t align = std::max<uint64_t>(1, s.sh_addralign);
      if ((align & (align - 1)) != 0 || align > 4096 || s.sh_size > kMostBytes)
        return "the object has a section that no kernel has";
      total_ = (total_ + align - 1) / align * align;
      places_.back() = total_;
      total_ += s.sh_size;
      if (total_ > kMostBytes) return "the object is too large for a kernel";
    }
    return "";
  }

  void copy(Image& image) const {
    for (size_t k = 0; k < sections_.size(); ++k) {
      auto from = contents(sections_[k]);
      if (places_[k] && !from->empty())
        std::memcpy(image.data() + *places_[k], from->data(), from->size());
    }
  }

  std::string relocate(Image& image) const {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_info >= sections_.size() || !places_[s.sh_info]) continue;
      if (s.sh_type == SHT_REL) return "relocations of a kind that x86-64 does not use";
      if (s.sh_type != SHT_RELA) continue;
      for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Rela); ++k) {
        auto r = at<Elf64_Rela>(s.sh_offset + k * sizeof(Elf64_Rela));
        if (!r) return "the object is cut short";
        if (std::string why = apply(image, s, *r); !why.empty()) return why;
      }
    }
    return "";
  }

  std::string apply(Image& image, const Elf64_Shdr& table, const Elf64_Rela& r) const {
    uint64_t type = ELF64_R_TYPE(r.r_info);
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
      return absl::StrCat("a relocation of type ", type);
    const Elf64_Shdr& code = sections_[table.sh_info];
    if (code.sh_size < sizeof(int32_t) || r.r_offset > code.sh_size - sizeof(int32_t))
      return "a relocation outside of its section";
    if (table.sh_link >= sections_.size()) return "relocations without symbols";
    auto target = address(sections_[table.sh_link], ELF64_R_SYM(r.r_info));
    if (!target) return "the code calls what is not in the object";
    uint64_t place = *places_[table.sh_info] + r.r_offset;
    int64_t distance = static_cast<int64_t>(*target) + r.r_addend - static_cast<int64_t>(place);
    if (distance < std::numeric_limits<int32_t>::min() ||
        distance > std::numeric_limits<int32_t>::max())
      return "a distance that does not fit";
    auto word = static_cast<int32_t>(distance);
    std::memcpy(image.data() + place, &word, sizeof word);
    return "";
  }

  /// Of a symbol, from the beginning of the image.
  std::optional<uint64_t> address(const Elf64_Shdr& symbols, uint64_t index) const {
    if (index >= symbols.sh_size / sizeof(Elf64_Sym)) return std::nullopt;
    auto s = at<Elf64_Sym>(symbols.sh_offset + index * sizeof(Elf64_Sym));
    if (!s || s->st_shndx == SHN_UNDEF || s->st_shndx >= sections_.size() ||
        !places_[s->st_shndx] || s->st_value > sections_[s->st_shndx].sh_size)
      return std::nullopt;
    return *places_[s->st_shndx] + s->st_value;
  }

  std::string name_functions(Image& image) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_SYMTAB) continue;
      for (uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
        auto s = at<Elf64_Sym>(table.sh_offset + k * sizeof(Elf64_Sym));
        auto where = address(table, k);
        if (s && where && ELF64_ST_BIND(s->st_info) == STB_GLOBAL &&
            ELF64_ST_TYPE(s->st_info) == STT_FUNC)
          image.functions.emplace_back(std::string(text_at(table.sh_link, s->st_name)), *where);
      }
    }
    return image.symbol(kKernelSymbol) == nullptr ? "the object has no kernel" : "";
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::optional<uint64_t>> places_;  // of each section in the image; none: left out
  size_t names_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

Result<LoadedCodeRef> load_image(std::string_view object) { return Object(object).load(); }

}  // namespace lathe::jit
