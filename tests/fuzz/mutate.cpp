#include "tests/fuzz/mutate.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <vector>

#include "core/op/op.h"
#include "graph/file/layout.h"
#include "graph/file/xxhash.h"

namespace lathe::fuzz {
namespace {

using namespace ir::file;  // NOLINT: the format's numbers

// ── text ────────────────────────────────────────────────────────────────────────────────────────

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%';
}

/// Words, numbers, runs of blanks, and single characters: together they are the text.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

class TextMutation {
 public:
  TextMutation(std::string_view text, std::mt19937_64& random)
      : lines_(absl::StrSplit(text, '\n')), words_(words_of(text)), random_(random) {}

  std::string run() {
    if (random_() % 3 == 0) {
      change_lines();
      return absl::StrJoin(lines_, "\n");
    }
    for (uint64_t left = random_() % 3 + 1; left > 0; --left) change_word();
    return absl::StrJoin(words_, "");
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % std::max<size_t>(n, 1)); }

  void change_lines() {
    const size_t a = below(lines_.size()), b = below(lines_.size());
    switch (random_() % 5) {
      case 0:
        std::swap(lines_[a], lines_[b]);
        break;
      case 1:
        lines_.insert(lines_.begin() + static_cast<ptrdiff_t>(a), std::string(lines_[b]));
        break;
      case 2:
        lines_.erase(lines_.begin() + static_cast<ptrdiff_t>(a));
        break;
      case 3:  // another op of one argument between
        lines_.insert(
            lines_.begin() + static_cast<ptrdiff_t>(a),
            absl::StrCat("  %z", random_() % 8, " = ", op(), "(", value(), ", ", value(), ")"));
        break;
      default:
        lines_.insert(lines_.begin() + static_cast<ptrdiff_t>(a), fact());
    }
  }

  void change_word() {
    if (words_.empty()) return;
    const size_t at = below(words_.size());
    std::string& word = words_[at];
    if (word[0] == '%') {
      word = value();
    } else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      word = number();
    } else if (at + 1 < words_.size() && words_[at + 1] == "(" && random_() % 4 != 0) {
      word = op();
    } else if (is_word(word[0])) {
      word = keyword();
    } else {
      change_punctuation(at);
    }
  }
  void change_punctuation(size_t at) {
    const auto here = words_.begin() + static_cast<ptrdiff_t>(at);
    switch (random_() % 4) {
      case 0:
        words_.erase(here);
        break;
      case 1:
        words_.insert(here, absl::StrCat(", ", number()));
        break;
      case 2:
        words_.insert(here, absl::StrCat(", ", keyword(), "=", number()));
        break;
      default:
        std::swap(words_[at], words_[below(words_.size())]);
    }
  }

  std::string value() {
    std::vector<const std::string*> all;
    for (const std::string& w : words_)
      if (w[0] == '%') all.push_back(&w);
    return all.empty() ? "%x" : *all[below(all.size())];
  }
  std::string op() {
    static const std::vector<const Op*> all = all_ops();
    return std::string(all[below(all.size())]->name());
  }
  std::string number() {
    constexpr const char* kNumbers[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "4",
                                        "7",
                                        "64",
                                        "65536",
                                        "4611686018427387903",
                                        "4611686018427387904",
                                        "9223372036854775808",
                                        "1152921504606846976",
                                        "2147483648",
                                        "0.0",
                                        "0.5",
                                        "1e999",
                                        "nan",
                                        "inf",
                                        "-1",
                                        "-2",
                                        "-4611686018427387904",
                                        "s0",
                                        "s1",
                                        "s0 + s1",
                                        "2*s0",
                                        "s0*s1",
                                        "max(s0, 1)",
                                        "min(s0, s1)",
                                        "floor_div(s0, 2)",
                                        "mod(s0, 3)",
                                        "floor_div(s0, s1)"};
    return kNumbers[below(std::size(kNumbers))];
  }
  std::string keyword() {
    constexpr const char* kWords[] = {
        "f32",    "f64",  "f16",    "bf16",  "i64",      "i32",      "i8",    "u8",    "bool",
        "c64",    "None", "True",   "False", "detached", "if",       "else",  "while", "do",
        "for",    "in",   "range",  "group", "call",     "constant", "const", "yield", "return",
        "write",  "size", "int",    "float", "str",      "assume",   "check", "graph", "@cpu",
        "'text'", "[]",   "[1, 2]", "[[1]]", "dtype",    "axis",     "dim"};
    return kWords[below(std::size(kWords))];
  }
  std::string fact() {
    constexpr const char* kFacts[] = {"assume", "check"};
    constexpr const char* kSigns[] = {"==", "!=", "<=", "<", ">=", ">"};
    return absl::StrCat("  ", kFacts[below(2)], " ", number(), " ", kSigns[below(6)], " ",
                        number());
  }

  std::vector<std::string> lines_, words_;
  std::mt19937_64& random_;
};

// ── files ───────────────────────────────────────────────────────────────────────────────────────

struct Section {
  uint32_t kind = program, index = 0;
  std::string bytes;
};

std::vector<Section> sections_of(std::string_view bytes) {
  std::vector<Section> out;
  if (bytes.size() < kHeader) return out;
  const auto count =
      std::min<uint64_t>(get<uint32_t>(bytes, 12), (bytes.size() - kHeader) / kEntry);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = kHeader + kEntry * i;
    const auto offset = get<uint64_t>(bytes, at + 8), size = get<uint64_t>(bytes, at + 16);
    if (offset > bytes.size() || size > bytes.size() - offset) continue;
    out.push_back({get<uint32_t>(bytes, at), get<uint32_t>(bytes, at + 4),
                   std::string(bytes.substr(offset, size))});
  }
  return out;
}

/// With `odd`, one number of the table is changed before the header's hash is made.
std::string file_of(const std::vector<Section>& sections, std::mt19937_64* odd) {
  const uint64_t begin = aligned(kHeader + kEntry * sections.size());
  std::string table, body;
  for (const Section& s : sections) {
    body.resize(aligned(body.size()), '\0');
    put(table, s.kind), put(table, s.index), put(table, begin + body.size());
    put(table, uint64_t{s.bytes.size()}), put(table, ir::xxhash64(s.bytes)),
        put(table, uint64_t{0});
    body += s.bytes;
  }
  std::string out(kMagic);
  put(out, kVersion), put(out, static_cast<uint32_t>(sections.size()));
  put(out, begin + body.size()), put(out, uint64_t{0});
  out += table;
  if (!sections.empty()) out.resize(begin, '\0');
  out += body;
  const size_t head = kHeader + kEntry * sections.size();
  if (odd != nullptr) {
    constexpr uint64_t kOdd[] = {0, 1, 63, 64, 4096, uint64_t{1} << 32, ~uint64_t{0}};
    const size_t at = 8 * ((*odd)() % (head / 8));
    std::memcpy(out.data() + at, &kOdd[(*odd)() % std::size(kOdd)], 8);
  }
  std::memset(out.data() + kHashAt, 0, 8);
  const uint64_t hash = ir::xxhash64(std::string_view(out).substr(0, head));
  std::memcpy(out.data() + kHashAt, &hash, 8);
  return out;
}

void change_bytes(std::string& bytes, std::mt19937_64& random) {
  if (bytes.empty() || random() % 4 == 0) {
    bytes.resize(random() % 200, 'x');
    return;
  }
  constexpr uint64_t kOdd[] = {0, 1, 2, 4, 13, 200, uint64_t{1} << 62, ~uint64_t{0}};
  const uint64_t value = kOdd[random() % std::size(kOdd)];
  const size_t width = size_t{1} << random() % 4, at = random() % bytes.size() / width * width;
  std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
}

}  // namespace

std::string mutate_text(std::string_view text, std::mt19937_64& random) {
  return TextMutation(text, random).run();
}

std::string mutate_file(std::string_view bytes, std::mt19937_64& random) {
  std::vector<Section> sections = sections_of(bytes);
  if (sections.empty())
    sections.push_back({program, 0, "graph f(%x: f32[2]) -> (f32[2]) {\n  return %x\n}\n"});
  Section& s = sections[random() % sections.size()];
  switch (random() % 8) {
    case 0:
      sections.push_back(Section(s));
      break;
    case 1:
      std::swap(s, sections[random() % sections.size()]);
      break;
    case 2:
      s.kind = static_cast<uint32_t>(random() % 6);
      break;
    case 3:
      return file_of(sections, &random);
    default:
      if (s.kind == program && random() % 8 != 0)
        s.bytes = mutate_text(s.bytes, random);
      else
        change_bytes(s.bytes, random);
  }
  return file_of(sections, nullptr);
}

}  // namespace lathe::fuzz
